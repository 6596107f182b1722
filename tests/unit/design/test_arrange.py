"""Automatic layout: things are where people look for them, nothing covers anything else, large hubs take no longer."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designer.design.address import Ref
from designer.design.arrange import arrange
from designer.design.document import Block, Design, Group, Link, Part, Position, Wiring
from designer.design.edits.arrange import Arrange
from designer.design.edits.placement import Resize
from designer.design.geometry import Geometry, lay_out
from designer.design.room import Room, largest, overlaps
from designer.design.routing import uncross
from designer.errors import DocumentError
from designer.gui.canvas.editing import move, put_into
from designer.interchange.templates import open_design
from tests.designs import one_server, one_unit, switch_block

# Automatic layout puts things where people look for them.

Boxes = dict[str, np.ndarray]


def _boxes(geometry: Geometry) -> Boxes:
    return {ref.id: geometry.rect[i] for i, ref in enumerate(geometry.refs)}


def _middle(box: np.ndarray) -> np.ndarray:
    return box[:2] + box[2:] / 2


@pytest.fixture(scope="module")
def server() -> Boxes:
    return _boxes(lay_out(one_server()))


def test_sockets_stand_at_the_edge_with_memory_beside_them(server: Boxes) -> None:
    """Both on top, or one on top and one at the bottom, the machine mirrored: whichever is seen larger."""
    for socket in (0, 1):
        cpu, memory = server[f"cpu{socket}"], server[f"memory{socket}"]
        assert _middle(cpu)[1] == _middle(memory)[1]
    tops = {k: b[1] for k, b in server.items() if k != "server" and not k.startswith("memory")}
    first, second = tops.pop("cpu0"), tops.pop("cpu1")
    assert first < min(tops.values())
    assert second == first or second > max(tops.values())
    assert server["cpu0"][0] <= server["cpu1"][0]


def test_switches_stand_between_their_socket_and_their_devices(server: Boxes) -> None:
    for g in range(8):
        switch, gpu, nic = server[f"psw{g}"], server[f"gpu{g}"], server[f"nic{g}"]
        order = [float(_middle(box)[1]) for box in (server[f"cpu{g // 4}"], switch, nic, gpu)]
        assert order == sorted(order, reverse=order[0] > order[-1])
        assert len(set(order)) == 4
        away = [float(np.hypot(*(_middle(nic) - _middle(server[f"psw{k}"])))) for k in range(8)]
        assert int(np.argmin(away)) == g


def test_accelerators_of_a_socket_stand_in_one_row_by_number_and_their_switches_beyond(server: Boxes) -> None:
    for socket in (0, 1):
        gpus = [server[f"gpu{g}"] for g in range(4 * socket, 4 * socket + 4)]
        assert len({float(b[1]) for b in gpus}) == 1
        assert [float(b[0]) for b in gpus] == sorted(float(b[0]) for b in gpus)
        cpu = _middle(server[f"cpu{socket}"])[1]
        for k in range(4):
            assert abs(_middle(server[f"nvsw{k}"])[1] - cpu) > abs(_middle(gpus[0])[1] - cpu)
    switches = [server[f"nvsw{k}"] for k in range(4)]
    assert [float(b[0]) for b in switches] == sorted(float(b[0]) for b in switches)


def test_no_pcie_connection_of_a_server_crosses_another(server: Boxes) -> None:
    geometry = lay_out(one_server())
    pcie = geometry.connection_route[geometry.connection_kind == geometry.connection_kinds.index("pcie")]
    steps = [(w[i], w[i + 1]) for w in pcie for i in range(3) if (w[i] != w[i + 1]).any()]
    upright = [(a[0], *sorted((a[1], b[1]))) for a, b in steps if a[0] == b[0]]
    level = [(a[1], *sorted((a[0], b[0]))) for a, b in steps if a[1] == b[1]]
    crossings = [
        1 for x, y0, y1 in upright for y, x0, x1 in level if x0 < x - 1e-6 < x1 - 2e-6 and y0 < y - 1e-6 < y1 - 2e-6
    ]
    assert not crossings


def test_numa_domains_stand_below_their_socket_with_their_memory_beside_them() -> None:
    parts, links = [Part(id="cpu0", kind="cpu")], []
    for n in range(4):
        parts += [Part(id=f"{k}{n}", kind=k) for k in ("numa", "memory", "gpu")]
        links += [
            Link(id=f"d{n}", a="cpu0", b=f"numa{n}", kind="infinity_fabric"),
            Link(id=f"m{n}", a=f"numa{n}", b=f"memory{n}", kind="memory_bus"),
            Link(id=f"p{n}", a=f"numa{n}", b=f"gpu{n}", kind="pcie"),
        ]
    boxes = _boxes(lay_out(Design.model_validate({"name": "d", "parts": parts, "links": links})))
    for n in range(4):
        numa, memory = boxes[f"numa{n}"], boxes[f"memory{n}"]
        assert numa[1] > boxes["cpu0"][1]
        assert abs(_middle(numa)[1] - _middle(memory)[1]) < 1
        assert 0 < memory[0] - numa[0] - numa[2] < 80
    assert len({float(boxes[f"gpu{n}"][1]) for n in range(4)}) == 1


def test_accelerators_without_a_host_still_stand_in_a_row() -> None:
    parts = [Part(id=f"gpu{n}", kind="gpu") for n in range(11)]
    boxes = _boxes(lay_out(Design.model_validate({"name": "d", "parts": parts})))
    xs = [float(boxes[f"gpu{n}"][0]) for n in range(11)]
    assert xs == sorted(xs)


def test_a_network_has_servers_below_leaves_below_spines() -> None:
    boxes = _boxes(lay_out(one_unit(), frozenset()))
    assert boxes["spines"][1] + boxes["spines"][3] < boxes["leaves"][1]
    assert boxes["leaves"][1] + boxes["leaves"][3] < boxes["servers"][1]


def _flat_network() -> Design:
    parts = [Part(id=f"server{n}", kind="server") for n in range(6)]
    parts += [Part(id=f"leaf{n}", kind="switch") for n in range(3)] + [Part(id="spine0", kind="switch")]
    parts += [Part(id="store", kind="storage")]
    links = [Link(id=f"s{n}", a=f"server{5 - n}", b=f"leaf{n // 2}", kind="ethernet") for n in range(6)]
    links += [Link(id=f"u{n}", a=f"leaf{n}", b="spine0", kind="ethernet") for n in range(3)]
    links += [Link(id="st", a="store", b="leaf0", kind="ethernet")]
    return Design.model_validate({"name": "d", "parts": parts, "links": links})


def test_tiers_are_ordered_so_that_links_do_not_cross() -> None:
    boxes = _boxes(lay_out(_flat_network()))
    leaves = sorted(("leaf0", "leaf1", "leaf2"), key=lambda i: boxes[i][0])
    assert leaves == ["leaf2", "leaf1", "leaf0"]
    assert boxes["spine0"][1] < boxes["leaf0"][1] < boxes["server0"][1]


def test_storage_stands_at_the_side() -> None:
    boxes = _boxes(lay_out(_flat_network()))
    right = max(boxes[f"server{n}"][0] + boxes[f"server{n}"][2] for n in range(6))
    assert boxes["store"][0] > right
    assert boxes["store"][1] >= boxes["leaf0"][1]


def test_many_servers_stand_in_a_field_not_in_one_line() -> None:
    parts = [Part(id=f"server{n}", kind="server") for n in range(64)]
    geometry = lay_out(Design.model_validate({"name": "d", "parts": parts}))
    _, _, width, height = geometry.bounds()
    assert 1 < width / height < 5
    assert len({float(y) for y in geometry.rect[:, 1]}) > 3


def test_accelerator_switches_of_a_rack_stand_below_its_trays() -> None:
    tray = Block.model_validate({"parts": [Part(id="t", kind="server"), Part(id="g", kind="gpu", parent="t")]})
    switches = Block.model_validate({"parts": [Part(id="a", kind="nvswitch"), Part(id="b", kind="nvswitch")]})
    design = Design.model_validate(
        {
            "name": "d",
            "groups": [Group(id="chips", replicas=9, content=switches), Group(id="trays", replicas=18, content=tray)],
            "wirings": [Wiring(id="w", pattern="mesh", a="trays[*]/g", b="chips[*]/*", kind="nvlink")],
        }
    )
    boxes = _boxes(lay_out(design, frozenset()))
    assert boxes["chips"][1] > boxes["trays"][1] + boxes["trays"][3]


def test_opening_a_group_and_closing_it_brings_everything_back() -> None:
    design = one_unit()
    closed = lay_out(design, frozenset())
    opened = lay_out(design, frozenset({(("servers", None),)}))
    for box, ref in enumerate(closed.refs):
        other = opened.box_of((), ref)
        assert other is not None
        assert opened.position(other) == closed.position(box)


def test_arranging_as_an_edit_places_groups_inside_too() -> None:
    design = Arrange().apply(one_unit())
    assert all(g.position is not None for g in design.groups.values())
    assert all(p.position is not None for p in design.groups["servers"].content.parts.values())
    assert Arrange(only_missing=True).apply(design) is design
    assert Arrange().label == "Arrange everything"


def test_arranging_one_container_leaves_the_rest_alone() -> None:
    design = arrange(Design.model_validate({**dict(one_server()), "name": "d"}))
    extra = {**design.parts, "loose": Part(id="loose", kind="gpu")}
    design = design.model_copy(update={"parts": extra})
    shaken = design.parts["gpu0"].model_copy(update={"position": None})
    done = Arrange(containers=("server",)).apply(design.model_copy(update={"parts": {**extra, "gpu0": shaken}}))
    assert done.parts["gpu0"].position == design.parts["gpu0"].position
    assert done.parts["loose"].position is None
    assert done.parts["server"] is design.parts["server"]
    with pytest.raises(DocumentError):
        Arrange(containers=("nobody",)).apply(design)


def test_contents_of_closed_containers_are_arranged_for_when_they_are_opened() -> None:
    design = one_server()
    closed = design.parts["server"].model_copy(update={"collapsed": True})
    done = arrange(design.model_copy(update={"parts": {**design.parts, "server": closed}}))
    assert all(p.position is not None for p in done.parts.values())


def test_a_member_of_its_own_is_arranged_as_well() -> None:
    design = one_unit()
    group = design.groups["leaves"].model_copy(update={"exceptions": {2: switch_block()}})
    done = arrange(design.model_copy(update={"groups": {**design.groups, "leaves": group}}))
    assert done.groups["leaves"].exceptions[2].parts["switch"].position is not None
    assert lay_out(done, frozenset({(("leaves", 2),)})).box_of((("leaves", 2),), Ref("parts", "switch")) is not None


# Thousands of parts on one hub are placed and joined in steps that grow as they do, not as their pairs.


def hub(count: int) -> Design:
    """A switch with so many servers, of two sizes."""
    kinds = ("server", "storage_system")
    parts = {f"h{k}": Part(id=f"h{k}", kind=kinds[k % 7 == 0]) for k in range(count)}
    links = {f"l{k}": Link(id=f"l{k}", a="hub", b=f"h{k}", kind="ethernet") for k in range(count)}
    return Design(name="hub", parts={"hub": Part(id="hub", kind="switch"), **parts}, links=links)


def steps(work: Callable[[], object]) -> int:
    """How many functions are called, those of Python and those in C."""
    count = 0

    def seen(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def test_four_times_the_parts_take_four_times_the_steps_to_place() -> None:
    """Summing rows again for each part took ten times as many."""
    few, many = hub(1500), hub(6000)
    arrange(hub(10))
    assert steps(lambda: arrange(many)) < 5 * steps(lambda: arrange(few))


def test_crossings_of_links_too_many_to_change_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each pair of 20,000 links would be 400 million places to look at, in memory at the same time."""
    counted: list[int] = []
    original = uncross.crossed

    def crossed(ways: uncross.Float) -> tuple[uncross.Int, int]:
        counted.append(len(ways))
        return original(ways)

    monkeypatch.setattr(uncross, "crossed", crossed)
    geometry = lay_out(hub(600))
    assert all(count <= uncross.MOST_UNCROSSED for count in counted)
    assert len(geometry.connections.a) == 600


# Nothing lies on anything else after a move, a nudge, a change of container or of size, wherever to.


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
