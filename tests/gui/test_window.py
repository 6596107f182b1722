"""The window as a user meets it: open, edit, analyse, save, find, switch; by mouse, menu and keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QLabel, QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from designer.design.address import Ref
from designer.design.connections import connections_of
from designer.design.document import WorkloadSpec
from designer.design.edits.parts import ChangeParts
from designer.gui.actions._action import all_actions, menus
from designer.gui.dialogs.command_palette import CommandPalette
from designer.gui.documents import Document
from designer.gui.main_window import MainWindow
from designer.gui.session import Session
from designer.gui.start_cards import Card
from designer.gui.window.tabs import cut_apart
from designer.gui.workload_form import take_workload
from designer.interchange.native.reader import load
from tests.designs import one_server

pytestmark = pytest.mark.platform

TEMPLATE = "hgx-h100-8"
GPU0 = ((), Ref("parts", "gpu0"))


def opened(window: MainWindow, qtbot: QtBot, template: str = TEMPLATE) -> Document:
    window.open_template(template)
    document = window.document
    assert document is not None
    qtbot.waitUntil(lambda: document.session.analysis is not None and not document.session.stale, timeout=20_000)
    return document


def test_the_start_page_shows_templates_and_one_opens_analysed(window: MainWindow, qtbot: QtBot) -> None:
    window.begin([])
    assert len(window.start.templates.cards) >= 40
    qtbot.waitUntil(lambda: any(c.has_picture for c in window.start.templates.cards), timeout=20_000)
    window.start.templates.cards[0].opened.emit()
    document = window.document
    assert document is not None
    qtbot.waitUntil(lambda: document.session.result is not None, timeout=20_000)
    assert window.canvas is not None
    assert window.canvas.scene.view_state.loads.known
    assert document.session.result is not None
    assert document.session.result.binding


def test_the_pictures_of_templates_leave_no_connections_behind(window: MainWindow, qtbot: QtBot) -> None:
    connections_of.forget()
    with qtbot.waitSignal(window.start.pictures_painted, timeout=60_000):
        window.begin([])
    assert sum(card.has_picture for card in window.start.templates.cards) > 3
    # one template is analysed to be ready for the first design
    assert len(connections_of) <= 1


def test_an_edit_marks_the_answer_stale_and_a_new_one_comes(window: MainWindow, qtbot: QtBot) -> None:
    session = opened(window, qtbot).session
    first = session.analysis
    link = next(x.id for x in session.design.links.values() if x.kind == "pcie")
    from designer.design.edits.links import ChangeLinks

    with qtbot.waitSignal(session.analysis_changed, timeout=20_000):
        session.apply(ChangeLinks((link,), {"lanes": 8}))
        assert session.stale
    assert not session.stale
    assert session.analysis is not first
    assert window.isWindowModified()
    session.undo()
    assert not window.isWindowModified()


def test_saving_and_opening_again_gives_the_same_design(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    document = opened(window, qtbot)
    document.session.apply(ChangeParts(("gpu0",), {"name": "First"}))
    file = tmp_path / "mine.design.json"
    assert window.files.save_to(document, file)
    assert not document.session.modified
    assert load(file).design == document.session.design
    assert window.settings.recent == [file]
    window.close_document()
    assert window.document is None
    window.open_file(file)
    window.open_file(file)
    assert len(window.workspace.documents) == 1
    assert window.document is not None
    assert window.document.session.design.parts["gpu0"].name == "First"


def test_a_newer_file_is_refused_with_a_message(window: MainWindow, tmp_path: Path) -> None:
    file = tmp_path / "new.design.json"
    file.write_text('{"format": "designer-design", "version": 99, "written_by": "designer 9", "design": {"name": "x"}}')
    window.open_file(file)
    assert window.document is None
    assert any("99" in t.text or "newer" in t.text for t in window.toasts.shown)


def test_every_action_has_an_id_and_title_of_its_own_and_no_shortcut_twice(window: MainWindow) -> None:
    actions = [a for m in menus() for a in m.actions]
    assert len({a.id for a in actions}) == len(actions)
    titles = [(m.title, a.title) for m in menus() for a in m.actions]
    assert len(set(titles)) == len(titles)
    shortcuts = [s for a in actions for s in a.shortcut]
    assert len(set(shortcuts)) == len(shortcuts)
    assert set(window.qt_actions) == set(all_actions())
    for action in actions:
        assert action.id.startswith(("file.", "edit.", "view.", "insert.", "analyze.", "time.", "help."))


#: these ask something and wait, or close the window; they are tested by what they call
ASKING = {
    "file.open",
    "file.save_as",
    "file.save",
    "file.import",
    "file.compare_built",
    "file.export_picture",
    "file.export_selection",
    "file.settings",
    "file.quit",
    "insert.workload",
    "insert.machine",
    "analyze.edit",
    "help.about",
    "help.pages",
}


def test_every_action_runs_with_and_without_a_document(window: MainWindow, qtbot: QtBot) -> None:
    """Each finds the same design with three things selected; a new one is opened where one before left another."""
    warnings: list[str] = []
    design = one_server(workloads=[WorkloadSpec(id="w", kind="transfer")])
    document: Document | None = None
    asked = sorted(set(all_actions()) - ASKING)
    for action_id in asked:
        window.run(action_id)
        close_popups()
        window.workspace.close_all()
        window.show_start()
    for action_id in asked:
        if document is None or window.workspace.documents != [document] or document.session.design is not design:
            window.workspace.close_all()
            document = window.workspace.add(design)
            document.session.warned.connect(warnings.append)
        window.show_document(document)
        document.session.select([GPU0, ((), Ref("parts", "gpu1")), ((), Ref("parts", "gpu2"))])
        window.run(action_id)
        close_popups()
    window.workspace.close_all()
    # three that stand in a row cannot stand in a column without room for it
    assert {text.split(":")[0] for text in warnings} <= {"There is no room"}
    assert all("align" in text for text in warnings)


def close_popups() -> None:
    for popup in QApplication.topLevelWidgets():
        if isinstance(popup, CommandPalette):
            popup.close()


def test_the_command_palette_finds_commands_parts_and_templates(window: MainWindow, qtbot: QtBot) -> None:
    document = opened(window, qtbot)
    palette = CommandPalette(window.choices(), window.theme, "Search", window)
    palette.show()
    qtbot.keyClicks(palette.search, "undo")
    assert palette.shown[0].title.startswith("Undo")
    palette.search.clear()
    qtbot.keyClicks(palette.search, "GPU 3")
    qtbot.keyClick(palette.search, Qt.Key.Key_Return)
    assert document.session.selection == {((), Ref("parts", "gpu3"))}


def test_commands_are_found_by_the_words_people_have_for_them(window: MainWindow, qtbot: QtBot) -> None:
    window.open_template("hgx-h100-8")
    palette = CommandPalette(window.choices(), window.theme, "Search", window)
    palette.show()
    for word in ("link", "cable", "wire", "connect"):
        palette.search.clear()
        qtbot.keyClicks(palette.search, word)
        titles = [entry.title for entry in palette.shown[:8]]
        assert {"Connect selected parts", "Connect selected parts to…"} <= set(titles), titles
    for words in ("new workload", "add a workload"):
        palette.search.clear()
        qtbot.keyClicks(palette.search, words)
        assert palette.shown[0].title == "Workload…"


def test_inserting_from_the_palette_by_keyboard(window: MainWindow, qtbot: QtBot) -> None:
    window.new_document()
    window.search_parts()
    assert window.places is not None
    parts = window.places.parts
    qtbot.keyClicks(parts.search, "ConnectX-7")
    qtbot.keyClick(parts.search, Qt.Key.Key_Return)
    assert window.document is not None
    added = list(window.document.session.design.parts.values())
    assert len(added) == 1
    assert "ConnectX" in window.document.session.design.part_types[added[0].type].title


def test_a_template_put_into_an_empty_design_brings_parts_and_workloads(window: MainWindow, qtbot: QtBot) -> None:
    window.new_document()
    window.requests.drop_template(TEMPLATE, 0, 0)
    assert window.document is not None
    session = window.document.session
    assert sum(p.kind == "gpu" for p in session.design.parts.values()) == 8
    assert session.design.workloads


def test_pasting_a_topology_fills_the_empty_design(window: MainWindow, qtbot: QtBot) -> None:
    matrix = (
        "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\n"
        "GPU0\t X \tNV12\tPXB\t0-31\t0\nGPU1\tNV12\t X \tSYS\t32-63\t1\n"
        "NIC0\tPXB\tSYS\t X \n\nLegend:\n  X    = Self\n"
    )
    QGuiApplication.clipboard().setText(matrix)
    window.new_document()
    empty = window.document
    assert empty is not None
    window.files.paste()
    assert window.document is empty
    assert sum(p.kind == "gpu" for p in empty.session.design.parts.values()) == 2
    assert empty.session.design.workloads
    # what is there already is left alone: another machine is a design of its own
    window.files.paste()
    assert window.document is not empty
    assert len(window.workspace.documents) == 2
    # one undo empties it again
    empty.session.undo()
    assert not empty.session.design.parts
    window.files.offer_import("a letter to a friend")
    assert "nothing that can be pasted" in window.toasts.shown[-1].text
    document = window.workspace.import_bytes(matrix.encode(), "clipboard")
    assert document is not None
    assert sum(p.kind == "gpu" for p in document.session.design.parts.values()) == 2
    assert document.session.modified


def test_files_can_be_dropped(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    from PySide6.QtCore import QUrl

    from designer.interchange.native.writer import save

    file = tmp_path / "dropped.design.json"
    save(one_server(), file)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file))])
    copy, none = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
    window.dropEvent(QDropEvent(QPointF(5, 5), copy, data, Qt.MouseButton.LeftButton, none))
    assert window.document is not None
    assert window.document.session.file == file


def test_selection_is_shared_by_canvas_outline_and_inspector(window: MainWindow, qtbot: QtBot) -> None:
    session = opened(window, qtbot).session
    window.show_panel("outline")
    session.select([GPU0])
    assert window.places is not None
    places = window.places
    qtbot.waitUntil(lambda: places.inspector.title.text() == "GPU 0", timeout=5000)
    places.outline.flush()
    index = places.outline.model.index_of(((), Ref("parts", "cpu1")))
    places.outline.tree.setCurrentIndex(index)
    assert session.selection == {((), Ref("parts", "cpu1"))}


def test_a_value_typed_into_the_inspector_is_one_step_and_marked(window: MainWindow, qtbot: QtBot) -> None:
    session = opened(window, qtbot).session
    session.select([GPU0])
    assert window.places is not None
    inspector = window.places.inspector
    inspector.flush()
    field = inspector.rows["memory_bandwidth"].value
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, "4 TB/s")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert session.design.parts["gpu0"].overrides["memory_bandwidth"].value == "4 TB/s"
    assert len(session.history.steps) == 1
    inspector.flush()
    assert inspector.rows["memory_bandwidth"].entry.overridden
    field = inspector.rows["memory_bandwidth"].value
    field.selectAll()
    qtbot.keyClicks(field, "400 apples")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert session.design.parts["gpu0"].overrides["memory_bandwidth"].value == "4 TB/s"
    assert field.property("wrong")


def test_a_slider_drag_is_a_trial_and_applied_it_is_one_step(window: MainWindow, qtbot: QtBot) -> None:
    session = opened(window, qtbot).session
    link = next(x for x in session.design.links.values() if x.kind == "nvlink")
    session.select([((), Ref("links", link.id))])
    assert window.places is not None
    inspector = window.places.inspector
    inspector.flush()
    before = session.design
    for value in (10, 40, 90, 100):
        inspector.what_if.slider.setValue(value)
    assert session.design is before, "trying changes nothing"
    qtbot.mouseClick(inspector.what_if.apply_, Qt.MouseButton.LeftButton)
    assert len(session.history.steps) == 1
    assert session.design.links[link.id].bandwidth_per_direction == "50 GB/s"


def test_workloads_come_from_a_form_of_their_settings(window: MainWindow, qtbot: QtBot) -> None:
    from designer.gui.dialogs.workload_dialog import WorkloadDialog

    session = opened(window, qtbot).session
    dialog = WorkloadDialog(None, window)
    qtbot.addWidget(dialog)
    dialog.kind.setCurrentIndex(dialog.kind.findData("transfer"))
    texts = {**dialog.texts(), "from": "gpu0", "to": "gpu1"}
    take_workload(session, "transfer", "One to one", texts, new=True)
    made = session.design.workloads[session.workload]
    assert made.title == "One to one"
    assert made.settings == {"from": "gpu0", "to": "gpu1"}
    qtbot.waitUntil(lambda: session.result is not None and session.result.id == made.id, timeout=20_000)


def test_themes_change_everything_at_once(window: MainWindow, qtbot: QtBot) -> None:
    opened(window, qtbot)
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    for name in ("dark", "light"):
        window.set_theme(name)
        assert window.settings.theme == name
        assert window.canvas is not None
        assert window.canvas.scene.theme.name == name
        dark = app.palette().window().color().lightness() < 128
        assert dark == (name == "dark")


def test_a_start_page_out_of_sight_takes_other_colours_when_it_is_looked_at(window: MainWindow, qtbot: QtBot) -> None:
    window.begin([])
    qtbot.waitUntil(lambda: bool(window.start._templates), timeout=20_000)
    window.open_template("m40-server")
    before = list(window.start.findChildren(Card))
    window.set_theme("dark")
    assert {card._theme.name for card in before} == {"light"}
    assert set(window.start.findChildren(Card)) == set(before)
    window.workspace.close_all()
    assert window.start.isVisible()
    shown = [card for card in window.start.findChildren(Card) if card.isVisible()]
    assert len(shown) >= 10
    assert {card._theme.name for card in shown} == {"dark"}


def test_what_is_open_is_remembered(window: MainWindow, qtbot: QtBot) -> None:
    opened(window, qtbot)
    assert window.places is not None
    window.places.bring("findings")
    assert window.places.findings.isVisible()
    window.reset_layout()
    assert window.places.panels["answer"].isVisible()
    window.close()
    assert window.settings.layout("places") is not None


def test_a_picture_can_be_exported(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    opened(window, qtbot)
    for suffix, head in ((".svg", b"<"), (".pdf", b"%PDF"), (".png", b"\x89PNG")):
        file = tmp_path / f"picture{suffix}"
        window.files.write_picture(file)
        assert file.read_bytes().startswith(head)


def test_a_picture_shows_loads_and_can_be_of_the_selection_alone(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    document = opened(window, qtbot)
    whole, part = tmp_path / "whole.svg", tmp_path / "part.svg"
    window.files.write_picture(whole)
    document.session.select([((), Ref("parts", "gpu0"))])
    window.files.write_picture(part, selected_only=True)
    assert "GB/s" in whole.read_text()
    assert 0 < part.read_text().count("<rect") < whole.read_text().count("<rect") / 4
    window.files.write_picture(tmp_path / "missing" / "x.svg")
    assert "there is no folder" in window.toasts.shown[-1].text


def test_old_answers_are_dropped_when_the_design_moved_on(qtbot: QtBot, qapp: QApplication) -> None:
    from designer.gui.workers import LiveAnalysis

    session = Session(one_server(workloads=[WorkloadSpec(id="w", kind="transfer")]))
    live = LiveAnalysis(session)
    seen: list[object] = []
    session.analysis_changed.connect(lambda a: seen.append(session.design))
    for number in range(6):
        session.apply(ChangeParts(("gpu0",), {"kind": "gpu", "name": f"n{number}"}))
    qtbot.waitUntil(lambda: not session.stale, timeout=20_000)
    assert seen
    assert all(d is session.design for d in seen)
    live.close()


def test_loads_are_awaited_until_they_are_there_or_nobody_works_them_out(qtbot: QtBot, qapp: QApplication) -> None:
    from designer.gui.workers import LiveAnalysis

    session = Session(one_server(workloads=[WorkloadSpec(id="w", kind="transfer")]))
    live = LiveAnalysis(session)
    stated: list[tuple[bool, bool]] = []
    session.awaited_changed.connect(lambda awaited: stated.append((awaited, session.analysis is not None)))
    live.refresh()
    assert stated == [(True, False)]
    qtbot.waitUntil(lambda: not session.awaited, timeout=20_000)
    assert stated == [(True, False), (False, True)]
    live.refresh()
    live.stop()
    assert not session.awaited
    live.refresh()
    live.enabled = False
    qtbot.waitUntil(lambda: not session.awaited, timeout=20_000)
    live.close()


def test_menus_open_at_a_point(window: MainWindow, qtbot: QtBot) -> None:
    from PySide6.QtWidgets import QMenu

    session = opened(window, qtbot).session
    window.requests.context(QPoint(100, 100), GPU0)
    assert session.selection == {GPU0}
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert "Duplicate" in [a.text() for a in menu.actions()]
    menu.close()


def test_a_machine_is_pasted_into_the_box(window: MainWindow, qtbot: QtBot) -> None:
    from PySide6.QtTest import QTest

    from designer.gui.dialogs.paste_dialog import COMMANDS, PasteDialog

    window.new_document()
    dialog = PasteDialog(window.files.take_machine, "", window)
    qtbot.addWidget(dialog)
    dialog.show()
    shown = {label.text() for label in dialog.findChildren(QLabel)}
    assert {command for _, command, _ in COMMANDS} <= shown
    assert not dialog.buttons.button(QDialogButtonBox.StandardButton.Ok).isEnabled()
    dialog.text.setPlainText("a letter to a friend")
    dialog.accept()
    assert dialog.isVisible()
    assert dialog.said.text()
    matrix = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV12\t0-31\nGPU1\tNV12\t X \t0-31\n\nLegend:\n"
    dialog.text.setPlainText(matrix)
    dialog.look()
    assert "can be read" in dialog.said.text()
    QTest.keyClick(dialog.text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert not dialog.isVisible()
    assert window.document is not None
    assert sum(p.kind == "gpu" for p in window.document.session.design.parts.values()) == 2


def test_what_a_tool_can_do_is_read_beside_the_buttons(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(1440, 900)
    window.open_template("dgx1-v100")
    hint = window.hint
    qtbot.waitUntil(lambda: hint.text() != "")
    assert hint.isVisible()
    assert hint.width() > hint.fontMetrics().horizontalAdvance(hint.text()) / 2
    painted = hint.grab().toImage()
    assert len({painted.pixel(x, painted.height() // 2) for x in range(painted.width())}) > 1


def test_tabs_of_long_names_are_told_apart() -> None:
    long = "Rail-optimised scalable unit, 32 DGX H100 (256 GPUs), north hall"
    first, second, third = cut_apart([long, f"{long} (2)", f"{long} (13)"])
    assert len({first, second, third}) == 3
    assert second.endswith("… (2)")
    assert max(map(len, (first, second, third))) <= 48
    north, south = cut_apart([long, long.replace("north", "south")])
    assert north.endswith("north hall")
    assert south.endswith("south hall")
    assert cut_apart([long, long]) == [first, first], "designs of one name have a number from elsewhere"
    assert cut_apart(["short", "short (2)"]) == ["short", "short (2)"]


def test_a_part_is_renamed_from_its_menu(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(1440, 900)
    window.open_template("dgx1-v100")
    canvas = window.canvas
    assert canvas is not None
    canvas.session.select([((), Ref("parts", "gpu0"))])
    window.menus.open_context(canvas.mapToGlobal(canvas.rect().center()), on_a_thing=True)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    action = next(a for a in menu.actions() if a.text() == "Rename")
    assert action.isEnabled()
    QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())
    # where no window manager makes it active, the window knows all the same where keys would go
    qtbot.waitUntil(lambda: isinstance(window.focusWidget(), QLineEdit))
    QTest.keyClicks(window.focusWidget(), "left")
    QTest.keyClick(window.focusWidget(), Qt.Key.Key_Return)
    assert canvas.session.design.parts["gpu0"].name == "left"


def test_a_group_is_called_as_what_it_is_made_of(window: MainWindow, qtbot: QtBot) -> None:
    window.new_document()
    canvas = window.canvas
    assert canvas is not None
    canvas.add_part("server", "server/nvidia/dgx-a100")
    canvas.add_part("server", "server/nvidia/dgx-a100")
    session = canvas.session
    second = next(p for p in session.design.parts.values() if p.label == "DGX A100 2")
    session.select([((), Ref("parts", second.id))])
    window.run("edit.group")
    (group,) = session.design.groups.values()
    assert group.label == "DGX A100"
    # the keys go to the number of its members
    qtbot.waitUntil(lambda: isinstance(window.focusWidget(), QLineEdit))
    field = window.focusWidget()
    assert isinstance(field, QLineEdit)
    field.selectAll()
    QTest.keyClicks(field, "4")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert next(iter(session.design.groups.values())).replicas == 4
    session.undo()
    session.undo()
    servers = [p.id for p in session.design.parts.values() if p.kind == "server"]
    session.select([((), Ref("parts", i)) for i in servers])
    window.run("edit.group")
    (group,) = session.design.groups.values()
    assert group.label == "Servers"
