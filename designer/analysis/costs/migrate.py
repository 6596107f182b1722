"""Migrations: each machine as a path over the migration network, admitted, set up, sent and resumed.

Passes of pre-copy are a closed form at a constant rate. Where a machine gets less than planned it has to send more:
when its bytes are over, those it would have needed at the rate it really got are added, until none are missing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from designer.analysis.costs.pricing import Cost, CostKind, Expansion, Priced, Prices, alone, nothing
from designer.analysis.vms.asked import asked_moves
from designer.analysis.vms.migration_model import MigrationModel
from designer.analysis.vms.migration_plan import Going, MigrationPlan, Moved
from designer.analysis.vms.placement import place_vms
from designer.analysis.vms.planner import plan_migrations
from designer.analysis.vms.targets import choose_targets
from designer.errors import AnalysisError
from designer.findings import Finding, Severity
from designer.formulas.migration.evacuation_schedule import EvacuationVm
from designer.formulas.migration.vmotion_precopy import BANDWIDTH_SPREAD
from designer.sources import Constant, Status
from designer.workload.program.migration import Migrate
from designer.workload.program.process import Item
from designer.workload.program.tasks import Delay, Task

#: bytes still missing at the rate a machine got, relative, below which it has arrived
ENOUGH_TOLERANCE: Final = 1e-4
#: of its speed a machine loses while pages it writes are tracked; its GPUs work on, what feeds them does not
TRACED: Final = Constant(
    0.04, 0.0, 0.12, "migration-assumed", Status.ASSUMED, "1", "a web server lost 12 % in the first pass (Clark 2005)"
)
#: times a machine may have to send more
PASSES_LIMIT: Final = 40


def price(prices: Prices, task: Migrate, place: str) -> Expansion:
    """The moves of a migration workload.

    Raises
    ------
    AnalysisError
        If nothing can move.
    """
    network, asked = prices.network, asked_moves(prices.network, task.operation, place)
    going, staying = choose_targets(place_vms(network), asked.leaving, asked.allowed, asked.conditions)
    model = MigrationModel(network, going, asked.conditions, ())
    plan = plan_migrations(model, staying)
    if plan.schedule is None:
        why = plan.staying[0].reason if plan.staying else "no machine is named"
        raise AnalysisError(f"no machine can move: {why}", place=place, remedy="see what analyze says of each")
    found = [
        Finding("MIGRATE-STAYS", Severity.WARNING, f"{each.placed.vm.id} stays: {each.reason}", (), each.remedy)
        for each in plan.staying
    ]
    ways = {move.vm.name: _way(prices, plan, move.vm) for move in plan.schedule.moves}
    slots = {path: max(1, admission.more) for path, admission in model.slots.items()}
    load = [move.vm for move in plan.schedule.moves]
    by_name = {each.name: each for each in going}
    pauses = {each.going.name: _pause(each, ways[each.going.name]) for each in plan.moved}
    running = prices.table.machines

    def make() -> _Moves:
        return _Moves(load, pauses, slots, model, by_name, running)

    return Expansion(make, tuple(make().tasks), tuple(found))


@dataclass(frozen=True, slots=True, eq=False)
class _Pause:
    """The pause of a machine, which comes last, and how it runs until then.

    Parameters
    ----------
    fixed, size
        What the pause takes besides bytes [s], and its bytes [B].
    live, still
        The way of the machine while it runs, somewhat slowed, and while it stands still; None where it is shut down.
    waits, again
        Standing still for a second, and what lets it run again.
    """

    fixed: float
    size: float
    live: Priced | None
    still: Priced | None
    waits: Priced
    again: Priced

    @property
    def tasks(self) -> tuple[Task, ...]:
        """All that a machine does besides being set up."""
        ways = (self.live, self.still)
        return (*(way for way in ways if way is not None), self.waits, self.again)


def _pause(moved: Moved, way: Priced | None) -> _Pause:
    """How a machine moves over its path."""
    name, migration, vm = moved.going.name, moved.migration, moved.move.vm
    waits = Priced(replace(alone(1.0), speeds=((name, 0.0),)))
    again = Priced(replace(nothing(), speeds=((name, 1.0),)))
    if migration is None or way is None:
        return _Pause(vm.fixed_time, 0.0, None, None, waits, again)
    fixed = min(vm.fixed_time, migration.downtime.value)
    size = min(vm.size, (migration.downtime.value - fixed) * moved.rate)
    speed = 1 - max(TRACED.value, min(migration.slowdown, 1.0))
    live = Priced(replace(way.cost, speeds=((name, speed),)))
    return _Pause(fixed, size, live, Priced(replace(way.cost, speeds=((name, 0.0),))), waits, again)


def _way(prices: Prices, plan: MigrationPlan, vm: EvacuationVm) -> Priced | None:
    """The path of a machine, for a byte; None where it is shut down."""
    ride = plan.transfers.get(vm.name)
    if ride is None or vm.size <= 0:
        return None
    incidence = plan.migration_paths.incidence
    cut = slice(int(incidence.ptr[ride]), int(incidence.ptr[ride + 1]))
    resource = prices.table.renumbered(np.asarray(incidence.resource[cut]), plan.migration_paths.limits, "lanes")
    spread = BANDWIDTH_SPREAD
    return Priced(
        Cost(
            np.array([0, len(resource)]),
            resource,
            np.asarray(incidence.usage[cut]),
            np.ones(1),
            np.array([float(incidence.demand[ride])]),
            np.array([float(incidence.weight[ride])]),
            np.zeros(1),
            np.array([-1]),
            1 / spread.high,
            1 / spread.low,
            "migration",
            "B",
            (spread.source,),
        )
    )


class _Moves:
    """Greedy list scheduling, longest first, as hosts admit; machines with GPUs move alone, after the others.

    Parameters
    ----------
    running
        Machines with work on the clock, which stands still while they do.
    """

    def __init__(
        self,
        load: Sequence[EvacuationVm],
        pauses: Mapping[str, _Pause],
        slots: Mapping[str, int],
        model: MigrationModel,
        by_name: Mapping[str, Going],
        running: Collection[str],
    ) -> None:
        self._pauses, self._slots, self._model, self._by_name = pauses, slots, model, by_name
        self._running = running
        order = sorted(load, key=lambda vm: (vm.serial, -vm.size, -vm.fixed_time, vm.name))
        self._waiting: dict[str, list[EvacuationVm]] = {}
        for vm in order:
            self._waiting.setdefault(vm.source, []).append(vm)
        self._busy: Counter[str] = Counter()
        self._alone: set[str] = set()
        self._ordinary = Counter(vm.source for vm in load if not vm.serial)
        self._vms = {vm.name: vm for vm in load}
        self._sent: dict[str, tuple[float, float, int]] = {}

    @property
    def tasks(self) -> Sequence[Task]:
        """Paths of all machines."""
        return [Delay(1.0), *(task for pause in self._pauses.values() for task in pause.tasks)]

    def start(self, now: float) -> Iterable[Item]:
        """The machines that are admitted first."""
        return self._admit()

    def finished(self, item: Item, now: float) -> Iterable[Item]:
        """What a machine does next, or who is admitted in its place."""
        what, _, name = item.step.partition(" ")
        vm, pause = self._vms[name], self._pauses[name]
        apart = self._apart(name)
        if what == "again":
            return ()
        if what == "set-up" and pause.live is not None:
            self._sent[name] = (vm.size - apart[1], now, 0)
            return [Item(pause.live, f"move {name}", 0, vm.size - apart[1])]
        if what == "move":
            sent, began, times = self._sent[name]
            needs = self._needed(name, sent / (now - began)) - apart[1] if now > began else sent
            if pause.live is not None and needs > sent * (1 + ENOUGH_TOLERANCE) and times < PASSES_LIMIT:
                self._sent[name] = (needs, began, times + 1)
                return [Item(pause.live, f"move {name}", times + 1, needs - sent)]
        if what in ("set-up", "move") and apart[1] > 0 and pause.still is not None:
            return [Item(pause.still, f"stun {name}", 0, apart[1])]
        if what in ("set-up", "move", "stun") and apart[0] > 0:
            return [Item(pause.waits, f"resume {name}", 0, apart[0])]
        again = [Item(pause.again, f"again {name}")] if name in self._running else []
        return [*again, *self._arrived(vm)]

    def _apart(self, name: str) -> tuple[float, float]:
        """What of a move is told as its pause: time besides bytes [s], and bytes [B]; nothing where nobody notices."""
        pause = self._pauses[name]
        return (pause.fixed, pause.size) if name in self._running else (0.0, 0.0)

    def waits_for(self) -> str:
        """Machines that are not admitted yet."""
        queued = [vm.name for queue in self._waiting.values() for vm in queue]
        return f"{', '.join(queued[:4])} wait to be admitted" if queued else ""

    def _needed(self, name: str, rate: float) -> float:
        """Bytes a machine has to send if it gets a rate [B/s]; those it sent where it would never arrive."""
        trip = self._model.migration(self._by_name[name], rate)
        return trip.size if trip.arrives and math.isfinite(trip.size) else 0.0

    def _arrived(self, vm: EvacuationVm) -> list[Item]:
        self._busy[vm.source] -= 1
        self._busy[vm.destination] -= 1
        if vm.serial:
            self._alone -= {vm.source, vm.destination}
        else:
            self._ordinary[vm.source] -= 1
        return self._admit()

    def _room(self, host: str) -> bool:
        return host not in self._alone and self._busy[host] < self._slots[host]

    def _may(self, vm: EvacuationVm) -> bool:
        if vm.serial:
            idle = self._busy[vm.source] == 0 and self._busy[vm.destination] == 0
            return idle and self._ordinary[vm.source] == 0
        return self._room(vm.source) and self._room(vm.destination)

    def _admit(self) -> list[Item]:
        found: list[Item] = []
        for source, queue in self._waiting.items():
            rest: list[EvacuationVm] = []
            for vm in queue:
                if not self._may(vm):
                    rest.append(vm)
                    continue
                self._busy[vm.source] += 1
                self._busy[vm.destination] += 1
                if vm.serial:
                    self._alone |= {vm.source, vm.destination}
                found.append(Item(Delay(1.0), f"set-up {vm.name}", 0, vm.fixed_time - self._apart(vm.name)[0]))
            self._waiting[source] = rest
        return found


COST = CostKind(Migrate, price)
