"""Power of accelerators that serve.

vLLM on H100 with full batches. Dense models are those that the formula was fitted on; mixtures of experts are judged
only. Steps are those that were measured, so that the power alone is predicted. Prompts are not published: a request
keeps half of its answer in the mean, which leaves the prompt out of what is read. The rows are next to the checkout.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from designer.families.serving.formulas._number_format import number_format
from designer.families.serving.formulas.experts import experts_touched
from designer.families.serving.formulas.memory import kv_size, weights_size
from designer.families.serving.formulas.power import serving_power
from designer.units import Bytes, Ratio, Watts
from designer.workload.models import find_model
from designer.workload.shape import TransformerShape
from tests.validation.serving.runs import DEVICES, folder

#: data sheet of an H100 SXM [W]
LIMIT: Final = 700.0
FORMATS: Final = {"bfloat16": "bf16", "fp8": "fp8", "mxfp4": "mxfp4"}


@dataclass(frozen=True)
class Run:
    """A full batch: requests at once, mean answer [tokens], output tokens a second and power of all devices."""

    shape: TransformerShape
    weights: str
    devices: int
    batch: float
    output: float
    rate: float
    power: float


@cache
def runs() -> Sequence[Run]:
    """Rows of models that are shipped."""
    place = folder()
    if place is None or not (place / "mlenergy-h100-open.csv").is_file():
        return ()
    found: list[Run] = []
    with (place / "mlenergy-h100-open.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            entry = find_model(row["model"].removesuffix("-FP8").removesuffix("-2507").removesuffix("-Instruct"))
            shape = entry.shape if entry is not None else None
            if isinstance(shape, TransformerShape):
                sizes = (float(row[name]) for name in ("avg_batch", "avg_output_tokens", "output_tokens_s", "power_w"))
                found.append(Run(shape, FORMATS[row["weight_precision"]], int(row["num_gpus"]), *sizes))
    return tuple(found)


def predicted(run: Run) -> float:
    """Power of all devices [W]."""
    device, weights, shape = DEVICES["h100_sxm"], number_format(run.weights), run.shape
    held = float(weights_size(shape, weights, run.devices))
    if shape.experts:
        experts = shape.moe_layers * shape.experts * shape.expert_parameters * weights.size.value / run.devices
        held -= experts * (1 - experts_touched(shape.experts, shape.experts_per_token, run.batch) / shape.experts)
    kept = kv_size(shape, run.devices, Bytes(2.0)).held(run.output / 2) * run.batch
    steps = run.rate / run.batch
    memory = min(1.0, (held + kept) * steps / device.bandwidth)
    work = 2 * shape.active_parameters * run.rate / run.devices
    arithmetic = min(1.0, work / device.flops[device.runs_as(weights)])
    return run.devices * serving_power(Watts(LIMIT), Ratio(1.0), Ratio(memory), Ratio(arithmetic))


def errors() -> list[tuple[Run, float]]:
    """Logarithm of predicted over measured power of every run."""
    return [(run, math.log(predicted(run) / run.power)) for run in runs()]
