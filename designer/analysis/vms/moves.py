"""What a move of machines is made of: its conditions, who goes where, who stays and why, and the plan of the whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from designer.analysis.results import Bound
from designer.analysis.vms.demands import KVM, gpu_devices, release_of
from designer.analysis.vms.lanes import Lanes, Shares
from designer.analysis.vms.rooms import Placed
from designer.analysis.vms.trips import Drain, KvmSettings, Trip
from designer.formulas.migration.evacuation_schedule import Evacuation, Move
from designer.formulas.migration.vmotion_admission import Admission
from designer.formulas.migration.vmotion_long_distance import LongDistance
from designer.formulas.migration.vmotion_streams import JUMBO_FROM, StreamPlan
from designer.sources import Estimate


@dataclass(frozen=True, slots=True)
class Conditions:
    """How machines move.

    Parameters
    ----------
    release
        What the hosts run, where the study overrules the drawing.
    mtu
        Frame size of the migration network [B].
    round_trip
        Round-trip time between the hosts [s].
    dirty_rate
        Replaces what the machines say [B/s].
    at_once
        Migrations per host at the same time; 0 for what the hypervisor admits.
    cold
        Whether machines that cannot move alive are shut down and started elsewhere.
    disks
        Disk data each machine takes along, where its hosts share no storage [B].
    shares
        Network I/O control on the uplinks of the hosts.
    """

    release: str = ""
    encrypted: bool = False
    vmknics_per_nic: int = 1
    mtu: float = JUMBO_FROM.value
    round_trip: float = 0.0
    dirty_rate: float | None = None
    at_once: int = 0
    cold: bool = False
    disks: float = 0.0
    shares: Shares = field(default_factory=Shares)
    kvm: KvmSettings = field(default_factory=KvmSettings)


@dataclass(frozen=True, slots=True)
class Going:
    """A machine with its target, and where on it; ``cold`` if it is shut down on the way."""

    placed: Placed
    there: Placed
    release: str
    cold: bool = False

    @property
    def name(self) -> str:
        """Id of the machine."""
        return self.placed.vm.id

    @property
    def serial(self) -> bool:
        """Whether it moves alone, so that its stun is not multiplied."""
        return gpu_devices(self.placed.vm) and not self.cold and self.release != KVM


@dataclass(frozen=True, slots=True)
class Way:
    """A condition under which a machine would arrive, and the trip it would be."""

    title: str
    trip: Trip


@dataclass(frozen=True, slots=True)
class Staying:
    """A machine that does not move, and why.

    Parameters
    ----------
    failed
        Whether it sets out and does not arrive, where others have nowhere to go.
    ways
        What it would take under other conditions.
    """

    placed: Placed
    reason: str
    remedy: str
    failed: bool = False
    ways: tuple[Way, ...] = ()


@dataclass(frozen=True, slots=True)
class Moved:
    """A machine that moved: when it held its slots and sent [s], at which rate [B/s], and how the trip went."""

    going: Going
    move: Move
    rate: float
    trip: Trip | None


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The whole move. ``makespan`` is zero when nothing moves."""

    moved: tuple[Moved, ...]
    staying: tuple[Staying, ...]
    makespan: Estimate
    schedule: Evacuation | None
    lanes: Lanes
    rides: Mapping[str, int]
    streams: Mapping[str, StreamPlan]
    slots: Mapping[str, Admission]
    binding: tuple[Bound, ...]
    next: tuple[Bound, ...]
    distance: LongDistance | None
    drains: Mapping[str, Drain]


def pick_release(placed: Placed, conditions: Conditions) -> str:
    """What a machine's host runs, under these conditions."""
    return release_of(placed.vm, placed.host, conditions.release)
