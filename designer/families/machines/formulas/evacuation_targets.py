"""Emptying hosts: where each virtual machine can go, most demanding first, spread over the free hosts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from designer.errors import AnalysisError
from designer.families.machines.formulas._precopy import not_negative
from designer.formulas.formula import Formula

SOURCES: Final = ("denneman-2026-mixed-size", "nvidia-aie-user-guide")


@dataclass(frozen=True, slots=True)
class Guest:
    """A virtual machine looking for a host: reserved memory [B], virtual CPUs, and the name of its GPU shape if any."""

    name: str
    source: str
    memory: float
    cpus: int
    shape: str = ""


@dataclass(frozen=True, slots=True)
class FreeCapacity:
    """What a host has free: memory [B] and virtual CPUs."""

    name: str
    memory: float
    cpus: int


@dataclass(frozen=True, slots=True)
class Targets:
    """Host of each guest, and the guests no host can take with the reason."""

    host_of: dict[str, str]
    homeless: dict[str, str]

    @property
    def feasible(self) -> bool:
        """True if every guest has a host."""
        return not self.homeless


#: whether a host, with these guests already sent to it, can take one more; for GPU shapes
Fits = Callable[[str, Sequence[Guest], Guest], bool]


def _accept_plain(host: str, taken: Sequence[Guest], guest: Guest) -> bool:
    return not guest.shape


def evacuation_targets(
    guests: Sequence[Guest], free_capacities: Sequence[FreeCapacity], fits: Fits = _accept_plain
) -> Targets:
    """A host for every guest that can have one: GPU shapes first, then by memory, each to the emptiest host.

    Parameters
    ----------
    guests, free_capacities
        Who must leave, and what the other hosts have free.
    fits
        Says whether a host can take one more guest of a GPU shape; by default none can.

    Raises
    ------
    AnalysisError
        If there is no host to go to, a demand is negative, or a guest is larger than every host.

    Notes
    -----
    Greedy: it may miss an arrangement that exists. A guest without a host is reported, not timed.
    """
    if not free_capacities:
        raise AnalysisError("there is no host to evacuate to", remedy="add a second host to the cluster")
    free = {free_capacity.name: [free_capacity.memory, float(free_capacity.cpus)] for free_capacity in free_capacities}
    taken: dict[str, list[Guest]] = {free_capacity.name: [] for free_capacity in free_capacities}
    host_of: dict[str, str] = {}
    homeless: dict[str, str] = {}
    for guest in sorted(guests, key=lambda each: (not each.shape, each.shape, -each.memory, each.name)):
        _check(guest, free_capacities)
        roomy = [
            name
            for name, (memory, cpus) in free.items()
            if name != guest.source and memory >= guest.memory and cpus >= guest.cpus
        ]
        able = [name for name in roomy if not guest.shape or fits(name, taken[name], guest)]
        if not able:
            homeless[guest.name] = (
                f"no host can take shape {guest.shape}" if roomy else "no host has the memory or CPUs"
            )
            continue
        best = max(able, key=lambda name: (free[name][0], name))
        free[best][0] -= guest.memory
        free[best][1] -= guest.cpus
        taken[best].append(guest)
        host_of[guest.name] = best
    return Targets(host_of, homeless)


def _check(guest: Guest, free_capacities: Sequence[FreeCapacity]) -> None:
    not_negative(guest.memory, f"memory of {guest.name}")
    not_negative(guest.cpus, f"cpus of {guest.name}")
    if all(guest.memory > free_capacity.memory for free_capacity in free_capacities):
        raise AnalysisError(
            "the virtual machine has more memory than any host has free",
            place=guest.name,
            remedy="shrink it or add a larger host",
        )


FORMULA: Final = Formula(
    name="evacuation-targets",
    title="Destinations for an evacuation",
    function=evacuation_targets,
    sources=SOURCES,
    valid_when="full memory reservations, as machines with GPUs have",
)
