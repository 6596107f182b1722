"""An analysis with the promises of its design judged: what ``designer.analyze`` and the command line answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from designer.analysis import study
from designer.design.document import Design
from designer.engine.results import Analysis, Rows


def analyze(
    design: Design,
    workloads: Sequence[str] | None = None,
    *,
    file: str | None = None,
    curves: bool = True,
    shown: str = "",
    progress: study.Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Analysis:
    """Run workloads of a design: routes, fair rates, estimates, what binds and what comes next.

    Assertions of the design are judged as well; those that do not hold are findings of severity error.

    Parameters
    ----------
    workloads
        Ids of workloads of the design, or one id; all of them by default.
    curves
        True to compute sweeps for plots as well.
    shown
        The workload whose loads the rows of channels tell; else the design's default, else the first.
    progress, cancelled
        Called between steps.

    Raises
    ------
    AnalysisError
        If a workload is unknown, its settings are wrong or nothing can be routed.
    Cancelled
        If `cancelled` says so.
    """
    found = study.analyze(
        design, workloads, file=file, curves=curves, shown=shown, progress=progress, cancelled=cancelled
    )
    if not design.assertions:
        return found
    # loaded here: most designs hold no assertions, and the language of checks is a fifth of the start
    from designer.checks.runner import as_findings, promises_of, run
    from designer.checks.world import World

    world = World(design, cancelled=cancelled)
    world.seed(found)
    broken = as_findings(run(world, promises_of(design)))
    stated = found.findings
    return replace(found, findings=Rows(lambda: [*broken, *stated]))
