"""VM046: a host whose machines leave too few cores for its migrations.

What it checks
    Hosts with NICs of the role vmotion: cores left by the virtual CPUs of their machines, weighed with the setting
    `cpu_load` where it is stated, against what migrations at the rate of these NICs use: 1.3 cores for each 10 Gb/s,
    1.7
    where machines must be encrypted on the way. Hosts where no machine states its load and more virtual CPUs than cores
    are given out are remarked only.
Why it matters
    Copying memory is work of CPUs: without cores migrations are slower than their network, machines with virtual GPUs
    are paused longer, and DRS cannot act.
How to fix
    Leave head-room, or plan migrations for quiet hours.
Sources
    F. Denneman, 2012-12-04 and 2018-06-26 (chart of the 6.5 paper).
Example
    62 busy virtual CPUs on 64 cores with two vMotion NICs of 100 Gb/s.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.formulas.vmotion_cpu import vmotion_cpu
from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Profile, Rule
from designer.units import BytesPerSecond, format_line_rate


def check(context: MachineContext) -> Iterator[Offence]:
    for host in context.hosts:
        machines = [placed.vm for placed in context.placement.on(host.path)] if context.placement is not None else []
        if not host.has_migration_role or not host.cores or not machines:
            continue
        lines = [nic.line_rate for nic in host.migration_nics]
        encrypted = any(context.setting(vm, "vmotion_encryption") == "required" for vm in machines)
        need = vmotion_cpu(lines, BytesPerSecond(sum(lines)), encrypted=encrypted).destination.value
        loads = [context.amount(vm, "cpu_load") for vm in machines]
        stated = any(load is not None for load in loads)
        busy = sum(vm.vcpus * (1.0 if load is None else load) for vm, load in zip(machines, loads, strict=True))
        left = max(0.0, host.cores - busy)
        if left < need:
            text = f"{host.path}: its machines leave {left:.0f} of {host.cores} cores, migrations at "
            text += f"{format_line_rate(sum(lines))} use about {need:.0f}"
            sure = stated or busy <= host.cores
            yield Offence(text, (host.path,), "leave head-room", severity=None if sure else Severity.INFO)


RULE = Rule(
    "VM046",
    "no-cores-for-migrations",
    Severity.WARNING,
    check,
    profiles=frozenset({Profile.VSPHERE}),
    context=MachineContext,
)
