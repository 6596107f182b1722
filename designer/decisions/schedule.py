"""A day or a week by a timetable: who holds which accelerators, what gets done, what changes cost, what is drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Any, Final

import numpy as np

from designer.analysis.study import analyze
from designer.catalog.parttype import Capability
from designer.design.document import Design, VirtualMachine, WorkloadSpec, with_changes
from designer.engine.machines.demands import filled_of, memory_of
from designer.engine.machines.placement import Placement, place_vms
from designer.engine.network import Network, build_network
from designer.engine.network.capacities import band_of
from designer.engine.question import Question
from designer.engine.results import Bottleneck, Column, Curve, Table, WorkloadResult
from designer.engine.routes.selection import resolve
from designer.engine.transfers import evaluate_transfer, refuse_lost
from designer.errors import AnalysisError
from designer.families.schedule.hours import DAY, DAYS, HOUR, WEEK, Entry, read_timetable
from designer.fields import amount
from designer.findings import Finding, Severity
from designer.formulas.power.server_power import IDLE, power_at_work, wall_power
from designer.sources import Estimate
from designer.units import Watts
from designer.workload.kind import kind_of, listed, read_settings
from designer.workload.program.tasks import Move

_SECONDS: Final = 60.0
#: what a workload gets done, the first that its answer has
_RATES: Final = ("tokens_per_second", "samples_per_second")
_SOURCES: Final = ("ml-energy-fit", "wall-readings")
_ENDS: Final = ("value", "low", "high")


@dataclass(frozen=True, slots=True)
class _Doing:
    """What a workload does in a phase: accelerators it runs on, and the rate of its work by metric; None for none."""

    accelerators: int
    name: str
    rate: Estimate | None


@dataclass(frozen=True, slots=True)
class _State:
    """Hardware while the same machines and workloads run.

    Parameters
    ----------
    held
        Accelerators of machines, by path, with the share of the time they are busy.
    power
        Servers at the wall: value, low and high end [W].
    """

    machines: frozenset[str]
    held: Mapping[str, float]
    doing: Mapping[str, _Doing]
    power: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class _Phase:
    """A stretch of the timetable in minutes of the week, and what it waits for machines at its begin and end [s]."""

    begin: int
    end: int
    state: _State
    switches: tuple[Estimate, Estimate]

    @property
    def seconds(self) -> float:
        """Its length [s]."""
        return (self.end - self.begin) * _SECONDS

    def working(self, end: int) -> float:
        """What is left of it once machines have gone, and before others come back; by end of the band [s]."""
        # the quick end of the work has the quick end of the changes
        lost = sum(getattr(s, ("value", "high", "low")[end]) for s in self.switches)
        return max(0.0, self.seconds - lost)


def answer(network: Network, settings: Mapping[str, Any], question: Question) -> tuple[WorkloadResult, None]:
    """Follow the clock through a day, or a week where days differ.

    Raises
    ------
    AnalysisError
        If the timetable cannot be read, names what is not there, or a workload cannot run.
    """
    design, place = network.design, question.place
    entries = read_timetable(settings["timetable"], f"{place}.timetable")
    plan = _Plan(design, entries, place)
    horizon = DAY if plan.daily else WEEK
    states = _states(network, plan, horizon, question)
    phases = _phases(network, states, settings["store"].strip(), place)
    total = int(network.has(Capability.ACCELERATE).sum())
    if not total:
        raise AnalysisError("no accelerators are drawn", place=place, remedy="draw some")
    metrics = _metrics(phases, total)
    first = next(iter(plan.workloads), "")
    why = f"machines hold {metrics['hours_held'].value:.0%} of the accelerator hours"
    result = question.result(
        metrics,
        (Bottleneck("limit", "hours", "the timetable", why),),
        (),
        (),
        0,
        _warnings(phases, first),
        _curves(phases, total) if question.curves else {},
        {"schedule": _table(phases, total)},
    )
    return result, None


class _Plan:
    """The timetable with the names of a design filled in."""

    def __init__(self, design: Design, entries: Sequence[Entry], place: str) -> None:
        self.design = design
        self._machines: dict[str, Entry] = {}
        self.workloads: dict[str, Entry] = {}
        for entry in entries:
            for pattern in entry.names:
                machines = [vm for vm in design.vms if fnmatchcase(vm, pattern)]
                workloads = [] if machines else [w for w in design.workloads if fnmatchcase(w, pattern)]
                if not machines and not workloads:
                    known = ", ".join([*design.vms, *design.workloads][:20])
                    text = f"the timetable names {pattern!r}, which is neither a machine nor a workload"
                    raise AnalysisError(text, place=f"{place}.timetable", remedy=f"use some of {known}")
                self._machines |= dict.fromkeys(machines, entry)
                self.workloads |= dict.fromkeys(workloads, entry)
        self._timed = [entry for entry in entries if entry.spans]
        hours = sorted({edge % DAY for entry in self._timed for span in entry.spans for edge in span} | {0})
        self.daily = all(
            entry.runs(day + minute) == entry.runs(minute)
            for entry in self._timed
            for minute in hours
            for day in range(DAY, WEEK, DAY)
        )

    def edges(self, horizon: int) -> list[int]:
        """Minutes at which something changes, and both ends."""
        every = {edge for entry in self._timed for span in entry.spans for edge in span}
        return sorted({0, horizon, *(edge for edge in every if edge < horizon)})

    def active(self, minute: int) -> tuple[frozenset[str], tuple[str, ...]]:
        """Machines and workloads that run from a minute on."""
        named = {vm for vm, entry in self._machines.items() if entry.spans and entry.runs(minute)}
        rest = not named
        machines = {vm for vm, entry in self._machines.items() if not entry.spans and rest}
        always = set(self.design.vms) - set(self._machines)
        workloads = tuple(w for w, entry in self.workloads.items() if (entry.runs(minute) if entry.spans else rest))
        return frozenset(named | machines | always), workloads


def _states(network: Network, plan: _Plan, horizon: int, question: Question) -> list[tuple[int, int, _State]]:
    """What runs when: begin, end and state of each phase."""
    known: dict[tuple[frozenset[str], tuple[str, ...]], _State] = {}
    found: list[tuple[int, int, _State]] = []
    edges = plan.edges(horizon)
    for begin, end in pairwise(edges):
        key = plan.active(begin)
        if key not in known:
            known[key] = _state(network, *key, question)
        if found and found[-1][2] is known[key]:
            found[-1] = found[-1][0], end, known[key]
        else:
            found.append((begin, end, known[key]))
    return found


def _state(network: Network, machines: frozenset[str], workloads: Sequence[str], question: Question) -> _State:
    design = with_changes(network.design, vms=[vm for vm in network.design.vms.values() if vm.id in machines])
    there = build_network(design)
    held = _held(place_vms(there), design)
    doing = {name: _done(there, design, name, held, question) for name in workloads}
    return _State(machines, held, doing, _power(there, held, sum(d.accelerators for d in doing.values())))


def _held(placement: Placement, design: Design) -> dict[str, float]:
    """GPUs that machines have, and the share of the time they keep them busy [1]."""
    found: dict[str, float] = {}
    for placed in placement.placed.values():
        duty = amount(design.vms[placed.vm.id].gpu_duty or "1", "ratio")
        for device in placed.devices:
            if device.gpu is not None:
                found[device.gpu.path] = min(1.0, found.get(device.gpu.path, 0.0) + duty)
    return found


def _done(network: Network, design: Design, name: str, held: Mapping[str, float], question: Question) -> _Doing:
    """A workload on what machines leave of its accelerators; one that names machines runs in those."""
    spec = design.workloads[name]
    settings = read_settings(kind_of(spec.kind, name), spec.settings, f"workloads.{name}")
    if "group" not in settings:
        text = f"{name} runs on no accelerators, so it cannot take turns with machines"
        raise AnalysisError(text, place=f"{question.place}.timetable", remedy="name a training or a served model")
    inside = listed(str(settings.get("machines", "")))
    parts = resolve(network, settings["group"], f"workloads.{name}.group").tolist()
    if inside:
        if not set(inside) <= set(design.vms):
            return _Doing(0, "", None)
        count = len(parts)
        asked: WorkloadSpec = spec
    else:
        free = [path for path in map(network.net.path, parts) if path not in held]
        if not free:
            return _Doing(0, "", None)
        count = len(free)
        group = settings["group"] if count == len(parts) else ",".join(free)
        asked = with_changes(spec, settings={**spec.settings, "group": group})
    alone = with_changes(design, workloads=[asked if w.id == name else w for w in design.workloads.values()])
    found = analyze(alone, [name], curves=False, cancelled=question.cancelled).workloads[0].metrics
    rate = next((metric for metric in _RATES if metric in found), "")
    if not rate:
        text = f"{name} has no rate at which it gets something done"
        raise AnalysisError(text, place=f"{question.place}.timetable", remedy="name a training or a served model")
    return _Doing(count, rate, found[rate])


def _power(network: Network, held: Mapping[str, float], working: int) -> tuple[float, float, float]:
    """Servers at the wall: machines keep theirs busy for their share, workloads theirs for all of it [W]."""
    ends = np.zeros(len(_ENDS))
    count = 0
    for number in np.flatnonzero(network.has(Capability.ACCELERATE)).tolist():
        part = network.net.part(number)
        known = band_of(network.design, part, "power_per_part") or band_of(network.design, part, "power_max")
        if known is None:
            continue
        count += 1
        path = network.net.path(number)
        if path in held:
            duty = held[path]
        else:
            duty, working = (1.0, working - 1) if working > 0 else (0.0, working)
        work = power_at_work(Watts(known[0]), None, same_model=False)
        rest = [known[0] * share for share in (IDLE.value, IDLE.low, IDLE.high)]
        ends += [duty * at_work + (1 - duty) * idle for at_work, idle in zip(work, rest, strict=True)]
    value, low, high = (float(wall_power(Watts(watts), count)) for watts in ends)
    return value, low, high


def _phases(network: Network, states: Sequence[tuple[int, int, _State]], store: str, place: str) -> list[_Phase]:
    """Phases with what changes of machines take; the last is followed by the first."""
    none = Estimate.exact(0.0, "s")
    changes: list[Estimate] = []
    for (_, _, before), (_, _, after) in zip(states, [*states[1:], states[0]], strict=True):
        leave, come = before.machines - after.machines, after.machines - before.machines
        times = [_switch(network, names, store, place, away) for names, away in ((leave, True), (come, False)) if names]
        changes.append(Estimate.total(times) if times else none)
    found: list[_Phase] = []
    for k, (begin, end, state) in enumerate(states):
        before = states[k - 1][2]
        # who leaves keeps the accelerators until all is written; who comes needs them free before
        late = changes[k - 1] if before.machines - state.machines else none
        early = changes[k] if states[(k + 1) % len(states)][2].machines - state.machines else none
        found.append(_Phase(begin, end, state, (late, early)))
    return found


def _switch(network: Network, names: frozenset[str], store: str, place: str, away: bool) -> Estimate:
    """Writing machines to a store, or reading them from it, all hosts at once: the time of the slowest [s]."""
    if not store:
        return Estimate.exact(0.0, "s")
    sizes: dict[str, float] = {}
    host_of: dict[int, str] = {}
    placed = place_vms(network).placed
    for name in names:
        if name in placed:
            host = placed[name].host
            sizes[host.path] = sizes.get(host.path, 0.0) + _state_of(network.design.vms[name], placed[name].devices)
            host_of |= {memory: host.path for socket in host.sockets for memory in socket.memories}
    ends = sorted(host_of)
    if not ends:
        return Estimate.exact(0.0, "s")
    paths = ",".join(map(network.net.path, ends))
    move = (paths, store) if away else (store, paths)
    answer = evaluate_transfer(network, Move(*move, pairing="all"), f"{place}.store")
    refuse_lost(network, answer, "machines", f"{place}.store")
    hosts = np.array([host_of[part] for part in (answer.traffic.source if away else answer.traffic.target).tolist()])
    times = [
        [size / float(rate[hosts == host].sum()) for host, size in sizes.items()]
        for rate in (answer.rate, answer.high, answer.low)
    ]
    value, low, high = (max(each) for each in times)
    return Estimate(value, low, high, "s", answer.sources)


def _state_of(vm: VirtualMachine, devices: Sequence[Any]) -> float:
    """What a suspended machine is: its filled memory, and the frame buffer it uses [B]."""
    used = 0.0
    for device in devices:
        stated = vm.devices[device.device].memory_used
        used += amount(stated, "size") if stated is not None else device.framebuffer
    return float(filled_of(vm) or memory_of(vm)) + used


def _metrics(phases: Sequence[_Phase], total: int) -> dict[str, Estimate]:
    whole = sum(phase.seconds for phase in phases)

    def share(seconds: Sequence[float]) -> Estimate:
        return Estimate.over([each / (whole * total) for each in seconds], "1")

    computing = [
        sum(p.working(end) * min(total, sum(d.accelerators for d in p.state.doing.values())) for p in phases)
        for end in range(len(_ENDS))
    ]
    holding = sum(p.seconds * len(p.state.held) for p in phases)
    found = {
        "hours_computing": share(computing),
        "hours_held": Estimate.exact(holding / (whole * total), "1"),
        "hours_unused": share([max(0.0, whole * total - holding - each) for each in computing]),
    }
    for name in _RATES:
        done = [0.0] * len(_ENDS)
        sources: set[str] = set()
        for phase in phases:
            for doing in phase.state.doing.values():
                if doing.name == name and doing.rate is not None:
                    sources |= set(doing.rate.sources)
                    for end, which in enumerate(_ENDS):
                        # a high rate goes with short changes
                        time = phase.working((0, 2, 1)[end])
                        done[end] += getattr(doing.rate, which) * time
        if done[0]:
            each = [amount / whole for amount in done]
            found[name] = Estimate(each[0], each[1], each[2], "1/s", tuple(sorted(sources)), "mean of all hours")
    switch = max((s for p in phases for s in p.switches), key=lambda s: s.value)
    if switch.value:
        found["switch_time"] = switch
    watts = [sum(p.state.power[end] * p.seconds for p in phases) / whole for end in range(len(_ENDS))]
    peak = max((p.state.power for p in phases), key=lambda power: power[0])
    if peak[0]:
        found["mean_power"] = Estimate(watts[0], watts[1], watts[2], "W", _SOURCES, "mean of all hours")
        found["peak_power"] = Estimate(*peak, "W", _SOURCES)
        joules = [each * DAY * _SECONDS for each in watts]
        found["energy_per_day"] = Estimate(joules[0], joules[1], joules[2], "J", _SOURCES)
    return found


def _warnings(phases: Sequence[_Phase], first: str) -> list[Finding]:
    never = first and not any(p.state.doing.get(first, _Doing(0, "", None)).accelerators for p in phases)
    if never:
        text = f"{first} never gets an accelerator: machines hold all of them whenever it may run"
        return [Finding("SCHEDULE-NEVER", Severity.WARNING, text, (), "give machines shorter hours, or it longer ones")]
    return []


def _clock(minute: int, week: bool) -> str:
    day = f"{DAYS[minute // DAY % len(DAYS)]} " if week else ""
    return f"{day}{minute % DAY // HOUR:02d}:{minute % HOUR:02d}"


def _table(phases: Sequence[_Phase], total: int) -> Table:
    week = phases[-1].end > DAY
    rows = tuple(
        (
            _clock(p.begin, week),
            p.seconds,
            float(len(p.state.machines)),
            float(len(p.state.held)),
            float(min(total, sum(d.accelerators for d in p.state.doing.values()))),
            ", ".join(name for name, d in p.state.doing.items() if d.accelerators) or None,
            next((d.rate.value for d in p.state.doing.values() if d.rate is not None), None),
            p.state.power[0] or None,
            sum(s.value for s in p.switches) or None,
        )
        for p in phases
    )
    columns = (
        Column("from"),
        Column("for", "s"),
        Column("machines", "1"),
        Column("their accelerators", "1"),
        Column("computing", "1"),
        Column("workloads"),
        Column("rate", "1/s"),
        Column("power", "W"),
        Column("changes", "s"),
    )
    return Table("The timetable", columns, rows)


def _curves(phases: Sequence[_Phase], total: int) -> dict[str, tuple[Curve, ...]]:
    """Steps over time: accelerators of machines, of workloads and of nobody; power."""

    def steps(name: str, of: Sequence[float], low: Sequence[float] = (), high: Sequence[float] = ()) -> Curve:
        x = tuple(edge * _SECONDS for p in phases for edge in (p.begin, p.end))

        def twice(values: Sequence[float]) -> tuple[float, ...]:
            return tuple(value for value in values for _ in range(2))

        return Curve(name, x, twice(of), twice(low), twice(high))

    held = [float(len(p.state.held)) for p in phases]
    used = [float(min(total, sum(d.accelerators for d in p.state.doing.values()))) for p in phases]
    power = [p.state.power for p in phases]
    found: dict[str, tuple[Curve, ...]] = {"schedule-accelerators": (steps("machines", held), steps("workloads", used))}
    if any(math.isfinite(each[0]) and each[0] for each in power):
        each = list(zip(*power, strict=True))
        found["schedule-power"] = (steps("servers at the wall", each[0], each[1], each[2]),)
    return found
