"""VM026: a GPU on another socket than the virtual CPUs that feed it.

What it checks
    Machines whose virtual CPUs stand on one socket and a virtual GPU on the other.
Why it matters
    All traffic between host and device crosses the socket links: up to 69 % less bandwidth.
How to fix
    NUMA affinity to the node of the GPU, or a GPU of that node.
Sources
    F. Denneman, 2020-01-30.
Example
    A machine on socket 0 with the GPU of socket 1.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for text, where, remedy in context.vm_findings("VM-NUMA"):
        yield Offence(text, where, remedy)


RULE = Rule("VM026", "gpu-on-another-socket", Severity.WARNING, check, stated_as="VM-NUMA", context=MachineContext)
