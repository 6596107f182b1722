"""Published throughput at most load, every request there at once: ``python -m tests.validation.serving.offline``.

TensorRT-LLM 1.0 on H100 and H200, three models in FP8. The release was fitted on H100; H200 was not fitted, and with
``--leave`` each model is left out of the fit in its turn.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from statistics import mean, median
from typing import Final

import numpy as np

from designer.families.serving.devices import with_kernels
from designer.families.serving.engine_state import Requests
from designer.families.serving.engines import release
from designer.families.serving.formulas._number_format import number_format
from designer.families.serving.formulas._release import Overheads, Release
from designer.families.serving.formulas.memory import kv_room, kv_size, memory_capacity, weights_size
from designer.families.serving.formulas.small_all_reduce import small_all_reduce
from designer.families.serving.formulas.step_time import Joins, Split, StepTime
from designer.families.serving.scheduler import run_requests
from designer.workload.models import model
from designer.workload.shape import TransformerShape
from tests.validation.serving.runs import DEVICES, LINK

FILE: Final = Path(__file__).parent / "offline.json"
SYSTEMS: Final = {"H100": "h100_sxm", "H200": "h200_sxm"}
#: more requests than this change the rate by less than a per cent
ENOUGH: Final = 3000
#: what is fitted, where it starts, and how far in the logarithm it may go
START: Final[Mapping[str, float]] = {
    "layer": 4e-6,
    "step": 0.345e-3,
    "request": 8e-6,
    "prefill_step": 3.5e-3,
    "narrow": 1.0,
}
PULL: Final[Mapping[str, float]] = {"layer": 0.5, "step": 0.5, "request": 0.7, "prefill_step": 0.5, "narrow": 0.3}
TURNS: Final = 6
NUDGE: Final = 0.05
SCALE: Final = 0.06


@dataclass(frozen=True)
class Point:
    """One load: tokens of prompt and answer, requests, and the rate that was measured [1/s]."""

    system: str
    model: str
    tensor: int
    prompt: int
    output: int
    count: int
    measured: float

    @property
    def group(self) -> tuple[str, ...]:
        """Model and system."""
        return self.model, self.system


@cache
def points() -> Sequence[Point]:
    """All loads of the file."""
    data = json.loads(FILE.read_text("utf-8"))
    return tuple(
        Point(one["system"], one["model"], one["tensor"], load["prompt"], load["output"], load["count"], value)
        for one in data["series"]
        for load, value in zip(data["loads"], one["tokens_per_second"], strict=True)
    )


def predicted(point: Point, asked: Release | None = None) -> float:
    """Output tokens a second of the deployment [1/s]."""
    chosen = asked or release("tensorrt-llm", "1.0.0").release
    device = with_kernels(DEVICES[SYSTEMS[point.system]], chosen.engine)
    shape = model(point.model)
    assert isinstance(shape, TransformerShape)
    weights = cache_format = number_format("fp8")

    def reduce(size: float) -> float:
        return small_all_reduce(point.tensor, size, LINK)

    steps = StepTime(shape, device, Split(point.tensor), weights, cache_format, chosen.overheads, Joins(reduce))
    how = chosen.scheduling
    room = kv_room(device.memory, how.memory_share, weights_size(shape, weights, point.tensor), point.tensor, False)
    capacity = memory_capacity(room, kv_size(shape, point.tensor, cache_format.size.value).token)
    count = min(point.count, ENOUGH)
    requests = Requests([point.prompt] * count, [point.output] * count, [0.0] * count)
    how = replace(how, budget=max(how.budget, point.prompt))
    run = run_requests(steps, requests, how, capacity, chosen.overheads.path)
    return count * point.output / run.end


def errors(chosen: Iterable[Point], asked: Release | None = None) -> list[tuple[Point, float]]:
    """Logarithm of predicted over measured."""
    return [(point, math.log(predicted(point, asked) / point.measured)) for point in chosen]


def by_group(found: Sequence[tuple[Point, float]]) -> Mapping[tuple[str, ...], tuple[float, float]]:
    """Median error and bias by model and system."""
    groups: dict[tuple[str, ...], list[float]] = {}
    for point, error in found:
        groups.setdefault(point.group, []).append(error)
    return {k: (median(abs(e) for e in v), median(v)) for k, v in groups.items()}


def fit(chosen: Sequence[Point]) -> Release:
    """The release from these loads: robust Gauss-Newton in logarithms, five numbers pulled to where they start."""
    base = release("tensorrt-llm", "1.0.0").release
    fixed = {k: v for k, v in asdict(base.overheads).items() if k not in START}
    names, x = list(START), np.zeros(len(START))

    def at(x: np.ndarray) -> Release:
        moved = {k: START[k] * math.exp(x[i]) for i, k in enumerate(names)}
        return replace(base, overheads=Overheads(**fixed, **moved))

    def residuals(x: np.ndarray) -> np.ndarray:
        asked = at(x)
        return np.array([error for _, error in errors(chosen, asked)])

    for _ in range(TURNS):
        r = residuals(x)
        jacobian = np.column_stack([(residuals(x + NUDGE * unit) - r) / NUDGE for unit in np.eye(len(x))])
        weight = 1 / np.sqrt(1 + (r / (2 * SCALE)) ** 2) / SCALE
        sigma = np.array([PULL[k] for k in names])
        a = np.vstack([jacobian * weight[:, None], np.diag(1 / sigma)])
        b = np.concatenate([-r * weight, -x / sigma])
        x = x + np.clip(np.linalg.lstsq(a, b, rcond=None)[0], -0.5, 0.5)
    return at(x)


def left_out() -> list[tuple[Point, float]]:
    """Errors on H100 with the model left out of the fit, and on H200 with both left out."""
    found: list[tuple[Point, float]] = []
    for name in dict.fromkeys(point.model for point in points()):
        asked = fit([point for point in points() if point.system == "H100" and point.model != name])
        found += errors([point for point in points() if point.model == name], asked)
    return found


def main() -> None:
    """Print the table."""
    if "--fit" in sys.argv:
        print(fit([point for point in points() if point.system == "H100"]).overheads)  # noqa: T201
    found = left_out() if "--leave" in sys.argv else errors(points())
    for name, (error, bias) in by_group(found).items():
        print(*name, f"{error:.3f}/{bias:+.3f}")  # noqa: T201
    for system in SYSTEMS:
        mine = [v[0] for k, v in by_group(found).items() if k[1] == system]
        print(system, f"mean over groups {mean(mine):.3f}")  # noqa: T201
    print("four of five within", f"{np.quantile([abs(e) for _, e in found], 0.8):.3f}")  # noqa: T201


if __name__ == "__main__":
    main()
