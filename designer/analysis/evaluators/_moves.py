"""What evaluators of migrations share: background workloads, and a plan as a result."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from designer.analysis.evaluators import Question, evaluator_of
from designer.analysis.flows import Incidence
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, WorkloadResult
from designer.analysis.selection import resolve
from designer.analysis.transfers import transfer_demand
from designer.analysis.vms import report
from designer.analysis.vms.demands import KVM
from designer.analysis.vms.hosts import Host, Hosts
from designer.analysis.vms.lanes import Background, Shares
from designer.analysis.vms.moves import Conditions
from designer.analysis.vms.placement import Placement, place_vms
from designer.analysis.vms.plan import Planner
from designer.analysis.vms.rooms import Placed
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
        np.array([0, len(busy)]), busy.astype(np.int32), used[busy] / peak, network.capacity, np.ones(1),
        np.array([peak]),
    )  # fmt: skip


def read_shares(migrations: int, beside: int, place: str) -> Shares:
    """Shares of network I/O control, given on both sides or on none.

    Raises
    ------
    AnalysisError
        If only one side has shares: they mean nothing alone.
    """
    if bool(migrations) != bool(beside):
        missing = "shares_beside" if migrations else "shares"
        raise AnalysisError(
            "shares weigh two kinds of traffic, and only one has them", place=f"{place}.{missing}",
            remedy="give both, or none",
        )  # fmt: skip
    return Shares(migrations, beside)


def machines(placement: Placement, network: Network, ids: Sequence[str], place: str) -> list[Placed]:
    """Machines by id, where they stand.

    Raises
    ------
    AnalysisError
        If none is named, there is none of that id, or it stands nowhere.
    """
    if not ids:
        known = ", ".join(network.design.vms) or "none"
        raise AnalysisError("no virtual machine is named", place=f"{place}.vms", remedy=f"machines: {known}")
    found: list[Placed] = []
    for vm_id in dict.fromkeys(ids):
        if vm_id not in network.design.vms:
            known = ", ".join(network.design.vms) or "none"
            raise AnalysisError(
                f"there is no virtual machine {vm_id!r}", place=f"{place}.vms", remedy=f"machines: {known}"
            )
        if vm_id not in placement.placed:
            refusal = placement.refused[vm_id]
            raise AnalysisError(f"{vm_id!r} runs nowhere: {refusal.text}", place=f"vms.{vm_id}", remedy=refusal.remedy)
        found.append(placement.placed[vm_id])
    return found


def hosts_of(network: Network, hosts: Hosts, selector: str, place: str) -> list[Host]:
    """The hosts a selector names; all of them for an empty one.

    Raises
    ------
    AnalysisError
        If it names something that is no host.
    """
    if not selector.strip():
        return list(hosts.hosts)
    paths = [network.net.path(part) for part in resolve(network, selector, place).tolist()]
    return [hosts.at(path, place) for path in paths]


def answer(
    network: Network, question: Question, leaving: Sequence[Placed], allowed: Sequence[Host], conditions: Conditions,
    background: Sequence[str], name: str,
) -> tuple[WorkloadResult, ChannelLoads]:  # fmt: skip
    """A plan of moving some machines, as a result.

    Raises
    ------
    AnalysisError
        If a host has no network, or a setting is out of range.
    """
    placement = place_vms(network)
    going, staying = choose_targets(placement, leaving, allowed, conditions)
    beside = find_background(network, background, question.place)
    plan = Planner(network, going, conditions, beside).plan(staying)
    effect = report.besides(plan)
    tables = {"machines": report.machine_table(plan)}
    if plan.moved:
        tables["hosts"] = report.host_table(plan, conditions)
    if effect:
        tables["background"] = report.background_table(effect)
    if name == "migration_time" and plan.moved and conditions.release != KVM:
        tables["drs"] = report.drs_table(plan)
    if any(staying.ways for staying in plan.staying):
        tables["ways"] = report.ways_table(plan)
    flows = report.flows(network, plan)
    frame_buffers = sum(1 for m in plan.moved if m.trip is not None and m.trip.stun and m.going.name in plan.drains)
    result = WorkloadResult(
        question.id, question.reports, question.title, report.metrics(plan, name), plan.binding, plan.next, flows,
        frame_buffers + sum(1 for moved in plan.moved if moved.trip is not None),
        tuple(report.findings(plan, conditions, effect, named=name == "migration_time")),
        report.curves(plan) if question.curves else {}, tables,
    )  # fmt: skip
    return result, report.loads(network, plan)
