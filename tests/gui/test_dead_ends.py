"""Small things that left a person without a way on: each says what it does, or does it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from designer.design.address import Ref
from designer.design.edits.groups import SetReplicas
from designer.drawing.compose_boxes import plates
from designer.gui import files
from designer.gui.dialogs.question import QuestionDialog
from designer.gui.dialogs.workload_dialog import WorkloadDialog
from designer.gui.main_window import MainWindow
from designer.gui.viewmodels import workloads
from designer.gui.viewmodels.forms import Entry, check, with_unit
from designer.interchange.native.held import Owner
from designer.interchange.native.writer import Conflict, save
from designer.interchange.templates import open_design


@pytest.mark.parametrize(
    ("dimension", "shown", "typed", "taken"),
    [
        ("frequency", "1/s", "20", "20/s"),
        ("frequency", "as trained", "20", "20/s"),
        ("duration", "10 min", "45", "45 min"),
        ("duration", "none", "45", "45"),
        ("rate", "400 Gb/s", "800", "800 Gb/s"),
        ("size", "1 GiB", "2", "2 GiB"),
        ("size", "1 GiB", "2 GB", "2 GB"),
        ("ratio", "0.5", "0.7", "0.7"),
        ("text", "gpus", "7", "7"),
    ],
)
def test_a_bare_number_takes_the_unit_the_field_shows(dimension: str, shown: str, typed: str, taken: str) -> None:
    entry = Entry("x", "X", shown, shown, dimension)
    assert with_unit(entry, typed) == taken
    # where no unit is shown a number stays ambiguous, and is refused as before
    assert bool(check(entry, typed)) == (dimension == "duration" and shown == "none")


def test_requests_are_typed_without_their_unit(window: MainWindow, qtbot: QtBot) -> None:
    design = open_design("serving-h100-8")
    spec = design.workloads["chat-70b"]
    dialog = WorkloadDialog(spec, window, design=design)
    dialog.show()
    field = dialog.fields["rate"]
    assert isinstance(field, QLineEdit)
    assert " 1/s" not in field.text()
    field.selectAll()
    QTest.keyClicks(field, "20")
    assert not dialog.problem.isVisible()
    assert workloads.typed("serving", dialog.texts())["rate"] == "20/s"
    dialog.close()
    dialog.deleteLater()


def test_a_default_however_it_is_spelled_is_no_setting() -> None:
    assert "rate" not in workloads.typed("serving", {"rate": "1/s"})
    assert workloads.typed("serving", {"rate": "60/min"}).get("rate") is None
    assert workloads.typed("serving", {"rate": "2/s"})["rate"] == "2/s"


def test_a_search_for_templates_that_finds_none_says_so_and_is_gone_next_time(window: MainWindow, qtbot: QtBot) -> None:
    window.show_start()
    start = window.start
    QTest.keyClicks(start.search, "zzzz")
    assert not start.templates.cards
    assert start.nothing.isVisible()
    assert "zzzz" in start.nothing.text()
    window.open_template("m40-server")
    window.show_start()
    assert start.search.text() == ""
    assert start.templates.cards
    assert not start.nothing.isVisible()


def test_tidy_that_changes_nothing_says_so(window: MainWindow, qtbot: QtBot) -> None:
    window.open_template("hgx-h100-8")
    assert window.document is not None
    session = window.document.session
    session.select([((), Ref("parts", "gpu0"))])
    window.run("edit.tidy")
    said: list[str] = []
    session.message.connect(said.append)
    done = session.history.done
    window.run("edit.tidy")
    assert said == ["Everything is in place already"]
    assert session.history.done == done


def test_a_file_that_is_only_open_elsewhere_was_not_changed(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mine.design.json"
    save(open_design("m40-server"), file)
    window.open_file(file)
    document = window.document
    assert document is not None
    asked: list[QuestionDialog] = []

    def answer(dialog: QuestionDialog) -> str:
        asked.append(dialog)
        return "cancel"

    monkeypatch.setattr(files, "ask", answer)
    who = Owner("someone", "node7", 1, 0.0)
    window.files.ask_about(document, file, Conflict("in use", file, document.digest, who))
    window.files.ask_about(document, file, Conflict("changed", file, "another", who))
    assert [d.windowTitle() for d in asked] == ["File in use", "File changed"]
    for dialog in asked:
        dialog.deleteLater()


def test_a_group_of_one_is_no_stack(window: MainWindow, qtbot: QtBot) -> None:
    window.open_template("su-h100-32")
    assert window.document is not None
    assert window.canvas is not None
    session, canvas = window.document.session, window.canvas

    def layers() -> int:
        scene = canvas.scene
        box = scene.box_of(((), Ref("groups", "servers")))
        assert box is not None
        return len(plates(scene.view_state, canvas.frame(), np.array([box], dtype=np.int64)))

    many = layers()
    session.apply(SetReplicas("servers", 1))
    assert layers() == many - 2


def test_the_minimap_gives_way_to_what_is_selected(window: MainWindow, qtbot: QtBot) -> None:
    window.open_template("hgx-h100-8")
    assert window.document is not None
    assert window.canvas is not None
    session, canvas = window.document.session, window.canvas
    qtbot.waitUntil(lambda: session.analysis is not None, timeout=60_000)
    session.select(())
    box = canvas.scene.box_of(((), Ref("parts", "gpu0")))
    assert box is not None
    x, y, _, _ = (float(v) for v in canvas.scene.geometry.rect[box])
    scale = 1.5
    # GPU 0 in the lower right corner, below the minimap
    canvas.camera.view = canvas.camera.view.__class__(
        scale, canvas.width() - 90 - x * scale, canvas.height() - 60 - y * scale, canvas.width(), canvas.height()
    )
    session.select([((), Ref("parts", "gpu0"))])
    canvas._place_minimap()  # pyright: ignore[reportPrivateUsage]
    assert not canvas.minimap.isVisible()
    session.select(())
    canvas._place_minimap()  # pyright: ignore[reportPrivateUsage]
    assert canvas.minimap.isVisible()
