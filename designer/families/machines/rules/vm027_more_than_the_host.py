"""VM027: a machine larger than its host.

What it checks
    Virtual CPUs and memory of machines against threads and memory of their host.
Why it matters
    It does not power on.
How to fix
    A larger host, or a smaller machine.
Sources
    Broadcom knowledge base 309986; the host's own parts.
Example
    600 virtual CPUs on a host with 128 threads.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for text, where, remedy in context.vm_findings("VM-TOO-BIG"):
        yield Offence(text, where, remedy)


RULE = Rule("VM027", "more-than-the-host", Severity.ERROR, check, stated_as="VM-TOO-BIG", context=MachineContext)
