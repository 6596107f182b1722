"""What a promise may ask about: one design, its analyses, its rules; each worked out once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from designer.analysis.study import analyze, run_workload
from designer.analysis.study.survival import Survival, Way
from designer.catalog.parttype import part_kinds
from designer.checks.values import NONE, Measure, Several, unit_of, unit_of_si
from designer.design.document import Design, Wiring, WorkloadSpec, with_changes
from designer.design.ids import find_workload
from designer.design.query import count_kinds, count_links
from designer.engine.account.worth import worth_of
from designer.engine.network import Network, build_network
from designer.engine.results import Analysis, Bottleneck, Flow, WorkloadResult
from designer.engine.routes.damage import contents_of
from designer.engine.routes.selection import resolve
from designer.errors import AnalysisError, DesignerError
from designer.findings import Finding
from designer.rules.context import Context, Tier
from designer.rules.runner import check
from designer.spelling import did_you_mean
from designer.units import format_si
from designer.workload.kind import workload_kinds
from designer.workload.metrics import more_is_better

#: of parts that are not equivalent at most so many are taken away in turn
LOSSES_LIMIT: Final = 64
_TIERS: Final = ("leaf", "spine", "core")
_ALL = re.compile(r"(?P<kind>[A-Za-z_]+)\[\*\]\Z")


@dataclass(frozen=True, slots=True)
class Job:
    """A workload of the design, as promises name it."""

    id: str


@dataclass(frozen=True, slots=True)
class Loss:
    """Parts that are taken away in turn."""

    pattern: str
    job: str = ""


class World:
    """One design and what was worked out about it.

    Parameters
    ----------
    findings
        What opening the file found.
    cancelled
        True to stop.
    """

    def __init__(
        self, design: Design, findings: Sequence[Finding] = (), cancelled: Callable[[], bool] | None = None
    ) -> None:
        self.design, self._opening, self._cancelled = design, tuple(findings), cancelled
        self._results: dict[tuple[str, float | None], WorkloadResult] = {}
        self._transfers: dict[tuple[str, str], WorkloadResult] = {}
        self._losses: dict[str, tuple[str, ...]] = {}
        self._counts: dict[str, Mapping[str, int]] = {}
        self._lost: dict[tuple[str, str], Way] = {}
        self._survivals: dict[str, Survival] = {}

    @cached_property
    def network(self) -> Network:
        """The elaborated design."""
        return build_network(self.design)

    @cached_property
    def context(self) -> Context:
        """The design as rules see it."""
        return Context(self.design)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What opening, the rules and the analyses of all workloads found, each once."""
        found = [*self._opening, *check(self.design).findings]
        if self.design.workloads:
            analysis = analyze(self.design, curves=False, cancelled=self._cancelled)
            found += [*analysis.findings, *(f for w in analysis.workloads for f in w.findings)]
            for result in analysis.workloads:
                self._results.setdefault((result.id, None), result)
        return tuple({(f.key, f.text): f for f in found}.values())

    def seed(self, analysis: Analysis) -> None:
        """Take over what was analysed already."""
        for result in analysis.workloads:
            self.take(result)

    def take(self, result: WorkloadResult) -> None:
        """Take over what a workload was found to do."""
        self._results.setdefault((result.id, None), result)

    def jobs(self, name: str) -> list[str]:
        """Ids of the workloads a name represents: an id, a kind, a title, or part of the settings such as a model."""
        workloads = self.design.workloads
        if name in workloads:
            return [name]
        for found in (
            [w.id for w in workloads.values() if w.kind == name],
            [w.id for w in workloads.values() if w.title == name],
            [w.id for w in workloads.values() if name in (str(v) for v in w.settings.values())],
        ):
            if found:
                return found
        return []

    def _workload(self, name: str) -> WorkloadSpec:
        try:
            return find_workload(self.design, name)
        except AnalysisError as error:
            # a promise is about one design, which its line names already
            raise AnalysisError(f"there is no workload {name!r}", remedy=error.remedy) from None

    def result(self, workload: str, load: float | None = None) -> WorkloadResult:
        """What a workload does; `load` is what is asked of it per second, where its kind has such a setting."""
        known = self._results.get((workload, load))
        if known is None:
            spec = self._workload(workload)
            spec = spec if load is None else _at_load(spec, load)
            known = run_workload(self.network, spec, True, None, self._cancelled)[0]
            self._results[workload, load] = known
        return known

    def metric(self, workload: str, name: str, load: float | None = None) -> Measure:
        """A metric of a workload."""
        result = self.result(workload, load)
        found = result.metrics.get(name)
        usual = self.result(workload).metrics.get(name) if found is None and load is not None else None
        if usual is not None:
            # more is asked than it can do: its queues grow without end, and no time in them has an end
            most = result.metrics.get("most_requests_per_second")
            mend = f"ask for no more than {format_si(most.value, most.unit)}" if most is not None else ""
            end = 0.0 if more_is_better(name) else np.inf
            binds = bottleneck_text(result.binding)[0] or "the load is more than it can do"
            return Measure(end, end, end, unit_of_si(usual.unit), workload, binds, mend)
        if found is None:
            known = ", ".join(result.metrics) or "none"
            raise AnalysisError(f"{workload!r} has no metric {name!r}", remedy=f"it has {known}")
        binds, mend = bottleneck_text(result.binding)
        return Measure(found.value, found.low, found.high, unit_of_si(found.unit), workload, binds, mend, found.note)

    def row(self, machine: str, name: str) -> Measure | None:
        """A column of a table of a workload in the row of a virtual machine; None where there is none."""
        wanted = {machine, self.design.vms[machine].label if machine in self.design.vms else machine}
        stems = {name.replace("_", " "), _HEADINGS.get(name, "")}
        specs = [*self.design.workloads.values()]
        if machine in self.design.vms:
            # where no workload moves it: moved alone, to where it fits
            specs.append(WorkloadSpec(id=f"move {machine}"[:200], kind="vmotion", settings={"vms": machine}))
        for spec in specs:
            known = self._results.get((spec.id, None))
            if known is None:
                if spec.id not in self.design.workloads and name not in workload_kinds()["vmotion"].metrics:
                    continue
                known = self._results[spec.id, None] = run_workload(self.network, spec, True, None, self._cancelled)[0]
            found = _cell(known, wanted, stems, name, machine)
            if found is not None:
                return found
        return None

    def flows(self, way: str, at_once: str = "") -> list[Flow]:
        """The flows of ``a -> b``: of a transfer between the two, or those of a workload that fit."""
        source, arrow, target = (piece.strip() for piece in way.partition("->"))
        if not arrow or not source or not target:
            raise AnalysisError(f"{way!r} is no way", remedy='write "storage -> gpu[*]"')
        if at_once:
            ends = [{self.network.net.path(int(i)) for i in self._selected_parts(end)} for end in (source, target)]
            found = [f for f in self.result(at_once).flows if f.source in ends[0] and f.target in ends[1]]
            if not found:
                raise AnalysisError(f"{at_once!r} has no flow {way}", remedy="see its flows in designer analyze --json")
            return found
        return list(self.transfer(source, target).flows)

    def transfer(self, source: str, target: str) -> WorkloadResult:
        """All flows from one set of parts to another at once."""
        known = self._transfers.get((source, target))
        if known is None:
            settings = {"from": self.paths(source), "to": self.paths(target)}
            spec = WorkloadSpec(id="transfer", kind="transfer", settings=settings)
            known = run_workload(self.network, spec, False, None, self._cancelled)[0]
            self._transfers[source, target] = known
        return known

    def _selected_parts(self, selector: str) -> Sequence[int]:
        return resolve(self.network, self.paths(selector), selector).tolist()

    def paths(self, selector: str) -> str:
        """A selector as workloads know it: ``gpu[*]`` and ``gpu`` are all GPUs, unless a group or part is called so."""
        found = _ALL.match(selector)
        name = found["kind"] if found is not None else selector
        block = self.design
        if name in part_kinds() and name not in block.groups and (found is not None or name not in block.parts):
            plural = {
                "gpu": "gpus",
                "nic": "nics",
                "cpu": "cpus",
                "drive": "drives",
                "server": "servers",
                "dpu": "dpus",
                "sensor": "sensors",
                "client": "clients",
            }
            if name in plural or name in ("storage", "memory"):
                return plural.get(name, name)
            return ",".join(self.network.net.path(i) for i in self.network.parts_of_kind(name).tolist()) or name
        return selector

    def tiers(self, pattern: str) -> list[tuple[str, Tier, int]]:
        """Name, tier and place in it of the switches a pattern represents: tier, group, path or wiring."""
        net = self.network.net
        rows: list[tuple[str, Tier, int]] = []
        for tier in self.context.tiers:
            rows += [(net.path(number), tier, k) for k, number in enumerate(tier.switches.tolist())]
        for names in ([{tier.name} for _, tier, _ in rows], [_names(path) for path, _, _ in rows]):
            fits = [any(matches(name, pattern) for name in own) for own in names]
            if any(fits):
                return [row for row, fit in zip(rows, fits, strict=True) if fit]
        connected = {net.path(number) for number in self._wired_parts(pattern)}
        found = [row for row in rows if row[0] in connected]
        lowest = min((tier.level for _, tier, _ in found), default=0)
        return [row for row in found if row[1].level == lowest]

    def _wired_parts(self, pattern: str) -> set[int]:
        """The parts at the ends of the wirings a pattern names."""
        net, chosen = self.network.net, set[int]()
        for k, definition in enumerate(net.link_defs):
            if isinstance(definition, Wiring) and matches(definition.id, pattern):
                links = np.flatnonzero(net.link_def == k)
                chosen |= {*net.link_a[links].tolist(), *net.link_b[links].tolist()}
        return chosen

    def losses(self, pattern: str) -> tuple[str, ...]:
        """Paths of the parts a pattern represents; of very many one of each that are the same."""
        known = self._losses.get(pattern)
        if known is None:
            known = self._losses[pattern] = tuple(self._candidates(pattern))
        return known

    def _candidates(self, pattern: str) -> list[str]:
        net = self.network.net
        numbers = [int(t.switches[k]) for _, t, k in self.tiers(pattern)]
        if not numbers and pattern in part_kinds():
            numbers = self.network.parts_of_kind(pattern).tolist()
        if not numbers:
            try:
                numbers = list(self._selected_parts(pattern))
            except DesignerError as error:
                if pattern in _TIERS:
                    mend = "name parts or kinds that it has, or wire its servers to switches"
                    raise AnalysisError(f"the design has no tier {pattern!r}", remedy=mend) from None
                remedy = did_you_mean(pattern, [*part_kinds(), *_TIERS], error.remedy or "")
                raise AnalysisError(f"{pattern!r} names no part", remedy=remedy) from None
        if len(numbers) > LOSSES_LIMIT:
            _, first = np.unique(net.part_def[numbers], return_index=True)
            numbers = [numbers[i] for i in sorted(first.tolist())][:LOSSES_LIMIT]
        return [net.path(number) for number in numbers]

    def lost(self, path: str, workload: str) -> Way:
        """How a workload goes on without a part: as ``designer survive`` and ``simulate --fail`` answer."""
        key = (path, workload)
        known = self._lost.get(key)
        if known is None:
            survival = self._survivals.get(workload)
            if survival is None:
                made = Survival(self.network, self._workload(workload), self._cancelled)
                survival = self._survivals[workload] = made
            net = self.network.net
            known = self._lost[key] = survival.best(contents_of(self.network, [net.index_of(path)]))
        return known

    def slowdown(self, pattern: str, workload: str) -> Several:
        """How many times slower a workload gets without each of some parts."""
        worth_of(self.result(workload))
        items: list[Measure] = []
        for path in self.losses(pattern):
            way = self.lost(path, workload)
            if way.after.result is None:
                items.append(Measure(np.inf, np.inf, np.inf, NONE, path, f"{workload} cannot run without {path}"))
                continue
            times = 1 / way.share if way.share > 0 else np.inf
            binds, mend = bottleneck_text(way.after.result.binding)
            items.append(replace(Measure.exact(times, NONE, path), binds=binds, mend=mend))
        return Several(tuple(items), "max", pattern)

    def counts(self, what: str) -> Mapping[str, int]:
        """How many parts or links there are of each kind."""
        known = self._counts.get(what)
        if known is None:
            known = self._counts[what] = (count_kinds if what == "parts" else count_links)(self.design)
        return known

    def value(self, path: str, name: str) -> Measure:
        """A value of a part or link."""
        net = self.network.net
        for number in range(net.own_links):
            if net.link_path(number) == path:
                return self._link(number, path, name)
        part = net.part(net.index_of(path))
        kind = part_kinds().get(part.kind)
        field = kind.field(name) if kind is not None else None
        quantity = self.design.quantity(part, name)
        if field is None or quantity is None or field.dimension == "text":
            names = ", ".join(f.name for f in kind.fields if f.dimension != "text") if kind is not None else "none"
            raise AnalysisError(f"{path} has no {name!r}", remedy=f"it may have {names}")
        dimension = "ratio" if field.dimension in ("count", "flag") else field.dimension
        return Measure.exact(quantity.si(dimension), unit_of(dimension), path)

    def _link(self, number: int, path: str, name: str) -> Measure:
        values = {
            "rate": (float(self.network.rate[number]), "rate"),
            "count": (float(self.network.count[number]), "ratio"),
        }
        link = self.network.net.link(number)
        if link.lanes is not None:
            values["lanes"] = (float(link.lanes), "ratio")
        if link.generation is not None:
            values["generation"] = (float(link.generation), "ratio")
        if name not in values:
            raise AnalysisError(f"the link {path} has no {name!r}", remedy=f"it has {', '.join(values)}")
        value, dimension = values[name]
        return Measure.exact(value, unit_of(dimension), path)


