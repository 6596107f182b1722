"""Evacuation: all machines off some hosts; who can go, where to, how long, and who stays."""

from __future__ import annotations

from designer.analysis.evaluators import Evaluator, Question
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, WorkloadResult
from designer.analysis.vms.migration_answer import answer_migration
from designer.workload.operations import Evacuation


def evaluate(network: Network, operation: Evacuation, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """Some hosts emptied."""
    return answer_migration(network, question, operation, "evacuation_time")


EVALUATOR = Evaluator(Evacuation, evaluate)
