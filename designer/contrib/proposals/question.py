"""All designs that answer a goal, with what each costs and does, and bounds that hold for all of a branch.

Bounds keep most designs from being worked out at all: servers alone cost, draw and take so much, their accelerators do
no more arithmetic than their data sheets say, and a request that meets no other has its answer no later than one that
does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from designer.analysis.study import run_workload
from designer.contrib.proposals.family import Asked, Family
from designer.contrib.proposals.goal import KEPT_SHARE, MONEY, PORTS, POWER, RACKS, Wanted
from designer.contrib.proposals.pareto import Choice, Limit, Measure, Settings, Worth
from designer.design.document import Design
from designer.engine.accelerators import accelerator_of
from designer.engine.network import Network, build_network
from designer.engine.routes.selection import resolve
from designer.errors import AnalysisError, Cancelled, DesignerError, FormatError
from designer.families.serving.deployment import Serving
from designer.families.serving.devices import device_of
from designer.families.serving.tasks import Serve
from designer.families.training.formulas.transformer_step import TRAINING_PASSES
from designer.families.training.preparation import samples_of, shape_of
from designer.families.training.tasks import TrainStep
from designer.findings import Severity
from designer.registry import discover
from designer.report.inventory import bundles, inventory
from designer.report.tables.cost import priced
from designer.report.tables.power import draws, total
from designer.report.tables.racks import KEPT, RACK_HEIGHT, RACK_POWER, plan_of
from designer.rules.runner import check
from designer.sources import Estimate
from designer.spelling import near
from designer.units import format_quantity
from designer.workload.kind import program_of
from designer.workload.metrics import METRICS, more_is_better
from designer.workload.shape import TransformerShape

#: of weights that stay as they are, only activations go back through the products
_FROZEN_PASSES: Final = 2


def least_work(goal: TrainStep | Serving, place: str) -> float:
    """Arithmetic that a whole training, or a request in the mean, cannot do without [FLOP]; 0 where it is not known.

    Raises
    ------
    AnalysisError
        If the model or the dataset is not known.
    """
    return _training_bound(goal, place) if isinstance(goal, TrainStep) else _request_bound(goal, place)


def _training_bound(training: TrainStep, place: str) -> float:
    job, run = training.job, training.run
    shape = shape_of(job.model, f"{place}.model")
    is_text = isinstance(shape, TransformerShape)
    samples = float(run.samples)
    if not samples and training.input.dataset:
        samples = run.epochs * samples_of(job.sequence, is_text, training.input, place)[0].epoch
    if job.measured_compute > 0 or not samples:
        return 0.0
    if isinstance(shape, TransformerShape):
        passes = _FROZEN_PASSES if job.adapters else TRAINING_PASSES.value
        return samples * job.sequence * 2 * in_matrices(shape) * passes
    return samples * shape.flop_forward * (1 if job.forward_only else TRAINING_PASSES.value)


def _request_bound(asked: Serving, place: str) -> float:
    """Every token that is read or put out is multiplied with the weights it uses, unless a prefix cache holds it."""
    shape, load = shape_of(asked.deployment.model, f"{place}.model"), asked.load
    if not isinstance(shape, TransformerShape) or load.lengths or load.trace:
        return 0.0
    # found by room, any share of a prompt may be there; lengths are drawn, so the shortest count
    read = 0.0 if load.reuse else load.prompt * (1 - load.prefix)
    return 2 * in_matrices(shape) * max(0.0, (read + load.output) * (1 - load.spread) - 1)


def in_matrices(shape: TransformerShape) -> float:
    """Weights that every token is multiplied with, embeddings aside [1]."""
    mixing = shape.attention_layers * shape.attention_parameters + shape.state_layers * shape.state_parameters
    each = shape.moe_common_parameters + shape.experts_per_token * shape.expert_parameters
    return mixing + shape.dense_layers * shape.dense_parameters + shape.moe_layers * each


def peak_rate(network: Network, goal: TrainStep | Serving, place: str) -> float:
    """What all accelerators do at most: in the number format trained in, or the quickest they have [FLOP/s].

    Raises
    ------
    AnalysisError
        If there are none, or they cannot compute in it.
    """
    if isinstance(goal, TrainStep):
        parts = resolve(network, goal.job.group, f"{place}.group")
        name = goal.job.precision
        slowest, _ = accelerator_of(network, parts, place, lambda one: 1 / one.peak(name))
        return slowest.peak(name) * len(parts)
    parts = resolve(network, "gpus", f"{place}.group")
    return max(device_of(network, parts, place)[0].flops.values()) * len(parts)


#: numbers of servers to choose from, below which a bound costs more than it saves
_WORTHWHILE: Final = 3
#: simulated waits of nearly none differ by so much
_ROUNDING: Final = 1e-3
#: what is found of a training whose step is reported, but which has no room to run
_NO_ROOM: Final = "TRAIN-MEMORY"
#: what a goal of each kind is about
_MAIN: Final[Mapping[str, str]] = {
    "training": "time_to_train",
    "serving": "ttft_p95",
    "evacuation": "evacuation_time",
}


def families() -> Mapping[str, Family]:
    """All families by name."""
    return discover("", "", Family, group="designer.proposals")


class Question:
    """All designs of the families that answer a goal."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self.asked = Asked(wanted.goal, wanted.base, wanted.given)
        self.families = {n: f for n, f in families().items() if wanted.goal.kind in f.goals}
        if not self.families:
            known = ", ".join(sorted({g for f in families().values() for g in f.goals}))
            raise AnalysisError(
                f"nothing is proposed for a workload of the kind {wanted.goal.kind!r}", remedy=f"there is {known}"
            )
        self._refuse_unknown_choices()
        program = program_of(wanted.goal.kind, wanted.goal.settings, f"workloads.{wanted.goal.id}")
        served = program.first(Serve) if program is not None else None
        step = program.first(TrainStep) if program is not None else None
        self.operation = served.operation if served is not None else step
        # a model or dataset that is not known is a mistake of the question, and no trait of any design
        if self.operation is not None:
            least_work(self.operation, f"workloads.{wanted.goal.id}")
        if isinstance(self.operation, TrainStep) and not (self.operation.run.samples or self.operation.input.dataset):
            remedy = "add --with dataset=c4-en, or --with samples=1000000"
            raise FormatError("the goal does not state how much is trained", place="--with", remedy=remedy)
        self.main = self._main_metric()
        self.measures = self._measures()
        self.limits = self._limits()
        self._named: dict[Settings, dict[str, str]] = {(): {}}
        self._designs: dict[Settings, Design] = {}
        self._servers: dict[tuple[str, str], _OneServer] = {}
        self._bills: dict[Settings, dict[str, float]] = {}
        self._floors: dict[Settings, float] = {}
        self._quickest: dict[tuple[str, ...], float] = {}

    def _refuse_unknown_choices(self) -> None:
        names = {n for f in self.families.values() for n in f.names}
        for name in self.wanted.given:
            if name not in names:
                meant = near(name, names) or sorted(names)
                raise FormatError(f"there is no choice {name!r}", place="--choose", remedy=f"use {', '.join(meant)}")

    def _main_metric(self) -> str:
        """The metric the goal is about."""
        if isinstance(self.operation, Serving):
            at = str(self.wanted.goal.settings.get("limit_at", "p95"))
            asked = self.operation.limits
            if asked.latency and not asked.ttft:
                return f"latency_{at}"
            return f"ttft_{at}" if f"ttft_{at}" in METRICS else "ttft_p95"
        return _MAIN[self.wanted.goal.kind]

    def _measures(self) -> tuple[Measure, ...]:
        found: list[Measure] = []
        if self.wanted.prices is not None:
            found.append(Measure(MONEY, "Cost", self.wanted.currency))
        else:
            found.append(Measure(PORTS, "Ports", "1"))
        found += [Measure(POWER, "Rated power", "W"), Measure(RACKS, "Racks", "1")]
        for name in dict.fromkeys((self.main, *self._kept_limits())):
            unit = METRICS[name].unit if name in METRICS else "1"
            more = name == KEPT_SHARE or more_is_better(name)
            estimated = name == self.main and isinstance(self.operation, Serving)
            found.append(Measure(name, name.replace("_", " "), unit, more, name == self.main, estimated))
        return tuple(found)

    def _kept_limits(self) -> dict[str, float]:
        """Limits on metrics: those that were asked for, and those the goal itself implies."""
        found = dict(self.wanted.limits)
        if isinstance(self.operation, Serving):
            asked = self.operation.limits
            if asked.ttft or asked.tpot or asked.latency:
                found.setdefault(KEPT_SHARE, asked.share)
        if self.wanted.goal.kind == "evacuation":
            found.setdefault("machines_staying", 0.0)
        return found

    def _limits(self) -> tuple[Limit, ...]:
        wanted = self.wanted
        found: list[Limit] = []
        if wanted.budget is not None:
            if wanted.prices is None:
                raise FormatError("a budget needs prices", place="--budget", remedy="give your price list: --prices")
            found.append(Limit(MONEY, wanted.budget))
        if wanted.power is not None:
            found.append(Limit(POWER, wanted.power))
        if wanted.racks is not None:
            found.append(Limit(RACKS, float(wanted.racks)))
        return (*found, *(Limit(name, amount) for name, amount in self._kept_limits().items()))

    # ---- what is searched

    def following(self, chosen: Settings) -> Choice | None:
        """The family first, then what that asks."""
        if not chosen:
            return Choice("family", "Family", tuple(self.families))
        return self.families[chosen[0]].following(self.asked, self.named(chosen))

    def named(self, chosen: Settings) -> dict[str, str]:
        """Choices by name."""
        known = self._named.get(chosen)
        if known is None:
            before = self.named(chosen[:-1])
            choice = self.following(chosen[:-1])
            assert choice is not None, "it was asked"
            known = self._named[chosen] = {**before, choice.name: chosen[-1]}
        return known

    def titled(self, chosen: Settings) -> dict[str, str]:
        """Choices by title."""
        found: dict[str, str] = {}
        for k, value in enumerate(chosen):
            choice = self.following(chosen[:k])
            assert choice is not None, "it was asked"
            found[choice.title] = value
        return found

    def title(self, chosen: Settings) -> str:
        """Choices on one line; the family is left out if there is only one."""
        return ", ".join(chosen[1:] if len(self.families) == 1 else chosen) or "all of them"

    def design(self, settings: Settings) -> Design:
        """The design of choices.

        Raises
        ------
        FormatError
            If they do not fit each other.
        """
        found = self._designs.get(settings)
        if found is None:
            found = self._designs[settings] = self.families[settings[0]].make(self.asked, self.named(settings))
        return found

    def best(self, chosen: Settings) -> Mapping[str, float] | str:
        """By the servers alone; the whole bill once all is chosen."""
        if not chosen:
            return {}
        try:
            choice = self.following(chosen)
            found = self._least_values(chosen, choice)
            if choice is None:
                if chosen not in self._bills:
                    self._bills[chosen] = self._bill(self.design(chosen))
                found |= self._bills[chosen]
                floor = self._floors.get(chosen[:-1])
                if floor is not None:
                    found[self.main] = max(floor, found.get(self.main, 0.0))
        except DesignerError as error:
            return _words(error)
        return found

    def _least_values(self, chosen: Settings, choice: Choice | None) -> dict[str, float]:
        named = self.named(chosen)
        if "server" not in named:
            return {}
        if "nodes" in named:
            counts = [int(named["nodes"])]
        elif choice is not None and choice.name == "nodes":
            counts = [int(n) for n in choice.values]
        else:
            return {}
        one = self._server(chosen[0], named["server"])
        least, most = min(counts), max(counts)
        found = {POWER: least * one.power, RACKS: self._racks(least, one)}
        found |= {PORTS: 0.0} if self.wanted.prices is None else {MONEY: least * one.money}
        if isinstance(self.operation, TrainStep):
            found["time_to_train"] = one.work / (one.peak * most) if one.peak else 0.0
        elif isinstance(self.operation, Serving):
            if one.work:
                found["most_requests_per_second"] = one.peak * most / one.work
                rate = self.operation.load.rate if self.operation.load.kind == "rate" else 0.0
                if rate > found["most_requests_per_second"]:
                    able = format_quantity(found["most_requests_per_second"], "frequency")
                    raise AnalysisError(f"its accelerators can answer {able} at most, by their arithmetic alone")
            found[self.main] = self._quickest_possible(chosen[0], named)
        else:
            found[self.main] = 0.0
        return found

    def _quickest_possible(self, family: str, named: Mapping[str, str]) -> float:
        """What no design that begins so is quicker than, as nothing queues; 0 where that is not known.

        Each is an analysis of its own, so they are asked for only where more designs than that may follow from them.
        """
        if not isinstance(self.operation, Serving) or self.operation.load.kind != "rate" or more_is_better(self.main):
            return 0.0
        if 0 < len(self.asked.given.get("nodes", ())) < _WORTHWHILE:
            return 0.0
        quickest = self.families[family].unhurried(self.asked, named)
        return min((self._time_alone(family, asked, chosen) for asked, chosen in quickest), default=0.0)

    def _time_alone(self, family: str, asked: Asked, chosen: Mapping[str, str]) -> float:
        key = (family, *chosen.values())
        if key not in self._quickest:
            try:
                design = self.families[family].make(asked, chosen)
                spec = next(iter(design.workloads.values()))
                metrics = run_workload(build_network(design), spec, False, None, None, explained=False)[0].metrics
                found = _metric(metrics, self.main)
                self._quickest[key] = found.value * (1 - _ROUNDING) if found is not None else 0.0
            except Cancelled:
                raise
            except DesignerError:
                self._quickest[key] = 0.0
        return self._quickest[key]

    def _racks(self, count: int, one: _OneServer) -> float:
        if self.wanted.base is not None and any(p.kind == "rack" for p in self.wanted.base.parts.values()):
            return 0.0
        height = (self.wanted.rack_height or RACK_HEIGHT.value) - KEPT
        power = self.wanted.rack_power or RACK_POWER.value
        by_height = min(count, math.ceil(count * one.height / height - 1e-9))
        by_power = math.ceil(count * one.power / power - 1e-9) if one.power <= power else count
        return float(max(1, by_height, by_power))

    def _server(self, family: str, name: str) -> _OneServer:
        key = (family, name)
        if key not in self._servers:
            self._servers[key] = self._measure_server(self.families[family].server(self.asked, name))
        return self._servers[key]

    def _measure_server(self, design: Design) -> _OneServer:
        bill = self._bill(design, strict=False)
        stock = inventory(design)
        height = sum((stock.number(u.part, "height") or 0.0) * u.count for u in stock.classes)
        work = peak = 0.0
        place = f"workloads.{self.wanted.goal.id}"
        goal = self.operation
        if goal is not None:
            group = goal.job.group if isinstance(goal, TrainStep) else goal.deployment.group
            if group == "gpus":
                work, peak = least_work(goal, place), peak_rate(build_network(design), goal, place)
        limit = self.wanted.rack_power
        if limit is not None and bill[POWER] > limit:
            raise FormatError(
                f"a server draws {format_quantity(bill[POWER], 'power')}, more than the "
                f"{format_quantity(limit, 'power')} that a rack feeds"
            )
        return _OneServer(bill.get(MONEY, 0.0), bill[POWER], height, work, peak)

    def _bill(self, design: Design, strict: bool = True) -> dict[str, float]:
        """What a design costs, draws and takes."""
        plan = plan_of(design, self.wanted.rack_height, self.wanted.rack_power)
        found = {POWER: total(draws(design, None))[0], RACKS: float(max(1, len(plan.racks)))}
        if self.wanted.prices is None:
            found[PORTS] = float(sum(2 * b.cables for b in bundles(inventory(design))))
        else:
            lines = priced(design, self.wanted.prices)
            missing = list(dict.fromkeys(x.item.part or x.item.model for x in lines if x.missing))
            if missing and strict and not self.wanted.unpriced:
                more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
                raise FormatError(f"the price list does not hold {missing[0]}{more}")
            found[MONEY] = sum(x.sum for x in lines)
        return found

    def worth(self, settings: Settings) -> Worth:
        """The analysis of the design, and its bill of materials."""
        try:
            design = self.design(settings)
            bill = self._bill(design)
            errors = self.errors(design)
            if errors:
                return Worth(refused=f"it breaks a design rule, {errors[0]}")
            spec = next(iter(design.workloads.values()))
            result, _ = run_workload(build_network(design), spec, False, None, None, explained=False)
        except Cancelled:
            raise
        except DesignerError as error:
            return Worth(refused=_words(error))
        wanting = next((f.text for f in result.findings if f.code == _NO_ROOM), "")
        if wanting:
            return Worth(refused=wanting)
        self._learn(settings, result.metrics)
        units = {m.name: m.unit for m in self.measures}
        values = {name: Estimate.exact(v, units[name], ("asked",)) for name, v in bill.items() if name in units}
        for measure in self.measures:
            found = _metric(result.metrics, measure.name)
            if found is not None:
                values[measure.name] = found
        missing = [m.name for m in self.measures if m.name not in values]
        if missing:
            stated = next((f.text for f in result.findings if f.severity is Severity.ERROR), "")
            return Worth(refused=stated or f"the analysis gives no {missing[0]}")
        return Worth(values)

    def errors(self, design: Design) -> tuple[str, ...]:
        """Errors that design rules find, without those of the drawing it was made from, which are the reader's own."""
        return tuple(dict.fromkeys(text for key, text in _errors(design) if key not in self._known_errors))

    @cached_property
    def _known_errors(self) -> frozenset[str]:
        return frozenset(key for key, _ in _errors(self.wanted.base)) if self.wanted.base is not None else frozenset()

    def _learn(self, settings: Settings, metrics: Mapping[str, Estimate]) -> None:
        """What a step takes without waiting for samples, which no other source of them makes shorter."""
        following = self.following(settings[:-1])
        if following is None or following.name != "storage" or not isinstance(self.operation, TrainStep):
            return
        step, stall, whole = (metrics.get(name) for name in ("step_time", "input_stall", "time_to_train"))
        run = self.operation.run
        if step and stall and whole and not run.checkpoint_every and not run.validate_every:
            self._floors[settings[:-1]] = whole.value * (1 - stall.value / step.value)


