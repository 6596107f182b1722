"""Every cell of a matrix of nvidia-smi topo -m comes back from the design that is drawn of it."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from designer.design.document import Design, Part
from designer.interchange.foreign.importer import Imported
from designer.interchange.foreign.matrix import parse_matrix
from designer.interchange.importing import read_any
from tests.budget import seeds
from tests.real import real_files

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
