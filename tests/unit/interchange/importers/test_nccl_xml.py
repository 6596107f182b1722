"""NCCL and RCCL topology files."""

from __future__ import annotations

import gc
import time
from collections import Counter

import pytest

from designer.analysis.study import analyze
from designer.design.document import Design
from designer.design.integrity import demand_sound
from designer.errors import ExchangeError
from designer.interchange.foreign.importer import Imported
from designer.interchange.importing import read_any
from designer.sources import Status

INTEL = 'arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143"'
AMD = 'arch="x86_64" vendor="AuthenticAMD" familyid="143" modelid="49"'
H100 = 'class="0x030200" vendor="0x10de" device="0x2330" link_speed="32.0 GT/s PCIe" link_width="16"'
CX7 = 'class="0x020700" vendor="0x15b3" device="0x1021" link_speed="32.0 GT/s PCIe" link_width="16"'
BRIDGE = 'class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16"'


def read(text: str) -> Imported:
    return read_any(text.encode(), "nccl-xml")


def system(*cpus: str, version: int = 1) -> str:
    return f'<system version="{version}">{"".join(cpus)}</system>'


def cpu(number: int, inside: str, who: str = INTEL, host: str = "", mask: str = "") -> str:
    more = (f' host_hash="{host}"' if host else "") + (f' affinity="{mask}"' if mask else "")
    return f'<cpu numaid="{number}" {who}{more}>{inside}</cpu>'


def gpu(bus: str, dev: int, links: str = "", attributes: str = H100, sm: int = 90) -> str:
    return f'<pci busid="{bus}" {attributes}><gpu dev="{dev}" sm="{sm}" rank="{dev}" gdr="1">{links}</gpu></pci>'


def nvlink(target: str, count: int, tclass: str = "0x030200", tag: str = "nvlink") -> str:
    return f'<{tag} target="{target}" count="{count}" tclass="{tclass}"/>'


def kinds(design: Design) -> Counter[str]:
    return Counter(part.kind for part in design.parts.values())


def links(design: Design, kind: str) -> list[tuple[str, str, int]]:
    return [(link.a, link.b, link.count) for link in design.links.values() if link.kind == kind]


def codes(imported: Imported) -> set[str]:
    return {finding.code for finding in imported.findings}


def test_tree_of_a_small_server() -> None:
    net = '<net name="mlx5_0" dev="0" speed="400000" port="1" guid="0x1234567890"/>'
    nic = f'<pci busid="0000:12:00.0" {CX7}><nic>{net}</nic></pci>'
    tree = f'<pci busid="0000:10:00.0" {BRIDGE}>{gpu("0000:11:00.0", 0)}{nic}</pci>'
    imported = read(system(cpu(0, tree), cpu(1, gpu("0000:80:00.0", 1))))
    design = imported.design
    assert kinds(design) == {"server": 1, "numa": 2, "memory": 2, "cpu": 2, "pcie_switch": 1, "gpu": 2, "nic": 1}
    assert set(links(design, "pcie")) == {
        ("numa0", "pcie_switch0", 1),
        ("pcie_switch0", "gpu0", 1),
        ("pcie_switch0", "nic0", 1),
        ("numa1", "gpu1", 1),
    }
    link = design.links["pcie_switch0--gpu0"]
    assert (link.generation, link.lanes, link.status) == (5, 16, Status.PRIMARY)
    assert design.parts["gpu0"].attributes["busid"] == "0000:11:00.0"
    assert design.parts["gpu0"].type == "gpu/nvidia/h100-sxm5"
    assert design.parts["nic0"].overrides["port_bandwidth_per_direction"].value == "400 Gb/s"
    assert design.parts["nic0"].overrides["technology"].value == "InfiniBand"
    assert design.parts["cpu0"].attributes["derived"] == "yes"
    assert set(design.workloads) == {"h2d", "all-reduce"}
    assert design.default_workload == "h2d"


def test_both_ends_of_a_gpu_link_are_one_bundle() -> None:
    a, b = "0000:11:00.0", "0000:12:00.0"
    imported = read(system(cpu(0, gpu(a, 0, nvlink(b, 4)) + gpu(b, 1, nvlink(a, 4)))))
    assert links(imported.design, "nvlink") == [("gpu0", "gpu1", 4)]
    assert imported.design.default_workload == "all-reduce"
    assert imported.design.links["gpu0--gpu1"].bandwidth_per_direction == "25 GB/s"


