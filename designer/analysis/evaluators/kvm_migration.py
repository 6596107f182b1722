"""KVM migration: pre-copy of running guests over the drawn network, with its ways out."""

from __future__ import annotations

from designer.analysis.evaluators import Evaluator, Question
from designer.analysis.evaluators._migrations import answer
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, WorkloadResult
from designer.analysis.vms.asked import asked_moves
from designer.workload.operations import KvmMigration


def evaluate(network: Network, operation: KvmMigration, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """Some guests moved at once."""
    asked = asked_moves(network, operation, question.place)
    return answer(network, question, asked, operation, "migration_time")


EVALUATOR = Evaluator(KvmMigration, evaluate)
