"""VM022: virtual GPUs that have no valid place on any GPU of the host.

What it checks
    Profiles of all machines on the GPUs of their host: placement IDs, MIG geometry, equal and mixed sizes, one
    mode per GPU.
Why it matters
    Free memory is not placeable memory: the machine does not power on.
How to fix
    Another order, another profile, or another GPU.
Sources
    NVIDIA AI Enterprise user guide; NVIDIA MIG user guide; F. Denneman, 2023-04-26 and 2026-02-17.
Example
    A 40C profile on a GPU that holds a 20C, before mixed sizes.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for text, where, remedy in context.vm_findings("VM-NO-ROOM"):
        yield Offence(text, where, remedy)


RULE = Rule("VM022", "no-place-on-the-gpu", Severity.ERROR, check, stated_as="VM-NO-ROOM", context=MachineContext)
