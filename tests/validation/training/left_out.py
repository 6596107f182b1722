"""Training without what one publication says: ``python -m tests.validation.training.left_out`` (about a minute).

The fitted constants are fitted again without one group of older runs, one generation of accelerators, or one submitter
of newer runs (`newer.py`), from one linearization at the constants of all. What was left out is predicted with them,
and ``left_out.json`` keeps the logarithm of predicted over published speed of every run. Bands are judged by it: they
are as wide as runs that nothing was fitted on need.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import compress
from pathlib import Path
from statistics import mean, median
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from designer.families.training.formulas.training_step import transformer_trainer
from designer.families.training.preparation import TrainingPlan
from designer.formulas.calibration import GENERATIONS, generation_key
from designer.formulas.communication import CommunicationCosts, Kind, RankGroup
from designer.formulas.compute.convolutional_step import SINGLE_PASSES, TF32_PASSES
from designer.formulas.scoring import Scored
from designer.formulas.software import SOFTWARE, software
from designer.sources import Constant
from designer.units import Bytes, Seconds
from tests.validation.training import drawn_cases, newer
from tests.validation.training.machines import PARTS
from tests.validation.training.runs import CASES, Case, scored_step, speed

Vector = npt.NDArray[np.float64]
Scheme = Literal["group", "generation", "submitter"]
SCHEMES: Final[Sequence[Scheme]] = ("group", "generation", "submitter")
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
    (software("transformer-engine-fp8-attention", "25.04", "blackwell").attention, 1.0),
    (SOFTWARE["tuned"].pointwise, 1.6),
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
    (GENERATIONS["pascal"].convolution["fp32"], 0.7),
    (GENERATIONS["kepler"].convolution["fp32"], 0.5),
    (SOFTWARE["tuned"].layer_latency, 3e-4),
    (SOFTWARE["fused"].layer_latency, 1e-4),
    (SOFTWARE["fused"].launch, 6e-6),
)
NEUTRAL: Final[Vector] = np.array([start for _, start in FITTED])
#: groups of newer runs are many and small
NEWER: Final = 0.5
#: turns of least squares that weigh outliers
INNER_TURNS: Final = 6
NUDGE: Final = -0.03
#: residual of a group from which it counts less, and weight of the distance from a start
SCALE: Final = 0.03
PULL: Final = 0.03
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


class _Problem:
    """Runs to fit, older ones and then newer ones, every group counting once."""

    def __init__(self, cases: Sequence[Case], recent: Sequence[_Newer]) -> None:
        self.cases, self.recent = cases, recent
        self.old, self.new = [case["group"] for case in cases], [one.group for one in recent]
        sizes = Counter(self.old + self.new)
        worth = np.array([1.0] * len(self.old) + [NEWER] * len(self.new))
        self.weight = worth / np.sqrt([sizes[group] for group in self.old + self.new])

    def residuals(self, logs: Vector) -> Vector:
        """Logarithms of predicted over published speed."""
        put(np.exp(logs))
        return np.concatenate([residuals(self.cases), newer_residuals(self.recent)])

    def linear(self, logs: Vector) -> tuple[Vector, Vector]:
        """Residuals, and how each constant moves them."""
        here = self.residuals(logs)
        moved = [self.residuals(logs + NUDGE * row) - here for row in np.eye(len(logs))]
        return here, np.array(moved).T / NUDGE

    def solved(self, logs: Vector, here: Vector, jacobian: Vector) -> Vector:
        """Constants that fit best, outliers counting less, each drawn to its start."""
        for _ in range(INNER_TURNS):
            weight = self.weight / (1 + (here * self.weight / SCALE) ** 2) ** 0.25
            a = np.vstack([jacobian * weight[:, None], np.eye(len(logs)) * PULL])
            b = np.concatenate([-here * weight, PULL * (np.log(NEUTRAL) - logs)])
            step = np.clip(np.linalg.solve(a.T @ a, a.T @ b), -0.5, 0.5)
            moved = np.minimum(logs + step, np.log(MOST))
            here, logs = here + jacobian @ (moved - logs), moved
        return logs

    def loss(self, logs: Vector, found: Vector) -> float:
        """What is least where medians and means of groups are small and constants near their starts."""
        away = float(np.sum((logs - np.log(NEUTRAL)) ** 2))
        old, new = np.split(found, [len(self.old)])
        return _off(self.old, old) + NEWER * _off(self.new, new) + 0.004 * away

    def polished(self, logs: Vector, here: Vector, jacobian: Vector) -> Vector:
        """Constants one by one, as far as the medians of groups get better."""
        best = self.loss(logs, here)
        for step in (0.08, 0.04, 0.02, 0.01):
            for place in range(len(logs)):
                for way in (step, -step):
                    tried = logs.copy()
                    tried[place] = min(tried[place] + way, math.log(MOST[place]))
                    found = here + jacobian @ (tried - logs)
                    if self.loss(tried, found) < best:
                        logs, here, best = tried, found, self.loss(tried, found)
                        break
        return logs


def _fit_near(values: Vector, kept: npt.NDArray[np.bool_]) -> Vector:
    """Constants that serve the runs that are kept, in one turn from constants nearby."""
    logs = np.log(values)
    here, jacobian = _linear_near(tuple(logs))
    cases, recent = kept[: len(CASES)], kept[len(CASES) :]
    problem = _Problem(list(compress(CASES, cases)), list(compress(_plans(), recent)))
    moved = problem.solved(logs, here[kept], jacobian[kept])
    return np.exp(problem.polished(moved, (here + jacobian @ (moved - logs))[kept], jacobian[kept]))


@cache
def _linear_near(logs: tuple[float, ...]) -> tuple[Vector, Vector]:
    return _Problem(CASES, _plans()).linear(np.array(logs))


def left_out(scheme: Scheme) -> Mapping[str, float]:
    """Residuals of runs that were not fitted, by id; the constants are what they were afterwards."""
    shipped = np.array([constant.value for constant, _ in FITTED])
    older, recent = {case["id"]: case for case in CASES}, dict(zip(newer_ids(), _plans(), strict=True))
    of = {name: _fold(case, scheme) for name, case in older.items()}
    of |= {name: _newer_fold(one, scheme) for name, one in recent.items()}
    found: dict[str, float] = {}
    try:
        for fold in sorted({name for name in of.values() if name}):
            put(_fit_near(shipped, np.array([name != fold for name in of.values()])))
            cases = {n: c for n, c in older.items() if of[n] == fold}
            plans = {n: o for n, o in recent.items() if of[n] == fold}
            found |= dict(zip(cases, residuals(list(cases.values())).tolist(), strict=True))
            found |= dict(zip(plans, newer_residuals(list(plans.values())).tolist(), strict=True))
    finally:
        put(shipped)
    return {name: round(value, 4) for name, value in found.items()}


def _fold(case: Case, scheme: Scheme) -> str:
    generation = generation_key(PARTS[case["part"]].generation)
    return {"group": family(case), "generation": generation, "submitter": ""}[scheme]


def _newer_fold(one: _Newer, scheme: Scheme) -> str:
    return {"group": "", "generation": one.generation, "submitter": one.submitter}[scheme]


def newer_ids() -> Sequence[str]:
    """Names of newer runs: their groups, numbered."""
    seen: Counter[str] = Counter()
    names: list[str] = []
    for one in _plans():
        seen[one.group] += 1
        names.append(f"{one.group} {seen[one.group]}")
    return names


def _kind(case: Case) -> tuple[str, str, str]:
    half = "half" if case["format"] in ("fp16", "bf16") else case["format"]
    return case["software"], generation_key(PARTS[case["part"]].generation), half


@cache
def left_out_residuals(scheme: Scheme = "group") -> Mapping[str, float]:
    """Logarithm of predicted over published speed by id, of fits without what a scheme leaves out."""
    return json.loads(PATH.read_text("utf-8"))[scheme]


def error() -> float:
    """Median error of each group left out, mean over groups [1]."""
    kept = left_out_residuals()
    return macro([case["group"] for case in CASES], [kept[case["id"]] for case in CASES])


def macro(groups: Sequence[str], errors: Sequence[float]) -> float:
    """Median error of each group, mean over groups [1]."""
    found: dict[str, list[float]] = defaultdict(list)
    for group, one in zip(groups, errors, strict=True):
        found[group].append(abs(one))
    return mean(median(group) for group in found.values())


def newer_errors(scheme: Scheme) -> Mapping[str, float]:
    """Error of the newer runs of each fold of a scheme, mean over their groups [1]."""
    kept = left_out_residuals(scheme)
    found: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for name, one in zip(newer_ids(), _plans(), strict=True):
        found[_newer_fold(one, scheme)].append((one.group, kept[name]))
    return {fold: macro(*zip(*rows, strict=True)) for fold, rows in found.items()}


def bands(scheme: Scheme = "group") -> tuple[float, float, float]:
    """Share of left-out points inside their bands, mean of it over groups, and the median half-width [1].

    Of groups it is the older runs that are judged, else the newer ones.
    """
    kept = left_out_residuals(scheme)
    held: dict[str, list[bool]] = defaultdict(list)
    widths: list[float] = []
    if scheme == "group":
        runs = [(case["id"], case["group"], *_drawn()[case["id"]], _alone(case)) for case in CASES]
    else:
        pairs = zip(newer_ids(), _plans(), strict=True)
        runs = [(name, one.group, one.plan, one.costs, scheme == "generation") for name, one in pairs]
    for name, group, plan, costs, unseen in runs:
        if unseen:
            plan = replace(plan, software=replace(plan.software, fitted_on=frozenset()))
        step = plan.estimate(costs)
        slower, faster = math.log(step.high / step.step_time), math.log(step.step_time / step.low)
        held[group].append(abs(kept[name]) <= (slower if kept[name] > 0 else faster))
        widths.append((slower + faster) / 2)
    every = [one for group in held.values() for one in group]
    return mean(every), mean(mean(group) for group in held.values()), median(widths)


def _alone(case: Case) -> bool:
    """Whether no other publication has its program on its generation in its format."""
    return all(_kind(other) != _kind(case) for other in CASES if family(other) != family(case))


if __name__ == "__main__":
    asked = [scheme for scheme in SCHEMES if scheme in sys.argv] or SCHEMES
    kept = json.loads(PATH.read_text("utf-8"))
    found = {scheme: left_out(scheme) if scheme in asked else kept[scheme] for scheme in SCHEMES}
    PATH.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n", "utf-8")
    left_out_residuals.cache_clear()
    sys.stdout.write(f"error {error():.1%}, newer runs {newer_errors('generation')} {newer_errors('submitter')}\n")
    for scheme in SCHEMES:
        points, groups, width = bands(scheme)
        sys.stdout.write(f"{scheme}: bands hold {points:.0%}, by group {groups:.0%}, half-width {width:.0%}\n")
