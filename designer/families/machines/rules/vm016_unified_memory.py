"""VM016: unified memory, a debugger or a profiler on in a machine with a virtual GPU.

What it checks
    The settings `unified_memory`, `debugger` and `profiler` of machines with virtual GPUs.
Why it matters
    Each of them disables vMotion; on NVSwitch boards of A100 unified memory also turns NVLink off.
How to fix
    Off in production.
Sources
    NVIDIA AI Enterprise user guide.
Example
    unified_memory = true on a machine that is to be evacuated.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule, with_settings


def check(context: MachineContext) -> Iterator[Offence]:
    for vm in context.design.vms.values():
        on = [name for name in ("unified_memory", "debugger", "profiler") if context.setting(vm, name) == "true"]
        if on and any(d.kind in ("vgpu", "mig_vgpu", "device_group") for d in vm.devices):
            yield Offence(
                f"{vm.label}: {on[0].replace('_', ' ')} is on, it cannot be moved",
                (vm.id,),
                "turn it off in production",
            )


RULE = Rule(
    "VM016",
    "unified-memory",
    Severity.WARNING,
    check,
    fix=with_settings("Turn it off", {"unified_memory": False, "debugger": False, "profiler": False}),
    context=MachineContext,
)
