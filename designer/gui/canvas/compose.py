"""The whole picture of a region as batches, in painter's order, step by step. No Qt."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from designer.gui.canvas.batches import Batch, Rects
from designer.gui.canvas.compose_activity import activity
from designer.gui.canvas.compose_badges import bound_glow
from designer.gui.canvas.compose_boxes import cards, containers, grid_dots, meters, notes, plates, visible_boxes
from designer.gui.canvas.compose_text import texts
from designer.gui.canvas.compose_values import values
from designer.gui.canvas.compose_virtual_machines import virtual_machines
from designer.gui.canvas.compose_wires import wires
from designer.gui.canvas.stage import Frame, Regions, Stage


def compose_steps(stage: Stage, frame: Frame, regions: Regions, grid: bool = True) -> Iterator[list[Batch]]:
    """What is to be drawn in rectangles of device pixels; whoever draws it clips it to them.

    Each step is short even where there are many things, so that the window can live between two of them.
    """
    if grid:
        yield grid_dots(stage, frame, regions)
    boxes = visible_boxes(stage, frame, regions)
    yield containers(stage, frame, boxes)
    yield wires(stage, frame, regions)
    yield bound_glow(stage, frame)
    yield stage.kept("plates", frame, regions, lambda: plates(stage, frame, boxes))
    yield meters(stage, frame, boxes) + activity(stage, frame, boxes) + notes(stage, frame, boxes)
    yield stage.kept("texts", frame, regions, lambda: texts(stage, frame, boxes))
    if stage.live.on_route is None:
        yield values(stage, frame, regions)
    yield virtual_machines(stage, frame, regions)
    if stage.live.on_route is not None and stage.live.box_on_route is not None:
        # everything fades, then the route is drawn again on top
        yield [Rects(np.array(regions, dtype=np.float64), stage.theme.background + "c0")]
        yield wires(stage, frame, regions, only=stage.live.on_route)
        lit = boxes[stage.live.box_on_route[boxes] & ~stage.geometry.is_container[boxes]]
        yield cards(stage, frame, lit)
        yield texts(stage, frame, lit)
        yield values(stage, frame, regions)


def compose(stage: Stage, frame: Frame, regions: Regions, grid: bool = True) -> list[Batch]:
    """All steps together."""
    return [batch for step in compose_steps(stage, frame, regions, grid) for batch in step]
