"""VM007: a machine that sees one NUMA node but has more memory than a node.

What it checks
    Machines whose virtual CPUs fit one socket and whose memory does not.
Why it matters
    The guest believes all its memory is near, while part of it lies behind the socket links.
How to fix
    Two virtual NUMA nodes, split evenly.
Sources
    F. Denneman, 2022-11-03.
Example
    16 virtual CPUs and 700 GiB on sockets with 512 GiB.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for text, where, remedy in context.vm_findings("VM-NUMA-MEMORY"):
        yield Offence(text, where, remedy)


RULE = Rule("VM007", "memory-across-nodes", Severity.WARNING, check, stated_as="VM-NUMA-MEMORY", context=MachineContext)
