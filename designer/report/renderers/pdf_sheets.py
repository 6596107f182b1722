"""Drawings too large for the width of a page, once more on sheets of their own, at a size that is read on paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from designer.drawing.fonts import text_width
from designer.report.drawing.elements import NARROW, Element, Glyph, Label, Panel, Picture, text_size
from designer.report.drawing.pdf import PageWriter

Float = npt.NDArray[np.float64]

#: text areas of a sheet, A4 across and upright; the row for the legend above it [points]
ACROSS: Final = (776.0, 487.0)
UPRIGHT: Final = (529.0, 719.0)
LEGEND: Final = 18.0
#: texts are at least so high; where it saves a sheet, less by so much [points]
READABLE: Final = 7.5
_LESS: Final = 0.96
#: more sheets than so many nobody puts together
_MOST: Final = 6
#: what is at a cut is on both sheets [units]
_OVERLAP: Final = 10.0
#: cuts are looked for at such steps [units]
_STEP: Final = 4.0
#: around a legend [units]
_BROAD: Final = 4.0


@dataclass(frozen=True, slots=True)
class Sheet:
    """A piece of a drawing.

    Parameters
    ----------
    x, y, width, height
        The piece, in units of the drawing.
    scale
        Points a unit.
    column, row, columns, rows
        Its place among all.
    area
        Width and height of the text area of its page [points].
    """

    x: float
    y: float
    width: float
    height: float
    scale: float
    column: int
    row: int
    columns: int
    rows: int
    area: tuple[float, float] = ACROSS


def sheets_of(picture: Picture, shown: float) -> list[Sheet]:
    """The sheets a drawing needs, row by row; none where its texts are read as it is shown, or where too many would be.

    Parameters
    ----------
    shown
        Points a unit, as in its chapter.
    """
    size = text_size(picture)
    if picture.width <= NARROW or not size or size * shown >= READABLE * _LESS:
        return []
    wanted = READABLE / size
    numbers = [(c, r) for c in range(1, _MOST + 1) for r in range(1, _MOST + 1) if c * r <= _MOST]
    candidates = [(c, r, area) for area in (ACROSS, UPRIGHT) for c, r in numbers]
    for columns, rows, area in sorted(candidates, key=lambda n: (n[0] * n[1], n[2] == UPRIGHT, n[1])):
        scale = min(
            columns * area[0] / (picture.width + 2 * _OVERLAP * (columns - 1)),
            rows * area[1] / (picture.height + 2 * _OVERLAP * (rows - 1)),
        )
        if scale >= wanted * _LESS:
            boxes = np.array([_box(e) for e in picture.elements if isinstance(e, Panel | Label)]).reshape(-1, 4)
            # a little smaller, where that leaves room for what a cut would go through
            tried = [
                _divide_sheets(picture, boxes, s, (columns, rows), area) for s in (min(scale, wanted), wanted * _LESS)
            ]
            return min(tried, key=lambda sheets: _divided_boxes(boxes, sheets))
    return []


def _divided_boxes(boxes: Float, sheets: list[Sheet]) -> int:
    """How many boxes and texts stand whole on no sheet."""
    whole = np.zeros(len(boxes), dtype=bool)
    for s in sheets:
        within = (boxes[:, :2] >= (s.x, s.y)) & (boxes[:, 2:] <= (s.x + s.width, s.y + s.height))
        whole |= within.all(axis=1)
    return int((~whole).sum())


def _divide_sheets(
    picture: Picture, boxes: Float, scale: float, count: tuple[int, int], area: tuple[float, float]
) -> list[Sheet]:
    columns, rows = count
    across = _cuts(boxes[:, (0, 2)], picture.x, picture.x + picture.width, columns, area[0] / scale)
    down = _cuts(boxes[:, (1, 3)], picture.y, picture.y + picture.height, rows, area[1] / scale)
    return [
        Sheet(left, top, right - left, low - top, scale, column, row, columns, rows, area)
        for row, (top, low) in enumerate(down)
        for column, (left, right) in enumerate(across)
    ]


def _box(element: Element) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a panel or text."""
    if isinstance(element, Panel):
        return element.x, element.y, element.x + element.width, element.y + element.height
    assert isinstance(element, Label)
    wide = text_width(element.text, element.size, element.bold)
    left = element.x - wide * {"start": 0.0, "middle": 0.5, "end": 1.0}.get(element.anchor, 0.0)
    return left, element.y - element.size, left + wide, element.y


