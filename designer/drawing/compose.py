"""The whole picture of a region as batches, in painter's order, step by step. No Qt."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from designer.drawing.batches import Batch, Rects
from designer.drawing.compose_activity import activity
from designer.drawing.compose_badges import bottleneck_glow, limit_frames
from designer.drawing.compose_boxes import cards, containers, grid_dots, meters, notes, plates, visible_boxes
from designer.drawing.compose_connections import connections
from designer.drawing.compose_text import texts
from designer.drawing.compose_values import bundles, values
from designer.drawing.compose_virtual_machines import virtual_machines
from designer.drawing.view_state import Frame, Regions, ViewState


def compose_steps(
    view_state: ViewState, frame: Frame, regions: Regions, grid: bool = True, labels: bool = True
) -> Iterator[list[Batch]]:
    """What is to be drawn in rectangles of device pixels; the painter clips it to them.

    Each step is short even where there are many things, so that the window can live between two of them.
    """
    if grid:
        yield grid_dots(view_state, frame, regions)
    boxes = visible_boxes(view_state, frame, regions)
    yield containers(view_state, frame, boxes)
    yield connections(view_state, frame, regions)
    yield bottleneck_glow(view_state, frame)
    yield view_state.kept("plates", frame, regions, lambda: plates(view_state, frame, boxes))
    yield limit_frames(view_state, frame)
    yield meters(view_state, frame, boxes) + activity(view_state, frame, boxes) + notes(view_state, frame, boxes)
    yield view_state.kept("texts", frame, regions, lambda: texts(view_state, frame, boxes))
    if labels and view_state.loads.on_route is None:
        yield values(view_state, frame, regions) + bundles(view_state, frame, regions)
    yield virtual_machines(view_state, frame, regions)
    if view_state.loads.on_route is not None and view_state.loads.box_on_route is not None:
        # everything fades, then the route is drawn again on top
        yield [Rects(np.array(regions, dtype=np.float64), view_state.theme.background + "c0")]
        yield connections(view_state, frame, regions, only=view_state.loads.on_route)
        lit = boxes[view_state.loads.box_on_route[boxes] & ~view_state.geometry.is_container[boxes]]
        yield cards(view_state, frame, lit)
        yield texts(view_state, frame, lit)
        yield values(view_state, frame, regions)


def compose(view_state: ViewState, frame: Frame, regions: Regions, grid: bool = True) -> list[Batch]:
    """All steps together."""
    return [batch for step in compose_steps(view_state, frame, regions, grid) for batch in step]
