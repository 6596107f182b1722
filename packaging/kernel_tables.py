"""Derive assets/kernels from the measured kernel times that the wheel ``aiconfigurator-core`` holds.

    pip install '.[kernels]'
    pip download --no-deps aiconfigurator-core==0.12.0 --dest WHEELS
    python packaging/kernel_tables.py WHEELS/aiconfigurator_core-0.12.0-*.whl assets/kernels

One file per GPU and engine. Only tables of single kernels (``systems/data``) are read; files of whole runs are not.

products
    Times on a grid of rows, columns and inner lengths, by number format, interpolated in logarithms.
attention
    By heads, key-value heads and head size: three coefficients of time = floor + a x requests (or tokens) + work over
    a share of the data sheet, fitted by relative least absolute deviations.
experts
    Times of the routed experts of one layer, by format, shape and split, over tokens; the quicker of even and skewed
    routing.

A measured time is refused where it is below the roofline of the data sheet, or above three times that of the quickest
other engine on the same GPU at the same shape: the quickest takes its place. The number of refused times is kept in
each file, and ``assets/kernels/refused.csv`` lists them by format and rows.
"""

from __future__ import annotations

import csv
import io
import json
import sys
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from scipy.interpolate import LinearNDInterpolator, NearestNDInterpolator, RegularGridInterpolator
from scipy.optimize import nnls

from designer import load_catalog
from designer.units import parse

VERSION = "0.12.0"
DATE = "2026-11-24"
DATA = "aiconfigurator_core/systems/data/"

#: folders of the wheel and parts of the catalog
GPUS = {
    "a100_sxm": "a100-80-sxm4",
    "l40s": "l40s",
    "h100_sxm": "h100-sxm5",
    "h200_sxm": "h200-sxm",
    "b200_sxm": "b200",
    "b300_sxm": "b300",
    "gb200": "gb200",
    "gb300": "gb300",
    "rtx_pro_6000_server": "rtxpro6000-server",
}
ENGINES = {"vllm": "vllm", "sglang": "sglang", "trtllm": "tensorrt-llm"}
#: engines whose models in 8 bit come with fixed scales of activations, and whose products were measured without
FIXED = ("trtllm",)
FORMATS = {
    "bfloat16": "bf16",
    "fp8": "fp8",
    "fp8_block": "fp8-block",
    "nvfp4": "nvfp4",
    "int4_wo": "int4",
    "w4a16_mxfp4": "mxfp4-bf16",
    "w4a8_mxfp4_mxfp8": "mxfp4",
}
#: bytes per weight and the rate that counts
FORMAT_SIZE = {"bf16": 2.0, "fp8": 1.0, "fp8-block": 1.0, "nvfp4": 0.5625, "int4": 0.53125, "mxfp4": 0.53125}
FORMAT_SIZE["fp8-static"] = FORMAT_SIZE["fp8"]
FORMAT_SIZE["mxfp4-bf16"] = FORMAT_SIZE["mxfp4"]
FORMAT_RATE = {"bf16": "bf16", "fp8": "fp8", "fp8-block": "fp8", "nvfp4": "fp4", "int4": "bf16", "mxfp4": "fp4"}
FORMAT_RATE |= {"mxfp4-bf16": "bf16", "fp8-static": "fp8"}

ROWS = [1, 2, 4, 8, 16, 32, 64, 128, 192, 256, 512, 768, 1024, 1536, 2048, 3072, 4096, 8192, 16384, 32768]
COLUMNS = [128, 256, 512, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 65536]
INNER = COLUMNS[:-1]
TOKENS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384]
#: spreads of tokens over experts. Even ones touch all experts with few tokens, skewed ones load some with many; routing
#: by chance does neither, so the quicker of the two is nearest to it
SPREADS = ("balanced", "power_law_1.01")
#: a time is stored as the logarithm of its ratio to this, in steps of a thousandth [s]
UNIT = 1e-5
STEP = 1e-3
CEILING = 3.0


