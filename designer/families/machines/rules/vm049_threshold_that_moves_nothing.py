"""VM049: DRS at a threshold that balances nothing.

What it checks
    `drs_threshold` of hosts with machines.
Why it matters
    At 1 only mandatory moves are made: to keep rules and to empty hosts. Load is never balanced.
How to fix
    A threshold of 2 or more, which balances load as well.
Sources
    F. Denneman, 2021-10-22.
Example
    drs_threshold = 1.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.families.machines.rules._context import MachineContext
from designer.findings import Severity
from designer.rules.rule import Offence, Profile, Rule, with_values


def check(context: MachineContext) -> Iterator[Offence]:
    low = [h.path for h in context.hosts if context.number(context.part_at(h.part), "drs_threshold") == 1]
    if low:
        text = f"{low[0]}: at a DRS threshold of 1 only mandatory moves are made"
        yield Offence(text, tuple(low[:1]), "2 or more", equal=len(low))


RULE = Rule(
    "VM049",
    "threshold-that-moves-nothing",
    Severity.INFO,
    check,
    profiles=frozenset({Profile.VSPHERE}),
    fix=with_values("Set the threshold to 3", {"drs_threshold": 3}),
    context=MachineContext,
)
