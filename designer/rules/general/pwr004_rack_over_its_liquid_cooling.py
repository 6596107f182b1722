"""PWR004: units of a rack put more heat into liquid than its liquid cooling takes.

What it checks
    Largest draw of liquid-cooled units, times the share of their heat that goes into liquid, against the liquid cooling
    of the rack; a rack that states none has none.
Why it matters
    Cold plates without enough coolant lower clocks within seconds and switch units off.
How to fix
    More cooling distribution units, fewer units in the rack, or the liquid cooling stated on the rack.
Sources
    Vendors' sheets for the split of heat; the rack's own liquid cooling.
Example
    Eighteen trays of 6.3 kW, nine tenths of it into liquid, in a rack of which manifolds take 80 kW.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.findings import Severity
from designer.rules.context import Context
from designer.rules.rule import Offence, Rule
from designer.units import format_quantity


def check(context: Context) -> Iterator[Offence]:
    for rack, units, path, times in context.racks():
        heat = sum(
            (context.number(part, "power_max") or 0.0) * (context.number(part, "liquid_share") or 0.0) for part in units
        )
        takes = context.number(rack, "liquid_capacity") or 0.0
        if heat <= takes:
            continue
        cooled = (
            f"its liquid cooling takes {format_quantity(takes, 'power')}" if takes else "it states no liquid cooling"
        )
        text = f"the content of {path} puts up to {format_quantity(heat, 'power')} into liquid, {cooled}"
        yield Offence(text, (path,), "more cooling distribution units, or fewer units in the rack", equal=times)


RULE = Rule("PWR004", "rack-over-its-liquid-cooling", Severity.WARNING, check)
