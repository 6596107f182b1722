"""Migrations: machines are admitted, set up, sent over the migration network, and resumed.

Passes of pre-copy are a closed form at a constant rate: after a first pass over its memory a machine sends what it
needs at the mean rate it got, until none is missing. State of its devices is sent apart, over its way on the drawing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from designer.engine.account.expression import Scenario, Term
from designer.engine.costs.pricing import Cost, CostKind, Expansion, Priced, Prices, alone, nothing
from designer.engine.machines.demands import KVM
from designer.engine.results import Bottleneck
from designer.errors import AnalysisError
from designer.families.machines.formulas.kvm_precopy import FILLED_SHARE
from designer.families.machines.formulas.vmotion_precopy import BANDWIDTH_SPREAD, DIRTY_SPREAD
from designer.families.machines.migration_plan import COLD_TIME, Going
from designer.families.machines.migrations import MigrationEstimate
from designer.families.machines.operations import Migrate
from designer.families.machines.planner import Departures, departures
from designer.findings import Finding, Severity
from designer.sources import Constant, Estimate, Status
from designer.workload.program.process import Item

#: bytes still missing at the rate a machine got, relative, below which it has arrived
ENOUGH_TOLERANCE: Final = 1e-9
#: of its speed a machine loses while pages it writes are tracked; its GPUs work on, what feeds them does not
TRACED: Final = Constant(
    0.04, 0.0, 0.12, "migration-assumed", Status.ASSUMED, "1", "a web server lost 12 % in the first pass (Clark 2005)"
)
#: times a machine may have to send more
PASSES_LIMIT: Final = 40

#: estimates that the time of migrations rests on
DIRTY: Final = "dirty rate"
SCANNED: Final = "scan of memory"
FILLED: Final = "filled memory of guests"
#: what machines wait for in addition to bytes
SET_UP: Final = Bottleneck("limit", "set-up", "set-up and trace installation of machines", "")
RESUME: Final = Bottleneck("limit", "resume", "quiescing and resuming machines", "")
COLD: Final = Bottleneck("limit", "cold", "shutting down and starting machines that cannot move alive", "")
SCAN: Final = Bottleneck("limit", "memory-scan", "looking at all memory of a guest", "")
DEVICES: Final = Bottleneck("limit", "device-set-up", "saving and restoring devices of a stunned machine", "")

_Ends = tuple[float, float]
_Speeds = tuple[tuple[str, float], ...]


def price(prices: Prices, task: Migrate, place: str) -> Expansion:
    """The moves of a migration workload.

    Raises
    ------
    AnalysisError
        If nothing can move.
    """
    plan = departures(prices.network, task.operation, place)
    if not plan.going:
        why = plan.staying[0].reason if plan.staying else "no machine is named"
        raise AnalysisError(f"no machine can move: {why}", place=place, remedy="see what analyze says of each")
    found = [
        Finding("MIGRATE-STAYS", Severity.WARNING, f"{each.placed.vm.id} stays: {each.reason}", (), each.remedy)
        for each in plan.staying
    ]
    tasks = _Tasks(prices, plan, task)
    machines = {each.name: tasks.of(each) for each in plan.going}
    dirty = replace(
        nothing(), group=DIRTY, low=DIRTY_SPREAD.low, high=DIRTY_SPREAD.high, sources=(DIRTY_SPREAD.source,)
    )
    bands = [Priced(dirty)]
    if any(plan.model.fill_unknown(each) for each in plan.going):
        share = nothing()
        bands.append(Priced(replace(share, group=FILLED, low=FILLED_SHARE.low, high=FILLED_SHARE.high)))
    every = dict.fromkeys(one for machine in machines.values() for one in machine.tasks)

    def under(slower: Scenario) -> _Moves:
        return _Moves(plan, machines, prices.table.machines, slower, task.part)

    return Expansion(lambda: under({}), (*bands, *every), tuple(found), under=under)


@dataclass(frozen=True, slots=True, eq=False)
class _Machine:
    """Tasks of one machine.

    Parameters
    ----------
    setup, scan, start, resume
        What it waits for in addition to bytes, a second of each; only the first if it is shut down.
    live, still
        Bytes of its memory while it runs, somewhat slowed, and while it is paused.
    early, late
        The same for the state of its devices; None without any.
    again
        What lets it run again; None where no work of it is on the clock.
    """

    setup: Priced
    scan: Priced | None = None
    start: Priced | None = None
    resume: Priced | None = None
    live: Priced | None = None
    still: Priced | None = None
    early: Priced | None = None
    late: Priced | None = None
    again: Priced | None = None

    @property
    def tasks(self) -> list[Priced]:
        """All of them."""
        names = ("setup", "scan", "start", "resume", "live", "still", "early", "late", "again")
        return [task for name in names if (task := getattr(self, name)) is not None]


class _Tasks:
    """Tasks of the machines of a plan; waits are shared by those that wait for the same."""

    def __init__(self, prices: Prices, plan: Departures, task: Migrate) -> None:
        self._prices, self._plan, self._task = prices, plan, task
        self._waits: dict[tuple[object, ...], Priced] = {}

    def of(self, going: Going) -> _Machine:
        """The tasks of a machine."""
        if going.cold:
            return _Machine(self._wait(COLD, "cold moves", _known_time(COLD_TIME)))
        name, planned = going.name, self._plan.planned[going.name]
        kvm = going.release == KVM
        of = "KVM migrations" if kvm else "vMotion"
        # only work of machines on the clock notices how fast they run
        runs = bool(self._prices.running)
        traced: _Speeds = ((name, 1 - max(TRACED.value, min(planned.slowdown, 1.0))),) if runs else ()
        stopped: _Speeds = ((name, 0.0),) if runs else ()
        rate = self._plan.model.spread(going)
        group, band = f"rate of {of}", (1 / rate[1], 1 / rate[0])
        memory, sources = self._plan.model.transfers[name], (BANDWIDTH_SPREAD.source,)
        live = self._transfer_byte(memory, group, band, sources, traced)
        still = self._transfer_byte(memory, group, band, sources, stopped) if runs else live
        early = late = start = None
        if planned.device is not None:
            transfer, spread = self._plan.model.devices[name], planned.device.spread
            known = planned.stun.sources if planned.stun is not None else ()
            late = self._transfer_byte(transfer, "state of devices", spread, known, stopped)
            early = (
                self._transfer_byte(transfer, "state of devices", spread, known, traced)
                if planned.device.before
                else None
            )
            start = self._wait(DEVICES, "state of devices", Estimate(1.0, *spread, "s", known), stopped)
        scan = None
        if kvm:
            rate_of_scan = self._plan.model.scan_of(going)
            slowest, fastest = rate_of_scan.value / rate_of_scan.low, rate_of_scan.value / rate_of_scan.high
            times = Estimate(1.0, fastest, slowest, "s", rate_of_scan.sources)
            scan = self._wait(SCAN, SCANNED, times, traced)
        setup = self._wait(SET_UP, f"set-up of {of}", planned.setup)
        # the times of vMotion are one assumption, those of KVM were measured apart
        assumed = f"resume of {of}" if kvm else f"set-up of {of}"
        resume = self._wait(RESUME, assumed, planned.resume, stopped)
        again = Priced(replace(nothing(), speeds=((name, 1.0),))) if runs else None
        return _Machine(setup, scan, start, resume, live, still, early, late, again)

    def _wait(self, words: Bottleneck, group: str, time: Estimate, speeds: _Speeds = ()) -> Priced:
        """A second of what lasts for a time."""
        key = (words.id, group, time.low, time.value, time.high, speeds)
        if key not in self._waits:
            low, high = time.low / time.value, time.high / time.value
            term = Term(words, 1.0, group)
            cost = alone(1.0, low=low, high=high, group=group, sources=time.sources, time=term)
            self._waits[key] = Priced(replace(cost, speeds=speeds))
        return self._waits[key]

    def _transfer_byte(
        self, transfer: int, group: str, band: _Ends, sources: tuple[str, ...], speeds: _Speeds
    ) -> Priced:
        """A byte of a transfer."""
        paths = self._plan.model.migration_paths
        entries, usage = paths.entries(transfer)
        resource = self._prices.table.renumbered(entries, paths.limits, self._task)
        self._prices.table.apart.update(resource.tolist())
        one = np.ones(1)
        return Priced(
            Cost(
                np.array([0, len(resource)]),
                resource,
                usage,
                one,
                np.full(1, np.inf),
                one,
                np.zeros(1),
                np.array([-1]),
                *band,
                group,
                "B",
                sources,
                speeds=speeds,
            )
        )


def _known_time(time: Constant) -> Estimate:
    return Estimate(time.value, time.low, time.high, "s", (time.source,))


class _Moves:
    """Greedy list scheduling, longest first, as hosts admit; machines with GPUs move alone, after the others.

    Parameters
    ----------
    running
        Machines with work on the clock, which is paused while they do.
    slower
        Times as long by resource and by estimate.
    part
        Share of all sizes and waits that is done, for the whole [1].
    """

    def __init__(
        self,
        plan: Departures,
        machines: Mapping[str, _Machine],
        running: Collection[str],
        slower: Scenario,
        part: float,
    ) -> None:
        self._running = running
        self._model, self._machines, self._part = plan.model, machines, part
        self._dirty = slower.get(DIRTY, 1.0)
        self._scan = slower.get(SCAN, 1.0) * slower.get(SCANNED, 1.0)
        self._filled = slower.get(FILLED, 1.0)
        self._slots = {path: max(1, admission.more) for path, admission in plan.model.slots.items()}
        self._going = {each.name: each for each in plan.going}
        self._planned, self._first = plan.planned, plan.first
        self._waiting: dict[str, list[Going]] = {}
        for each in sorted(plan.going, key=self._order):
            self._waiting.setdefault(each.placed.host.path, []).append(each)
        self._busy: Counter[str] = Counter()
        self._alone: set[str] = set()
        self._ordinary = Counter(each.placed.host.path for each in plan.going if not each.serial)
        self._under_way: dict[str, Generator[Item, float, None]] = {}

    def _order(self, going: Going) -> tuple[bool, float, float, str]:
        planned = self._planned.get(going.name)
        size, fixed = (planned.size, planned.fixed_time) if planned is not None else (0.0, COLD_TIME.value)
        return going.serial, -size, -fixed, going.name

    @property
    def tasks(self) -> list[Priced]:
        """Tasks of all machines."""
        return list(dict.fromkeys(one for machine in self._machines.values() for one in machine.tasks))

    def start(self, now: float) -> Iterable[Item]:
        """The machines that are admitted first."""
        return self._admit()

    def finished(self, item: Item, now: float) -> Iterable[Item]:
        """What a machine does next, or who is admitted in its place."""
        what, _, name = item.step.partition(" ")
        if what == "again":
            return ()
        try:
            return [self._part_done(self._under_way[name].send(now / self._part))]
        except StopIteration:
            again = self._machines[name].again if name in self._running else None
            return [
                *([Item(again, f"again {name}")] if again is not None else []),
                *self._finish_move(self._going[name]),
            ]

    def _move_machine(self, name: str) -> Generator[Item, float, None]:
        """All that a machine does, in order; what is sent back is the time at which each ended [s]."""
        mine, going = self._machines[name], self._going[name]
        if going.cold:
            yield Item(mine.setup, f"set-up {name}", 0, COLD_TIME.value)
            return
        planned = self._planned[name]
        assert mine.live is not None
        assert mine.still is not None
        assert mine.resume is not None
        began = yield Item(mine.setup, f"set-up {name}", 0, planned.setup.value)
        if mine.early is not None and planned.device is not None:
            began = yield Item(mine.early, f"devices {name}", 0, planned.device.before)
        trip, sent, more = planned, 0.0, self._first[name]
        if self._model.stopped:
            if planned.memory:
                yield Item(mine.still, f"move {name}", 0, planned.memory)
            sent, more = planned.memory, 0.0
        if self._model.fill_unknown(going):
            more *= self._filled
        for number in range(PASSES_LIMIT if more else 0):
            now = yield Item(mine.live, f"move {name}", number, more)
            sent += more
            if now <= began:
                break
            trip = self._migration_at(going, sent / (now - began))
            paused = self._bytes_while_paused(trip, sent / (now - began)) if name in self._running else 0.0
            more = (trip.memory if trip.arrives and math.isfinite(trip.memory) else 0.0) - sent - paused
            if more <= sent * ENOUGH_TOLERANCE:
                break
        if mine.scan is not None and trip.looking:
            # the task is as many times as long again
            yield Item(mine.scan, f"scan {name}", 0, trip.looking / self._scan)
        if name in self._running and (rest := trip.memory - sent) > trip.memory * ENOUGH_TOLERANCE:
            yield Item(mine.still, f"stun {name}", 0, rest)
        if mine.late is not None and mine.start is not None and planned.device is not None:
            yield Item(mine.late, f"stun {name}", 1, planned.device.paused)
            yield Item(mine.start, f"stun {name}", 2, planned.device.start)
        yield Item(mine.resume, f"resume {name}", 0, planned.resume.value)

    def _part_done(self, item: Item) -> Item:
        """The part of an item that is done."""
        item.scale *= self._part
        return item

    def _migration_at(self, going: Going, rate: float) -> MigrationEstimate:
        """The migration of a machine at a rate [B/s]."""
        return self._model.migration(going, rate, self._dirty, self._scan, self._filled)

    def _bytes_while_paused(self, trip: MigrationEstimate, rate: float) -> float:
        """Bytes of its memory that a machine sends while it is paused at a rate [B/s]."""
        stun = trip.stun.value if trip.stun is not None else 0.0
        return max(0.0, trip.downtime.value - trip.resume.value - stun) * rate if trip.arrives else 0.0

    def waits_for(self) -> str:
        """Machines that are not admitted yet."""
        queued = [each.name for queue in self._waiting.values() for each in queue]
        return f"{', '.join(queued[:4])} wait to be admitted" if queued else ""

    def _finish_move(self, going: Going) -> list[Item]:
        ends = (going.placed.host.path, going.there.host.path)
        self._busy.subtract(ends)
        if going.serial:
            self._alone -= set(ends)
        else:
            self._ordinary[ends[0]] -= 1
        return self._admit()

    def _may(self, going: Going) -> bool:
        source, target = going.placed.host.path, going.there.host.path
        if going.serial:
            return self._busy[source] == 0 and self._busy[target] == 0 and self._ordinary[source] == 0
        return all(host not in self._alone and self._busy[host] < self._slots[host] for host in (source, target))

    def _admit(self) -> list[Item]:
        found: list[Item] = []
        for source, queue in self._waiting.items():
            rest: list[Going] = []
            for each in queue:
                if not self._may(each):
                    rest.append(each)
                    continue
                ends = (source, each.there.host.path)
                self._busy.update(ends)
                if each.serial:
                    self._alone |= set(ends)
                self._under_way[each.name] = self._move_machine(each.name)
                found.append(self._part_done(next(self._under_way[each.name])))
            self._waiting[source] = rest
        return found


COST = CostKind(Migrate, price)
