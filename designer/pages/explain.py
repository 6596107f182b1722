"""The page of two logs: what each cause does to the difference, and what is left."""

from __future__ import annotations

import math

from designer.decisions.log_difference import Difference, Explained
from designer.present import numbers
from designer.present.blocks import Column, Page, State, Table

#: factors nearer to one are no cause worth a sentence
_SMALL = 0.02


def page_of_difference(found: Difference, names: tuple[str, str] = ("A", "B")) -> Page:
    """The page: the measured ratio, a row for each cause, the rest, and what the model says of either machine."""
    main = found.sizes[0]
    head = (
        f"{names[1]} does {_factor(main.ratio)} the {found.a.what} rate of {names[0]}{_at(main)}: "
        f"{numbers.shown(main.measured[1], found.a.unit)} against {numbers.shown(main.measured[0], found.a.unit)}."
    )
    strong = [c for c in main.causes if abs(math.log(c.factor)) > _SMALL]
    if strong:
        head += f" {strong[0].name}: {_factor(strong[0].factor)}."
    rows = [
        (
            cause.name,
            cause.a,
            cause.b,
            _factor(cause.factor),
            f"{cause.low:.3g} – {cause.high:.3g}",
            _share(cause.share(main.ratio), main.ratio),
        )
        for cause in main.causes
    ]
    left = math.log(main.rest) / math.log(main.ratio) if abs(math.log(main.ratio)) > 1e-9 else 0.0
    rows.append(
        (
            "Rest, not explained",
            f"{main.measured[0] / main.predicted[0]:.0%} of the estimate",
            f"{main.measured[1] / main.predicted[1]:.0%} of the estimate",
            _factor(main.rest),
            f"{main.low:.3g} – {main.high:.3g}",
            _share(left, main.ratio),
        )
    )
    heads = (
        Column("Cause"),
        Column(names[0]),
        Column(names[1]),
        Column("Factor", True),
        Column("Band", True),
        Column("Share", True),
    )
    judged = (
        "The rest is within the bands of the two estimates."
        if main.is_within
        else "The rest is outside the bands of the two estimates: one machine does not do what its topology allows for."
    )
    chosen = (f"Estimated with {found.how[0]} on {names[0]}, {found.how[1]} on {names[1]}.",) if any(found.how) else ()
    others = tuple(_other(one) for one in found.sizes[1:])
    return Page(
        f"Two logs of {found.a.tool}" if found.a.tool == found.b.tool else f"{found.a.tool} and {found.b.tool}",
        State.ANSWERED,
        head,
        table=Table("", heads, tuple(rows)),
        remarks=(judged, *chosen, *others),
    )


def _at(one: Explained) -> str:
    size = one.size[0]
    if size != one.size[1] or not size:
        return ""
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size % 2**power == 0:
            return f" at {size >> power:,} {unit}"
    return f" at {size:,} B"


def _other(one: Explained) -> str:
    causes = ", ".join(f"{c.name[0].lower()}{c.name[1:]} {_factor(c.factor)}" for c in one.causes[:3])
    return f"A{_at(one)[2:]}: {_factor(one.ratio)}" + (f"; {causes}; rest {_factor(one.rest)}." if causes else ".")


def _factor(value: float) -> str:
    return f"{value:.3g} ×"


def _share(share: float, ratio: float) -> str:
    return f"{share:.0%}" if abs(math.log(ratio)) > _SMALL else "–"
