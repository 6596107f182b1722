"""VM039: a stun that vSphere allows and the application inside does not survive.

What it checks
    The stun of each machine with virtual GPUs, as for VM038, against its setting `stun_tolerance`; a machine of
    several GPUs that does not say is assumed to tolerate 30 s, one of a single GPU is left alone.
Why it matters
    Collective libraries and TCP give up after about 30 s, heartbeats of clusters after 10 s: the job aborts although
    the migration succeeds.
How to fix
    Move it between jobs, drain the replica first, or make the stun shorter as for VM038.
Sources
    Section 2.3 of the vSphere notes; the time-outs are not confirmed by a document and can be set.
Example
    stun_tolerance = 10 s on a machine whose frame buffer takes 20 s.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule
from designer.sources import Constant, Status
from designer.units import format_quantity, parse

#: collective libraries and TCP give up
GIVES_UP = Constant(30.0, 10.0, 120.0, "rule-thresholds", Status.ASSUMED, "s")


def check(context: MachineContext) -> Iterator[Offence]:
    for vm, stun in context.stuns.items():
        machine = context.design.vms[vm]
        own = context.setting(machine, "stun_tolerance")
        several = len(context.gpus_of(machine)) > 1
        if stun is None or not (own or several):
            continue
        most = parse(own, "duration") if own else GIVES_UP.value
        if most < stun.stun.value <= stun.limit:
            took, borne = format_quantity(stun.stun.value, "duration", 2), format_quantity(most, "duration")
            text = f"{machine.label}: its stun takes about {took}, it tolerates {borne}{'' if own else ', assumed'}"
            yield Offence(text, (vm,), "move it between jobs, drain it first, or set stun_tolerance")


RULE = Rule("VM039", "stun-beyond-what-it-tolerates", Severity.WARNING, check, context=MachineContext)
