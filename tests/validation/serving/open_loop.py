"""Published runs of vLLM 0.15.1 under steady arrivals: ``python -m tests.validation.serving.open_loop``.

``--fit`` repeats the fit of its overheads to the H100 runs of five models; Mixtral 8x22B is not among them.

Six models on H100, two of them on A100 and L40S as well; nothing but H100 runs is fitted. The measurements are not
shipped: they are read from ``vllm-runs.csv`` next to the others, the table of errors of the comparison cited as
``blis-runs``, whose column ``actual`` is what was measured.
"""

from __future__ import annotations

import csv
import math
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from statistics import mean, median
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.families.serving.devices import with_kernels
from designer.families.serving.engine_state import Requests
from designer.families.serving.engines import release
from designer.families.serving.formulas._device import Device
from designer.families.serving.formulas._kernels import kernels_of
from designer.families.serving.formulas._number_format import number_format
from designer.families.serving.formulas._release import Overheads, Release
from designer.families.serving.formulas.memory import kv_room, kv_size, memory_capacity, weights_size
from designer.families.serving.formulas.small_all_reduce import small_all_reduce
from designer.families.serving.formulas.step_time import Joins, Split, StepTime
from designer.families.serving.scheduler import run_requests
from designer.workload.models import model
from designer.workload.shape import TransformerShape
from tests.validation.serving.runs import folder

#: data sheets: FP16 rate, memory bandwidth, memory as the driver reports it, multiprocessors, architecture, link,
#: part
SHEETS: Final = {
    "H100": (989e12, 3.35e12, 81559 * 2.0**20, 132, "Hopper GH100", 450e9, "h100-sxm5"),
    "A100-80GB": (312e12, 2.039e12, 81920 * 2.0**20, 108, "Ampere GA100", 300e9, "a100-80-sxm4"),
    "L40S": (362e12, 0.864e12, 46068 * 2.0**20, 142, "Ada AD102", 0.0, "l40s"),
}
MODELS: Final = {
    "CodeLlama-34b": "codellama-34b",
    "Llama-2-70b": "llama-2-70b",
    "Mixtral-8x7B": "mixtral-8x7b",
    "Qwen3-14B": "qwen3-14b",
    "Llama-3.1-8B": "llama-3-8b",
    "Mixtral-8x22B": "mixtral-8x22b",
}
#: tokens in and out, of which the shared system prompt is found in the cache; requests a second of each stage
LOADS: Final[Mapping[str, tuple[int, int, tuple[float, ...]]]] = {
    "general": (547, 248, (8.0, 20.0)),
    "codegen": (566, 247, (5.0, 10.0)),
    "roleplay": (750, 251, (6.0,)),
    "general-lite": (547, 248, (2.5, 6.0)),
    "reasoning": (1034, 1448, (4.0,)),
}
#: what is fitted, where it starts, and how far in the logarithm it may go
START: Final[Mapping[str, float]] = {
    "layer": 7.4e-6,
    "step": 0.3e-3,
    "request": 8.8e-6,
    "prefill_step": 1.7e-3,
    "prefill_factor": 0.9,
    "path": 9.5e-3,
}
PULL: Final = 0.5
#: the sum over products is counted, so what prompts take beyond it stays near 1
FACTOR_PULL: Final = 0.15
TURNS: Final = 4
NUDGE: Final = 0.05
SCALE: Final = 0.06
UNFITTED: Final = "mixtral-8x22b"
FOUND: Final = 100
SLOTS: Final = 128
SECONDS: Final = 120.0


@dataclass(frozen=True)
class Run:
    """One stage of one run: what was sent, and means of what was measured [s]."""

    name: str
    system: str
    model: str
    load: str
    stage: int
    tensor: int
    budget: int
    share: float
    ttft: float
    itl: float
    e2e: float

    @property
    def group(self) -> tuple[str, ...]:
        """Model and system."""
        return self.model, self.system


