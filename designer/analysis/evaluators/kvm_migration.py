"""KVM migration: pre-copy of running guests over the drawn network, with its ways out."""

from __future__ import annotations

from designer.analysis.evaluators import Evaluator, Question
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, WorkloadResult
from designer.analysis.vms.migration_answer import answer_migration
from designer.workload.operations import KvmMigration


def evaluate(network: Network, operation: KvmMigration, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """Some guests moved at once."""
    return answer_migration(network, question, operation, "migration_time")


EVALUATOR = Evaluator(KvmMigration, evaluate)
