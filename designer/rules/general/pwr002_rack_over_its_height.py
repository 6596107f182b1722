"""PWR002: more height units in a rack than it has.

What it checks
    Height of servers and switches in a rack that states its own.
Why it matters
    It does not fit, and nobody notices before the truck is at the door.
How to fix
    A second rack, or lower servers.
Sources
    EIA-310; vendors' data sheets for heights.
Example
    Six servers of 8 units in 42.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.findings import Severity
from designer.rules.context import Context
from designer.rules.rule import Offence, Rule


def check(context: Context) -> Iterator[Offence]:
    for rack, units, path, times in context.racks():
        room = context.number(rack, "height")
        used = sum(context.number(part, "height") or 0.0 for part in units)
        if room is not None and used > room:
            text = f"the content of {path} takes {used:.0f} height units, it has {room:.0f}"
            yield Offence(text, (path,), "use another rack for some of it", equal=times)
    for rack in context.design.racks.values():
        if rack.part is not None or rack.height is None:
            continue
        beyond = [
            path
            for path, part in context.standing_in(rack).items()
            if rack.units[path].unit - 1 + (context.number(part, "height") or 1.0) > rack.height
        ]
        if beyond:
            text = f"the content of {rack.label} reaches beyond its {rack.height} height units"
            yield Offence(text, tuple(beyond), "a lower place, or another rack")


RULE = Rule("PWR002", "rack-over-its-height", Severity.ERROR, check)