@cache
def runs() -> Sequence[Run]:
    """All stages whose load is known."""
    place = folder()
    path = place / "vllm-runs.csv" if place is not None else None
    if path is None or not path.is_file():
        return ()
    found: dict[tuple[str, int], dict[str, str | float]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            stage = int(row["stage_index"])
            if stage < 0 or row["workload"] not in LOADS or not row["metric_name"].endswith("_mean"):
                continue
            mine = found.setdefault((row["exp_id"], stage), {**row})
            mine[row["metric_name"]] = float(row["actual"]) / 1e3
    return tuple(
        Run(
            name,
            str(x["hardware"]),
            next(v for k, v in MODELS.items() if k in str(x["model"])),
            str(x["workload"]),
            stage,
            int(x["tp"]),
            int(x["max_num_batched_tokens"]),
            float(x["gpu_mem_util"]),
            float(x["ttft_mean"]),
            float(x["itl_mean"]),
            float(x["e2e_mean"]),
        )
        for (name, stage), x in sorted(found.items())
    )


def predicted(run: Run, asked: Release | None = None) -> tuple[float, float, float]:
    """Mean time to the first token, between tokens and of a whole answer [s]."""
    chosen = asked or release("vllm", "0.15.1").release
    peak, bandwidth, memory, units, architecture, link, part = SHEETS[run.system]
    flops = {"bf16": peak, "fp16": peak}
    kernels = kernels_of(architecture)[0]
    device = Device(
        run.system, flops, bandwidth, memory, units, kernels, architecture=architecture, part=f"gpu/nvidia/{part}"
    )
    device = with_kernels(device, chosen.engine)
    shape = model(run.model)
    assert isinstance(shape, TransformerShape)
    weights, split = number_format("fp16"), Split(tensor=run.tensor)

    def reduce(size: float) -> float:
        return small_all_reduce(run.tensor, size, link)

    steps = StepTime(shape, device, split, weights, weights, chosen.overheads, Joins(reduce))
    held = weights_size(shape, weights, run.tensor)
    room = kv_room(memory, run.share, held, run.tensor, bool(shape.experts))
    capacity = memory_capacity(room, kv_size(shape, run.tensor, weights.size.value).token)
    prompt, output, rates = LOADS[run.load]
    rate = rates[run.stage]
    draw = random.Random(run.name)
    # what models say ends by itself a little early or late
    count = int(rate * SECONDS) + 200
    outputs = [max(2, round(draw.gauss(output, output / 25))) for _ in range(count)]
    requests = Requests([prompt] * count, outputs, [k / rate for k in range(count)], cached=[FOUND] * count)
    how = replace(chosen.scheduling, budget=run.budget, slots=SLOTS)
    found = run_requests(steps, requests, how, capacity, chosen.overheads.path)
    first = count // 4
    ttft, e2e = found.ttft[first:], found.latency[first:]
    return float(ttft.mean()), float(found.tpot[first:].mean()), float(e2e.mean())


def errors(chosen: Sequence[Run], asked: Release | None = None) -> list[tuple[Run, float, float, float]]:
    """Logarithm of predicted over measured: first token, between tokens, whole answer."""
    return [
        (run, math.log(a / run.ttft), math.log(b / run.itl), math.log(c / run.e2e))
        for run in chosen
        for a, b, c in [predicted(run, asked)]
    ]


def by_group(found: Sequence[tuple[Run, float, float, float]]) -> Mapping[tuple[str, ...], tuple[float, ...]]:
    """Stages, then median error and bias of each of the three, by model and system."""
    groups: dict[tuple[str, ...], list[tuple[float, float, float]]] = {}
    for run, *three in found:
        groups.setdefault(run.group, []).append((three[0], three[1], three[2]))
    return {
        k: (
            len(v),
            *(x for i in range(3) for x in (median(abs(e[i]) for e in v), median(e[i] for e in v))),
        )
        for k, v in sorted(groups.items())
    }


def fit(chosen: Sequence[Run]) -> Release:
    """The release from these runs: robust Gauss-Newton in logarithms, groups alike, pulled to where it starts."""
    base = release("vllm", "0.15.1").release
    fixed = {k: v for k, v in asdict(base.overheads).items() if k not in START}
    names, x = list(START), np.zeros(len(START))
    sigma = np.array([FACTOR_PULL if name == "prefill_factor" else PULL for name in names])
    sizes = {group: sum(run.group == group for run in chosen) for group in {run.group for run in chosen}}
    share = np.array([1 / math.sqrt(sizes[run.group]) for run in chosen])[:, None] * 2

    def at(x: npt.NDArray[np.float64]) -> Release:
        moved = {k: START[k] * math.exp(x[i]) for i, k in enumerate(names)}
        return replace(base, overheads=Overheads(**fixed, **moved))

    def residuals(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        asked = at(x)
        return np.array([[first, step] for _, first, step, _ in errors(chosen, asked)])

    for _ in range(TURNS):
        r = residuals(x)
        weight = (share / np.sqrt(1 + (r / (2 * SCALE)) ** 2) / SCALE).ravel()
        jacobian = np.column_stack([((residuals(x + NUDGE * unit) - r) / NUDGE).ravel() for unit in np.eye(len(x))])
        a = np.vstack([jacobian * weight[:, None], np.diag(1 / sigma)])
        b = np.concatenate([-r.ravel() * weight, -x / sigma])
        x = x + np.clip(np.linalg.lstsq(a, b, rcond=None)[0], -0.5, 0.5)
    return at(x)


def main() -> None:
    """Print the table."""
    if not runs():
        sys.exit("vllm-runs.csv is not beside the other measurements")
    if "--fit" in sys.argv:
        print(fit([run for run in runs() if run.system == "H100" and run.model != UNFITTED]).overheads)  # noqa: T201
        return
    groups = by_group(errors(runs()))
    for name, (n, *v) in groups.items():
        text = " ".join(f"{t} {v[2 * i]:.3f}/{v[2 * i + 1]:+.3f}" for i, t in enumerate(("TTFT", "ITL", "E2E")))
        print(*name, n, text)  # noqa: T201
    for system in SHEETS:
        mine = [v for k, v in groups.items() if k[1] == system]
        text = " ".join(f"{t} {mean(v[1 + 2 * i] for v in mine):.3f}" for i, t in enumerate(("TTFT", "ITL", "E2E")))
        print(system, len(mine), text)  # noqa: T201


if __name__ == "__main__":
    main()