def test_unequal_ends_take_the_larger_and_tell() -> None:
    a, b = "0000:11:00.0", "0000:12:00.0"
    imported = read(system(cpu(0, gpu(a, 0, nvlink(b, 3)) + gpu(b, 1, nvlink(a, 4)))))
    assert links(imported.design, "nvlink") == [("gpu0", "gpu1", 4)]
    assert "IMP-UNEQUAL-ENDS" in codes(imported)


def test_switch_targets_are_switches() -> None:
    targets = nvlink("0000:c1:00.0", 9, "0x068000") + nvlink("0000:c2:00.0", 9, "0x068000")
    design = read(system(cpu(0, gpu("0000:11:00.0", 0, targets) + gpu("0000:12:00.0", 1, targets)))).design
    assert kinds(design)["nvswitch"] == 2
    assert sum(count for *_, count in links(design, "nvlink")) == 36


def test_dangling_self_and_impossible_links_are_left_out() -> None:
    bus = "0000:11:00.0"
    listed = nvlink("0000:99:00.0", 4) + nvlink(bus, 12) + nvlink("0000:c1:00.0", -1, "0x068000")
    imported = read(system(cpu(0, gpu(bus, 0, listed))))
    assert links(imported.design, "nvlink") == []
    assert {"IMP-DANGLING", "IMP-SELF-LINK", "IMP-COUNT"} <= codes(imported)


def test_every_peer_listed_with_all_links_is_a_fabric() -> None:
    buses = [f"0000:1{n}:00.0" for n in range(4)]
    inside = "".join(gpu(b, n, "".join(nvlink(o, 18) for o in buses if o != b)) for n, b in enumerate(buses))
    imported = read(system(cpu(0, inside)))
    assert kinds(imported.design)["nvswitch"] == 1
    assert [count for *_, count in links(imported.design, "nvlink")] == [18] * 4
    assert "IMP-DERIVED-FABRIC" in codes(imported)


def test_one_dump_of_several_hosts_shares_the_unseen_switches() -> None:
    def tray(host: str) -> str:
        target = nvlink("fffffff:ff:ff.0", 18, "0x068000") + '<c2c bw="44712" count="5"/>'
        return cpu(0, gpu("0008:01:00.0", 0, target, sm=100), 'arch="arm64"', host)

    imported = read(system(tray("0xa"), tray("0xb"), tray("0xc")))
    design = imported.design
    assert kinds(design)["server"] == 3
    assert kinds(design)["nvswitch"] == 1
    assert design.parts["nvswitch0"].parent is None
    assert {(count, design.links[i].bandwidth_per_direction) for i, count in _counts(design, "c2c")} == {
        (5, "44.712 GB/s")
    }
    assert {design.parts[g].parent for g in ("gpu0", "gpu1", "gpu2")} == {"server0", "server1", "server2"}


def _counts(design: Design, kind: str) -> list[tuple[str, int]]:
    return [(link.id, link.count) for link in design.links.values() if link.kind == kind]


def test_slow_pcie_beside_a_chip_link_is_not_drawn() -> None:
    idle = 'link_speed="2.5 GT/s PCIe" link_width="16"'
    imported = read(system(cpu(0, gpu("000f:01:00.0", 0, '<c2c bw="43125" count="8"/>', idle, 121), 'arch="arm64"')))
    assert links(imported.design, "pcie") == []
    assert links(imported.design, "c2c") == [("numa0", "gpu0", 8)]
    # a bundle of chip-to-chip links is no more than a GPU can have
    assert [f for f in demand_sound(imported.design) if f.code == "DOC-PORTS"] == []
    assert "IMP-SIDE-PATH" in codes(imported)


def test_xgmi_of_rccl() -> None:
    a, b = "0000:11:00.0", "0000:12:00.0"

    def oam(bus: str, dev: int, peer: str) -> str:
        return (
            f'<pci busid="{bus}" class="0x120000" link_speed="32.0 GT/s PCIe" link_width="16">'
            f'<gpu dev="{dev}" sm="304" gcn="gfx942" arch="38911" rank="{dev}" gdr="1">'
            f"{nvlink(peer, 1, '0x120000', 'xgmi')}</gpu></pci>"
        )

    design = read(system(cpu(0, oam(a, 0, b) + oam(b, 1, a)), version=2)).design
    assert links(design, "xgmi") == [("gpu0", "gpu1", 1)]
    assert design.links["gpu0--gpu1"].bandwidth_per_direction == "64 GB/s"
    assert design.parts["gpu0"].type == "gpu/amd/mi300x"


