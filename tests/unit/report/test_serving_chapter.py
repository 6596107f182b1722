"""The chapter about serving: its title answers with the busiest deployment, its figures are those of the analysis."""

from __future__ import annotations

import pytest

import designer
from designer.decisions.suggest import suggest
from designer.present.numbers import shown
from designer.report.document import Chapter, Drawing, Follows, Report, SideBySide, Table, plain
from designer.report.renderers.html import to_html
from designer.report.renderers.markdown import to_markdown
from designer.report.settings import Chosen, Energy, Settings
from designer.report.wording import quantity


@pytest.fixture(scope="module")
def report() -> Report:
    chosen = Chosen(chapters=("serving", "results"))
    return designer.compose_report([designer.open_design("serving-h100-8")], Settings(chosen=chosen))


def chapter(report: Report) -> Chapter:
    (found,) = [c for c in report.chapters if c.key == "serving"]
    return found


def test_the_title_and_the_table_tell_what_the_analysis_found(report: Report) -> None:
    """Of two deployments the one at 51 % of its most is busier than the one at a quarter."""
    found = {w.id: w for w in designer.analyze(designer.open_design("serving-h100-8")).workloads}
    busy = found["chat-70b"].metrics
    stated = chapter(report)
    assert shown(busy["most_requests_per_second"].value, "1/s", "requests") in stated.title
    table = next(b for b in stated.blocks if isinstance(b, Table) and b.title == "Key figures")
    cells = " ".join(plain(s) for row in table.rows for cell in row.cells for s in cell)
    assert quantity(found["code-8b"].metrics["latency_p95"].value, "s") in cells
    follows = next(b for b in stated.blocks if isinstance(b, Follows))
    said = " ".join(plain(s) for item in follows.text for s in item)
    assert suggest(designer.open_design("serving-h100-8"), "chat-70b").steps[0].edits[0].words in said


def test_waits_are_drawn_as_they_are_spread_and_the_cache_over_time(report: Report) -> None:
    """Of the busiest deployment; the spread of a wait ends at its longest, the room for keys at what was used of it."""
    drawn = {
        block.title: block
        for beside in chapter(report).blocks
        if isinstance(beside, SideBySide)
        for block in (*beside.left, *beside.right)
        if isinstance(block, Drawing)
    }
    expected = {"First token, p95", "Time to the first token", "Time between tokens", "KV cache over time"}
    assert expected <= set(drawn)
    assert "Replicas by hour" not in drawn, "the load stays as it is through the day"
    assert all("70B" in drawn[name].aside for name in expected)


def test_no_figure_of_serving_is_told_twice(report: Report) -> None:
    """The chapter of further results keeps the collective alone."""
    (rest,) = [c for c in report.chapters if c.key == "results"]
    assert rest.topic == "Collectives"
    assert "Serving" in to_markdown(report)
    assert 'id="serving"' in to_html(report)


def test_energy_costs_what_the_reader_says() -> None:
    """A token takes 2.84 J: a million 2.84 MJ, 0.789 kWh; at a PUE of 1.2, 0.10 a kWh and 400 g/kWh that is 0.947 kWh,
    0.0947 of money and 0.379 kg of carbon. Without the reader's inputs nothing of this is stated."""
    design = designer.open_design("serving-h100-8")
    joules = next(w for w in designer.analyze(design).workloads if w.id == "chat-70b").metrics["energy_per_token"].value
    settings = Settings(chosen=Chosen(chapters=("serving",), energy=Energy(price=0.10, pue=1.2, carbon=400.0)))
    stated = chapter(designer.compose_report([design], settings))
    table = next(b for b in stated.blocks if isinstance(b, Table) and b.title == "What it costs in energy")
    row = table.rows[1].cells
    kwh = joules * 1e6 * 1.2 / 3.6e6
    assert [plain(c) for c in (row[1], row[3], row[4])] == [f"{kwh:.3g}", f"{kwh * 0.1:.3g}", f"{kwh * 0.4:.3g}"]


def test_what_serves_nothing_has_no_such_chapter() -> None:
    settings = Settings(chosen=Chosen(chapters=("serving",)))
    report = designer.compose_report([designer.open_design("dgx-a100")], settings)
    assert [c.key for c in report.chapters] == ["summary"]
