"""Questions about workloads, and who answers them.

A kind of workload names the module of its family (``WorkloadKind.answer``) with ``answer(network, program, question)``.
Kinds that name none are answered by ``designer.engine.measured``: by what the program measures, read from its run. Only
modules that are needed are imported.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from designer.design.document import WorkloadSpec
from designer.engine.network import Network
from designer.engine.results import Bottleneck, ChannelLoads, Curve, Flow, Step, Table, WorkloadResult
from designer.findings import Finding
from designer.sources import Estimate
from designer.workload.kind import kind_of, program_of, read_settings
from designer.workload.program import Program


@dataclass(frozen=True, slots=True)
class Question:
    """Which workload is asked about, under which title, where it is placed, and whether sweeps for plots are wanted.

    Long work reports its share from 0 to 1 to ``progress`` and stops when ``cancelled`` returns true. Where
    ``explained`` is false only the metrics are wanted: what binds, what comes next and the loads may be left out. Where
    ``banded`` is false only values are wanted: bands may be narrower than they are.
    """

    id: str
    reports: str
    title: str
    place: str
    curves: bool = True
    progress: Callable[[float, str], None] | None = None
    cancelled: Callable[[], bool] | None = None
    explained: bool = True
    banded: bool = True

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
        steps: Sequence[Step] = (),
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
            tuple(steps),
        )


Answer = tuple[WorkloadResult, ChannelLoads | None]


def ask(network: Network, spec: WorkloadSpec, question: Question, program: Program | None = None) -> Answer:
    """The answer of a workload: its metrics, what binds, and the load it puts on channels.

    Parameters
    ----------
    program
        In place of the one that the settings of the workload lead to.

    Raises
    ------
    AnalysisError
        If its settings are wrong or nothing can be routed.
    """
    kind = kind_of(spec.kind, question.place)
    if kind.search:
        settings = read_settings(kind, spec.settings, question.place)
        return importlib.import_module(kind.search).answer(network, settings, question)
    program = program or program_of(spec.kind, spec.settings, question.place)
    return importlib.import_module(kind.answer).answer(network, program, question)
