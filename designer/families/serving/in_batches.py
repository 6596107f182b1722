"""Inference in batches: latency and throughput of a vision, speech, ranking or embedding model, and what binds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from designer.engine.network import Network
from designer.engine.question import Question
from designer.engine.results import ChannelLoads, Curve, Rows, WorkloadResult
from designer.families.serving.batches import answered_in_batches
from designer.families.serving.tasks import Infer
from designer.workload.program import Program

_POINTS_LIMIT: Final = 100


def answer(network: Network, program: Program, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """A model that answers samples in batches."""
    task = program.first(Infer)
    assert task is not None
    found = answered_in_batches(network, task.asked, question.place, cancelled=question.cancelled)
    path = found.placed.path
    curves: Mapping[str, tuple[Curve, ...]] = {}
    if question.curves and found.runs:
        at = np.linspace(0.0, 1.0, _POINTS_LIMIT + 1)
        spread = np.quantile(found.runs[0].latency, at)
        curves = {"serving-ttft": (Curve("time to the answer", tuple(spread.tolist()), tuple(at.tolist())),)}
    result = question.result(
        found.metrics,
        found.binding,
        found.next,
        path.answer.flows if path is not None else Rows(lambda: ()),
        path.answer.traffic.n_flows if path is not None else 0,
        found.findings,
        curves,
        steps=[found.step],
    )
    return result, path.loads(found.pace) if path is not None else ChannelLoads.none(network.net.n_links)
