"""In the default window every template shows what its parts are called, what joins them and where it is tight."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from designer.design.address import Ref
from designer.design.document import Design
from designer.design.edits.clipboard import Paste, copy
from designer.design.geometry import Geometry, lay_out
from designer.drawing.batches import Boxes, Label, Labels, Lines
from designer.drawing.compose_badges import _connection_marks, badges
from designer.drawing.compose_values import bundle_plates
from designer.drawing.fonts import text_width
from designer.drawing.levels import Level, level_at, next_octave
from designer.drawing.loads import Loads, nothing
from designer.drawing.picture import compose, full_detail
from designer.drawing.polylines import distances, straights
from designer.drawing.short_names import forms, shorter, written
from designer.drawing.theme import LIGHT
from designer.drawing.view import View
from designer.drawing.view_state import Frame, ViewState
from designer.interchange.templates import open_design
from designer.resources import templates
from tests.designs import one_server

pytestmark = pytest.mark.without_qt

TEMPLATES = sorted(templates().glob("*.design.json"))
#: the canvas in a window of 1440 × 900 with all docks
CANVAS = (838, 505)


def state(geometry: Geometry, bound: bool = False) -> tuple[ViewState, Frame]:
    loads = nothing(geometry)
    if bound and geometry.n_connections:
        first = np.arange(geometry.n_connections) == 0
        loads = Loads(**{**{f: getattr(loads, f) for f in loads.__slots__}, "bottleneck": first})
    view_state = ViewState(geometry, loads, LIGHT)
    view = View(width=CANVAS[0], height=CANVAS[1]).whole(view_state.bounds)
    level = level_at(view.scale, None, len(geometry))
    return view_state, Frame(view.scale, round(view.x), round(view.y), level, 1.0, next_octave(None, view.scale))


def labels(view_state: ViewState, frame: Frame) -> list[Label]:
    found = compose(view_state, frame, ((0.0, 0.0, *CANVAS),))
    return [label for batch in found if isinstance(batch, Labels) for label in batch.labels]


def drawn(label: Label) -> tuple[float, float, float, float]:
    """Where the letters of a label are, within the room it has."""
    wide = min(label.width, text_width(label.text, label.px, label.bold))
    free = {"left": 0.0, "center": 0.5, "right": 1.0}[label.align] * (label.width - wide)
    high = min(label.height, label.px * 1.2)
    return label.x + free, label.y + (label.height - high) / 2, wide, high


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda f: f.name.split(".")[0])
def test_every_template_shows_its_names_at_fit(file: Path) -> None:
    geometry = lay_out(open_design(file))
    view_state, frame = state(geometry)
    assert frame.level >= Level.MIDDLE
    found = labels(view_state, frame)
    rects = np.array([label[:4] for label in found])
    cards = np.flatnonzero(view_state.boxes.is_card)
    for box, (x, y, w, h) in zip(cards.tolist(), frame.boxes(geometry.rect[cards]).tolist(), strict=True):
        inside = (rects[:, 0] >= x - 1) & (rects[:, 1] >= y - 1)
        inside &= (rects[:, 0] + rects[:, 2] <= x + w + 3) & (rects[:, 1] + rects[:, 3] <= y + h + 3)
        stated = [found[k].text for k in np.flatnonzero(inside).tolist()]
        name = geometry.label(box)
        assert stated, f"{name} has no name"
        if name[-1].isdigit():
            assert any(any(c.isdigit() for c in text) and any(c.isalpha() for c in text) for text in stated), (
                name,
                stated,
            )


@pytest.mark.parametrize("share", [0.7, 0.5])
@pytest.mark.parametrize("name", ["hgx-h100-8", "dgx2", "su-h100-32", "mi300x-platform"])
def test_no_card_with_room_for_a_number_is_nameless(name: str, share: float) -> None:
    """Farther off than at fit, names become shorter and end as a number; no card becomes an empty box."""
    geometry = lay_out(open_design(name))
    view_state, whole = state(geometry)
    frame = replace(whole, scale=whole.scale * share, level=Level.MIDDLE)
    found = labels(view_state, frame)
    cards = np.flatnonzero(view_state.boxes.is_card)
    for box, (x, y, w, h) in zip(cards.tolist(), frame.boxes(geometry.rect[cards]).tolist(), strict=True):
        if w < 20 or h < 9 or not (0 < x < CANVAS[0] - w and 0 < y < CANVAS[1] - h):
            continue
        inside = [one for one in found if x - 1 <= one.x <= x + w and y - 6 <= one.y <= y + h and one.text]
        assert inside, geometry.label(box)


@pytest.mark.parametrize("ratio", [1.0, 2.0])
@pytest.mark.parametrize("name", ["hgx-h100-8", "dgx2", "mi300x-platform"])
def test_a_name_that_is_there_is_whole_at_every_size_of_the_canvas(name: str, ratio: float) -> None:
    """Names give way to shorter forms, not to …, even where a card loses part of a pixel."""
    view_state, _ = state(lay_out(open_design(name)))
    seen = 0
    for wide in range(560, 1400, 40):
        view = View(width=wide * ratio, height=wide * 0.6 * ratio).whole(view_state.bounds)
        level = level_at(view.scale / ratio, None, len(view_state.geometry))
        frame = Frame(view.scale, round(view.x), round(view.y), level, ratio, next_octave(None, view.scale))
        for label in labels(view_state, frame):
            if label.bold and label.text[-1:].isdigit():
                assert text_width(label.text, label.px, bold=True) <= label.width, (wide, label)
                seen += 1
    assert seen > 100


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda f: f.name.split(".")[0])
def test_names_lie_on_no_others_and_no_two_are_alike(file: Path) -> None:
    geometry = lay_out(open_design(file))
    view_state, frame = state(geometry)
    found = [label for label in labels(view_state, frame) if label.text]
    rects = np.array([drawn(label) for label in found])
    left, top, right, bottom = rects[:, 0], rects[:, 1], rects[:, 0] + rects[:, 2], rects[:, 1] + rects[:, 3]
    over = (left[:, None] < right - 1) & (left + 1 < right[:, None])
    over &= (top[:, None] < bottom - 1) & (top + 1 < bottom[:, None])
    np.fill_diagonal(over, False)
    assert not over.any(), [(found[i].text, found[j].text) for i, j in np.argwhere(over)[:3].tolist()]
    for container in set(geometry.parent.tolist()):
        own = forms(geometry, container)
        whole = {geometry.label(box) for box in own}
        if len(whole) == len(own):
            stated = [form for all_forms in own.values() for form in all_forms]
            assert len(stated) == len(set(stated))


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda f: f.name.split(".")[0])
def test_links_and_the_mark_of_the_bottleneck_are_there_from_near_and_far(file: Path) -> None:
    geometry = lay_out(open_design(file))
    if not geometry.n_connections:
        return
    view_state, frame = state(geometry, bound=True)
    region = (0.0, 0.0, float(CANVAS[0]), float(CANVAS[1]))
    for level in (frame.level, Level.FAR):
        seen = Frame(frame.scale, frame.x, frame.y, level, 1.0, frame.octave)
        assert any(isinstance(b, Lines) and len(b) for b in compose(view_state, seen, (region,)))
        assert any(len(batch) for batch in badges(view_state, seen, region)), level


@pytest.mark.parametrize("name", ["hgx-h100-8", "dgx2", "mi300x-platform", "serving-split-2-racks"])
@pytest.mark.parametrize("zoom", [0.6, 1.0, 1.7])
def test_marks_sit_on_the_lines_they_mark(name: str, zoom: float) -> None:
    """At every level the middle of each dot and plate is on a way as it is drawn at that level."""
    view_state, frame = state(lay_out(open_design(name)))
    loads = view_state.loads
    every = np.ones(view_state.geometry.n_connections, dtype=bool)
    view_state.loads = Loads(**{**{f: getattr(loads, f) for f in loads.__slots__}, "bottleneck": every})
    for level in (Level.NEAR, Level.MIDDLE, Level.FAR):
        seen = Frame(frame.scale * zoom, frame.x, frame.y, level, 1.0, frame.octave)
        marks = _connection_marks(view_state, seen, (-1e6, -1e6, 2e6, 2e6), frozenset())
        _, lines = straights(seen.points(view_state.routes(seen, np.flatnonzero(every))))
        assert marks
        boxes = seen.boxes(view_state.geometry.rect)
        for x, y, _ in marks:
            on_box = np.abs(boxes[:, :2] + boxes[:, 2:] / 2 - (x, y)).max(axis=1).min() <= 1.0
            on_line = len(lines) and distances(lines, x, y).min() <= 1.0
            assert on_line or (level is Level.FAR and on_box)


def test_marks_leave_the_count_of_a_trunk_free() -> None:
    view_state, _ = state(lay_out(open_design("hgx-h100-8")))
    loads, geometry = view_state.loads, view_state.geometry
    nvlink = np.array([geometry.connection_kinds[int(kind)] == "nvlink" for kind in geometry.connection_kind])
    view_state.loads = Loads(**{**{f: getattr(loads, f) for f in loads.__slots__}, "bottleneck": nvlink})
    near = Frame(1.0, 0, 0, Level.NEAR, 1.0, next_octave(None, 1.0))
    (plate,) = bundle_plates(view_state, near)
    marks = np.array([(x, y) for x, y, _ in _connection_marks(view_state, near, (-1e6, -1e6, 2e6, 2e6), frozenset())])
    assert len(marks) > 4
    assert not ((marks > plate[:2]) & (marks < plate[2:])).all(axis=1).any()


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda f: f.name.split(".")[0])
def test_a_count_of_links_stands_on_a_line(file: Path) -> None:
    """Links from card to card in a row are no trunk: the count would stand in a gap between cards."""
    view_state, _ = state(lay_out(open_design(file)))
    whole = Frame(1.0, 0, 0, Level.MIDDLE, 1.0, next_octave(None, 1.0))
    _, lines = straights(view_state.geometry.connection_route)
    for left, top, right, low in bundle_plates(view_state, whole).tolist():
        assert distances(lines, (left + right) / 2, (top + low) / 2).min() <= 1


def test_the_mark_of_a_gpu_that_binds_lies_on_no_other_part() -> None:
    """A drive is right above the GPU: the mark goes below it."""
    view_state, frame = state(lay_out(open_design("serving-h100-8")))
    loads, geometry = view_state.loads, view_state.geometry
    box = next(i for i in range(len(geometry)) if geometry.label(i) == "GPU 0")
    alone = np.where(np.arange(len(geometry)) == box, 8, 0)
    view_state.loads = Loads(**{**{f: getattr(loads, f) for f in loads.__slots__}, "box_bottleneck": alone})
    plates = [batch.rects for batch in badges(view_state, frame, (-1e6, -1e6, 2e6, 2e6)) if isinstance(batch, Boxes)]
    (x, y, wide, high) = np.concatenate(plates)[0].tolist()
    rects = frame.boxes(geometry.rect)
    for other in np.flatnonzero(view_state.boxes.is_card).tolist():
        left, top, across, down = rects[other].tolist()
        over = min(x + wide, left + across) - max(x, left), min(y + high, top + down) - max(y, top)
        assert min(over) <= 1, geometry.label(other)


def test_the_mark_of_a_drive_that_binds_leaves_its_name_free() -> None:
    """Drives are low: on their upper edge the mark would lie on the name."""
    geometry = lay_out(open_design("dgx2"))
    loads = nothing(geometry)
    drives = np.array([geometry.label(i).startswith("Drive") for i in range(len(geometry))])
    view_state = ViewState(
        geometry, Loads(**{**{f: getattr(loads, f) for f in loads.__slots__}, "box_bottleneck": 1 * drives}), LIGHT
    )
    found = full_detail(view_state, 1.0, view_state.bounds)
    words = [label for batch in found if isinstance(batch, Labels) for label in batch.labels]
    marks = [drawn(label) for label in words if label.text == "limits"]
    names = [drawn(label) for label in words if label.text.startswith("Drive ")]
    assert len(marks) == len(names) == 8
    for x, y, wide, high in marks:
        middle = y + high / 2
        for left, top, across, down in names:
            # the plate is 19 px high
            beside = min(x + wide, left + across) <= max(x, left)
            assert beside or min(middle + 9.5, top + down) <= max(middle - 9.5, top)


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda f: f.name.split(".")[0])
def test_no_name_reaches_under_the_count_of_a_group(file: Path) -> None:
    view_state, frame = state(lay_out(open_design(file)))
    found = compose(view_state, frame, ((0.0, 0.0, *CANVAS),))
    counts = [batch.rects for batch in found if isinstance(batch, Boxes) and batch.fill == LIGHT.badge]
    names = [drawn(label) for label in labels(view_state, frame) if label.colour == LIGHT.text]
    for x, y, wide, high in np.concatenate(counts).tolist() if counts else []:
        for left, top, across, down in names:
            over = min(x + wide, left + across) - max(x, left), min(y + high, top + down) - max(y, top)
            assert over[1] <= 3 or over[0] <= 0.5


def test_trunks_and_bundles_are_counted_at_fit() -> None:
    """8 GPUs with 18 NVLinks of 25 GB/s each are 144; 32 servers with 8 ports of 400 Gb/s are 256."""
    for name, stated in (("hgx-h100-8", "144 × 25 GB/s"), ("su-h100-32", "256 × 400 Gb/s")):
        texts = [label.text for label in labels(*state(lay_out(open_design(name))))]
        assert stated in texts


def test_short_forms_keep_kind_and_number() -> None:
    assert shorter("GPU 3") == ("GPU 3",)
    assert shorter("NVSwitch 1") == ("NVSwitch 1", "NVSw 1", "NVS 1")
    assert shorter("pcie_switch0") == ("pcie_switch0", "pcie_sw0", "p-sw0", "sw0")
    assert shorter("mlx5_0") == ("mlx5_0",)
    assert shorter("Storage NIC 0") == ("Storage NIC 0", "Stor NIC 0", "S-NIC 0", "SNIC 0", "NIC 0")
    assert shorter("enp171s0f0np0 / mlx5_0") == ("enp171s0f0np0 / mlx5_0", "mlx5_0")
    assert shorter("PCIe switch 0.1")[-1] == "SW 0.1"
    assert shorter("PCIe switch 0")[1] == "PCIe SW 0"


def test_what_is_left_out_of_a_name_makes_no_two_alike() -> None:
    geometry = lay_out(one_server())
    server = next(i for i in range(len(geometry)) if geometry.is_container[i])
    design = geometry.design
    nics = [p for p in design.parts.values() if p.kind == "nic"][:2]
    renamed = {
        **design.parts,
        nics[0].id: nics[0].model_copy(update={"name": "NIC 0"}),
        nics[1].id: nics[1].model_copy(update={"name": "Storage NIC 0"}),
    }
    geometry = lay_out(design.model_copy(update={"parts": renamed}))
    own = {geometry.label(box): kept for box, kept in forms(geometry, server).items()}
    assert own["NIC 0"] == ("NIC 0",)
    assert own["Storage NIC 0"] == ("Storage NIC 0", "Stor NIC 0", "S-NIC 0", "SNIC 0")
    box = next(box for box in forms(geometry, server) if geometry.label(box) == "Storage NIC 0")
    assert written(geometry, box, "Storage NIC 0", 30.0, 9.0) == "Sto…0", "NIC 0 or 0 alone would mean another"
    assert written(geometry, box, "Storage NIC 0", 45.0, 9.0) == "S-NIC 0"


def test_the_ports_of_a_nic_are_told_apart_by_the_ends_of_their_names() -> None:
    design = one_server()
    nics = [p for p in design.parts.values() if p.kind == "nic"][:2]
    names = ["enp23s0f0", "enp23s0f1"]
    renamed = {p.id: p.model_copy(update={"name": name}) for p, name in zip(nics, names, strict=True)}
    geometry = lay_out(design.model_copy(update={"parts": {**design.parts, **renamed}}))
    boxes = {geometry.label(i): i for i in range(len(geometry))}
    assert [written(geometry, boxes[name], name, 45.0, 9.0) for name in names] == ["…23s0f0", "…23s0f1"]


def test_servers_of_one_name_show_their_numbers_at_fit() -> None:
    """Names of open servers do not end before their number."""
    whole = Paste(copy(open_design("hgx-a100-4"), (Ref("parts", "server"),)))
    design = Design(name="cluster")
    for k in range(16):
        design = replace(whole, at=(1000 * (k % 4), 640 * (k // 4))).apply(design)
    names = {p.label for p in design.parts.values() if p.kind == "server"}
    assert len(names) == 16
    view_state, frame = state(lay_out(design))
    shown = [label for label in labels(view_state, frame) if label.text.startswith("HGX")]
    assert len({label.text for label in shown}) == 16
    assert all(text_width(label.text, label.px, bold=True) <= label.width for label in shown)


def test_names_that_begin_alike_are_told_apart_by_their_ends() -> None:
    geometry = lay_out(open_design("su-h100-32"))
    boxes = {geometry.label(i): i for i in range(len(geometry)) if geometry.is_group[i]}
    names = ["Storage leaves, servers", "Storage leaves, storage"]
    seen = [written(geometry, boxes[name], name, 90.0, 9.0) for name in names]
    assert seen == ["Storage… servers", "Storage… storage"]
    assert [written(geometry, boxes[name], name, 70.0, 9.0) for name in names] == ["Stor… servers", "Stor… storage"]
    assert written(geometry, boxes[names[0]], names[0], 400.0, 9.0) == names[0]


def test_what_is_below_a_name_fits_as_product_or_as_value() -> None:
    """Cards too narrow for a product show what it is known by, and no product is cut within a word."""
    geometry = lay_out(open_design("hgx-h100-8"))
    view_state = ViewState(geometry, nothing(geometry), LIGHT)
    frame = Frame(0.75, 0, 0, Level.NEAR, 1.0, next_octave(None, 0.75))
    shown = [
        label
        for batch in compose(view_state, frame, ((-5000.0, -5000.0, 10_000.0, 10_000.0),))
        for label in _all(batch)
    ]
    cards = [label for label in shown if label.px == round(LIGHT.detail_px * 0.75) and not label.bold]
    assert {"400 Gb/s", "6.9 GB/s", "64 × 25 GB/s", "60 cores, Gen5", "H100 SXM5"} <= {label.text for label in cards}
    assert not {label.text for label in cards if text_width(label.text, label.px) > label.width + 1}


def _all(batch: object) -> tuple[Label, ...]:
    return batch.labels if isinstance(batch, Labels) else ()