@pytest.mark.parametrize(
    ("speed", "width", "generation", "lanes", "status"),
    [
        ("16.0 GT/s PCIe", "8", 4, 8, Status.PRIMARY),
        ("16 GT/s", "16", 4, 16, Status.PRIMARY),
        ("32 GT/s PCIe/s", "16", 5, 16, Status.PRIMARY),
        ("2.5 GT/s", "16", 1, 16, Status.UNVERIFIED),
        ("64.0 GT/s PCIe", "16", 6, 16, Status.PRIMARY),
        ("8 GT/s", "0", 3, 16, Status.ASSUMED),
        ("8 GT/s", "", 3, 16, Status.ASSUMED),
        ("8 GT/s", "-4", 3, 16, Status.ASSUMED),
        ("", "0", 5, 16, Status.ASSUMED),
        ("nan", "16", 5, 16, Status.ASSUMED),
        ("1e309", "16", 5, 16, Status.ASSUMED),
        ("Unknown", "255", 5, 16, Status.ASSUMED),
    ],
)
def test_link_speeds(speed: str, width: str, generation: int, lanes: int, status: Status) -> None:
    attributes = f'class="0x030200" vendor="0x10de" device="0x2330" link_speed="{speed}" link_width="{width}"'
    imported = read(system(cpu(0, gpu("0000:11:00.0", 0, attributes=attributes))))
    link = imported.design.links["numa0--gpu0"]
    assert (link.generation, link.lanes, link.status) == (generation, lanes, status)
    assert ("IMP-ASSUMED-PCIE" in codes(imported)) == (status is Status.ASSUMED)


def test_several_ranks_on_one_device_are_one_gpu() -> None:
    ranks = '<gpu dev="0" sm="90" rank="0" gdr="1"/><gpu dev="1" sm="90" rank="1" gdr="1"/>'
    imported = read(system(cpu(0, f'<pci busid="0000:11:00.0" {H100}>{ranks}</pci>')))
    assert kinds(imported.design)["gpu"] == 1
    assert imported.design.parts["gpu0"].attributes["gpu1.rank"] == "1"
    assert "IMP-SHARED-GPU" in codes(imported)


def test_ports_of_one_card_are_one_nic() -> None:
    nets = "".join(
        f'<net name="mlx5_{n}" dev="{n}" speed="180000" port="{n + 1}" guid="0x12345678"/>' for n in range(2)
    )
    nic = read(system(cpu(0, f'<pci busid="0000:12:00.0" {CX7}><nic>{nets}</nic></pci>'))).design.parts["nic0"]
    assert nic.overrides["ports"].value == 2
    assert nic.overrides["bandwidth_per_direction"].value == "360 Gb/s"
    assert nic.name == "mlx5_0 + mlx5_1"


def test_virtual_interfaces_are_counted_once_and_not_drawn() -> None:
    nets = "".join(
        f'<net name="{n}" dev="1" speed="10000" port="0" guid="0x{i}"/>' for i, n in enumerate(("veth1", "eth0"))
    )
    loose = f"<nic>{nets}</nic>"
    imported = read(system(cpu(0, loose + gpu("0000:11:00.0", 0)), cpu(1, loose)))
    assert kinds(imported.design)["nic"] == 0
    (finding,) = [f for f in imported.findings if f.code == "IMP-VIRTUAL"]
    assert finding.text.startswith("2 virtual")


def test_rdma_port_without_a_place_is_drawn() -> None:
    net = '<nic><net name="mlx5_0+mlx5_1" dev="0" speed="200000" port="1" guid="0x123456789" gdr="1"/></nic>'
    imported = read(system(cpu(0, net + gpu("0000:11:00.0", 0))))
    assert links(imported.design, "pcie")[-1] == ("numa0", "nic0", 1)
    assert {"IMP-PLACE", "IMP-FUSED"} <= codes(imported)


@pytest.mark.parametrize(
    ("numbers", "sockets"),
    [((0, 1), 2), ((3, 1, 7, 5), 2), ((0,), 1), ((-1,), 1), ((0, 1, 2, 3, 4, 5, 6, 7), 2), ((3, 2, 0, 7), 2)],
)
def test_sockets_are_derived(numbers: tuple[int, ...], sockets: int) -> None:
    imported = read(system(*(cpu(n, gpu(f"0000:1{i}:00.0", i), AMD) for i, n in enumerate(numbers))))
    assert kinds(imported.design)["cpu"] == sockets
    assert ("IMP-ASSUMED-SOCKET-LINK" in codes(imported)) == (sockets > 1)


