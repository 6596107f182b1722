"""VM034: a virtual GPU that only one host can take.

What it checks
    Machines with virtual GPUs whose type of GPU is in one host alone, in designs with several.
Why it matters
    That host cannot be emptied, and HA cannot restart the machine.
How to fix
    A second host with such GPUs.
Sources
    F. Denneman (DRS posts); VMware HA.
Example
    One host with A100 among hosts with L40S.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Profile, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for vm in context.design.vms.values():
        host = context.host(vm)
        hosts = context.placement.hosts.hosts if context.placement is not None else ()
        needed = any(d.kind in ("vgpu", "mig_vgpu", "device_group") for d in vm.devices) and host is not None
        titles = {gpu.title for gpu in host.gpus} if host is not None else set[str]()
        takers = [other.path for other in hosts if titles & {gpu.title for gpu in other.gpus}]
        if needed and len(takers) == 1 and len(hosts) > 1:
            text = f"{vm.label}: only {takers[0]} has the GPUs it needs"
            yield Offence(text, (vm.id,), "add a second host with such GPUs")


RULE = Rule(
    "VM034",
    "pool-without-a-second-host",
    Severity.WARNING,
    check,
    profiles=frozenset({Profile.VSPHERE}),
    context=MachineContext,
)