def newest(version: str) -> tuple[int, ...]:
    """Sort key of a release: numbers only, a candidate before its release."""
    head, _, rest = version.partition("rc")
    numbers = [int(n) for n in "".join(c if c.isdigit() or c == "." else "." for c in head).split(".") if n]
    return (*numbers, int(rest) if rest.isdigit() else 10_000)


class Wheel:
    """The kernel tables of the wheel."""

    def __init__(self, path: Path) -> None:
        self.file = zipfile.ZipFile(path)
        self.found: dict[tuple[str, str, str, str], dict[str, str]] = {}
        for name in self.file.namelist():
            parts = name.removeprefix(DATA).split("/")
            if name.startswith(DATA) and len(parts) == 5 and name.endswith("_perf.parquet"):
                gpu, operation, engine, version, table = parts
                self.found.setdefault((gpu, operation, engine, table), {})[version] = name

    def tables(self, gpu: str, operation: str, engine: str, table: str) -> list[tuple[str, pd.DataFrame]]:
        """All releases of a table, newest first."""
        known = self.found.get((gpu, operation, engine, f"{table}_perf.parquet"), {})
        return [(v, self.read(known[v])) for v in sorted(known, key=newest, reverse=True)]

    def read(self, name: str) -> pd.DataFrame:
        """One table; times in seconds."""
        frame = pq.read_table(io.BytesIO(self.file.read(name))).to_pandas()
        frame["time"] = frame["latency"] * 1e-3
        return frame[frame["time"] > 0]


def data_sheet(part: str) -> dict[str, float]:
    """Rates by number format [FLOP/s], memory bandwidth [B/s] and multiprocessors of a catalog part."""
    values = load_catalog().get(f"gpu/nvidia/{part}").values
    found = {
        name: float(parse(values[f"flops_{name}"].value, "flops"))
        for name in ("bf16", "fp16", "fp8", "fp4", "int8")
        if f"flops_{name}" in values
    }
    found["bandwidth"] = float(parse(values["memory_bandwidth"].value, "rate"))
    found["units"] = float(values["streaming_multiprocessors"].value)
    return found


def coded(times: np.ndarray) -> np.ndarray:
    """Times [s] as int16."""
    return np.round(np.log(times / UNIT) / STEP).astype(np.int16)


def ascending(times: np.ndarray, axis: int) -> np.ndarray:
    """Times that never fall along an axis: the mean of the largest before and the smallest after, in logarithms."""
    log = np.log(times)
    up = np.maximum.accumulate(log, axis=axis)
    down = np.flip(np.minimum.accumulate(np.flip(log, axis), axis=axis), axis)
    return np.exp((up + down) / 2)


def fitted(columns: list[np.ndarray], times: np.ndarray) -> np.ndarray:
    """Coefficients, none below 0, with the least relative absolute deviation."""
    matrix = np.stack(columns, 1) / times[:, None]
    weight = np.ones(len(times))
    solution = np.zeros(len(columns))
    for _ in range(8):
        solution, _ = nnls(matrix * weight[:, None], weight)
        weight = 1 / np.sqrt(np.maximum(np.abs(matrix @ solution - 1), 0.03))
    return solution


def roofline(m: np.ndarray, n: np.ndarray, k: np.ndarray, how: str, sheet: dict[str, float]) -> np.ndarray:
    """Least time of a product [s]."""
    size = FORMAT_SIZE[how]
    operand = 2.0 if how in ("bf16", "int4", "mxfp4-bf16") else size
    # a part without a rate for a format runs it in the next wider one
    rate = next(sheet[name] for name in (FORMAT_RATE[how], "fp8", "bf16") if sheet.get(name))
    return np.maximum(2 * m * n * k / rate, (n * k * size + m * k * operand + 2 * m * n) / sheet["bandwidth"])


