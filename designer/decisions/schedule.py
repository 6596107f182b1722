"""A day or a week by a timetable: who holds which accelerators, what gets done, what changes cost, what is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Any, Final

import numpy as np

from designer.analysis.study import analyze
from designer.catalog.parttype import Capability
from designer.design.document import Design, VirtualMachine, WorkloadSpec, with_changes
from designer.engine.clock.jobs import job_of
from designer.engine.clock.player import play
from designer.engine.costs import Cost, Prices
from designer.engine.costs.move import flows_of
from designer.engine.costs.pricing import Priced
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
from designer.families.schedule.kinds import FollowTimetable
from designer.fields import amount
from designer.findings import Finding, Severity
from designer.formulas.power.server_power import IDLE, power_at_work, wall_power
from designer.sources import Estimate
from designer.units import Watts
from designer.workload.kind import kind_of, listed, read_settings
from designer.workload.program import Program, Step
from designer.workload.program.tasks import Move

_SECONDS: Final = 60.0
#: what a workload gets done, the first that its answer has
_RATES: Final = ("tokens_per_second", "samples_per_second")
_SOURCES: Final = ("ml-energy-fit", "wall-readings")
_ENDS: Final = ("value", "low", "high")


@dataclass(frozen=True, slots=True)
class _Doing:
    """What a workload does in a phase.

    Parameters
    ----------
    accelerators
        That it runs on.
    name, rate
        Metric of its work, and how much gets done; None for nothing.
    design
        The design in which it has these accelerators alone; None where it does nothing.
    """

    accelerators: int
    name: str
    rate: Estimate | None
    design: Design | None = None


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
class Phase:
    """A stretch of the timetable in minutes of the week, and what it waits for machines at its begin and end [s].

    Parameters
    ----------
    leave, come
        Writing the machines that left at its begin, and reading those that come at its end [s].
    """

    begin: int
    end: int
    state: _State
    leave: Estimate
    come: Estimate

    @property
    def starts(self) -> float:
        """Its begin from Monday 00:00 on [s]."""
        return self.begin * _SECONDS

    @property
    def working_accelerators(self) -> int:
        """Accelerators on which its workloads run."""
        return sum(doing.accelerators for doing in self.state.doing.values())

    @property
    def seconds(self) -> float:
        """Its length [s]."""
        return (self.end - self.begin) * _SECONDS

    def working(self, end: int) -> float:
        """What is left of it once machines have gone, and before others come back; by end of the band [s]."""
        # the quick end of the work has the quick end of the changes
        lost = sum(getattr(s, ("value", "high", "low")[end]) for s in (self.leave, self.come))
        return max(0.0, self.seconds - lost)


def answer(network: Network, program: Program, question: Question) -> tuple[WorkloadResult, None]:
    """Follow the clock through a day, or a week where days differ.

    Raises
    ------
    AnalysisError
        If the timetable cannot be read, names what is not there, or a workload cannot run.
    """
    task = program.first(FollowTimetable)
    assert task is not None
    prices = Prices(network)
    phases, total, first = followed(prices, task, question.place, question.cancelled)
    metrics, binding = mean_of(phases, total)
    result = question.result(
        metrics,
        binding,
        (),
        (),
        0,
        _warnings(phases, first),
        _curves(phases, total) if question.curves else {},
        {"schedule": _table(phases, total)},
    )
    return result, None


def followed(
    prices: Prices, task: FollowTimetable, place: str, cancelled: Callable[[], bool] | None = None
) -> tuple[list[Phase], int, str]:
    """The phases of a timetable, how many accelerators are drawn, and the first workload it names.

    Raises
    ------
    AnalysisError
        As `answer`.
    """
    network = prices.network
    plan = _Plan(network.design, read_timetable(task.timetable, f"{place}.timetable"), place)
    total = int(network.has(Capability.ACCELERATE).sum())
    if not total:
        raise AnalysisError("no accelerators are drawn", place=place, remedy="draw some")
    states = _states(network, plan, DAY if plan.daily else WEEK, place, cancelled)
    return _phases(prices, states, task.store.strip(), place), total, next(iter(plan.workloads), "")


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


def _states(
    network: Network, plan: _Plan, horizon: int, place: str, cancelled: Callable[[], bool] | None
) -> list[tuple[int, int, _State]]:
    """What runs when: begin, end and state of each phase."""
    known: dict[tuple[frozenset[str], tuple[str, ...]], _State] = {}
    found: list[tuple[int, int, _State]] = []
    edges = plan.edges(horizon)
    for begin, end in pairwise(edges):
        key = plan.active(begin)
        if key not in known:
            known[key] = _state(network, *key, place, cancelled)
        if found and found[-1][2] is known[key]:
            found[-1] = found[-1][0], end, known[key]
        else:
            found.append((begin, end, known[key]))
    return found


def _state(
    network: Network,
    machines: frozenset[str],
    workloads: Sequence[str],
    place: str,
    cancelled: Callable[[], bool] | None,
) -> _State:
    design = with_changes(network.design, vms=[vm for vm in network.design.vms.values() if vm.id in machines])
    there = build_network(design)
    held = _held(place_vms(there), design)
    doing = {name: _done(there, design, name, held, place, cancelled) for name in workloads}
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


def _done(
    network: Network,
    design: Design,
    name: str,
    held: Mapping[str, float],
    place: str,
    cancelled: Callable[[], bool] | None,
) -> _Doing:
    """A workload on what machines leave of its accelerators; one that names machines runs in those."""
    spec = design.workloads[name]
    settings = read_settings(kind_of(spec.kind, name), spec.settings, f"workloads.{name}")
    if "group" not in settings:
        text = f"{name} runs on no accelerators, so it cannot take turns with machines"
        raise AnalysisError(text, place=f"{place}.timetable", remedy="name a training or a served model")
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
    found = analyze(alone, [name], curves=False, cancelled=cancelled).workloads[0].metrics
    rate = next((metric for metric in _RATES if metric in found), "")
    if not rate:
        text = f"{name} has no rate at which it gets something done"
        raise AnalysisError(text, place=f"{place}.timetable", remedy="name a training or a served model")
    return _Doing(count, rate, found[rate], alone)


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


def _phases(prices: Prices, states: Sequence[tuple[int, int, _State]], store: str, place: str) -> list[Phase]:
    """Phases with what changes of machines take; the last is followed by the first."""
    found: list[Phase] = []
    for k, (begin, end, state) in enumerate(states):
        before, after = states[k - 1][2], states[(k + 1) % len(states)][2]
        # who leaves keeps the accelerators until all is written; who comes needs them free before
        left, back = before.machines - state.machines, after.machines - state.machines
        times = [
            _switch(prices, switch_cost(prices, names, store, place, away))
            for names, away in ((left, True), (back, False))
        ]
        found.append(Phase(begin, end, state, *times))
    return found


def switch_moves(
    prices: Prices, phases: Sequence[Phase], k: int, store: str, place: str
) -> tuple[Cost | None, Cost | None]:
    """What writes the machines that leave at the begin of a phase, and reads those that come at its end."""
    state = phases[k].state
    left = phases[k - 1].state.machines - state.machines
    back = phases[(k + 1) % len(phases)].state.machines - state.machines
    return switch_cost(prices, left, store, place, True), switch_cost(prices, back, store, place, False)


def switch_cost(prices: Prices, names: frozenset[str], store: str, place: str, away: bool) -> Cost | None:
    """Writing machines to a store, or reading them from it, all hosts at once; None where that costs nothing."""
    network = prices.network
    if not store.strip() or not names:
        return None
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
        return None
    paths = ",".join(map(network.net.path, ends))
    move = (paths, store) if away else (store, paths)
    answer = evaluate_transfer(network, Move(*move, pairing="all"), f"{place}.store")
    refuse_lost(network, answer, "machines", f"{place}.store")
    hosts = [host_of[part] for part in (answer.traffic.source if away else answer.traffic.target).tolist()]
    whole: dict[str, float] = {}
    for host, rate in zip(hosts, answer.rate.tolist(), strict=True):
        whole[host] = whole.get(host, 0.0) + rate
    amount = [sizes[host] * rate / whole[host] for host, rate in zip(hosts, answer.rate.tolist(), strict=True)]
    return flows_of(prices, answer, np.array(amount), f"machines:{store}:{away:d}")


def _switch(prices: Prices, cost: Cost | None) -> Estimate:
    """The time of the slowest host alone on the links [s]."""
    if cost is None:
        return Estimate.exact(0.0, "s")
    time = play(prices, [job_of(Program("switch", (Step("move", Priced(cost)),)))]).end
    return Estimate(time, time * cost.low, time * cost.high, "s", cost.sources)


def _state_of(vm: VirtualMachine, devices: Sequence[Any]) -> float:
    """What a suspended machine is: its filled memory, and the frame buffer it uses [B]."""
    used = 0.0
    for device in devices:
        stated = vm.devices[device.device].memory_used
        used += amount(stated, "size") if stated is not None else device.framebuffer
    return float(filled_of(vm) or memory_of(vm)) + used


def mean_of(phases: Sequence[Phase], total: int) -> tuple[dict[str, Estimate], tuple[Bottleneck, ...]]:
    """Metrics of a whole timetable by itself, and what binds it."""
    gone = [phase.seconds for phase in phases]
    work = [[phase.working(end) for phase in phases] for end in range(len(_ENDS))]
    switch = max((s for p in phases for s in (p.leave, p.come)), key=lambda s: s.value)
    metrics = metrics_of(phases, gone, work, total, switch)
    why = f"machines hold {metrics['hours_held'].value:.0%} of the accelerator hours"
    return metrics, (Bottleneck("limit", "hours", "the timetable", why),)


def metrics_of(
    phases: Sequence[Phase],
    gone: Sequence[float],
    work: Sequence[Sequence[float]],
    total: int,
    switch: Estimate,
) -> dict[str, Estimate]:
    """What the hours come to.

    Parameters
    ----------
    gone
        Time of each phase that has passed [s].
    work
        Time of each phase in which its workloads ran, by end of the band [s].
    total
        Accelerators that are drawn.
    switch
        The longest change of machines [s].
    """
    whole = sum(gone)

    def share(seconds: Sequence[float]) -> Estimate:
        return Estimate.over([each / (whole * total) for each in seconds], "1")

    computing = [
        sum(time * min(total, p.working_accelerators) for p, time in zip(phases, times, strict=True)) for times in work
    ]
    holding = sum(time * len(p.state.held) for p, time in zip(phases, gone, strict=True))
    found = {
        "hours_computing": share(computing),
        "hours_held": Estimate.exact(holding / (whole * total), "1"),
        "hours_unused": share([max(0.0, whole * total - holding - each) for each in computing]),
    }
    for name in _RATES:
        done = [0.0] * len(_ENDS)
        sources: set[str] = set()
        for k, phase in enumerate(phases):
            for doing in phase.state.doing.values():
                if doing.name == name and doing.rate is not None:
                    sources |= set(doing.rate.sources)
                    for end, which in enumerate(_ENDS):
                        # a high rate goes with short changes
                        done[end] += getattr(doing.rate, which) * work[(0, 2, 1)[end]][k]
        if done[0]:
            each = [amount / whole for amount in done]
            found[name] = Estimate(each[0], each[1], each[2], "1/s", tuple(sorted(sources)), "mean of all hours")
    if switch.value:
        found["switch_time"] = switch
    powers = [(p.state.power, time) for p, time in zip(phases, gone, strict=True) if time > 0]
    watts = [sum(power[end] * time for power, time in powers) / whole for end in range(len(_ENDS))]
    peak = max((power for power, _ in powers), key=lambda power: power[0])
    if peak[0]:
        found["mean_power"] = Estimate(watts[0], watts[1], watts[2], "W", _SOURCES, "mean of all hours")
        found["peak_power"] = Estimate(*peak, "W", _SOURCES)
        joules = [each * DAY * _SECONDS for each in watts]
        found["energy_per_day"] = Estimate(joules[0], joules[1], joules[2], "J", _SOURCES)
    return found


def _warnings(phases: Sequence[Phase], first: str) -> list[Finding]:
    never = first and not any(p.state.doing.get(first, _Doing(0, "", None)).accelerators for p in phases)
    if never:
        text = f"{first} never gets an accelerator: machines hold all of them whenever it may run"
        return [Finding("SCHEDULE-NEVER", Severity.WARNING, text, (), "give machines shorter hours, or it longer ones")]
    return []


def phase_name(phase: Phase, phases: Sequence[Phase]) -> str:
    """When a phase begins, such as ``mon 08:00``."""
    return _clock(phase.begin, phases[-1].end > DAY)


def _clock(minute: int, week: bool) -> str:
    day = f"{DAYS[minute // DAY % len(DAYS)]} " if week else ""
    return f"{day}{minute % DAY // HOUR:02d}:{minute % HOUR:02d}"


def _table(phases: Sequence[Phase], total: int) -> Table:
    week = phases[-1].end > DAY
    rows = tuple(
        (
            _clock(p.begin, week),
            p.seconds,
            float(len(p.state.machines)),
            float(len(p.state.held)),
            float(min(total, p.working_accelerators)),
            ", ".join(name for name, d in p.state.doing.items() if d.accelerators) or None,
            next((d.rate.value for d in p.state.doing.values() if d.rate is not None), None),
            p.state.power[0] or None,
            p.leave.value + p.come.value or None,
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


def _curves(phases: Sequence[Phase], total: int) -> dict[str, tuple[Curve, ...]]:
    """Steps over time: accelerators of machines, of workloads and of nobody; power."""

    def steps(name: str, of: Sequence[float], low: Sequence[float] = (), high: Sequence[float] = ()) -> Curve:
        x = tuple(edge * _SECONDS for p in phases for edge in (p.begin, p.end))

        def twice(values: Sequence[float]) -> tuple[float, ...]:
            return tuple(value for value in values for _ in range(2))

        return Curve(name, x, twice(of), twice(low), twice(high))

    held = [float(len(p.state.held)) for p in phases]
    used = [float(min(total, p.working_accelerators)) for p in phases]
    power = [p.state.power for p in phases]
    found: dict[str, tuple[Curve, ...]] = {"schedule-accelerators": (steps("machines", held), steps("workloads", used))}
    if any(math.isfinite(each[0]) and each[0] for each in power):
        each = list(zip(*power, strict=True))
        found["schedule-power"] = (steps("servers at the wall", each[0], each[1], each[2]),)
    return found
