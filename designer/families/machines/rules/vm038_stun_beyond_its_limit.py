"""VM038: a machine with virtual GPUs whose stun is longer than allowed.

What it checks
    The stun of each machine with virtual GPUs that moves alone over the migration NICs of its host to the best
    connected other host, against its `stun_limit`, 100 s where it has none. An error where a workload moves it.
Why it matters
    The migration fails at the limit and the machine keeps running where it is: its host cannot be emptied.
How to fix
    Faster migration NICs, release 9.0, which copies most of the frame buffer beforehand, fewer GPUs, a higher limit.
Sources
    VMware vSphere documentation (vGPU vMotion); post of 2025-06-24.
Example
    Eight virtual GPUs of 80 GB over 10 Gb/s on 8.0 U3.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule
from designer.units import format_quantity


def check(context: MachineContext) -> Iterator[Offence]:
    for vm, stun in context.stuns.items():
        machine = context.design.vms[vm]
        if stun is None:
            text = f"{machine.label}: how long its stun is cannot be said, no NIC of the hosts is cabled"
            yield Offence(text, (vm,), "cable the NICs that migrations use", severity=Severity.INFO)
        elif stun.stun.value > stun.limit:
            took = format_quantity(stun.stun.value, "duration", 2)
            text = (
                f"{machine.label}: its stun takes about {took}, {format_quantity(stun.limit, 'duration')} are allowed"
            )
            remedy = "faster migration NICs, release 9.0, fewer GPUs, or a higher limit"
            planned = vm in context.moved
            yield Offence(text, (vm,), remedy, severity=Severity.ERROR if planned else Severity.WARNING)


RULE = Rule("VM038", "stun-beyond-its-limit", Severity.ERROR, check, context=MachineContext)
