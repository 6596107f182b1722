"""The whole picture of a region as batches, in painter's order. No Qt."""

from __future__ import annotations

import numpy as np

from designer.gui.canvas.batches import Batch, Rects
from designer.gui.canvas.compose_boxes import cards, containers, grid_dots, visible_boxes
from designer.gui.canvas.compose_text import texts
from designer.gui.canvas.compose_wires import wires
from designer.gui.canvas.stage import Frame, Stage
from designer.gui.canvas.view import Rect


def compose(stage: Stage, frame: Frame, region: Rect, grid: bool = True) -> list[Batch]:
    """What is to be drawn in a rectangle of device pixels; whoever draws it clips it to the rectangle."""
    boxes = visible_boxes(stage, frame, region)
    found: list[Batch] = grid_dots(stage, frame, region) if grid else []
    found += containers(stage, frame, boxes)
    found += wires(stage, frame, region)
    found += cards(stage, frame, boxes)
    found += texts(stage, frame, boxes)
    if stage.live.on_route is not None and stage.live.box_on_route is not None:
        # everything fades, then the route is drawn again on top
        found.append(Rects(np.array([region], dtype=np.float64), stage.theme.background + "c0"))
        found += wires(stage, frame, region, only=stage.live.on_route)
        lit = boxes[stage.live.box_on_route[boxes] & ~stage.geometry.is_container[boxes]]
        found += cards(stage, frame, lit)
        found += texts(stage, frame, lit)
    return found
