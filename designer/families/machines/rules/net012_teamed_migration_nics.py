"""NET012: several migration NICs joined to a team.

What it checks
    NICs with the role vmotion of machines that have two or more of them: `teaming` stated as IP hash, LACP or a link
    aggregation group, or more than one of `active_uplinks`.
Why it matters
    vMotion spreads its streams over VMkernel adapters by itself. A team below it puts both on the same port by hash, so
    one NIC idles and the other is full.
How to fix
    One VMkernel adapter for each NIC, each with one active uplink and the originating port policy.
Sources
    F. Denneman, 2012-12-18.
Example
    Two vMotion NICs with teaming = ip hash.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from designer.findings import Severity
from designer.rules.context import Context
from designer.rules.rule import Offence, Profile, Rule, with_values

_TEAMS = {"iphash", "routebasedoniphash", "lacp", "lag", "etherchannel", "bond"}


def check(context: Context) -> Iterator[Offence]:
    for machine in context.machines:
        nics = [nic for nic in machine.of("nic", "dpu") if "vmotion" in nic.role]
        for nic in nics if len(nics) > 1 else ():
            team = context.text(nic.part, "teaming")
            uplinks = context.number(nic.part, "active_uplinks") or 1
            if re.sub(r"[^a-z]", "", team) in _TEAMS:
                text = f"{nic.path} migrates through a team by {team}, which spreads its streams badly"
                yield Offence(text, (nic.path,), "one active uplink for each VMkernel adapter", equal=machine.times)
            elif uplinks > 1:
                text = f"{nic.path} migrates over {uplinks:.0f} active uplinks of one VMkernel adapter"
                yield Offence(text, (nic.path,), "one active uplink for each VMkernel adapter", equal=machine.times)


RULE = Rule(
    "NET012",
    "teamed-migration-nics",
    Severity.WARNING,
    check,
    profiles=frozenset({Profile.VSPHERE}),
    fix=with_values("Draw it with one active uplink", {"teaming": "originating port", "active_uplinks": 1}),
)
