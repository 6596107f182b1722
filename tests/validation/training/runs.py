"""Published training runs as inputs of the step estimate."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from designer.families.training.formulas.step_composition import StepEstimate
from designer.families.training.formulas.time_to_train import VALIDATION_SHARE
from designer.families.training.formulas.training_step import estimate_step
from designer.formulas.layout import Layout, Recompute, Sharding
from designer.formulas.precision import precision
from designer.formulas.scoring import Scored
from designer.formulas.software import software
from designer.units import Ratio
from designer.workload.models import model
from tests.validation.training.machines import PARTS, network_of

Case = Mapping[str, Any]

CASES: tuple[Case, ...] = tuple(json.loads((Path(__file__).parent / "cases.json").read_text("utf-8")))
#: adapters: a trained sample runs forward and one backward pass, so a validated one is half of it
FORWARD_OF_ADAPTERS = 0.5


#: publications that date their runs by more than the container in the name of a result
MONTHS: Mapping[str, str] = {"tensorflow-benchmarks-2017": "2017", "mosaic": "2023-10", "2205.05198": "2022-05"}


def release_of(case: Case) -> str:
    """The release of the program of a run; empty where its publication states none."""
    container = re.search(r"ngc(\d\d\.\d\d)", case["source"])
    if container is not None:
        return container[1]
    named = f"{case['group']} {case['source']}"
    return next((month for text, month in MONTHS.items() if text in named), "")


def layout_of(case: Case) -> Layout:
    """The layout a run states, defaults where it is silent."""
    values = dict(case["layout"])
    if "sharding" in values:
        values["sharding"] = Sharding(values["sharding"])
    if "recompute" in values:
        values["recompute"] = Recompute(values["recompute"])
    return Layout(**values)


def step_of(case: Case) -> StepEstimate:
    """The estimate of one published run; whether it fits is not asked, for it ran."""
    part, layout = PARTS[case["part"]], layout_of(case)
    return estimate_step(
        model(case["model"]),
        precision(case["format"]),
        layout,
        case["global_batch"],
        part,
        network_of(part, case["per_server"]).costs(layout),
        software(case["software"], release_of(case), part.generation),
        sequence=case.get("sequence", 1),
        frozen=case.get("adapters", False),
        must_fit=False,
    )


def _with_evaluation(case: Case) -> Ratio:
    """Time with the evaluations its rules ask for over time without."""
    forward = FORWARD_OF_ADAPTERS if case.get("adapters") else VALIDATION_SHARE.value
    return Ratio(1 + case.get("evaluated", 0.0) * forward)


def scored(case: Case) -> Scored:
    """Predicted against published, in the unit of the metric."""
    return scored_step(case, step_of(case))


def scored_step(case: Case, step: StepEstimate) -> Scored:
    """What a step makes of the metric of a run, against published."""
    slower = _with_evaluation(case)
    tokens = step.tokens_per_second * step.step_time
    amount = {
        "step_time": 1.0,
        "time_to_train": case.get("samples", 0.0) / step.global_batch * slower,
        "samples_per_second": step.global_batch / slower,
        "tokens_per_second": tokens / slower,
        "tokens_per_second_per_accelerator": tokens / case["accelerators"],
        "mfu": step.mfu * step.step_time,
    }[case["metric"]]
    times = (step.step_time, step.low, step.high)
    values = [t * amount if case["metric"] in ("step_time", "time_to_train") else amount / t for t in times]
    return Scored(case["group"], values[0], case["value"], min(values), max(values))


def speed(case: Case, value: float) -> float:
    """Samples or tokens per second and accelerator of a value in the unit of the case's metric."""
    if case["metric"] == "step_time":
        return case["global_batch"] / value / case["accelerators"]
    if case["metric"] == "time_to_train":
        return case["samples"] / value / case["accelerators"]
    return value / (1 if case["metric"] in ("mfu", "tokens_per_second_per_accelerator") else case["accelerators"])
