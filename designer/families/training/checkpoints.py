"""Checkpoints over the drawn paths: the burst of all ranks, and reading the state back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from designer.catalog.parttype import Capability
from designer.engine.account import Account, account
from designer.engine.network import Network
from designer.engine.routes.selection import resolve
from designer.engine.transfers import TransferAnswer, evaluate_transfer
from designer.errors import AnalysisError
from designer.families.training.preparation import TrainingPlan
from designer.formulas.storage.checkpoint import (
    BYTES_PER_PARAMETER,
    CheckpointEstimate,
    checkpoint_size,
    copies_read,
)
from designer.sources import Constant, Estimate, Status
from designer.units import Seconds
from designer.workload.program.tasks import Move

#: the estimate of the bytes of state for each parameter
STATE: Final = "state of a parameter"
#: its band, relative [1]
STATE_BAND: Final = (
    BYTES_PER_PARAMETER.low / BYTES_PER_PARAMETER.value,
    BYTES_PER_PARAMETER.high / BYTES_PER_PARAMETER.value,
)


#: time of reading a checkpoint back over what its bytes take at the rate of steady reads
READ_BACK: Final = Constant(
    1.0,
    1.0,
    1.6,
    "mlperf-storage-v3",
    Status.DERIVED,
    "1",
    "InDataOS 1.0, Lustre 1.16, WEKA 1.62: ranks end one after the other, and read one file each",
)


#: the estimate of the state of a parameter that is read back
STATE_BACK: Final = "state of a parameter read back"


def state_band(*, back: bool) -> tuple[str, float, float]:
    """The estimate of what the state of a parameter takes, written or read back: its name and band [1]."""
    low, high = STATE_BAND
    return (STATE_BACK, low * READ_BACK.low, high * READ_BACK.high) if back else (STATE, low, high)


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
        return tuple(sorted({"zero-2020", *self.answer.sources}))


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
    network: Network, plan: TrainingPlan, other: str, place: str, *, back: bool = False, copies: float | None = None
) -> MovedState:
    """The state of a job from its ranks to other parts, or `back`; `copies` of it, or as many as all replicas read.

    Raises
    ------
    AnalysisError
        If there is no way.
    """
    net, parts = network.net, plan.ranks.parts
    group = plan.job.group if not plan.job.data else ",".join(net.path(int(p)) for p in parts.tolist())
    ends = (other, group) if back else (group, other)
    answer = evaluate_transfer(network, Move(*ends), place)
    each = copies_read(plan.layout.replicas, plan.layout.sharding) if copies is None else copies
    size = checkpoint_size(plan.shape.parameters) * each
    return MovedState(answer, size / max(1, int((answer.rate > 0).sum())), back)


def route_checkpoint(
    network: Network, plan: TrainingPlan, target: str, *, snapshot: bool, from_one: bool, place: str
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
    write = moved_state(network, plan, target, place, copies=1)
    read = moved_state(network, plan, target, place, back=True, copies=1 if from_one else None)
    copy = moved_state(network, plan, "memory", place, copies=1) if snapshot else write
    return RoutedCheckpoint(plan.shape.parameters, write, read, copy)
