"""VM033: migrations that must be encrypted where hosts cannot.

What it checks
    The setting `vmotion_encryption` of machines, and attribute `aes_ni` of hosts.
Why it matters
    Migrations to hosts without AES instructions are refused, and DRS does not know.
How to fix
    Hosts equivalent, or encryption where possible.
Sources
    F. Denneman, 2018-06-26.
Example
    vmotion_encryption = required with a host stated aes_ni = no.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Rule


def check(context: MachineContext) -> Iterator[Offence]:
    for vm in context.design.vms.values():
        placement = context.placement
        if placement is None or context.setting(vm, "vmotion_encryption") != "required":
            continue
        part_of = context.network.net.part
        hosts = placement.hosts.hosts
        lame = [
            host.path
            for host in hosts
            if part_of(host.part).attributes.get("aes_ni", "").lower() in ("no", "off", "false")
        ]
        if lame:
            text = f"{vm.label}: its migrations must be encrypted, {lame[0]} cannot"
            yield Offence(text, (vm.id,), "use equal hosts, or encrypt where possible")


RULE = Rule("VM033", "encryption-not-everywhere", Severity.WARNING, check, context=MachineContext)
