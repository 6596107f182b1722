"""What a report is about: designs with their analyses, and what chapters ask of them more than once."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from designer.catalog.sources import load_sources
from designer.decisions.suggest import Suggestions
from designer.design.document import Design
from designer.engine.network import Network, build_network
from designer.engine.results import Analysis, WorkloadResult
from designer.findings import Finding, Severity
from designer.plain_text import MONTHS
from designer.present.targets import Verdict, judge, parsed, targets_of
from designer.report.inventory import Inventory, inventory
from designer.report.names import in_names
from designer.report.settings import Settings
from designer.report.tables.racks import Plan, plan_of
from designer.report.tables.revisions import Since
from designer.report.wording import NBSP
from designer.sources import Estimate, Source
from designer.workload.metrics import times_better

#: the metrics a workload is judged by, best first
MAIN: Final = (
    "tokens_per_second",
    "samples_per_second",
    "requests_per_second",
    "bus_bandwidth",
    "evacuation_time",
    "migration_time",
    "checkpoint_time",
    "time_to_train",
    "rate",
    "more_machines",
    "accelerators",
    "step_time",
)
#: kinds of workload that are goals in themselves, before mere transfers
GOALS: Final = ("inference", "training", "migration", "serving")


@dataclass(frozen=True, slots=True)
class Target:
    """A promise with what was found: the estimate, its verdict, or why there is none."""

    number: str
    title: str
    metric: str
    comparison: str
    value: float
    unit: str
    workload: str
    found: Estimate | None
    verdict: Verdict | None
    note: str = ""


@dataclass(eq=False)
class Subject:
    """One design of a report."""

    letter: str
    design: Design
    analysis: Analysis
    settings: Settings
    file: str = ""
    loaded: tuple[Finding, ...] = ()
    #: what `suggest` finds for the workloads that matter most, by workload
    suggestions: dict[str, Suggestions] = field(default_factory=dict[str, Suggestions])

    @cached_property
    def network(self) -> Network:
        """The design as the engine sees it."""
        return build_network(self.design)

    @cached_property
    def stock(self) -> Inventory:
        """What is in it."""
        return inventory(self.design)

    @cached_property
    def plan(self) -> Plan:
        """Where it is placed."""
        racks = self.settings.chosen.racks
        return plan_of(self.design, racks.height, racks.power)

    @property
    def name(self) -> str:
        """What it is called."""
        return self.design.title or self.design.name

    @cached_property
    def results(self) -> tuple[WorkloadResult, ...]:
        """Its workloads, the places in their titles and notes as the drawing names them."""
        return tuple(
            replace(
                w,
                title=in_names(self.stock, w.title),
                metrics={name: replace(e, note=in_names(self.stock, e.note)) for name, e in w.metrics.items()},
            )
            for w in self.analysis.workloads
        )

    def of_kind(self, *kinds: str) -> list[WorkloadResult]:
        """Results of some kinds."""
        return [w for w in self.results if w.kind in kinds]

    @cached_property
    def findings(self) -> list[Finding]:
        """All findings, each once, worst first."""
        every = [*self.loaded, *self.analysis.findings, *(f for w in self.results for f in w.findings)]
        unique = {(f.code, f.text): f for f in every}
        order = list(Severity)
        return sorted(unique.values(), key=lambda f: order.index(f.severity))

    @cached_property
    def targets(self) -> list[Target]:
        """Promises of the design, targets of the report, and what settings of workloads ask for, judged by bands."""
        given = [
            (a.workload, a.metric, a.comparison, a.value, a.note) for a in self.design.assertions.values() if a.workload
        ]
        given += [(t.workload, t.metric, t.comparison, t.value, t.note) for t in self.settings.chosen.targets]
        given = [one for one in given if one[0] in self.design.workloads]
        known = {one[:2] for one in given}
        asked = [
            (w.id, t.metric, t.comparison, t.value, "")
            for w in self.results
            for t in targets_of(self.design, w.id, {name: e.unit for name, e in w.metrics.items()}).values()
            if (w.id, t.metric) not in known
        ]
        return [self._target(f"{self.letter}{n}", *one) for n, one in enumerate([*given, *asked], start=1)]

    def _target(
        self, number: str, workload: str, metric: str, comparison: str, value: str | float, note: str
    ) -> Target:
        result = next((w for w in self.results if w.id == workload), None)
        title = result.title if result is not None else workload
        found = result.metrics.get(metric) if result is not None else None
        if found is None:
            return Target(number, title, metric, comparison, math.nan, "1", workload, None, None, note or str(value))
        target = parsed(value, found.unit) if isinstance(value, str) else value
        verdict = judge(found, comparison, target) if target is not None else None
        at = math.nan if target is None else target
        return Target(number, title, metric, comparison, at, found.unit, workload, found, verdict, note)

    def missed(self, workload: str) -> bool:
        """True if a target of the workload is missed by its value."""
        return any(t.workload == workload and t.verdict is not None and not t.verdict.good for t in self.targets)


def is_served(result: WorkloadResult) -> bool:
    """True of a language model behind a serving engine: it has a chapter of its own."""
    return result.kind == "inference" and "requests_per_second" in result.metrics and "ttft" in result.metrics


def ordered(subject: Subject) -> list[WorkloadResult]:
    """Its workloads, those first that are goals and miss a target, then goals, then the one the design opens with."""
    order = {kind: at for at, kind in enumerate(GOALS)}
    opens = subject.design.default_workload

    def rank(w: WorkloadResult) -> tuple[bool, bool, int, bool]:
        return (w.kind not in order, not subject.missed(w.id), order.get(w.kind, len(order)), w.id != opens)

    return sorted(subject.results, key=rank)


def main_metric(result: WorkloadResult) -> str:
    """The metric a workload is judged by; empty where it has none."""
    return next((name for name in MAIN if name in result.metrics), next(iter(result.metrics), ""))


def gain_of(before: WorkloadResult, after: WorkloadResult) -> float:
    """How many times better a workload is by its main metric."""
    name = main_metric(before)
    one, other = before.metrics.get(name), after.metrics.get(name)
    if one is None or other is None:
        return 1.0
    return times_better(name, one.value, other.value, before.kind)


@dataclass(eq=False)
class Context:
    """All that a report is made of."""

    subjects: Sequence[Subject]
    settings: Settings
    date: datetime.date
    version: str
    commands: Sequence[str] = ()
    #: the revision before, and what differs from it
    since: Since | None = None
    #: light and dark of every colour of drawings of designs
    colours: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    #: chapters that will be there, for references
    numbers: dict[str, int] = field(default_factory=dict[str, int])

    @cached_property
    def sources(self) -> list[Source]:
        """The sources that figures of the report rest on, most used first."""
        known = load_sources()
        used: dict[str, int] = {}
        for subject in self.subjects:
            for result in subject.results:
                for estimate in result.metrics.values():
                    for key in estimate.sources:
                        used[key] = used.get(key, 0) + 1
        for key in ("ml-energy-fit", "wall-readings", "assumed-racks"):
            used.setdefault(key, 1)
        order = sorted(used, key=lambda k: (-used[k], k))
        self.used = used
        return [known[k] if k in known else self._own(k) for k in order]

    def _own(self, key: str) -> Source:
        for subject in self.subjects:
            record = subject.design.sources.get(key)
            for part_type in () if record is not None else subject.design.part_types.values():
                record = record or part_type.sources.get(key)
            if record is not None:
                return Source(key=key, **record.model_dump())
        return Source(key, key)

    def number_of_source(self, key: str) -> int:
        """The number a source has in the report, 0 for none."""
        return next((n for n, s in enumerate(self.sources, start=1) if s.key == key), 0)

    def lettered(self, subject: Subject) -> str:
        """How a chapter says which design it is about."""
        name = subject.name
        if sum(s.name == name for s in self.subjects) > 1 and subject.file:
            file = subject.file.replace("\\", "/").split("/")[-1]
            name = f"{name} ({file.removesuffix('.design.json')})"
        name = name if len(name) <= 56 else name[:55] + "…"
        return f"Design {subject.letter} · {name}" if len(self.subjects) > 1 else name

    def key(self, name: str, subject: Subject | None = None) -> str:
        """The key of a chapter, of a subject where there are several."""
        return f"{name}-{subject.letter.lower()}" if subject is not None and len(self.subjects) > 1 else name


def written_date(day: datetime.date) -> str:
    """``22 November 2026``."""
    return f"{day.day}{NBSP}{MONTHS[day.month - 1]}{NBSP}{day.year}"
