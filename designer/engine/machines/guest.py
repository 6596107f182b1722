"""A workload inside virtual machines: its share of accelerators and NICs, and what virtualisation leaves.

A MIG slice has its slices of compute and memory whatever its neighbours do. A time-sliced virtual GPU has the whole
GPU while the others on it are idle, and its turn while they are not. What the hypervisor itself takes is distinguished
from that, as a factor for each class of work.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from designer.sources import Constant, Estimate, Status


class Work(StrEnum):
    """Classes of work that virtualisation takes unlike shares of."""

    TRAINING = "training"
    SERVING = "serving"
    COPYING = "copying"


_ON_GPUS: Final = Constant(
    0.97, 0.94, 1.0, "mlperf-vsphere-gpus", Status.SECONDARY, "1", "virtual against bare metal; above 1 is not credited"
)
_ON_CPUS: Final = Constant(
    0.97, 0.922, 0.99, "mlperf-esxi-cpus", Status.PRIMARY, "1", "median of offline pairs; least and most of all pairs"
)
_ANSWERS_ON_CPUS: Final = Constant(
    0.90, 0.90, 0.97, "mlperf-esxi-cpus", Status.PRIMARY, "1", "a language model, by its Server and Offline pairs"
)
_COPIES: Final = Constant(
    1.0, 0.97, 1.0, "assumed-guests", Status.ASSUMED, "1", "devices copy by themselves, no hypervisor on the way"
)
#: what virtualisation leaves of the speed of bare metal, by class of work and whether accelerators do it
FACTORS: Final[Mapping[tuple[Work, bool], Constant]] = {
    (Work.TRAINING, True): _ON_GPUS,
    (Work.SERVING, True): _ON_GPUS,
    (Work.TRAINING, False): _ON_CPUS,
    (Work.SERVING, False): _ANSWERS_ON_CPUS,
    (Work.COPYING, True): _COPIES,
    (Work.COPYING, False): _COPIES,
}
BARE_METAL: Final = Constant(1.0, 1.0, 1.0, "nvidia-mig-guide", Status.PRIMARY, "1", "no hypervisor")


@dataclass(frozen=True, slots=True)
class Guest:
    """A workload inside machines, by the least of what it has on any of its accelerators.

    Parameters
    ----------
    machines
        Ids.
    compute, bandwidth
        Share of an accelerator's arithmetic and memory bandwidth, with its band [1].
    memory, memory_share
        Memory of one [B], and its share of that of the accelerator [1].
    factor
        What virtualisation leaves of bare metal [1].
    slices
        By part: machine whose MIG slice it is.
    turns
        Parts whose time is sliced.
    rates
        By part, bytes of its memory per second that are to be had, where that is not all [B/s].
    names
        Profiles, as the hypervisor shows them.
    silent
        NVLinks, by number, that carry nothing for it: all of MIG slices.
    nics
        By NIC, its share of the port, where other machines have functions of it [1].
    """

    machines: tuple[str, ...]
    compute: Constant
    bandwidth: Constant
    memory: float
    memory_share: float
    factor: Constant
    slices: Mapping[int, str]
    turns: frozenset[int]
    rates: Mapping[int, float]
    names: tuple[str, ...]
    silent: tuple[int, ...] = ()
    nics: Mapping[int, Constant] = field(default_factory=dict[int, Constant])

    @property
    def turn(self) -> Constant:
        """Share of the time that the slowest of its accelerators runs anything of it [1]."""
        return self.compute if self.turns else exactly(1.0)

    @property
    def speed(self) -> Constant:
        """Compute share times factor [1]."""
        return _times(self.compute, self.factor)

    @property
    def traffic(self) -> Constant:
        """Bandwidth share times factor [1]."""
        return _times(self.bandwidth, self.factor)

    @property
    def longer(self) -> tuple[float, float]:
        """How much shorter and longer computing may be for want of knowing these shares, relative [1]."""
        low = min(self.speed.low / self.speed.value, self.traffic.low / self.traffic.value)
        high = max(self.speed.high / self.speed.value, self.traffic.high / self.traffic.value)
        return 1 / high, 1 / low

    def engine(self, part: int) -> str | None:
        """Who else is in the queue for an accelerator: nobody for a slice of its own, None where turns are shared."""
        return None if part in self.turns else self.slices.get(part, "")

    def metrics(self) -> dict[str, Estimate]:
        """Its shares as metrics of a result."""

        def line(share: Constant, note: str) -> Estimate:
            return Estimate(share.value, share.low, share.high, "1", (share.source,), note)

        where = f"in {', '.join(self.machines)} as " if self.machines else ""
        as_what = f"{where}{', '.join(self.names)}" if self.names else where.removesuffix(" as ")
        source = self.bandwidth.source
        return {
            "compute_share": line(self.compute, as_what),
            "memory_share": Estimate.exact(self.memory_share, "1", (source,), as_what),
            "bandwidth_share": line(self.bandwidth, as_what),
            "virtualization_factor": line(self.factor, self.factor.note),
            **({"nic_share": line(nic, nic.note)} if (nic := self.narrowest) is not None else {}),
        }

    @property
    def narrowest(self) -> Constant | None:
        """The least share it has of any of its NICs; None where it shares none."""
        return min(self.nics.values(), key=lambda share: share.value, default=None)


def _times(share: Constant, factor: Constant) -> Constant:
    """Two shares at once; their deviations, independent, added in squares."""
    value = share.value * factor.value

    def end(one: float, other: float) -> float:
        return math.hypot(math.log(one / share.value), math.log(other / factor.value))

    low, high = value * math.exp(-end(share.low, factor.low)), value * math.exp(end(share.high, factor.high))
    return Constant(value, low, min(1.0, max(value, high)), factor.source, factor.status)


def exactly(share: float) -> Constant:
    """A share that is not in doubt [1]."""
    return Constant(share, share, share, "vsphere-time-slices", Status.SECONDARY)
