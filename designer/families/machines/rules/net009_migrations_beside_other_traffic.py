"""NET009: migrations over a NIC that carries storage or machines as well.

What it checks
    NICs whose role names vmotion together with another use.
Why it matters
    A migration takes all it can get: storage and machines starve, or it takes too long itself.
How to fix
    A NIC for migrations, or network I/O control with shares.
Sources
    F. Denneman, 2013-01-18.
Example
    One NIC with the role "vmotion, storage".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from designer.findings import Severity
from designer.rules.context import Context
from designer.rules.rule import Offence, Profile, Rule


def check(context: Context) -> Iterator[Offence]:
    for machine in context.machines:
        for nic in machine.of("nic", "dpu"):
            uses = [use for use in re.split(r"[,/+ ]+", nic.role) if use]
            if "vmotion" in uses and len(uses) > 1 and not context.text(nic.part, "shares"):
                others = ", ".join(use for use in uses if use != "vmotion")
                text = f"{nic.path} carries migrations and {others}"
                yield Offence(text, (nic.path,), "a NIC of its own, or shares", equal=machine.times)


RULE = Rule("NET009", "migrations-beside-other-traffic", Severity.WARNING, check, profiles=frozenset({Profile.VSPHERE}))
