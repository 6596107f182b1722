"""Failures in a report: judged by every workload of the design, the worst of them named."""

from __future__ import annotations

import designer
from designer.decisions.failures_survey import survive
from designer.design.document import Design, with_changes
from designer.report.assembly import compose_report
from designer.report.renderers.markdown import to_markdown
from designer.report.settings import Chosen, Settings
from designer.report.wording import in_words


def _told(design: Design) -> str:
    return to_markdown(compose_report([design], Settings(chosen=Chosen(chapters=("failures",)))))


def test_every_workload_judges_a_failure() -> None:
    """Without an NVSwitch copies from the host lose nothing and the all-reduce a fifth.

    The default workload is the copy; a GPU that is cut off stops none of the two.
    """
    design = designer.open_design("hgx-h100-8")
    jobs = {name: design.workloads[name] for name in ("all-reduce", "h2d")}
    design = with_changes(design, workloads=jobs, default_workload="h2d", assertions=[])
    lost = {name: next(x.lost for x in survive(design, name).losses if x.path == "nvsw0") for name in jobs}
    assert lost["h2d"] == 0 < lost["all-reduce"] < 1
    text = _told(design)
    row = next(line for line in text.splitlines() if "NVSwitch 0" in line and "|" in line)
    assert "All-reduce" in row
    assert f"{lost['all-reduce']:.1%}" in row.replace("\u00a0", " ")


def test_a_failure_that_stops_any_workload_counts_as_fatal() -> None:
    design = designer.open_design("hgx-h100-8")
    members = {
        (loss.kind, member)
        for name in design.workloads
        for loss in survive(design, name).losses
        if loss.stops
        for member in loss.members.tolist()
    }
    assert in_words(len(members), "stops", "stop") in _told(design)
