"""VM008: virtual CPUs that do not divide over the NUMA nodes.

What it checks
    Machines larger than a socket whose number of virtual CPUs is not divisible by the number of nodes.
Why it matters
    One node has more CPUs than memory and cache for them; the slowest thread decides.
How to fix
    An even number of virtual CPUs per node.
Sources
    F. Denneman, 2022-10-25.
Example
    65 virtual CPUs on sockets with 32 cores.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for text, where, remedy in context.vm_findings("VM-NUMA-UNEVEN"):
        yield Offence(text, where, remedy)


RULE = Rule("VM008", "uneven-nodes", Severity.WARNING, check, stated_as="VM-NUMA-UNEVEN", context=MachineContext)
