"""The links panel: channels by how busy they are, both directions, each with what it carries and can carry."""

from __future__ import annotations

import re
from collections.abc import Sequence

from designer.analysis.results import Analysis, ChannelRow, WorkloadResult
from designer.catalog.parttype import link_kinds
from designer.design.address import address_text
from designer.gui.viewmodels.places import Picked
from designer.gui.viewmodels.table import Cell, Column, Line
from designer.units import format_quantity

COLUMNS = (
    Column("From", width=190),
    Column("To", width=190),
    Column("Link", width=120),
    Column("Utilisation", number=True, width=150),
    Column("Load", number=True, width=90),
    Column("Capacity", number=True, width=100),
    Column("", width=90),
)
_MOST = 5000
#: so many rows are selected at once
_CHOSEN = 200
_SATURATED = 0.95
_BUSY = 0.8


def lines(analysis: Analysis | None, result: WorkloadResult | None, query: str = "", idle: bool = False) -> list[Line]:
    """Rows of the table, busiest first. With `idle` channels without load are listed as well."""
    if analysis is None:
        return []
    bound = {b.id for b in result.binding} if result is not None else set[str]()
    words = query.casefold().split()
    rows: list[ChannelRow] = [
        r for r in analysis.channels
        if (idle or r.load > 0) and all(w in f"{r.source} {r.target} {r.kind} {r.id}".casefold() for w in words)
    ]  # fmt: skip
    rows.sort(key=lambda r: (-r.utilization, -r.load, r.id))
    return [_line(row, row.id in bound) for row in rows[:_MOST]]


def _line(row: ChannelRow, bound: bool) -> Line:
    kind = link_kinds().get(row.kind)
    unsure = row.status in ("assumed", "unverified")
    tone = "bad" if row.utilization >= _SATURATED else "warn" if row.utilization >= _BUSY else ""
    return Line(
        (
            Cell(row.source, row.source, tip=row.source),
            Cell(row.target, row.target, tip=row.target),
            Cell(kind.title if kind else row.kind, row.kind, tone="muted"),
            Cell(f"{row.utilization * 100:.0f} %", row.utilization, tone=tone, bar=min(1.0, row.utilization)),
            Cell(format_quantity(row.load, "rate"), row.load),
            Cell(
                format_quantity(row.capacity, "rate"), row.capacity, tone="assumed" if unsure else "",
                tip=f"raw, per direction; {row.status}",
            ),
            Cell("binding" if bound else "", 0 if bound else 1, tone="bad" if bound else ""),
        ),
        row.id,
    )  # fmt: skip


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
    return [i for i, line in enumerate(rows) if match(str(line.key))][:_CHOSEN]


def headline(rows: Sequence[Line]) -> str:
    """One sentence above the table."""
    if not rows:
        return "No channel carries anything."
    full = sum(1 for r in rows if isinstance(r.cells[3].sort, float) and r.cells[3].sort >= _SATURATED)
    return (
        f"{len(rows)} channels carry traffic, {full} of them saturated."
        if full
        else f"{len(rows)} channels carry traffic."
    )
