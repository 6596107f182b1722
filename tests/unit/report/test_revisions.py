"""Revisions in reports and workbooks: what changed, and why each figure moved."""

from __future__ import annotations

import datetime
import zipfile
from pathlib import Path

import pytest

import designer
from designer.cli.main import run
from designer.decisions.comparing import compare
from designer.design.document import Design, WorkloadSpec, with_changes
from designer.report.assembly import Given, compose_report
from designer.report.renderers.markdown import to_markdown
from designer.report.settings import Chosen, Settings
from designer.report.tables.revisions import Revision, Since, moved, sheet

DAY = datetime.date(2026, 11, 24)


def _before() -> Design:
    return designer.open_design("hgx-h100-8")


def _after() -> Design:
    design = _before()
    links = [
        with_changes(x, bandwidth_per_direction="12.5 GB/s") if x.kind == "nvlink" else x for x in design.links.values()
    ]
    return with_changes(design, links=links)


def test_a_figure_that_moved_names_its_edit_and_what_limits_it() -> None:
    since = Since(_before(), compare(_before(), _after()), "a.json")
    (bandwidth,) = (m for m in moved(since.found) if (m.workload, m.name) == ("all-reduce", "bus_bandwidth"))
    # links of half the rate: the whole change is of the links, none of parts or workloads
    assert list(bandwidth.shares) == ["links"]
    assert bandwidth.shares["links"] == pytest.approx(bandwidth.after - bandwidth.before)
    rows = sheet(since, (), "B", "", "2026-11-24").rows
    (row,) = (r for r in rows if r[0] == "figure" and r[4] == "all-reduce: bus_bandwidth")
    assert row[5:7] == (bandwidth.before, bandwidth.after)
    assert str(row[8]).startswith("links −")


def test_shares_are_stated_in_per_cent() -> None:
    """A share of .164 reads 16.4 %, as in the answer."""
    training = WorkloadSpec(id="t", kind="training", settings={"model": "resnet-50", "group": "gpus"})
    before, after = (with_changes(each, workloads=[training]) for each in (_before(), _after()))
    settings = Settings(chosen=Chosen(chapters=("revisions",)))
    page = to_markdown(compose_report([after], settings, previous=Given(before, "a.json"), date=DAY))
    (row,) = (line for line in page.splitlines() if line.startswith("| **t** | MFU |"))
    assert all(cell.strip().endswith("%") for cell in row.split("|")[3:5])


def test_the_report_has_recorded_revisions_and_this_one() -> None:
    recorded = Revision(revision="A", date=datetime.date(2026, 10, 1), author="Operations", text="First issue")
    chosen = Chosen(revision="B", author="Platform team", revisions=(recorded,), chapters=("revisions",))
    report = compose_report([_after()], Settings(chosen=chosen), previous=Given(_before(), "a.json"), date=DAY)
    page = to_markdown(report)
    for text in ("First issue", "since a.json", "Figures that moved", "What was edited"):
        assert text in page
    assert [c.key for c in report.chapters][:2] == ["summary", "revisions"]


def test_a_report_without_revisions_has_no_such_chapter() -> None:
    report = compose_report([_before()], Settings(chosen=Chosen(chapters=("racks",))), date=DAY)
    assert "revisions" not in [c.key for c in report.chapters]


def test_the_workbook_has_a_sheet_of_revisions(tmp_path: Path) -> None:
    before, after, book = tmp_path / "a.design.json", tmp_path / "b.design.json", tmp_path / "b.xlsx"
    designer.save_design(_before(), before)
    designer.save_design(_after(), after)
    assert run(["bom", str(after), "--previous", str(before), "-o", str(book)]) == 0
    with zipfile.ZipFile(book) as archive:
        assert 'name="Revisions"' in archive.read("xl/workbook.xml").decode()
        texts = "".join(archive.read(n).decode() for n in archive.namelist() if n.endswith(".xml"))
    assert "all-reduce: bus_bandwidth" in texts
    assert run(["report", str(after), "--previous", str(tmp_path / "none.json"), "-o", str(tmp_path / "r.md")]) == 2
