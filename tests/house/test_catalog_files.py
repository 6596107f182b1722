"""Every part file of the catalog keeps the rules: one parametrised test over all of them, then a few over the whole."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from designer import resources
from designer.catalog.architectures import architecture, by_gfx
from designer.catalog.loader import Catalog, load_catalog, read_part_file, unlisted_products
from designer.catalog.parttype import Field, PartType, link_kinds, part_kinds
from designer.catalog.sources import load_sources
from designer.fields import Quantity
from designer.sources import Status
from designer.units import DIMENSIONS

FOLDER = resources.assets() / "catalog"
FILES = sorted(FOLDER.rglob("*.toml"))
RECOGNITION = resources.assets() / "recognition"
UNLISTED = sorted((RECOGNITION / "unlisted").rglob("*.toml"))


def _id(path: Path) -> str:
    return path.relative_to(FOLDER).with_suffix("").as_posix()


@pytest.mark.parametrize("path", FILES, ids=_id)
def test_part_file(path: Path) -> None:
    part = read_part_file(path, _id(path))  # schema, id = path, known kind, known values, units
    assert len(part.id.split("/")) == 3, "ids are kind/vendor/part"
    assert part.title
    assert part.title == part.title.strip()
    kind = part_kinds()[part.kind]
    for name, quantity in part.values.items():
        field = kind.field(name)
        assert field is not None
        _check_value(name, field, quantity)
        assert quantity.source in part.sources, f"{name} cites no source of the file"
    assert set(part.sources) == {q.source for q in part.values.values()}, "a source is listed but not cited"


def test_a_source_stands_in_one_file() -> None:
    """A record is cited by its key: no part repeats one of the shared files or of another part."""
    homes: dict[str, list[str]] = {key: ["assets/sources"] for key in load_sources()}
    for path in FILES:
        for key in tomllib.loads(path.read_text(encoding="utf-8")).get("sources", {}):
            homes.setdefault(key, []).append(_id(path))
    assert {key: files for key, files in homes.items() if len(files) > 1} == {}


def _check_value(name: str, field: Field, quantity: Quantity) -> None:
    if field.dimension not in DIMENSIONS:
        return
    value = quantity.si(field.dimension)
    for end, sign in ((quantity.low, -1), (quantity.high, 1)):
        if end is not None:
            limit = Quantity(value=end).si(field.dimension)
            assert sign * (limit - value) >= 0, f"{name}: the band does not hold the value"
    if field.dimension == "ratio" or name == "nvlink_links":
        return
    assert isinstance(quantity.value, str), f"{name} is written without unit"


@pytest.mark.parametrize("path", FILES, ids=_id)
def test_part_file_is_pleasant_to_read(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    head = text.partition("[values]")[0]
    assert list(tomllib.loads(text))[:3] == ["id", "kind", "title"]
    assert max(map(len, head.splitlines())) <= 120
    assert "\t" not in text
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert not re.search(r"\bnode\b|\bdevice\b", str(load_catalog().get(_id(path)).title).casefold())


def test_statuses_agree_with_their_sources() -> None:
    """A value may be less sure than its source, never surer."""
    floor = {Status.UNVERIFIED, Status.ASSUMED, Status.DERIVED}
    for part in load_catalog().all():
        for name, quantity in part.values.items():
            status = part.sources[quantity.source].status
            if status in floor:
                assert quantity.status is status, f"{part.id}: {name}"
            if quantity.status is Status.PRIMARY:
                assert status is Status.PRIMARY, f"{part.id}: {name}"


def test_titles_are_unique() -> None:
    titles = Counter(p.title.casefold() for p in load_catalog().all())
    assert [t for t, n in titles.items() if n > 1] == []


def test_no_two_parts_are_the_same() -> None:
    seen: dict[object, str] = {}
    for part in load_catalog().all():
        values = tuple((n, q.value) for n, q in part.values.items())
        if len(values) < 9:  # makers do sell NICs of the same rate; places for unknown parts are nearly empty
            continue
        assert (part.kind, values) not in seen, f"{part.id} is a twin of {seen[(part.kind, values)]}"
        seen[(part.kind, values)] = part.id


def test_every_kind_has_a_part_and_every_folder_a_kind() -> None:
    assert {i.split("/")[0] for i in load_catalog().ids()} == set(part_kinds())


def test_a_name_leads_to_one_part() -> None:
    """Every name of a part leads to that part: no two parts claim one."""
    catalog = load_catalog()
    names = [(name, id) for id, recognition in catalog.recognitions.items() for name in recognition.spelled]
    assert len(names) > 350
    for name, id in names:
        assert catalog.resolve(name) == id, f"{name!r} of {id} leads to {catalog.resolve(name)}"


def test_numbers_are_not_claimed_twice() -> None:
    """PCI ids, chips and CPUID numbers represent one product, in the catalog or next to it."""
    claims: dict[str, list[str]] = {}
    for catalog in (load_catalog(), unlisted_products()):
        for id, recognition in catalog.recognitions.items():
            for number in (*recognition.pci, *recognition.chips, *recognition.cpuid):
                claims.setdefault(number, []).append(id)
    assert {number: ids for number, ids in claims.items() if len(ids) > 1} == {}


#: names of products as makers print them; each fits the patterns of one part at most, so no order decides
PRODUCT_NAMES = [
    "Intel(R) Xeon(R) CPU E5-2680 0 @ 2.70GHz",
    "Intel(R) Xeon(R) CPU E5-2670 v2 @ 2.50GHz",
    "Intel(R) Xeon(R) CPU E5-2699 v3 @ 2.30GHz",
    "Intel(R) Xeon(R) CPU E7-8890 v4 @ 2.20GHz",
    "Intel(R) Xeon(R) CPU E7- 4870  @ 2.40GHz",
    "Intel(R) Xeon(R) Platinum 8174 CPU @ 3.10GHz",
    "Intel(R) Xeon(R) Platinum 8275CL CPU @ 3.00GHz",
    "Intel(R) Xeon(R) Platinum 8380HL CPU @ 2.90GHz",
    "Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz",
    "Intel(R) Xeon(R) Gold 6448Y",
    "INTEL(R) XEON(R) PLATINUM 8592+",
    "Intel(R) Xeon(R) CPU Max 9480",
    "Intel(R) Xeon(R) 6780E",
    "Intel(R) Xeon(R) 6980P",
    "Intel(R) Xeon(R) 6787P",
    "AMD EPYC 7601 32-Core Processor",
    "AMD EPYC 7742 64-Core Processor",
    "AMD EPYC 7R13 Processor",
    "AMD EPYC 9654 96-Core Processor",
    "AMD EPYC 9575F 64-Core Processor",
    "POWER9 (raw), altivec supported",
    "POWER8NVL (raw), altivec supported",
    "MF0;ib-leaf-01:MQM9700/U1",
    "MF0;ib-leaf-02:MQM8700/U1",
]


@pytest.mark.parametrize("name", PRODUCT_NAMES)
def test_patterns_do_not_overlap(name: str) -> None:
    fitting = [
        id
        for catalog in (load_catalog(), unlisted_products())
        for id, recognition in catalog.recognitions.items()
        if any(re.search(pattern, name, re.IGNORECASE) for pattern in recognition.patterns)
    ]
    assert len(fitting) == 1


@pytest.mark.parametrize("path", UNLISTED, ids=lambda p: p.relative_to(RECOGNITION).with_suffix("").as_posix())
def test_product_beside_the_catalog(path: Path) -> None:
    id = path.relative_to(RECOGNITION / "unlisted").with_suffix("").as_posix()
    part = read_part_file(path, id)
    assert id not in load_catalog(), "a product of the catalog is recognised by its own file"
    assert {q.source for q in part.values.values()} <= set(part.sources)
    recognition = unlisted_products().recognitions[id]
    if recognition.taken_for:
        assert recognition.taken_for in load_catalog()
        assert recognition.guess, "say what is guessed"


def test_architectures_are_known_and_agree_with_their_parts() -> None:
    """A part of an architecture says the same of its links as the typical part, or says less of them."""
    for catalog in (load_catalog(), unlisted_products()):
        for id, recognition in catalog.recognitions.items():
            if recognition.architecture:
                usual = architecture(recognition.architecture)
                assert usual.pcie_generation, id
                assert usual.of(catalog.get(id)).link_rate == usual.link_rate, id
    gpus = [i for i in load_catalog().ids("gpu") if "generic" not in i]
    assert all(load_catalog().recognitions[id].architecture for id in gpus), "say the architecture of every GPU"
    assert by_gfx("90a") is architecture("cdna2")


#: a text that is nothing but a rate, a pair of PCI ids or a device id: a fact about hardware
HARDWARE_FACT = re.compile(r"[0-9.]+ ?[KMGT]i?[Bb](?:/s|ps)|[0-9a-f]{4}:[0-9a-f]{4}|0x(?!10de|1002|15b3)[0-9a-f]{4}")


def test_importers_know_no_hardware() -> None:
    """What hardware has and how it is numbered is in the catalog; importers know formats."""
    code = Path(__file__).parents[2] / "designer" / "interchange"
    found: list[str] = []
    for path in sorted((*code.glob("foreign/*.py"), *code.glob("importers/*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and HARDWARE_FACT.fullmatch(node.value):
                found.append(f"{path.name}:{node.lineno} {node.value[:60]!r}")
            if isinstance(node, ast.Dict) and len(node.keys) > 12:
                found.append(f"{path.name}:{node.lineno} a table of {len(node.keys)} rows")
    assert found == []


def test_adding_a_part_is_one_file(tmp_path: Path) -> None:
    """A new GPU with names, PCI ids and a source of its own: listed, found, recognised in a dump, and nothing else."""
    source = resources.assets() / "catalog" / "gpu/nvidia/h200-sxm.toml"
    text = source.read_text(encoding="utf-8").partition("[recognition]")
    new = text[0].replace("gpu/nvidia/h200-sxm", "gpu/nvidia/x900").replace("H200 SXM", "X900")
    new += """[recognition]
