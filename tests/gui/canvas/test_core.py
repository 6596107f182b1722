"""The Qt-free core: ways, cuts, loads on connections, snapping, keyboard navigation, composed batches."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.design.address import Ref
from designer.design.elaborate import elaborate
from designer.design.geometry import lay_out
from designer.drawing.batches import Boxes, Label, Labels, Lines, Rects, sliced
from designer.drawing.compose_connections import width_of
from designer.drawing.compose_text import SMALLEST, lightness
from designer.drawing.compose_values import amount, values
from designer.drawing.cut import cut_at, stops
from designer.drawing.display_list import DisplayList
from designer.drawing.levels import Level
from designer.drawing.loads import (
    ChannelState,
    connection_map,
    connections_of_channels,
    link_numbers,
    nothing,
    with_binding,
    with_loads,
    with_route,
)
from designer.drawing.picture import compose
from designer.drawing.polylines import (
    along,
    around,
    clipped,
    corners,
    distances,
    offset,
    pieces,
    polylines,
    straights,
    stretched,
)
from designer.drawing.theme import DARK, LIGHT
from designer.drawing.view_state import Frame, ViewState
from designer.engine.network.partition import numbered
from designer.gui.canvas.compose_overlay import connection_text
from designer.gui.canvas.hit import Area, box_at, inside, pick
from designer.gui.canvas.navigate import following, nearest
from designer.gui.canvas.snapping import snapped
from tests import designs

WHOLE = ((0.0, 0.0, 1600.0, 900.0),)


@pytest.fixture(scope="module")
def view_state() -> ViewState:
    """One server, nothing known about it."""
    geometry = lay_out(designs.one_server())
    return ViewState(geometry, nothing(geometry), LIGHT)


# ---- ways


@given(st.lists(st.tuples(*[st.floats(-500, 500)] * 8), min_size=1, max_size=20))
def test_parallel_strokes_keep_their_distance(rows: list[tuple[float, ...]]) -> None:
    route = np.array(rows).reshape(-1, 4, 2)
    route[:, 1:] = route[:, -1:]
    for group in polylines(np.arange(len(rows)), route):
        length = np.hypot(*(group.points[:, -1] - group.points[:, 0]).T)
        moved = offset(group.points, np.full(len(group.points), 3.0))
        gap = np.hypot(*(moved[:, 0] - group.points[:, 0]).T)
        assert gap[length > 1e-3] == pytest.approx(3.0)


def test_elbows_keep_their_distance_at_corners() -> None:
    points = np.array([[[0.0, 0.0], [0.0, 50.0], [80.0, 50.0], [80.0, 90.0]]])
    moved = offset(points, np.array([4.0]))
    assert np.abs(moved - points).max() == pytest.approx(4.0)
    # every piece stays level
    step = np.diff(moved, axis=1)[0]
    assert np.minimum(np.abs(step[:, 0]), np.abs(step[:, 1])).max() == pytest.approx(0.0)


def test_the_nearest_point_and_the_middle_of_a_way() -> None:
    points = np.array([[[0.0, 0.0], [100.0, 0.0], [100.0, 100.0]]])
    assert distances(pieces(points), 50.0, 7.0).min() == pytest.approx(7.0)
    assert distances(pieces(points), 130.0, 140.0).min() == pytest.approx(50.0)
    assert along(points, 0.5)[0].tolist() == [100.0, 0.0]
    assert along(points, 0.25)[0].tolist() == [50.0, 0.0]


def test_width_grows_with_capacity() -> None:
    widths = width_of(np.array([1e6, 1e9, 31.5e9, 450e9, 1e15]))
    assert (np.diff(widths) >= 0).all()
    assert widths[1] < widths[2] < widths[3]


def test_a_way_is_found_all_along(view_state: ViewState) -> None:
    geometry = view_state.geometry
    m = geometry.n_connections
    owner, lines = straights(geometry.connection_route)
    assert (np.diff(owner) >= 0).all()
    assert (np.bincount(owner, minlength=m) == corners(geometry.connection_route) - 1).all()
    assert (around(lines)[:, 2:] >= 0).all()
    for group in polylines(np.arange(m), geometry.connection_route):
        for connection, way in zip(group.connections.tolist(), group.points, strict=True):
            for x, y in way.tolist():
                assert connection in view_state.connections_touching(x - 1, y - 1, 2, 2)


def test_a_stretched_way_ends_where_its_boxes_are_and_turns_at_right_angles() -> None:
    route = np.array(
        [[[0.0, 0.0], [0.0, 40.0], [80.0, 40.0], [80.0, 90.0]], [[0.0, 0.0], [9.0, 0.0], [9.0, 0.0], [9.0, 0.0]]]
    )
    same = stretched(route, np.full((2, 2), 5.0), np.full((2, 2), 5.0))
    assert np.allclose(same, route + 5)
    moved = stretched(route, np.zeros((2, 2)), np.array([[10.0, 20.0], [10.0, 20.0]]))
    assert moved[:, -1].tolist() == [[90.0, 110.0], [19.0, 20.0]]
    assert (np.abs(np.diff(moved, axis=1)).min(axis=2) < 1e-9).all()
    assert moved[0, 1, 1] == 40.0, "it turns where it did"


@given(st.lists(st.tuples(*[st.floats(-300, 300)] * 4), min_size=1, max_size=40))
def test_lines_are_cut_to_a_rectangle(rows: list[tuple[float, ...]]) -> None:
    lines = np.array(rows)
    cut = clipped(lines, -100, -50, 100, 50)
    assert (np.abs(cut[:, 0::2]) <= 100 + 1e-6).all()
    assert (np.abs(cut[:, 1::2]) <= 50 + 1e-6).all()
    for line in lines:
        t = np.linspace(0, 1, 101)[:, None]
        points = line[:2] + (line[2:] - line[:2]) * t
        inside_points = points[(np.abs(points[:, 0]) <= 100) & (np.abs(points[:, 1]) <= 50)]
        for x, y in inside_points[::10]:
            assert distances(cut, x, y).min() < 1e-6


# ---- cuts


def test_from_afar_containers_stand_for_what_they_hold() -> None:
    unit = designs.one_unit(4)
    opened = frozenset({(("servers", None),)})
    geometry = lay_out(unit, opened)
    near = cut_at(geometry, None)
    assert sorted(near.connections.tolist()) == list(range(geometry.n_connections))
    far = cut_at(geometry, 0.01)
    assert len(far) < len(near)
    # what is inside of a closed container is not drawn, what leaves it is drawn once for each pair
    pairs = set(zip(far.a.tolist(), far.b.tolist(), strict=True))
    assert len(pairs) == len(far)
    stop = stops(geometry, 0.01)
    for connection in range(geometry.n_connections):
        a, b = stop[geometry.connection_a[connection]], stop[geometry.connection_b[connection]]
        assert (far.of_connection[connection] < 0) == (a == b)
    capacity = far.total(geometry.connection_capacity)
    crossing = far.of_connection >= 0
    assert capacity.sum() == pytest.approx(geometry.connection_capacity[crossing].sum())


@given(st.floats(0.001, 2.0))
def test_every_box_has_one_that_stands_for_it(scale: float) -> None:
    geometry = lay_out(designs.one_unit(4), frozenset({(("servers", None),)}))
    stop = stops(geometry, scale)
    for box, other in enumerate(stop.tolist()):
        assert stop[other] == other
        assert other <= box < geometry.last[other] or other == box


# ---- loads


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.booleans())
def test_loads_of_classes_look_as_those_of_every_channel(seed: int, n: int, unknown: bool) -> None:
    """Some channels share a load and are stated once; the picture is the one of all channels one by one."""
    geometry = lay_out(designs.one_unit(3), frozenset({(("servers", None),)}))
    found = connection_map(geometry)
    random = np.random.default_rng(seed)
    of = random.integers(0, n, 2 * found.n_links)
    used = random.random(n)
    load = used * random.choice([10e9, 50e9], n)
    if unknown:
        used[0] = np.nan
    classes = numbered(of, n)
    stated = ChannelState(load[of[classes.first]], used[of[classes.first]], classes=classes)
    every = ChannelState(load[of], used[of])
    one, other = (with_loads(nothing(geometry), geometry, found, state) for state in (stated, every))
    for name in ("load", "limit", "used", "heat", "box_used"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert stated.same(every)
    assert every.same(stated)
    assert not stated.same(ChannelState(load[of] + 1.0, used[of]))


def test_a_connection_shows_the_busiest_channel_of_each_direction() -> None:
    design = designs.one_unit(3)
    geometry = lay_out(design, frozenset({(("servers", None),)}))
    found = connection_map(geometry)
    net = elaborate(design)
    assert found.net is net
    # every link inside the servers is shown by the one member that is drawn
    assert len(found.links) == net.n_links
    used = np.zeros(2 * net.n_links)
    part = net.index_of("servers[2]/gpu0")
    link = int(np.flatnonzero((net.link_a == net.index_of("servers[2]/psw0")) & (net.link_b == part))[0])
    used[2 * link + 1] = 0.97
    live = with_loads(nothing(geometry), geometry, found, ChannelState(used * 10e9, used))
    (connection,) = found.connections_of(np.array([link])).tolist()
    assert live.used[connection].tolist() == [0.0, 0.97]
    assert live.heat[connection].tolist() == [0, 5]
    assert live.limit[connection, 1] == pytest.approx(10e9)
    gpu = geometry.box_of((("servers", None),), Ref("parts", "gpu0"))
    assert live.box_used[gpu] == pytest.approx(0.97)
    assert amount(float(live.load[connection, 1]), float(live.limit[connection, 1])) == "9.7 / 10 GB/s"


def test_direction_follows_the_connection_not_the_link() -> None:
    design = designs.one_server()
    turned = {**design.links, "upi": design.links["upi"].model_copy(update={"a": "cpu1", "b": "cpu0"})}
    for links in (design.links, turned):
        one = design.model_copy(update={"links": links})
        geometry = lay_out(one)
        found, net = connection_map(geometry), elaborate(one)
        link = list(one.links).index("upi")
        used = np.zeros(2 * net.n_links)
        used[2 * link] = 0.5
        live = with_loads(nothing(geometry), geometry, found, ChannelState(used, used))
        (connection,) = found.connections_of(np.array([link])).tolist()
        source = geometry.box_of((), Ref("parts", one.links["upi"].a))
        direction = 0 if geometry.connection_a[connection] == source else 1
        assert live.used[connection, direction] == 0.5
        assert live.used[connection, 1 - direction] == 0.0


def test_channel_ids_reach_into_groups_and_wirings() -> None:
    design = designs.pods(2)
    geometry = lay_out(design)
    found, net = connection_map(geometry), elaborate(design)
    rng = np.random.default_rng(1)
    links = rng.integers(0, net.n_links, 60).tolist()
    ids = [f"{net.link_path(i)}:ab" for i in links]
    numbers = link_numbers(found, ids)
    assert [numbers[i.rpartition(":")[0]] for i in ids] == links
    assert link_numbers(found, ["nowhere:ab", "pods[9]/up[0]:ab", "pods[0]/up[99999]:ab"]) == {}


def test_a_link_inside_a_closed_card_binds_at_the_card() -> None:
    design = designs.pods(2)
    geometry = lay_out(design)
    found, net = connection_map(geometry), elaborate(design)
    inside = int(np.flatnonzero(found.connections_of(np.arange(net.n_links)) < 0)[0])
    ids = [f"{net.link_path(inside)}:ab"]
    live = with_binding(nothing(geometry), found, link_numbers(found, ids), ids)
    assert not live.bottleneck.any()
    (card,) = np.flatnonzero(live.box_bottleneck).tolist()
    assert geometry.is_group[card]


def test_binding_and_route_light_their_connections() -> None:
    geometry = lay_out(designs.one_server())
    found = connection_map(geometry)
    ids = ["cpu0--psw1:ab", "psw1--gpu1:ba"]
    numbers = link_numbers(found, ids)
    live = with_binding(nothing(geometry), found, numbers, ids[:1])
    assert live.bottleneck.sum() == 1
    live = with_binding(live, found, {}, (), [("gpu1", 8), ("nowhere", 1)])
    assert not live.bottleneck.any()
    assert {geometry.refs[i].id: int(live.box_bottleneck[i]) for i in np.flatnonzero(live.box_bottleneck)} == {
        "gpu1": 8
    }
    live = with_route(live, geometry, found, numbers, ids)
    assert live.on_route is not None
    assert live.box_on_route is not None
    assert set(np.flatnonzero(live.on_route).tolist()) == set(connections_of_channels(found, numbers, ids).tolist())
    lit = {geometry.refs[i].id for i in np.flatnonzero(live.box_on_route)}
    assert lit == {"cpu0", "psw1", "gpu1"}
    assert with_route(live, geometry, found, numbers, ()).on_route is None


def test_a_container_is_coloured_by_its_busier_parts() -> None:
    geometry = lay_out(designs.one_server())
    found = connection_map(geometry)
    net = elaborate(designs.one_server())
    used = np.full(2 * net.n_links, 0.1)
    calm = with_loads(nothing(geometry), geometry, found, ChannelState(used, used)).box_used
    used[:40] = 0.9
    busy = with_loads(nothing(geometry), geometry, found, ChannelState(used, used)).box_used
    server = geometry.box_of((), Ref("parts", "server"))
    assert calm[server] == pytest.approx(0.1)
    assert 0.1 < busy[server] < 0.9


def test_numbers_that_belong_to_another_design_are_not_shown() -> None:
    geometry = lay_out(designs.one_server())
    used = np.full(6, 0.5)
    live = with_loads(nothing(geometry), geometry, connection_map(geometry), ChannelState(used, used))
    assert not live.known


# ---- snapping and navigation


def test_edges_pull_and_the_grid_takes_the_rest() -> None:
    others = np.array([[100.0, 0.0, 50.0, 50.0]])
    found = snapped((0.0, 203.0, 40.0, 40.0), 97.0, 0.0, others, 6.0)
    assert found.dx == 100.0
    assert 203.0 + found.dy == 200.0
    assert found.guides
    free = snapped((0.0, 0.0, 40.0, 40.0), 301.0, 299.0, others, 6.0)
    assert (free.dx, free.dy) == (304.0, 296.0)
    assert not free.guides


@given(st.integers(-500, 500), st.integers(-500, 500))
def test_a_drag_never_ends_further_off_than_it_must(dx: int, dy: int) -> None:
    others = np.array([[100.0, 30.0, 50.0, 50.0], [-70.0, 200.0, 90.0, 20.0]])
    found = snapped((3.0, 5.0, 40.0, 40.0), dx, dy, others, 6.0)
    assert abs(found.dx - dx) <= 6.0
    assert abs(found.dy - dy) <= 6.0


def test_arrows_reach_every_card(view_state: ViewState) -> None:
    cards = set(np.flatnonzero(view_state.boxes.is_card).tolist())
    reached, todo = set[int](), [min(cards)]
    while todo:
        box = todo.pop()
        if box not in reached:
            reached.add(box)
            todo += [nearest(view_state, box, d) for d in ("left", "right", "up", "down")]
    assert cards <= reached


def test_the_order_of_the_outline_goes_round(view_state: ViewState) -> None:
    count = len(view_state.geometry)
    at, seen = following(view_state, None), list[int]()
    for _ in range(count):
        seen.append(at)
        at = following(view_state, at)
    assert sorted(seen) == list(range(count))
    assert at == seen[0]
    assert following(view_state, seen[0], back=True) == seen[-1]


# ---- hits


def test_the_innermost_thing_is_hit(view_state: ViewState) -> None:
    geometry = view_state.geometry
    for box in range(len(geometry)):
        x, y, w, h = geometry.rect[box].tolist()
        hit = pick(view_state, x + w / 2, y + h / 2, 1.0, Level.NEAR)
        if view_state.boxes.is_card[box]:
            assert hit == (Area.CARD, box)
            assert geometry.at(x + w / 2, y + h / 2) == box
    server = geometry.box_of((), Ref("parts", "server"))
    assert server is not None
    x, y, w, _ = geometry.rect[server].tolist()
    assert pick(view_state, x + 12, y + 12, 1.0, Level.NEAR) == (Area.FOLD, server)
    assert pick(view_state, x + w / 2, y + 10, 1.0, Level.NEAR) == (Area.HEADER, server)
    assert pick(view_state, x - 50, y - 50, 1.0, Level.NEAR).area is Area.NOTHING
    # too small to be seen: the container is meant
    gpu = geometry.rect[geometry.box_of((), Ref("parts", "gpu0"))]
    assert box_at(view_state, gpu[0] + 1, gpu[1] + 1, 0.01) == server


def test_connections_and_their_ends_are_hit(view_state: ViewState) -> None:
    geometry = view_state.geometry
    many = corners(geometry.connection_route).tolist()
    for connection, (way, count) in enumerate(zip(geometry.connection_route, many, strict=True)):
        # where a line is shared, each link has a place of its own near its ends
        ends = [(way[0] + way[1]) / 2, (way[count - 2] + way[count - 1]) / 2]
        places = [along(way[None], 0.5)[0].tolist(), *(end.tolist() for end in ends)]
        hits = [pick(view_state, x, y, 1.0, Level.NEAR, ends=False) for x, y in places]
        assert all(hit.area is Area.CONNECTION for hit in hits)
        assert connection in [hit.number for hit in hits]
    areas = {
        pick(view_state, *geometry.connection_route[w, 0].tolist(), 4.0, Level.NEAR).area
        for w in range(geometry.n_connections)
    }
    assert areas <= {Area.CONNECTION_A, Area.CONNECTION_B, Area.CARD, Area.CONNECTION}


def test_the_rubber_band_takes_what_it_encloses_or_touches(view_state: ViewState) -> None:
    geometry = view_state.geometry
    x, y, w, h = geometry.rect[geometry.box_of((), Ref("parts", "gpu3"))].tolist()
    names = lambda boxes: {geometry.refs[i].id for i in boxes.tolist()}  # noqa: E731
    assert names(inside(view_state, x - 1, y - 1, w + 2, h + 2, touch=False)) == {"gpu3"}
    assert names(inside(view_state, x - 1, y - 1, w / 2, h / 2, touch=False)) == set()
    assert names(inside(view_state, x - 1, y - 1, w / 2, h / 2, touch=True)) == {"gpu3"}
    # all: the container represents what it holds
    assert names(inside(view_state, -1e5, -1e5, 2e5, 2e5, touch=True)) == {"server"}


# ---- batches


def test_slices_are_the_whole() -> None:
    rects = Rects(np.arange(4000.0).reshape(-1, 4), "#000000")
    labels = Labels(tuple(Label(0, 0, 9, 9, str(i), 9, "#000000") for i in range(50)))
    pieces = list(sliced([rects, labels], 40.0))
    assert len(pieces) > 10
    assert np.concatenate([p.rects for p in pieces if isinstance(p, Rects)]).tolist() == rects.rects.tolist()
    assert sum((p.labels for p in pieces if isinstance(p, Labels)), ()) == labels.labels


@pytest.mark.parametrize("scale", [0.004, 0.02, 0.08, 0.2, 0.3, 0.5, 0.8, 1.0, 2.0])
def test_text_is_never_too_small_to_read(view_state: ViewState, scale: float) -> None:
    level = Level.NEAR if scale >= 0.72 else Level.MIDDLE if scale >= 0.28 else Level.FAR
    for batch in compose(view_state, Frame(scale, 20, 20, level, 1.0, round(np.log2(scale))), WHOLE):
        if isinstance(batch, Labels):
            assert all(label.px >= SMALLEST for label in batch.labels)
            assert all(label.width > 0 for label in batch.labels)


def test_values_never_cover_each_other_and_do_not_depend_on_the_region(view_state: ViewState) -> None:
    geometry = view_state.geometry
    found = connection_map(geometry)
    used = np.ones(2 * found.n_links)
    full = ViewState(geometry, with_loads(nothing(geometry), geometry, found, ChannelState(used * 3e10, used)), LIGHT)
    frame = Frame(1.0, 0, 0, Level.NEAR)
    whole = values(full, frame, ((-5000.0, -5000.0, 10_000.0, 10_000.0),))
    plates, labels = whole
    assert isinstance(plates, Boxes)
    assert isinstance(labels, Labels)
    assert 3 <= len(labels) < geometry.n_connections
    assert all(label.text == "30 / 30 GB/s" for label in labels.labels)
    part = values(full, frame, ((0.0, 0.0, 400.0, 400.0),))
    assert {label[:5] for b in part if isinstance(b, Labels) for label in b.labels} <= {x[:5] for x in labels.labels}
    assert not values(full, Frame(0.4, 0, 0, Level.MIDDLE), WHOLE)


def test_assumed_capacities_are_dashed(view_state: ViewState) -> None:
    batches = compose(view_state, Frame(1.0, 0, 0, Level.NEAR), ((-1e4, -1e4, 3e4, 3e4),))
    dashed = sum(len(b) for b in batches if isinstance(b, Lines) and b.dash)
    assert (dashed > 0) == bool(view_state.loads.assumed.any())
    design = designs.one_server()
    link = design.links["upi"].model_copy(update={"bandwidth_per_direction": None})
    geometry = lay_out(design.model_copy(update={"links": {**design.links, "upi": link}}))
    assumed = ViewState(geometry, nothing(geometry), LIGHT)
    more = compose(assumed, Frame(1.0, 0, 0, Level.NEAR), ((-1e4, -1e4, 3e4, 3e4),))
    assert sum(len(b) for b in more if isinstance(b, Lines) and b.dash) > dashed
    assert "assumed" in connection_text(assumed, int(np.flatnonzero(assumed.loads.assumed)[0]))


def test_a_display_list_gives_what_composing_gives(view_state: ViewState) -> None:
    frame = Frame(1.0, 40, 30, Level.NEAR)
    region = (-400.0, -300.0, 2200.0, 1500.0)
    display_list = DisplayList(frame, region, iter([compose(view_state, frame, (region,))]))
    while not display_list.grow():
        pass
    moved = frame.moved(-60, 25)
    assert display_list.covers(moved, WHOLE)
    assert not display_list.covers(frame.moved(9000, 0), WHOLE)
    assert not display_list.covers(Frame(1.1, 40, 30, Level.NEAR), WHOLE)
    dx, dy = display_list.shift(moved)
    assert (dx, dy) == (-60, 25)
    here = {tuple(r) for b in display_list.cut(moved, WHOLE) if isinstance(b, Boxes) for r in b.rects.tolist()}
    for batch in compose(view_state, moved, WHOLE):
        if isinstance(batch, Boxes):
            for x, y, w, h in batch.rects.tolist():
                if x < 1600 and y < 900 and x + w > 0 and y + h > 0:
                    assert (x - dx, y - dy, w, h) in here


def test_both_looks_tell_utilisation_by_lightness() -> None:
    for theme, sign in ((LIGHT, -1), (DARK, 1)):
        light = [lightness(c) for c in theme.heat]
        assert all(sign * (b - a) > 0 for a, b in itertools.pairwise(light))
