"""The schedule of a plan: planned rates, which machines arrive, when each moves and at what rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from designer.analysis.vms.migration_model import MigrationModel
from designer.analysis.vms.migration_paths import MigrationPaths
from designer.analysis.vms.migration_plan import Alternative, Going, Moved, Staying
from designer.analysis.vms.migrations import (
    MigrationEstimate,
)
from designer.errors import AnalysisError
from designer.formulas.migration.evacuation_schedule import Evacuation, EvacuationVm, Move, evacuation_schedule
from designer.sources import Constant, Estimate, Status
from designer.units import format_si

#: shutting a machine down, starting it elsewhere, loading its drivers
COLD_TIME: Final = Constant(
    120.0, 45.0, 300.0, "migration-assumed", Status.ASSUMED, "s", "shut down and boot; loading of models not counted"
)
#: a rate this close to the planned one needs no second look
RATE_TOLERANCE: Final = 1e-3
#: bytes this close to those scheduled need no new schedule, and so many schedules are made at most
SIZE_TOLERANCE: Final = 0.02
SCHEDULES_LIMIT: Final = 6


class MigrationSchedule:
    """One pass: planned rates, migrations, schedule, then what each really got."""

    def __init__(self, model: MigrationModel, going: Sequence[Going], migration_paths: MigrationPaths) -> None:
        self.model, self.migration_paths = model, migration_paths
        self.staying: list[Staying] = []
        self.moved: tuple[Moved, ...] = ()
        self.schedule: Evacuation | None = None
        self.makespan = Estimate.exact(0.0, "s")
        rate = self._planned(going)
        migrations: dict[str, MigrationEstimate] = {}
        moving: list[Going] = []
        by_name = {each.name: each for each in going}
        for each in going:
            if each.cold:
                moving.append(each)
                continue
            migration = model.migration(each, rate[each.name])
            if not migration.arrives:
                alternatives = model.alternatives(each, rate[each.name], migration)
                self.staying.append(
                    Staying(
                        each.placed,
                        migration.reason,
                        _remedy(migration, alternatives),
                        failed=True,
                        alternatives=alternatives,
                    )
                )
                continue
            migrations[each.name] = migration
            moving.append(each)
        if not moving:
            return
        schedule, migrations = self._settled(moving, rate, migrations)
        done: list[Moved] = []
        for move in schedule.moves:
            each = by_name[move.vm.name]
            if each.cold:
                done.append(Moved(each, move, 0.0, None))
                continue
            done.append(Moved(each, move, _got(move), migrations[each.name]))
        self.moved, self.schedule = tuple(done), schedule
        self.makespan = self._makespan(schedule)

    def _settled(
        self, going: Sequence[Going], rate: dict[str, float], migrations: dict[str, MigrationEstimate]
    ) -> tuple[Evacuation, dict[str, MigrationEstimate]]:
        """The schedule, and each migration at the rate it got there.

        A little more bandwidth may spare a guest the slowing down, and it then sends several times as much: what
        sends other than it was scheduled with is scheduled again. Where that has no end, a migration stays as it was
        scheduled, so that nothing is told to send more than its time and rate allow.
        """
        model, slots = self.model, {path: max(1, free.more) for path, free in self.model.slots.items()}
        for last in (*[False] * (SCHEDULES_LIMIT - 1), True):
            schedule = evacuation_schedule(
                [_load(each, migrations.get(each.name)) for each in going],
                lambda moving: self.migration_paths.rates([model.transfers[vm.name] for vm in moving]).tolist(),
                slots=slots,
            )
            got = {move.vm.name: _got(move) for move in schedule.moves if move.vm.name in migrations}
            again, same = dict(migrations), True
            for each in going:
                name = each.name
                if name not in migrations or abs(got[name] / rate[name] - 1) <= RATE_TOLERANCE:
                    continue
                migration = model.migration(each, got[name])
                fits = abs(migration.size / migrations[name].size - 1) <= SIZE_TOLERANCE
                same = same and (fits or not migration.arrives)
                if migration.arrives and (fits or not last):
                    again[name] = migration
            migrations, rate = again, rate | got
            if same or last:
                return schedule, migrations
        raise AssertionError("the last schedule is the one that is taken")

    def _makespan(self, schedule: Evacuation) -> Estimate:
        """One machine alone takes what its own model says; several what the schedule says."""
        only = self.moved[0].migration if len(self.moved) == 1 else None
        return only.total if only is not None else schedule.makespan

    def _planned(self, going: Sequence[Going]) -> dict[str, float]:
        """Rates when as many move at once as are admitted: ordinary machines in waves, those with vGPUs alone."""
        waves: list[list[str]] = []
        place: dict[str, int] = {}
        for serial in (False, True):
            first = max(place.values(), default=0)
            turn: dict[str, int] = {}
            for each in sorted(going, key=lambda e: e.name):
                if each.cold or each.serial is not serial:
                    continue
                host = each.placed.host.path
                free_capacity = 1 if serial else max(1, self.model.slots[host].more)
                at = first + turn.get(host, 0) // free_capacity
                turn[host] = turn.get(host, 0) + 1
                place[host] = max(place.get(host, 0), at + 1)
                while len(waves) <= at:
                    waves.append([])
                waves[at].append(each.name)
        found: dict[str, float] = {}
        for wave in waves:
            if wave:
                rates = self.migration_paths.rates([self.model.transfers[name] for name in wave]).tolist()
                found |= dict(zip(wave, rates, strict=True))
        starved = next((name for name, rate in found.items() if rate <= 0), None)
        if starved is not None:
            raise AnalysisError(
                "the network gives this migration no bandwidth",
                place=f"vms.{starved}",
                remedy="check the vMotion path between its hosts",
            )
        return found


def _load(going: Going, migration: MigrationEstimate | None) -> EvacuationVm:
    """A machine as the schedule takes it; without a migration it is shut down and started elsewhere."""
    ends = (going.name, going.placed.host.path, going.there.host.path)
    if migration is None:
        return EvacuationVm(*ends, 0.0, COLD_TIME.value)
    return EvacuationVm(*ends, migration.size, migration.beside, float("inf"), going.serial)


def _got(move: Move) -> float:
    """What a machine was sent with on average [B/s]."""
    return move.vm.size / (move.end - move.transfer)


def _remedy(migration: MigrationEstimate, alternatives: Sequence[Alternative]) -> str:
    explained = [
        f"{way.title} ({format_si(way.migration.total.value, 's')} in all, "
        f"a pause of {format_si(way.migration.downtime.value, 's')})"
        for way in alternatives
    ]
    if migration.converges:
        return ", ".join([*explained, "a faster vMotion network", "a higher stun limit", "or shut it down"])
    return (
        ", ".join([*explained, "or a faster network"]) if explained else "a faster network, or move it when it is calm"
    )