def matches(name: str, pattern: str) -> bool:
    """True if a name fits a pattern, in which ``*`` and ``?`` are wild and brackets are themselves."""
    wild = {"*": ".*", "?": "."}
    return re.fullmatch("".join(wild.get(sign, re.escape(sign)) for sign in pattern), name) is not None


#: what tables call a metric
_HEADINGS: Final = {
    "migration_time": "time",
    "switchover_time": "pause",
    "stun_time": "stun",
    "transferred": "transferred",
}


def _cell(result: WorkloadResult, wanted: set[str], stems: set[str], name: str, machine: str) -> Measure | None:
    """The value of a machine in a table of a result, as unsure as the metric of all machines."""
    for table in result.tables.values():
        columns = [k for k, c in enumerate(table.columns) if c.name.lower() in stems]
        for row in table.rows if columns else ():
            cell = row[columns[0]]
            if row and row[0] in wanted and isinstance(cell, float | int):
                whole = result.metrics.get(name)
                low, high = (whole.low / whole.value, whole.high / whole.value) if whole and whole.value else (1, 1)
                unit = unit_of_si(table.columns[columns[0]].unit)
                binds, mend = bottleneck_text(result.binding)
                return Measure(float(cell), cell * low, cell * high, unit, machine, binds, mend)
    return None


