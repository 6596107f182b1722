"""Cables: bundles with lengths, and the beginning of the schedule."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice

from designer.report.chapter import ChapterKind, muted, strong, sure, text
from designer.report.document import Align, Block, Chapter, Follows, Head, Row, Span, Table, rich
from designer.report.inventory import Bundle, bundles, gathered
from designer.report.subject import Context, Subject
from designer.report.tables.cables import cables as schedule
from designer.report.tables.cables import length_of, medium
from designer.report.tables.order import order
from designer.report.wording import DASH, counted, in_words, line_rate, sentence

_EXCERPT = 18
#: of a larger bundle so many cables are measured
_SAMPLE = 4_000


def build(context: Context, subject: Subject) -> Chapter | None:
    """The chapter; None where no cable joins two units."""
    together, found = gathered(subject.stock)
    if not found:
        return None
    spans = [_lengths(subject, b) for b in found]
    total = sum(b.cables for b in found)
    blocks: list[Block] = [
        _bundles(subject, found, spans, together),
        _to_order(subject),
        _excerpt(subject, total),
        _next_steps(subject),
    ]
    longest = max((max(lengths) for lengths in spans if lengths), default=0.0)
    optical = sum(_optical(b, lengths) for b, lengths in zip(found, spans, strict=True))
    title = f"{counted(total, 'cable')} in {in_words(len(bundles(subject.stock)), 'bundle')}"
    if longest:
        title += f"; the longest is {longest:g}\u00a0m, {f'{optical:,}' if optical else 'none'} of them optical"
    return Chapter(
        context.key("cables", subject),
        "Cables",
        title,
        "What goes where, and how long is it?",
        tuple(blocks),
        rich(
            "Length is the way up to the tray, along the row and down again, to the next length that is sold; inside a"
            " rack the way between units."
        ),
        context.lettered(subject),
    )


def _lengths(subject: Subject, bundle: Bundle) -> list[float]:
    """Lengths of the cables of a bundle, of a sample of a larger one [m]; those without a length are left out."""
    step = max(1, len(bundle.a) // _SAMPLE)
    pairs = zip(bundle.a.tolist()[::step], bundle.b.tolist()[::step], strict=True)
    lengths = (length_of(subject.plan, subject.stock, a, z) for a, z in pairs)
    return [length for length in lengths if not math.isnan(length)]


def _optical(bundle: Bundle, lengths: list[float]) -> int:
    """How many cables of a bundle are optical, by the share of its sample."""
    light = sum(medium(bundle.rate, v) == "optical" for v in lengths)
    return round(bundle.cables * light / max(1, len(lengths)))


def _span(lengths: list[float]) -> str:
    """The shortest and the longest length; a dash where none is known."""
    if not lengths:
        return "–"
    ends = dict.fromkeys((f"{min(lengths):g}", f"{max(lengths):g}"))
    return f"{DASH.join(ends)}\u00a0m"


def _bundles(subject: Subject, found: Sequence[Bundle], spans: list[list[float]], together: bool) -> Table:
    """One line for each bundle, and their sum."""
    rows = [
        Row(
            (
                strong(sentence(b.name)),
                text(f"{b.cables:,}"),
                text(line_rate(b.rate)),
                text(_span(lengths)),
                text(" and ".join(sorted({medium(b.rate, v) for v in lengths})) or "–"),
                sure(b.status),
            )
        )
        for b, lengths in zip(found, spans, strict=True)
    ]
    total = sum(b.cables for b in found)
    rows.append(Row((strong("All"), text(f"{total:,}"), (), (), (), ()), "total"))
    r = Align.RIGHT
    heads = (
        Head("Bundle"),
        Head("Cables", r),
        Head("Each", r),
        Head("Length", r),
        Head("Made of"),
        Head("Rate, how sure"),
    )
    count = len(bundles(subject.stock))
    aside = f"{count:,}, those between equal kinds together" if together else ""
    return Table("Bundles", heads, tuple(rows), aside)


def _excerpt(subject: Subject, total: int) -> Table:
    """The beginning of the schedule of all `total` cables."""
    excerpt: list[Row] = []
    for _, c in islice(schedule(subject.design, subject.plan), _EXCERPT):
        excerpt.append(
            Row(
                (
                    muted(c.label),
                    text(c.a),
                    text(c.a_port),
                    muted(c.a_rack),
                    text(c.b),
                    text(c.b_port),
                    muted(c.b_rack),
                    text(f"{c.length:g}\u00a0m" if not math.isnan(c.length) else "–"),
                )
            )
        )
    if total > _EXCERPT:
        excerpt.append(Row((muted(f"… {total - _EXCERPT:,} more"),), "group"))
    r = Align.RIGHT
    heads = (
        Head("Label"),
        Head("A end"),
        Head("Port"),
        Head("Rack"),
        Head("Z end"),
        Head("Port"),
        Head("Rack"),
        Head("Length", r),
    )
    return Table("Schedule", heads, tuple(excerpt), "ends, ports and labels of the first cables", small=True)


def _next_steps(subject: Subject) -> Follows:
    """Who gets the schedule, and what is measured first."""
    follows = [
        rich(
            "Hand the whole schedule to the cabling team: ",
            Span("designer bom", "code"),
            " writes it as CSV, or as a sheet of the workbook.",
        )
    ]
    if not subject.plan.drawn:
        follows.append(
            rich(
                "Lengths follow from proposed rack positions and assumed cable ways: measure the room before ordering."
            )
        )
    return Follows(tuple(follows))


def _to_order(subject: Subject) -> Table:
    """The first products to order; the whole list is a table of ``designer bom``."""
    lines = order(subject.design, plan=subject.plan)
    rows = [
        Row(
            (
                strong(line.title) if line.part else text(line.title),
                muted(line.part),
                text(f"{line.length:g}\u00a0m" if not math.isnan(line.length) else ""),
                text(f"{line.count:,}"),
                text(f"{line.spares:,}"),
                sure(line.status),
            )
        )
        for line in lines[:_EXCERPT]
    ]
    if len(lines) > _EXCERPT:
        rows.append(Row((muted(f"… {len(lines) - _EXCERPT:,} more lines"),), "group"))
    r = Align.RIGHT
    heads = (
        Head("Product"),
        Head("Part number"),
        Head("Length", r),
        Head("Count", r),
        Head("Spares", r),
        Head("Part, how sure"),
    )
    note = rich("Spares are assumed: ", Span("designer bom --table cabling --spares", "code"), " takes another share.")
    return Table("Cables and transceivers to order", heads, tuple(rows), note=note)


CHAPTER = ChapterKind("cables", "Cables", 130, of_design=build)
