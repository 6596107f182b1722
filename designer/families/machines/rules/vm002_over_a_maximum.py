"""VM002: more virtual CPUs, memory, devices or virtual GPUs than the release allows.

What it checks
    Counts of a machine against the maximums of its release and hardware version.
Why it matters
    The machine does not power on.
How to fix
    Fewer devices, a newer hardware version or a newer release.
Sources
    Broadcom knowledge base 309986 (configuration maximums); VMware, 2023-09 (vGPUs per machine).
Example
    Nine virtual GPUs in one machine on 8.0.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for text, where, remedy in context.vm_findings("VM-LIMIT"):
        yield Offence(text, where, remedy)


RULE = Rule("VM002", "over-a-maximum", Severity.ERROR, check, stated_as="VM-LIMIT", context=MachineContext)
