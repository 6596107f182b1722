"""What a search found in words: why designs lost, and what is in the way of a goal nothing reaches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from designer.contrib.proposals.goal import KEPT_SHARE, MONEY
from designer.contrib.proposals.pareto import Found, Lost, Measure, Nearest, Search
from designer.contrib.proposals.question import Question
from designer.contrib.proposals.results import Proposals
from designer.units import format_si

#: so many of those that lost are named, of each reason
_STATED_LIMIT: Final = 3

#: from this ratio on people read "times" more easily than percent, and from the other on no digit of it matters
_TIMES: Final = 2.0
_COUNTLESS: Final = 1e6


def shown(measure: Measure, value: float) -> str:
    """A value of a measure in words."""
    if measure.name == MONEY:
        return f"{value:,.0f} {measure.unit}".rstrip()
    if measure.name == KEPT_SHARE:
        return f"{value:.1%}"
    if measure.unit == "1":
        return f"{value:,.4g}"
    return format_si(value, measure.unit)


def reasons(found: Proposals) -> list[str]:
    """Why the others lost, those that came nearest first, and what the power of the best leaves out."""
    measures = {m.name: m for m in found.measures}
    groups: dict[tuple[str, str], list[Lost]] = {}
    for one in found.found.lost:
        groups.setdefault((one.why, one.measure or one.text), []).append(one)
    lines: list[str] = []
    for (why, about), rows in groups.items():
        count = sum(one.count for one in rows)
        if why == "limit":
            rows = sorted(rows, key=lambda one: one.by)
            measure = measures[about]
            near = "; ".join(
                f"{found.titles(one.settings)} by {'' if one.worked_out else 'at least '}{shown(measure, one.by)}"
                f"{'' if one.certain else ', within its band it may do'}"
                for one in rows[:_STATED_LIMIT]
            )
            lines.append(f"{count:,} break{'s' if count == 1 else ''} the limit of {measure.title.lower()}: {near}")
        elif why == "dominated":
            some = "; ".join(
                f"{found.titles(one.settings)} by {found.titles(one.winner)}" for one in rows[:_STATED_LIMIT]
            )
            sure = sum(one.count for one in rows if one.certain)
            close = (
                f", {count - sure:,} of them by values whose bands overlap or by bounds alone" if sure < count else ""
            )
            lines.append(f"{count:,} {'is' if count == 1 else 'are'} beaten in every measure{close}: {some}")
        else:
            lines.append(f"{count:,} cannot be: {about} ({found.titles(rows[0].settings)})")
    unrated = list(dict.fromkeys(model for one in found.best for model in one.unrated))
    if unrated:
        lines.append(f"rated power leaves out what states none: {', '.join(unrated)}")
    return lines


def impossible(question: Question, search: Search, found: Found, nearest: Sequence[Nearest]) -> str:
    """A sentence that names what makes the goal impossible."""
    measures = {m.name: m for m in question.measures}
    if nearest:
        first = nearest[0]
        measure = measures[first.limit.measure]
        way = "at least" if measure.more else "at most"
        return (
            f"{measure.title} of {way} {shown(measure, first.limit.amount)} cannot be kept: with all else as asked "
            f"{shown(measure, first.value)} is the best there is ({question.title(first.point.settings)}), "
            f"{shown(measure, first.by)} or {_distance(first.share, measure.more)}"
        )
    reached: list[str] = []
    for limit in question.limits:
        measure = measures[limit.measure]
        point = search.alone(limit.measure)
        if point is None:
            return f"none of the {found.space:,} designs runs: {_usual_reason(found.lost)}"
        value = point.worth.values[limit.measure].value
        if (value < limit.amount) if measure.more else (value > limit.amount):
            reached.append(
                f"{measure.title} gets to {shown(measure, value)} at best, {shown(measure, limit.amount)} "
                "is asked for, whatever else is given up"
            )
    if reached:
        return "; ".join(reached)
    return (
        "no single limit is in the way: two or more of them cannot hold together"
        if question.limits
        else (f"none of the {found.space:,} designs runs: {_usual_reason(found.lost)}")
    )


def _distance(share: float, more: bool) -> str:
    """How far the best is from a limit, of which it misses a share, in words.

    >>> _distance(0.25, True), _distance(0.25, False), _distance(1.5, False), _distance(36107.15, False)
    ('25% below it', '25% above it', '2.5 times the limit', '36,108 times the limit')
    """
    times = 1.0 + share
    if more or times < _TIMES:
        return f"{share:.0%} {'below' if more else 'above'} it"
    if times >= _COUNTLESS:
        return "more than a million times the limit"
    return f"{times:.3g} times the limit" if times < 100 else f"{times:,.0f} times the limit"


def _usual_reason(lost: Iterable[Lost]) -> str:
    counts: dict[str, int] = {}
    for one in lost:
        if one.text:
            counts[one.text] = counts.get(one.text, 0) + one.count
    return max(counts, key=lambda text: counts[text]) if counts else "no reason is given"
