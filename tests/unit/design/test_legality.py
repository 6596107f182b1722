"""What may be linked and contained, and why not; what memory joins."""

from __future__ import annotations

from pathlib import Path

import pytest

from designer.catalog.loader import Catalog, load_catalog
from designer.catalog.parttype import PartType
from designer.design import port_usage
from designer.design.document import Design, Link, Part, Wiring, with_changes
from designer.design.edits.parts import SetType
from designer.design.integrity import examine
from designer.design.legality import can_connect, can_contain, can_move_into, free_ports
from designer.design.port_usage import overfull, usage
from designer.errors import ExchangeError
from designer.fields import Quantity
from designer.interchange.importing import read_any
from designer.interchange.native.reader import load
from designer.interchange.overrides import given_way, overridden
from designer.resources import templates
from tests.clusters import cluster
from tests.designs import one_server, one_unit
from tests.real import real_files

# What may be linked and contained, and why not.

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
        ("gpu0", "memory0", None, "no link fits both a GPU and a Memory"),
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
        stated = {"c2c_bandwidth_per_direction": Quantity(value=speed)}
        gpu = design.parts["gpu0"].model_copy(update={"overrides": stated})
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
        "ethernet",
        "infiniband",
        "fabric",
    )
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


def of_types(**types: str) -> Design:
    """A design of parts of the catalog, by id."""
    catalog = load_catalog()
    kinds = {part_id: catalog.get(type_id) for part_id, type_id in types.items()}
    parts = [Part(id=part_id, kind=kind.kind, type=kind.id) for part_id, kind in kinds.items()]
    return Design.model_validate(
        {"name": "x", "parts": parts, "part_types": list({k.id: k for k in kinds.values()}.values())}
    )


A100, H100_SXM, MI300X = "gpu/nvidia/a100-80-sxm4", "gpu/nvidia/h100-sxm5", "gpu/amd/mi300x"


QUANTUM, SPECTRUM = "switch/nvidia/qm9700", "switch/nvidia/sn4700"


XEON, GENOA = "cpu/intel/xeon-spr", "cpu/amd/epyc-genoa"


@pytest.mark.parametrize(
    ("a", "b", "kind", "reasons"),
    [
        (A100, A100, "xgmi", ("xGMI joins parts of AMD", "NVIDIA A100")),
        (H100_SXM, MI300X, "nvlink", ("NVLink joins parts of NVIDIA", "is of AMD")),
        (H100_SXM, MI300X, "xgmi", ("is of NVIDIA",)),
        (H100_SXM, MI300X, "c2c", ("has no Chip-to-chip",)),
        (H100_SXM, A100, "nvlink", ("NVLink generation 4", "3")),
        (H100_SXM, "nvswitch/nvidia/nvswitch-gen2", "nvlink", ("NVLink generation 4", "3")),
        (H100_SXM, "nvswitch/nvidia/nvswitch-gen3", "xgmi", ("xGMI joins parts of AMD",)),
        (H100_SXM, XEON, "nvlink", ("is of Intel",)),
        ("gpu/nvidia/l40s", "gpu/nvidia/l40s", "nvlink", ("all NVLink ports", "in use")),
        (XEON, GENOA, None, ("speaks",)),
        (XEON, GENOA, "upi", ("speaks xGMI x16, 32 GT/s, not UPI",)),
        (XEON, GENOA, "infinity_fabric", ("not Infinity Fabric",)),
        (XEON, "cpu/intel/xeon-e5v4", "upi", ("UPI", "QPI")),
        (XEON, XEON, "infinity_fabric", ("speaks UPI",)),
        ("nic/generic/infiniband-hdr", SPECTRUM, None, ("speaks Ethernet, not InfiniBand",)),
        ("nic/generic/infiniband-hdr", QUANTUM, "ethernet", ("speaks InfiniBand, not Ethernet",)),
        ("nic/generic/ethernet-25g", QUANTUM, None, ("not",)),
        ("nic/nvidia/connectx-7", QUANTUM, "ethernet", ("speaks InfiniBand, not Ethernet",)),
        (QUANTUM, SPECTRUM, None, ("not",)),
    ],
)
def test_vendor_protocol_and_generation_decide(a: str, b: str, kind: str | None, reasons: tuple[str, ...]) -> None:
    design = of_types(left=a, right=b)
    for ends in (("left", "right"), ("right", "left")):
        verdict = can_connect(design, *ends, kind)
        assert not verdict.ok
        if ends[0] == "left":
            assert all(reason in verdict.reason for reason in reasons), verdict.reason


