"""Boxes and connections of pictures: what is drawn where, with groups closed and open, and after edits."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from designer.design.address import Address, Ref
from designer.design.arrange import arrange
from designer.design.channels import channel_number
from designer.design.diff import diff
from designer.design.document import Annotation, Design, Group, Link, Part, Position, Size
from designer.design.edits.placement import Place
from designer.design.edits.structure import Delete
from designer.design.elaborate import elaborate
from designer.design.geometry import STATUSES, Geometry, lay_out, opened_in, summary, update
from designer.drawing.compose_connections import width_of
from designer.drawing.loads import boxes_of_parts, links_on_connections
from designer.drawing.polylines import offset, polylines
from designer.interchange.templates import open_design
from designer.sources import Status
from tests.designs import one_server, one_unit, pods, server_block

SERVERS = (("servers", None),)
SERVER_3 = (("servers", 3),)


def test_every_part_and_link_of_a_server_is_drawn_once() -> None:
    design = one_server()
    geometry = lay_out(design)
    assert {r.id for r in geometry.refs} == set(design.parts)
    assert sorted(i for w in range(geometry.n_connections) for i in [geometry.connection_links(w)[1][0].id]) == sorted(
        design.links
    )
    nvlink = geometry.connection_kinds.index("nvlink")
    assert geometry.connection_count[geometry.connection_kind == nvlink].sum() == 8 * 18
    upi = next(w for w in range(geometry.n_connections) if geometry.connection_links(w)[1][0].id == "upi")
    assert geometry.connection_capacity[upi] == pytest.approx(4 * 32e9)


def test_parallel_links_become_one_connection_that_knows_them_and_their_direction() -> None:
    parts = [Part(id="a", kind="gpu"), Part(id="b", kind="gpu")]
    links = [
        Link(id="one", a="a", b="b", kind="nvlink", bandwidth_per_direction="25 GB/s", count=2),
        Link(id="two", a="b", b="a", kind="nvlink"),
        Link(id="other", a="b", b="a", kind="pcie", generation=4, lanes=16),
    ]
    geometry = lay_out(Design.model_validate({"name": "d", "parts": parts, "links": links}))
    connection = geometry.connection_kind.tolist().index(geometry.connection_kinds.index("nvlink"))
    assert geometry.n_connections == 2
    assert geometry.connection_count[connection] == 3
    assert geometry.connection_capacity[connection] == pytest.approx(75e9)
    assert [(r.id, r.reversed) for r in geometry.connection_links(connection)[1]] == [("one", False), ("two", True)]
    assert STATUSES[int(geometry.connection_status[connection])] is Status.ASSUMED


def test_a_closed_group_is_one_card_and_links_into_it_end_at_its_border() -> None:
    geometry = lay_out(one_unit(), frozenset())
    assert [r.id for r in geometry.refs] == ["servers", "leaves", "spines"]
    assert geometry.replicas.tolist() == [32, 8, 4]
    assert geometry.n_connections == 2
    assert sorted(geometry.connection_count.tolist()) == [256, 256]
    assert geometry.kinds[geometry.kind[0]] == "server"
    assert geometry.detail(0).startswith("8 GPUs · 10 NICs")


def test_an_open_group_shows_one_member_and_its_connections() -> None:
    design = one_unit()
    geometry = lay_out(design, frozenset({SERVERS}))
    servers = geometry.box_of((), Ref("groups", "servers"))
    gpu = geometry.box_of(SERVERS, Ref("parts", "gpu3"))
    assert servers is not None
    assert gpu is not None
    assert geometry.is_container[servers]
    assert servers < gpu < geometry.last[servers]
    assert geometry.content_address(servers) == SERVERS
    rails = [w for w in range(geometry.n_connections) if geometry.connection_links(w)[1][0].id == "rails"]
    assert len(rails) == 8
    assert geometry.connection_count[rails].tolist() == [1] * 8


def test_a_member_can_be_shown_by_its_number() -> None:
    geometry = lay_out(one_unit(), frozenset({SERVER_3, (("leaves", None),)}))
    box = geometry.box_of((), Ref("groups", "servers"))
    assert box is not None
    assert geometry.member[box] == 3
    assert geometry.detail(box) == "member 3 of 32"
    assert geometry.box_of(SERVER_3, Ref("parts", "gpu0")) is not None
    assert geometry.box_of(SERVERS, Ref("parts", "gpu0")) is None


def test_groups_open_within_groups_and_wait_until_the_outer_one_is_open() -> None:
    inner = (("pods", None), ("servers", 3))
    design = pods(3)
    assert len(lay_out(design, frozenset({inner}))) == 2
    geometry = lay_out(design, frozenset({inner, (("pods", None),)}))
    box = geometry.box_of(inner, Ref("parts", "nic0"))
    assert box is not None
    assert geometry.depth[box] == 3
    assert geometry.address(box) == (inner, Ref("parts", "nic0"))


def test_the_document_says_which_groups_are_open_unless_the_caller_does() -> None:
    design = one_unit()
    opened = design.model_copy(
        update={"groups": {**design.groups, "spines": design.groups["spines"].model_copy(update={"collapsed": False})}}
    )
    assert opened_in(opened) == {(("spines", None),)}
    assert len(lay_out(opened)) == 4


def test_closed_containers_hide_their_contents_and_take_their_links() -> None:
    design = one_server()
    extra = {**design.parts, "leaf": Part(id="leaf", kind="switch")}
    extra["server"] = extra["server"].model_copy(update={"collapsed": True})
    link = Link(id="out", a="nic0", b="leaf", kind="infiniband")
    geometry = lay_out(design.model_copy(update={"parts": extra, "links": {**design.links, "out": link}}))
    assert [r.id for r in geometry.refs] == ["server", "leaf"]
    assert geometry.n_connections == 1
    assert {int(geometry.connection_a[0]), int(geometry.connection_b[0])} == {0, 1}


def test_given_positions_and_sizes_are_kept() -> None:
    design = Design.model_validate(
        {
            "name": "d",
            "parts": [
                Part(id="s", kind="server", position=Position(x=100, y=40), size=Size(width=700, height=500)),
                Part(id="g", kind="gpu", parent="s", position=Position(x=30, y=90), size=Size(width=200, height=100)),
            ],
        }
    )
    geometry = lay_out(design)
    assert geometry.rect.tolist() == [[100, 40, 700, 500], [130, 130, 200, 100]]
    assert geometry.position(1) == (30, 90)
    assert geometry.at(140, 140) == 1
    assert geometry.at(110, 300) == 0
    assert geometry.at(0, 0) is None


def test_a_container_grows_around_what_sticks_out_at_any_side() -> None:
    parts = [
        Part(id="s", kind="server", position=Position(x=0, y=0)),
        Part(id="a", kind="gpu", parent="s", position=Position(x=-80, y=10)),
        Part(id="b", kind="gpu", parent="s", position=Position(x=900, y=700)),
    ]
    geometry = lay_out(Design.model_validate({"name": "d", "parts": parts}))
    outer = geometry.rect[0]
    assert outer[0] < -80
    assert outer[1] < 10
    assert outer[0] + outer[2] > 900 + 128
    assert [geometry.position(i) for i in range(3)] == [(0, 0), (-80, 10), (900, 700)]


def test_notes_lie_on_top_and_frames_behind() -> None:
    design = one_server(
        annotations=[
            Annotation(id="n", text="look here", position=Position(x=5, y=5)),
            Annotation(id="f", text="rack 1", position=Position(x=0, y=0), style="frame"),
        ]
    )
    geometry = lay_out(design)
    assert geometry.refs[0] == Ref("annotations", "f")
    assert geometry.refs[-1] == Ref("annotations", "n")
    assert geometry.label(0) == "rack 1"
    links, _, _ = links_on_connections(geometry, boxes_of_parts(geometry))
    assert links.tolist() == list(range(len(design.links)))
    assert geometry.kinds[geometry.kind[geometry.connection_a[0]]] not in ("frame", "note")


def test_links_that_end_nowhere_are_left_out_and_the_rest_is_drawn() -> None:
    parts = [Part(id="a", kind="gpu"), Part(id="b", kind="gpu")]
    links = [
        Link(id="x", a="a", b="ghost", kind="nvlink"),
        Link(id="y", a="a", b="no[7]/g", kind="nvlink"),
        Link(id="z", a="a", b="b", kind="nvlink"),
        Link(id="w", a="a", b="a[[", kind="nvlink"),
    ]
    geometry = lay_out(Design.model_validate({"name": "d", "parts": parts, "links": links}))
    assert geometry.n_connections == 1


def test_an_empty_design_has_an_empty_picture() -> None:
    geometry = lay_out(Design(name="empty"))
    assert len(geometry) == geometry.n_connections == 0
    assert geometry.bounds() == (0, 0, 0, 0)


def test_moving_one_part_shares_everything_else() -> None:
    design = arrange(one_server())
    geometry = lay_out(design)
    moved = Place({Ref("parts", "gpu3"): (600, 800)}).apply(design)
    after = update(geometry, moved, diff(design, moved))
    assert after.refs is geometry.refs
    assert after.connections is geometry.connections
    assert np.array_equal(after.rect, lay_out(moved).rect)
    assert np.array_equal(after.connection_route, lay_out(moved).connection_route)
    assert not np.array_equal(after.rect, geometry.rect)


def test_a_member_shown_moves_when_what_all_share_is_edited() -> None:
    design = arrange(one_unit())
    geometry = lay_out(design, frozenset({SERVER_3}))
    moved = Place({Ref("parts", "gpu3"): (100, 300)}, within=("servers",)).apply(design)
    after = update(geometry, moved, diff(design, moved))
    again = lay_out(moved, frozenset({SERVER_3}))
    assert np.array_equal(after.rect, again.rect)
    box = after.box_of(SERVER_3, Ref("parts", "gpu3"))
    assert box is not None
    assert after.position(box) == (100, 300)


def test_hidden_and_harmless_edits_change_no_array() -> None:
    design = arrange(one_unit())
    geometry = lay_out(design, frozenset())
    moved = Place({Ref("parts", "gpu3"): (100, 300)}, within=("servers",)).apply(design)
    assert update(geometry, moved, diff(design, moved)).rect is geometry.rect


@pytest.mark.parametrize("template", ["hgx-h100-8", "dgx1-v100", "vsphere-cluster-4"])
def test_an_edit_of_links_gives_what_laying_out_anew_would(template: str) -> None:
    design = open_design(template)
    _same_after_edits_of_links(design, opened_in(design), range(0, len(design.links), 7))


def test_an_edit_of_links_within_a_group_gives_what_laying_out_anew_would() -> None:
    design = arrange(one_unit())
    for opened in (frozenset(), frozenset({SERVERS}), frozenset({SERVER_3})):
        for link_id in list(design.groups["servers"].content.links)[::5]:
            fewer = Delete((Ref("links", link_id),), within=("servers",)).apply(design)
            _same_picture(lay_out(design, opened), fewer, lay_out(fewer, opened))


def _same_after_edits_of_links(design: Design, opened: frozenset[Address], numbers: range) -> None:
    before, shared = lay_out(design, opened), 0
    for link_id in [list(design.links)[k] for k in numbers]:
        fewer = Delete((Ref("links", link_id),)).apply(design)
        laid = lay_out(fewer, opened)
        _same_picture(before, fewer, laid)
        _same_picture(laid, design, before)
        shared += update(before, fewer, diff(design, fewer)).rect is before.rect
    assert shared, "boxes are shared where no room is needed"


def _same_picture(geometry: Geometry, design: Design, laid: Geometry) -> None:
    after = update(geometry, design, diff(geometry.design, design))
    for field in fields(Geometry):
        if field.name in ("boxes", "connections", "memory"):
            continue
        one, other = getattr(after, field.name), getattr(laid, field.name)
        assert np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other, field.name
    assert after.connections.links == laid.connections.links


def test_structure_is_laid_out_anew() -> None:
    design = arrange(one_server())
    geometry = lay_out(design)
    more = design.model_copy(update={"parts": {**design.parts, "gpu9": Part(id="gpu9", kind="gpu", parent="server")}})
    assert len(update(geometry, more, diff(design, more))) == len(geometry) + 1


@pytest.mark.parametrize("opened", [frozenset[object](), frozenset({SERVERS}), frozenset({SERVER_3, (("spines", 1),)})])
def test_links_of_the_elaborated_design_find_their_connections(opened: frozenset[object]) -> None:
    design = one_unit(servers=4)
    net = elaborate(design)
    geometry = lay_out(design, opened)  # type: ignore[arg-type]
    links, connections, backwards = links_on_connections(geometry, boxes_of_parts(geometry))
    assert len(links)
    for link, connection, turned in zip(links.tolist(), connections.tolist(), backwards.tolist(), strict=True):
        ends = [geometry.connection_a[connection], geometry.connection_b[connection]]
        first = ends[1] if turned else ends[0]
        within, ref = geometry.address(int(first))
        path = net.path(int(net.link_a[link]))
        assert ref.id in path
        assert all(group in path for group, _ in within)
        assert geometry.connection_kinds[geometry.connection_kind[connection]] == net.link(link).kind
    if not opened:
        between = [
            i for i in range(net.n_links) if net.path(int(net.link_a[i]))[:4] != net.path(int(net.link_b[i]))[:4]
        ]
        assert set(between) <= set(links.tolist())


def test_channel_ids_name_their_numbers() -> None:
    net = elaborate(one_unit(servers=3))
    for link in (0, 5, net.n_links // 2, net.n_links - 1):
        assert channel_number(net, f"{net.link_path(link)}:ab") == 2 * link
        assert channel_number(net, f"{net.link_path(link)}:ba") == 2 * link + 1
    for wrong in ("nothing:ab", "servers[99]/upi:ab", "servers[x]/upi:ab", "upi", "servers[0]/upi:no"):
        assert channel_number(net, wrong) is None


def test_connections_touch_the_borders_of_their_boxes() -> None:
    geometry = lay_out(one_server())
    for ends, point in ((geometry.connection_a, 0), (geometry.connection_b, -1)):
        x, y = geometry.connection_route[:, point].T
        left, top, width, height = geometry.rect[ends].T
        at_side = np.isclose(x, left) | np.isclose(x, left + width)
        at_end = np.isclose(y, top) | np.isclose(y, top + height)
        assert (at_side | at_end).all()
        assert ((x >= left - 1e-6) & (x <= left + width + 1e-6) & (y >= top - 1e-6) & (y <= top + height + 1e-6)).all()


def test_elbows_have_right_angles_and_two_strokes_lie_beside_each_other() -> None:
    geometry = lay_out(one_server())
    (elbows,) = (
        g.points
        for g in polylines(np.arange(geometry.n_connections), geometry.connection_route)
        if g.points.shape[1] == 4
    )
    steps = np.diff(elbows, axis=1)
    assert (np.isclose(steps, 0).any(axis=2)).all()
    one, other = (offset(elbows, np.full(len(elbows), d)) for d in (2.0, -2.0))
    assert np.allclose((one + other) / 2, elbows)
    assert (np.linalg.norm(one[:, 0] - other[:, 0], axis=1) >= 4 - 1e-6).all()


def test_connections_get_wider_with_capacity_within_bounds() -> None:
    widths = width_of(np.array([0.0, 1e9, 1e10, 1e11, 1e12, 1e30]))
    assert (np.diff(widths) >= 0).all()
    assert widths[1] < widths[2] < widths[3]
    assert 0.5 <= widths[0] <= widths[-1] <= 8


def test_a_group_is_summed_up_by_what_computes_and_joins() -> None:
    assert summary(server_block()) == "8 GPUs · 10 NICs · 4 NVSwitches"
    group = Group(id="g", replicas=3, content=server_block())
    design = Design.model_validate({"name": "d", "groups": [group]})
    assert summary(design).startswith("24 GPUs · 3 Servers")
