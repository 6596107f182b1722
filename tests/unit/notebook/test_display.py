"""What a notebook displays: HTML of designs, results and reports in which no text of others is markup."""

from __future__ import annotations

import re

import designer
from designer.design.document import with_changes

BAD = '<script>alert("x")</script>'


def test_designs_and_reports_are_framed() -> None:
    design = designer.open_design("m40-server")
    assert re.match(r"<iframe srcdoc=.* sandbox=\"allow-scripts\"", design._repr_html_(), re.DOTALL)
    report = designer.compose_report([design])
    assert re.match(r"<iframe srcdoc=.* sandbox=\"\"", report._repr_html_(), re.DOTALL)


def test_analyses_and_runs_show_values_with_bands_and_limits() -> None:
    design = designer.open_design("hgx-h100-8")
    shown = designer.analyze(design, "llama-2-7b-fsdp")._repr_html_()
    assert "<td>Step time</td><td>465 ms</td>" in shown
    assert "What limits it" in shown
    run = designer.simulate(design, ["all-reduce", "h2d"], until=0.1)._repr_html_()
    assert run.count("<caption>What limits it</caption>") == 2
    assert "<th>Alone</th>" in run


def test_titles_are_text() -> None:
    design = designer.open_design("hgx-h100-8")
    spec = with_changes(design.workloads["h2d"], title=BAD)
    shown = designer.analyze(with_changes(design, workloads=[spec]), "h2d")._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
