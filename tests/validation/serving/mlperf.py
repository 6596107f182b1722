"""MLPerf Inference v5.1, Offline, closed division: ``python -m tests.validation.serving.mlperf``.

Systems of H100 and H200 SXM under TensorRT-LLM, of a release the results do not name, at the mean lengths of each
benchmark, evenly from none to twice as much. The rows are read next to the checkout; none is fitted. Submitters tune
what a release leaves alone; how they lay out the largest model and fill its steps is stated by their configurations.
"""

from __future__ import annotations

import csv
import math
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import median
from typing import Final

from designer.families.serving.devices import with_kernels
from designer.families.serving.engine_state import Requests
from designer.families.serving.engines import release
from designer.families.serving.formulas._number_format import number_format
from designer.families.serving.formulas.memory import kv_room, kv_size, memory_capacity, weights_size
from designer.families.serving.formulas.small_all_reduce import small_all_reduce
from designer.families.serving.formulas.step_time import Joins, Split, StepTime
from designer.families.serving.scheduler import run_requests
from designer.families.serving.spreads import release_spread
from designer.workload.models import model
from designer.workload.shape import TransformerShape
from tests.validation.serving.runs import DEVICES, LINK, folder

#: mean tokens in and out of each benchmark; prompts of Mixtral are the mean of the sample its reference code prints of
#: two of its three equal parts (662 and 139 tokens) and, of the third, of the benchmark of Llama 2 (294)
LOADS: Final[Mapping[str, tuple[str, int, int]]] = {
    "llama2-70b": ("llama-2-70b", 294, 290),
    "llama3.1-8b": ("llama-3-8b", 870, 128),
    "llama3.1-405b": ("llama-3-405b", 9428, 684),
    "mixtral-8x7b": ("mixtral-8x7b", 365, 146),
}
SYSTEMS: Final = {"H100-SXM": "h100_sxm", "H200-SXM": "h200_sxm"}


@dataclass(frozen=True)
class Layout:
    """Devices that share heads, stages, and where stated: tokens of a step of a stage, and requests at once."""

    tensor: int = 1
    stages: int = 1
    budget: int = 0
    slots: int = 0


#: the fewest that hold the weights, as stages where one is too small; of the largest model what the configurations of
#: these systems say, which split prompts and admit as many requests as fit
LAYOUTS: Final[Mapping[tuple[str, str], Layout]] = {
    ("llama-2-70b", "h100_sxm"): Layout(stages=2),
    ("llama-3-405b", "h100_sxm"): Layout(8, 1, 2560, 64),
    ("llama-3-405b", "h200_sxm"): Layout(4, 2, 1536, 512),
}
#: requests that are enough for a steady rate
ENOUGH: Final = 12000


@dataclass(frozen=True)
class Result:
    """One result: output tokens a second of a system of so many accelerators."""

    model: str
    system: str
    prompt: int
    output: int
    accelerators: int
    measured: float


@cache
def results() -> Sequence[Result]:
    """All that name TensorRT or nothing else; 99 % and 99.9 % targets alike."""
    place = folder()
    if place is None or not (place / "mlperf-v51-open.csv").is_file():
        return ()
    found: list[Result] = []
    with (place / "mlperf-v51-open.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            load = LOADS.get(row["model"].removesuffix("-99.9").removesuffix("-99"))
            system = next((name for key, name in SYSTEMS.items() if key in row["accelerator"]), "")
            if row["scenario"] == "Offline" and load and system:
                many = int(row["accel_per_node"]) * int(row["nodes"])
                found.append(Result(load[0], system, load[1], load[2], many, float(row["value"])))
    return tuple(found)


@cache
def rate_of(name: str, system: str, prompt: int, output: int) -> float:
    """Output tokens a second of one accelerator [1/s]."""
    layout = LAYOUTS.get((name, system), Layout())
    tensor, stages = layout.tensor, layout.stages
    chosen, shape = release("tensorrt-llm").release, model(name)
    device = with_kernels(DEVICES[system], chosen.engine)
    assert isinstance(shape, TransformerShape)
    fp8, split = number_format("fp8"), Split(tensor, pipeline=stages)
    joins = Joins(lambda size: small_all_reduce(tensor, size, LINK), hop=lambda size: size / LINK)
    steps = StepTime(shape, device, split, fp8, fp8, chosen.overheads, joins)
    held = weights_size(shape, fp8, tensor, pipeline=stages)
    how = chosen.scheduling
    if layout.budget:
        # stages work on batches of their own, each as large
        budget = layout.budget * stages
        how = replace(how, budget=budget, slots=layout.slots, chunked=True, reserve=0.0)
    room = kv_room(device.memory, how.memory_share, held, split.devices, bool(shape.experts))
    capacity = memory_capacity(room, kv_size(shape, tensor, fp8.size.value).token / stages)
    draw = random.Random(ENOUGH)
    lengths = [[draw.randint(1, 2 * mean - 1) for _ in range(ENOUGH)] for mean in (prompt, output)]
    asked = Requests(lengths[0], lengths[1], [0.0] * ENOUGH)
    run = run_requests(steps, asked, how, capacity, chosen.overheads.path)
    return sum(lengths[1]) / run.end / split.devices


def errors() -> Mapping[tuple[str, str], tuple[int, float, float]]:
    """By model and system: results, median logarithm of predicted over measured, and the 80 % band either way."""
    groups: dict[tuple[str, str], list[float]] = {}
    for one in results():
        error = rate_of(one.model, one.system, one.prompt, one.output) * one.accelerators / one.measured
        groups.setdefault((one.model, one.system), []).append(math.log(error))
    found: dict[tuple[str, str], tuple[int, float, float]] = {}
    for (name, system), values in sorted(groups.items()):
        shape = model(name)
        assert isinstance(shape, TransformerShape)
        band = release_spread(release("tensorrt-llm").release, shape, "fp8", DEVICES[system])
        found[name, system] = len(values), median(values), band
    return found


def main() -> None:
    """Print the table."""
    for name, (n, error, band) in errors().items():
        sys.stdout.write(f"{' '.join(name)} {n}: {error:+.3f}, band {band:.2f}\n")


if __name__ == "__main__":
    main()
