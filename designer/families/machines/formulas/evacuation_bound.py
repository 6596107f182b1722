"""The least time that moving machines between these hosts can take, in whatever order they go."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from designer.families.machines.formulas._precopy import positive
from designer.families.machines.formulas.vmotion_precopy import SETUP_TIME
from designer.formulas.formula import Formula
from designer.units import Seconds

SOURCES: Final = ("graham-1969", "vmware-docs-limits", "migration-assumed", "migration-calibration")


@dataclass(frozen=True, slots=True)
class EvacuationVm:
    """One virtual machine to move.

    Parameters
    ----------
    name, source, destination
        Names; the destination was chosen beforehand.
    size
        Bytes it moves, resent pages and vGPU memory counted [B]; 0 if only `fixed_time` matters (cold, known duration).
    fixed_time
        Time in addition to its bytes, in which it holds its slots [s].
    rate_cap
        Most it can move per second, whatever the link [B/s].
    serial
        Moves alone on both of its hosts (virtual GPUs, whose stun sharing would multiply).
    """

    name: str
    source: str
    destination: str
    size: float
    fixed_time: float = SETUP_TIME.value
    rate_cap: float = math.inf
    serial: bool = False


def evacuation_bound(
    vms: Sequence[EvacuationVm],
    host_rates: Mapping[str, float],
    slots: int | Mapping[str, int],
) -> Seconds:
    """A time no order of these moves stays below [s]; 0 where nothing moves.

    Parameters
    ----------
    vms
        What moves where, with the least bytes each can take; `rate_cap` is what it gets with the network to itself.
    host_rates
        Most that a host sends, and receives, with all migrations together [B/s]; one without an entry is no limit.
    slots
        Concurrent migrations per host, in and out together.

    Notes
    -----
    The largest over all hosts and machines of: a machine by itself; the bytes over a host's rate after the shortest
    set-up; the time its slots are held over their number. Those that move alone add to what the others take.

    Sources
    -------
    Graham 1969, bounds of list scheduling; documented limits per host.
    """
    least = 0.0
    held: dict[str, float] = {}
    for vm in vms:
        rate = min(vm.rate_cap, *(host_rates.get(host, math.inf) for host in (vm.source, vm.destination)))
        sending = vm.size / positive(rate, f"rate of {vm.name}") if vm.size else 0.0
        held[vm.name] = vm.fixed_time + sending
        least = max(least, held[vm.name])
    for host in {vm.source for vm in vms} | {vm.destination for vm in vms}:
        here = [vm for vm in vms if host in (vm.source, vm.destination)]
        room = slots if isinstance(slots, int) else slots[host]
        alone = sum(held[vm.name] for vm in here if vm.serial)
        others = [vm for vm in here if not vm.serial]
        together = 0.0
        if others:
            by_slots = sum(held[vm.name] for vm in others) / room
            sent = [sum(vm.size for vm in others if side(vm) == host) for side in (_source, _destination)]
            first = min(vm.fixed_time for vm in others)
            by_rate = first + max(sent) / host_rates.get(host, math.inf) if max(sent) else 0.0
            together = max(by_slots, by_rate)
        least = max(least, alone + together)
    return Seconds(least)


def _source(vm: EvacuationVm) -> str:
    return vm.source


def _destination(vm: EvacuationVm) -> str:
    return vm.destination


FORMULA: Final = Formula(
    "evacuation-bound",
    "Least time of an evacuation",
    evacuation_bound,
    SOURCES,
    "with the targets that were chosen; other targets may do better",
)
