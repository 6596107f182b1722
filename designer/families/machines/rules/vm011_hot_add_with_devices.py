"""VM011: CPU hot add on a machine that is larger than a socket.

What it checks
    The setting `cpu_hot_add` of machines with more virtual CPUs than a socket of their host has cores.
Why it matters
    With hot add the guest sees one uniform memory: threads and memory are spread over the sockets and half of
    all accesses are remote.
How to fix
    Turn CPU hot add off.
Sources
    F. Denneman, 2017-04-14.
Example
    48 virtual CPUs with hot add on sockets with 32 cores.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule, with_settings


def check(context: MachineContext) -> Iterator[Offence]:
    for vm in context.design.vms.values():
        if context.setting(vm, "cpu_hot_add") != "true":
            continue
        host = context.host(vm)
        if host is not None and host.sockets and vm.vcpus > min(s.cores for s in host.sockets) > 0:
            text = f"{vm.label}: CPU hot add hides its NUMA nodes"
            yield Offence(text, (vm.id,), "turn CPU hot add off")


RULE = Rule(
    "VM011",
    "hot-add-with-devices",
    Severity.WARNING,
    check,
    fix=with_settings("Turn CPU hot add off", {"cpu_hot_add": False}),
    context=MachineContext,
)
