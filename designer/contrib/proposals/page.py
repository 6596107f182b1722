"""The page of a search for a goal: the best designs, and why there is no other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from designer.contrib.proposals.goal import KEPT_SHARE, MONEY
from designer.contrib.proposals.pareto import Found, Lost, Measure, Nearest, Search
from designer.contrib.proposals.question import Question
from designer.contrib.proposals.results import Proposal, Proposals
from designer.design.query import count_kinds
from designer.present import numbers
from designer.present.blocks import Change, Column, Page, Sketch, State, Table, Tone
from designer.present.limits import limits_it, short_of
from designer.present.sketch import captioned
from designer.present.words import opened, plain
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


#: choices of a search in words
_CHOICES = {"none": "no network", "drives": "local drives", "as given": "layout as given"}


def page_of_proposals(found: Proposals, folder: str = "", *, drawn: bool = False) -> Page:
    """The page of what `propose` found.

    Parameters
    ----------
    folder
        Where the best were written; empty for nowhere.
    drawn
        True to offer each of the best as a change that holds its design, for doors that can open it.
    """
    searched = (
        f"{numbers.counted(found.found.space, 'design')} searched, {found.found.worked_out:,} computed, "
        f"{len(found.found.front):,} best trade-offs."
    )
    subject = f"Designs for the goal: {found.wanted.goal.kind}"
    if not found.best:
        stated = plain(opened(found.impossible or "no design reaches this goal"))
        return Page(subject, State.REFUSED, f"{stated}.", remarks=(searched,))
    first = found.best[0]
    worth = ", ".join(_text(m, first.worth.values[m.name].value) for m in _main_measures(found.measures))
    count = numbers.counted(len(found.best), "design reaches", "designs reach")
    heads = (Column("Design"), *(Column(opened(m.title), True) for m in found.measures), Column("Limits"))
    rows = tuple(
        (
            title_of(one.title),
            *(_text(m, one.worth.values[m.name].value) for m in found.measures),
            short_of(one.binding, one.design),
        )
        for one in found.best
    )
    if folder:
        file = f"{folder}/01-{first.design.name[:60]}.design.json"
        change = Change("Look at the first", command=("analyze", file), tone=Tone.PLAIN)
    else:
        change = Change("To keep the designs, add -o FOLDER", tone=Tone.PLAIN)
    changes = tuple(_card(found, one) for one in found.best) if drawn else (change,)
    return Page(
        subject,
        State.ANSWERED,
        f"{count} the goal. The first is {title_of(first.title)}: {worth}.",
        table=Table("", heads, rows),
        changes_title="Best trade-offs" if drawn else "What to do next",
        changes=changes,
        remarks=(searched, *(f"{plain(opened(line))}." for line in reasons(found)[:1])),
        more="Why the others lost, and bands",
    )


def _card(found: Proposals, one: Proposal) -> Change:
    """One of the best as a change: its measures with their bands, what limits it, and its design."""
    rows: list[tuple[str, str]] = []
    for measure in found.measures:
        worth = one.worth.values[measure.name]
        band = numbers.band(worth) if measure.unit in ("s", "1/s", "W", "B/s") else ""
        band = f" ({band})" if band else ""
        rows.append((opened(measure.title), f"{_text(measure, worth.value)}{band}"))
    gpus = count_kinds(one.design).get("gpu", 0)
    sketch = (Sketch(gpus, "gpu", captioned(gpus, "gpu"), new=True),) if gpus else ()
    limits = short_of(one.binding, one.design)
    detail = f"{limits} {limits_it(limits)}." if limits else ""
    return Change(title_of(one.title), detail, tone=Tone.PLAIN, rows=tuple(rows), sketch=sketch, design=one.design)


def _main_measures(measures: Sequence[Measure]) -> list[Measure]:
    """The two measures that say most: times and rates before money, power and what is counted."""
    order = ("s", "1/s", "B/s", "W")
    return sorted(
        measures, key=lambda m: order.index(m.unit) if m.unit in order else 2.5 if m.name == MONEY else len(order)
    )[:2]


def _text(measure: Measure, value: float) -> str:
    """A value of a measure; money and shares as the search writes them."""
    return numbers.shown(value, measure.unit) if measure.unit in ("s", "1/s", "W", "B/s") else shown(measure, value)


def title_of(title: str) -> str:
    """What was chosen, in words: ``1 × dgx-h100, none, drives`` is ``1 × DGX H100, no network, local drives``."""
    words = [_CHOICES.get(word, word) for word in title.split(", ")]
    head, times, server = words[0].partition(" × ")
    words[0] = f"{head}{times}{server.upper().replace('-', ' ')}" if times else words[0]
    return ", ".join(words)
