"""Answers about migrations: the moves as a program on the clock, alone or with other workloads, as a result."""

from __future__ import annotations

from designer.engine.costs import Prices
from designer.engine.machines.demands import KVM
from designer.engine.network import Network
from designer.engine.question import Question
from designer.engine.results import ChannelLoads, WorkloadResult
from designer.families.machines.curves import curves
from designer.families.machines.findings import findings
from designer.families.machines.flows import flows
from designer.families.machines.loads import loads
from designer.families.machines.metrics import metrics
from designer.families.machines.moves import moves_of
from designer.families.machines.neighbours import neighbours
from designer.families.machines.planner import departures
from designer.families.machines.tables import (
    alternatives_table,
    background_table,
    drs_table,
    host_table,
    machine_table,
)
from designer.families.machines.tasks import Migrate
from designer.families.machines.users import users_of
from designer.workload.program import Program


def answer(network: Network, program: Program, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """A migration workload as a result.

    Raises
    ------
    AnalysisError
        If a host has no network, or a setting is out of range.
    """
    task = program.first(Migrate)
    assert task is not None
    operation, name = task.operation, program.measures[0].name
    plan = departures(network, operation, question.place)
    prices = Prices(network)
    beside = neighbours(prices, operation.background, question.place)
    moves = moves_of(
        prices,
        plan,
        operation,
        question.id,
        name,
        beside,
        explained=question.explained,
        cancelled=question.cancelled,
    )
    conditions = plan.model.conditions
    tables = {"machines": machine_table(moves)}
    if moves.moved:
        tables["hosts"] = host_table(moves)
    if moves.beside:
        tables["background"] = background_table(moves.beside)
    if name == "migration_time" and moves.moved and conditions.release != KVM:
        tables["drs"] = drs_table(moves)
    if any(staying.alternatives for staying in plan.staying):
        tables["ways"] = alternatives_table(moves)
    users = users_of(network, operation, moves, question)
    if users.felt:
        tables["users"] = users.table()
    if users.stood:
        tables["stands_still"] = users.is_paused()
    frame_buffers = sum(1 for m in moves.live if m.migration and m.migration.stun and m.going.name in plan.model.drains)
    result = question.result(
        {**metrics(moves, name), **users.metrics(moves)},
        moves.binding,
        moves.next,
        flows(network, moves),
        frame_buffers + len(moves.live),
        (*findings(moves, named=name == "migration_time"), *users.findings),
        curves(moves, question.id) if question.curves else {},
        tables,
    )
    return result, loads(network, moves)
