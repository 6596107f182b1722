"""Serving in the window: asked for by the form, stated in the flow panel, drawn in its figures."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from designer import analyze
from designer.design.document import WorkloadSpec
from designer.gui import theme
from designer.gui.dialogs.workload_dialog import WorkloadDialog
from designer.gui.dialogs.workload_fields import SettingChoice, SettingText
from designer.gui.main_window import MainWindow
from designer.gui.panels._figures import FiguresPanel
from designer.gui.workload_form import take_workload
from designer.interchange.templates import open_design
from designer.pages.workload import page_of
from designer.present.blocks import State
from designer.report.figure_kinds import figure_kinds

pytestmark = pytest.mark.platform


def test_a_served_model_from_the_form_to_its_figures(window: MainWindow, qtbot: QtBot) -> None:
    window.open_template("edge-jetson-orin")
    document = window.document
    assert document is not None
    session = document.session
    dialog = WorkloadDialog(None, window)
    dialog.kind.setCurrentIndex(dialog.kind.findData("serving"))
    texts = {**dialog.texts(), "weights": "int4", "rate": "0.2 1/s", "prompt": "300", "output": "100", "count": "200"}
    take_workload(session, dialog.kind_name, "Camera questions", texts, new=True)
    dialog.deleteLater()
    qtbot.waitUntil(lambda: session.result is not None and session.result.title == "Camera questions", timeout=20_000)
    assert session.result is not None
    page = page_of(session.result, session.design)
    assert {"ttft_p95", "tpot"} <= {f.name for f in page.figures}
    assert all(f.band for f in page.figures if f.name in ("ttft_p95", "tpot"))
    assert page.limits

    def complete() -> bool:
        return session.result is not None and bool(session.result.curves)

    qtbot.waitUntil(complete, timeout=30_000)
    assert session.analysis is not None
    drawn = {
        name
        for name, kind in figure_kinds().items()
        if name.startswith(("serving-", "roofline")) and kind.build(session.design, session.analysis, session.result)
    }
    assert drawn == {
        "serving-frontier",
        "serving-itl",
        "serving-kv",
        "serving-queue",
        "serving-request",
        "serving-ttft",
        "roofline",
    }


def test_what_one_asks_first_stands_first(window: MainWindow) -> None:
    """Model, load and limits of a served model are in the open group, what is rarely changed in closed ones."""
    dialog = WorkloadDialog(None, window, design=open_design("hgx-h100-8"))
    dialog.kind.setCurrentIndex(dialog.kind.findData("serving"))
    names = {title: [e.name for e in lines] for title, lines in dialog._groups}
    assert {"model", "group", "rate", "prompt", "output", "ttft_limit", "limit_at"} <= set(names["What"])
    assert [title for title, head in dialog.heads.items() if head.isChecked()] == ["What"]
    lengths = dialog.fields["lengths"]
    assert isinstance(lengths, SettingChoice)
    assert lengths.itemText(0) == "prompt and output"
    drafts = dialog.fields["draft"]
    assert isinstance(drafts, SettingText)
    assert drafts.offers is not None
    dialog.deleteLater()


def test_many_figures_are_scrolled_and_not_squeezed(window: MainWindow, qtbot: QtBot) -> None:
    """Six next to each other would make the dock wider than the window has room for."""
    window.open_template("edge-jetson-orin")
    document = window.document
    assert document is not None
    settings = {"model": "llama-3-8b", "weights": "int4", "rate": "0.2 1/s", "output": 100, "count": 100}
    take_workload(document.session, "serving", "Questions", {k: str(v) for k, v in settings.items()}, new=True)
    session = document.session
    qtbot.waitUntil(lambda: session.result is not None and bool(session.result.curves), timeout=30_000)
    panel = FiguresPanel("timeline", "Nothing.", theme.LIGHT)
    qtbot.addWidget(panel)
    panel.resize(700, 240)
    panel.show()
    panel.set_session(session)
    qtbot.waitUntil(lambda: len(panel._views) >= 5, timeout=10_000)
    assert min(view.width() for view in panel._views) >= 280
    assert panel.minimumSizeHint().width() < 700
    # their axes of time are in sight
    assert max(view.height() for view in panel._views) <= panel.area.viewport().height()
    qtbot.waitUntil(lambda: panel.area.horizontalScrollBar().maximum() > 0, timeout=5_000)
    panel.set_session(None)


def test_prompts_and_answers_are_named_apart() -> None:
    """Arithmetic limits prompts, memory bandwidth limits answers: eight GPUs each, not sixteen."""
    design = open_design("serving-h100-8")
    page = page_of(analyze(design, ["chat-70b"]).workloads[0], design)
    now = [limit for limit in page.limits if limit.now]
    assert [(limit.when, limit.title) for limit in now] == [("prompts", "GPU arithmetic"), ("answers", "GPU memory")]
    assert all(limit.detail.startswith("8 ×") for limit in now)


def test_more_than_can_be_answered_is_said_before_any_number() -> None:
    spec = WorkloadSpec(id="chat", kind="serving", settings={"rate": "9000 req/s", "count": 300})
    design = open_design("edge-jetson-orin").model_copy(update={"workloads": {"chat": spec}})
    page = page_of(analyze(design, ["chat"]).workloads[0], design)
    assert page.state is State.MISSED
    assert "9,000" in page.headline
    assert not [f for f in page.figures if f.name.startswith(("ttft", "latency"))]
