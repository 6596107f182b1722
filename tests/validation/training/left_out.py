"""Training without what one publication says: ``python -m tests.validation.training.left_out`` (about ten minutes).

The fitted constants are fitted again on the other groups and on the newer runs (`newer.py`, which are of other
machines and programs), from neutral starts, and the group that was left out is predicted with them. What comes out is
kept in ``left_out.json``: the logarithm of predicted over published speed of every run. Bands are judged by it: they
are as wide as groups that nothing was fitted on need. With ``--newer`` it leaves one submitter, then one generation of
accelerators of the newer runs out, and prints how far off each is.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import mean, median
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from designer.families.training.formulas.step_composition import UNSEEN_BAND
from designer.families.training.formulas.training_step import transformer_trainer
from designer.families.training.preparation import TrainingPlan
from designer.formulas.calibration import GENERATIONS, generation_key
from designer.formulas.communication import CommunicationCosts, Kind, RankGroup
from designer.formulas.compute.convolutional_step import SINGLE_PASSES, TF32_PASSES
from designer.formulas.compute.gemm import INNER_HALF
from designer.formulas.scoring import Scored
from designer.formulas.software import SOFTWARE, software
from designer.sources import Constant
from designer.units import Bytes, Seconds
from tests.validation.training import drawn_cases, newer
from tests.validation.training.machines import PARTS
from tests.validation.training.runs import CASES, Case, scored_step, speed

Vector = npt.NDArray[np.float64]
PATH: Final = Path(__file__).parent / "left_out.json"

#: what is fitted, and a start that knows nothing of the runs
FITTED: Final[Sequence[tuple[Constant, float]]] = (
    (GENERATIONS["volta"].sustained, 0.85),
    (GENERATIONS["ampere"].sustained, 0.85),
    (GENERATIONS["hopper"].sustained, 0.85),
    (GENERATIONS["blackwell"].sustained, 0.85),
    (GENERATIONS["cdna3"].sustained, 0.85),
    (GENERATIONS["cdna4"].sustained, 0.85),
    (GENERATIONS["blackwell"].fused_attention, 0.5),
    (GENERATIONS["blackwell"].best["fp4"], 0.7),
    (software("transformer-engine-fp8-attention", "25.04", "blackwell").attention, 1.0),
    (INNER_HALF, 200),
    (SOFTWARE["tuned"].pointwise, 1.6),
    (SOFTWARE["fsdp"].pointwise, 1.6),
    (SOFTWARE["fused"].pointwise, 1.6),
    (SOFTWARE["eager"].pointwise, 1.6),
    (SOFTWARE["transformer-engine"].tensor_overlap, 0.5),
    (SOFTWARE["fsdp"].data_overlap, 0.6),
    # the kernel that its generation is calibrated for is twice as fast as the one before, says its publication
    (SOFTWARE["fsdp"].attention, 0.5),
    (SOFTWARE["fused"].convolution_traffic, 14),
    (SOFTWARE["tuned"].convolution_traffic, 18),
    (SOFTWARE["eager"].convolution_traffic, 28),
    (TF32_PASSES, 24),
    (SINGLE_PASSES, 18),
    (GENERATIONS["volta"].convolution["fp16"], 0.55),
    (GENERATIONS["pascal"].convolution["fp32"], 0.7),
    (GENERATIONS["kepler"].convolution["fp32"], 0.5),
    (SOFTWARE["tuned"].layer_latency, 3e-4),
    (SOFTWARE["fused"].layer_latency, 1e-4),
    (SOFTWARE["fused"].launch, 6e-6),
    (SOFTWARE["fused"].casts, 0.2),
    (SOFTWARE["tuned"].straggler, 0.004),
)
NEUTRAL: Final[Vector] = np.array([start for _, start in FITTED])
#: groups of newer runs are many and small
NEWER: Final = 0.5
#: shares cannot pass 1
MOST: Final[Vector] = np.array([1.0 if start < 1 and start > 0.01 else math.inf for _, start in FITTED])


def family(case: Case) -> str:
    """What is left out together: the tables of one program are one publication."""
    return "mosaic" if case["group"].startswith("mosaic") else case["group"]


def put(values: Vector) -> None:
    """Give the fitted constants other values; they are frozen for all but this."""
    for (constant, _), value in zip(FITTED, values, strict=True):
        object.__setattr__(constant, "value", float(value))
    # layers that were priced with the values before
    transformer_trainer.cache_clear()


class _Kept:
    """Costs of a layout, each collective worked out once."""

    def __init__(self, costs: CommunicationCosts) -> None:
        self.costs, self.times = costs, dict[tuple[Kind, RankGroup, float], Seconds]()

    def time(self, kind: Kind, group: RankGroup, size: Bytes) -> Seconds:
        key = (kind, group, float(size))
        if key not in self.times:
            self.times[key] = self.costs.time(kind, group, size)
        return self.times[key]

    def servers(self, group: RankGroup) -> int:
        return self.costs.servers(group)


@cache
def _drawn() -> Mapping[str, tuple[TrainingPlan, _Kept]]:
    """The plan and the costs of every older run as drawn, by id."""
    plans = {case["id"]: drawn_cases.plan_of(case) for case in CASES}
    return {name: (plan, _Kept(plan.ranks.costs(plan.layout))) for name, plan in plans.items()}


def drawn(case: Case) -> Scored:
    """An older run as drawn, with the constants as they are now."""
    plan, costs = _drawn()[case["id"]]
    return scored_step(case, plan.estimate(costs))


def residuals(cases: Sequence[Case]) -> Vector:
    """Logarithm of predicted over published speed, of runs as drawn."""
    points = [(case, drawn(case)) for case in cases]
    return np.array([math.log(speed(c, p.predicted) / speed(c, p.measured)) for c, p in points])


class _Newer(NamedTuple):
    """A newer run as drawn."""

    group: str
    rate: float
    plan: TrainingPlan
    costs: _Kept

    @property
    def submitter(self) -> str:
        return self.group.split("/")[1]

    @property
    def generation(self) -> str:
        return generation_key(self.plan.accelerator.generation)


@cache
def _plans() -> tuple[_Newer, ...]:
    """Newer runs; none where the measurements are not there."""
    found = [(newer.group_of(run), run.rate, newer.plan_of(run)) for run in newer.runs()]
    return tuple(_Newer(group, rate, plan, _Kept(plan.ranks.costs(plan.layout))) for group, rate, plan in found)


def newer_residuals(runs: Sequence[_Newer] | None = None) -> Vector:
    """Logarithm of predicted over published speed of newer runs; all of them where none are named."""
    asked = _plans() if runs is None else runs
    rates = [one.plan.global_batch / one.plan.estimate(one.costs).step_time / one.rate for one in asked]
    return np.log(np.array(rates))


def _off(groups: Sequence[str], errors: Vector) -> float:
    """Median and mean error of groups, each counted once [1]."""
    found: dict[str, list[float]] = defaultdict(list)
    for group, error in zip(groups, errors, strict=True):
        found[group].append(abs(error))
    return mean(median(g) for g in found.values()) + 0.5 * mean(mean(g) for g in found.values()) if found else 0.0


def _loss(cases: Sequence[Case], values: Vector, recent: Sequence[_Newer]) -> float:
    put(values)
    away = float(np.sum(np.log(values / NEUTRAL) ** 2))
    old = _off([case["group"] for case in cases], residuals(cases))
    return old + NEWER * _off([one.group for one in recent], newer_residuals(recent)) + 0.004 * away


def fit(cases: Sequence[Case], newer_runs: Sequence[_Newer] | None = None) -> Vector:
    """Constants that serve these runs and the newer ones, or those of them that are named.

    Least squares with every group counting once, then one by one.
    """
    sizes: dict[str, int] = defaultdict(int)
    for case in cases:
        sizes[case["group"]] += 1
    weight = np.array([10 / math.sqrt(sizes[case["group"]]) for case in cases])
    recent = _plans() if newer_runs is None else newer_runs
    counts = Counter(one.group for one in recent)
    newer_weight = np.array([10 * NEWER / math.sqrt(counts[one.group]) for one in recent])

    def errors(logs: Vector) -> Vector:
        put(np.exp(logs))
        return np.concatenate(
            [residuals(cases) * weight, newer_residuals(recent) * newer_weight, 0.3 * (logs - np.log(NEUTRAL))]
        )

    bounds = np.log(NEUTRAL / 6), np.log(np.minimum(NEUTRAL * 6, MOST))
    found = least_squares(
        errors, np.log(NEUTRAL), bounds=bounds, loss="soft_l1", f_scale=0.3, max_nfev=8, diff_step=1e-2
    )
    values = np.exp(found.x)
    best = _loss(cases, values, recent)
    for step in (0.1, 0.05, 0.025):
        for place in range(len(values)):
            for factor in (1 + step, 1 / (1 + step)):
                tried = values.copy()
                tried[place] = min(tried[place] * factor, MOST[place])
                loss = _loss(cases, tried, recent)
                if loss < best:
                    values, best = tried, loss
                    break
    return values


def left_out(name: str) -> Mapping[str, float]:
    """Residuals of a family whose runs were not used, by id; the constants are what they were afterwards."""
    shipped = np.array([constant.value for constant, _ in FITTED])
    try:
        put(fit([case for case in CASES if family(case) != name]))
        asked = [case for case in CASES if family(case) == name]
        return {case["id"]: round(float(e), 4) for case, e in zip(asked, residuals(asked), strict=True)}
    finally:
        put(shipped)


def newer_left_out(by: Literal["submitter", "generation"]) -> Iterator[tuple[str, float, int]]:
    """Newer runs without those of one submitter, or of one generation of accelerators, which the older ones lack, too.

    Yields
    ------
    What was left out, the median error of each of its groups, mean over groups [1], and how many runs it has.
    """
    shipped = np.array([constant.value for constant, _ in FITTED])
    try:
        for name in sorted({getattr(one, by) for one in _plans()}):
            out = [one for one in _plans() if getattr(one, by) == name]
            same = by == "generation"
            older = [c for c in CASES if not same or generation_key(PARTS[c["part"]].generation) != name]
            put(fit(older, [one for one in _plans() if getattr(one, by) != name]))
            groups: dict[str, list[float]] = defaultdict(list)
            for one, error in zip(out, newer_residuals(out), strict=True):
                groups[one.group].append(abs(error))
            yield name, mean(median(group) for group in groups.values()), len(out)
    finally:
        put(shipped)


def _kind(case: Case) -> tuple[str, str, str]:
    half = "half" if case["format"] in ("fp16", "bf16") else case["format"]
    return case["software"], generation_key(PARTS[case["part"]].generation), half


@cache
def left_out_residuals() -> Mapping[str, float]:
    """Logarithm of predicted over published speed by id, of fits without the group of the run."""
    return json.loads(PATH.read_text("utf-8"))


def error() -> float:
    """Median error of each group left out, mean over groups [1]."""
    kept = left_out_residuals()
    groups: dict[str, list[float]] = defaultdict(list)
    for case in CASES:
        groups[case["group"]].append(abs(kept[case["id"]]))
    return mean(median(g) for g in groups.values())


def bands() -> tuple[float, float, float]:
    """Share of left-out points inside their bands, mean of it over groups, and the median half-width [1]."""
    kept = left_out_residuals()
    held: dict[str, list[bool]] = defaultdict(list)
    widths: list[float] = []
    for case in CASES:
        point, residual = drawn(case), kept[case["id"]]
        slower, faster = math.log(point.predicted / point.low), math.log(point.high / point.predicted)
        if case["metric"] in ("step_time", "time_to_train"):
            slower, faster = faster, slower
        alone = all(_kind(other) != _kind(case) for other in CASES if family(other) != family(case))
        wider = UNSEEN_BAND.value if alone else 0.0
        width = math.hypot(slower if residual > 0 else faster, wider)
        held[case["group"]].append(abs(residual) <= width)
        widths.append(math.hypot((slower + faster) / 2, wider))
    every = [one for group in held.values() for one in group]
    return mean(every), mean(mean(group) for group in held.values()), median(widths)


if __name__ == "__main__":
    ways: tuple[Literal["submitter", "generation"], ...] = ("submitter", "generation")
    for way in ways:
        for name, off, count in newer_left_out(way) if "--newer" in sys.argv else ():
            sys.stdout.write(f"{way} {name}: {off:.1%}, {count} runs\n")
    if "--newer" in sys.argv:
        sys.exit()
    residual: dict[str, float] = {}
    for one in sorted({family(case) for case in CASES}):
        residual |= left_out(one)
        sys.stdout.write(f"{one}\n")
    PATH.write_text(json.dumps(residual, indent=0, sort_keys=True) + "\n", "utf-8")
    points, groups, width = bands()
    sys.stdout.write(f"error {error():.1%}, bands hold {points:.0%}, by group {groups:.0%}, half-width {width:.0%}\n")
