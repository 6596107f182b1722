"""VM029: a device that another machine has, or that its host has not.

What it checks
    Devices named by machines against those of the host and those in use.
Why it matters
    The machine does not power on.
How to fix
    A device that is free, or another host.
Sources
    VMware DirectPath I/O documentation.
Example
    Two machines with the same passthrough GPU.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for text, where, remedy in context.vm_findings("VM-DEVICE"):
        yield Offence(text, where, remedy)


RULE = Rule("VM029", "device-taken", Severity.ERROR, check, stated_as="VM-DEVICE", context=MachineContext)
