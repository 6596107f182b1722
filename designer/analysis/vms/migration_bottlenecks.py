"""What binds a plan: the channels, streams and pauses most of its time goes by, and the gain of doubling them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from designer.analysis.bottlenecks import Resources, gains_alone, tied
from designer.analysis.flows import binding
from designer.analysis.results import Bottleneck
from designer.analysis.vms.demands import KVM
from designer.analysis.vms.migration_model import MigrationModel
from designer.analysis.vms.migration_paths import MigrationPaths
from designer.analysis.vms.migration_plan import Going
from designer.analysis.vms.migration_schedule import RATE_TOLERANCE, MigrationSchedule
from designer.analysis.vms.migrations import (
    NETWORK_LIMITED,
)

#: intervals of a plan that are looked at for what binds, longest first, and moves for which gains are tried
INTERVALS_LIMIT: Final = 48
GAINS_LIMIT: Final = 64
#: limits that are added to what binds where doubling that alone gains nothing
TIES_LIMIT: Final = 8


def bottlenecks_of(
    model: MigrationModel, going: Sequence[Going], run: MigrationSchedule
) -> tuple[tuple[Bottleneck, ...], tuple[Bottleneck, ...]]:
    """What most of the time goes by: a channel, streams, a checkpoint, or set-up; and what comes after it."""
    if run.schedule is None:
        return (Bottleneck("limit", "nothing", "nothing moves", "no machine can move"),), ()
    spent = _spent(model, run)
    other = _besides(run, model.migration_paths)
    order = sorted(spent, key=lambda r: -spent[r])
    worst = tied({**spent, **other})
    now = [r for r in order if r in worst]
    migration_paths, resources = model.migration_paths, Resources(model.network, model.migration_paths.limits)
    fractions: dict[int, float] = {}
    for moved in run.moved:
        if moved.migration is not None:
            fractions |= migration_paths.fraction_of(model.transfers[moved.going.name])
    try_gains = len(run.moved) <= GAINS_LIMIT

    wider = migration_paths.doubled(now)
    after = MigrationSchedule(model, going, wider) if now else None
    # What binds is a set: cables of targets that hold as well while the source sends make the gain appear.
    others = [r for r in order if r not in now][:TIES_LIMIT]
    while try_gains and after is not None and others and _same(run, after):
        now.append(others.pop(0))
        wider = migration_paths.doubled(now)
        after = MigrationSchedule(model, going, wider)

    def explained(chosen: Sequence[int], *, gains: bool) -> list[Bottleneck]:
        found: list[Bottleneck] = []
        together = run.makespan.value / after.makespan.value if gains and after is not None else None
        alone: list[float | None] = [None] * len(chosen)
        if gains:
            alone = gains_alone(chosen, together, lambda resource: _gain(model, going, run, resource))
        for resource, gain in zip(chosen, alone, strict=True):
            users = sum(
                1
                for m in run.moved
                if m.migration is not None and _uses(migration_paths, model.transfers[m.going.name], resource)
            )
            plain = resources.bottleneck(resource, max(1, users), fractions.get(resource))
            why = plain.why.replace("flows", "migrations").replace("flow", "migration")
            found.append(replace(plain, why=why, gain_if_doubled=gain, gain_together=together))
        return found

    said = {
        limit: Bottleneck("limit", *limit, f"{seconds:.3g} s of {run.schedule.makespan.value:.3g} s")
        for limit, seconds in other.items()
    }
    binds = explained(now, gains=try_gains) + [said[limit] for limit in said if limit in worst]
    then: list[Bottleneck] = []
    if after is not None:
        later = _spent(model, after, wider)
        others = sorted((r for r in later if r not in now), key=lambda r: -later[r])
        then = explained(others[:2], gains=False)
    then += [said[limit] for limit in sorted(said, key=lambda limit: -other[limit]) if limit not in worst]
    return tuple(binds), tuple(then)


def _same(run: MigrationSchedule, after: MigrationSchedule) -> bool:
    """True if doubling it gains next to nothing."""
    return after.makespan.value >= run.makespan.value * (1 - RATE_TOLERANCE)


def _uses(migration_paths: MigrationPaths, transfer: int, resource: int) -> bool:
    incidence = migration_paths.incidence
    return resource in incidence.resource[int(incidence.ptr[transfer]) : int(incidence.ptr[transfer + 1])]


def _gain(model: MigrationModel, going: Sequence[Going], run: MigrationSchedule, resource: int) -> float:
    better = MigrationSchedule(model, going, model.migration_paths.doubled([resource]))
    return run.makespan.value / better.makespan.value if better.makespan.value > 0 else 1.0


def _spent(
    model: MigrationModel, run: MigrationSchedule, migration_paths: MigrationPaths | None = None
) -> dict[int, float]:
    """Seconds for which each resource held some migration back [s]."""
    migration_paths = migration_paths or model.migration_paths
    if run.schedule is None:
        return {}
    moves = [move for move in run.schedule.moves if move.vm.name in model.transfers]
    corners = sorted({at for move in moves for at in (move.transfer, move.end)})
    spans = sorted(pairwise(corners), key=lambda span: span[0] - span[1])[:INTERVALS_LIMIT]
    spent: dict[int, float] = {}
    for begin, end in spans:
        moving = [model.transfers[m.vm.name] for m in moves if m.transfer <= begin and m.end >= end]
        if not moving:
            continue
        for there in migration_paths.moments(moving):
            for resource in binding(there.asked, there.allocation).union(moving).tolist():
                spent[resource] = spent.get(resource, 0.0) + there.share * (end - begin)
    return spent


def _besides(run: MigrationSchedule, migration_paths: MigrationPaths) -> dict[tuple[str, str], float]:
    """Seconds that go by for other reasons than the network [s]."""
    found: dict[tuple[str, str], float] = {}

    def add(name: str, label: str, seconds: float) -> None:
        found[(name, label)] = found.get((name, label), 0.0) + seconds

    cap = {transfer.name: transfer.cap for transfer in migration_paths.transfers}
    for moved in run.moved:
        migration, move = moved.migration, moved.move
        if migration is None:
            add("cold", "shutting down and starting machines that cannot move alive", move.end - move.start)
            continue
        kvm = moved.going.release == KVM
        if moved.rate >= cap[moved.going.name] * (1 - RATE_TOLERANCE):
            words = f"what the sender gives: {migration.limited_by}" if kvm else "windows of the streams per round trip"
            add("sender", words, move.end - move.transfer)
        if migration.stun is None:
            continue
        if kvm:
            add(
                "device-state",
                "device state sent while the guest stands still",
                min(migration.beside, migration.stun.value),
            )
        elif migration.limited_by and migration.limited_by != NETWORK_LIMITED:
            label = f"{migration.limited_by}, while the machine is stunned"
            add("checkpoint", label, min(migration.beside, migration.stun.value))
    busy = sum(
        m.move.transfer - m.move.start for m in run.moved if m.migration is not None and m.migration.stun is None
    )
    if busy and run.schedule is not None:
        found[("set-up", "set-up, trace installation and resume of the machines")] = min(
            busy / max(1, run.schedule.most_at_once), run.schedule.makespan.value
        )
    return found
