"""VM023: a profile its GPUs do not offer.

What it checks
    Profile names of virtual GPUs against what the vendor lists for the GPUs of the host.
Why it matters
    The machine cannot be made.
How to fix
    One of the profiles the finding names.
Sources
    NVIDIA virtual GPU user guide (vGPU types).
Example
    A 12C profile on an A100 80 GB.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for text, where, remedy in context.vm_findings("VM-PROFILE"):
        yield Offence(text, where, remedy)


RULE = Rule("VM023", "unknown-profile", Severity.ERROR, check, stated_as="VM-PROFILE", context=MachineContext)
