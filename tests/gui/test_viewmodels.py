"""What panels show, without a window: rows, texts, forms and the edits they make; figures as data."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF
from pytestqt.qtbot import QtBot

from designer.analysis.study import analyze
from designer.catalog.loader import load_catalog
from designer.design.address import Ref
from designer.design.document import Design, WorkloadSpec
from designer.design.history import History
from designer.engine.results import Analysis
from designer.errors import DesignerError
from designer.findings import Finding, Severity
from designer.gui.viewmodels import compare, findings, forms, inspector, links, outline, palette, steps
from designer.gui.viewmodels import workloads as workload_forms
from designer.gui.viewmodels.answer import Baseline
from designer.gui.viewmodels.places import picked_of
from designer.gui.viewmodels.ranking import Words, ordered
from designer.gui.viewmodels.table import Branch
from designer.interchange.templates import list_templates, open_design
from designer.pages.workload import page_of
from designer.report.figure_kinds import figure_kinds
from tests.designs import one_server, one_unit


@pytest.fixture(scope="module")
def design() -> Design:
    return open_design("hgx-h100-8")


@pytest.fixture(scope="module")
def analysis(design: Design) -> Analysis:
    return analyze(design)


def test_search_prefers_word_starts_and_whole_words() -> None:
    titles = ["Undo", "Make a group of equal members", "Zoom in", "Open…"]

    def found(query: str) -> list[str]:
        return list(ordered(query, titles, lambda title: Words(title, letters=True)))

    assert found("undo")[0] == "Undo"
    assert found("zi")[0] == "Zoom in"
    assert found("group make") == ["Make a group of equal members"]
    assert not found("xyz")


def test_channels_and_parts_of_results_can_be_selected(design: Design, analysis: Analysis) -> None:
    for row in analysis.channels:
        found = picked_of(design, row.id)
        assert found is not None
        assert found[1].what == "links"
    assert picked_of(design, "gpu0") == ((), Ref("parts", "gpu0"))
    assert picked_of(design, "latency") is None
    unit = one_unit(4)
    assert picked_of(unit, "servers[2]/gpu0--nvsw1:ba") == ((("servers", None),), Ref("links", "gpu0--nvsw1"))
    assert picked_of(unit, "rails[12]:ab") == ((), Ref("wirings", "rails"))


def test_busiest_channels_come_first(analysis: Analysis) -> None:
    rows = links.lines(analysis, None)
    shares = [r.cells[3].sort for r in rows]
    assert rows
    assert shares == sorted(shares, reverse=True)
    assert len(links.lines(analysis, None, idle=True)) == len(analysis.channels)
    assert all("gpu0" in f"{r.cells[0].text}{r.cells[1].text}" for r in links.lines(analysis, None, "gpu0"))


def test_links_are_listed_and_found_by_the_names_in_the_drawing(design: Design, analysis: Analysis) -> None:
    named = links.lines(analysis, None, "gpu0", block=design)
    assert [row.key for row in named] == [row.key for row in links.lines(analysis, None, "gpu0")]
    assert all("GPU 0" in (r.cells[0].text, r.cells[1].text) for r in named)
    assert all("gpu0" in (r.cells[0].tip, r.cells[1].tip) for r in named)
    assert [row.key for row in links.lines(analysis, None, "gpu 0 pcie", block=design)] == [
        row.key for row in links.lines(analysis, None, "gpu0 pcie")
    ]


def test_worst_findings_come_first_and_once() -> None:
    own = [Finding("FLOW-STEADY", Severity.INFO, "b"), *[Finding("DOC-SELF", Severity.ERROR, "a")] * 2]
    found = findings.gather(own, None, None)
    assert [f.code for f in found] == ["DOC-SELF", "FLOW-STEADY"]
    assert findings.summary(found) == (1, "1 error")


def test_the_outline_nests_as_the_design_does(design: Design) -> None:
    def count(branches: list[Branch]) -> int:
        return sum((isinstance(b.key, tuple) and b.key[1].what == "parts") + count(b.children) for b in branches)

    assert count(outline.tree(design)) == len(design.parts)
    found = outline.tree(design, "GPU 3")
    assert count(found) < len(design.parts)
    inside = outline.tree(one_unit(4))
    servers = next(b for b in inside if b.title == "servers")
    assert servers.detail == "× 4"
    assert servers.children


def test_the_palette_offers_templates_and_every_kind() -> None:
    roots = palette.tree(load_catalog(), list_templates())
    assert roots[0].title == "Templates"
    assert {"GPUs", "NICs"} <= {r.title for r in roots}
    found = palette.tree(load_catalog(), list_templates(), "mi300x")
    assert any("MI300X" in b.title for r in found for b in r.children)
    assert all(b.drag[0] in (palette.PART_MIME, palette.TEMPLATE_MIME) for r in roots for b in r.children)


def test_every_thing_of_every_kind_has_a_form_whose_entries_make_edits(design: Design, analysis: Analysis) -> None:
    things = [Ref("parts", p) for p in design.parts] + [Ref("links", x) for x in list(design.links)[:30]]
    for ref in things:
        form = inspector.inspect(design, frozenset({((), ref)}), analysis, analysis.workloads[0])
        names = [e.name for s in form.sections for e in s.entries]
        assert len(names) == len(set(names))
        for section in form.sections:
            for entry in section.entries:
                assert forms.check(entry, entry.spelled) == "" or not entry.editable
                if entry.make is not None and entry.spelled and entry.spelled != forms.SEVERAL:
                    entry.make(entry.spelled).apply(design)


def test_an_override_is_marked_and_empty_text_takes_it_away(design: Design) -> None:
    chosen = frozenset({((), Ref("parts", "gpu0")), ((), Ref("parts", "gpu1"))})

    def entry_of(of: Design) -> forms.Entry:
        form = inspector.inspect(of, chosen)
        return next(e for s in form.sections for e in s.entries if e.name == "memory_bandwidth")

    before = entry_of(design)
    assert before.make is not None
    changed = before.make("5 TB/s").apply(design)
    after = entry_of(changed)
    assert after.overridden
    assert after.unsure
    assert after.make is not None
    assert after.make("").apply(changed).parts["gpu0"] == design.parts["gpu0"]
    assert before.scaled(2.0) == "6.7 TB/s"


@pytest.mark.parametrize(
    ("dimension", "text", "good"),
    [
        ("rate", "400 Gb/s", True),
        ("rate", "400", False),
        ("count", "8", True),
        ("count", "8.5", False),
        ("size", "", True),
    ],
)
def test_texts_are_checked_before_they_become_edits(dimension: str, text: str, good: bool) -> None:
    assert (forms.check(forms.Entry("x", "X", "", dimension=dimension), text) == "") is good


def test_comparing_a_design_with_itself_shows_no_change(design: Design, analysis: Analysis) -> None:
    assert all(not line.cells[3].text for line in compare.lines(design, design, analysis, analysis))


def test_workload_forms_give_back_what_they_were_filled_with() -> None:
    settings = {"from": "gpu0", "to": "gpu1", "both_ways": True, "seed": 3, "size": "1 GiB"}
    entries = workload_forms.entries("transfer", settings)
    texts = {e.name: e.spelled for e in entries}
    assert workload_forms.typed("transfer", texts) == settings


def test_a_zero_that_means_something_is_shown_in_its_words() -> None:
    entries = {e.name: e for e in workload_forms.entries("kvm_migration", {"at_once": 3})}
    assert [entries[n].text for n in ("max_bandwidth", "device_state", "at_once")] == ["none", "0 B", "3"]
    transfer = {e.name: e for e in workload_forms.entries("transfer", {"demand": "0 GB/s"})}
    assert (transfer["size"].text, transfer["demand"].text) == ("a steady stream", "all it can get")
    for text in ("a steady stream", "None", "0 B"):
        assert forms.check(transfer["size"], text) == ""
        assert workload_forms.typed("transfer", {"size": text}) == {}
    assert "1 GiB" in str(workload_forms.typed("transfer", {"size": "1 GiB"}))
    assert forms.check(entries["device_state"], "none")
    spec = workload_forms.new_workload(
        one_server(workloads=[WorkloadSpec(id="transfer", kind="transfer")]), "transfer", "", {}
    )
    assert spec.id == "transfer2"


def test_steps_of_the_history_in_words(design: Design) -> None:
    history = History(design)
    assert [line.cells[0].text for line in steps.lines(history)] == ["Opened"]


def test_figures_hold_what_they_are_made_of_and_can_be_drawn(qtbot: QtBot, design: Design, analysis: Analysis) -> None:
    from designer.gui import theme
    from designer.gui.figures.view import FigureView

    view = FigureView(theme.LIGHT)
    qtbot.addWidget(view)
    view.resize(600, 300)
    view.show()
    drawn = set[str]()
    for result in analysis.workloads:
        for kind in figure_kinds().values():
            figure = kind.build(design, analysis, result)
            if figure is None:
                continue
            drawn.add(kind.name)
            heads, rows = figure.table()
            assert rows
            assert all(len(r) == len(heads) for r in rows)
            view.set_figure(figure)
            view.set_theme(theme.DARK)
            assert not view.grab().isNull()
            if figure.bars and figure.sideways and view._plot is not None:
                rect = view._plot.viewport().rect()
                said = {view.read(QPointF(rect.width() * 0.7, y)) for y in range(0, rect.height(), 4)}
                assert any(name in text for name in figure.y.categories for text in said)
            view.copy_data()
    assert {"flow-stages", "link-utilization", "what-if-gains", "size-sweep"} <= drawn
    view.close()


def test_what_a_workload_is_for_comes_first_and_beside_its_baseline(design: Design) -> None:
    training = next(w for w in analyze(design).workloads if "step_time" in w.metrics)
    figures = [f.name for f in page_of(training, design).figures]
    assert figures[0] in ("time_to_train", "tokens_per_second", "samples_per_second")
    assert "memory_per_gpu" in figures
    step, baseline = training.metrics["step_time"].value, Baseline()
    # the step took twice as long before: half of it is 50 % less, and good
    for before, change, tone in ((2 * step, "−50%", "good"), (step / 2, "+100%", "bad")):
        baseline.known[training.id] = {"step_time": before}
        text, found = baseline.changes(training)["step_time"]
        assert (text.rpartition(", ")[2], found) == (change, tone)
    baseline.pin(training)
    assert not baseline.changes(training)


def test_attributes_and_ids_are_edited_in_the_inspector() -> None:
    design = Design.model_validate(
        {
            "name": "d",
            "parts": [{"id": "nic0", "kind": "nic", "attributes": {"role": "storage"}}, {"id": "gpu0", "kind": "gpu"}],
            "links": [{"id": "l", "a": "gpu0", "b": "nic0", "kind": "pcie"}],
        }
    )
    form = inspector.inspect(design, frozenset({((), Ref("parts", "nic0"))}))
    entries = {e.name: e for section in form.sections for e in section.entries}

    def after(key: str, text: str) -> Design:
        make = entries[key].make
        assert make is not None
        return make(text).apply(design)

    assert after("attributes.role", "vmotion").parts["nic0"].attributes == {"role": "vmotion"}
    assert after("attributes.role", " ").parts["nic0"].attributes == {}
    assert after("attributes", "rack = 7").parts["nic0"].attributes == {"role": "storage", "rack": "7"}
    assert after("id", "first").links["l"].b == "first"
    with pytest.raises(DesignerError, match="no attribute"):
        after("attributes", "seven")
