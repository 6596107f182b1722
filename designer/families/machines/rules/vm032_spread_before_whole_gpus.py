"""VM032: small virtual GPUs spread over all GPUs of a host that whole GPUs are wanted from.

What it checks
    Hosts with the assignment policy spread, machines with profiles of a part of a GPU, and machines with a
    whole GPU or a group.
Why it matters
    The first small machines take a slice of every GPU: no whole one is left, however much memory is free.
How to fix
    The policy that fills GPUs up, or GPUs apart for small machines.
Sources
    F. Denneman, 2026-02-19.
Example
    Four 20C machines and one 80C machine on two GPUs with the policy spread.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.formulas.placement import AssignmentPolicy
from designer.rules.rule import Offence, Rule

#: a profile of more than this share is a whole GPU
_WHOLE = 0.95


def check(context: MachineContext) -> Iterator[Offence]:
    for vm in context.design.vms.values():
        placement = context.placement
        placed = placement.placed.get(vm.id) if placement is not None else None
        if placement is None or placed is None:
            continue
        others = placement.on(placed.host.path)
        spread = placed.host.policy is AssignmentPolicy.SPREAD and len(placed.host.gpus) > 1
        whole = any(d.kind == "vgpu" and d.memory_share > _WHOLE for d in placed.devices)
        small = any(d.kind == "vgpu" and d.memory_share <= _WHOLE for other in others for d in other.devices)
        if spread and whole and small:
            text = f"{vm.label}: small virtual GPUs are spread over the GPUs of its host, it wants a whole one"
            yield Offence(text, (vm.id,), "fill GPUs up on this host")


RULE = Rule("VM032", "spread-before-whole-gpus", Severity.WARNING, check, context=MachineContext)
