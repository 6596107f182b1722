"""NET013: migration NICs of a host in several subnets.

What it checks
    `subnet` of the NICs with the role vmotion of a machine, where their `tcp_stack` is not the one of vMotion.
Why it matters
    One TCP/IP stack has one route to a network: adapters in other subnets than the gateway's are left out, or
    migrations fail. The rules of 2012 do not support it at all.
How to fix
    One subnet for all of them, or the vMotion TCP/IP stack, which has a gateway of its own.
Sources
    F. Denneman, 2012-12-18.
Example
    Two vMotion NICs in 10.0.4.0/24 and 10.0.5.0/24 in the default stack.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.findings import Severity
from designer.rules.context import Context
from designer.rules.rule import Offence, Profile, Rule


def check(context: Context) -> Iterator[Offence]:
    for machine in context.machines:
        subnets: dict[str, str] = {}
        for nic in machine.of("nic", "dpu"):
            subnet = context.text(nic.part, "subnet")
            if "vmotion" in nic.role and subnet and context.text(nic.part, "tcp_stack") != "vmotion":
                subnets.setdefault(subnet, nic.path)
        if len(subnets) > 1:
            text = f"the migration NICs of one host are in {len(subnets)} subnets: {', '.join(subnets)}"
            remedy = "one subnet, or the vMotion TCP/IP stack"
            yield Offence(text, tuple(subnets.values()), remedy, equal=machine.times)


RULE = Rule(
    "NET013", "migration-nics-in-several-subnets", Severity.WARNING, check, profiles=frozenset({Profile.VSPHERE})
)
