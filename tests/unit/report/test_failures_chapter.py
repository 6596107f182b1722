"""Failures in a report: judged by every workload of the design, in the words and figures of `survive`."""

from __future__ import annotations

import designer
from designer.decisions.failures_survey import survive
from designer.design.document import Design, with_changes
from designer.pages.survive import page_of_failures
from designer.present.numbers import percent
from designer.report.assembly import compose_report
from designer.report.renderers.markdown import to_markdown
from designer.report.settings import Chosen, Settings


def _shown(design: Design) -> str:
    return to_markdown(compose_report([design], Settings(chosen=Chosen(chapters=("failures",)))))


def test_every_workload_judges_a_failure() -> None:
    """Without an NVSwitch copies from the host lose nothing and the all-reduce a fifth; each has a table of its own."""
    design = designer.open_design("hgx-h100-8")
    jobs = {name: design.workloads[name] for name in ("all-reduce", "h2d")}
    design = with_changes(design, workloads=jobs, default_workload="h2d", assertions=[])
    lost = {name: next(x.lost for x in survive(design, name).losses if x.path == "nvsw0") for name in jobs}
    assert lost["h2d"] == 0 < lost["all-reduce"] < 1
    text = _shown(design)
    row = next(line for line in text.splitlines() if "NVSwitch 0" in line and "|" in line)
    assert percent(lost["all-reduce"]) in row
    for name in jobs:
        assert page_of_failures(survive(design, name), design).headline in text


def test_the_workload_that_loses_most_is_the_title() -> None:
    design = designer.open_design("hgx-h100-8")
    report = compose_report([design], Settings(chosen=Chosen(chapters=("failures",))))
    (chapter,) = [c for c in report.chapters if c.key == "failures"]
    fatal = {w.title for w in design.workloads.values() if survive(design, w.id).fatal}
    assert any(chapter.title.startswith(f"{title}: ") for title in fatal)
