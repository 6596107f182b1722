"""Places for the contents of one container."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from designer.design.address import Ref
from designer.design.arrange.sizes import GAP, HEADER, PADDING, ROW_GAP, Corner, grid_up
from designer.design.document import Block


class Item(NamedTuple):
    """Something to place: its corners relative to its position, and its position where the document gives one."""

    ref: Ref
    kind: str
    low: Corner
    high: Corner
    at: Corner | None


def arrange_contents(block: Block, container: str | None, items: Sequence[Item]) -> dict[Ref, Corner]:
    """A position for each item; those that have one keep it."""
    places: dict[Ref, Corner] = {}
    top = PADDING + HEADER
    rows: dict[str, list[Item]] = {}
    for item in items:
        rows.setdefault(item.kind, []).append(item)
    for row in rows.values():
        x, below = PADDING, top
        for item in row:
            places[item.ref] = item.at or (x - item.low[0], top - item.low[1])
            x = grid_up(x + item.high[0] - item.low[0] + GAP)
            below = max(below, top + item.high[1] - item.low[1])
        top = grid_up(below + ROW_GAP)
    return places
