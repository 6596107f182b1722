"""Power over a run: what servers and racks draw while their accelerators compute, communicate and wait."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.analysis.simulation import Simulation
from designer.analysis.study import analyze
from designer.catalog.parttype import Capability
from designer.design.document import Design
from designer.engine.clock.records import WorkRun
from designer.engine.clock.run import Run
from designer.formulas.power.server_power import AROUND, FIT_SPREAD, IDLE, OTHER_MODEL, power_at_work
from designer.formulas.power.step_load import COMMUNICATING
from designer.report.figures.power_step import JobLoad, job_load
from designer.report.inventory import RACK, Inventory, inventory, unit_name
from designer.report.tables.racks import Rack, plan_of
from designer.sources import Estimate
from designer.units import Watts

Float = npt.NDArray[np.float64]

SOURCES: Final = ("ml-energy-fit", "wall-readings", "power-stabilization")
#: value, low and high end, as bands are stated
_ENDS: Final = ("value", "low", "high")
#: what accelerators draw that compute a step, and that communicate, against what is estimated [1]
_SPREAD: Final = math.hypot(FIT_SPREAD.value, OTHER_MODEL.value)
_FIT: Final = np.exp([0.0, -_SPREAD, _SPREAD])
_WAITING: Final = np.array([1.0, COMMUNICATING.low / COMMUNICATING.value, COMMUNICATING.high / COMMUNICATING.value])


@dataclass(frozen=True, slots=True, eq=False)
class UnitPower:
    """What a server or a rack draws over a run.

    Parameters
    ----------
    name, kind
        Path of the unit; ``server``, ``rack``, ``feed`` for a power distribution unit of a rack, or ``all`` for
        everything together.
    times, watts
        From each time on so many watts: (n,) [s] and (3, n) value, low and high end [W].
    end
        Of the run [s].
    feeds
        What its shelves or feeds give at most; 0 where that is not stated [W].
    """

    name: str
    kind: str
    times: Float
    watts: Float
    end: float
    feeds: float = 0.0

    @property
    def mean(self) -> Estimate:
        """Over the whole run [W]."""
        spans = np.diff(np.append(self.times, self.end))
        value, low, high = (self.watts @ spans / self.end).tolist() if self.end > 0 else self.watts[:, 0].tolist()
        return Estimate(value, low, high, "W", SOURCES, "servers with their accelerators")

    @property
    def peak(self) -> Estimate:
        """The most at any time [W]."""
        value, low, high = self.watts.max(axis=1).tolist()
        return Estimate(value, low, high, "W", SOURCES)

    @property
    def swing(self) -> float:
        """The most less the least, once anything computes [W]."""
        return float(np.ptp(self.watts[0][int(np.argmax(self.watts[0] > self.watts[0][0])) :]))

    @property
    def rises(self) -> int:
        """How often it rises above the middle between its least and its most."""
        above = self.watts[0] > (self.watts[0].max() + self.watts[0].min()) / 2
        return int(np.count_nonzero(above[1:] & ~above[:-1]))


def run_power(
    design: Design, found: Simulation, *, cancelled: Callable[[], bool] | None = None
) -> tuple[UnitPower, ...]:
    """Power over a run: of everything, of each rack and its feeds, and of each server.

    None where no accelerator states a power.

    An accelerator at work draws by the fit of ``designer.formulas.power``; a training step first computes and then
    communicates, as long as its timeline says; one that waits draws its idle share. What is around accelerators in a
    server is constant. Switches and storage are not in it. A timetable states the power of all servers together.

    Raises
    ------
    AnalysisError
        If a training of the run cannot be analysed.
    """
    run = found.run
    network = run.table.network
    parts = np.flatnonzero(network.has(Capability.ACCELERATE)).tolist()
    stock = inventory(design)
    limits = {part: limit for part in parts if (limit := stock.number(network.net.part(part), "power_per_part"))}
    if not limits or run.end <= 0:
        return ()
    hours = _of_hours(design, run, cancelled)
    if hours is not None:
        return (hours,)
    loads = _steps(design, run, cancelled)
    curves: dict[tuple[tuple[int, ...], float], tuple[Float, Float]] = {}
    of_unit: dict[int, list[tuple[Float, Float]]] = {}
    for part, limit in limits.items():
        resources = tuple(sorted({int(run.represents[r]) for r in _resources(run, part)}))
        key = (resources, limit)
        if key not in curves:
            curves[key] = _accelerator(run, resources, Watts(limit), loads)
        of_unit.setdefault(int(stock.unit[part]), []).append(curves[key])
    name = {unit: unit_name(stock, unit) for unit in of_unit}
    kept: dict[tuple[int, ...], tuple[Float, Float]] = {}
    servers: list[UnitPower] = []
    for unit, each in of_unit.items():
        key_of = tuple(id(times) for times, _ in each)
        if key_of not in kept:
            kept[key_of] = _sum(each, AROUND.value * len(each))
        servers.append(UnitPower(name[unit], "server", *kept[key_of], run.end))
    plan = plan_of(design) if len(stock.racks) or design.racks else None
    known = dict(zip(of_unit, servers, strict=True))
    racks = [one for rack in plan.racks for one in _of_rack(stock, rack, known, run.end)] if plan is not None else []
    every = UnitPower("all servers", "all", *_sum([(s.times, s.watts) for s in servers]), run.end)
    return (every, *racks, *servers)


def _of_rack(stock: Inventory, rack: Rack, known: Mapping[int, UnitPower], end: float) -> Iterator[UnitPower]:
    """The power of a rack, then of each of its feeds: what is on no feed of its own is shared by all of them."""
    mine = [(unit.feed, (one.times, one.watts)) for unit in rack.units if (one := known.get(unit.part)) is not None]
    if rack.proposed or not mine:
        return
    part = stock.net.part(rack.drawn) if rack.drawn >= 0 else None
    shelves, each = (stock.number(part, key) for key in ("power_shelves", "power_shelf_capacity")) if part else (0, 0)
    name = stock.net.path(rack.drawn) if rack.drawn >= 0 else rack.name
    yield UnitPower(name, RACK, *_sum([curve for _, curve in mine]), end, (shelves or 0) * (each or 0) or rack.power)
    feeds = tuple("ABCD"[: max(1, rack.feeds)])
    for feed in feeds:
        own = [curve for its, curve in mine if its == feed]
        shared = [curve for its, curve in mine if its not in feeds]
        parts = [_sum(own)] if own else []
        if shared:
            times, watts = _sum(shared)
            parts.append((times, watts / len(feeds)))
        if parts:
            # one feed less carries the rack
            yield UnitPower(f"{name}, feed {feed}", "feed", *_sum(parts), end, rack.power / max(1, len(feeds) - 1))


def _steps(design: Design, run: Run, cancelled: Callable[[], bool] | None) -> Mapping[str, JobLoad]:
    """Power over a step of each training of the run."""
    found: dict[str, JobLoad] = {}
    for name in run.programs:
        if name in design.workloads and design.workloads[name].kind == "training":
            load = job_load(design, analyze(design, [name], cancelled=cancelled).workloads[0])
            if load is not None:
                found[name] = load
    return found


def _resources(run: Run, part: int) -> list[int]:
    """Engines of a part, and the time that is taken of it in turns."""
    mine = [engine for engine in run.table.slots if part in run.table.parts_of(engine)]
    turns = run.table.known_turns(part)
    return [*mine, turns] if turns >= 0 else mine


def _accelerator(run: Run, resources: Sequence[int], limit: Watts, loads: Mapping[str, JobLoad]) -> tuple[Float, Float]:
    """Times and watts of an accelerator: idle, and more by what computes on it."""
    idle = np.array([IDLE.value, IDLE.low, IDLE.high]) * limit
    work = np.array(power_at_work(limit, None, same_model=False))
    edges, rises = [0.0], [idle]
    steps: set[int] = set()
    for one in run.works:
        mine = [(r, usage) for r, usage in one.uses if r in resources]
        if one.engine not in resources and not mine:
            continue
        number = one.task
        load = loads.get(run.tasks[number].program)
        if load is None:
            for begin, end, share in _busy(run, one, mine):
                edges += [begin, end]
                rises += [share * (work - idle), share * (idle - work)]
            continue
        # a step computes and communicates in tasks of its own
        while run.tasks[number].parent >= 0:
            number = run.tasks[number].parent
        if number in steps:
            continue
        steps.add(number)
        begin, end = run.tasks[number].began, run.tasks[number].ended
        # one that is cut short is as long as the others
        end = begin + load.one.seconds if math.isnan(end) else end
        high, low = load.one.high * _FIT - idle, load.one.low * _WAITING - idle
        edges += [begin, begin + (end - begin) * _computing(load), end]
        rises += [high, low - high, -low]
    times, which = np.unique(np.array(edges), return_inverse=True)
    change = np.zeros((len(times), len(_ENDS)))
    np.add.at(change, which, np.array(rises))
    inside = times < run.end
    times, watts = times[inside], np.minimum(np.cumsum(change, axis=0)[inside].T, limit)
    # where phases differ in width an end may cross the value
    return times, np.stack([watts[0], np.minimum(watts[0], watts[1]), np.maximum(watts[0], watts[2])])


def _busy(run: Run, work: WorkRun, turns: Sequence[tuple[int, float]]) -> Iterator[tuple[float, float, float]]:
    """From when to when a work computes on one accelerator, and on which share of it."""
    if not turns:
        if not math.isnan(work.began):
            end = run.end if math.isnan(work.ended) else work.ended
            yield work.began, end, 1.0 / run.table.slots.get(work.engine, 1)
        return
    for k, (at, rate, _) in enumerate(work.log):
        last = run.end if math.isnan(work.ended) else work.ended
        then = work.log[k + 1][0] if k + 1 < len(work.log) else last
        if then > at:
            yield at, then, min(1.0, rate * sum(usage for _, usage in turns))


def _computing(load: JobLoad) -> float:
    """Share of a step in which accelerators compute [1]."""
    high = load.around + load.accelerators * load.one.high
    whole = sum(seconds for seconds, _ in load.phases)
    busy = sum(seconds for seconds, watts in load.phases if math.isclose(watts, high))
    return busy / whole if whole > 0 else 1.0


def _sum(curves: Sequence[tuple[Float, Float]], around: float = 0.0) -> tuple[Float, Float]:
    """The sum of steps over time, with what is drawn besides [W]; equal ones are looked at once."""
    count = Counter(id(times) for times, _ in curves)
    once = {id(curve[0]): curve for curve in curves}
    edges = np.unique(np.concatenate([times for times, _ in once.values()]))
    watts = np.full((len(_ENDS), len(edges)), around)
    if around:
        watts[1:] *= np.array([[AROUND.low], [AROUND.high]]) / AROUND.value
    for key, (times, levels) in once.items():
        watts += count[key] * levels[:, np.searchsorted(times, edges, side="right") - 1]
    return edges, watts


def _of_hours(design: Design, run: Run, cancelled: Callable[[], bool] | None) -> UnitPower | None:
    """The power of a timetable that runs, which states it for all servers together."""
    name = next((n for n in run.programs if n in design.workloads and design.workloads[n].kind == "schedule"), "")
    curves = analyze(design, [name], cancelled=cancelled).workloads[0].curves if name else {}
    if "schedule-power" not in curves:
        return None
    curve = curves["schedule-power"][0]
    rows = np.array([curve.y, curve.low, curve.high])[:, ::2]
    times = np.array(curve.x[::2])
    inside = times < run.end
    return UnitPower("all servers", "all", times[inside], rows[:, inside], run.end)
