"""What is to be drawn, as few large batches of arrays in device pixels. No Qt; ``batch_painter`` draws them.

A colour is ``#rrggbb`` or ``#rrggbbaa``. A batch knows roughly what it costs to draw and can be cut in two, so that
a large picture is drawn in slices between which the window stays alive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

#: cost of one rectangle, line, box, label or glyph, roughly [µs]
_RECT: Final = 0.35
_LINE: Final = 1.0
_SMOOTH: Final = 3.0
_BOX: Final = 3.0
_LABEL: Final = 14.0
_GLYPH: Final = 4.0


@dataclass(frozen=True, slots=True, eq=False)
class Rects:
    """Plain filled rectangles. : (n, 4) x, y, width, height"""

    rects: Float
    fill: str

    def __len__(self) -> int:
        return len(self.rects)

    @property
    def cost(self) -> float:
        """Time to draw, roughly [µs]."""
        return _RECT * len(self.rects)

    def part(self, start: int, stop: int) -> Rects:
        """Some of them."""
        return replace(self, rects=self.rects[start:stop])

    def taken(self, chosen: Int) -> Rects:
        """Those with some numbers. : (k,)"""
        return Rects(self.rects[chosen], self.fill)


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """Rounded rectangles with an edge; whole pixels. : (n, 4) x, y, width, height"""

    rects: Float
    fill: str
    edge: str
    edge_width: int = 1
    radius: int = 4

    def __len__(self) -> int:
        return len(self.rects)

    @property
    def cost(self) -> float:
        """Time to draw, roughly [µs]."""
        return _BOX * len(self.rects)

    def part(self, start: int, stop: int) -> Boxes:
        """Some of them."""
        return replace(self, rects=self.rects[start:stop])

    def taken(self, chosen: Int) -> Boxes:
        """Those with some numbers. : (k,)"""
        return Boxes(self.rects[chosen], self.fill, self.edge, self.edge_width, self.radius)


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Straight lines. : (n, 4) x1, y1, x2, y2

    Parameters
    ----------
    phase : (n,) or None: length of the polyline in front of each line, from which its dashes go on
    """

    lines: Float
    colour: str
    width: float = 1.0
    dash: tuple[float, ...] = ()
    smooth: bool = False
    phase: Float | None = None

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def cost(self) -> float:
        """Time to draw, roughly [µs]."""
        return len(self.lines) * (_SMOOTH if self.smooth or self.dash else _LINE) * max(1.0, self.width / 2)

    def part(self, start: int, stop: int) -> Lines:
        """Some of them."""
        phase = None if self.phase is None else self.phase[start:stop]
        return replace(self, lines=self.lines[start:stop], phase=phase)

    def taken(self, chosen: Int) -> Lines:
        """Those with some numbers. : (k,)"""
        phase = None if self.phase is None else self.phase[chosen]
        return Lines(self.lines[chosen], self.colour, self.width, self.dash, self.smooth, phase)

    def with_lines(self, lines: Float) -> Lines:
        """Others of the same look."""
        return Lines(lines, self.colour, self.width, self.dash, self.smooth)


class Label(NamedTuple):
    """One line of text in a rectangle, cut off with … where it does not fit."""

    x: float
    y: float
    width: float
    height: float
    text: str
    px: int
    colour: str
    bold: bool = False
    align: Literal["left", "center", "right"] = "left"


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Lines of text."""

    labels: tuple[Label, ...]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def cost(self) -> float:
        """Time to draw, roughly [µs]."""
        return _LABEL * len(self.labels)

    def part(self, start: int, stop: int) -> Labels:
        """Some of them."""
        return Labels(self.labels[start:stop])

    def taken(self, chosen: Int) -> Labels:
        """Those with some numbers. : (k,)"""
        return Labels(tuple(self.labels[i] for i in chosen.tolist()))


@dataclass(frozen=True, slots=True, eq=False)
class Glyphs:
    """The same small picture at many places. : (n, 2) x, y of the top left corner, whole pixels"""

    name: str
    places: Float
    size: int
    colour: str

    def __len__(self) -> int:
        return len(self.places)

    @property
    def cost(self) -> float:
        """Time to draw, roughly [µs]."""
        return _GLYPH * len(self.places)

    def part(self, start: int, stop: int) -> Glyphs:
        """Some of them."""
        return replace(self, places=self.places[start:stop])

    def taken(self, chosen: Int) -> Glyphs:
        """Those with some numbers. : (k,)"""
        return Glyphs(self.name, self.places[chosen], self.size, self.colour)


Batch = Rects | Boxes | Lines | Labels | Glyphs


def sliced(batches: Iterable[Batch], most: float) -> Iterator[Batch]:
    """The batches, large ones cut into pieces of at most `most` microseconds, roughly."""
    for batch in batches:
        count = len(batch)
        if not count:
            continue
        pieces = max(1, min(count, int(np.ceil(batch.cost / most))))
        if pieces == 1:
            yield batch
            continue
        step = -(-count // pieces)
        for start in range(0, count, step):
            yield batch.part(start, min(count, start + step))
