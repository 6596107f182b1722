"""Published runs of serving engines, what was sent in each, and what the model says of it.

The measurements are not shipped: they are read from ``shared/facts/inference`` next to the checkout, where they are.
"""

from __future__ import annotations

import csv
import math
import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import mean, median
from typing import Final

from designer.families.serving.devices import with_kernels
from designer.families.serving.drafting import Drafted, draft
from designer.families.serving.engine_state import Requests
from designer.families.serving.engines import release
from designer.families.serving.formulas._device import Device
from designer.families.serving.formulas._number_format import number_format
from designer.families.serving.formulas._release import Overheads, Release, Scheduling
from designer.families.serving.formulas.memory import kv_room, kv_size, memory_capacity, weights_size
from designer.families.serving.formulas.small_all_reduce import small_all_reduce
from designer.families.serving.formulas.step_time import Joins, Split, StepTime
from designer.families.serving.scheduler import run_requests
from designer.workload.models import model
from designer.workload.shape import TransformerShape

CHECKOUT: Final = Path(__file__).resolve().parents[3]


def folder() -> Path | None:
    """Where the measurements are: DESIGNER_INFERENCE, else next to the checkout or its parent; None where absent."""
    named = os.environ.get("DESIGNER_INFERENCE")
    if named:
        return Path(named)
    for beside in (CHECKOUT.parent, CHECKOUT.parent.parent):
        found = beside / "shared" / "facts" / "inference"
        if found.is_dir():
            return found
    return None


#: data sheets of the systems of the runs: the same values the catalog has
_FLOPS: Final = {"bf16": 989e12, "fp16": 989e12, "fp8": 1979e12}
DEVICES: Final[Mapping[str, Device]] = {
    "h100_sxm": Device(
        "H100 SXM", _FLOPS, 3.35e12, 81559 * 2.0**20, 132, architecture="Hopper GH100", part="gpu/nvidia/h100-sxm5"
    ),
    "h200_sxm": Device(
        "H200 SXM", _FLOPS, 4.8e12, 143771 * 2.0**20, 132, architecture="Hopper GH100", part="gpu/nvidia/h200-sxm"
    ),
}
LINK: Final = 450e9
#: tokens of a step beyond one prompt and one for each client that the tool of the sweeps asks for
SPARE: Final = 500
ENGINES: Final = {"vllm": "vllm", "sglang": "sglang", "trtllm": "tensorrt-llm"}
MODELS: Final = {
    "8B": "llama-3-8b",
    "70B": "llama-3-70b",
    "Qwen": "qwen3-32b",
    "gpt": "gpt-oss-120b",
    "DeepSeek": "deepseek-v3",
}


@dataclass(frozen=True)
class Client:
    """How the load generator behaves.

    Parameters
    ----------
    waves
        Requests over clients.
    spread
        Lengths are uniform from this share of the nominal ones; 1: fixed.
    jitter
        Where fixed: outputs end that many tokens earlier, half-normal.
    extra
        Clients beyond the slots of the engine.
    held
        Steps by which what a client sees of a first token is late: it came with others, or waited for more prompts.
    """

    waves: int = 10
    spread: float = 0.8
    jitter: float = 0.0
    extra: int = 0
    held: int = 0


@dataclass(frozen=True)
class Row:
    """One published operating point."""

    group: tuple[str, ...]
    system: str
    model: str
    engine: str
    version: str
    weights: str
    tensor: int
    expert: int
    clients: int
    prompt: int
    output: int
    ttft: float
    tpot: float
    client: Client
    cache: str
    changes: Mapping[str, object]
    drafts: int = 0


@cache
def rows() -> Sequence[Row]:
    """Aggregated runs, every measurement once, but those that the README leaves out."""
    place = folder()
    if place is None:
        return ()
    found: list[Row] = []
    seen: set[tuple[str, str, str]] = set()
    with (place / "silicon-open.csv").open(encoding="utf-8", newline="") as file:
        for x in csv.DictReader(file):
            key = x["system"], x["silicon_ttft_ms"], x["silicon_tpot_ms"]
            if x["mode"] != "agg" or key in seen:
                continue
            seen.add(key)
            row = _row(x)
            if row is not None:
                found.append(row)
    return tuple(found)


