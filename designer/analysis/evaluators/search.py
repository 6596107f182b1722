"""Kinds that a search answers: each is a module of ``designer.decisions``, found by its name as it stands above."""

from __future__ import annotations

import importlib

from designer.analysis.evaluators import Evaluator, Question
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, WorkloadResult
from designer.workload.operations import Search


def evaluate(network: Network, operation: Search, question: Question) -> tuple[WorkloadResult, ChannelLoads | None]:
    """The answer of a search."""
    return importlib.import_module(f"designer.decisions.{operation.name}").answer(network, operation.settings, question)


EVALUATOR = Evaluator(Search, evaluate)
