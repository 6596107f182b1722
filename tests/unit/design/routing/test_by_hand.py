"""Links bent by hand: they run through their corners, come to their boxes however those stand, and others keep off."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designer.design.address import Ref
from designer.design.arrange import arrange
from designer.design.diff import diff
from designer.design.document import Design, Link, Part, Position
from designer.design.edits.clipboard import Duplicate
from designer.design.edits.links import BendLinks, Reconnect
from designer.design.edits.parts import SetParent
from designer.design.edits.placement import Place
from designer.design.edits.structure import MakeGroup
from designer.design.geometry import lay_out, update
from designer.design.routing.by_hand import bent_way
from designer.design.routing.sides import BOTTOM, LEFT, RIGHT, TOP
from designer.drawing.cut import cut_at
from designer.errors import DocumentError
from designer.interchange.native.reader import loads
from designer.interchange.native.writer import dumps
from tests.designs import one_server
from tests.moving import MoveBy
from tests.ways import over_any

pytestmark = pytest.mark.without_qt


def two(**at: tuple[int, int]) -> Design:
    """Switches of 100 × 40 at places, the first two linked."""
    size = {"width": 100, "height": 40}
    parts = [
        Part.model_validate({"id": i, "kind": "switch", "position": {"x": x, "y": y}, "size": size})
        for i, (x, y) in at.items()
    ]
    a, b = list(at)[:2]
    return Design(
        name="two", parts={p.id: p for p in parts}, links={"l": Link(id="l", a=a, b=b, kind="ethernet", count=2)}
    )


def way(design: Design, link: str = "l") -> list[tuple[float, float]]:
    geometry = lay_out(design)
    at = next(k for k in range(geometry.n_connections) if geometry.connection_links(k)[1][0].id == link)
    found: list[tuple[float, float]] = []
    for x, y in geometry.connection_route[at].tolist():
        if not found or found[-1] != (x, y):
            found.append((x, y))
    return found


def bent(design: Design, *points: tuple[int, int], link: str = "l") -> Design:
    return BendLinks({link: points}).apply(design)


def test_a_bent_link_runs_through_its_corners() -> None:
    """a above b, the link led out at the bottom of a, aside to x = 300, down and back to the top of b."""
    design = bent(two(a=(0, 0), b=(0, 400)), (50, 100), (300, 100), (300, 300), (50, 300))
    assert way(design) == [(50, 40), (50, 100), (300, 100), (300, 300), (50, 300), (50, 400)]


def test_an_end_that_moves_takes_the_corner_beside_it_along() -> None:
    """a moves 80 to the right: what left it at x = 50, its middle, now leaves at x = 86, 6 from its edge at 80."""
    design = bent(two(a=(0, 0), b=(0, 400)), (50, 100), (300, 100), (300, 300), (50, 300))
    moved = Place({Ref("parts", "a"): (80, 0)}).apply(design)
    assert way(moved) == [(86, 40), (86, 100), (300, 100), (300, 300), (50, 300), (50, 400)]


def test_both_ends_moved_together_take_the_way_along() -> None:
    design = bent(two(a=(0, 0), b=(0, 400)), (50, 100), (300, 100), (300, 300), (50, 300))
    before = way(design)
    moved = MoveBy((Ref("parts", "a"), Ref("parts", "b")), 24, -16).apply(design)
    assert way(moved) == [(x + 24, y - 16) for x, y in before]
    assert moved.links["l"].bends[0] == Position(x=74, y=84)


def test_one_corner_is_enough_and_beside_a_box_the_link_leaves_it_sideways() -> None:
    design = two(a=(0, 0), b=(400, 300))
    assert way(bent(design, (450, 20))) == [(100, 20), (450, 20), (450, 300)]
    assert way(bent(design, (50, 320))) == [(50, 40), (50, 320), (400, 320)]


def test_corners_turn_round_with_the_link() -> None:
    design = two(a=(0, 0), b=(400, 300))
    link = design.links["l"]
    turned = design.model_copy(update={"links": {"l": link.model_copy(update={"a": "b", "b": "a"})}})
    bends = ((450, 150), (50, 150))
    assert way(bent(turned, *bends)) == way(bent(design, *bends[::-1]))[::-1]


def test_what_stands_in_the_way_of_a_bent_link_is_run_around_until_it_is_gone() -> None:
    """No link over a box, and no bend lost: the way comes back when the box leaves."""
    corners = (50, 100), (300, 100), (300, 300), (50, 300)
    design = bent(two(a=(0, 0), b=(0, 400), c=(600, 0)), *corners)
    free = way(design)
    blocked = Place({Ref("parts", "c"): (260, 180)}).apply(design)
    assert way(blocked) != free
    assert not over_any(lay_out(blocked))
    assert [(p.x, p.y) for p in blocked.links["l"].bends] == list(corners)
    assert way(Place({Ref("parts", "c"): (600, 0)}).apply(blocked)) == free


def test_other_links_keep_off_a_bent_one() -> None:
    """c to d would run level at y = 200, half-way; where a link drawn by hand runs there, it keeps off."""
    design = two(a=(0, 0), b=(600, 400), c=(200, 0), d=(400, 400))
    design = design.model_copy(update={"links": {**design.links, "m": Link(id="m", a="c", b="d", kind="ethernet")}})
    level = way(design, "m")[1][1]
    design = bent(design, (50, round(level)), (650, round(level)))
    assert way(design)[1][1] == round(level)
    assert abs(way(design, "m")[1][1] - level) >= 4


def test_bends_move_with_a_server_and_are_told_from_it() -> None:
    design = arrange(one_server())
    link = next(x for x in design.links.values() if len(way(design, x.id)) == 4)
    start = way(design, link.id)
    inner = [(round(x), round(y) + 4) for x, y in start[1:3]]
    geometry = lay_out(design)
    at = next(k for k in range(geometry.n_connections) if geometry.connection_links(k)[1][0].id == link.id)
    box = int(geometry.parent[geometry.connection_a[at]])
    origin = geometry.origin[box] if box >= 0 else np.zeros(2)
    design = bent(design, *((round(x - origin[0]), round(y - origin[1])) for x, y in inner), link=link.id)
    assert {y for _, y in way(design, link.id)[1:3]} == {y for _, y in inner}
    tops = [p.id for p in design.parts.values() if p.parent is None and p.position is not None]
    before = way(design, link.id)
    moved = MoveBy(tuple(Ref("parts", i) for i in tops), 40, 8).apply(design)
    assert way(moved, link.id) == [(x + 40, y + 8) for x, y in before]


def test_copies_and_groups_take_bends_along() -> None:
    design = bent(two(a=(0, 0), b=(0, 400)), (50, 100), (300, 100), (300, 300), (50, 300))
    both = (Ref("parts", "a"), Ref("parts", "b"))
    copied = Duplicate(both, (1000, 24)).apply(design)
    (copy,) = (x for x in copied.links.values() if x.id != "l")
    assert next((p.x, p.y) for p in copy.bends) == (1050, 124)
    moved = MoveBy(both, 200, 100).apply(design)
    grouped = MakeGroup(both, "g", replicas=2).apply(moved)
    assert grouped.groups["g"].content.links["l"].bends == design.links["l"].bends


def test_a_link_that_meets_elsewhere_gives_its_bends_up() -> None:
    design = bent(two(a=(0, 0), b=(0, 400), c=(600, 0)), (50, 100), (300, 100), (300, 300), (50, 300))
    server = Part.model_validate({"id": "s", "kind": "server", "position": {"x": 900, "y": 0}})
    design = design.model_copy(update={"parts": {**design.parts, "s": server}})
    assert Reconnect("l", "b", "c").apply(design).links["l"].bends == design.links["l"].bends
    inside = SetParent(("a",), "s").apply(design)
    assert inside.links["l"].bends == design.links["l"].bends, "they still meet on the canvas"
    assert not SetParent(("b",), "s").apply(inside).links["l"].bends


def test_files_keep_bends_and_files_without_them_open() -> None:
    design = bent(two(a=(0, 0), b=(0, 400)), (300, 100))
    assert loads(dumps(design)).design.links["l"].bends == (Position(x=300, y=100),)
    assert "bends" not in json.dumps(json.loads(dumps(two(a=(0, 0), b=(0, 400)))))
    with pytest.raises(DocumentError):
        bent(design, *((n, n) for n in range(65)))


def test_from_afar_a_bent_link_runs_the_same_way() -> None:
    geometry = lay_out(bent(two(a=(0, 0), b=(0, 400)), (50, 100), (300, 100), (300, 300), (50, 300)))
    for scale in (None, 0.5, 0.1):
        assert (cut_at(geometry, scale).route[0] == geometry.connection_route[0]).all()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-300, 700), st.integers(-300, 700)), min_size=1, max_size=5),
    st.tuples(st.integers(-200, 600), st.integers(-200, 600)),
)
def test_whatever_is_drawn_runs_along_the_axes_over_no_box_and_moving_equals_laying_out(
    points: list[tuple[int, int]], to: tuple[int, int]
) -> None:
    design = bent(two(a=(0, 0), b=(0, 400), c=(200, 200)), *points)
    geometry = lay_out(design)
    moved = Place({Ref("parts", "c"): to}).apply(design)
    step, whole = update(geometry, moved, diff(design, moved)), lay_out(moved)
    for made in (geometry, whole):
        assert (np.abs(np.diff(made.connection_route, axis=1)).min(axis=2) == 0).all()
    assert not over_any(geometry)
    assert step.connection_route.shape == whole.connection_route.shape
    assert (step.connection_route == whole.connection_route).all()


def test_the_side_is_the_one_the_first_corner_is_at() -> None:
    a, b = np.array([0.0, 0.0, 100.0, 40.0]), np.array([400.0, 0.0, 100.0, 40.0])
    for corner, side_a, side_b in (
        ([(50.0, 200.0), (450.0, 200.0)], BOTTOM, BOTTOM),
        ([(50.0, -80.0), (450.0, -80.0)], TOP, TOP),
        ([(250.0, 20.0)], RIGHT, LEFT),
    ):
        drawn = bent_way(a, b, np.array(corner))
        assert drawn is not None
        assert (drawn.side_a, drawn.side_b) == (side_a, side_b)
    assert bent_way(a, b, np.array([[50.0, 20.0]])) is None, "a corner in a box is none"
