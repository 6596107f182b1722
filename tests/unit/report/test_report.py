"""The design report: what every format holds, and that nothing in a name is obeyed."""

from __future__ import annotations

import datetime
import re
from html.parser import HTMLParser

import pytest

import designer
from designer.decisions.suggest import suggest
from designer.design.document import Design, with_changes
from designer.errors import Cancelled, ReportError
from designer.report.assembly import compose_report
from designer.report.document import Report
from designer.report.inventory import inventory
from designer.report.names import in_names
from designer.report.renderers.html import to_html
from designer.report.renderers.markdown import to_markdown
from designer.report.renderers.pdf import to_pdf
from designer.report.settings import Chosen, Cost, Energy, Settings
from tests.budget import sample

#: the report of the pod takes seconds: one process makes it
pytestmark = pytest.mark.xdist_group("report")

_DAY = datetime.date(2026, 11, 22)
_HOSTILE = "<script>alert(1)</script>\" onload='x' =cmd()|' /C calc'!A0 ‮ 🙂 ../../etc"


@pytest.fixture(scope="module")
def unit() -> Report:
    return compose_report([designer.open_design("su-h100-32")], date=_DAY)


@pytest.fixture(scope="module")
def html(unit: Report) -> str:
    return to_html(unit)


class _Page(HTMLParser):
    """Ids, links, scripts and addresses of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: set[str] = set()
        self.events: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name in ("href", "src", "xlink:href"):
                self.links.append(value or "")
            elif name.startswith("on"):
                self.events.append(name)


def _parsed(html: str) -> _Page:
    page = _Page()
    page.feed(html)
    return page


def test_every_link_of_the_page_leads_somewhere(html: str) -> None:
    page = _parsed(html)
    assert len(page.ids) == len(set(page.ids))
    inner = [link[1:] for link in page.links if link.startswith("#")]
    assert inner
    assert set(inner) <= set(page.ids)


def test_the_page_fetches_nothing(html: str) -> None:
    page = _parsed(html)
    assert "script" not in page.tags
    assert "iframe" not in page.tags
    assert not re.findall(r"url\((?!data:)", html)
    outside = [link for link in page.links if not link.startswith(("#", "data:"))]
    assert all(link.startswith("https://") for link in outside), "only sources lead outside, and only when asked"


def test_titles_answer_with_numbers(unit: Report) -> None:
    for chapter in unit.chapters:
        assert len(chapter.title) > 25, chapter.topic
    assert sum(bool(re.search(r"\d", c.title)) for c in unit.chapters) > len(unit.chapters) / 2


def test_what_to_buy_first_is_what_suggest_finds(unit: Report) -> None:
    """Page 1 names the changes of `suggest` for the workloads that matter, with its gain: ResNet-50 reads 217 GB/s
    where storage gives 125 GB/s, so a second storage system gains 217 ÷ 125 = 1.74."""
    found = suggest(designer.open_design("su-h100-32"), "resnet-50")
    assert found.steps[0].gain == pytest.approx(1.73, abs=0.01)
    text = to_markdown(unit)
    assert "Add Storage 2, a copy of Storage" in text
    assert "+74%" in text


@pytest.mark.parametrize("template", sample(["vsphere-cluster-4", "m40-server"], ["gb200-nvl72"]))
def test_every_kind_of_design_makes_all_formats(template: str) -> None:
    report = compose_report([designer.open_design(template)], date=_DAY)
    assert to_html(report).startswith("<!DOCTYPE html>")
    assert to_pdf(report).startswith(b"%PDF-")
    assert to_markdown(report).startswith("# ")


@pytest.mark.parametrize("template", sample(["hgx-a100-4"], ["su-h100-32"]))
def test_the_same_design_gives_the_same_bytes(template: str) -> None:
    one, again = (compose_report([designer.open_design(template)], date=_DAY) for _ in range(2))
    assert to_html(again) == to_html(one)
    assert to_markdown(again) == to_markdown(one)
    assert to_pdf(again) == to_pdf(one)


def _named(name: str, template: str) -> Design:
    design = designer.open_design(template)
    parts = [with_changes(p, name=f"{name} {p.id}") for p in design.parts.values()]
    workloads = [with_changes(w, title=f"{name} {w.id}") for w in design.workloads.values()]
    return with_changes(design, title=name, intent=name, parts=parts, workloads=workloads)


def test_long_names_do_not_run_over() -> None:
    report = compose_report([_named("x" * 9_000, "hgx-a100-4")], date=_DAY)
    assert len(to_html(report)) < 3_000_000
    assert to_pdf(report).startswith(b"%PDF-")


def test_chapters_can_be_chosen_and_unknown_ones_are_reported() -> None:
    design = designer.open_design("m40-server")
    report = compose_report([design], Settings(chosen=Chosen(chapters=("sources",))), date=_DAY)
    assert [c.key for c in report.chapters] == ["summary", "sources"]
    with pytest.raises(ReportError, match="no chapter 'nonsense'"):
        compose_report([design], Settings(chosen=Chosen(chapters=("nonsense",))), date=_DAY)


def test_a_report_can_be_stopped() -> None:
    with pytest.raises(Cancelled):
        compose_report([designer.open_design("m40-server")], cancelled=lambda: True)


def test_several_designs_have_letters() -> None:
    report = compose_report([designer.open_design("m40-server"), designer.open_design("hgx-a100-4")], date=_DAY)
    keys = [c.key for c in report.chapters]
    assert "drawing-a" in keys
    assert "drawing-b" in keys
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    ("name", "other"),
    [
        (_HOSTILE, "a\nb\r\nc\t\"'`|*_"),
        ("=cmd()|' /C calc'!A0", "../../etc\\passwd"),
        ("\u202e\u2066\u05d0\u05d1 \U0001f600", _HOSTILE),
    ],
    ids=["markup-newlines", "formula-path", "right-to-left-markup"],
)
def test_hostile_names_are_shown_and_obeyed_in_no_chapter(name: str, other: str) -> None:
    """Two designs with rent and energy prices: comparison, running cost, racks and validation too."""
    cost = Cost(rent=2.5, currency="EUR", source=name)
    chosen = Chosen(cost=cost, energy=Energy(price=0.25, currency="EUR", source=other))
    report = compose_report([_named(text, "m40-server") for text in (name, other)], Settings(chosen=chosen), date=_DAY)
    keys = {c.key for c in report.chapters}
    assert {"comparison", "racks-a", "power-a", "validation-b"} <= keys
    assert any(key.startswith("running-cost") for key in keys)
    html = to_html(report)
    page = _parsed(html)
    assert "script" not in page.tags
    assert not page.events
    assert ("&lt;script&gt;" in html) == (_HOSTILE in (name, other))
    for stated in (html, to_markdown(report)):
        assert "\u202e" not in stated
        assert "<script>" not in stated
    assert to_pdf(report).startswith(b"%PDF-")


@pytest.mark.parametrize(
    ("stated", "named"),
    [
        ("hosts[1]/gpu0: taken", "ESXi host 2, GPU 0: taken"),
        ("Empty hosts[0]", "Empty ESXi host 1"),
        ("no room for grid_a100d-80c", "no room for A100D-80C"),
        ("no such hosts[9]/gpu7, nor gpu 0", "no such hosts[9]/gpu7, nor gpu 0"),
        ("100 GB/s of S/PDIF and/or more", "100 GB/s of S/PDIF and/or more"),
    ],
)
def test_paths_in_a_text_become_names_of_the_drawing(stated: str, named: str) -> None:
    """Members are counted from one, as everywhere in the report; what is no path stays."""
    assert in_names(inventory(designer.open_design("vsphere-cluster-4")), stated) == named
