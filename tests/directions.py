"""Every place that judges a change of a metric judges it by the same direction."""

from __future__ import annotations

from dataclasses import replace

import pytest

from designer.decisions.answers import Row
from designer.decisions.frontier import frontier
from designer.design.document import Design
from designer.engine.account.worth import WORTH, share_of, worth_of
from designer.engine.results import Analysis, WorkloadResult
from designer.gui.viewmodels import compare, flow, trial
from designer.gui.viewmodels.answer import Baseline
from designer.present.words import metric_title
from designer.report.subject import gain_of, main_metric
from designer.workload.metrics import NEITHER, better, more_is_better, times_better, tone_of

UP = 2.0


def scaled(result: WorkloadResult, name: str) -> WorkloadResult:
    """The result with one metric twice as large."""
    was = result.metrics[name]
    more = replace(was, value=was.value * UP, low=was.low * UP, high=was.high * UP)
    return replace(result, metrics={**result.metrics, name: more})


def check_directions(design: Design, analysis: Analysis, result: WorkloadResult) -> None:
    """Double each metric of a result: what-if, flow, compare, sweep, suggest and report agree whether that is good."""
    titles = [metric_title(name, result.kind) for name in result.metrics]
    assert len(set(titles)) == len(titles), titles
    for name, estimate in result.metrics.items():
        if estimate.value <= 0:
            continue
        after = scaled(result, name)
        expected = tone_of(name, estimate.value, estimate.value * UP, result.kind)
        judged = {NEITHER: ""}.get(better(name, result.kind), "good" if more_is_better(name, result.kind) else "bad")
        assert expected == judged, name
        # what if: only the first few metrics have a row
        rows = {row.title: row.tone for row in trial.rows(result, after, design)}
        title = metric_title(name, result.kind)
        if name in flow.ordered(result)[:3]:
            assert rows[title] == expected, ("what if", name)
        # the answer: against the values first seen
        baseline = Baseline()
        baseline.pin(result)
        assert baseline.changes(after)[name][1] == expected, ("answer", name)
        # compare
        one, other = (replace(analysis, workloads=(r,)) for r in (result, after))
        tones = {line.cells[3].tone for line in compare.lines(design, design, one, other, {}) if line.cells[3].text}
        assert tones == {expected}, ("compare", name)
        # sweep: the better of two runs is on the frontier
        runs = (Row(0, (), {name: estimate}), Row(1, (), {name: after.metrics[name]}))
        best = [row.number for row in frontier(runs, name, name, result.kind)]
        assert best == [int(expected == "good")], ("sweep", name)
        # suggest and survive weigh one metric of the workload
        if any(n in result.metrics for n in WORTH) and worth_of(result) == name:
            assert share_of(result, after) == pytest.approx(UP if expected == "good" else 1 / UP), ("suggest", name)
        if main_metric(result) == name:
            assert gain_of(result, after) == pytest.approx(times_better(name, 1.0, UP, result.kind)), ("report", name)
            assert gain_of(result, after) == pytest.approx(UP if expected == "good" else 1 / UP), ("report", name)