def _errors(design: Design) -> list[tuple[str, str]]:
    """Errors that design rules find: what distinguishes one, and its text."""
    return [(f.key, f"{f.code}: {f.text}") for f in check(design).findings if f.severity is Severity.ERROR]


@dataclass(frozen=True)
class _OneServer:
    """One server: its price where it is known, rated power [W], height [1], work of the goal and peak [FLOP/s]."""

    money: float
    power: float
    height: float
    work: float
    peak: float


def _metric(metrics: Mapping[str, Estimate], name: str) -> Estimate | None:
    if name == KEPT_SHARE:
        goodput, rate = metrics.get("goodput"), metrics.get("requests_per_second")
        if goodput is None or rate is None or rate.value <= 0:
            return None
        ends = [goodput.low / max(rate.low, 1e-300), goodput.high / max(rate.high, 1e-300)]
        share = min(1.0, goodput.value / rate.value)
        return Estimate(share, min(share, *ends), min(1.0, max(share, *ends)), "1", goodput.sources)
    if name == "machines_staying" and name not in metrics:
        return Estimate.exact(0.0, "1")
    return metrics.get(name)


def _words(error: DesignerError) -> str:
    return f"{error.text}: {error.remedy}" if error.remedy and isinstance(error, AnalysisError) else error.text
