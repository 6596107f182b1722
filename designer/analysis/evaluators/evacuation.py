"""Evacuation: all machines off some hosts; who can go, where to, how long, and who stays."""

from __future__ import annotations

from designer.analysis.evaluators import Evaluator, Question
from designer.analysis.evaluators._migrations import answer
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, WorkloadResult
from designer.analysis.vms.asked import asked_moves
from designer.workload.operations import Evacuation


def evaluate(network: Network, operation: Evacuation, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """Some hosts emptied."""
    asked = asked_moves(network, operation, question.place)
    return answer(network, question, asked, operation, "evacuation_time")


EVALUATOR = Evaluator(Evacuation, evaluate)
