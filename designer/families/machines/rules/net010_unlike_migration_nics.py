"""NET010: migration NICs of unlike rates or frame sizes.

What it checks
    NICs with the role vmotion of all hosts: rate of their cables and attribute `mtu`.
Why it matters
    The slower side sets the pace of each move, and unlike frame sizes drop packets.
How to fix
    The same NICs and settings on every host.
Sources
    F. Denneman, 2012-12-18.
Example
    One host with 10 Gb/s, the others with 25 Gb/s.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.findings import Severity
from designer.rules.context import Context
from designer.rules.rule import Offence, Profile, Rule
from designer.units import format_line_rate


def check(context: Context) -> Iterator[Offence]:
    kinds: dict[tuple[float, str], str] = {}
    for machine in context.machines:
        for nic in machine.of("nic", "dpu"):
            if "vmotion" in nic.role and context.uplinks(nic):
                rate = sum(float(context.network.rate[link]) for _, link in context.uplinks(nic))
                kinds.setdefault((rate, context.text(nic.part, "mtu")), nic.path)
    if len(kinds) > 1:
        stated = [f"{format_line_rate(rate)}{f' with frames of {mtu}' * bool(mtu)}" for rate, mtu in kinds]
        yield Offence(f"migration NICs are unlike: {', '.join(stated)}", tuple(kinds.values()), "use equal NICs")


RULE = Rule("NET010", "unlike-migration-nics", Severity.WARNING, check, profiles=frozenset({Profile.VSPHERE}))