def _names(path: str) -> set[str]:
    """What a switch may be called by: its path, with or without member numbers, and the groups it is in."""
    return {path, re.sub(r"\[\d+\]", "", path), *(piece.split("[")[0] for piece in path.split("/")[:-1])}


def bottleneck_text(bounds: Sequence[Bottleneck]) -> tuple[str, str]:
    """What binds, and what twice of it gains: of the one that gains most alone, else of all together."""
    if not bounds:
        return "", ""
    binds = ", ".join(b.label for b in bounds[:2]) + (" …" if len(bounds) > 2 else "")
    best = max(bounds, key=lambda b: b.gain_if_doubled or 1.0)
    alone, together = best.gain_if_doubled or 1.0, bounds[0].gain_together or 1.0
    if round(alone, 2) > 1.0 and best.equal == 1:
        return binds, f"twice the capacity of {best.label} makes it {alone:.2f} times as good"
    count = sum(b.equal for b in bounds)
    if round(together, 2) <= 1.0:
        return binds, ""
    of = f"all {count} that bind ({binds})" if count > 1 else best.label
    return binds, f"twice the capacity of {of} makes it {together:.2f} times as good"


def _at_load(spec: WorkloadSpec, load: float) -> WorkloadSpec:
    kind = workload_kinds().get(spec.kind)
    name = next((s.name for s in kind.settings if s.dimension == "frequency"), None) if kind is not None else None
    if name is None:
        raise AnalysisError(f"{spec.id!r} is not asked so often a second", remedy="leave out what follows at")
    return with_changes(spec, settings={**spec.settings, name: f"{load!r} 1/s"})