architecture = "hopper"
names = ["X900 Ultra Max"]

[recognition.pci]
"10de:f900" = "X900"

[values]
memory_capacity = { value = "300 GB", source = "x900-sheet", status = "primary" }
nvlink_links = { value = 20, source = "S06", status = "secondary" }

[sources.x900-sheet]
title  = "X900 data sheet"
status = "primary"
"""
    path = tmp_path / "gpu/nvidia/x900.toml"
    path.parent.mkdir(parents=True)
    path.write_text(new, encoding="utf-8")
    catalog = Catalog(tmp_path)
    part = catalog.get("gpu/nvidia/x900")
    assert set(part.sources) == {"S06", "x900-sheet"}
    assert part.sources["S06"].title == load_sources()["S06"].title
    assert catalog.find("x900 ultra")[0].id == catalog.resolve("NVIDIA X900 Ultra Max") == part.id
    assert catalog.resolve("10de:f900") == part.id
    assert architecture(catalog.recognitions[part.id].architecture).of(part).links == 20


def test_link_constants_cite_sources() -> None:
    registered = load_sources()
    for kind in link_kinds().values():
        constant = kind.latency
        assert constant.source in registered, f"{kind.name} cites {constant.source}"
        assert constant.low < constant.value < constant.high


#: per direction and dense everywhere; published figures, so a slip of a factor two fails
PUBLISHED = [
    ("gpu/nvidia/h100-sxm5", "accelerator_bandwidth_per_direction", 450e9),
    ("gpu/nvidia/h100-sxm5", "flops_bf16", 989e12),
    ("gpu/nvidia/h100-sxm5", "memory_bandwidth", 3.35e12),
    ("gpu/nvidia/h100-pcie", "flops_bf16", 756e12),
    ("gpu/nvidia/h100-pcie", "memory_bandwidth", 2.0e12),
    ("gpu/nvidia/h200-sxm", "memory_reported", 143771 * 2**20),
    ("gpu/nvidia/a100-80-sxm4", "flops_bf16", 312e12),
    ("gpu/nvidia/a100-80-sxm4", "memory_bandwidth", 2.039e12),
    ("gpu/nvidia/a40", "accelerator_bandwidth_per_direction", 56.25e9),
    ("gpu/nvidia/l4", "flops_fp8", 242e12),
    ("gpu/nvidia/p40", "flops_fp16", 0.18e12),
    ("gpu/nvidia/m60", "memory_capacity", 8e9),
    ("gpu/nvidia/v100-sxm2", "accelerator_bandwidth_per_direction", 150e9),
    ("gpu/nvidia/p100-sxm2", "accelerator_bandwidth_per_direction", 80e9),
    ("gpu/nvidia/b200", "memory_capacity", 180e9),
    ("gpu/nvidia/gb200", "c2c_bandwidth_per_direction", 225e9),
    ("gpu/nvidia/h800-sxm5", "accelerator_bandwidth_per_direction", 200e9),
    ("gpu/amd/mi300x", "accelerator_bandwidth_per_direction", 448e9),
    ("gpu/amd/mi250x-gcd", "flops_fp16", 191.5e12),
    ("nic/nvidia/connectx-7", "bandwidth_per_direction", 50e9),
    ("nic/nvidia/connectx-6", "bandwidth_per_direction", 25e9),
    ("nic/nvidia/connectx-8", "bandwidth_per_direction", 100e9),
    ("nic/generic/ethernet-100g", "bandwidth_per_direction", 12.5e9),
    ("switch/nvidia/qm9700", "bandwidth_per_direction", 25.6e12 / 8),
    ("switch/nvidia/qm8700", "bandwidth_per_direction", 8e12 / 8),
    ("switch/nvidia/sn5600", "bandwidth_per_direction", 51.2e12 / 8),
    ("cpu/amd/epyc-milan", "memory_bandwidth", 204.8e9),
    ("memory/generic/ddr4-3200-8ch", "memory_bandwidth", 204.8e9),
    ("pcie_switch/broadcom/pex89048", "hop_latency", 115e-9),
    ("storage/generic/nfs-single-mount", "client_read_bandwidth", 2e9),
    ("drive/generic/hdd", "random_read_rate", 125.0),
]


@pytest.mark.parametrize(("id", "name", "value"), PUBLISHED, ids=lambda x: str(x))
def test_published_value(id: str, name: str, value: float) -> None:
    assert load_catalog().get(id).number(name) == pytest.approx(value, rel=1e-9)


def test_links_times_rate_is_the_total() -> None:
    """18 x 25 = 450, and so on for every accelerator and NVSwitch that gives all three."""
    checked = 0
    for part in load_catalog().all():
        links = part.number("nvlink_links") or part.number("xgmi_links") or part.number("ports")
        each = part.number("link_bandwidth_per_direction")
        total = part.number("accelerator_bandwidth_per_direction") or part.number("bandwidth_per_direction")
        if links and each and total:
            assert links * each == pytest.approx(total), part.id
            checked += 1
    assert checked > 25


def test_ports_times_rate_is_the_capacity_of_switches_and_nics() -> None:
    for kind in ("switch", "nic", "dpu"):
        for part in load_catalog().all(kind):
            ports, each = part.number("ports"), part.number("port_bandwidth_per_direction")
            total = part.number("bandwidth_per_direction")
            if part.id == "nic/intel/e810" or not (ports and each and total):
                continue  # its two 100 Gb/s ports share 100 Gb/s
            uplinks = (part.number("uplink_ports") or 0) * (part.number("uplink_port_bandwidth_per_direction") or 0)
            assert ports * each + uplinks == pytest.approx(total), part.id


def test_channels_times_rate_is_the_memory_bandwidth() -> None:
    for part in load_catalog().all("memory"):
        channels, each = part.number("memory_channels"), part.number("bandwidth_per_channel")
        if channels and each:
            assert channels * each == pytest.approx(part.number("memory_bandwidth"), rel=1e-3), part.id


@pytest.mark.parametrize("id", [i for i in Catalog().ids("gpu") if "generic" not in i])
def test_rates_of_a_gpu_are_dense_and_fit_together(id: str) -> None:
    part = load_catalog().get(id)
    fp16, fp8, int8 = part.number("flops_fp16"), part.number("flops_fp8"), part.number("flops_int8")
    if fp16 and fp8:
        # Trainium2: 1,299 against 667 TFLOP/s in its data sheet, 1.948 times as much
        assert fp8 == pytest.approx(2 * fp16, rel=0.02 if id != "gpu/amazon/trainium2" else 0.03), (
            "FP8 is twice FP16, both dense"
        )
    if fp16 and int8 and id != "gpu/nvidia/p40":  # whose FP16 runs at 1/64 of FP32
        assert min(abs(int8 / fp16 / ratio - 1) for ratio in (1, 2, 4)) < 0.02, (
            "INT8 is 1, 2 or 4 times FP16, both dense"
        )
    assert part.number("memory_capacity")
    assert part.number("memory_bandwidth")


@pytest.mark.parametrize(
    ("id", "absent"),
    [
        ("gpu/nvidia/a100-80-sxm4", "flops_fp8"),  # no such hardware, though one table prints a figure
        ("gpu/nvidia/b300", "flops_int8"),  # cut sharply, sources carry the older figure over
        ("gpu/nvidia/v100-pcie", "accelerator_bandwidth_per_direction"),
        ("gpu/nvidia/l40s", "accelerator_bandwidth_per_direction"),
        ("gpu/nvidia/gb200", "pcie_lanes"),  # reaches the CPU over the chip-to-chip link
    ],
)
def test_value_left_out_on_purpose(id: str, absent: str) -> None:
    assert absent not in load_catalog().get(id).values


def test_sxm_and_pcie_modules_differ() -> None:
    catalog = load_catalog()
    sxm, card = catalog.get("gpu/nvidia/h100-sxm5"), catalog.get("gpu/nvidia/h100-pcie")
    for name in ("flops_bf16", "memory_bandwidth", "nvlink_links", "streaming_multiprocessors", "power_per_part"):
        high, low = sxm.number(name), card.number(name)
        assert high is not None
        assert low is not None
        assert high > low, name


def test_hosts_feed_their_cards() -> None:
    """Trap: a 400 Gb/s NIC needs Gen5 x16; the catalog gives what the slot check needs."""
    part = load_catalog().get("nic/nvidia/connectx-7")
    lanes, gen = part.number("pcie_lanes"), part.number("pcie_generation")
    assert (lanes, gen) == (16, 5)


def test_every_field_of_a_kind_is_used_by_some_part() -> None:
    used: dict[str, set[str]] = {}
    for part in load_catalog().all():
        used.setdefault(part.kind, set()).update(part.values)
    designs_give = {
        ("numa", "cores"),
        ("numa", "memory_capacity"),
        ("gpu", "flops_fp64"),
        ("drive", "power_per_part"),
        ("storage", "capacity"),
        ("storage", "random_read_rate"),
        ("storage", "random_write_rate"),
        ("storage", "ports"),
        ("storage", "height"),
        ("storage", "power_max"),
        ("switch", "tier"),
        ("switch", "power_max"),
        ("nic", "power_per_part"),
        ("dpu", "role"),
        ("storage", "weight"),
        # the servers of a system that somebody builds, or what is bought of a cloud
        ("storage", "provisioned_bandwidth"),
        ("storage", "servers"),
        ("storage", "server_bandwidth"),
        ("storage", "server_cores"),
        ("storage", "drives"),
        ("storage", "drive_read_bandwidth"),
        ("storage", "drive_write_bandwidth"),
        ("storage", "redundancy"),
        ("drive", "redundancy"),
        ("storage", "file_servers"),
        ("storage", "client_cores"),
        ("storage", "client_release"),
        ("storage", "client_requests"),
        ("storage", "client_request_size"),
        ("storage", "connection_bandwidth"),
        # settings of what runs there, which no data sheet has
        ("cpu", "numa_nodes_per_socket"),
        ("gpu", "power_cap"),
        ("gpu", "power_floor"),
        ("nic", "active_uplinks"),
        ("nic", "subnet"),
        ("nic", "tcp_stack"),
        ("nic", "teaming"),
        ("server", "drs_threshold"),
        ("server", "memory_tiering"),
        ("server", "vgpu_maintenance_automated"),
    }
    idle = {(k.name, f.name) for k in part_kinds().values() for f in k.fields if f.name not in used[k.name]}
    assert idle <= designs_give


def _quantities(part: PartType) -> int:
    return len(part.values)


def test_the_catalog_is_not_thin() -> None:
    counts = Counter(p.kind for p in load_catalog().all() if _quantities(p) > 1)
    assert counts["gpu"] >= 50
    assert counts["cpu"] >= 16
    assert counts["nic"] + counts["dpu"] >= 20
    assert counts["switch"] + counts["nvswitch"] >= 16
    assert counts["storage"] >= 15