def product_times(wheel: Wheel, gpu: str, engine: str) -> dict[str, tuple[str, pd.Series]]:
    """Times by format: the release, and a series over (m, n, k)."""
    found: dict[str, tuple[str, pd.Series]] = {}
    for version, frame in wheel.tables(gpu, "gemm", engine, "gemm"):
        for kind, rows in frame.groupby("gemm_dtype"):
            how = FORMATS.get(str(kind))
            if how and how not in found:
                found[how] = version, rows.groupby(["m", "n", "k"])["time"].median()
    if engine in FIXED and "fp8" in found:
        fixed = without_scales(wheel, gpu, engine, found["fp8"][1])
        if fixed is not None:
            found["fp8-static"] = found["fp8"][0], fixed
    return found


def without_scales(wheel: Wheel, gpu: str, engine: str, times: pd.Series) -> pd.Series | None:
    """Times of products in 8 bit less those of finding the scale of what comes in, where that was measured."""
    tables = wheel.tables(gpu, "quantize", engine, "computescale")
    if not tables:
        return None
    grid = np.log(tables[0][1].pivot_table(index="m", columns="k", values="time", aggfunc="median").dropna())
    axes = (np.log(grid.index.to_numpy(float)), np.log(grid.columns.to_numpy(float)))
    points = [
        np.clip(np.log(times.index.get_level_values(name).to_numpy(float)), axis[0], axis[-1])
        for name, axis in zip(("m", "k"), axes, strict=True)
    ]
    scales = np.exp(RegularGridInterpolator(axes, grid.to_numpy())(np.stack(points, 1)))
    # what is left is at least half: the two were measured apart
    return np.maximum(times - scales, times / 2)


def trusted(mine: pd.Series, others: list[pd.Series], how: str, sheet: dict[str, float]) -> tuple[pd.Series, pd.Series]:
    """Times that lie between the roofline and three times the quickest other engine's, and which were refused."""
    m, n, k = (mine.index.get_level_values(name).to_numpy(float) for name in ("m", "n", "k"))
    least = pd.Series(roofline(m, n, k, how, sheet), mine.index)
    best = pd.concat([other.reindex(mine.index) for other in others], axis=1).min(axis=1) if others else least * np.inf
    best = np.maximum(best, least)
    refused = (mine > CEILING * best) | (mine < least)
    return mine.where(~refused, np.minimum(np.maximum(mine, least), best.fillna(np.inf))), refused


def gridded(times: pd.Series, how: str, sheet: dict[str, float]) -> np.ndarray:
    """Times on the grid (rows, columns, inner) [s]: along rows in logarithms, elsewhere in ratio to the roofline."""
    table = times.unstack("m").sort_index(axis=1)
    have = np.log(table.columns.to_numpy(float))
    shape = np.array([table.index.get_level_values("n"), table.index.get_level_values("k")], float)
    values = np.full((len(table), len(ROWS)), np.nan)
    for row, line in enumerate(np.log(table.to_numpy(float))):
        known = ~np.isnan(line)
        values[row] = np.interp(np.log(ROWS), have[known], line[known])
    grid = np.stack(np.meshgrid(COLUMNS, INNER, indexing="ij"), -1).reshape(-1, 2).T
    least = lambda at, m: np.log(roofline(np.full(at.shape[1], float(m)), at[0], at[1], how, sheet) + 3e-6)  # noqa: E731
    out = np.empty((len(ROWS), len(COLUMNS) * len(INNER)))
    points, wanted = np.log(shape).T, np.log(grid).T
    for i, m in enumerate(ROWS):
        ratio = values[:, i] - least(shape, m)
        inside = LinearNDInterpolator(points, ratio)(wanted)
        outside = NearestNDInterpolator(points, ratio)(wanted)
        out[i] = np.where(np.isnan(inside), outside, inside) + least(grid, m)
    found = np.exp(out).reshape(len(ROWS), len(COLUMNS), len(INNER))
    for axis in (0, 1, 2):
        found = ascending(found, axis)
    m, n, k = np.meshgrid(ROWS, COLUMNS, INNER, indexing="ij")
    return np.maximum(found, roofline(m.astype(float), n.astype(float), k.astype(float), how, sheet))