@pytest.mark.parametrize(
    ("a", "b", "kinds"),
    [
        (A100, A100, "nvlink"),
        (H100_SXM, "nvswitch/nvidia/nvswitch-gen3", "nvlink"),
        (MI300X, MI300X, "xgmi"),
        ("gpu/nvidia/v100-sxm2", "cpu/ibm/power9", "nvlink"),
        ("cpu/nvidia/grace", "gpu/nvidia/gb200", "c2c"),
        ("cpu/ibm/power9", "cpu/ibm/power9", "x_bus"),
        (XEON, XEON, "upi"),
        (GENOA, GENOA, "infinity_fabric"),
        ("nic/generic/infiniband-hdr", QUANTUM, "infiniband"),
        ("nic/nvidia/connectx-7", QUANTUM, "infiniband"),
        ("nic/nvidia/connectx-7", SPECTRUM, "ethernet"),
        ("nic/generic/ethernet-25g", SPECTRUM, "ethernet"),
    ],
)
def test_what_belongs_together_is_offered_first(a: str, b: str, kinds: str) -> None:
    verdict = can_connect(of_types(left=a, right=b), "left", "right")
    assert verdict.ok
    assert kinds in verdict.kinds
    # nothing else of the same purpose is offered next to it
    assert set(verdict.kinds) - {kinds} <= {"pcie"}


def test_links_on_the_die_take_no_socket_ports() -> None:
    design = of_types(a=XEON, b=XEON)
    numa = [Part(id=f"numa{i}", kind="numa") for i in range(4)]
    dies = [Link(id=f"die{i}", a="a", b=f"numa{i}", kind="infinity_fabric") for i in range(4)]
    design = with_changes(design, parts=[*design.parts.values(), *numa], links=dies)
    assert free_ports(design, "a", "upi", "cpu") == 4
    assert can_connect(design, "a", "b", "upi").room == 4


def test_full_nvlinks_leave_no_other_accelerator_link() -> None:
    """Two A100 whose twelve NVLinks are in use took an xGMI link, and traffic went over it."""
    design = of_types(a=A100, b=A100, c=A100)
    full = with_changes(design, links=[Link(id="l", a="a", b="b", kind="nvlink", count=12)])
    verdict = can_connect(full, "a", "c")
    assert verdict.kinds == ("pcie",)
    assert not can_connect(full, "a", "c", "nvlink").ok
    assert not can_connect(full, "a", "c", "xgmi").ok


def test_what_does_not_fit_is_an_error_of_a_design_that_opens() -> None:
    design = of_types(h100=H100_SXM, mi300x=MI300X)
    links = [Link(id="l", a="h100", b="mi300x", kind="nvlink"), Link(id="m", a="h100", b="mi300x", kind="ethernet")]
    problems = examine(with_changes(design, links=links))
    assert {(p.code, p.place, str(p.severity)) for p in problems} == {
        ("DOC-MISFIT", "l", "error"),
        ("DOC-PORTS", "m", "error"),
    }
    assert not any(p.refuses for p in problems)
    assert all(p.remedy for p in problems)


def test_too_many_links_and_lanes_are_errors() -> None:
    design = of_types(
        a=A100, b=A100, cpu="cpu/intel/xeon-skx", one="nic/nvidia/connectx-5", two="nic/nvidia/connectx-5"
    )
    links = [
        Link(id="l", a="a", b="b", kind="nvlink", count=13),
        *(Link(id=f"p{i}", a="cpu", b=end, kind="pcie", lanes=16) for i, end in enumerate(("a", "b", "one", "two"))),
    ]
    problems = examine(with_changes(design, links=links))
    texts = {p.place: p.text for p in problems if p.severity == "error"}
    assert texts["a"] == "its links need 13 nvlink links, it has 12"
    assert texts["cpu"] == "its links need 64 PCIe lanes, it has 48"


