"""VM025: part of an NVSwitch board in passthrough.

What it checks
    Passthrough of some but not all GPUs of an NVSwitch board.
Why it matters
    The switches belong to one owner; vSphere does not support it.
How to fix
    Virtual GPUs with device groups.
Sources
    NVIDIA AI Enterprise user guide.
Example
    Two of eight A100 of an HGX board passed through.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for text, where, remedy in context.vm_findings("VM-NVSWITCH"):
        yield Offence(text, where, remedy)


RULE = Rule(
    "VM025", "part-of-a-board-passed-through", Severity.ERROR, check, stated_as="VM-NVSWITCH", context=MachineContext
)