def attention(wheel: Wheel, gpu: str, engine: str, sheet: dict[str, float]) -> dict[str, np.ndarray]:  # noqa: C901, PLR0912
    """Cells (heads, key-value heads, head size, bytes of a cached value) and their three coefficients."""
    out: dict[str, np.ndarray] = {}
    cells: list[tuple[float, ...]] = []
    fits: list[np.ndarray] = []
    for _, frame in wheel.tables(gpu, "attention", engine, "generation_attention"):
        frame = frame[frame["window_size"] == 0] if "window_size" in frame else frame
        for key, rows in frame.groupby(["num_heads", "num_key_value_heads", "head_dim", "kv_cache_dtype"]):
            heads, shared, size, kept = key
            width = 1.0 if kept == "fp8" else 2.0
            batch, context = rows["batch_size"].to_numpy(float), rows["step"].to_numpy(float) + 1
            read = 2 * shared * size * width * batch * context / sheet["bandwidth"]
            if len(rows) >= 12 and (heads, shared, size, width) not in cells:
                cells.append((heads, shared, size, width))
                fits.append(fitted([np.ones_like(read), batch, read], rows["time"].to_numpy()))
    for table in ("generation_mla", "mla_generation_module"):
        for _, frame in wheel.tables(gpu, "mla", engine, table):
            for key, rows in frame.groupby(["num_heads", "kv_cache_dtype"]):
                heads, width = key[0], 1.0 if key[1] == "fp8" else 2.0
                if (heads, 0, 576, width) in cells:
                    continue
                batch, context = rows["batch_size"].to_numpy(float), rows["step"].to_numpy(float) + 1
                read = 576 * width * batch * context / sheet["bandwidth"]
                fit = fitted([np.ones_like(read), batch, read], rows["time"].to_numpy())
                if table.endswith("module"):
                    # whole modules hold the projections: only what grows with the context is attention
                    fit[:2] = np.nan
                cells.append((heads, 0, 576, width))
                fits.append(fit)
    out["decode_cells"], out["decode_fits"] = np.array(cells, np.float32), np.array(fits, np.float32)
    cells, fits = [], []
    for _, frame in wheel.tables(gpu, "attention", engine, "context_attention"):
        frame = frame[(frame["isl"] >= 16) & (frame["batch_size"] * frame["isl"] <= 65536)]
        frame = frame[frame["window_size"] == 0] if "window_size" in frame else frame
        # what attends in 8 bit is an option of some engines: 16 bit is what they do unless stated
        frame = frame[frame["attn_dtype"] == "bfloat16"] if "attn_dtype" in frame else frame
        for key, rows in frame.groupby(["num_heads", "num_key_value_heads", "head_dim", "kv_cache_dtype"]):
            heads, shared, size, kept = key
            width = 1.0 if kept == "fp8" else 2.0
            if len(rows) < 12 or (heads, shared, size, width) in cells:
                continue
            batch, length = rows["batch_size"].to_numpy(float), rows["isl"].to_numpy(float)
            work = 4 * heads * size * batch * length * (length + 1) / 2 / sheet["bf16"]
            cells.append((heads, shared, size, width))
            fits.append(fitted([np.ones_like(work), batch * length, work], rows["time"].to_numpy()))
    for _, frame in wheel.tables(gpu, "mla", engine, "context_mla"):
        frame = frame[(frame["isl"] >= 16) & (frame["mla_dtype"] == "bfloat16")]
        for key, rows in frame.groupby(["num_heads", "kv_cache_dtype"]):
            heads, width = key[0], 1.0 if key[1] == "fp8" else 2.0
            if len(rows) < 12 or (heads, 0, 320, width) in cells:
                continue
            batch, length = rows["batch_size"].to_numpy(float), rows["isl"].to_numpy(float)
            work = 2 * heads * 320 * batch * length * (length + 1) / 2 / sheet["bf16"]
            cells.append((heads, 0, 320, width))
            fits.append(fitted([np.ones_like(work), batch * length, work], rows["time"].to_numpy()))
    out["prefill_cells"], out["prefill_fits"] = np.array(cells, np.float32), np.array(fits, np.float32)
    return out


