"""One gesture connects a server, a rack or a group by all its NICs, and states what it makes and leaves out."""

from __future__ import annotations

import pytest

from designer.catalog.loader import load_catalog
from designer.design.address import Ref
from designer.design.document import Design, Link
from designer.design.edits.links import AddLinks
from designer.design.edits.structure import MakeGroup
from designer.design.elaborate import elaborate
from designer.design.geometry import Geometry, lay_out
from designer.design.port_usage import overfull
from designer.drawing.compose_values import _to_groups
from designer.drawing.loads import nothing
from designer.drawing.theme import LIGHT
from designer.drawing.view_state import ViewState
from designer.gui.canvas import bulk
from designer.gui.canvas.adding import add, item_of
from designer.gui.canvas.bulk import NicRule, connect_all, rules_of
from designer.interchange.templates import open_design


def put(design: Design, kind: str, type_id: str) -> Design:
    geometry = lay_out(design)
    landing = add(geometry, item_of(kind, load_catalog().get(type_id)), -1, 0, 0)
    assert landing.offer.edit is not None
    return landing.offer.edit.apply(design)


def pair(servers: int = 1, switch: str = "switch/nvidia/qm8700") -> tuple[Design, Geometry, list[int], int]:
    design = Design(name="pair")
    for _ in range(servers):
        design = put(design, "server", "server/nvidia/dgx-a100")
    design = put(design, "switch", switch)
    geometry = lay_out(design)
    boxes = [geometry.box_of((), Ref("parts", p.id)) for p in design.parts.values() if p.kind == "server"]
    target = geometry.box_of((), Ref("parts", "switch0"))
    assert target is not None
    return design, geometry, [b for b in boxes if b is not None], target


def test_two_servers_are_connected_by_all_their_nics() -> None:
    design, geometry, servers, switch = pair(2)
    offer = connect_all(geometry, servers, switch)
    assert offer.edit is not None
    # eight NICs next to GPUs and two of the host, in each of two servers
    assert offer.note.startswith("20 cables of InfiniBand at 200 Gb/s, all NICs")
    made = offer.edit.apply(design)
    assert len(made.links) == len(design.links) + 20
    assert not list(overfull(made))
    # all ports of the NICs next to GPUs are in use now
    again = connect_all(lay_out(made), servers, switch, NicRule.NEAR)
    assert again.edit is None
    assert "in use" in again.reason


@pytest.mark.parametrize("switch", ["switch/nvidia/qm8700", "switch/nvidia/sn2700", "switch/nvidia/qm9700"])
def test_nics_of_one_type_are_asked_together_and_get_what_each_alone_gets(
    monkeypatch: pytest.MonkeyPatch, switch: str
) -> None:
    """Also where cables hang at some, and where one is not as its type says."""
    design, _, _, _ = pair(3, switch)
    joined = AddLinks((Link(id="x", a="nic2", b="switch0", kind="infiniband"),)).apply(design)
    parts = {**joined.parts, "nic1": joined.parts["nic1"].model_copy(update={"type": "nic/nvidia/connectx-5"})}
    mixed = joined.model_copy(update={"parts": parts})
    for one in (design, joined, mixed):
        geometry = lay_out(one)
        boxes = {p.id: geometry.box_of((), Ref("parts", p.id)) for p in one.parts.values()}
        servers = [box for name, box in boxes.items() if one.parts[name].kind == "server" and box is not None]
        target = boxes["switch0"]
        assert target is not None
        quick = connect_all(geometry, servers, target)
        with monkeypatch.context() as patched:
            patched.setattr(bulk, "_is_plain", lambda block, end: False)
            slow = connect_all(geometry, servers, target)
        assert (quick.note, quick.reason, quick.kinds) == (slow.note, slow.reason, slow.kinds)
        assert (quick.edit is None) == (slow.edit is None)
        if quick.edit is not None and slow.edit is not None:
            assert quick.edit.apply(one).links == slow.edit.apply(one).links


