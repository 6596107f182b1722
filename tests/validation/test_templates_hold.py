"""Every template under each of its workloads: proven, bounded, explained."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from designer.analysis.study import analyze
from designer.engine import transfers
from designer.engine.flows import check, solve
from designer.engine.results import ChannelLoads
from designer.findings import Severity
from designer.interchange.templates import list_templates, open_design
from tests.budget import DIFFERENT, sample
from tests.directions import check_directions
from tests.gains import check_gains
from tests.unit.workload.test_metrics import check as check_metrics

CASES = [(t.id, w) for t in list_templates() for w in open_design(t.id).workloads if t.gpus <= 2048]
#: variants whose workloads are of kinds that no other template has
OWN = {"cluster-1024", "hpe-apollo-6500-parallel-storage", "m60-server", "serving-h100-8"}
#: all workloads of templates of different kinds, and of their variants the one that is shown first
ALWAYS = [(t, w) for t, w in CASES if t in DIFFERENT | OWN or w == open_design(t).default_workload]


def test_there_are_templates():
    assert len(list_templates()) >= 40


@pytest.mark.parametrize(("template", "workload"), sample(ALWAYS, [case for case in CASES if case not in ALWAYS]))
def test_template(template: str, workload: str, monkeypatch: pytest.MonkeyPatch):
    solved: list[Any] = []

    def watched(incidence: Any) -> Any:
        answer = solve(incidence)
        solved.append((incidence, answer))
        return answer

    monkeypatch.setattr(transfers, "solve", watched)
    design = open_design(template)
    found = analyze(design, [workload], curves=False)
    (result,) = found.workloads
    for incidence, answer in solved:
        proof = check(incidence, answer.rate)
        assert proof.ok
        assert proof.worst_overload <= 1e-9
    assert solved or design.workloads[workload].kind != "transfer"
    assert not [f for f in (*found.findings, *result.findings) if f.severity is Severity.ERROR]
    assert result.metrics
    check_metrics(design.workloads[workload].kind, {name: m.unit for name, m in result.metrics.items()})
    for name, metric in result.metrics.items():
        assert 0 <= metric.low <= metric.value <= metric.high < float("inf"), name
        # what is hidden behind computing may take no time at all, but no rate is nothing
        assert metric.low > 0 or metric.unit in ("s", "1"), name
        # what is counted on the drawing has no band and needs no source
        counted = metric.unit == "1" and metric.low == metric.value == metric.high
        assert metric.sources or (counted and metric.note), name
    assert result.binding
    assert all(b.id and b.label and b.why for b in result.binding)
    check_directions(design, found, result)
    check_gains(result)
    for loads in found.loads.values():
        _bounded(loads)


def _bounded(loads: ChannelLoads) -> None:
    assert (loads.load >= 0).all()
    assert np.isfinite(loads.load).all()
    assert loads.utilization.max() <= 1 + 1e-6
    assert ((loads.load > 0) <= (loads.utilization > 0)).all()
