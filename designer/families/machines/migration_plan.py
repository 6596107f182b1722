"""What a move of machines is made of: its conditions, who goes where, who stays and why, and how each went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from designer.engine.machines.demands import KVM, gpu_devices, release_of
from designer.engine.machines.free_capacity import Placed
from designer.families.machines.migrations import MigrationEstimate
from designer.families.machines.operations import Conditions
from designer.sources import Constant, Status

#: migrations that are listed one by one, as flows, curves and places of findings
CURVES_LIMIT: Final = 64
#: shutting a machine down, starting it elsewhere, loading its drivers
COLD_TIME: Final = Constant(
    120.0, 45.0, 300.0, "migration-assumed", Status.ASSUMED, "s", "shut down and boot; loading of models not counted"
)


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
        """True if it moves alone, because moving with others would lengthen its stun."""
        return gpu_devices(self.placed.vm) and not self.cold and self.release != KVM


@dataclass(frozen=True, slots=True)
class Alternative:
    """A condition under which a machine would arrive, and the migration it would be."""

    title: str
    migration: MigrationEstimate


@dataclass(frozen=True, slots=True)
class Staying:
    """A machine that does not move, and why.

    Parameters
    ----------
    failed
        True if it sets out and does not arrive, where others have nowhere to go.
    alternatives
        What it would take under other conditions.
    """

    placed: Placed
    reason: str
    remedy: str
    failed: bool = False
    alternatives: tuple[Alternative, ...] = ()


@dataclass(frozen=True, slots=True)
class Moved:
    """A machine that moved.

    Parameters
    ----------
    start, transfer, end
        When it was admitted, when its first byte was sent, and when it ran at its target [s].
    rate
        Mean rate of its memory [B/s]; 0 if it was shut down.
    """

    going: Going
    start: float
    transfer: float
    end: float
    rate: float
    migration: MigrationEstimate | None


def pick_release(placed: Placed, conditions: Conditions) -> str:
    """What a machine's host runs, under these conditions."""
    return release_of(placed.vm, placed.host, conditions.release)
