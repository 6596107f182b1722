"""VM024: a device group that is none of 2, 4 or 8 GPUs, or whose partition is taken.

What it checks
    Device groups against the partitions of the NVSwitch board that are free.
Why it matters
    Groups are fixed halves of the board: three GPUs make none, and two groups cannot overlap.
How to fix
    Groups of 2, 4 or 8, the largest first.
Sources
    NVIDIA Fabric Manager user guide; F. Denneman, 2023-04-26.
Example
    A group of three GPUs.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for text, where, remedy in context.vm_findings("VM-GROUP"):
        yield Offence(text, where, remedy)


RULE = Rule("VM024", "no-such-group", Severity.ERROR, check, stated_as="VM-GROUP", context=MachineContext)