Fits = dict[tuple[float, ...], np.ndarray]


def trusted_fits(cells: np.ndarray, fits: np.ndarray, others: list[Fits]) -> tuple[np.ndarray, int]:
    """Fits of attention, those of the quickest other engine where work takes over three times as long, and how many.

    The quickest is one that stays within the data sheet. Kernels that an engine measures and does not use are among
    them: prompts of latent attention in compressed form, 3.4 times the work, which SGLang reads as they are where no
    part of them is cached (``attention_backend_handler.py``, ``_handle_attention_backend``).
    """
    kept, refused = fits.copy(), 0
    for at, cell in enumerate(cells):
        found = [fit for one in others if (fit := one.get(tuple(map(float, cell)))) is not None and fit[2] >= 1]
        best = min(found, key=lambda fit: fit[2], default=None)
        if best is not None and fits[at, 2] > CEILING * best[2]:
            kept[at], refused = best, refused + 1
    return kept, refused


def by_cell(arrays: dict[str, np.ndarray], kind: str) -> Fits:
    """Fits of an engine by what they were measured for."""
    cells, fits = arrays[f"{kind}_cells"], arrays[f"{kind}_fits"]
    return {tuple(map(float, cell)): fit for cell, fit in zip(cells, fits, strict=True)}


def trusted_attention(
    engine: str, attended: dict[str, dict[str, np.ndarray]], counts: Counter[str]
) -> dict[str, np.ndarray]:
    """Fits of attention of an engine that are trusted; adds the refused ones to `counts`."""
    kept: dict[str, np.ndarray] = {}
    for kind in ("prefill", "decode"):
        others = [by_cell(attended[other], kind) for other in ENGINES if other != engine]
        cells, fits = attended[engine][f"{kind}_cells"], attended[engine][f"{kind}_fits"]
        kept[f"{kind}_fits"], counts[kind] = trusted_fits(cells, fits, others)
    return kept


#: kernels that an engine does not choose by itself: TensorRT-LLM runs mixtures but gpt-oss with CUTLASS unless its
#: `moe_config.backend` names another (`resolve_moe_backend` of `tensorrt_llm/_torch/model_config.py`)
CHOSEN_BY_HAND = {"trtllm": ("min_latency",)}
#: experts without a gate have two matrices in place of three
NOT_GATED = "nongated"
EXPERT_KEY = ["hidden_size", "inter_size", "topk", "num_experts", "moe_tp_size", "moe_ep_size"]


def expert_times(wheel: Wheel, gpu: str, engine: str) -> dict[tuple[str, tuple[int, ...]], np.ndarray]:
    """Times of a layer's routed experts over `TOKENS` [s], by format and shape; the newest release that has it."""
    found: dict[tuple[str, tuple[int, ...]], np.ndarray] = {}
    for _, frame in wheel.tables(gpu, "moe", engine, "moe"):
        frame = frame[frame["distribution"].isin(SPREADS) & (frame["moe_tp_size"] <= 8)]
        for name in (NOT_GATED, *CHOSEN_BY_HAND.get(engine, ())):
            frame = frame[~frame["kernel_source"].str.contains(name)]
        for (kind, *shape), rows in frame.groupby(["moe_dtype", *EXPERT_KEY]):
            how = FORMATS.get(str(kind))
            key = (how or "", tuple(int(x) for x in shape))
            if not how or key in found or rows["num_tokens"].nunique() < 8:
                continue
            # several kernels at one shape: an engine chooses among them, and none chooses the slower one knowingly
            line = rows.groupby("num_tokens")["time"].min()
            known = np.log(line.index.to_numpy(float))
            log = np.interp(np.log(TOKENS), known, np.log(line.to_numpy()))
            # beyond the last measured size time grows with tokens
            beyond = np.maximum(0.0, np.log(TOKENS) - known[-1])
            found[key] = ascending(np.exp(log + beyond), 0)
    return found


