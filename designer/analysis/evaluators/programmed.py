"""Workload kinds that are a program and nothing else: run alone until done or steady, explained by running again."""

from __future__ import annotations

import numpy as np

from designer.analysis.clock.jobs import job_of
from designer.analysis.costs import Prices
from designer.analysis.evaluators import Evaluator, Question
from designer.analysis.measures import answer
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, Float, WorkloadResult
from designer.workload.program import Programmed


def evaluate(network: Network, operation: Programmed, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """A program alone."""
    found = answer(Prices(network), job_of(operation.program, question.place), cancelled=question.cancelled)
    result = question.result(found.metrics, *found.bottlenecks(), findings=found.findings)

    def loads() -> tuple[Float, Float]:
        share = found.run.channels_mean()
        return share * np.repeat(network.rate, 2), share

    return result, ChannelLoads.made(loads)


EVALUATOR = Evaluator(Programmed, evaluate)
