"""VM004: less memory than one and a half times that of its virtual GPUs.

What it checks
    Memory of machines against the frame buffers of their virtual GPUs.
Why it matters
    Staging buffers, pinned pages and the page cache of the dataset need room; without it the input pipeline stalls.
How to fix
    More memory for the machine.
Sources
    A rule of the field, not found in print: the factor is assumed.
Example
    A machine with 64 GiB and an 80 GB profile.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for text, where, remedy in context.vm_findings("VM-RAM"):
        yield Offence(text, where, remedy)


RULE = Rule("VM004", "little-memory-for-its-gpus", Severity.WARNING, check, stated_as="VM-RAM", context=MachineContext)
