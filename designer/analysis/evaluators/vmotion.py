"""vMotion: time, switch-over, stun and bytes of moving machines, alone or beside other traffic."""

from __future__ import annotations

from designer.analysis.evaluators import Evaluator, Question
from designer.analysis.evaluators._migrations import answer
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, WorkloadResult
from designer.analysis.vms.asked import asked_moves
from designer.workload.operations import Vmotion


def evaluate(network: Network, operation: Vmotion, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """Some machines moved at once."""
    asked = asked_moves(network, operation, question.place)
    return answer(network, question, asked, operation, "migration_time")


EVALUATOR = Evaluator(Vmotion, evaluate)
