"""Serving in the window: asked for by the form, told in the flow panel, drawn in its figures."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from designer.gui.dialogs.workload_dialog import WorkloadDialog
from designer.gui.main_window import MainWindow
from designer.gui.viewmodels import flow
from designer.gui.workload_form import take_workload
from designer.report.figure import figure_kinds

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
    view = flow.flow_view(session.result)
    assert [n.name for n in view.numbers[:4]] == ["ttft", "tpot", "tokens_per_second", "knee_requests_per_second"]
    assert all(n.band for n in view.numbers[:2])
    assert view.binding is not None

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
