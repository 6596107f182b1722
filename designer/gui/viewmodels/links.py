"""The links panel: links by how busy they are, both directions, each with what it carries and can carry."""

from __future__ import annotations

import re
from collections.abc import Sequence

from designer.catalog.parttype import link_kinds
from designer.design.address import address_text
from designer.design.document import Block
from designer.design.naming import part_title
from designer.engine.results import Analysis, ChannelRow, WorkloadResult
from designer.engine.routes.channel_rows import busiest_first
from designer.gui.viewmodels.places import Picked
from designer.gui.viewmodels.table import Cell, Column, LazyLines, Line
from designer.present.numbers import counted
from designer.units import format_quantity

COLUMNS = (
    Column("From", width=190),
    Column("To", width=190),
    Column("Link", width=84, spare=True),
    Column("Utilization", number=True, width=130),
    Column("Load", number=True, width=84, spare=True),
    Column("Capacity", number=True, width=84, spare=True),
    Column("Limits", width=72, spare=True),
)
_MOST = 5000
#: so many rows are selected at once
_CHOSEN = 200
#: names are made for a search among so many channels at most: among more, paths are searched
_SEARCHED = 20_000
_SATURATED = 0.95
_BUSY = 0.8


def lines(
    analysis: Analysis | None,
    result: WorkloadResult | None,
    query: str = "",
    idle: bool = False,
    block: Block | None = None,
) -> Sequence[Line]:
    """Rows of the table, busiest first, each made when it is looked at. With `idle` channels without load are listed
    as well. Parts are called as in `block`, and are found by that name and by their path.
    """
    if analysis is None:
        return ()
    bottleneck = {b.id for b in result.binding} if result is not None else set[str]()
    rows, words = analysis.channels, query.casefold().split()
    order = busiest_first(rows, idle)
    if words:
        named = block if len(order) <= _SEARCHED else None
        order = [i for i in order if _matches(rows[i], words, named)]
    order = order[:_MOST]
    return LazyLines(
        len(order),
        lambda k: _line(rows[order[k]], rows[order[k]].id in bottleneck, block),
        lambda k: rows[order[k]].id,
    )


def _matches(row: ChannelRow, words: Sequence[str], block: Block | None) -> bool:
    text = f"{row.source} {row.target} {row.kind} {row.id}".casefold()
    if block is not None and not all(word in text for word in words):
        text += f" {_title(block, row.source)} {_title(block, row.target)}".casefold()
    return all(word in text for word in words)


def _title(block: Block | None, path: str) -> str:
    return path if block is None else part_title(block, path)


def _line(row: ChannelRow, bottleneck: bool, block: Block | None) -> Line:
    kind = link_kinds().get(row.kind)
    unsure = row.status in ("assumed", "unverified")
    tone = "bad" if row.utilization >= _SATURATED else "warn" if row.utilization >= _BUSY else ""
    return Line(
        (
            Cell(_title(block, row.source), row.source, tip=row.source),
            Cell(_title(block, row.target), row.target, tip=row.target),
            Cell(kind.title if kind else row.kind, row.kind, tone="muted"),
            Cell(f"{row.utilization * 100:.0f}%", row.utilization, tone=tone, bar=min(1.0, row.utilization)),
            Cell(format_quantity(row.load, "rate"), row.load),
            Cell(
                format_quantity(row.capacity, "rate"),
                row.capacity,
                tone="assumed" if unsure else "",
                tip=f"raw, per direction; {row.status}",
            ),
            Cell("limits" if bottleneck else "", 0 if bottleneck else 1, tone="bad" if bottleneck else ""),
        ),
        row.id,
    )


def rows_of(rows: Sequence[Line], selection: frozenset[Picked]) -> list[int]:
    """Numbers of the rows about selected links and wirings: both directions, and every member that shares them."""
    paths = [
        re.escape(f"{address_text(within)}/{ref.id}" if within else ref.id).replace(r"\[\*\]", r"\[\d+\]")
        for within, ref in sorted(selection, key=str)
        if ref.what in ("links", "wirings")
    ]
    if not paths:
        return []
    match = re.compile(rf"(?:{'|'.join(paths)})(?:\[\d+\])?:(?:ab|ba)").fullmatch
    if isinstance(rows, LazyLines):
        keys = (rows.key_of(i) for i in range(len(rows)))
    else:
        keys = (line.key for line in rows)
    return [i for i, key in enumerate(keys) if match(str(key))][:_CHOSEN]


def headline(rows: Sequence[Line]) -> str:
    """One sentence above the table; the rows are busiest first."""
    if not rows:
        return "No link carries traffic."
    full = _saturated(rows)
    carry = f"{counted(len(rows), 'direction')} of links {'carries' if len(rows) == 1 else 'carry'} traffic"
    return f"{carry}, {full:,} of them saturated." if full else f"{carry}."


def _saturated(rows: Sequence[Line]) -> int:
    """How many of the rows are saturated, by halving: only a dozen of thousands of rows are made for it."""
    low, high = 0, len(rows)
    while low < high:
        middle = (low + high) // 2
        share = rows[middle].cells[3].sort
        if isinstance(share, float) and share >= _SATURATED:
            low = middle + 1
        else:
            high = middle
    return low
