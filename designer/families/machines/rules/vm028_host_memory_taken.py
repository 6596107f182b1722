"""VM028: a machine whose memory its host has given away.

What it checks
    Reserved memory of all machines on a host against what it has.
Why it matters
    Reserved memory is never shared: the machine does not power on.
How to fix
    Move a machine to another host.
Sources
    F. Denneman, 2023-05-30.
Example
    Three machines of 400 GB on a host with 1 TB.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for text, where, remedy in context.vm_findings("VM-MEMORY"):
        yield Offence(text, where, remedy)


RULE = Rule("VM028", "host-memory-taken", Severity.ERROR, check, stated_as="VM-MEMORY", context=MachineContext)
