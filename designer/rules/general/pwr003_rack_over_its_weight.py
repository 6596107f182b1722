"""PWR003: what is in a rack weighs more than the rack can carry.

What it checks
    Weight of the units in a rack that states what it carries; units without a weight count nothing.
Why it matters
    A frame that bends does not close, and a floor is loaded by the same weight.
How to fix
    Fewer units in the rack, or a rack for a higher load.
Sources
    Vendors' data sheets for weights; the rack's own load.
Example
    Eight servers of 130 kg in a rack for 1 t.
"""

from __future__ import annotations

from collections.abc import Iterator

from designer.findings import Severity
from designer.rules.context import Context
from designer.rules.rule import Offence, Rule
from designer.units import format_quantity


def check(context: Context) -> Iterator[Offence]:
    for rack, units, path, times in context.racks():
        carries = context.number(rack, "weight_capacity")
        weight = sum(context.number(part, "weight") or 0.0 for part in units)
        if carries is not None and weight > carries:
            text = (
                f"the content of {path} weighs {format_quantity(weight, 'mass')}, it carries"
                f" {format_quantity(carries, 'mass')}"
            )
            yield Offence(text, (path,), "spread the units, or take a rack for a higher load", equal=times)


RULE = Rule("PWR003", "rack-over-its-weight", Severity.ERROR, check)
