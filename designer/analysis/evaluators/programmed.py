"""Workload kinds that are a program and nothing else: run alone until done or steady, explained by running again."""

from __future__ import annotations

import numpy as np

from designer.analysis.clock.jobs import job_of
from designer.analysis.costs import Prices
from designer.analysis.evaluators import Evaluator, Question
from designer.analysis.measures import answer
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, WorkloadResult
from designer.workload.program import Programmed


def evaluate(network: Network, operation: Programmed, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """A program alone."""
    found = answer(Prices(network), job_of(operation.program, question.place), cancelled=question.cancelled)
    result = question.result(
        found.metrics,
        found.why.binding,
        found.why.next,
        (),
        0,
        found.run.findings,
    )
    share = found.run.channels_mean()
    return result, ChannelLoads(share * np.repeat(network.rate, 2), share)


EVALUATOR = Evaluator(Programmed, evaluate)
