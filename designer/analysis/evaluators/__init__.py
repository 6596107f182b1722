"""How each kind of operation is answered, one per file, found by the name of the operation.

``workload.operations.Transfer`` is answered by ``evaluators/transfer.py``; a new operation is one dataclass and one
file here. Only what a study needs is imported.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, WorkloadResult


@dataclass(frozen=True, slots=True)
class Question:
    """Which workload is asked about, under which title, where it stands, and whether sweeps for plots are wanted.

    Long work tells ``progress`` its share from 0 to 1 and stops when ``cancelled`` says so. Where ``explained`` is
    false only the metrics are wanted: what binds, what comes next and the loads may be left out.
    """

    id: str
    reports: str
    title: str
    place: str
    curves: bool = True
    progress: Callable[[float, str], None] | None = None
    cancelled: Callable[[], bool] | None = None
    explained: bool = True


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Answers one kind of operation: metrics, what binds, and the load it puts on channels."""

    evaluate: Callable[[Network, Any, Question], tuple[WorkloadResult, ChannelLoads | None]]


def evaluator_of(operation: object) -> Evaluator:
    """The evaluator of an operation, from the file named as its class."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(operation).__name__).lower()
    module = importlib.import_module(f"{__name__}.{name}")
    found = module.EVALUATOR
    assert isinstance(found, Evaluator), f"{module.__name__} must hold one EVALUATOR"
    return found
