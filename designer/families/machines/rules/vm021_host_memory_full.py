"""VM021: little memory left for the hypervisor.

What it checks
    Memory of a host that its machines leave, against what the hypervisor needs for itself and each machine.
Why it matters
    Overheads of machines and of devices grow with both; without room machines fail to power on, or the host
    swaps.
How to fix
    Leave head-room on the host.
Sources
    F. Denneman, 2023-05-30 (overheads); the sum is assumed.
Example
    Machines with 500 GB on a host with 512 GB.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Profile, Rule
from designer.sources import Constant, Status
from designer.units import format_quantity

#: for itself, and for each machine
HYPERVISOR = Constant(32e9, 8e9, 64e9, "rule-thresholds", Status.ASSUMED, "B")
EACH = Constant(0.5e9, 0.1e9, 2e9, "rule-thresholds", Status.ASSUMED, "B")


def check(context: MachineContext) -> Iterator[Offence]:
    placement = context.placement
    if placement is None:
        return
    for path, room in placement.free_capacities.items():
        machines = placement.on(path)
        need = HYPERVISOR.value + EACH.value * len(machines)
        if machines and room.memory < need:
            text = f"{path} has {format_quantity(max(0.0, room.memory), 'size')} left besides its machines, "
            yield Offence(
                f"{text}the hypervisor needs about {format_quantity(need, 'size')}", (path,), "leave head-room"
            )


RULE = Rule(
    "VM021", "host-memory-full", Severity.WARNING, check, profiles=frozenset({Profile.VSPHERE}), context=MachineContext
)