def test_too_many_links_are_the_same_errors_whether_types_or_parts_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    base = of_types(**{f"a{i}": A100 for i in range(6)}, cpu="cpu/intel/xeon-skx", other="cpu/intel/xeon-skx")
    more = {"nvlink_links": Quantity(value=2)}
    parts = [p.model_copy(update={"overrides": more}) if p.id == "a5" else p for p in base.parts.values()]
    links = [
        Link(id="l", a="a0", b="a1", kind="nvlink", count=13),
        Link(id="k", a="a1", b="a2", kind="nvlink", count=1),
        Link(id="j", a="a4", b="a5", kind="nvlink", count=3),
        *(Link(id=f"p{i}", a="cpu", b=f"a{i}", kind="pcie", lanes=16) for i in range(4)),
        Link(id="p4", a="other", b="a4", kind="pcie", lanes=16),
    ]
    design = with_changes(base, parts=parts, links=links)
    by_type = list(overfull(design))
    assert sorted((full.path, full.taken, full.total) for full in by_type) == [
        ("a0", 13, 12),
        ("a1", 14, 12),
        ("a5", 3, 2),
        ("cpu", 64, 48),
    ]
    monkeypatch.setattr(port_usage, "_FEW_TYPES", 0)
    assert list(overfull(design)) == by_type


def test_ports_of_parts_of_one_type_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    count = port_usage.port_count

    def counted(design: Design, part: Part, ports: object) -> int | None:
        asked.append(part.id)
        return count(design, part, ports)  # type: ignore[arg-type]

    monkeypatch.setattr(port_usage, "port_count", counted)
    design = cluster(12)
    usage(design)
    assert list(overfull(design)) == []
    # each kind of part with each kind of link, not each of 400 parts
    assert 0 < len(asked) <= 40 < len(design.parts)


def test_each_pair_that_does_not_fit_is_told_beside_those_that_do() -> None:
    design = of_types(h=H100_SXM, k=H100_SXM, m=MI300X, n=MI300X)
    ends = {"good": ("h", "k"), "one": ("h", "m"), "two": ("k", "n"), "fine": ("m", "n")}
    links = [Link(id=i, a=a, b=b, kind="nvlink" if i != "fine" else "xgmi") for i, (a, b) in ends.items()]
    problems = examine(with_changes(design, links=links))
    assert [(p.code, p.place, p.where) for p in problems] == [
        ("DOC-MISFIT", "one", ("h", "m")),
        ("DOC-MISFIT", "two", ("k", "n")),
    ]


@pytest.mark.parametrize("file", sorted(templates().rglob("*.design.json")), ids=lambda f: f.name)
def test_every_template_is_legal(file: Path) -> None:
    assert [p.text for p in examine(load(file).design) if p.code in ("DOC-PORTS", "DOC-MISFIT")] == []


@pytest.mark.parametrize("file", real_files("**/*.xml", "**/*.txt"), ids=lambda f: f.name)
def test_every_real_machine_is_legal(file: Path) -> None:
    try:
        imported = read_any(file)
    except ExchangeError:
        pytest.skip("not a dump that can be imported")
    assert [p.text for p in examine(imported.design) if p.severity == "error"] == []


# What memory joins: modules fit the sockets of their kind, and only memory behind CXL is joined by PCIe.


def two(a: str, b: str) -> Design:
    catalog = Catalog()
    parts = [Part(id=name, kind=t.partition("/")[0], type=t) for name, t in (("a", a), ("b", b))]
    return Design.model_validate({"name": "two", "parts": parts, "part_types": [catalog.get(a), catalog.get(b)]})


