"""Migrations: a plan of moves over the drawn network, alone or with other workloads running."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from designer.analysis.costs import Prices
from designer.analysis.costs.train_step import COMPUTE, parts_of
from designer.analysis.families import Question, ask
from designer.analysis.families.machines.users import users_of
from designer.analysis.flows import Incidence
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, WorkloadResult
from designer.analysis.training.loads import input_loads
from designer.analysis.training.parameter_servers import server_costs
from designer.analysis.training.preparation import prepare
from designer.analysis.training.step import route_step
from designer.analysis.transfers import transfer_demand
from designer.analysis.vms.asked import asked_moves
from designer.analysis.vms.demands import KVM
from designer.analysis.vms.migration_model import MigrationModel
from designer.analysis.vms.migration_paths import Background
from designer.analysis.vms.placement import place_vms
from designer.analysis.vms.plan_curves import curves
from designer.analysis.vms.plan_findings import findings
from designer.analysis.vms.plan_flows import flows as migration_flows
from designer.analysis.vms.plan_loads import besides, loads
from designer.analysis.vms.plan_metrics import metrics
from designer.analysis.vms.plan_tables import alternatives_table, background_table, drs_table, host_table, machine_table
from designer.analysis.vms.planner import plan_migrations
from designer.analysis.vms.pulses import Pulses, with_phases
from designer.analysis.vms.targets import choose_targets
from designer.errors import AnalysisError
from designer.sources import Estimate
from designer.units import Ratio, Seconds
from designer.workload.kind import program_of
from designer.workload.migrations import Evacuation
from designer.workload.program import Move, Program
from designer.workload.program.migration import Migrate
from designer.workload.program.training import TrainStep


def find_background(network: Network, ids: Sequence[str], place: str) -> list[Background]:
    """Other workloads of the design as traffic to share the network with.

    A transfer takes part flow by flow, and a training with its groups in turn, each for its share of the time; of any
    other workload what it puts on each channel alone is what it asks for.

    Raises
    ------
    AnalysisError
        If there is no such workload, or it is a migration itself.
    """
    found: list[Background] = []
    for workload_id in ids:
        spec = network.design.workloads.get(workload_id)
        at = f"{place}.background"
        if spec is None:
            known = ", ".join(network.design.workloads) or "none"
            raise AnalysisError(f"there is no workload {workload_id!r}", place=at, remedy=f"workloads: {known}")
        where = f"workloads.{spec.id}"
        program = program_of(spec.kind, spec.settings, where)
        title = spec.title or spec.id
        unsteady = AnalysisError(f"{workload_id!r} is no steady traffic", place=at, remedy="name transfers or training")
        if program is not None and program.first(Migrate) is not None:
            raise unsteady
        move = program.first(Move) if program is not None and spec.kind == "transfer" else None
        if move is not None:
            demand = transfer_demand(network, move, where)
            found.append(Background(spec.id, title, demand.incidence, demand.limits))
            continue
        step = program.first(TrainStep) if program is not None else None
        if step is not None:
            steps = _of_steps(network, step, spec.id, title)
            found += [steps] if steps.incidence.n_activities else []
            continue
        _, loads = ask(network, spec, Question(spec.id, "", title, where, curves=False), program)
        if loads is None:
            raise unsteady
        if loads.load.any():
            found.append(Background(spec.id, title, _as_one(network, loads)))
    return found


def _of_steps(network: Network, operation: TrainStep, workload_id: str, title: str) -> Background:
    """A training: its input all the time, and what it sends while its groups communicate, as they do on the clock."""
    place = f"workloads.{workload_id}"
    plan = prepare(network, operation.job, place)
    routed_step = route_step(network, plan, operation)
    rows = [_as_one(network, loads, share) for loads, share in input_loads(network, routed_step) if loads.load.any()]
    servers = operation.parameter_servers
    costs = server_costs(plan.ranks, plan.layout, servers) if servers else plan.ranks.costs(plan.layout)
    # groups are known when times have been asked for
    busy = plan.estimate(costs)
    hidden: list[float] = []
    shown: list[float] = []
    computing = 0.0
    for part in parts_of(Prices(network), plan, costs, busy):
        cost = part.cost
        on, waits = float(np.max(cost.amount, initial=0.0)), float(np.max(cost.latency, initial=0.0))
        links = cost.resource < network.n_resources
        if not part.hidden:
            computing += waits
        if part.name == COMPUTE or not links.any() or on <= 0:
            computing += 0.0 if part.hidden else on
            continue
        resource, usage = cost.resource[links], cost.usage[links]
        peak = float(usage.max())
        ends = (np.array([float(cost.weight[0]) * peak]), np.array([peak]))
        ptr = np.array([0, len(resource)])
        rows.append(Incidence(ptr, resource.astype(np.int32), usage / peak, network.capacity, *ends))
        hidden.append(on if part.hidden else 0.0)
        shown.append(0.0 if part.hidden else on)
    # what the step waits for besides, such as its input, is as computing
    computing = max(computing, float(routed_step.step.step_time) - sum(shown))
    pulses = Pulses(computing, np.array(hidden), np.array(shown)) if hidden else None
    return Background(workload_id, title, _joined(network, rows), (), pulses)


def _joined(network: Network, rows: Sequence[Incidence]) -> Incidence:
    """Activities of some incidences of the network."""
    none = np.empty(0)
    lengths = [int(row.ptr[-1]) for row in rows]
    return Incidence(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.concatenate([none, *(row.resource for row in rows)]).astype(np.int32),
        np.concatenate([none, *(row.usage for row in rows)]),
        network.capacity,
        np.concatenate([none, *(row.weight for row in rows)]),
        np.concatenate([none, *(row.demand for row in rows)]),
    )


def _as_one(network: Network, loads: ChannelLoads, share: float = 1.0) -> Incidence:
    """A workload as one activity that asks for a share of what it carried alone, in the load of its busiest channel."""
    used = np.zeros(network.n_resources)
    raw = loads.utilization * np.repeat(network.rate, 2)
    for channel in np.flatnonzero(raw > 0).tolist():
        link = channel >> 1
        width = int(network.cables[link])
        begin = int(network.first_resource[link]) + (channel & 1) * (width if network.full[link] else 0)
        # Both directions of a shared bus already count together.
        used[begin : begin + width] = np.maximum(used[begin : begin + width], raw[channel] / width)
    busy = np.flatnonzero(used > 0)
    peak = float(used.max())
    return Incidence(
        np.array([0, len(busy)]),
        busy.astype(np.int32),
        used[busy] / peak,
        network.capacity,
        np.ones(1),
        np.array([peak * share]),
    )


def answer(network: Network, program: Program, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """A plan of moving some machines, as a result.

    Raises
    ------
    AnalysisError
        If a host has no network, or a setting is out of range.
    """
    task = program.first(Migrate)
    assert task is not None
    operation = task.operation
    asked = asked_moves(network, operation, question.place)
    name = "evacuation_time" if isinstance(operation, Evacuation) else "migration_time"
    conditions = asked.conditions
    going, staying = choose_targets(place_vms(network), asked.leaving, asked.allowed, conditions)
    beside = find_background(network, operation.background, question.place)
    plan = plan_migrations(MigrationModel(network, going, conditions, beside), staying)
    effect = besides(plan)
    tables = {"machines": machine_table(plan)}
    if plan.moved:
        tables["hosts"] = host_table(plan, conditions)
    if effect:
        tables["background"] = background_table(effect)
    if name == "migration_time" and plan.moved and conditions.release != KVM:
        tables["drs"] = drs_table(plan)
    if any(staying.alternatives for staying in plan.staying):
        tables["ways"] = alternatives_table(plan)
    users = users_of(network, operation, plan, question)
    found = metrics(plan, name)
    pulses = [each.pulses for each in beside if each.pulses is not None]
    if pulses and plan.moved:

        def with_groups(share: float) -> Mapping[str, Estimate]:
            there = [each.there(share) for each in beside]
            return metrics(plan_migrations(MigrationModel(network, going, conditions, there), staying), name)

        # of several, the one whose steps are longest evens out last
        slow = max(pulses, key=lambda one: one.period)
        share = min(1.0, float(slow.shares(np.ones_like(slow.hidden)).sum()))
        found = with_phases(found, with_groups(0.0), with_groups(1.0), name, Ratio(share), Seconds(slow.period))
    if users.felt:
        tables["users"] = users.table()
    if users.stood:
        tables["stands_still"] = users.stands_still()
    flows = migration_flows(network, plan)
    frame_buffers = sum(
        1 for m in plan.moved if m.migration is not None and m.migration.stun and m.going.name in plan.drains
    )
    result = question.result(
        {**found, **users.metrics(plan)},
        plan.binding,
        plan.next,
        flows,
        frame_buffers + sum(1 for moved in plan.moved if moved.migration is not None),
        (*findings(plan, conditions, effect, named=name == "migration_time"), *users.findings),
        curves(plan) if question.curves else {},
        tables,
    )
    return result, loads(network, plan)
