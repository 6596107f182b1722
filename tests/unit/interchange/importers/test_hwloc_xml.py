"""hwloc XML of all versions."""

from __future__ import annotations

import time
from collections import Counter

import pytest

from designer.design.document import Design
from designer.design.integrity import demand_sound
from designer.design.legality import free_ports
from designer.errors import ExchangeError
from designer.interchange.foreign.importer import Imported
from designer.interchange.importing import read_any
from designer.sources import Status


def read(text: str) -> Imported:
    return read_any(text.encode(), "hwloc-xml")


def kinds(design: Design) -> Counter[str]:
    return Counter(part.kind for part in design.parts.values())


def codes(imported: Imported) -> set[str]:
    return {finding.code for finding in imported.findings}


def bridge(inside: str, host: bool = False) -> str:
    if host:
        return f'<object type="Bridge" bridge_type="0-1" depth="0" bridge_pci="0000:[00-20]">{inside}</object>'
    return (
        '<object type="Bridge" bridge_type="1-1" depth="1" bridge_pci="0000:[01-20]" pci_busid="0000:00:01.0" '
        f'pci_type="0604 [8086:2030] [0000:0000] 04" pci_link_speed="15.753846">{inside}</object>'
    )


def device(bus: str, pci_type: str, inside: str = "", speed: str = "15.753846", more: str = "") -> str:
    return (
        f'<object type="PCIDev" gp_index="{int(bus[5:7], 16)}" pci_busid="{bus}" pci_type="{pci_type}" '
        f'pci_link_speed="{speed}"{more}>{inside}</object>'
    )


def os_device(name: str, kind: int, gp: int = 0) -> str:
    return f'<object type="OSDev" gp_index="{gp}" name="{name}" osdev_type="{kind}"/>'


V100 = "0302 [10de:1db1] [10de:1212] a1"
CX6 = "0207 [15b3:101b] [15b3:0007] 00"


def package(version: int, number: int, inside: str = "") -> str:
    cpus = f"0x0000000{3 << (2 * number):x}"
    sets = f'cpuset="{cpus}" nodeset="0x0000000{1 << number}"'
    cores = "".join(f'<object type="Core" os_index="{n}" cpuset="{cpus}"/>' for n in range(2))
    socket = f'<object type="Package" os_index="{number}" gp_index="{900 + number}" {sets}>'
    node = f'<object type="NUMANode" os_index="{number}" {sets} local_memory="68719476736"'
    if version == 1:
        return f"{node}>{socket}{cores}</object>{inside}</object>"
    return f"{socket}{node}/>{cores}{inside}</object>"


def topology(version: int, inside: str, tail: str = "") -> str:
    dtd = "hwloc.dtd" if version == 1 else "hwloc2.dtd"
    number = "" if version == 1 else f' version="{version}.0"'
    machine = '<object type="Machine" os_index="0" cpuset="0x0000000f" nodeset="0x00000003">'
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "{dtd}">\n'
        f"<topology{number}>{machine}{inside}</object>{tail}</topology>"
    )


def server(version: int, tail: str = "") -> str:
    net, ib, coproc = (2, 3, 5) if version < 3 else (16, 48, 12)
    gpu = device("0000:11:00.0", V100, os_device("cuda0", coproc, 701) + os_device("nvml0", coproc, 702))
    nic = device("0000:12:00.0", CX6, os_device("ib0", net) + os_device("mlx5_0", ib))
    tree = bridge(bridge(gpu + nic), host=True)
    return topology(version, package(version, 0, tree) + package(version, 1), tail)


@pytest.mark.parametrize(
    ("product", "type"),
    [
        ("NVIDIA DGX-2H", "server/nvidia/dgx-2h"),
        ("PowerEdge XE9680", "server/dell/xe9680"),
        ("Tesla V100", ""),
        ("", ""),
    ],
)
def test_a_server_the_catalog_has_is_told_by_what_firmware_calls_it(product: str, type: str) -> None:
    machine = 'nodeset="0x00000003">'
    assert server(2).count(machine) == 1
    named = server(2).replace(machine, f'{machine}<info name="DMIProductName" value="{product}"/>')
    parts = read(named).design.parts
    assert parts["server0"].type == type


