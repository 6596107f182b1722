"""VM018: a machine with virtual GPUs that is to move while hot migration of virtual GPUs is off.

What it checks
    Migration workloads that move machines with virtual GPUs, against the setting `hotmigrate` of these
    machines.
Why it matters
    vMotion is refused unless vgpu.hotmigrate.enabled is true in the vCenter.
How to fix
    Enable hot migration in the vCenter.
Sources
    F. Denneman, 2023-05-30.
Example
    A vMotion workload for a machine with hotmigrate = false.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule, with_settings


def check(context: MachineContext) -> Iterator[Offence]:
    for vm in context.design.vms.values():
        moved = context.moved
        if vm.id in moved and context.setting(vm, "hotmigrate") == "false":
            yield Offence(
                f"{vm.label}: it is to move, but hot migration of virtual GPUs is off",
                (vm.id,),
                "set vgpu.hotmigrate.enabled",
            )


RULE = Rule(
    "VM018",
    "hot-migration-off",
    Severity.ERROR,
    check,
    fix=with_settings("Turn it on", {"hotmigrate": True}),
    context=MachineContext,
)
