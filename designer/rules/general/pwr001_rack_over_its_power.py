"""PWR001: what is in a rack can draw more than the rack can feed.

What it checks
    The largest draw of servers and switches in a rack that states what it can feed.
Why it matters
    Breakers trip under full load, which is when every GPU works.
How to fix
    Fewer servers in the rack, a stronger feed, or a power cap stated on the servers.
Sources
    Vendors' data sheets for the largest draw; the rack's own feed.
Example
    Five DGX H100 (10.2 kW each) in a rack of 40 kW.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.design.document import Part
from designer.fields import amount
from designer.findings import Severity
from designer.rules.context import Context
from designer.rules.rule import Offence, Rule
from designer.units import format_quantity


def check(context: Context) -> Iterator[Offence]:
    for rack, units, path, times in context.racks():
        room = context.number(rack, "power_capacity")
        draw = sum(power(context, part) for part in units)
        if room is not None and draw > room:
            text = (
                f"the content of {path} draws up to {format_quantity(draw, 'power')}, it can feed "
                f"{format_quantity(room, 'power')}"
            )
            yield Offence(text, (path,), "fewer servers, or a stronger feed", equal=times)
    for rack in context.design.racks.values():
        if rack.part is not None or rack.power is None:
            continue
        room = amount(rack.power, "power")
        draw = sum(power(context, part) for part in context.standing_in(rack).values())
        if draw > room:
            text = (
                f"the content of {rack.label} draws up to {format_quantity(draw, 'power')}, it can feed "
                f"{format_quantity(room, 'power')}"
            )
            yield Offence(text, tuple(rack.units), "fewer servers, or a stronger feed")


def power(context: Context, part: Part) -> float:
    """The largest draw of a server or switch [W]; 0 where it does not say."""
    return context.number(part, "power_max") or 0.0


RULE = Rule("PWR001", "rack-over-its-power", Severity.ERROR, check)
