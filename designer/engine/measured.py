"""What a program measures, run alone until it is done or steady."""

from __future__ import annotations

import numpy as np

from designer.engine.clock.jobs import job_of
from designer.engine.clock.measures import answer as alone
from designer.engine.costs import Prices
from designer.engine.network import Network
from designer.engine.question import Question
from designer.engine.results import ChannelLoads, Float, WorkloadResult
from designer.workload.program import Program


def answer(network: Network, program: Program, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """A program alone."""
    found = alone(Prices(network), job_of(program, question.place), cancelled=question.cancelled)
    result = question.result(found.metrics, *found.bottlenecks(program), findings=found.findings)

    def loads() -> tuple[Float, Float]:
        share = found.run.channels_mean()
        return share * np.repeat(network.rate, 2), share

    return result, ChannelLoads.made(loads)
