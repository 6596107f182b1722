"""Migrations over the drawn network: which machines move, when, what each gets, and what binds the whole."""

from __future__ import annotations

from collections.abc import Sequence

from designer.analysis.vms.migration_bottlenecks import bottlenecks_of
from designer.analysis.vms.migration_model import MigrationModel
from designer.analysis.vms.migration_plan import Going, MigrationPlan, Staying
from designer.analysis.vms.migration_schedule import MigrationSchedule


def plan_migrations(model: MigrationModel, staying: Sequence[Staying]) -> MigrationPlan:
    """The plan, with what binds it.

    Raises
    ------
    AnalysisError
        If the network gives a machine nothing.
    """
    stays = list(staying)
    able: list[Going] = []
    for each in model.going:
        if not each.cold and not model.migration_paths.reaches(model.transfers[each.name]):
            reason = f"there is no way from {each.placed.host.path} to {each.there.host.path} for migrations"
            stays.append(Staying(each.placed, reason, "join their vMotion NICs to one switch", failed=True))
        else:
            able.append(each)
    run = MigrationSchedule(model, able, model.migration_paths)
    stays += run.staying
    bottleneck, then = bottlenecks_of(model, able, run)
    return MigrationPlan(
        run.moved,
        tuple(stays),
        run.makespan,
        run.schedule,
        model.migration_paths,
        model.transfers,
        model.streams,
        model.slots,
        bottleneck,
        then,
        model.distance,
        model.drains,
    )
