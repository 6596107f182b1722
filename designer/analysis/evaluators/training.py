"""Training: step, throughput, scaling, memory and time to train on the drawn design."""

from __future__ import annotations

from designer.analysis.evaluators import Evaluator, Question
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, Rows, WorkloadResult
from designer.analysis.training.bottlenecks import bottlenecks
from designer.analysis.training.curves import curves
from designer.analysis.training.loads import flows, loads, n_flows
from designer.analysis.training.metrics import metrics
from designer.analysis.training.preparation import prepare
from designer.analysis.training.step import drawn_step
from designer.workload.jobs import Training


def evaluate(network: Network, operation: Training, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """A training workload."""
    plan = prepare(network, operation.job, question.place)
    drawn = drawn_step(network, plan, operation)
    binding, after = bottlenecks(drawn)
    result = WorkloadResult(
        question.id,
        question.reports,
        question.title,
        metrics(network, drawn, operation),
        binding,
        after,
        Rows(lambda: flows(drawn)),
        n_flows(drawn),
        drawn.findings,
        curves(network, drawn, operation) if question.curves else {},
    )
    return result, loads(network, drawn)


EVALUATOR = Evaluator(evaluate)