@pytest.mark.parametrize("version", [1, 2, 3])
def test_all_versions_read_alike(version: int) -> None:
    design = read(server(version)).design
    assert kinds(design) == {"server": 1, "cpu": 2, "numa": 2, "memory": 2, "pcie_switch": 1, "gpu": 1, "nic": 1}
    assert {(v.kind, v.a, v.b) for v in design.links.values()} == {
        ("upi", "cpu0", "cpu1"),
        ("infinity_fabric", "cpu0", "numa0"),
        ("infinity_fabric", "cpu1", "numa1"),
        ("memory_bus", "numa0", "memory0"),
        ("memory_bus", "numa1", "memory1"),
        ("pcie", "numa0", "pcie_switch0"),
        ("pcie", "pcie_switch0", "gpu0"),
        ("pcie", "pcie_switch0", "nic0"),
    }
    gpu, memory = design.parts["gpu0"], design.parts["memory0"]
    assert gpu.type == "gpu/nvidia/v100-sxm2"
    assert gpu.attributes["cuda0"].startswith("gpu coproc" if version == 3 else "coproc")
    assert memory.overrides["memory_capacity"].value == "64 GiB"
    assert design.parts["cpu0"].overrides["cores"].value == 2


@pytest.mark.parametrize(
    ("speed", "generation", "lanes", "status"),
    [
        ("15.753846", 3, 16, Status.PRIMARY),
        ("63.015385", 5, 16, Status.PRIMARY),
        ("0.000000", 3, 16, Status.ASSUMED),
        ("4.000000", 1, 16, Status.UNVERIFIED),
        ("nan", 3, 16, Status.ASSUMED),
        ("-1", 3, 16, Status.ASSUMED),
    ],
)
def test_link_speed_of_a_known_gpu(speed: str, generation: int, lanes: int, status: Status) -> None:
    pci_type = "0302 [10de:2330] [10de:1212] a1" if speed.startswith("63") else V100
    text = topology(2, package(2, 0, bridge(device("0000:11:00.0", pci_type, speed=speed), host=True)))
    imported = read(text)
    link = imported.design.links["numa0--gpu0"]
    assert (link.generation, link.lanes, link.status) == (generation, lanes, status)
    assert ("IMP-IDLE" in codes(imported)) == (speed == "4.000000")
    assert bool(link.source) == (status is not Status.ASSUMED)


def test_ambiguous_speed_is_kept_as_it_is() -> None:
    text = topology(2, package(2, 0, bridge(device("0000:12:00.0", CX6, speed="15.753846"), host=True)))
    link = read(text).design.links["numa0--nic0"]
    assert (link.generation, link.bandwidth_per_direction) == (None, "15.753846 GB/s")


def test_virtual_functions_and_displays_are_no_hardware() -> None:
    functions = device("0000:12:00.0", CX6, os_device("ib0", 2)) + "".join(
        device(f"0000:12:00.{n}", "0207 [15b3:101c] [15b3:0007] 00") for n in (1, 2, 3)
    )
    screen = device("0000:13:00.0", "0300 [1a03:2000] [15d9:1c30] 52")
    imported = read(topology(2, package(2, 0, bridge(functions + screen, host=True))))
    assert kinds(imported.design)["nic"] == 1
    assert kinds(imported.design)["gpu"] == 0
    assert {"IMP-VIRTUAL-FUNCTION", "IMP-DISPLAY"} <= codes(imported)


def test_drives() -> None:
    nvme = device("0000:12:00.0", "0108 [144d:a80a] [144d:a801] 00", os_device("nvme0n1", 0))
    sata = device("0000:13:00.0", "0106 [8086:1d02] [8086:0000] 06", os_device("sda", 0) + os_device("sr0", 0))
    design = read(topology(2, package(2, 0, bridge(nvme + sata, host=True)))).design
    assert [p.name for p in design.parts.values() if p.kind == "drive"] == ["nvme0n1", "sda"]


