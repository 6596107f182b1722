"""VM005: several GPUs of an NVLink board in one machine without a device group.

What it checks
    Machines with two or more virtual GPUs on an NVSwitch board that are not in one device group.
Why it matters
    NVLink between them stays off; all-reduce goes over PCIe at a tenth of the rate.
How to fix
    Assign a device group of 2, 4 or 8 GPUs.
Sources
    F. Denneman, 2026-03-31 and 2023-04-26 (device groups).
Example
    Two 80C profiles picked one by one on an HGX board.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for text, where, remedy in context.vm_findings("VM-NVLINK-OFF"):
        yield Offence(text, where, remedy)


RULE = Rule("VM005", "nvlink-off", Severity.WARNING, check, stated_as="VM-NVLINK-OFF", context=MachineContext)
