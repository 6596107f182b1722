"""VM019: more than eight virtual machines on one GPU.

What it checks
    Time-sliced virtual GPUs of one GPU, where the machines are placed.
Why it matters
    From nine on the time slice drops to 1 ms: switching takes its share, and throughput suffers.
How to fix
    Larger profiles, or more GPUs.
Sources
    F. Denneman, 2023-05-10.
Example
    Ten 4C profiles in use on an A100 40 GB.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule
from designer.sources import Constant, Status

#: virtual GPUs to a GPU with the long time slice
MOST = Constant(8, 8, 8, "rule-thresholds", Status.SECONDARY)


def check(context: MachineContext) -> Iterator[Offence]:
    for vm in context.design.vms.values():
        crowded = [path for path in context.gpus_of(vm) if context.crowd[path] > MOST.value]
        if crowded:
            yield Offence(
                f"{vm.label}: it shares {crowded[0]} with more than seven others", (vm.id,), "use larger profiles"
            )


RULE = Rule("VM019", "many-per-gpu", Severity.INFO, check, context=MachineContext)