def _row(x: Mapping[str, str]) -> Row | None:
    if not x["concurrency"] or x["attention_dp_size"] not in ("", "1"):
        return None
    name = next(v for k, v in MODELS.items() if k in x["model_path"])
    engine, version = ENGINES[x["backend"]], x["backend_version"]
    clients = int(x["concurrency"])
    if left_out(name, clients, version):
        return None
    source = x["silicon_data_source"]
    dump = "db-dump" in source or ("2026" in source.split(";")[0] and "csv; model" in source)
    client = Client() if dump else Client(spread=1.0)
    changes: dict[str, object] = {}
    weights = "mxfp4" if name == "gpt-oss-120b" else x["precision"] or "bf16"
    cache_format = "bf16"
    if engine == "tensorrt-llm":
        cache_format = "fp8" if weights == "fp8" else "bf16"
    if not dump:
        # what the tool of these sweeps asks of an engine and its client: see the README
        changes["budget"] = 16384 if engine == "sglang" else clients + int(x["isl"]) + SPARE
    # what the launch scripts of these runs say: see the README
    tensor = int(x["tp_in_id"] or (8 if x["tp_size"] == "64" else x["tp_size"]))
    expert = int(x["moe_ep_size"] or 1)
    if dump and name == "deepseek-v3":
        client = Client(held=9)
    if dump and name == "deepseek-v3" and engine == "tensorrt-llm":
        # experts are shared over all devices; steps hold a prompt, a token of each client and up to 127 more
        expert = tensor
        changes |= {"budget": (clients + int(x["isl"]) + 127) // 64 * 64, "slots": clients}
        if clients > (32 if x["isl"] == "8192" else 64):
            # the script then splits attention by requests, whatever the row says
            return None
    if dump and name == "gpt-oss-120b" and engine == "tensorrt-llm":
        changes |= {"budget": 20000, "slots": clients}
    if dump and name == "llama-3-70b" and engine == "tensorrt-llm" and x["isl"] == x["osl"] == "1024":
        client = Client(held=20 if x["tp_in_id"] != "8" else 0)
    if engine == "sglang" and name == "deepseek-v3":
        changes |= {"budget": 32768, "memory_share": 0.82}
    if engine == "vllm" and name == "llama-3-70b":
        cache_format = "fp8" if x["system"] == "h200_sxm" else "bf16"
    if name == "llama-3-8b" and engine == "tensorrt-llm":
        changes["slots"] = clients
        client = replace(client, extra=1)
    stated = version or ("2025-10" if "measured=2025-1" in source and engine == "vllm" else "")
    # of pairs of the same release, widths and load this dump is the faster one by 1.3 to 2, less so with more clients
    # and more so with longer answers: what drafting one token does, which the model was trained to; no row states it
    drafts = int(name == "deepseek-v3" and "model=DeepSeek-R1" in source and version.startswith("1.1.0rc2"))
    group = (x["system"], name, engine, version or "unknown", x["precision"])
    return Row(
        (*group[:3], f"{group[3]} drafting", group[4]) if drafts else group,
        x["system"],
        name,
        engine,
        stated,
        weights,
        tensor,
        expert,
        clients,
        int(x["isl"]),
        int(x["osl"]),
        float(x["silicon_ttft_ms"]) / 1e3,
        float(x["silicon_tpot_ms"]) / 1e3,
        client,
        cache_format,
        changes,
        drafts,
    )


#: acceptance of the drafts of a model of the same family, thinking
DRAFT: Final = "deepseek-v4-pro-mtp"


#: the runs whose stated clients need more of the FP8 peak than products reach: no model of the engine can hold them
IMPOSSIBLE: Final = ("h200_sxm", "llama-3-8b", "vllm")


def impossible(row: Row) -> bool:
    """True if the stated clients need more of the peak than products reach."""
    return row.group[:3] == IMPOSSIBLE


def left_out(name: str, clients: int, version: str) -> bool:
    """Rows whose numbers cannot be those of the load they name: see the README."""
    return (name == "gpt-oss-120b" and (clients >= 512 or version == "1.3.0rc1")) or version == "0.5.8.post1"


def engine_of(row: Row, overheads: Overheads, memory_share: float) -> tuple[StepTime, int]:
    """Step times and the room for keys and values of a row."""
    device = with_kernels(DEVICES[row.system], row.engine)
    shape = model(row.model)
    assert isinstance(shape, TransformerShape)
    split = Split(tensor=row.tensor, expert=row.expert)
    weights, stored = number_format(row.weights), number_format(row.cache)

    def reduce(size: float) -> float:
        return small_all_reduce(row.tensor, size, LINK)

    steps = StepTime(shape, device, split, weights, stored, overheads, Joins(reduce))
    room = kv_room(
        device.memory,
        memory_share,
        weights_size(shape, weights, row.tensor),
        row.tensor,
        bool(shape.experts),
    )
    return steps, memory_capacity(room, kv_size(shape, row.tensor, stored.size.value).token)


#: runs by what they depend on
_RUNS: Final[dict[tuple[str, Overheads, Scheduling, int], tuple[float, float]]] = {}


def predicted(row: Row, asked: Release | None = None, most: int = 0) -> tuple[float, float]:
    """Mean time to the first token and per token, as the client of the row counts them [s]."""
    chosen = asked or release(row.engine, row.version).release
    load = replace(row, group=(), version="", ttft=0.0, tpot=0.0)
    key = repr(load), chosen.overheads, chosen.scheduling, most
    if key not in _RUNS:
        _RUNS[key] = _run(load, *key[1:])
    return _RUNS[key]


def _run(row: Row, overheads: Overheads, scheduling: Scheduling, most: int) -> tuple[float, float]:
    steps, capacity = engine_of(row, overheads, scheduling.memory_share)
    clients = row.clients + row.client.extra
    n = row.client.waves * clients if not most else min(most, row.client.waves * clients)
    draw = random.Random(row.clients * 1000 + row.prompt + row.output)
    if row.client.spread < 1:
        prompt = [draw.randint(int(row.client.spread * row.prompt), row.prompt) for _ in range(n)]
        output = [draw.randint(int(row.client.spread * row.output), row.output) for _ in range(n)]
    else:
        prompt = [row.prompt + 12] * n
        early = row.client.jitter
        output = [max(2, row.output - int(abs(draw.gauss(0, early)))) if early else row.output for _ in range(n)]
    how = replace(scheduling, **row.changes)  # pyright: ignore[reportArgumentType]
    timed = Drafted(steps, row.drafts, draft(DRAFT)) if row.drafts else steps
    run = run_requests(timed, Requests(prompt, output, clients=clients), how, capacity, overheads.path)
    ttft, tpot = float(run.ttft.mean()), float(run.tpot.mean())
    late = min(row.client.held, row.output - 1) * tpot
    return ttft + late, tpot - late / max(1, row.output - 1)


def errors(chosen: Sequence[Row]) -> list[tuple[Row, float, float]]:
    """Logarithm of predicted over measured TPOT and TTFT of every row."""
    return [(row, math.log(b / row.tpot), math.log(a / row.ttft)) for row in chosen for a, b in [predicted(row)]]


def by_group(
    found: Sequence[tuple[Row, float, float]],
) -> Mapping[tuple[str, ...], tuple[int, float, float, float, float]]:
    """Rows, median error and bias of TPOT, then of TTFT, by group."""
    groups: dict[tuple[str, ...], list[tuple[float, float]]] = {}
    for row, step, first in found:
        groups.setdefault(row.group, []).append((step, first))
    return {
        name: (
            len(v),
            median(abs(a) for a, _ in v),
            median(a for a, _ in v),
            median(abs(b) for _, b in v),
            median(b for _, b in v),
        )
        for name, v in sorted(groups.items())
    }


def main() -> None:
    """Print the table."""
    groups = by_group(errors(rows()))
    for name, (n, a, b, c, d) in groups.items():
        print(*name, n, f"TPOT {a:.3f}/{b:+.3f} TTFT {c:.3f}/{d:+.3f}")  # noqa: T201
    for system in DEVICES:
        mine = [v for k, v in groups.items() if k[0] == system]
        print(system, f"mean over groups: TPOT {mean(v[1] for v in mine):.3f} TTFT {mean(v[3] for v in mine):.3f}")  # noqa: T201


if __name__ == "__main__":
    main()