def test_memory_only_domains_hang_on_a_package() -> None:
    sets = 'cpuset="0x0" nodeset="0x00000100"'
    far = f'<object type="NUMANode" os_index="8" {sets} subtype="HBM" local_memory="1073741824"/>'
    imported = read(topology(2, package(2, 0, bridge(device("0000:11:00.0", V100), host=True)) + far))
    design = imported.design
    assert design.links["cpu0--numa8"].kind == "infinity_fabric"
    assert design.parts["memory8"].overrides["tier"].value == "HBM"
    assert "numa0--gpu0" in design.links


def test_no_io() -> None:
    imported = read(topology(3, package(3, 0)))
    assert "IMP-NO-IO" in codes(imported)
    assert kinds(imported.design) == {"server": 1, "cpu": 1, "numa": 1, "memory": 1}


def test_machine_without_numa_nodes() -> None:
    tree = bridge(device("0000:11:00.0", V100), host=True)
    socket = f'<object type="Socket" os_index="0" cpuset="0x00000003"><object type="Core" os_index="0"/></object>{tree}'
    design = read(topology(1, socket)).design
    assert kinds(design)["numa"] == 0
    assert "cpu0--gpu0" in design.links
    assert "cpu0--memory0" in design.links


def matrix(names: str, values: str, count: int) -> str:
    return (
        f'<distances2hetero nbobjs="{count}" kind="25" name="NVLinkBandwidth"><indexes length="9">{names} </indexes>'
        f'<u64values length="9">{values} </u64values></distances2hetero>'
    )


def test_nvlink_bandwidths_become_counts() -> None:
    gpus = device("0000:11:00.0", V100, os_device("nvml0", 5, 701)) + device(
        "0000:12:00.0", V100, os_device("n1", 5, 702)
    )
    tail = matrix("OSDev:701 OSDev:702 Package:900", "1000000 50000 75000 50000 1000000 0 75000 0 1000000", 3)
    design = read(topology(2, package(2, 0, bridge(gpus, host=True)), tail)).design
    found = {(v.a, v.b): v.count for v in design.links.values() if v.kind == "nvlink"}
    assert found == {("gpu0", "gpu1"): 2, ("gpu0", "cpu0"): 3}
    assert design.default_workload == "all-reduce"


def test_matrix_of_wrong_size_is_refused() -> None:
    with pytest.raises(ExchangeError, match="NVLink matrix"):
        read(server(2, matrix("OSDev:702 OSDev:703", "0 1 2", 2)))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<topology></topology>", "no objects"),
        ('<object type="Machine"/>', "not a whole hwloc file"),
        (server(2)[:-40], "ends inside"),
        (server(2).replace('SYSTEM "hwloc2.dtd"', '[<!ENTITY a "b">]'), "entity"),
    ],
)
def test_refusals(text: str, reason: str) -> None:
    with pytest.raises(ExchangeError, match=reason) as refusal:
        read(text)
    assert refusal.value.remedy


def test_infiniband_of_the_serial_bus_class_is_a_nic() -> None:
    """Old adapters are of class 0c06, others of none that says network: their interfaces state what they are."""
    old = device("0000:12:00.0", "0c06 [15b3:673c] [15b3:0018] b0", os_device("ib0", 2) + os_device("mlx4_0", 3))
    bare = device("0000:13:00.0", "0c06 [15b3:673c] [15b3:0018] b0")
    odd = device("0000:14:00.0", "ff00 [17db:0501] [0000:0000] 00", os_device("hsn0", 2))
    imported = read(topology(2, package(2, 0, bridge(old + bare + odd, host=True))))
    nics = [p for p in imported.design.parts.values() if p.kind == "nic"]
    assert [p.name for p in nics] == ["ib0 / mlx4_0", "NIC 1", "hsn0"]
    assert [p.overrides["technology"].value for p in nics[:2]] == ["InfiniBand", "InfiniBand"]
    assert "IMP-SYSTEM-DEVICES" not in codes(imported)


