"""Bill of materials: what is ordered, how many, and where each number comes from."""

from __future__ import annotations

from dataclasses import replace

from designer.report.chapter import ChapterKind, muted, strong, text
from designer.report.document import Align, Block, Chapter, Follows, Head, Row, Span, Table, rich
from designer.report.inventory import bundles
from designer.report.subject import Context, Subject
from designer.report.tables.bill_of_materials import BillLine, items_of
from designer.report.wording import counted, in_words, quantity, sentence

_MOST = 46


def build(context: Context, subject: Subject) -> Chapter | None:
    """The chapter; None where the design is empty."""
    items = items_of(subject.design)
    if not items:
        return None
    if len(items) > _MOST:
        items = _merge_lines(items)
    blocks: list[Block] = [_to_order(items)]
    cables = sum(b.cables for b in bundles(subject.stock))
    if cables:
        blocks.append(_proof(cables))
    blocks.append(_next_steps(items))
    return Chapter(
        context.key("bill-of-materials", subject),
        "Bill of materials",
        _title(subject, len(items), cables),
        "What is ordered, and why so many?",
        tuple(blocks),
        rich(
            "Counts come from the drawing, with every replica of its groups; parts inside a unit are listed below it."
        ),
        context.lettered(subject),
    )


def _to_order(items: list[BillLine]) -> Table:
    """The lines under the heads that at least one of them fills."""
    rows: list[Row] = []
    previous = None
    for item in items:
        group = "inside" if item.inside else "cables" if item.part.startswith("cable/") else "units"
        if group == "cables" and previous != "cables":
            rows.append(Row((text("Cables"),), "group"))
        previous = group
        name = rich(*(muted("\u2003" + item.model) if item.inside else strong(item.model)))
        rows.append(
            Row(
                (
                    name,
                    text(item.item if item.inside else _shortened_role(item.role), "muted"),
                    text(f"{item.count:,}"),
                    muted(item.reason),
                    text(quantity(item.watts, "W")) if item.watts is not None else muted("–"),
                    text(f"{item.height:g}") if item.height is not None else muted("–"),
                    text(f"{item.weight:,.0f}") if item.weight is not None else muted("–"),
                )
            )
        )
    r = Align.RIGHT
    heads = (
        Head("Item"),
        Head("Role"),
        Head("Count", r),
        Head("Comes from"),
        Head("Rated, one", r),
        Head("U", r),
        Head("kg", r),
    )
    # what no line states is left out, not dashed
    kept = [k for k in range(len(heads)) if k < 4 or any(r.cells[k] != muted("–") for r in rows if not r.style)]
    heads = tuple(heads[k] for k in kept)
    rows = [row if row.style else Row(tuple(row.cells[k] for k in kept)) for row in rows]
    more = len(rows) - _MOST
    note = rich(
        "A dash: not stated by a source of the catalog; it is left out of every sum."
        + (f" {more} more lines are in the table that designer bom writes." if more > 0 else "")
    )
    return Table("What to order", heads, tuple(rows[:_MOST]), note=note)


def _title(subject: Subject, lines: int, cables: int) -> str:
    """What is ordered, counted: servers, switches, GPUs, cables."""
    stock = subject.stock
    servers = sum(u.count for u in stock.classes if u.part.kind == "server")
    switches = sum(u.count for u in stock.classes if u.part.kind == "switch")
    named = [
        counted(servers, "server") if servers else "",
        counted(switches, "switch", "switches") if switches else "",
        counted(stock.accelerators, "GPU") if stock.accelerators and not servers else "",
        counted(cables, "cable") if cables else "",
    ]
    named = [n for n in named if n]
    title = (
        ", ".join(named[:-1]) + f" and {named[-1]}" if len(named) > 1 else named[0] if named else counted(lines, "line")
    )
    return title + (" are ordered" if len(named) > 1 or not title.startswith("1\u00a0") else " is ordered")


def _next_steps(items: list[BillLine]) -> Follows:
    """How to order, and whose rated power to ask for."""
    missing = [i for i in items if not i.inside and i.watts is None and not i.part.startswith("cable/")]
    follows = [
        rich(
            "Order from the table that ",
            Span("designer bom", "code"),
            " writes as CSV or XLSX: it holds every line with its part id, to which a price list refers.",
        )
    ]
    if missing:
        units = sentence(in_words(sum(i.count for i in missing), "unit states", "units state"))
        follows.append(
            rich(
                f"{units} no rated power: ask the vendor for {', '.join(dict.fromkeys(i.model for i in missing[:3]))}."
            )
        )
    return Follows(tuple(follows))


def _merge_lines(items: list[BillLine]) -> list[BillLine]:
    """Lines of what has no type of the catalog, one a kind instead of one a name; cables of one rate together."""
    lines: dict[tuple[object, ...], list[BillLine]] = {}
    for item in items:
        typed = item.part or (item.model if item.inside else "")
        lines.setdefault((item.item, typed, item.inside, item.watts, item.height, item.weight), []).append(item)
    return [own[0] if len(own) == 1 else _line(own) for own in lines.values()]


def _line(own: list[BillLine]) -> BillLine:
    first, count = own[0], sum(item.count for item in own)
    models = {item.model for item in own}
    model = first.model if len(models) == 1 else f"{first.item}, {len(models):,} names"
    reason = first.reason if len({item.reason for item in own}) == 1 and not first.inside else f"{len(own):,} lines"
    return replace(first, model=model, role=f"{first.role} and {len(own) - 1:,} more", count=count, reason=reason)


def _shortened_role(role: str) -> str:
    return role if len(role) <= 64 else role[:63] + "…"


def _proof(cables: int) -> Table:
    rows = (
        Row(
            (
                text("Cable ends"),
                text(f"{2 * cables:,}"),
                muted(f"{cables:,} cables with two ends each meet as many ports"),
            )
        ),
    )
    return Table("", (Head("Check"), Head("Count", Align.RIGHT), Head("How")), rows)


CHAPTER = ChapterKind("bill-of-materials", "Bill of materials", 100, of_design=build)
