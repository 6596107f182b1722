"""Where only what limits is coloured: links are quiet, the limit is solid and named once, equal parts glow together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import designer
from designer.design.geometry import lay_out
from designer.drawing.batches import Boxes, Labels, Lines
from designer.drawing.compose_badges import badges
from designer.drawing.compose_values import bundles
from designer.drawing.levels import Level, level_at
from designer.drawing.loads import (
    ChannelState,
    connection_map,
    link_numbers,
    nothing,
    with_binding,
    with_limits,
    with_loads,
)
from designer.drawing.picture import compose
from designer.drawing.theme import LIGHT
from designer.drawing.view import View
from designer.drawing.view_state import Frame, ViewState
from designer.present.limits import mark_of

pytestmark = pytest.mark.without_qt
REGION = (-1e6, -1e6, 2e6, 2e6)


def shown(template: str, workload: str) -> tuple[ViewState, Frame]:
    design = designer.open_design(template)
    analysis = designer.analyze(design, [workload])
    (result,) = (w for w in analysis.workloads if w.id == workload)
    geometry = lay_out(design)
    found = connection_map(geometry)
    loads = with_loads(nothing(geometry), geometry, found, ChannelState.of(analysis.loads[workload]))
    ids = [b.id for b in result.binding if b.what == "channel"]
    parts = [(b.id, b.equal) for b in result.binding if b.what in ("part", "compute")]
    loads = with_binding(loads, found, link_numbers(found, ids), ids, parts)
    loads = with_limits(loads, geometry, mark_of(result, design))
    state = ViewState(geometry, loads, LIGHT, colours="limits")
    view = View(width=1100, height=830).whole(state.bounds)
    return state, Frame(view.scale, round(view.x), round(view.y), Level.NEAR)


@pytest.mark.parametrize("level", [Level.NEAR, Level.MIDDLE])
def test_links_that_limit_are_solid_red_and_all_others_quiet(level: Level) -> None:
    state, frame = shown("hgx-h100-8", "h2d")
    found = compose(state, replace(frame, level=level), (REGION,), grid=False)
    lines = [batch for batch in found if isinstance(batch, Lines)]
    red = [batch for batch in lines if batch.colour == LIGHT.bottleneck]
    assert red
    assert all(not batch.dash and batch.width >= 4 for batch in red)
    heat = set(LIGHT.heat)
    assert not [batch for batch in lines if batch.colour in heat]


def test_what_limits_is_named_once_with_its_count() -> None:
    state, frame = shown("hgx-h100-8", "h2d")
    texts = [
        label.text for batch in badges(state, frame, REGION) if isinstance(batch, Labels) for label in batch.labels
    ]
    # eight links from the CPUs to the switches and eight on to the GPUs
    assert texts == ["PCIe from CPU to GPU limits · 16 links"]


def test_where_computing_limits_all_equal_gpus_glow_and_no_link_does() -> None:
    state, frame = shown("serving-h100-8", "chat-70b")
    geometry, limits = state.geometry, state.loads.box_limits
    assert sorted(geometry.label(k) for k in np.flatnonzero(limits).tolist()) == [f"GPU {k}" for k in range(8)]
    found = compose(state, frame, (REGION,), grid=False)
    assert not [b for b in found if isinstance(b, Lines) and b.colour == LIGHT.bottleneck]
    frames = [b for b in found if isinstance(b, Boxes) and b.edge == LIGHT.bottleneck]
    assert sum(len(b.rects) for b in frames) == 8
    over = badges(state, frame, REGION)
    texts = [label.text for batch in over if isinstance(batch, Labels) for label in batch.labels]
    assert texts == ["GPU arithmetic limits prompts · 8 × H100 SXM5"]
    assert any(isinstance(batch, Lines) for batch in over), "a bracket joins the eight"


def test_utilization_is_another_choice() -> None:
    state, frame = shown("hgx-h100-8", "h2d")
    state.colours = "utilization"
    colours = {b.colour for b in compose(state, frame, (REGION,), grid=False) if isinstance(b, Lines)}
    assert LIGHT.heat[-1] in colours


def covered_by(state: ViewState, frame: Frame) -> tuple[np.ndarray, float]:
    """The plate of the mark, and how much of cards, counts of links and trays it covers with a pixel around it."""
    plate = next(batch for batch in badges(state, frame, REGION) if isinstance(batch, Boxes)).rects[0]
    counts = [batch.rects for batch in bundles(state, frame, (REGION,)) if isinstance(batch, Boxes)]
    trays = [frame.boxes(state.trays.rect)] if state.trays is not None else []
    others = np.concatenate([frame.boxes(state.geometry.rect[state.boxes.is_card]), *counts, *trays])
    low, up = plate[:2] - 1, plate[:2] + plate[2:] + 1
    shared = np.minimum(others[:, :2] + others[:, 2:], up) - np.maximum(others[:, :2], low)
    return plate, float(np.maximum(shared, 0).prod(axis=1).sum())


@pytest.mark.parametrize("scale", [1.0, 0.35])
@pytest.mark.parametrize(
    ("template", "workload"),
    [
        ("hgx-h100-8", "llama-2-7b-fsdp"),
        ("hgx-h100-8", "all-reduce"),
        ("serving-h100-8", "chat-70b"),
        ("vsphere-cluster-4", "evacuate"),
        ("gb200-nvl72", "h2d"),
    ],
)
def test_the_mark_covers_no_part_and_no_count_of_links(template: str, workload: str, scale: float) -> None:
    state, frame = shown(template, workload)
    frame = replace(frame, scale=frame.scale * scale)
    frame = replace(frame, level=level_at(frame.scale, None, len(state.geometry)))
    assert bundles(state, frame, (REGION,)), "there are counts that could be covered"
    assert covered_by(state, frame)[1] == 0


def test_the_words_stay_on_the_bracket_and_move_with_the_view() -> None:
    state, frame = shown("hgx-h100-8", "llama-2-7b-fsdp")
    found = badges(state, frame, REGION)
    (bracket,) = (batch.lines for batch in found if isinstance(batch, Lines))
    plate = covered_by(state, frame)[0]
    x0, y, x1, _ = bracket[0]
    assert x0 <= plate[0]
    assert plate[0] + plate[2] <= x1
    assert plate[1] < y < plate[1] + plate[3]
    assert covered_by(state, frame.moved(-40, 25))[0].tolist() == (plate + np.array([-40, 25, 0, 0])).tolist()


def test_the_mark_stays_at_a_part_that_is_seen_from_close() -> None:
    state, frame = shown("hgx-h100-8", "llama-2-7b-fsdp")
    only = np.arange(len(state.geometry)) == np.flatnonzero(state.loads.box_limits)[0]
    state.loads = replace(state.loads, box_limits=only)
    close = replace(frame, scale=4.0, level=Level.NEAR)
    plate, covered = covered_by(state, close)
    card = close.boxes(state.geometry.rect[only])[0]
    assert covered == 0
    # the words are right below the card
    assert 0 < plate[1] - (card[1] + card[3]) < 12


def test_links_within_what_is_closed_from_afar_are_named_there() -> None:
    state, frame = shown("hgx-h100-8", "h2d")
    afar = replace(frame, scale=0.01, level=Level.FAR, octave=-7)
    assert len(covered_by(state, afar)[0]) == 4


def test_the_mark_of_links_is_on_one_of_them_and_within_their_container() -> None:
    state, frame = shown("hgx-h100-8", "h2d")
    frame = replace(frame, level=Level.MIDDLE)
    plate, covered = covered_by(state, frame)
    assert covered == 0
    x, y, wide, high = frame.boxes(state.geometry.rect[state.geometry.is_container])[0]
    assert x <= plate[0]
    assert plate[0] + plate[2] <= x + wide
    assert y <= plate[1]
    assert plate[1] + plate[3] <= y + high
