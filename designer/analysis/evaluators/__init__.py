"""How each kind of operation is answered, one per file.

An operation says ``answered_by``, the name of a file here, and the file says which operation it answers: a new
operation is one dataclass and one file. Only what a study needs is imported.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from designer.analysis.network import Network
from designer.analysis.results import Bottleneck, ChannelLoads, Curve, Flow, Table, WorkloadResult
from designer.findings import Finding
from designer.sources import Estimate
from designer.workload.operations import Operation
from designer.workload.program import Programmed


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

    def result(
        self,
        metrics: Mapping[str, Estimate],
        binding: Sequence[Bottleneck],
        after: Sequence[Bottleneck] = (),
        flows: Sequence[Flow] = (),
        n_flows: int = 0,
        findings: Sequence[Finding] = (),
        curves: Mapping[str, tuple[Curve, ...]] | None = None,
        tables: Mapping[str, Table] | None = None,
    ) -> WorkloadResult:
        """What the workload does, under its own name: what binds it, and what would `after` that."""
        return WorkloadResult(
            self.id,
            self.reports,
            self.title,
            metrics,
            tuple(binding),
            tuple(after),
            flows,
            n_flows,
            tuple(findings),
            curves or {},
            tables or {},
        )


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Answers one kind of operation: metrics, what binds, and the load it puts on channels."""

    operation: type[Operation | Programmed]
    evaluate: Callable[[Network, Any, Question], tuple[WorkloadResult, ChannelLoads | None]]


def evaluator_of(operation: Operation | Programmed) -> Evaluator:
    """The evaluator of an operation, from the file it names."""
    module = importlib.import_module(f"designer.analysis.evaluators.{operation.answered_by}")
    found = module.EVALUATOR
    assert isinstance(found, Evaluator), f"{module.__name__} must hold one EVALUATOR"
    assert found.operation is type(operation), f"{module.__name__} answers {found.operation.__name__}"
    return found