def test_an_interface_of_a_coprocessor_or_behind_usb_is_no_nic() -> None:
    phi = device("0000:12:00.0", "0b40 [8086:225d] [8086:2500] 20", os_device("mic0", 2))
    usb = device("0000:13:00.0", "0c03 [8086:1d2d] [8086:1d2d] 06", os_device("usb0", 2))
    assert kinds(read(topology(2, package(2, 0, bridge(phi + usb, host=True)))).design)["nic"] == 0


def node(number: int, size: int, more: str = "", cpus: str = "0x00000003") -> str:
    sets = f'cpuset="{cpus}" nodeset="0x{1 << number:08x}"'
    head = f'<object type="NUMANode" os_index="{number}" gp_index="{50 + number}" {sets}'
    return f'{head} local_memory="{size}"{more}</object>'


@pytest.mark.parametrize(
    ("more", "tier", "rate"),
    [
        ('><info name="DAXDevice" value="dax0.0"/><info name="DAXType" value="NVM"/>', "PMEM", "45 GB/s"),
        (
            '><info name="DAXDevice" value="dax0.0"/><info name="DAXParent" value="root0/decoder0.0/region0"/>',
            "CXL",
            "31.5 GB/s",
        ),
        (' subtype="CXL-DRAM">', "CXL", "31.5 GB/s"),
        ('><info name="DAXDevice" value="dax1.0"/><info name="DAXType" value="SPM"/>', "DAX", "31.5 GB/s"),
    ],
)
def test_memory_of_a_dax_device_is_a_tier_and_takes_nothing_from_the_dram(more: str, tier: str, rate: str) -> None:
    """Sapphire Rapids with all channels: 8 x 4.8 GT/s x 8 bytes = 307.2 GB/s, all of it for the one DRAM node."""
    infos = "".join(
        f'<info name="{n}" value="{v}"/>'
        for n, v in (("CPUVendor", "GenuineIntel"), ("CPUFamilyNumber", "6"), ("CPUModelNumber", "143"))
    )
    inside = infos + node(0, 1 << 36, ">") + node(1, 1 << 37, more)
    socket = (
        f'<object type="Package" os_index="0" gp_index="900" cpuset="0x00000003" nodeset="0x00000003">{inside}</object>'
    )
    design = read(topology(2, socket)).design
    rates = {v.b: v.bandwidth_per_direction for v in design.links.values() if v.kind == "memory_bus"}
    assert rates == {"memory0": "307.2 GB/s", "memory1": rate}
    assert design.parts["memory1"].overrides["tier"].value == tier
    assert "tier" not in design.parts["memory0"].overrides


def test_memory_of_a_gpu_is_no_host_memory() -> None:
    text = topology(2, package(2, 0) + node(1, 1 << 36, ' subtype="GPUMemory">', "0x0"))
    imported = read(text)
    assert kinds(imported.design)["memory"] == 1
    assert "IMP-GPU-MEMORY" in codes(imported)


def sockets(latencies: list[list[int]]) -> set[tuple[str, str]]:
    """Pairs of CPUs that are joined on a machine of one NUMA node per socket with these latencies."""
    packages = "".join(
        f'<object type="Package" os_index="{n}" gp_index="{900 + n}" cpuset="0x{1 << n:08x}">'
        f'<object type="NUMANode" os_index="{n}" cpuset="0x{1 << n:08x}"/></object>'
        for n in range(len(latencies))
    )
    values = " ".join(str(v) for row in latencies for v in row)
    tail = (
        f'<distances2 type="NUMANode" nbobjs="{len(latencies)}" kind="5" name="NUMALatency" indexing="os">'
        f'<indexes length="9">{" ".join(str(n) for n in range(len(latencies)))} </indexes>'
        f'<u64values length="9">{values} </u64values></distances2>'
    )
    design = read(topology(2, packages, tail)).design
    return {(v.a, v.b) for v in design.links.values() if v.kind == "upi"}