def test_half_width_twin_is_found() -> None:
    def nic(bus: str, lanes: int) -> str:
        ids = 'class="0x020000" vendor="0x15b3" device="0x101d"'
        return f'<pci busid="{bus}" {ids} link_speed="16 GT/s" link_width="{lanes}"/>'

    imported = read(system(cpu(0, nic("0000:16:00.0", 8)), cpu(1, nic("0000:b1:00.0", 16))))
    (finding,) = [f for f in imported.findings if f.code == "LINK-DEGRADED"]
    assert finding.where == ("nic0", "numa0--nic0")
    assert "Gen4 x8" in finding.text


def test_odd_but_readable() -> None:
    text = "host:1 NCCL INFO dumping\n" + system(cpu(0, "12" + gpu("0000:11:00.0", 0) + "<new thing='1'/>")) + "\n**\n"
    imported = read(text)
    assert kinds(imported.design)["gpu"] == 1
    assert {"IMP-STRAY-TEXT", "IMP-JUNK", "IMP-IGNORED"} <= codes(imported)


def test_duplicates_are_reported() -> None:
    imported = read(system(cpu(0, gpu("0000:11:00.0", 0)), cpu(0, gpu("0000:11:00.0", 0))))
    assert kinds(imported.design)["gpu"] == 2
    assert sum(f.code == "IMP-DUPLICATE" for f in imported.findings) == 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('<graphs version="1"></graphs>', "rings and trees"),
        (f'<pci busid="0000:11:00.0" {H100}/>', "fragment"),
        ('<system version="1"></system>', "no <cpu>"),
        (system(cpu(0, "")) + system(cpu(0, "")), "second <system>"),
        (system(cpu(0, gpu("0000:11:00.0", 0)))[:-30], "ends inside|not well-formed|no well-formed"),
        ('<system version="1"><cpu numaid="0" numaid="1"/></system>', "duplicate attribute"),
    ],
)
def test_refusals(text: str, reason: str) -> None:
    with pytest.raises(ExchangeError, match=reason) as refusal:
        read(text)
    assert refusal.value.remedy


def test_the_idle_speed_of_an_uplink_is_not_taken_for_sure() -> None:
    """Links train down when idle: a Gen2 reading above Gen5 devices stays as stated, but is stated as unverified."""

    def tree(speed: str) -> Design:
        bridge = f'class="0x060400" link_speed="{speed} GT/s PCIe" link_width="16"'
        inside = f'<pci busid="0000:10:00.0" {bridge}>{gpu("0000:11:00.0", 0)}{gpu("0000:12:00.0", 1)}</pci>'
        return read(system(cpu(0, inside))).design

    found = {speed: tree(speed).links["numa0--pcie_switch0"] for speed in ("5.0", "16.0", "32.0")}
    assert [link.generation for link in found.values()] == [2, 4, 5]
    assert [link.status for link in found.values()] == [Status.UNVERIFIED, Status.PRIMARY, Status.PRIMARY]


def nic(nets: str, bus: str = "0000:12:00.0", attributes: str = CX7) -> str:
    return f'<pci busid="{bus}" {attributes}><nic>{nets}</nic></pci>'


def net(number: int, guid: int, port: int = 1, speed: int = 400000) -> str:
    return f'<net name="mlx5_{number}" dev="{number}" speed="{speed}" port="{port}" guid="0x{guid:x}" gdr="1"/>'


def test_virtual_functions_do_not_add_up_to_more_than_their_link() -> None:
    """13 names, 10 GUIDs, 3 cards. Gen5 x16 carries 504 Gb/s: one port of 400, not four of 1.6 Tb/s together."""
    guid = 0x1234567800
    first = "".join(net(n, guid + n) for n in range(4)) + net(10, guid) + net(11, guid + 1)
    second = "".join(net(n, guid + n) for n in range(4, 8)) + net(12, guid + 4)
    third = net(8, guid + 8, speed=100000) + net(9, guid + 9, speed=100000)
    cards = nic(first) + nic(second, "0000:13:00.0") + nic(third, "0000:14:00.0")
    imported = read(system(cpu(0, cards + gpu("0000:11:00.0", 0))))
    nics = [p for p in imported.design.parts.values() if p.kind == "nic"]
    assert [p.overrides["bandwidth_per_direction"].value for p in nics] == ["400 Gb/s", "400 Gb/s", "200 Gb/s"]
    assert [p.overrides["ports"].value for p in nics] == [1, 1, 2]
    assert {"IMP-SHARED-PORT", "IMP-SAME-PORT"} <= codes(imported)
    # every name stays with the card
    assert sum(1 for key in nics[0].attributes if key.endswith(".name")) == 6


