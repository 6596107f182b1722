"""What may be linked and contained, and why not."""

from __future__ import annotations

import pytest

from designer.catalog.parttype import PartType
from designer.design.document import Design, Link, Part, Wiring
from designer.design.legality import can_connect, can_contain, can_move_into, free_ports
from designer.fields import Quantity
from tests.designs import one_server, one_unit

H100 = PartType(id="gpu/nvidia/h100", kind="gpu", title="H100", values={"nvlink_links": Quantity(value=18)})


def typed_server() -> Design:
    """The server with real GPU port counts: 18 NVLinks each, all in use."""
    server = one_server()
    parts = [p.model_copy(update={"type": H100.id}) if p.kind == "gpu" else p for p in server.parts.values()]
    return Design.model_validate({**dict(server), "parts": parts, "part_types": [H100]})


@pytest.mark.parametrize(
    ("a", "b", "kind", "reason"),
    [
        ("gpu0", "gpu0", None, "linked to itself"),
        ("gpu0", "nobody", None, "no part 'nobody'"),
        ("server", "gpu0", None, "Server has no ports"),
        ("gpu0", "storage_nic0", "ethernet", "GPU has no port for Ethernet"),
        ("gpu0", "cpu0", "warp", "no kind of link called 'warp'"),
        ("gpu0", "memory0", None, "all PCIe ports of gpu0 are in use"),
        ("gpu0", "cpu0", "pcie", "all PCIe ports of gpu0 are in use"),
        ("gpu0", "gpu1", "nvlink", "all NVLink ports of gpu0 are in use"),
        ("memory0", "nvsw0", None, "no link fits both a Memory and a NVSwitch"),
    ],
)
def test_refusals_say_why(a: str, b: str, kind: str | None, reason: str) -> None:
    verdict = can_connect(typed_server(), a, b, kind)
    assert not verdict.ok
    assert reason.lower() in verdict.reason.lower()


@pytest.mark.parametrize(("speed", "kinds"), [(None, ()), ("225 GB/s", ("c2c",))])
def test_a_link_that_parts_have_to_tell_of_is_proposed_only_where_they_do(
    speed: str | None, kinds: tuple[str, ...]
) -> None:
    design = typed_server()
    assert can_connect(design, "gpu0", "storage_nic0", "c2c").ok, "who asks for it by name gets it"
    if speed is not None:
        told = {"c2c_bandwidth_per_direction": Quantity(value=speed)}
        gpu = design.parts["gpu0"].model_copy(update={"overrides": told})
        design = design.model_copy(update={"parts": {**design.parts, "gpu0": gpu}})
    verdict = can_connect(design, "gpu0", "storage_nic0")
    assert verdict.kinds == kinds
    if not kinds:
        assert verdict.reason == "all PCIe ports of gpu0 are in use"


def test_room_counts_what_drawn_links_and_wirings_leave() -> None:
    design = typed_server()
    assert free_ports(design, "gpu0", "nvlink") == 0
    fewer = design.model_copy(update={"links": {k: v for k, v in design.links.items() if k != "gpu0--nvsw1"}})
    assert free_ports(fewer, "gpu0", "nvlink") == 5
    verdict = can_connect(fewer, "gpu0", "nvsw1", "nvlink")
    assert (verdict.ok, verdict.room) == (True, 5)
    assert can_connect(design, "gpu0", "nvsw2", "nvlink", replacing="gpu0--nvsw1").room == 5


def test_ports_of_group_members_are_counted_through_wirings() -> None:
    nic = PartType(id="nic/x/one", kind="nic", title="One port", values={"ports": Quantity(value=1)})
    unit = one_unit(2)
    content = unit.groups["servers"].content
    parts = {k: p.model_copy(update={"type": nic.id}) if p.kind == "nic" else p for k, p in content.parts.items()}
    group = unit.groups["servers"].model_copy(update={"content": content.model_copy(update={"parts": parts})})
    design = unit.model_copy(update={"groups": {**unit.groups, "servers": group}, "part_types": {nic.id: nic}})
    assert not can_connect(design, "servers[1]/nic0", "leaves[0]/switch").ok
    assert can_connect(design, "servers[1]/storage_nic0", "leaves[0]/switch").kinds == (
        "ethernet", "infiniband", "fabric",
    )  # fmt: skip
    inside = can_connect(design, "nic0", "storage_nic0", "ethernet", within=("servers",))
    assert "nic0" in inside.reason
    assert can_connect(design, "storage_nic1", "storage_nic0", "ethernet", within=(("servers", 1),)).ok


def test_pcie_lanes_are_counted() -> None:
    cpu = PartType(id="cpu/x/small", kind="cpu", title="Small", values={"pcie_lanes": Quantity(value=32)})
    parts = [Part(id="cpu", kind="cpu", type=cpu.id), *(Part(id=f"gpu{i}", kind="gpu") for i in range(3))]
    link = Link(id="l0", a="cpu", b="gpu0", kind="pcie", lanes=16)
    design = Design.model_validate({"name": "x", "parts": parts, "links": [link], "part_types": [cpu]})
    assert can_connect(design, "cpu", "gpu1", "pcie").ok
    second = Link(id="l1", a="cpu", b="gpu1", kind="pcie", lanes=16)
    full = design.model_copy(update={"links": {**design.links, "l1": second}})
    assert not can_connect(full, "cpu", "gpu2", "pcie").ok
    assert can_connect(full, "cpu", "gpu2", "pcie", replacing="l1").ok


def test_a_design_that_cannot_be_elaborated_is_judged_by_its_drawn_links() -> None:
    broken = Wiring(id="w", pattern="pairs", a="gpu*", b="cpu*", kind="pcie")
    design = typed_server().model_copy(update={"wirings": {"w": broken}})
    assert free_ports(design, "gpu0", "nvlink") == 0
    assert can_connect(design, "cpu0", "psw5").ok


def test_an_unknown_kind_takes_no_links_but_may_stand_anywhere_on_the_canvas() -> None:
    design = Design.model_validate({"name": "x", "parts": [Part(id="q", kind="quantum"), Part(id="g", kind="gpu")]})
    assert "unknown kind 'quantum'" in can_connect(design, "q", "g").reason
    assert can_contain(design, None, "quantum").ok
    assert not can_contain(design, "quantum", "gpu").ok


def test_containment() -> None:
    server = one_server()
    assert can_contain(server, "rack", "server").ok
    assert "contains no other parts" in can_contain(server, "gpu", "nic").reason
    assert "does not contain a GPU" in can_contain(server, "rack", "gpu").reason
    assert "contain itself" in can_move_into(server, "server", "gpu0").reason
    assert can_move_into(server, "gpu0", "server").ok
    assert can_move_into(server, "gpu0", None).ok
    assert not can_move_into(server, "gpu0", "gpu1").ok
    assert not can_move_into(server, "nobody", None).ok