@pytest.mark.parametrize(
    ("other", "memory", "links"),
    [
        ("cpu/intel/xeon-icx", "memory/generic/ddr4-3200-8ch", ("memory_bus",)),
        ("cpu/intel/xeon-icx", "memory/intel/pmem-200", ("memory_bus",)),
        ("cpu/intel/xeon-icx", "memory/generic/ddr5-4800-8ch", ()),
        ("cpu/intel/xeon-spr", "memory/generic/ddr4-3200-8ch", ()),
        ("cpu/intel/xeon-gnr-sp", "memory/generic/mrdimm-8000-8ch", ("memory_bus",)),
        ("cpu/intel/xeon-max", "memory/intel/hbm2e-xeon-max", ("memory_bus",)),
        ("cpu/nvidia/grace", "memory/nvidia/lpddr5x-grace", ("memory_bus",)),
        # LPDDR5 is soldered, and no DDR5
        ("cpu/nvidia/grace", "memory/generic/ddr5-4800-8ch", ()),
        ("gpu/nvidia/h100-pcie", "memory/generic/ddr5-4800-8ch", ()),
        ("gpu/nvidia/h100-pcie", "memory/generic/cxl-gen5-x8", ()),
        ("pcie_switch/generic/gen5", "memory/generic/ddr5-4800-8ch", ()),
        ("pcie_switch/generic/gen5", "memory/generic/cxl-gen5-x8", ("pcie",)),
    ],
)
def test_memory_joins_what_takes_it(other: str, memory: str, links: tuple[str, ...]) -> None:
    found = can_connect(two(other, memory), "a", "b")
    assert (found.ok, found.kinds) == (bool(links), links), found.reason
    assert found.ok or found.reason


# Values given by hand for one product do not follow a part to another one.

NFS, WEKA = "storage/generic/nfs-single-mount", "storage/weka/client-100g"


def drawn(part_type: str = NFS) -> Design:
    """One storage system with three values by hand: of its type, of no type at all, and of another type alone."""
    overrides = {
        "client_read_bandwidth": Quantity(value="1.5 GB/s", source="hand"),
        "capacity": Quantity(value="80 TB", source="hand"),
        "read_bandwidth": Quantity(value="3 GB/s", source="hand"),
    }
    types = [load_catalog().get(part_type)] if part_type else []
    part = Part(id="store", kind="storage", type=part_type, overrides=overrides)
    return Design.model_validate({"name": "one", "parts": [part], "part_types": types})


def exchanged(design: Design, to: str) -> Design:
    found = load_catalog().get(to)
    return SetType(("store",), to, found, found.sources).apply(design)


def rate(design: Design) -> str:
    quantity = design.quantity(design.parts["store"], "client_read_bandwidth")
    return "" if quantity is None else str(quantity.value)


def test_a_value_of_the_old_type_gives_way() -> None:
    """By hand: 1.5 GB/s stated of one NFS mount. The WEKA client states 10.5 GB/s, so that is what counts after it."""
    after = exchanged(drawn(), WEKA)
    assert rate(after) == "10.5 GB/s"
    # neither type states them: they state how this system is set up
    assert {*after.parts["store"].overrides} == {"capacity", "read_bandwidth"}


def test_a_value_that_only_the_new_type_states_gives_way() -> None:
    """The SuperPOD target states the rate of all clients, which the NFS mount does not."""
    assert {*exchanged(drawn(), "storage/nvidia/superpod-h100").parts["store"].overrides} == {"capacity"}


def test_the_same_type_again_and_a_part_without_one_keep_what_was_given() -> None:
    assert exchanged(drawn(), NFS).parts["store"].overrides == drawn().parts["store"].overrides
    assert rate(exchanged(drawn(""), WEKA)) == "1.5 GB/s"


def test_all_doors_agree_and_what_gave_way_is_told() -> None:
    before = drawn()
    after = overridden(before, [f"store.type={WEKA}"])
    assert after.parts["store"].overrides == exchanged(before, WEKA).parts["store"].overrides
    assert given_way(before, after) == ["store: client_read_bandwidth"]
    assert given_way(before, before) == []


def test_a_value_given_beside_the_new_type_is_of_the_new_type() -> None:
    texts = ["store.client_read_bandwidth=5 GB/s", f"store.type={WEKA}"]
    assert rate(overridden(drawn(), texts)) == rate(overridden(drawn(), texts[::-1])) == "5 GB/s"
