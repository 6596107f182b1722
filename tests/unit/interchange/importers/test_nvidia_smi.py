"""Outputs of nvidia-smi: topologies with one class for each pair, and lists of devices."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from designer.design.document import Design, Part
from designer.design.integrity import demand_sound
from designer.errors import ExchangeError
from designer.interchange.foreign.importer import Imported
from designer.interchange.foreign.matrix import parse_matrix
from designer.interchange.importing import read_any
from designer.sources import Status
from tests.budget import seeds
from tests.real import real_files

# The matrix of nvidia-smi topo -m in the ways it gets pasted.

TAIL = ("CPU Affinity", "NUMA Affinity", "GPU NUMA ID")


def table(
    names: Sequence[str], cells: Sequence[str], behind: Sequence[Sequence[str]], tail: Sequence[str] = TAIL
) -> str:
    """A matrix as the tool prints it; `cells` are the rows of the upper triangle, separated by blanks."""
    upper = [row.split() for row in cells]
    lines = ["\t" + "\t".join([*names, *tail])]
    for i, name in enumerate(names):
        row = [" X " if i == j else upper[min(i, j)][abs(i - j) - 1] for j in range(len(names))]
        lines.append("\t".join([name, *row, *behind[i]]))
    return "\n".join(lines) + "\n"


SMALL = table(
    ["GPU0", "GPU1", "NIC0", "NIC1"],
    ["SYS PXB SYS", "SYS PIX", "SYS", ""],
    [["0-15,32-47", "0", "", "N/A"], ["16-31,48-63", "1", "", "N/A"], ["", "", "", ""], ["", "", "", ""]],
)


SMALL += "\nLegend:\n\n  X    = Self\n  PIX  = Connection traversing at most a single PCIe bridge\n"


SMALL += "\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n"


def read(text: str) -> Imported:
    return read_any(text.encode(), "nvidia-smi-topo")


def kinds(design: Design) -> Counter[str]:
    return Counter(part.kind for part in design.parts.values())


def graph(design: Design) -> set[tuple[str, str, str, int]]:
    return {(v.kind, v.a, v.b, v.count) for v in design.links.values()}


def complete(gpus: int, cell: str) -> str:
    names = [f"GPU{n}" for n in range(gpus)]
    rows = [" ".join([cell] * (gpus - 1 - n)) for n in range(gpus)]
    return table(names, rows, [["0-7", "0", "", "N/A"]] * gpus)


def test_small_matrix() -> None:
    design = read(SMALL).design
    assert kinds(design) == {"server": 1, "gpu": 2, "nic": 2, "numa": 2, "cpu": 2, "memory": 2, "pcie_switch": 4}
    pcie = {(a, b) for kind, a, b, _ in graph(design) if kind == "pcie"}
    assert pcie == {
        ("numa0", "pcie_switch0"),
        ("pcie_switch0", "pcie_switch1"),
        ("pcie_switch0", "pcie_switch2"),
        ("pcie_switch1", "gpu0"),
        ("pcie_switch2", "nic0"),
        ("numa1", "pcie_switch3"),
        ("pcie_switch3", "gpu1"),
        ("pcie_switch3", "nic1"),
    }
    assert design.parts["nic0"].name == "mlx5_0"
    assert design.parts["gpu0"].attributes["cpus"] == "0-15,32-47"
    assert all(v.status is Status.ASSUMED for v in design.links.values())
    assert design.default_workload == "h2d"


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.replace("\n", "\r\n"),
        lambda t: t.replace("\n", "\r"),
        lambda t: "    " + t.replace("\n", "\n    "),
        lambda t: t.replace("\tGPU0", "\t\x1b[4mGPU0", 1).replace("NUMA ID", "NUMA ID\x1b[0m", 1),
        lambda t: "\x1b[4m" + t.replace("NUMA ID", "NUMA ID\x1b[0m", 1),
        lambda t: "\x1b]0;title\x07\x1b[2J" + t,
        lambda t: "$ nvidia-smi topo -m\n" + t,
        lambda t: t.replace("GPU0\tGPU1\tNIC0\tNIC1", "GPU0GPU1NIC0NIC1", 1),
        lambda t: t.lstrip("\t"),
        lambda t: t.replace("CPU Affinity", "CPU    Affinity", 1),
        lambda t: t.replace("\t", "\u00a0\t\u00a0"),
        lambda t: "\ufeff" + t,
        lambda t: t.replace(" X ", "X"),
        lambda t: t + "\n\n$ \n",
    ],
)
def test_every_paste_reads_alike(change: object) -> None:
    assert callable(change)
    assert graph(read(change(SMALL)).design) == graph(read(SMALL).design)


def test_tabs_turned_to_blanks() -> None:
    wide = "\n".join(line.replace("\t\t", "\t").expandtabs(8) for line in SMALL.splitlines())
    assert graph(read(wide).design) == graph(read(SMALL).design)


def test_oldest_words() -> None:
    old = table(["GPU0", "GPU1", "mlx4_0"], ["SOC PHB", "SOC", ""], [["0-5"], ["6-11"], []], ["CPU Affinity"])
    design = read(old).design
    assert kinds(design)["numa"] == 2
    assert ("pcie", "numa0", "nic0", 1) in graph(design)


@pytest.mark.parametrize(
    ("gpus", "cell", "switches", "total"),
    [
        (8, "NV12", 1, 96),
        (8, "NV18", 1, 144),
        (4, "NV18", 1, 72),
        (4, "NV4", 0, 24),
        (4, "NV6", 0, 36),
        (2, "NV12", 0, 12),
        (16, "NV6", 1, 96),
        (8, "NV6", 1, 48),
        (3, "NV12", 1, 36),
    ],
)
def test_fabric_or_direct(gpus: int, cell: str, switches: int, total: int) -> None:
    design = read(complete(gpus, cell)).design
    assert kinds(design)["nvswitch"] == switches
    assert sum(v.count for v in design.links.values() if v.kind == "nvlink") == total
    assert design.default_workload == "all-reduce"


def test_empty_cpu_affinity_between_tabs() -> None:
    text = table(["GPU0", "GPU1"], ["SYS", ""], [["", "0", "", "N/A"], ["", "1", "", "N/A"]])
    assert {p.id for p in read(text).design.parts.values() if p.kind == "numa"} == {"numa0", "numa1"}


def test_affinity_against_the_matrix_is_reported() -> None:
    text = table(["GPU0", "GPU1"], ["SYS", ""], [["0-7", "0", "", "N/A"], ["0-7", "0", "", "N/A"]])
    assert "IMP-CONTRADICTION" in {f.code for f in read(text).findings}


def test_nic_far_from_everything_gets_a_domain_of_its_own() -> None:
    text = table(["GPU0", "NIC0"], ["SYS", ""], [["0-7", "3", "", "N/A"], []])
    imported = read(text)
    assert kinds(imported.design)["numa"] == 2
    assert "IMP-DERIVED-NUMA" in {f.code for f in imported.findings}


P2P = "\tGPU0\tGPU1\t\n GPU0\tX\tOK\t\n GPU1\tOK\tX\t\n\nLegend:\n  CNS = Chipset not supported\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (P2P, "topo -p2p"),
        (SMALL.replace("SYS\tPXB", "SYSPXB", 1), "glued"),
        (SMALL.replace("GPU1\tSYS\t X \tSYS\tPIX", "GPU1\tSYS\t X \tSYS\n\tPIX", 1), "cells"),
        (SMALL.replace("GPU1\tSYS\t X ", "GPU1\tNODE\t X ", 1), "GPU1 to GPU0 says NODE"),
        (SMALL.replace("GPU0\t X \tSYS", "GPU0\tSYS\t X ", 1), "with itself is SYS"),
        (SMALL.replace("GPU0\t X \tSYS", "GPU0\t X \tABC", 1), "not a connection"),
        ("\n".join(line for line in SMALL.splitlines() if not line.startswith("NIC1\t")), "rows are missing: NIC1"),
        (SMALL + SMALL, "second table|comes twice"),
        (SMALL.replace("NIC1\tCPU", "NIC0\tCPU", 1), "names NIC0 twice"),
        ("Legend:\n\n  X    = Self\n", "no header"),
        ("\tGPU0\tGPU1\n", "rows are missing"),
        (complete(300, "SYS"), "more than 256"),
    ],
)
def test_refusals(text: str, reason: str) -> None:
    with pytest.raises(ExchangeError, match=reason) as refusal:
        read(text)
    assert refusal.value.remedy or reason.startswith("more than")
    assert refusal.value.file


def test_eighteen_links_may_be_twice_as_fast_as_assumed() -> None:
    """H100 and B200 tables look the same, but a link of the latter carries twice as much: that must be said."""
    stated = {f.code: f for f in read(complete(8, "NV18")).findings}
    assert "50 GB/s" in stated["IMP-ASSUMED-GPU"].text
    assert len(stated["IMP-ASSUMED-GPU"].where) == 8
    assert "IMP-ASSUMED-GPU" not in {f.code for f in read(complete(8, "NV12")).findings}


@pytest.mark.parametrize("cell", ["NV12", "NV18"])
def test_a_fabric_drawn_as_one_has_ports_for_all_its_links(cell: str) -> None:
    findings = demand_sound(read(complete(8, cell)).design)
    assert [f for f in findings if f.code == "DOC-PORTS"] == []


def test_one_gpu_has_its_way_from_memory_as_workload_and_the_machine_keeps_its_title() -> None:
    design = read(table(["GPU0", "NIC0"], ["PHB", ""], [["0-7", "0", "", "N/A"], ["", "", "", ""]])).design
    assert list(design.workloads) == ["h2d"]
    assert design.default_workload == "h2d"
    assert design.title == "1 server, 1 GPU, 1 NIC, 1 socket"


def test_grace_reaches_its_cpu_over_the_chip_link_and_not_over_pcie() -> None:
    """A GPU with a NUMA node of its own is on Grace: 450 GB/s of one CPU, and half of that where two GPUs share it."""
    names = ["GPU0", "GPU1", "NIC0"]
    behind = [["0-71", "0", "", "4"], ["0-71", "0", "", "12"], []]
    two = read(table(names, ["NV18 NODE", "NODE", ""], behind))
    assert {(v.a, v.b, v.bandwidth_per_direction) for v in two.design.links.values() if v.kind == "c2c"} == {
        ("numa0", "gpu0", "225 GB/s"),
        ("numa0", "gpu1", "225 GB/s"),
    }
    assert {(a, b) for kind, a, b, _ in graph(two.design) if kind == "pcie"} == {("numa0", "nic0")}
    assert "IMP-ASSUMED-C2C" in {f.code for f in two.findings}
    one = read(table(["GPU0", "NIC0"], ["NODE", ""], [["0-71", "0", "", "1"], []])).design
    assert [v.bandwidth_per_direction for v in one.links.values() if v.kind == "c2c"] == ["450 GB/s"]


def test_two_boards_that_share_no_nvlinks_are_two_fabrics() -> None:
    names = [f"GPU{n}" for n in range(8)]
    rows = [" ".join("NV12" if a // 4 == b // 4 else "SYS" for b in range(a + 1, 8)) for a in range(8)]
    design = read(table(names, rows, [["", str(n // 4), "", "N/A"] for n in range(8)])).design
    assert kinds(design)["nvswitch"] == 2
    boards = {v.b: {x.a for x in design.links.values() if x.b == v.b} for v in design.links.values() if v.count == 12}
    assert sorted(map(len, boards.values())) == [4, 4]


# Every cell of a matrix of nvidia-smi topo -m comes back from the design that is drawn of it.

REFUSED = "p2p_matrix_NOT_topo_m.txt"


#: real tables whose affinity columns do not fit their classes
CONTRADICTS = {"gb200x4_ansi_exact_bytes.txt"}


class Drawing:
    """What a design draws: the way up from each device, and its NVLinks by where they lead."""

    def __init__(self, design: Design) -> None:
        self.parts = design.parts
        self.upper = {link.b: link.a for link in design.links.values() if link.kind in ("pcie", "c2c")}
        self.to: dict[str, dict[str, int]] = {}
        for link in design.links.values():
            if link.kind == "nvlink":
                for end, far in ((link.a, link.b), (link.b, link.a)):
                    counts = self.to.setdefault(end, {})
                    counts[far] = counts.get(far, 0) + link.count

    def above(self, part: Part) -> list[str]:
        """PCIe switches above a device, then the NUMA domain it hangs from."""
        way, at = [], part.id
        while at in self.upper:
            at = self.upper[at]
            way.append(at)
        return way

    def distance(self, a: Part, b: Part) -> str:
        """The class of two devices by what nvidia-smi says it means."""
        one, other = self.above(a), self.above(b)
        meeting = next((part for part in one if part in other), None)
        if meeting is None:
            return "SYS"
        if self.parts[meeting].kind == "pcie_switch":
            return "PIX" if one[0] == other[0] else "PXB"
        return "PHB" if a.attributes.get("host_bridge") == b.attributes.get("host_bridge") else "NODE"

    def nvlinks(self, a: Part, b: Part) -> str:
        """``NV4`` for four NVLinks between two GPUs, or for four of each into the same switches; else empty."""
        one, other = self.to.get(a.id, {}), self.to.get(b.id, {})
        if b.id in one:
            return f"NV{one[b.id]}"
        shared = [part for part in one if part in other and self.parts[part].kind == "nvswitch"]
        return f"NV{min(sum(to[s] for s in shared) for to in (one, other))}" if shared else ""


def wrong_cells(text: str, imported: Imported) -> list[tuple[str, str, str, str]]:
    matrix = parse_matrix(text, "table")
    drawing = Drawing(imported.design)
    parts = {part.attributes["row"]: part for part in drawing.parts.values() if "row" in part.attributes}
    found: list[tuple[str, str, str, str]] = []
    for i, one in enumerate(matrix.rows):
        for j, other in enumerate(matrix.rows[:i]):
            cell, a, b = matrix.cell(i, j), parts[one.name], parts[other.name]
            seen = drawing.nvlinks(a, b) if cell.startswith("NV") else drawing.distance(a, b)
            if seen != cell:
                found.append((one.name, other.name, cell, seen))
    return found


def random_table(chance: random.Random) -> str:
    """A table of a machine made up at random: domains, host bridges, switches in two levels, GPUs and NICs on them."""
    places: list[tuple[int, ...]] = []
    for domain in range(chance.randint(1, 4)):
        for bridge in range(chance.randint(1, 3)):
            for family in range(chance.randint(1, 3)):
                for group in range(chance.randint(1, 3)):
                    places += [(domain, bridge, family, group)] * chance.choice((0, 1, 1, 2, 3))
    places = places or [(0, 0, 0, 0)]
    chance.shuffle(places)
    gpus = max(1, chance.randint(0, len(places)))
    names = [f"GPU{n}" if n < gpus else f"NIC{n - gpus}" for n in range(len(places))]
    classes = ("SYS", "NODE", "PHB", "PXB", "PIX")
    cells: dict[tuple[int, int], str] = {}
    pattern = chance.choice(("none", "pairs", "fabric"))
    for i, one in enumerate(places):
        for j, other in enumerate(places[:i]):
            depth = next((k for k in range(4) if one[k] != other[k]), 4)
            cell = classes[depth]
            if i < gpus and pattern == "pairs" and i // 2 == j // 2:
                cell = "NV4"
            if i < gpus and pattern == "fabric" and gpus > 3:
                cell = "NV12"
            cells[i, j] = cells[j, i] = cell
    stated = chance.random() < 0.7
    lines = ["\t" + "\t".join([*names, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"])]
    for i, name in enumerate(names):
        row = [" X " if i == j else cells[i, j] for j in range(len(names))]
        tail = ["", str(places[i][0]), "", "N/A"] if stated and i < gpus else ["", "", "", ""]
        lines.append("\t".join([name, *row, *tail]))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", seeds(2, 10))
def test_every_cell_of_fifty_random_machines(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(50):
        text = random_table(chance)
        imported = read_any(text.encode(), "nvidia-smi-topo")
        assert wrong_cells(text, imported) == [], text
        assert not {f.code for f in imported.findings} & {"IMP-CLASS-CONFLICT", "IMP-CONTRADICTION"}, text


@pytest.mark.real
@pytest.mark.parametrize(
    "path", [p for p in real_files("nvidia_smi_topo/*") if p.name != REFUSED], ids=lambda p: p.name
)
def test_every_cell_of_a_real_table(path: Path) -> None:
    imported = read_any(path)
    assert wrong_cells(path.read_text("utf-8"), imported) == []
    assert ("IMP-CONTRADICTION" in {f.code for f in imported.findings}) == (path.name in CONTRADICTS)


def rows(cells: Mapping[tuple[str, str], str], names: list[str]) -> str:
    lines = ["\t" + "\t".join(names)]
    for one in names:
        row = ["X" if one == other else cells.get((one, other)) or cells[other, one] for other in names]
        lines.append("\t".join([one, *row]))
    return "\n".join(lines) + "\n"


def test_a_cell_no_tree_can_have_is_reported() -> None:
    """One switch holds GPU0 and NIC0, and NIC0 and NIC1, so GPU0 and NIC1 cannot be on different host bridges."""
    cells = {("GPU0", "NIC0"): "PIX", ("NIC0", "NIC1"): "PIX", ("GPU0", "NIC1"): "NODE"}
    text = rows(cells, ["GPU0", "NIC0", "NIC1"])
    imported = read_any(text.encode(), "nvidia-smi-topo")
    assert [cell[2:] for cell in wrong_cells(text, imported)] == [("NODE", "PIX")]
    (stated,) = [f for f in imported.findings if f.code == "IMP-CLASS-CONFLICT"]
    assert "GPU0 to NIC1 is NODE in the table and PIX as drawn" in stated.text


def test_host_bridges_that_are_not_drawn_are_reported() -> None:
    cells = {("GPU0", "GPU1"): "PHB", ("GPU0", "NIC0"): "NODE", ("GPU1", "NIC0"): "NODE"}
    imported = read_any(rows(cells, ["GPU0", "GPU1", "NIC0"]).encode(), "nvidia-smi-topo")
    assert "IMP-HOST-BRIDGES" in {f.code for f in imported.findings}
    bridges = {part.id: part.attributes.get("host_bridge") for part in imported.design.parts.values()}
    assert bridges["gpu0"] == bridges["gpu1"] != bridges["nic0"]


def test_the_largest_table_reads_in_a_few_seconds() -> None:
    """256 GPUs behind NVSwitches: pairs are gone through a fixed number of times, not once for each GPU."""
    names = [f"GPU{n}" for n in range(256)]
    lines = ["\t" + "\t".join(names)]
    lines += ["\t".join([one, *("X" if one == other else "NV18" for other in names)]) for one in names]
    start = time.process_time()
    read_any("\n".join(lines).encode(), "nvidia-smi-topo")
    assert time.process_time() - start < 8