def test_a_port_rate_is_stated_or_derived_and_never_an_average() -> None:
    def rates(nets: str) -> dict[str, tuple[object, Status]]:
        part = read(system(cpu(0, nic(nets) + gpu("0000:11:00.0", 0)))).design.parts["nic0"]
        return {k: (q.value, q.status) for k, q in part.overrides.items() if "bandwidth" in k}

    assert rates(net(0, 0x123456)) == {
        "bandwidth_per_direction": ("400 Gb/s", Status.PRIMARY),
        "port_bandwidth_per_direction": ("400 Gb/s", Status.PRIMARY),
    }
    # 100 and 200 are not two ports of 150
    assert rates(net(0, 0x123456, 1, 100000) + net(1, 0x123456, 2, 200000)) == {
        "bandwidth_per_direction": ("300 Gb/s", Status.DERIVED)
    }
    fused = '<net name="mlx5_0+mlx5_1" dev="0" speed="400000" port="1" guid="0x123456" gdr="1"/>'
    assert rates(fused)["port_bandwidth_per_direction"] == ("200 Gb/s", Status.DERIVED)


def test_the_same_port_without_a_place_is_not_a_second_nic() -> None:
    loose = f"<nic>{net(5, 0x1234567)}</nic>"
    inside = nic(net(0, 0x1234567)) + gpu("0000:11:00.0", 0)
    assert kinds(read(system(cpu(0, inside + loose))).design)["nic"] == 1


def test_one_lane_of_the_first_generation_is_no_speed_of_a_gpu() -> None:
    """Buses of virtual machines state Gen1 x1: 0.25 GB/s, of which copies would get 188 MB/s."""
    attributes = H100.replace("32.0", "2.5").replace('link_width="16"', 'link_width="1"')
    imported = read(system(cpu(0, gpu("0000:11:00.0", 0, attributes=attributes))))
    link = imported.design.links["numa0--gpu0"]
    assert (link.generation, link.lanes, link.status) == (5, 16, Status.ASSUMED)
    assert link.attributes["link_width"] == "1"
    assert "IMP-VIRTUAL-LINK" in codes(imported)
    (answer,) = analyze(imported.design, ["h2d"], curves=False).workloads
    assert answer.findings[0].code == "GAP-VIRTUAL"
    # the other reading is Gen4 x8 with 15.75 GB/s: the band reaches below it
    assert answer.metrics["rate"].low < 15.8e9 < answer.metrics["rate"].high
    # the network card of a management controller really has one lane of the first generation
    slow = nic(net(0, 0, speed=1000), attributes=attributes.replace("0x030200", "0x020000"))
    assert read(system(cpu(0, slow + gpu("0000:11:00.0", 0)))).design.links["numa0--nic0"].lanes == 1


def test_infiniband_of_the_serial_bus_class() -> None:
    old = '<pci busid="0000:12:00.0" class="0x0c0600" link_speed="5 GT/s" link_width="8"/>'
    part = read(system(cpu(0, old + gpu("0000:11:00.0", 0)))).design.parts["nic0"]
    assert part.overrides["technology"].value == "InfiniBand"


def test_many_equal_ids_are_numbered_in_one_go() -> None:
    """Four times the domains take about four times as long, not sixteen times: the least of three repetitions each."""

    def seconds(count: int) -> float:
        text = system("".join(cpu(0, "") for _ in range(count)) + cpu(1, gpu("0000:11:00.0", 0)))
        took: list[float] = []
        for _ in range(3):
            gc.collect()
            start = time.process_time()
            read(text)
            took.append(time.process_time() - start)
        return min(took)

    seconds(10)
    assert seconds(2000) < 10 * seconds(500)


def test_what_is_assumed_is_reported_with_its_speed_and_eight_are_not_two() -> None:
    chip = '<c2c count="1"/>'
    imported = read(system(*(cpu(0, "") for _ in range(7)), cpu(0, gpu("0000:11:00.0", 0, chip)), cpu(1, "")))
    texts = {f.code: f.text for f in imported.findings}
    assert "GB/s" in texts["IMP-ASSUMED-C2C"]
    assert "twice" not in texts["IMP-DUPLICATE"]
    unknown = '<pci busid="0000:12:00.0" class="0x020000"/>'
    stated = [f.text for f in read(system(cpu(0, unknown + gpu("0000:11:00.0", 0)))).findings if "ASSUMED" in f.code]
    assert not any("the usual" in text for text in stated)
