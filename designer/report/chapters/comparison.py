"""Comparison: the designs of a report next to each other, workload by workload, and what they are made of."""

from __future__ import annotations

from designer.present.limits import short_of
from designer.present.words import counted_by
from designer.report.chapter import ChapterKind, metric_title, muted, strong, text
from designer.report.comparison import Difference, answer, pairings
from designer.report.document import Align, Block, Cell, Chapter, Follows, Head, Row, Table, Text, rich
from designer.report.subject import Context, Subject
from designer.report.tables.bill_of_materials import items_of
from designer.report.tables.power import busiest, draws, total
from designer.report.wording import DASH, continued, ends, listed, quantity, times

#: designs next to each other in one table
_ABREAST = 4
_MOST = 24
_R = Align.RIGHT
_STYLE = {Difference.BETTER: "ok", Difference.WORSE: "alarm"}


def build(context: Context) -> Chapter | None:
    """The chapter; None where there is one design."""
    if len(context.subjects) < 2:
        return None
    subjects = list(context.subjects)
    blocks: list[Block] = [
        block for other in subjects[1:] if (block := _figures(subjects[0], other, alone=len(subjects) == 2)) is not None
    ]
    for at in range(1, len(subjects), _ABREAST - 1):
        parts = _parts([subjects[0], *subjects[at : at + _ABREAST - 1]])
        if parts is not None:
            blocks.append(parts)
    blocks.append(Follows(tuple(_follows(subjects, priced=bool(context.settings.prices)))))
    return Chapter(
        "comparison",
        "Comparison",
        answer(subjects),
        "Which design is better at what?",
        tuple(blocks),
        rich(
            "Workloads of the same name side by side, by the figure each is judged by. Better and worse are said"
            " plainly where the bands do not meet."
        ),
    )


def _figures(first: Subject, other: Subject, alone: bool) -> Table | None:
    rows: list[Row] = []
    for pair in pairings(first, other):
        one, two = pair.first.metrics[pair.metric], pair.other.metrics[pair.metric]
        what = counted_by(pair.metric, first.design.workloads.get(pair.first.id))
        rows.append(
            Row(
                (
                    strong(pair.title),
                    muted(metric_title(pair.metric)),
                    text(quantity(one.value, one.unit, what)),
                    muted(DASH.join(ends(one, what))),
                    text(quantity(two.value, two.unit, what), "strong"),
                    muted(DASH.join(ends(two, what))),
                    text(times(pair.gain)),
                    text(str(pair.difference), _STYLE.get(pair.difference, "muted")),
                )
            )
        )
    if not rows:
        return None
    heads = (
        Head("Workload"),
        Head("Figure"),
        Head(first.letter, _R),
        Head("80% band", _R),
        Head(other.letter, _R),
        Head("80% band", _R),
        Head("As good", _R),
        Head(f"{other.letter} is"),
    )
    return Table(
        "What they reach", heads, tuple(rows), "" if alone else f"{first.letter} and {other.letter}", small=True
    )


def _parts(subjects: list[Subject]) -> Table | None:
    """What is ordered in different numbers, power and space."""
    counts: list[dict[str, int]] = []
    for subject in subjects:
        own: dict[str, int] = {}
        for item in items_of(subject.design):
            own[item.model] = own.get(item.model, 0) + item.count
        counts.append(own)
    names = list(dict.fromkeys(name for own in counts for name in own))
    differing = [n for n in names if len({own.get(n, 0) for own in counts}) > 1]
    rows = [
        Row((strong(name), *(text(f"{own[name]:,}") if name in own else muted("–") for own in counts)))
        for name in differing[:_MOST]
    ]
    rated = [total(draws(s.design, busiest(s.design, s.analysis)))[0] for s in subjects]
    if any(rated):
        cells: tuple[Cell, ...] = tuple(text(quantity(w, "W")) if w else muted("–") for w in rated)
        rows.append(Row((strong("Rated power"), *cells), "total"))
    if not rows:
        return None
    heads = (Head("What is ordered"), *(Head(s.letter, _R) for s in subjects))
    aside = f"the first {_MOST} of {len(differing)}" if len(differing) > _MOST else "only what differs"
    return Table("What they are made of", heads, tuple(rows), aside)


def _follows(subjects: list[Subject], priced: bool) -> list[Text]:
    first, *others = subjects
    found: list[Text] = []
    for other in others:
        for pair in pairings(first, other):
            if pair.difference is Difference.SAME or not pair.first.binding or not pair.other.binding:
                continue
            one, two = short_of(pair.first.binding, first.design), short_of(pair.other.binding, other.design)
            held = (
                f"{one} limits both" if one == two else f"{one} limits {first.letter}, {continued(two)} {other.letter}"
            )
            found.append(rich(f"{pair.title}: {held}."))
    missing = [w.title for s in others for w in s.results if w.id not in {v.id for v in first.results}]
    if missing:
        found.append(rich(f"Only in one of them: {listed(list(dict.fromkeys(missing)))}."))
    return found[:4] or [rich(_remaining_differences(subjects, priced))]


def _remaining_differences(subjects: list[Subject], priced: bool) -> str:
    """What follows where no workload says which design is held back by what."""
    first, *others = subjects
    pairs = [pair for other in others for pair in pairings(first, other)]
    if not pairs:
        return "Give the designs the same workloads: no workload of both shows which is better."
    if any(pair.difference is not Difference.SAME for pair in pairs):
        return "The chapters of each design say what limits them."
    whether = (
        "the chapters on cost show which costs less"
        if priced
        else "no prices were given, so their costs are not compared"
    )
    return f"No workload shows a difference; {whether}."


CHAPTER = ChapterKind("comparison", "Comparison", 5, of_report=build)
