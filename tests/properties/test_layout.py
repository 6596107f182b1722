"""Automatic layout on generated designs: nothing covers anything, nothing a person placed moves, updates are exact."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from designer.design.address import Ref
from designer.design.arrange import arrange
from designer.design.diff import diff
from designer.design.document import Design, Position
from designer.design.edits.arrange import Arrange
from designer.design.edits.placement import Place
from designer.design.geometry import Geometry, lay_out, update

_KINDS = ("cpu", "numa", "memory", "pcie_switch", "gpu", "nvswitch", "nic", "dpu", "drive", "switch", "storage", "odd")
_LINKS = ("pcie", "nvlink", "upi", "memory_bus", "infinity_fabric", "ethernet", "xgmi", "odd")
_placed = st.none() | st.builds(Position, x=st.integers(0, 900), y=st.integers(0, 600))


@st.composite
def designs(draw: st.DrawFn, groups: bool = True) -> Design:
    """Servers, racks, loose parts and groups, linked at random, some of them placed."""
    servers = [f"server{n}" for n in range(draw(st.integers(0, 3)))]
    racks = ["rack"] * draw(st.integers(0, 1))
    parts: list[dict[str, object]] = [{"id": r, "kind": "rack"} for r in racks]
    for s in servers:
        parent = draw(st.sampled_from([None, *racks]))
        parts.append({"id": s, "kind": "server", "parent": parent, "collapsed": draw(st.integers(0, 4)) == 0})
    for n in range(draw(st.integers(1, 24))):
        kind = draw(st.sampled_from(_KINDS))
        size = draw(st.none() | st.none() | st.just({"width": 204, "height": 70}))
        parts.append(
            {"id": f"{kind}{n}", "kind": kind, "parent": draw(st.sampled_from([None, *servers])), "size": size}
        )
    anywhere = draw(st.booleans())
    for part in parts:
        part["position"] = draw(_placed) if anywhere else None
    ids = [str(p["id"]) for p in parts]
    links = [
        {"id": f"l{n}", "a": a, "b": b, "kind": draw(st.sampled_from(_LINKS))}
        for n, (a, b) in enumerate(draw(st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)), max_size=30)))
        if a != b
    ]
    made: list[dict[str, object]] = []
    for n in range(draw(st.integers(0, 3)) if groups else 0):
        content = {"parts": [{"id": "box", "kind": "server"}, {"id": "g", "kind": "gpu", "parent": "box"}]}
        parent = draw(st.sampled_from([None, *racks]))
        made.append({"id": f"group{n}", "replicas": n + 2, "content": content, "parent": parent})
    return Design.model_validate({"name": "generated", "parts": parts, "links": links, "groups": made})


def _overlaps(geometry: Geometry, one: int, other: int) -> bool:
    (x, y, w, h), (u, v, s, t) = geometry.rect[one], geometry.rect[other]
    return bool(x < u + s and u < x + w and y < v + t and v < y + h)


def _peers(geometry: Geometry) -> list[tuple[int, int]]:
    n = len(geometry)
    return [(i, j) for i in range(n) for j in range(i + 1, n) if geometry.parent[i] == geometry.parent[j]]


@given(designs())
def test_what_is_arranged_covers_nothing(design: Design) -> None:
    geometry = lay_out(design)
    for i, j in _peers(geometry):
        if not (geometry.placed[i] and geometry.placed[j]):
            assert not _overlaps(geometry, i, j), (geometry.refs[i], geometry.refs[j])


@given(designs())
def test_contents_stay_inside_their_container_and_on_the_grid(design: Design) -> None:
    geometry = lay_out(design)
    for box in range(len(geometry)):
        above = int(geometry.parent[box])
        if above >= 0:
            inner, outer = geometry.rect[box], geometry.rect[above]
            assert (inner[:2] >= outer[:2]).all()
            assert (inner[:2] + inner[2:] <= outer[:2] + outer[2:]).all()
            assert above < box < geometry.last[above]
    if not geometry.placed.any():
        assert (geometry.rect[:, :2] % 8 == 0).all()


@given(designs())
def test_placed_things_stay_and_arranging_writes_what_is_drawn(design: Design) -> None:
    before = lay_out(design)
    arranged = arrange(design)
    for part_id, part in design.parts.items():
        if part.position is not None:
            assert arranged.parts[part_id] is part
        else:
            assert arranged.parts[part_id].position is not None
    after = lay_out(arranged)
    assert np.array_equal(before.rect, after.rect)
    assert after.placed.all()
    assert arrange(arranged) is arranged
    for box in range(len(before)):
        thing = after.thing(box)
        assert (thing.position.x, thing.position.y) == before.position(box)  # type: ignore[union-attr]


@given(designs())
def test_arranging_everything_forgets_where_things_were(design: Design) -> None:
    again = Arrange().apply(design)
    geometry = lay_out(again)
    for i, j in _peers(geometry):
        assert not _overlaps(geometry, i, j)
    assert Arrange().apply(again) == again


@given(designs(), st.data())
def test_an_update_is_what_laying_out_again_gives(design: Design, data: st.DataObject) -> None:
    design = arrange(design) if data.draw(st.booleans()) else design
    geometry = lay_out(design)
    for _ in range(2):
        box = data.draw(st.integers(0, len(geometry) - 1))
        x, y = data.draw(st.tuples(st.integers(-200, 1500), st.integers(-200, 900)))
        edited = Place({geometry.refs[box]: (x, y)}).apply(design)
        geometry = update(geometry, edited, diff(design, edited))
        design = edited
        _assert_same(geometry, lay_out(design))


@given(designs(), st.sets(st.integers(0, 2)))
def test_open_groups_cover_nothing_that_was_free(design: Design, which: set[int]) -> None:
    closed = lay_out(design, frozenset())
    opened = lay_out(design, frozenset({((f"group{n}", None),) for n in which}))
    at = {ref: i for i, ref in enumerate(closed.refs)}
    number = {i: opened.box_of((), ref) for ref, i in at.items()}
    for i, j in _peers(closed):
        if not _overlaps(closed, i, j):
            k, m = number[i], number[j]
            assert k is not None
            assert m is not None
            assert not _overlaps(opened, k, m)
    for i, k in number.items():
        assert k is not None
        assert closed.position(i) == opened.position(k)


def _assert_same(one: Geometry, other: Geometry) -> None:
    assert list(one.refs) == list(other.refs)
    for name in (
        "rect",
        "origin",
        "connection_route",
        "placed",
        "connection_a",
        "connection_b",
    ):
        assert np.allclose(getattr(one, name), getattr(other, name), atol=1e-6), name
    assert [one.label(i) for i in range(len(one))] == [other.label(i) for i in range(len(other))]


def test_the_same_design_is_laid_out_the_same_way_twice() -> None:
    text = {"parts": [{"id": f"gpu{n}", "kind": "gpu"} for n in range(12)], "name": "d"}
    one, other = (lay_out(Design.model_validate(text)) for _ in range(2))
    assert np.array_equal(one.rect, other.rect)
    assert one.refs[2] == Ref("parts", "gpu2")
