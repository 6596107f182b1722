"""The page of a search for a goal: the best designs, and why there is no other."""

from __future__ import annotations

from collections.abc import Sequence

from designer.contrib.proposals.goal import MONEY
from designer.contrib.proposals.pareto import Measure
from designer.contrib.proposals.results import Proposal, Proposals
from designer.contrib.proposals.wording import reasons, shown
from designer.design.query import count_kinds
from designer.present import numbers
from designer.present.blocks import Change, Column, Page, Sketch, State, Table, Tone
from designer.present.limits import limits_it, short_of
from designer.present.sketch import captioned
from designer.present.words import opened, plain

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
