"""VM014: suspend, snapshots, fault tolerance or hot add planned for a machine with a passthrough device.

What it checks
    The settings `suspend`, `snapshots`, `fault_tolerance` and `hot_add` of machines with passthrough devices.
Why it matters
    None of them is supported with passthrough.
How to fix
    Virtual GPUs, or a procedure with the machine off.
Sources
    F. Denneman, 2023-06-06.
Example
    snapshots = true with a passthrough GPU.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for vm in context.design.vms.values():
        passed = any(d.kind in ("passthrough", "dynamic_directpath") for d in vm.devices)
        names = ("suspend", "snapshots", "fault_tolerance", "hot_add")
        planned = [name for name in names if context.setting(vm, name) == "true"]
        if passed and planned:
            yield Offence(
                f"{vm.label}: {planned[0].replace('_', ' ')} is planned, but it has a passthrough device",
                (vm.id,),
                "use virtual GPUs, or plan without",
            )


RULE = Rule("VM014", "operations-with-passthrough", Severity.WARNING, check, context=MachineContext)
