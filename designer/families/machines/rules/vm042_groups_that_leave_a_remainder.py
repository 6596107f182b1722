"""VM042: device groups of one machine that NVLink does not join.

What it checks
    Machines with several device groups: together they are no partition, as with six GPUs out of four and two.
Why it matters
    Partitions are of 2, 4 or 8 GPUs. NVLink reaches within each alone, so collectives of the whole machine run over
    PCIe and the sockets, as slow as if there were no NVLink.
How to fix
    One group of the next size, or a machine for each group.
Sources
    F. Denneman, 2026-03-31; NVIDIA Fabric Manager user guide.
Example
    A machine with a group of four and one of two.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for placed in context.placement.placed.values() if context.placement is not None else ():
        groups = {d.group.name: len(d.group.modules) for d in placed.devices if d.group is not None}
        if len(groups) > 1:
            words = " and ".join(str(n) for n in groups.values())
            text = f"{placed.vm.label}: its groups of {words} GPUs reach each other without NVLink"
            yield Offence(text, (placed.vm.id,), "take one group of the next size, or a machine for each group")


RULE = Rule("VM042", "groups-that-leave-a-remainder", Severity.WARNING, check, context=MachineContext)
