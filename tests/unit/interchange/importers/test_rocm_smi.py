"""The tables of rocm-smi --showtopo; layout as printed by ROCm 5 to 7."""

from __future__ import annotations

from collections import Counter

import pytest

from designer.errors import ExchangeError
from designer.interchange.importing import read_any


def _table(title: str, cells: list[list[str]]) -> str:
    head = "       " + "".join(f"GPU{i:<9}" for i in range(len(cells)))
    rows = [f"GPU{i}   " + "".join(f"{cell:<13}" for cell in row) for i, row in enumerate(cells)]
    return "\n".join([f"{'=' * 26} {title} between two GPUs {'=' * 26}", head, *rows, ""])


def _dump(kind: str, weight: str, gpus: int = 4, far: str = "") -> str:
    def cells(value: str) -> list[list[str]]:
        return [["0" if i == j else value for j in range(gpus)] for i in range(gpus)]

    weights = cells(weight)
    if far:
        weights[0][gpus - 1] = weights[gpus - 1][0] = far
    numa = "".join(
        f"GPU[{i}]\t\t: (Topology) Numa Node: {i * 2 // gpus}\nGPU[{i}]\t\t: (Topology) Numa Affinity: 0\n"
        for i in range(gpus)
    )
    return (
        f"{'=' * 24} ROCm System Management Interface {'=' * 24}\n"
        + _table("Weight", weights)
        + _table("Hops", cells("1"))
        + _table("Link Type", cells(kind))
        + f"{'=' * 34} Numa Nodes {'=' * 34}\n{numa}{'=' * 29} End of ROCm SMI Log {'=' * 30}\n"
    )


def test_eight_gpus_all_joined() -> None:
    """Eight GPUs, each with each: 28 pairs; four in each of two NUMA nodes."""
    design = read_any(_dump("XGMI", "15", 8).encode()).design
    kinds = Counter(p.kind for p in design.parts.values())
    assert (kinds["gpu"], kinds["numa"]) == (8, 2)
    assert sum(link.kind == "xgmi" for link in design.links.values()) == 28
    assert sum(link.kind == "pcie" for link in design.links.values()) == 8


def test_pairs_that_weigh_more_have_no_link_of_their_own() -> None:
    imported = read_any(_dump("XGMI", "15", 4, far="30").encode())
    assert sum(link.kind == "xgmi" for link in imported.design.links.values()) == 5
    assert "IMP-XGMI-FAR" in {f.code for f in imported.findings}


def test_pcie_only() -> None:
    design = read_any(_dump("PCIE", "72").encode()).design
    assert not any(link.kind == "xgmi" for link in design.links.values())


def test_a_row_that_is_missing_is_refused() -> None:
    text = _dump("XGMI", "15")
    cut = text[: text.rindex("GPU3   ")] + text[text.rindex("GPU3   ") :].split("\n", 1)[1]
    with pytest.raises(ExchangeError, match="not square"):
        read_any(cut.encode())
