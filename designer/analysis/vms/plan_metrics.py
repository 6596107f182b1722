"""The figures of a migration plan: how long, how much is sent, who stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from designer.analysis.vms.demands import memory_of
from designer.analysis.vms.migration_plan import CURVES_LIMIT, MigrationPlan
from designer.analysis.vms.migrations import framebuffers
from designer.formulas.migration.evacuation_bound import evacuation_bound
from designer.formulas.migration.evacuation_schedule import SOURCES as SCHEDULE_SOURCES
from designer.formulas.migration.evacuation_schedule import EvacuationVm
from designer.formulas.migration.vmotion_precopy import BANDWIDTH_SPREAD
from designer.sources import Estimate

#: what says which machines move, and which GPUs take them
STAYING_SOURCES: Final = ("denneman-2023-vgpu-vmotion", "nvidia-aie-user-guide")
#: what the bound holds for
_LEAST: Final = "no order of these moves to the hosts chosen takes less; other hosts may do better"
#: a plan so near to the bound is as good as any
GAP_TOLERANCE: Final = 0.005


def _least(plan: MigrationPlan) -> float:
    """The time that no order of the moves, to the hosts chosen, stays below [s]; 0 where one machine alone moves."""
    if len(plan.moved) < 2:
        return 0.0
    rates = {h: max(s.bandwidth.value, s.checkpoint_bandwidth.value) for h, s in plan.streams.items()}
    least: list[EvacuationVm] = []
    for moved in plan.moved:
        vm, name = moved.move.vm, moved.going.name
        if moved.migration is None:
            least.append(vm)
            continue
        # nothing is sent twice in the best case, and nobody else is on the network
        whole = memory_of(moved.going.placed.vm) + sum(
            load.framebuffer_used for load in framebuffers(moved.going.placed)
        )
        alone = float(plan.migration_paths.rates([plan.transfers[name]])[0])
        least.append(replace(vm, size=min(vm.size, whole), rate_cap=max(alone, moved.rate)))
    return float(evacuation_bound(least, rates, {path: max(1, free.more) for path, free in plan.slots.items()}))


def metrics(plan: MigrationPlan, name: str = "migration_time") -> Mapping[str, Estimate]:
    """Totals over all machines; times of the guest are those of the one that suffers most."""
    migrations = [moved.migration for moved in plan.moved if moved.migration is not None]
    moved, stays = len(plan.moved), len(plan.staying)
    note = f"{moved} of {moved + stays} machines" + ("" if not stays else f", {stays} stay")
    makespan = plan.makespan
    found: dict[str, Estimate] = {}
    if stays:
        # what is left behind comes before how long the others take
        found["machines_staying"] = Estimate.exact(float(stays), "1", STAYING_SOURCES)
    if moved:
        # no time is told for what does not happen
        sources = makespan.sources or SCHEDULE_SOURCES
        bound = _least(plan)
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
    rates = [moved.rate for moved in plan.moved if moved.migration is not None]
    peak = max(_peak(plan), max(rates))
    spread = BANDWIDTH_SPREAD
    found["rate"] = Estimate.relative(
        peak, spread.low, spread.high, "B/s", ("migration-calibration",), "most at one time, payload"
    )
    return found


def _peak(plan: MigrationPlan) -> float:
    if plan.schedule is None:
        return 0.0
    moves = [m for m in plan.schedule.moves if m.vm.name in plan.transfers]
    best = 0.0
    for begin in sorted({m.transfer for m in moves})[:CURVES_LIMIT]:
        moving = [plan.transfers[m.vm.name] for m in moves if m.transfer <= begin < m.end]
        best = max(best, float(plan.migration_paths.rates(moving).sum()))
    return best
