"""vMotion: time, switch-over, stun and bytes of moving machines, alone or beside other traffic."""

from __future__ import annotations

from designer.analysis.evaluators import Evaluator, Question
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, WorkloadResult
from designer.analysis.vms.migration_answer import answer_migration
from designer.workload.operations import Vmotion


def evaluate(network: Network, operation: Vmotion, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """Some machines moved at once."""
    return answer_migration(network, question, operation, "migration_time")


EVALUATOR = Evaluator(Vmotion, evaluate)