def test_rules_choose_among_nics() -> None:
    design, geometry, servers, switch = pair(1)
    assert rules_of(geometry, servers) == tuple(NicRule)
    counts: dict[NicRule, int] = {}
    for rule in NicRule:
        edit = connect_all(geometry, servers, switch, rule).edit
        assert edit is not None
        counts[rule] = len(edit.apply(design).links) - len(design.links)
    assert counts == {NicRule.ALL: 10, NicRule.NEAR: 8, NicRule.OTHER: 2}


def test_what_has_no_port_left_is_told() -> None:
    # 40 ports take four servers of ten NICs and none of the fifth
    design, geometry, servers, switch = pair(5)
    offer = connect_all(geometry, servers, switch)
    assert offer.edit is not None
    assert "40 cables" in offer.note
    assert "10 left out" in offer.note
    assert "no port left" in offer.note
    assert not list(overfull(offer.edit.apply(design)))


def test_a_group_of_servers_goes_to_a_group_of_leaves_rail_by_rail() -> None:
    design = open_design("su-h100-32")
    bare = design.model_copy(update={"wirings": {}})
    geometry = lay_out(bare)
    servers, leaves = (geometry.box_of((), Ref("groups", g)) for g in ("servers", "leaves"))
    assert servers is not None
    assert leaves is not None
    offer = connect_all(geometry, [servers], leaves, NicRule.NEAR)
    assert offer.edit is not None
    # eight NICs next to GPUs in each of 32 servers
    assert offer.note.startswith("256 cables")
    assert "NIC i to switch i" in offer.note
    made = elaborate(offer.edit.apply(bare))
    drawn = elaborate(bare.model_copy(update={"wirings": {"rails": design.wirings["rails"]}}))

    def ends(net: object) -> set[tuple[str, str]]:
        pairs = zip(net.link_a, net.link_b, strict=True)  # type: ignore[attr-defined]
        found = (sorted((net.path(a), net.path(b))) for a, b in pairs)  # type: ignore[attr-defined]
        return {(a, b) for a, b in found if "leaves" in a or "leaves" in b}

    assert ends(made) == ends(drawn)


def test_what_cannot_be_connected_says_why() -> None:
    _, geometry, servers, _ = pair(2)
    assert connect_all(geometry, servers[:1], servers[1]).reason == "connect servers to a switch or a storage system"
    # a fabric of Ethernet only: these NICs speak both, so it fits; a server without NICs does not
    empty = Design(name="x", parts=[{"id": "s", "kind": "server"}, {"id": "w", "kind": "switch"}])  # type: ignore[arg-type]
    bare = lay_out(empty)
    a, b = bare.box_of((), Ref("parts", "s")), bare.box_of((), Ref("parts", "w"))
    assert a is not None
    assert b is not None
    assert connect_all(bare, [a], b).reason == "there is no NIC in it"


def test_the_count_on_links_of_two_speeds_tells_both() -> None:
    """A group of DGX H100 at one switch: NICs of 400 and of 200 Gb/s, of which the mean is neither."""
    design = put(put(Design(name="pod"), "server", "server/nvidia/dgx-h100"), "switch", "switch/nvidia/qm9700")
    server = next(p.id for p in design.parts.values() if p.kind == "server")
    design = MakeGroup((Ref("parts", server),), "pod").apply(design)
    geometry = lay_out(design)
    pod, switch = geometry.box_of((), Ref("groups", "pod")), geometry.box_of((), Ref("parts", "switch0"))
    assert pod is not None
    assert switch is not None
    edit = connect_all(geometry, [pod], switch).edit
    assert edit is not None
    after = lay_out(edit.apply(design))
    state = ViewState(after, nothing(after), LIGHT)
    texts = [bundle.text for bundle in _to_groups(state)]
    assert texts == ["10 × 200–400 Gb/s"]
