"""VM052: a whole GPU for a machine that hardly uses it.

What it checks
    Machines with a whole GPU, passed through or as its largest profile, whose `gpu_duty` is below 15 %.
Why it matters
    The GPU idles six hours of seven while others wait for one.
How to fix
    A fraction of it, or a pool that several share.
Sources
    The case for sharing in the posts of F. Denneman, 2020 to 2026; the share is a proposal.
Example
    gpu_duty = 10 % with an A100 passed through.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.fields import amount
from designer.findings import Severity
from designer.rules.rule import Offence, Rule
from designer.sources import Constant, Status

#: share of the time a GPU of one's own should be busy
LEAST = Constant(0.15, 0.05, 0.30, "rule-thresholds", Status.ASSUMED)


def check(context: MachineContext) -> Iterator[Offence]:
    placement = context.placement
    for name, shares in placement.shares.items() if placement is not None else ():
        vm = context.design.vms[name]
        whole = [share for share in shares if share.memory > 1 - 1e-6]
        if whole and vm.gpu_duty is not None and amount(vm.gpu_duty, "ratio") < LEAST.value:
            text = f"{vm.label}: a whole GPU, busy {amount(vm.gpu_duty, 'ratio'):.0%} of the time"
            yield Offence(text, (vm.id,), "a fraction of it, or a pool that several share")


RULE = Rule("VM052", "whole-gpu-hardly-used", Severity.WARNING, check, context=MachineContext)
