"""The first page of a report says what the page of the answer says, at every door and in the same figures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import designer
from designer.checks.analysing import analyze
from designer.cli.confined import Folder
from designer.cli.design_tools import DesignTools
from designer.cli.pages import page_lines, text_of
from designer.engine.results import Analysis
from designer.interchange.templates import open_design
from designer.pages.workload import page_of
from designer.present.blocks import Page
from designer.present.markdown import to_markdown as page_in_markdown
from designer.report.assembly import compose_report
from designer.report.document import KeyFigures, Table, plain
from designer.report.pages import figures_table, key_figure
from designer.report.renderers.html import to_html
from designer.report.renderers.markdown import to_markdown
from designer.report.settings import Settings
from designer.report.subject import Subject

TEMPLATES = sorted(
    file.name.removesuffix(".design.json")
    for file in (Path(designer.__file__).parents[1] / "templates").glob("*.design.json")
)


def text(value: str) -> str:
    return " ".join(value.replace("\u00a0", " ").split())


@pytest.fixture(scope="module", params=TEMPLATES)
def answered(request: pytest.FixtureRequest) -> tuple[Subject, list[Page]]:
    design = open_design(request.param)
    found: Analysis = analyze(design, curves=False)
    return Subject("A", design, found, Settings()), [page_of(w, design) for w in found.workloads]


def test_terminal_and_report_show_the_same_figures(answered: tuple[Subject, list[Page]]) -> None:
    """Value, unit and band of each key figure, in a terminal, in the strip of a report and in its table."""
    subject, pages = answered
    for page in pages:
        shown = text(text_of(page_lines(page, 100)))
        table = figures_table([page], subject)
        rows = {plain(row.cells[0]): row for row in table.rows}
        for figure in page.figures:
            stated = key_figure(figure, subject, page.key)
            assert text(f"{stated.value} {stated.unit}") == figure.text
            assert text(stated.band) in (f"80% band {figure.band}", "exact", "")
            assert text(f"{figure.title} {figure.value}") in shown
            assert figure.band in shown
            written = f"| {figure.title} | {figure.text} | {figure.band} |"
            assert written in page_in_markdown(page)
            row = rows[figure.title]
            assert [text(plain(cell)) for cell in row.cells[1:3]] == [figure.text, figure.band]


def test_the_assistant_gets_the_answer_of_the_page(tmp_path: Path) -> None:
    """Headline, values and bands that `explain` returns are those that pages are made of."""
    tools = DesignTools(Folder(tmp_path))
    for template in ("hgx-h100-8", "serving-l40s-4", "vsphere-cluster-4"):
        design = open_design(template)
        for w in analyze(design, curves=False).workloads:
            page, found = page_of(w, design), tools.explain(template, w.id, full=True)
            assert page.headline in found["answer"]
            for figure in page.figures:
                metric = found["document"]["metrics"][figure.name]
                assert (metric["low"], metric["value"], metric["high"]) == (figure.low, figure.at, figure.high)


@pytest.mark.parametrize("template", ["hgx-h100-8", "serving-l40s-4", "vsphere-cluster-4"])
def test_the_first_page_has_headline_figures_drawing_and_limits_in_every_format(template: str) -> None:
    design = open_design(template)
    report = compose_report([design])
    summary = report.summary
    results = {w.id: w for w in analyze(design).workloads}
    pages = [page_of(w, design) for w in results.values()]
    (page,) = [p for p in pages if text(summary.title).startswith(p.subject.split(", on ")[0] + ": ")]
    first = page.headline[:1].lower() + page.headline[1:]
    assert first.removesuffix(".") in text(summary.title)
    figures = next(b for b in summary.blocks if isinstance(b, KeyFigures)).figures
    assert [text(f"{f.value} {f.unit}") for f in figures] == [f.text for f in page.figures[:4]]
    for stated in (to_html(report), to_markdown(report)):
        flat = text(re.sub(r"<[^>]*>", " ", stated).replace("**", ""))
        for figure in page.figures[:4]:
            assert figure.value in flat
            assert figure.band in flat
        assert "What limits it" in flat
        assert page.limits[0].title in flat
    tables = [b for block in summary.blocks for b in getattr(block, "left", ()) if isinstance(b, Table)]
    assert [text(plain(row.cells[-1])) for row in tables[0].rows] == [one.gain or "–" for one in page.limits[:3]]


def test_of_a_large_design_the_answer_is_that_of_the_terminal() -> None:
    design = open_design("cluster-98304")
    found = analyze(design, ["llama-3-70b"], curves=False)
    (page,) = [page_of(w, design) for w in found.workloads]
    # over Ethernet the ring of 12,288 servers keeps flags of 128 bytes: its links limit the step, and latency does too
    limits = "Ethernet between NIC and leaf switch and latency"
    assert re.match(rf"Trains in 5\.\d\d days at \d\d,\d00,000 tokens/s\. {limits}", page.headline)
    assert "Ethernet between NIC and leaf switch" in page.headline
    assert "98,304 links" in [limit.detail for limit in page.limits]