def test_four_sockets_in_a_ring_are_not_a_full_mesh() -> None:
    """Sockets 0 and 2, 1 and 3 are two hops apart (31 against 21): no link joins them."""
    ring = [[10, 21, 31, 21], [21, 10, 21, 31], [31, 21, 10, 21], [21, 31, 21, 10]]
    assert sockets(ring) == {("cpu0", "cpu1"), ("cpu0", "cpu3"), ("cpu1", "cpu2"), ("cpu2", "cpu3")}
    mesh = [[10 if a == b else 21 for b in range(4)] for a in range(4)]
    assert len(sockets(mesh)) == 6


def test_two_boards_of_two_sockets_are_joined_abreast() -> None:
    boards = [[10, 12, 40, 40], [12, 10, 40, 40], [40, 40, 10, 12], [40, 40, 12, 10]]
    assert sockets(boards) == {("cpu0", "cpu1"), ("cpu2", "cpu3"), ("cpu0", "cpu2"), ("cpu1", "cpu3")}


def test_on_die_links_take_no_socket_ports() -> None:
    """Four NUMA domains of a Sapphire Rapids hang on it inside; its four UPI ports hold the links to its neighbour."""

    def socket(number: int) -> str:
        infos = "".join(
            f'<info name="{n}" value="{v}"/>'
            for n, v in (("CPUVendor", "GenuineIntel"), ("CPUFamilyNumber", "6"), ("CPUModelNumber", "143"))
        )
        nodes = "".join(node(4 * number + n, 1 << 36, ">", f"0x{1 << (4 * number + n):08x}") for n in range(4))
        cpus = f'cpuset="0x{15 << (4 * number):08x}"'
        return f'<object type="Package" os_index="{number}" gp_index="{900 + number}" {cpus}>{infos}{nodes}</object>'

    design = read(topology(2, socket(0) + socket(1))).design
    assert sum(v.kind == "infinity_fabric" for v in design.links.values()) == 8
    assert [f.text for f in demand_sound(design) if f.code == "DOC-PORTS"] == []
    assert free_ports(design, "cpu0", "upi") == 0


def test_old_processors_keep_their_year() -> None:
    text = server(3).replace(
        '<object type="Core"', '<info name="CPUModel" value="Intel(R) Xeon(R) CPU E5-2680 v2"/><object type="Core"', 1
    )
    imported = read(text)
    assert imported.design.parts["cpu0"].type == ""
    (stated,) = [f for f in imported.findings if f.code == "IMP-CPU-TYPE"]
    assert "E5-2680 v2" in stated.text


def test_thousands_of_overlapping_nodes_take_seconds() -> None:
    """Each node is looked at once for its sockets and its bandwidth, not once for each other node."""
    nodes = "".join(node(n, 1 << 30, ">", f"0x{3 << (n % 20):08x}") for n in range(4000))
    start = time.process_time()
    design = read(topology(2, package(2, 0) + nodes)).design
    assert kinds(design)["numa"] == 4001
    assert time.process_time() - start < 12


def test_sizes_are_spelled_as_people_do_and_kept_as_they_are() -> None:
    """33784975360 bytes are neither a whole MiB nor 33784975.36 kB for anybody."""
    part = read(server(2).replace('local_memory="68719476736"', 'local_memory="33784975360"', 1)).design.parts
    assert part["memory0"].overrides["memory_capacity"].value == "33.785 GB"
    assert part["numa0"].attributes["local_memory"] == "33784975360"


def test_memory_that_is_only_a_device_is_reported() -> None:
    imported = read(topology(2, package(2, 0) + os_device("dax0.0", 0)))
    assert kinds(imported.design)["memory"] == 1
    assert "IMP-DAX" in codes(imported)
