"""Pictures of designs for files: the display list that the canvas paints, as single elements."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor

import numpy as np

from designer.design.geometry import Geometry
from designer.drawing.batches import Batch, Boxes, Float, Glyphs, Labels, Lines, Rects
from designer.drawing.fonts import fitted_text, rise, text_width
from designer.drawing.loads import Loads
from designer.drawing.picture import Drawing, Options, drawing_of
from designer.drawing.theme import DASH, Palette, themed
from designer.report.drawing.elements import Element, Glyph, Label, Panel, Picture, Stroke

__all__ = ["Options", "compose", "elements_of", "picture_of"]


def compose(
    geometry: Geometry, colours: Palette, options: Options | None = None, loads: Loads | None = None
) -> Picture:
    """The whole picture of a design, everything in full detail."""
    return picture_of(drawing_of(geometry, themed(colours), options or Options(), loads))


def picture_of(drawing: Drawing) -> Picture:
    """A display list as a picture of single elements."""
    elements = tuple(element for batch in drawing.batches for element in elements_of(batch))
    return Picture(elements, *drawing.bounds, drawing.background, drawing.title, drawing.legend)


def elements_of(batch: Batch) -> Iterator[Element]:
    """What a batch is made of, in painter's order."""
    if not len(batch):
        return
    if isinstance(batch, Rects):
        fill, opacity = _colour_and_opacity(batch.fill)
        for x, y, width, height in batch.rects.tolist():
            yield Panel(x, y, width, height, 0, fill, opacity=opacity)
    elif isinstance(batch, Boxes):
        yield from _boxes(batch)
    elif isinstance(batch, Lines):
        colour, opacity = _colour_and_opacity(batch.colour)
        for points in _chains(batch.lines):
            yield Stroke(points, colour, batch.width, False, bool(batch.dash), opacity, batch.dash or DASH)
    elif isinstance(batch, Glyphs):
        for x, y in batch.places.tolist():
            yield Glyph(x, y, batch.size, batch.name, batch.colour)
    else:
        yield from _labels(batch)


def _boxes(batch: Boxes) -> Iterator[Panel]:
    fill, opacity = _colour_and_opacity(batch.fill)
    edge, _ = _colour_and_opacity(batch.edge)
    # the edge lies within the box
    inset = batch.edge_width / 2
    radius = max(0.0, batch.radius - inset)
    for x, y, width, height in batch.rects.tolist():
        place = (x + inset, y + inset, max(0.0, width - 2 * inset), max(0.0, height - 2 * inset))
        stroke = edge if batch.edge_width else ""
        yield Panel(*place, radius, fill, stroke, batch.edge_width, opacity=opacity)


def _chains(lines: Float) -> Iterator[tuple[tuple[float, float], ...]]:
    """Straight lines as polylines, each as long as one goes on where the last one ended."""
    lines = lines[(lines[:, :2] != lines[:, 2:]).any(axis=1)]
    if not len(lines):
        return
    broken = np.flatnonzero((np.abs(lines[1:, :2] - lines[:-1, 2:]) > 1e-6).any(axis=1)) + 1
    for chain in np.split(lines, broken):
        points = [*chain[:, :2].tolist(), chain[-1, 2:].tolist()]
        yield tuple((x, y) for x, y in points)


def _labels(batch: Labels) -> Iterator[Label]:
    for label in batch.labels:
        text = fitted_text(label.text, label.px, label.width, label.bold)
        if not text or text == "…":
            continue
        spare = label.width - text_width(text, label.px, label.bold)
        x = label.x + {"left": 0.0, "center": spare / 2, "right": spare}[label.align]
        baseline = label.y + (label.height + rise(label.px, label.bold)) / 2
        yield Label(floor(x + 0.5), floor(baseline + 0.5), text, label.px, label.colour, label.bold)


def _colour_and_opacity(colour: str) -> tuple[str, float]:
    """``#rrggbbaa`` as colour and opacity."""
    return colour[:7], int(colour[7:9], 16) / 255 if len(colour) == 9 else 1.0
