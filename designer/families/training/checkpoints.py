"""Checkpoints over the drawn paths: the burst of all ranks, and reading the state back."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability, value_of
from designer.design.document import Part
from designer.engine.account import Account, account
from designer.engine.account.bottlenecks import Limit
from designer.engine.network import Network
from designer.engine.network.storage import UNDRAWN
from designer.engine.routes.legs import Legs
from designer.engine.routes.selection import resolve
from designer.engine.transfers import TransferAnswer, evaluate_transfer
from designer.engine.transfers.limits import FlowLimits
from designer.errors import AnalysisError
from designer.families.training.preparation import TrainingPlan
from designer.formulas.storage.checkpoint import (
    BYTES_PER_PARAMETER,
    CheckpointEstimate,
    checkpoint_size,
    copies_read,
)
from designer.formulas.storage.client_rate import WRITERS, client_of
from designer.formulas.storage.storage_servers import busiest_share
from designer.sources import Constant, Estimate, Status
from designer.units import Seconds
from designer.workload.jobs import STREAMS, Requests
from designer.workload.program.tasks import Move

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

#: the estimate of the bytes of state for each parameter
STATE: Final = "state of a parameter"
#: its band, relative [1]
STATE_BAND: Final = (
    BYTES_PER_PARAMETER.low / BYTES_PER_PARAMETER.value,
    BYTES_PER_PARAMETER.high / BYTES_PER_PARAMETER.value,
)


def _measured_share(value: float, low: float, high: float, note: str) -> Constant:
    return Constant(value, low, high, "mlperf-storage-v3", Status.DERIVED, "1", note)


#: time of a checkpoint over what its bytes take at the rate of steady reads or writes, where clients or links bind
READ_BACK: Final = _measured_share(
    1.0, 0.95, 1.3, "InDataOS 0.95, Lustre 1.16: ranks end one after the other, a file each"
)
WRITE_OUT: Final = _measured_share(
    1.0, 0.95, 1.35, "InDataOS 1.14, WEKA 1.26: each rank writes a file through the page cache"
)
#: time that servers take to deliver the files of all ranks over what they take for steady reads of samples
SERVERS_BACK: Final = _measured_share(
    2.3, 1.5, 3.2, "WEKA 2.1; FlashBlade//EXA 2.7 to 3.7 by mean times, some of which come from caches; 1,024 ranks"
)

#: the estimates of the state of a parameter that is read back, and that is written
STATE_BACK: Final = "state of a parameter read back"


def state_band(*, back: bool) -> tuple[str, float, float]:
    """The estimate of what the state of a parameter takes, written or read back: its name and band [1]."""
    low, high = STATE_BAND
    name, time = (STATE_BACK, READ_BACK) if back else (STATE, WRITE_OUT)
    return name, low * time.low, high * time.high


def restored(network: Network, source: str, target: str, place: str, requests: Requests = STREAMS) -> TransferAnswer:
    """Files of ranks read back, all at once.

    Raises
    ------
    AnalysisError
        If there is no way, or a count of storage is not positive.
    """
    return evaluate_transfer(network, _move(source, target, requests), place, more=partial(_file_limits, back=True))


def saved(
    network: Network, source: str, target: str, place: str, requests: Requests = STREAMS, size: float = math.inf
) -> TransferAnswer:
    """Files of ranks written, all at once, each of a size [B]: drives may be slower when their cache is full.

    Raises
    ------
    AnalysisError
        If there is no way, or a count of storage is not positive.
    """
    move = replace(_move(source, target, requests), size=size)
    return evaluate_transfer(network, move, place, more=partial(_file_limits, back=False))


def _move(source: str, target: str, requests: Requests) -> Move:
    return Move(source, target, request=requests.size, depth=requests.depth, threads=requests.threads)


def _file_limits(network: Network, legs: Legs, *, back: bool) -> FlowLimits:
    """What systems give the files of ranks: servers that deliver them, and the busiest where each is on a few."""
    net = network.net
    limits: list[Limit] = []
    flows: list[Int] = []
    usages: list[Float] = []
    streams: list[FlowLimits] = []
    ends = legs.source if back else legs.target
    for part in np.unique(ends[network.has(Capability.STORE)[ends]]).tolist():
        definition, rows = int(net.part_def[part]), np.flatnonzero(ends == part)
        facts = network.part_resources[definition]
        writer = None if back else _writer(network, net.part(part))
        if writer is not None:
            flow, which = np.unique(legs.flow[rows], return_inverse=True)
            nodes = np.zeros(len(flow), dtype=np.int64)
            streams.append(FlowLimits((writer,), nodes, legs.flow[rows], which, legs.share[rows]))
        if facts is None or network.kinds[definition].field("servers") is None:
            continue
        rate = facts.capacity / (facts.read if back else facts.write)
        label, band = f"servers of {net.part(part).label}", facts.read_band if back else facts.write_band
        derived = back and not any(network.design.quantity(net.part(part), name) for name in _GIVEN)
        if derived:
            factor = SERVERS_BACK.value / SERVERS_BACK.high, SERVERS_BACK.value / SERVERS_BACK.low
            rate, band, label = rate / SERVERS_BACK.value, _joined(band, factor), f"{label} reading files of ranks"
        if derived and facts.assumed:
            band = band[0] * UNDRAWN.low, band[1]
        value, low = _busiest(network, net.part(part), len(np.unique(legs.flow[rows])))
        if value < 1.0:
            label = f"busiest of the {label}"
        elif not derived and low == value:
            continue
        band = _joined(band, (low / value, 1.0))
        limits.append(Limit(f"files:{net.path(part)}", label, rate * value, band=band))
        flows.append(legs.flow[rows])
        usages.append(legs.share[rows])
    return FlowLimits.joined([FlowLimits.each(limits, flows, usages), *streams])


def _writer(network: Network, part: Part) -> Limit | None:
    """What one process writes through the page cache of a client whose release is given; None for others."""
    release, protocol = (network.design.quantity(part, name) for name in ("client_release", "protocol"))
    rate = WRITERS.get(client_of(str(protocol.value))) if release is not None and protocol is not None else None
    if rate is None:
        return None
    return Limit(
        "writers", "one writer of its client", rate.value, band=(rate.low / rate.value, rate.high / rate.value)
    )


def _busiest(network: Network, part: Part, files: int) -> tuple[float, float]:
    """Share of the rate of a system that so many files get, and its low end [1]; 1 where each is on all servers."""
    found: list[int] = []
    for name in ("servers", "file_servers"):
        quantity = network.design.quantity(part, name)
        value = value_of(part.kind, name, quantity) if quantity is not None else None
        if value is None:
            return 1.0, 1.0
        found.append(int(value))
    try:
        return busiest_share(files, *found)
    except AnalysisError as error:
        raise AnalysisError(error.text, place=part.id, remedy=error.remedy) from None


def _joined(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """Band of a product of two that deviate independently of each other: their logarithms add in squares."""
    low, high = (math.hypot(math.log(a), math.log(b)) for a, b in zip(one, other, strict=True))
    return math.exp(-low), math.exp(high)


#: what says how fast a storage system is, so that nothing is derived from its servers
_GIVEN: Final = ("read_bandwidth", "write_bandwidth", "provisioned_bandwidth", "provisioned_per_tib")


@dataclass(frozen=True, slots=True, eq=False)
class MovedState:
    """The state of a job on its way, or read `back`: an equal part, `each` [B], for every flow."""

    answer: TransferAnswer
    each: float
    back: bool = False

    def account(self, *, explained: bool = False) -> Account:
        """Value, band and what holds back the time of it [s]."""
        rates = self.answer.rates
        name, low, high = state_band(back=self.back)
        bands = {**rates.joint_bands, name: (low, high)}
        return account(rates.time(self.each, size=name), bands, explained=explained)

    def estimate(self, note: str) -> Estimate:
        """The time with its band [s]."""
        found = self.account()
        return Estimate(found.value, found.low, found.high, "s", self.sources, note)

    @property
    def sources(self) -> tuple[str, ...]:
        """Keys of what the time rests on."""
        return tuple(sorted({"zero-2020", "mlperf-storage-v3", *self.answer.sources}))


@dataclass(frozen=True, slots=True, eq=False)
class RoutedCheckpoint:
    """A checkpoint and the transfers it is made of; `copy` is the one training waits for."""

    size: float
    write: MovedState
    read: MovedState
    copy: MovedState

    @property
    def estimate(self) -> CheckpointEstimate:
        """Size and times."""
        times = (Seconds(one.account().value) for one in (self.write, self.copy, self.read))
        return CheckpointEstimate(checkpoint_size(self.size), *times)


def moved_state(
    network: Network,
    plan: TrainingPlan,
    other: str,
    place: str,
    *,
    back: bool = False,
    copies: float | None = None,
    requests: Requests = STREAMS,
) -> MovedState:
    """The state of a job from its ranks to other parts, or `back`; `copies` of it, or as many as all replicas read.

    Raises
    ------
    AnalysisError
        If there is no way.
    """
    net, parts = network.net, plan.ranks.parts
    group = plan.job.group if not plan.job.data else ",".join(net.path(int(p)) for p in parts.tolist())
    each = copies_read(plan.layout.replicas, plan.layout.sharding) if copies is None else copies
    size = checkpoint_size(plan.shape.parameters) * each
    if back:
        moved = restored(network, other, group, place, requests)
    else:
        moved = saved(network, group, other, place, requests, size / max(1, len(parts)))
    return MovedState(moved, size / max(1, int((moved.rate > 0).sum())), back)


def route_checkpoint(
    network: Network,
    plan: TrainingPlan,
    target: str,
    *,
    snapshot: bool,
    from_one: bool,
    place: str,
    requests: Requests = STREAMS,
) -> RoutedCheckpoint:
    """One checkpoint of a plan.

    Notes
    -----
    Every rank writes an equal part, so the slowest rank decides. Reading back, every rank fetches what it holds: its
    shard of what the replicas split, and all it has of the rest; unless one replica reads and passes the state on.

    Raises
    ------
    AnalysisError
        If the target keeps nothing or cannot be reached.
    """
    kept = resolve(network, target, f"{place}.checkpoint_to")
    keeps = (network.has(Capability.STORE) | network.has(Capability.MEMORY))[kept]
    if not keeps.all():
        raise AnalysisError(
            f"{network.net.path(int(kept[~keeps][0]))} keeps no checkpoint",
            place=f"{place}.checkpoint_to",
            remedy="choose storage, drives or memory",
        )
    write = moved_state(network, plan, target, place, copies=1, requests=requests)
    copies = 1 if from_one else None
    read = moved_state(network, plan, target, place, back=True, copies=copies, requests=requests)
    copy = moved_state(network, plan, "memory", place, copies=1) if snapshot else write
    return RoutedCheckpoint(plan.shape.parameters, write, read, copy)
