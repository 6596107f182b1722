"""VM003: a hardware version that the release or a device does not know.

What it checks
    The hardware version of machines against their release and the devices they have.
Why it matters
    The machine does not power on, or the device cannot be added.
How to fix
    Upgrade the hardware version while the machine is off.
Sources
    Broadcom knowledge base 309986; F. Denneman, 2023-06-06.
Example
    Dynamic DirectPath with hardware version 14.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for text, where, remedy in context.vm_findings("VM-HARDWARE"):
        yield Offence(text, where, remedy)


RULE = Rule("VM003", "hardware-version-too-old", Severity.ERROR, check, stated_as="VM-HARDWARE", context=MachineContext)
