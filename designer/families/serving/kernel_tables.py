"""The shipped tables of measured kernel times: one file for each GPU and engine in ``assets/kernels``."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from designer.families.serving.formulas.kernel_table import (
    AttentionCells,
    Experts,
    ExpertShape,
    KernelTable,
    Products,
    Sheet,
)
from designer.resources import assets

#: tables that are kept in memory; each has some 2 MB once it is read
_KEPT_LIMIT: Final = 6
#: engines in the order in which one answers for another that was not measured on a GPU
_INSTEAD: Final = ("vllm", "sglang", "tensorrt-llm")


@dataclass(frozen=True, slots=True)
class _Entry:
    """One file: the GPU it was measured on, with its architecture and memory bandwidth [B/s]."""

    path: Path
    part: str
    engine: str
    architecture: str
    bandwidth: float


@cache
def _entries() -> tuple[_Entry, ...]:
    with (assets() / "kernels" / "index.json").open(encoding="utf-8") as file:
        rows: list[dict[str, Any]] = json.load(file)
    return tuple(
        _Entry(assets() / "kernels" / row["file"], row["part"], row["engine"], row["architecture"], row["bandwidth"])
        for row in rows
    )


def is_measured(part: str) -> bool:
    """Whether a GPU type has a table of its own."""
    return any(entry.part == part for entry in _entries())


def kernel_table(part: str, architecture: str, bandwidth: float, engine: str) -> KernelTable | None:
    """The table of a GPU under an engine.

    Without one of that part, the table of the GPU of its architecture with the nearest memory bandwidth [B/s]; without
    one of that engine, that of another. None where nothing of the architecture was measured.
    """
    near = [e for e in _entries() if e.part == part] or [e for e in _entries() if architecture == e.architecture]
    if not near:
        return None
    order = (engine, *_INSTEAD)
    best = min(near, key=lambda e: (abs(math.log(e.bandwidth / bandwidth)), order.index(e.engine)))
    return load_kernel_table(best.path)


@lru_cache(maxsize=_KEPT_LIMIT)
def load_kernel_table(path: Path) -> KernelTable:
    """Read one file."""
    with np.load(path, allow_pickle=False) as packed:
        arrays = {name: packed[name] for name in packed.files}
    about: dict[str, Any] = json.loads(arrays.pop("about").tobytes())

    def seconds(coded: Any) -> Any:
        return about["unit"] * np.exp(coded.astype(np.float64) * about["step"])

    products = {
        name.removeprefix("products_"): Products(about["rows"], about["columns"], about["inner"], seconds(values))
        for name, values in arrays.items()
        if name.startswith("products_")
    }
    experts: dict[str, Experts] = {}
    if "experts_keys" in arrays:
        keys, times = arrays["experts_keys"], seconds(arrays["experts_times"])
        for number, name in enumerate(about["expert_formats"]):
            mine = keys[:, 0] == number
            shapes = [ExpertShape(*(int(x) for x in key[1:])) for key in keys[mine]]
            experts[name] = Experts(shapes, about["tokens"], times[mine])
    sheet = dict(about["sheet"])
    bandwidth, units = sheet.pop("bandwidth"), int(sheet.pop("units"))
    return KernelTable(
        about["part"],
        about["engine"],
        Sheet(sheet, bandwidth, units),
        products,
        experts,
        AttentionCells(arrays["decode_cells"].astype(float), arrays["decode_fits"].astype(float)),
        AttentionCells(arrays["prefill_cells"].astype(float), arrays["prefill_fits"].astype(float)),
        about["releases"],
        about["refused"],
    )
