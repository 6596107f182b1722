"""The figures of a migration plan: how long, how much is sent, who stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from designer.engine.machines.demands import memory_of
from designer.families.machines.formulas.evacuation_bound import SOURCES as SCHEDULE_SOURCES
from designer.families.machines.formulas.evacuation_bound import EvacuationVm, evacuation_bound
from designer.families.machines.formulas.vmotion_precopy import BANDWIDTH_SPREAD
from designer.families.machines.migration_plan import COLD_TIME, CURVES_LIMIT
from designer.families.machines.migrations import framebuffers
from designer.families.machines.moves import Moves
from designer.sources import Estimate

#: what says which machines move, and which GPUs take them
STAYING_SOURCES: Final = ("denneman-2023-vgpu-vmotion", "nvidia-aie-user-guide")
#: what the bound holds for
_LEAST: Final = "no order of these moves to the hosts chosen takes less; other hosts may do better"
#: a plan so near to the bound is as good as any
GAP_TOLERANCE: Final = 0.005


def _least(moves: Moves) -> float:
    """The time that no order of the moves, to the hosts chosen, stays below [s]; 0 where one machine alone moves."""
    if len(moves.moved) < 2:
        return 0.0
    model = moves.plan.model
    rates = {h: max(s.bandwidth.value, s.checkpoint_bandwidth.value) for h, s in model.streams.items()}
    least: list[EvacuationVm] = []
    for moved in moves.moved:
        going, migration = moved.going, moved.migration
        ends = (going.name, going.placed.host.path, going.there.host.path)
        if migration is None:
            least.append(EvacuationVm(*ends, 0.0, COLD_TIME.value))
            continue
        # nothing is sent twice in the best case, and nobody else is on the network
        whole = memory_of(going.placed.vm) + sum(load.framebuffer_used for load in framebuffers(going.placed))
        alone = float(model.migration_paths.rates([model.transfers[going.name]])[0])
        size = min(migration.size, whole)
        least.append(EvacuationVm(*ends, size, migration.beside, max(alone, moved.rate), going.serial))
    return float(evacuation_bound(least, rates, {path: max(1, free.more) for path, free in model.slots.items()}))


def metrics(moves: Moves, name: str = "migration_time") -> Mapping[str, Estimate]:
    """Totals over all machines; times of the guest are those of the one that suffers most."""
    migrations = [moved.migration for moved in moves.moved if moved.migration is not None]
    moved, stays = len(moves.moved), len(moves.plan.staying)
    note = f"{moved} of {moved + stays} machines" + ("" if not stays else f", {stays} stay")
    makespan = moves.time
    found: dict[str, Estimate] = {}
    if stays:
        # what is left behind comes before how long the others take
        found["machines_staying"] = Estimate.exact(float(stays), "1", STAYING_SOURCES)
    if moved:
        # no time is stated for what does not happen
        sources = makespan.sources or SCHEDULE_SOURCES
        bound = _least(moves)
        if bound > 0:
            gap = makespan.value / bound - 1
            note += f", {gap:.0%} above" if gap > GAP_TOLERANCE else ","
            note += " the least possible to the hosts chosen"
        found[name] = replace(makespan, unit="s", sources=sources, note=note)
        if bound > 0:
            # it rests on the same rates
            share = bound / makespan.value
            ends = (makespan.low * share, makespan.high * share)
            found["least_time_possible"] = Estimate(bound, *ends, "s", SCHEDULE_SOURCES, _LEAST)
    if not migrations:
        return found
    worst = max(migrations, key=lambda migration: migration.downtime.value)
    found["switchover_time"] = worst.downtime
    stunned = [migration.stun for migration in migrations if migration.stun is not None]
    if stunned:
        found["stun_time"] = max(stunned, key=lambda stun: stun.value)
    found["transferred"] = Estimate.total([migration.transferred for migration in migrations])
    rates = [moved.rate for moved in moves.moved if moved.migration is not None]
    peak = max(_peak(moves), max(rates))
    spread = BANDWIDTH_SPREAD
    found["rate"] = Estimate.relative(
        peak, spread.low, spread.high, "B/s", ("migration-calibration",), "most at one time, payload"
    )
    return found


def _peak(moves: Moves) -> float:
    best = 0.0
    for begin in sorted({m.transfer for m in moves.live})[:CURVES_LIMIT]:
        rates = {m.going.name: m.rate for m in moves.live if m.transfer <= begin < m.end}
        planned = moves.plan.model.migration_paths.rates([moves.plan.model.transfers[name] for name in rates])
        # next to others each gets less than that
        best = max(best, sum(map(min, rates.values(), planned.tolist())) if moves.beside else float(planned.sum()))
    return best
