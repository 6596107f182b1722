"""Cables: bundles with lengths, and the beginning of the schedule."""

from __future__ import annotations

import math
from itertools import islice

from designer.report.cells import muted, strong, sure, text
from designer.report.chapter import ChapterKind
from designer.report.document import Align, Block, Chapter, Follows, Head, Row, Span, Table, rich
from designer.report.inventory import bundles, gathered
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
    stock, plan = subject.stock, subject.plan
    together, found = gathered(stock)
    if not found:
        return None
    rows: list[Row] = []
    longest, optical = 0.0, 0
    for b in found:
        step = max(1, len(b.a) // _SAMPLE)
        pairs = list(zip(b.a.tolist()[::step], b.b.tolist()[::step], strict=True))
        lengths = [v for a, z in pairs if not math.isnan(v := length_of(plan, stock, a, z))]
        kinds = {medium(b.rate, v) for v in lengths}
        longest = max([longest, *lengths])
        light = sum(medium(b.rate, v) == "optical" for v in lengths)
        optical += round(b.cables * light / max(1, len(lengths)))
        span = ""
        if lengths:
            span = (
                f"{min(lengths):g}"
                if min(lengths) == max(lengths)
                else DASH.join((f"{min(lengths):g}", f"{max(lengths):g}"))
            )
            span += "\u00a0m"
        rows.append(
            Row(
                (
                    strong(sentence(b.name)),
                    text(f"{b.cables:,}"),
                    text(line_rate(b.rate)),
                    text(span or "–"),
                    text(" and ".join(sorted(kinds)) or "–"),
                    sure(b.status),
                )
            )
        )
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
    count = len(bundles(stock))
    aside = f"{count:,}, those between equal kinds together" if together else ""
    blocks: list[Block] = [Table("Bundles", heads, tuple(rows), aside)]
    blocks.append(_to_order(subject))
    excerpt: list[Row] = []
    for _, c in islice(schedule(subject.design, plan), _EXCERPT):
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
    blocks.append(Table("Schedule", heads, tuple(excerpt), "ends, ports and labels of the first cables", small=True))
    follows = [
        rich(
            "Hand the whole schedule to the cabling team: ",
            Span("designer bom", "code"),
            " writes it as CSV, or as a sheet of the workbook.",
        )
    ]
    if not plan.drawn:
        follows.append(
            rich(
                "Lengths follow from proposed rack positions and assumed cable ways: measure the room before ordering."
            )
        )
    title = f"{counted(total, 'cable')} in {in_words(count, 'bundle')}"
    title += (
        f"; the longest is {longest:g}\u00a0m, {f'{optical:,}' if optical else 'none'} of them optical"
        if longest
        else ""
    )
    return Chapter(
        context.key("cables", subject),
        "Cables",
        title,
        "What goes where, and how long is it?",
        (*blocks, Follows(tuple(follows))),
        rich(
            "Length is the way up to the tray, along the row and down again, to the next length that is sold; inside a"
            " rack the way between units."
        ),
        context.lettered(subject),
    )


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
