"""No sentence of a report ends in its middle."""

from __future__ import annotations

import pytest

import designer
from designer.report.assembly import Given, compose_report
from designer.report.renderers import pdf_blocks
from designer.report.settings import load_settings
from designer.report.wording import whole_clauses
from designer.report.writing import rendered


@pytest.mark.parametrize("template", ["hgx-h100-8", "vsphere-cluster-4"])
def test_the_pdf_shortens_nothing_that_the_program_says(template: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cut: list[str] = []
    shorten = pdf_blocks.shortened

    def watched(text: str, most: int) -> str:
        if len(text) > most:
            cut.append(text)
        return shorten(text, most)

    monkeypatch.setattr(pdf_blocks, "shortened", watched)
    report = compose_report([Given(designer.open_design(template), "")], load_settings(), version="test")
    assert rendered(report, ".pdf").startswith(b"%PDF")
    assert not cut
    markdown = rendered(report, ".md").decode()
    risks = markdown.partition("Risks")[2].partition("## ")[0]
    assert risks.strip()
    assert " …" not in risks


def test_a_message_is_cut_between_clauses() -> None:
    text = "Training 0 cannot move: no other host has a place for A100D-80C: host 2, GPU 0: all virtual GPUs are equal"
    assert whole_clauses(text, 200) == text
    assert whole_clauses(text, 70) == "Training 0 cannot move: no other host has a place for A100D-80C"
    assert whole_clauses(text, 40) == "Training 0 cannot move"
    # the first clause stays whole however little room there is
    assert whole_clauses(text, 5) == "Training 0 cannot move"
    assert whole_clauses("needs 142.7 GB on 85.5 GB (weights 13.5, gradients 27.0)", 30) == "needs 142.7 GB on 85.5 GB"
    assert whole_clauses("one clause without an end of its own", 10) == "one clause without an end of its own"
