"""HW004: unlike switches in one tier of a fabric.

What it checks
    Types of the switches at the same distance from the hosts in one fabric.
Why it matters
    Traffic is spread evenly over the switches of a tier: the slowest one is everybody's.
How to fix
    One type per tier.
Sources
    NVIDIA DGX SuperPOD reference architecture.
Example
    Three spines with 400 Gb/s ports, one with 200 Gb/s.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from designer.findings import Severity
from designer.rules.context import Context
from designer.rules.rule import Offence, Rule


def check(context: Context) -> Iterator[Offence]:
    net = context.network.net
    for tier in context.tiers:
        definitions, first = np.unique(net.part_def[tier.switches], return_index=True)
        kinds: dict[str, str] = {}
        for definition, at in zip(definitions.tolist(), first.tolist(), strict=True):
            kind = net.part_defs[definition].type
            if kind:
                kinds.setdefault(kind, net.path(int(tier.switches[at])))
        if len(kinds) > 1 and tier.compute:
            yield Offence(
                f"the {tier.name} switches are of {len(kinds)} types", tuple(kinds.values()), "one type per tier"
            )


RULE = Rule("HW004", "mixed-switches-of-a-tier", Severity.WARNING, check)
