"""NET002: a tier of a fabric that takes more from below than it passes up.

What it checks
    For every tier of switches with switches above it: the rate of its links down against the rate of its links up.
Why it matters
    Traffic that leaves the tier shares its uplinks. All-to-all and all-reduce across leaves stall on them.
How to fix
    More uplinks or faster ones, down to 1 to 1 for the network of the accelerators. On networks of storage or
    management alone it is only remarked.
Sources
    NVIDIA enterprise reference architectures (non-blocking east-west fabric).
Example
    A leaf with 32 ports of 400 Gb/s down and 16 up: 2 to 1.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from designer.findings import Severity
from designer.rules.context import Context
from designer.rules.rule import Offence, Rule

_TOLERANCE = 0.01


def check(context: Context) -> Iterator[Offence]:
    net = context.network.net
    for tier in context.tiers:
        with_up = tier.up > 0
        bad = np.flatnonzero(with_up & (tier.down > tier.up * (1 + _TOLERANCE)))
        if len(bad):
            worst = int(bad[np.argmax(tier.down[bad] / tier.up[bad])])
            path = net.path(int(tier.switches[worst]))
            times = tier.down[worst] / tier.up[worst]
            text = f"the {tier.name} {path} takes {times:.2g} times from below what it passes up"
            severity = Severity.WARNING if tier.compute else Severity.INFO
            yield Offence(text, (path,), "more or faster uplinks", severity, equal=len(bad))


RULE = Rule("NET002", "oversubscribed-tier", Severity.WARNING, check)
