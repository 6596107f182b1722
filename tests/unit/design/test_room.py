"""Nothing lies on anything else after a move, a nudge, a change of container or of size, wherever to."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from designer.design.address import Ref
from designer.design.document import Design, Link, Part, Position
from designer.design.edits.placement import Resize
from designer.design.geometry import Geometry, lay_out
from designer.design.room import Room, largest, overlaps
from designer.gui.canvas.editing import move, put_into
from designer.interchange.templates import open_design
from tests.designs import one_unit


def _servers() -> Design:
    """Three servers near each other, one of them in a rack, with parts in them."""
    parts = [
        Part(id="a", kind="server", position=Position(x=0, y=0)),
        Part(id="gpu0", kind="gpu", parent="a", position=Position(x=24, y=56)),
        Part(id="gpu1", kind="gpu", parent="a", position=Position(x=192, y=56)),
        Part(id="cpu", kind="cpu", parent="a", position=Position(x=24, y=160)),
        Part(id="b", kind="server", position=Position(x=400, y=0)),
        Part(id="gpu2", kind="gpu", parent="b", position=Position(x=24, y=56)),
        Part(id="rack", kind="rack", position=Position(x=0, y=320)),
        Part(id="c", kind="server", parent="rack", position=Position(x=24, y=56)),
        Part(id="gpu3", kind="gpu", parent="c", position=Position(x=24, y=56)),
        Part(id="d", kind="server", parent="rack", position=Position(x=248, y=56)),
        Part(id="sw", kind="switch", position=Position(x=0, y=-120)),
    ]
    links = [Link(id="l", a="gpu0", b="cpu", kind="pcie", generation=5, lanes=16)]
    return Design(name="d", parts={p.id: p for p in parts}, links={link.id: link for link in links})


SCENES: dict[str, Geometry] = {
    "servers": lay_out(_servers()),
    "hgx": lay_out(open_design("hgx-h100-8")),
    "storage": lay_out(open_design("hpe-apollo-6500-nfs")),
    "opened": lay_out(one_unit(3), frozenset({(("servers", None),)})),
}
_WAYS = st.tuples(st.integers(-1200, 1200), st.integers(-900, 900))


def _box(geometry: Geometry, name: str) -> int:
    return next(n for n, ref in enumerate(geometry.refs) if ref.id == name)


def test_the_lattice_around_a_server_leaves_everything_apart() -> None:
    """A GPU dragged to each of 17 × 16 places in and around its server, which has neighbours on two sides."""
    geometry = SCENES["servers"]
    assert not overlaps(geometry)
    room = Room(geometry, [_box(geometry, "gpu1")])
    for x in range(-400, 401, 50):
        for y in range(-400, 351, 50):
            spot = room.nearest(x, y)
            assert spot is not None
            edit = move(geometry, room.boxes.tolist(), *spot)
            if edit is not None:
                assert not overlaps(lay_out(edit.apply(geometry.design)))


@settings(deadline=None)
@given(st.sampled_from(sorted(SCENES)), st.data())
def test_a_move_leaves_everything_apart(name: str, data: st.DataObject) -> None:
    geometry = SCENES[name]
    box = data.draw(st.integers(0, len(geometry) - 1))
    room = Room(geometry, [box])
    spot = room.nearest(*data.draw(_WAYS))
    if spot is None:
        return
    edit = move(geometry, [box], *spot)
    if edit is not None and not room.spoils(edit, *spot):
        assert overlaps(lay_out(edit.apply(geometry.design), geometry.opened)) <= overlaps(geometry)


@settings(deadline=None)
@given(st.sampled_from(["gpu0", "gpu2", "gpu3", "c", "d"]), st.sampled_from([None, "a", "b", "c", "d", "rack"]), _WAYS)
def test_what_goes_into_another_container_leaves_everything_apart(
    name: str, into: str | None, way: tuple[int, int]
) -> None:
    geometry = SCENES["servers"]
    box, target = _box(geometry, name), -1 if into is None else _box(geometry, into)
    if box <= target < geometry.last[box]:
        return
    room = Room(geometry, [box], target)
    spot = room.nearest(*way)
    if spot is None:
        return
    edit = put_into(geometry, [box], *spot, target).edit
    if edit is not None and not room.spoils(edit, *spot):
        assert not overlaps(lay_out(edit.apply(geometry.design)))


@given(
    st.sampled_from(["a", "gpu1", "cpu", "b", "c", "gpu3", "rack", "sw"]), st.integers(60, 1200), st.integers(40, 900)
)
def test_a_size_leaves_everything_apart(name: str, width: int, height: int) -> None:
    geometry = SCENES["servers"]
    size = largest(geometry, _box(geometry, name), width, height)
    edit = Resize(Ref("parts", name), (round(size[0]), round(size[1])))
    assert not overlaps(lay_out(edit.apply(geometry.design)))


def test_what_is_free_is_left_alone_and_a_neighbour_is_where_it_stops() -> None:
    geometry = SCENES["servers"]
    box = _box(geometry, "sw")
    room = Room(geometry, [box])
    assert room.nearest(30, -7) == (30, -7)
    # the switch is 168 × 64: 56 units above server a it comes to stand right at it, and goes no further
    assert room.along(0, 64) == (0, 56)
    assert room.nearest(0, 80) == (0, 56)


def test_a_server_grows_into_free_room_only() -> None:
    """From its right border at 328 to its neighbour at 400 there are 72 units, of which 8 stay free: 64 to grow."""
    geometry = SCENES["servers"]
    a, b, gpu = (_box(geometry, name) for name in ("a", "b", "gpu1"))
    assert geometry.rect[a].tolist()[2] == 328
    room = Room(geometry, [gpu])
    spot = room.nearest(64, 0)
    assert spot == (64, 0)
    assert room.nearest(65, 0) == (64, 0)
    now = room.rects(64, 0)
    assert now[a, 0] + now[a, 2] == geometry.rect[b, 0] - 8
    assert np.array_equal(now[b], geometry.rect[b])


def test_copies_do_not_land_on_their_originals() -> None:
    geometry = SCENES["servers"]
    box = _box(geometry, "gpu2")
    spot = Room(geometry, [box], None, copies=True).nearest(20, 10)
    assert spot is not None
    assert abs(spot[0]) >= 128 or abs(spot[1]) >= 64
