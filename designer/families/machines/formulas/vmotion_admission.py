"""vMotion: how many migrations may run at once, by the cost every operation puts on every resource."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from designer.errors import AnalysisError
from designer.families.machines.formulas._esxi import GIGABIT
from designer.families.machines.formulas._precopy import positive
from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import BytesPerSecond

SOURCES: Final = ("vmware-docs-limits", "broadcom-kb-326281", "denneman-2012-vmotion", "broadcom-kb-336244")


class Operation(StrEnum):
    """What is moved."""

    VMOTION = "vMotion"
    STORAGE = "Storage vMotion"
    UNSHARED = "vMotion without shared storage"


TEN_GIGABIT: Final = Constant(10 * GIGABIT, 10 * GIGABIT, 10 * GIGABIT, "vmware-docs-limits", Status.PRIMARY, "B/s")
ONE_GIGABIT: Final = Constant(GIGABIT, GIGABIT, GIGABIT, "vmware-docs-limits", Status.PRIMARY, "B/s")
#: room on the vMotion network, by detected line speed
NETWORK_FAST: Final = Constant(
    8, 8, 8, "vmware-docs-limits", Status.PRIMARY, "1", "10 GbE and faster; two 40 GbE NICs are still 8"
)
NETWORK_SLOW: Final = Constant(4, 4, 4, "vmware-docs-limits", Status.PRIMARY, "1", "1 GbE up to 10 GbE")
NETWORK_SLOWEST: Final = Constant(
    2, 2, 2, "vmware-docs-limits", Status.PRIMARY, "1", "below 1 GbE, or NICs configured differently"
)
HOST_NEW: Final = Constant(16, 16, 16, "broadcom-kb-326281", Status.PRIMARY, "1", "host, since 6.0")
DATASTORE: Final = Constant(128, 128, 128, "vmware-docs-limits", Status.PRIMARY, "1", "datastore")
LEAST_PER_MIGRATION: Final = Constant(
    0.25 * GIGABIT,
    0.25 * GIGABIT,
    0.25 * GIGABIT,
    "vmware-docs-vmotion-network",
    Status.PRIMARY,
    "B/s",
    "250 Mbit/s each",
)

#: cost of one operation on each resource
NO_COST: Final = Constant(0, 0, 0, "denneman-2012-vmotion", Status.SECONDARY)
ONE: Final = Constant(1, 1, 1, "denneman-2012-vmotion", Status.SECONDARY)
VMOTION_ON_HOST: Final = Constant(2, 2, 2, "broadcom-kb-326281", Status.PRIMARY)
STORAGE_ON_HOST: Final = Constant(8, 8, 8, "broadcom-kb-326281", Status.PRIMARY)
STORAGE_ON_DATASTORE: Final = Constant(16, 16, 16, "denneman-2012-vmotion", Status.SECONDARY)


def _costs(vmotion: Constant, storage: Constant) -> Mapping[Operation, Constant]:
    """Moving without shared storage costs what the dearer half of it costs."""
    unshared = max(vmotion, storage, key=lambda cost: cost.value)
    return MappingProxyType({Operation.VMOTION: vmotion, Operation.STORAGE: storage, Operation.UNSHARED: unshared})


NETWORK_COST: Final = _costs(ONE, NO_COST)
HOST_COST_NEW: Final = _costs(VMOTION_ON_HOST, STORAGE_ON_HOST)
DATASTORE_COST: Final = _costs(ONE, STORAGE_ON_DATASTORE)


@dataclass(frozen=True, slots=True)
class Admission:
    """How many more operations may start, the resource that says so, and use and room of every resource."""

    more: int
    binding: str
    used: Mapping[str, float]
    room: Mapping[str, float]


def network_room(slowest_line_rate: BytesPerSecond, *, consistent: bool = True) -> int:
    """Concurrent vMotions the network class allows: 2, 4 or 8.

    Parameters
    ----------
    slowest_line_rate
        Detected line rate of the slowest vMotion NIC of the host [B/s].
    consistent
        True if subnet, MTU and duplex agree on all vMotion NICs.
    """
    positive(slowest_line_rate, "slowest_line_rate")
    if not consistent or slowest_line_rate < ONE_GIGABIT.value:
        return int(NETWORK_SLOWEST.value)
    return int((NETWORK_FAST if slowest_line_rate >= TEN_GIGABIT.value else NETWORK_SLOW).value)


def vmotion_admission(
    operation: Operation,
    running: Mapping[Operation, int],
    *,
    slowest_line_rate: BytesPerSecond,
    consistent: bool = True,
    bandwidth: BytesPerSecond | None = None,
) -> Admission:
    """How many more operations of a kind one host (with one datastore) may start next to those running.

    Parameters
    ----------
    operation, running
        What is asked for, and what already runs on this host and datastore.
    slowest_line_rate, consistent
        See `network_room`.
    bandwidth
        If given, 250 Mbit/s of it per vMotion is a limit too [B/s].

    Raises
    ------
    AnalysisError
        If a count is negative or the line rate is not positive.

    Notes
    -----
    Host costs are those since 6.0.
    Start only if in use + cost ≤ maximum on every resource; the strictest wins.

    Sources
    -------
    VMware documentation of limits; KB 326281; post of 2013-01-14.
    """
    costs = {"vMotion network": NETWORK_COST, "host": HOST_COST_NEW, "datastore": DATASTORE_COST}
    room: dict[str, float] = {
        "vMotion network": float(network_room(slowest_line_rate, consistent=consistent)),
        "host": HOST_NEW.value,
        "datastore": DATASTORE.value,
    }
    if bandwidth is not None:
        costs["bandwidth"] = NETWORK_COST
        room["bandwidth"] = positive(bandwidth, "bandwidth") // LEAST_PER_MIGRATION.value
    return _admit(operation, running, costs, room)


def _admit(
    operation: Operation,
    running: Mapping[Operation, int],
    costs: Mapping[str, Mapping[Operation, Constant]],
    room: Mapping[str, float],
) -> Admission:
    for each, count in running.items():
        if count < 0:
            raise AnalysisError(f"{count} running operations of {each}", remedy="give zero or more")
    used = {name: sum(cost[each].value * count for each, count in running.items()) for name, cost in costs.items()}
    free = {
        name: max(0, int((room[name] - used[name]) // cost[operation].value))
        for name, cost in costs.items()
        if cost[operation].value > 0
    }
    binding = min(free, key=lambda name: free[name])
    return Admission(free[binding], binding, MappingProxyType(used), MappingProxyType(dict(room)))


FORMULA: Final = Formula(
    name="vmotion-admission",
    title="Concurrent migrations by cost per resource",
    function=vmotion_admission,
    sources=SOURCES,
    valid_when="supported defaults; raising the cost keys is unsupported, higher limits for 25–100 GbE are unconfirmed",
)
