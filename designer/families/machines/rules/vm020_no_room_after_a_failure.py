"""VM020: machines that find no place when a host fails.

What it checks
    Whether each machine with reserved memory or virtual GPUs would find a place on the other hosts if its own
    failed.
Why it matters
    Reservations and devices are hard: HA does not restart what does not fit.
How to fix
    Keep memory and GPUs of one host free, of every profile in use.
Sources
    VMware HA admission control; F. Denneman (DRS posts).
Example
    Two hosts, each full.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.engine.machines.demands import memory_of
from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import IN_PRODUCTION, Offence, Rule
from designer.units import format_quantity


def check(context: MachineContext) -> Iterator[Offence]:
    placement = context.placement
    if placement is None:
        return
    rooms = placement.free_capacities
    for path in rooms:
        machines = placement.on(path)
        need = sum(memory_of(placed.vm) for placed in machines)
        free = sum(other.memory for name, other in rooms.items() if name != path)
        if machines and need > free:
            text = f"the machines of {path} need {format_quantity(need, 'size')}, the other hosts have "
            yield Offence(
                f"{text}{format_quantity(max(0.0, free), 'size')} free", (path,), "keep one host's worth free"
            )


RULE = Rule("VM020", "no-room-after-a-failure", Severity.WARNING, check, profiles=IN_PRODUCTION, context=MachineContext)
