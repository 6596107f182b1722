"""VM001: a virtual machine with devices whose memory is not all reserved.

What it checks
    Machines with passthrough devices or virtual GPUs whose reservation is smaller than their memory, or that state none
    before 8.0, which reserves by itself.
Why it matters
    Devices read and write guest memory directly, so it must be pinned: the machine does not power on.
How to fix
    Reserve all memory of the machine.
Sources
    F. Denneman, 2023-05-30 (reserve all guest memory).
Example
    A machine with 256 GiB, a vGPU and a reservation of 128 GiB.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for text, where, remedy in context.vm_findings("VM-RESERVE"):
        yield Offence(text, where, remedy)


RULE = Rule("VM001", "memory-not-reserved", Severity.ERROR, check, stated_as="VM-RESERVE", context=MachineContext)
