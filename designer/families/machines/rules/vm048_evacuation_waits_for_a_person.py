"""VM048: a planned evacuation of virtual GPUs that waits for somebody to confirm it.

What it checks
    Hosts that an evacuation workload empties of machines with virtual GPUs: `vgpu_maintenance_automated` of the host. A
    warning where it says no, a remark where it is not stated.
Why it matters
    DRS does not move virtual GPUs into maintenance mode by itself unless the option VgpuMMAutomationTimeoutSecs is -1:
    rolling upgrades stop at the first such host until a person acts.
How to fix
    Set VgpuMMAutomationTimeoutSecs to -1 (7.0 U3f and later) and state the design so.
Sources
    VMware KB 88271.
Example
    vgpu_maintenance_automated = no on a host that is to be upgraded.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Profile, Rule, with_values


def check(context: MachineContext) -> Iterator[Offence]:
    waiting: dict[str, tuple[bool | None, list[str]]] = {}
    for name, operation in context.migrations.items():
        for vm_id in sorted(context.moved_by(name)) if operation.hosts is not None else ():
            vm = context.design.vms[vm_id]
            host = context.host(vm)
            if host is None or not any(d.kind in ("vgpu", "mig_vgpu", "device_group") for d in vm.devices):
                continue
            automated = context.flag(context.part_at(host.part), "vgpu_maintenance_automated")
            if not automated:
                waiting.setdefault(host.path, (automated, []))[1].append(vm.label)
    for path, (automated, labels) in waiting.items():
        several = f"{labels[0]}{f' and {len(labels) - 1} more' * (len(labels) > 1)}"
        known = "wait for a person to confirm"
        if automated is None:
            known = "may wait for a person to confirm, vgpu_maintenance_automated is not set"
        text = f"{path} is to be emptied: {several} {known}"
        severity = Severity.WARNING if automated is False else Severity.INFO
        yield Offence(text, (path,), "set VgpuMMAutomationTimeoutSecs to -1", severity=severity)


RULE = Rule(
    "VM048",
    "evacuation-waits-for-a-person",
    Severity.WARNING,
    check,
    profiles=frozenset({Profile.VSPHERE}),
    fix=with_values("Set VgpuMMAutomationTimeoutSecs to -1", {"vgpu_maintenance_automated": True}),
    context=MachineContext,
)
