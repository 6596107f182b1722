"""What evaluators of migrations share: background workloads, and a plan as a result."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from designer.analysis.evaluators import Question, evaluator_of
from designer.analysis.evaluators._users import users_of
from designer.analysis.flows import Incidence
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, WorkloadResult
from designer.analysis.transfers import transfer_demand
from designer.analysis.vms import report
from designer.analysis.vms.asked import Asked
from designer.analysis.vms.demands import KVM
from designer.analysis.vms.migration_paths import Background
from designer.analysis.vms.placement import place_vms
from designer.analysis.vms.planner import Planner
from designer.analysis.vms.targets import choose_targets
from designer.errors import AnalysisError
from designer.workload.kind import lower
from designer.workload.operations import Evacuation, KvmMigration, Pooling, Transfer, VmCapacity, Vmotion

_NOT_BESIDE = (Vmotion, Evacuation, KvmMigration, Pooling, VmCapacity)


def find_background(network: Network, ids: Sequence[str], place: str) -> list[Background]:
    """Other workloads of the design as traffic to share the network with.

    A transfer takes part flow by flow; of any other workload what it puts on each channel alone is what it asks for.

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
        operation = lower(spec.kind, spec.settings, f"workloads.{spec.id}")
        title = spec.title or spec.id
        if isinstance(operation, _NOT_BESIDE):
            raise AnalysisError(f"{workload_id!r} is no steady traffic", place=at, remedy="name transfers or training")
        if isinstance(operation, Transfer):
            demand = transfer_demand(network, operation, f"workloads.{spec.id}")
            found.append(Background(spec.id, title, demand.incidence, demand.limits))
            continue
        question = Question(spec.id, "", title, f"workloads.{spec.id}", curves=False)
        _, loads = evaluator_of(operation).evaluate(network, operation, question)
        if loads is not None and loads.load.any():
            found.append(Background(spec.id, title, _as_one(network, loads)))
    return found


def _as_one(network: Network, loads: ChannelLoads) -> Incidence:
    """A workload as one activity that asks for what it carried alone, in the load of its busiest channel."""
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
        np.array([peak]),
    )


def answer(
    network: Network,
    question: Question,
    asked: Asked,
    operation: Vmotion | Evacuation | KvmMigration,
    name: str,
) -> tuple[WorkloadResult, ChannelLoads]:
    """A plan of moving some machines, as a result.

    Raises
    ------
    AnalysisError
        If a host has no network, or a setting is out of range.
    """
    conditions = asked.conditions
    going, staying = choose_targets(place_vms(network), asked.leaving, asked.allowed, conditions)
    beside = find_background(network, operation.background, question.place)
    plan = Planner(network, going, conditions, beside).plan(staying)
    effect = report.besides(plan)
    tables = {"machines": report.machine_table(plan)}
    if plan.moved:
        tables["hosts"] = report.host_table(plan, conditions)
    if effect:
        tables["background"] = report.background_table(effect)
    if name == "migration_time" and plan.moved and conditions.release != KVM:
        tables["drs"] = report.drs_table(plan)
    if any(staying.alternatives for staying in plan.staying):
        tables["ways"] = report.alternatives_table(plan)
    users = users_of(network, operation, plan, question)
    if users.felt:
        tables["users"] = users.table()
    flows = report.flows(network, plan)
    frame_buffers = sum(
        1 for m in plan.moved if m.migration is not None and m.migration.stun and m.going.name in plan.drains
    )
    result = question.result(
        {**report.metrics(plan, name), **users.metrics(plan)},
        plan.binding,
        plan.next,
        flows,
        frame_buffers + sum(1 for moved in plan.moved if moved.migration is not None),
        (*report.findings(plan, conditions, effect, named=name == "migration_time"), *users.findings),
        report.curves(plan) if question.curves else {},
        tables,
    )
    return result, report.loads(network, plan)
