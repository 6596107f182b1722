"""VM006: several virtual GPUs of a part of a GPU before 8.0.

What it checks
    Machines with several virtual GPUs on a release before 8.0, one of them with less than the whole frame buffer.
Why it matters
    Only profiles of the whole frame buffer may be combined there; the machine does not power on.
How to fix
    Whole profiles, or 8.0 or later.
Sources
    NVIDIA AI Enterprise user guide.
Example
    Two 20C profiles on 7.0 U3.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for text, where, remedy in context.vm_findings("VM-FRACTIONS"):
        yield Offence(text, where, remedy)


RULE = Rule("VM006", "fractions-before-8", Severity.ERROR, check, stated_as="VM-FRACTIONS", context=MachineContext)