def main() -> None:
    """Write one file per GPU and engine, and the list of refused times."""
    wheel, target = Wheel(Path(sys.argv[1])), Path(sys.argv[2])
    target.mkdir(parents=True, exist_ok=True)
    index: list[dict[str, str | float]] = []
    refusals: list[tuple[str, str, str, int, int, int]] = []
    for gpu, part in GPUS.items():
        sheet = data_sheet(part)
        products = {engine: product_times(wheel, gpu, engine) for engine in ENGINES}
        experts = {engine: expert_times(wheel, gpu, engine) for engine in ENGINES}
        attended = {engine: attention(wheel, gpu, engine, sheet) for engine in ENGINES}
        for engine, name in ENGINES.items():
            arrays: dict[str, np.ndarray] = {}
            releases: dict[str, str] = {}
            counts: Counter[str] = Counter()
            for how, (version, times) in products[engine].items():
                others = [products[other][how][1] for other in ENGINES if other != engine and how in products[other]]
                kept, refused = trusted(times, others, how, sheet)
                counts[how] = int(refused.sum())
                for rows, one in refused.groupby(level="m"):
                    if one.any():
                        refusals.append((part, name, how, int(rows), int(one.sum()), len(one)))
                arrays[f"products_{how}"] = coded(gridded(kept, how, sheet))
                releases[f"products {how}"] = version
            arrays |= attended[engine] | trusted_attention(engine, attended, counts)
            keys: list[tuple[str, tuple[int, ...]]] = []
            lines: list[np.ndarray] = []
            for key, line in sorted(experts[engine].items()):
                others_at = [experts[o][key] for o in ENGINES if o != engine and key in experts[o]]
                if others_at:
                    best = np.min(others_at, axis=0)
                    slow = line > CEILING * best
                    counts[f"experts {key[0]}"] += int(slow.sum())
                    line = np.where(slow, best, line)
                keys.append(key)
                lines.append(ascending(line, 0))
            formats = sorted({how for how, _ in keys})
            if keys:
                arrays["experts_keys"] = np.array([(formats.index(h), *s) for h, s in keys], np.int32)
                arrays["experts_times"] = coded(np.array(lines))
            about = {
                "part": f"gpu/nvidia/{part}",
                "engine": name,
                "source": "aic-tables",
                "attribution": "Measured by NVIDIA Corporation & Affiliates, Apache-2.0; reduced as packaging says",
                "wheel": f"aiconfigurator-core {VERSION}",
                "date": DATE,
                "sheet": sheet,
                "releases": releases,
                "expert_formats": formats,
                "refused": dict(counts),
                "rows": ROWS,
                "columns": COLUMNS,
                "inner": INNER,
                "tokens": TOKENS,
                "unit": UNIT,
                "step": STEP,
            }
            arrays["about"] = np.frombuffer(json.dumps(about, sort_keys=True).encode(), np.uint8)
            path = target / f"{part}-{name}.npz"
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
                for key in sorted(arrays):
                    buffer = io.BytesIO()
                    np.save(buffer, arrays[key], allow_pickle=False)
                    # a fixed date keeps the bytes the same at each run
                    packed.writestr(zipfile.ZipInfo(f"{key}.npy", (1980, 1, 1, 0, 0, 0)), buffer.getvalue(), 8)
            index.append(
                {
                    "file": path.name,
                    "part": about["part"],
                    "engine": name,
                    "architecture": str(load_catalog().get(about["part"]).values["architecture"].value),
                    "bandwidth": sheet["bandwidth"],
                }
            )
            print(path.name, path.stat().st_size, dict(counts), len(keys), len(arrays["decode_cells"]))
    (target / "index.json").write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
    with (target / "refused.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["gpu", "engine", "format", "rows", "refused", "of"])
        writer.writerows(refusals)


if __name__ == "__main__":
    main()
