"""What differences between two drawings of one machine cost its workloads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from designer.analysis.study import analyze
from designer.decisions.as_built import Comparison
from designer.decisions.built_design import built_design
from designer.design.document import Design
from designer.engine.account.worth import share_of, worth_of
from designer.errors import AnalysisError, DesignerError
from designer.sources import Estimate


@dataclass(frozen=True, slots=True)
class Cost:
    """A workload before and after.

    Parameters
    ----------
    share
        What is left of its throughput; 0 where it cannot run, and `why`.
    """

    workload: str
    title: str
    metric: str
    before: Estimate
    after: Estimate | None
    share: float
    why: str = ""


def costs(designed: Design, built: Design, workloads: Sequence[str] | None = None) -> list[Cost]:
    """The workloads of a design on what was built, each by the metric of how much it gets done.

    Workloads that cannot run on the design itself are left out.

    Raises
    ------
    AnalysisError
        If there is no such workload.
    """
    found: list[Cost] = []
    for spec in designed.workloads if workloads is None else workloads:
        before = analyze(designed, [spec]).workloads[0]
        try:
            metric = worth_of(before)
        except AnalysisError:
            continue
        title = designed.workloads[spec].title or spec
        try:
            after = analyze(built, [spec]).workloads[0]
        except AnalysisError as error:
            found.append(Cost(spec, title, metric, before.metrics[metric], None, 0.0, error.text))
            continue
        share = share_of(before, after)
        found.append(Cost(spec, title, metric, before.metrics[metric], after.metrics.get(metric), share))
    return found


def priced(designed: Design, found: Comparison) -> tuple[list[Cost], str]:
    """What differences of a fabric as built cost all workloads; a sentence where that is not known."""
    if not (found.differences.missing or found.differences.slow) or not designed.workloads:
        return [], ""
    try:
        return costs(designed, built_design(designed, found.differences)), ""
    except DesignerError as error:
        return [], error.text