def _cuts(spans: Float, low: float, high: float, count: int, most: float) -> Sequence[tuple[float, float]]:
    """Pieces between two ends, none longer than `most`, cut where the least is drawn, near even parts.

    Parameters
    ----------
    spans : (n, 2) from where to where what is drawn there reaches; what is longer than a piece does not count
    """
    spans = spans[spans[:, 1] - spans[:, 0] < most / 2]
    room = most - 2 * _OVERLAP
    pieces: list[tuple[float, float]] = []
    start = low
    for left in range(count - 1, 0, -1):
        even = start + (high - start) / (left + 1)
        first, last = max(start + _STEP, high - left * room), start + room
        places = np.arange(min(first, even), max(last, even) + _STEP / 2, _STEP)
        crossed = ((spans[:, :1] < places) & (places < spans[:, 1:])).sum(axis=0)
        cut = float(min(zip(crossed, np.abs(places - even), places, strict=True))[2])
        begin, end = max(low, start - _OVERLAP), min(high, cut + _OVERLAP)
        start = cut
        through = spans[(spans[:, 0] < cut) & (cut < spans[:, 1])]
        if len(through):
            # what the cut goes through is whole on one of the two, where there is room
            near, far = float(through[:, 0].min()) - 1, float(through[:, 1].max()) + 1
            if far - begin <= most:
                end = max(end, far)
            elif high - near <= left * room:
                start = near + _OVERLAP
        pieces.append((begin, end))
    return [*pieces, (max(low, start - _OVERLAP), high)]


def legend_of(picture: Picture) -> Picture | None:
    """The legend of a drawing alone; None where it has none."""
    boxes = [(e, _bounds(e)) for e in picture.elements]
    found = [(e, box) for e, box in boxes if box[1] >= picture.legend]
    if not found:
        return None
    left, top = (min(box[k] for _, box in found) for k in (0, 1))
    right, low = (max(box[k] for _, box in found) for k in (2, 3))
    # lines are as broad as their capacity, and letters reach below their baseline
    x, y, wide, high = left - _BROAD, top - _BROAD, right - left + 2 * _BROAD, low - top + 2 * _BROAD
    return replace(picture, elements=tuple(e for e, _ in found), x=x, y=y, width=wide, height=high)


def without_legend(picture: Picture) -> Picture:
    """The drawing without its legend, of which a sheet may have a torn piece only."""
    kept = tuple(e for e in picture.elements if _bounds(e)[1] < picture.legend)
    return replace(picture, elements=kept)


def holds(sheet: Sheet, part: Picture) -> bool:
    """Whether a part of a drawing is whole on a sheet."""
    across = sheet.x <= part.x and part.x + part.width <= sheet.x + sheet.width
    return across and sheet.y <= part.y and part.y + part.height <= sheet.y + sheet.height


def _bounds(element: Element) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of anything."""
    if isinstance(element, Panel | Label):
        return _box(element)
    if isinstance(element, Glyph):
        return element.x, element.y, element.x + element.size, element.y + element.size
    xs, ys = zip(*element.points, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def draw_legend(page: Any, legend: Picture, most: float, width: float) -> None:
    """Draw a legend in the row above a sheet, its lower left corner at the origin, no larger than `most` a unit."""
    scale = min(most, width / legend.width, (LEGEND - 4) / legend.height)
    draw_sheet(page, legend, Sheet(legend.x, legend.y, legend.width, legend.height, scale, 0, 0, 1, 1))


def draw_sheet(page: Any, picture: Picture, sheet: Sheet) -> None:
    """Draw a piece, its lower left corner at the origin of the page; `picture` in colours."""
    page.saveState()
    outline = page.beginPath()
    outline.rect(0, 0, sheet.width * sheet.scale, sheet.height * sheet.scale)
    page.clipPath(outline, stroke=0, fill=0)
    page.scale(sheet.scale, -sheet.scale)
    page.translate(-sheet.x, -sheet.y - sheet.height)
    writer = PageWriter(page)
    for element in picture.elements:
        writer.add(element)
    page.restoreState()


def place_of(sheet: Sheet) -> str:
    """Where a piece belongs, in words: ``upper left``; empty for a whole drawing."""
    rows = ("", "upper", "middle", "lower")
    row = "" if sheet.rows == 1 else rows[1] if not sheet.row else rows[3] if sheet.row == sheet.rows - 1 else rows[2]
    last = sheet.columns - 1
    column = "" if not last else "left" if not sheet.column else "right" if sheet.column == last else "middle"
    return " ".join(word for word in (row, column) if word)
