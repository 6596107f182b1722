"""What people come for, from the first click to the answer, by real mouse and key events."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent, QGuiApplication, QKeySequence, QWindow
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from designer.design.address import Address, Ref
from designer.design.edits.groups import SetReplicas
from designer.drawing.compose_text import badge, detail, title
from designer.engine.results import WorkloadResult
from designer.gui.canvas.canvas import Canvas
from designer.gui.canvas.hit import pick
from designer.gui.canvas.tools.drop import TEMPLATE_MIME
from designer.gui.canvas.tools.link import Connect
from designer.gui.dialogs.command_palette import CommandPalette
from designer.gui.dialogs.workload_dialog import WorkloadDialog
from designer.gui.main_window import MainWindow
from designer.gui.panels.inspector import InspectorPanel
from designer.gui.panels.links import LinksPanel
from designer.gui.session import Session
from designer.gui.viewmodels.places import picked_of
from designer.present.answer import figure_text

pytestmark = pytest.mark.platform

LEFT = Qt.MouseButton.LeftButton
CTRL = Qt.KeyboardModifier.ControlModifier
ENTER = Qt.Key.Key_Return
SERVER = "hgx-h100-8"

#: two GPUs joined by NVLink, each behind a PCIe switch with a NIC of its own
TOPOLOGY = """\
\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID
GPU0\t X \tNV18\tPXB\tSYS\t0-47\t0\t\tN/A
GPU1\tNV18\t X \tSYS\tPXB\t48-95\t1\t\tN/A
NIC0\tPXB\tSYS\t X \tSYS\t\t\t\t
NIC1\tSYS\tPXB\tSYS\t X \t\t\t\t

Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
  NV#  = Connection traversing a bonded set of # NVLinks

NIC Legend:

  NIC0: mlx5_0
  NIC1: mlx5_1
"""


class User:
    """Hands on the mouse and the keys of a window."""

    def __init__(self, window: MainWindow, qtbot: QtBot) -> None:
        self.window = window
        self.bot = qtbot

    @property
    def session(self) -> Session:
        document = self.window.document
        assert document is not None
        return document.session

    @property
    def canvas(self) -> Canvas:
        canvas = self.window.canvas
        assert canvas is not None
        return canvas

    @property
    def inspector(self) -> InspectorPanel:
        assert self.window.places is not None
        return self.window.places.inspector

    def ids(self, kind: str) -> list[str]:
        return [p.id for p in self.session.design.parts.values() if p.kind == kind]

    def settled(self) -> WorkloadResult:
        """Wait for the answer that belongs to the design."""
        session = self.session
        self.bot.waitUntil(lambda: session.analysis is not None and not session.stale, timeout=30_000)
        assert session.result is not None
        return session.result

    def insert(self, text: str) -> None:
        """Ctrl+P, type, Enter, as one does by keyboard."""
        self.window.run("insert.part")
        assert self.window.places is not None
        search = self.window.places.parts.search
        search.clear()
        self.bot.keyClicks(search, text)
        self.bot.keyClick(search, ENTER)

    def key(self, key: Qt.Key, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        self.bot.keyClick(self.canvas, key, keys)

    def at(self, part: str, within: Address = (), what: str = "parts") -> QPoint:
        """Where the middle of a thing is drawn."""
        box = self.canvas.scene.box_of((within, Ref(what, part)))  # type: ignore[arg-type]
        assert box is not None
        x, y, w, h = self.canvas.scene.geometry.rect[box].tolist()
        return QPointF(*self.canvas.view.to_view(x + w / 2, y + h / 2)).toPoint()

    def fit(self) -> None:
        self.canvas.zoom_to_fit(animated=False)
        self.canvas.settle()
        QApplication.processEvents()

    def connect(self, a: str, b: str) -> None:
        """Click one part, press C, click the other."""
        before = set(self.session.design.links)
        self.bot.mouseClick(self.canvas, LEFT, pos=self.at(a))
        assert self.session.selection == {((), Ref("parts", a))}
        self.key(Qt.Key.Key_C)
        self.bot.mouseMove(self.canvas, self.at(b))
        self.bot.mouseClick(self.canvas, LEFT, pos=self.at(b))
        assert len(set(self.session.design.links) - before) == 1

    def box(self, part: str, what: str = "parts", within: Address = ()) -> int:
        """Number of the box that shows a thing."""
        found = self.canvas.scene.box_of((within, Ref(what, part)))  # type: ignore[arg-type]
        assert found is not None
        return found

    @property
    def aim(self) -> int:
        """The box that the tool points at."""
        tool = self.canvas.tool
        assert isinstance(tool, Connect)
        return tool.target

    def figures(self) -> str:
        """The figures of the answer as they are read aloud."""
        assert self.window.places is not None
        cells = self.window.places.answer.grid.cells
        return "; ".join(cell.accessibleName() for cell in cells if cell.isVisible())

    def limits(self) -> list[str]:
        """What the answer says limits now."""
        assert self.window.places is not None
        page = self.window.places.answer.page
        return [limit.title for limit in page.limits if limit.now] if page is not None else []

    def on_connection(self, connection: int) -> QPoint:
        """A point where a connection alone is drawn."""
        route = self.canvas.scene.geometry.connection_route[connection]
        for share in (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8):
            for a, b in pairwise(route.tolist()):
                x, y = (p + (q - p) * share for p, q in zip(a, b, strict=True))
                hit = pick(self.canvas.scene.view_state, x, y, self.canvas.view.scale, self.canvas.tile_cache.level)
                if hit.is_connection and hit.number == connection:
                    return QPointF(*self.canvas.view.to_view(x, y)).toPoint()
        raise AssertionError("the wire is hidden behind others")

    def header(self, group: str) -> QPoint:
        """A point in the header of an open group, right of the mark that closes it."""
        x, y, _, _ = self.canvas.scene.geometry.rect[self.box(group, "groups")].tolist()
        return QPointF(*self.canvas.view.to_view(x + 60, y + 10)).toPoint()

    def drag_in(self, text: str) -> None:
        """Search the palette, then drag the first find onto a free place of the canvas."""
        self.window.run("insert.part")
        assert self.window.places is not None
        panel = self.window.places.parts
        panel.search.clear()
        self.bot.keyClicks(panel.search, text)
        panel.flush()
        data = panel.model.mimeData([panel.tree.currentIndex()])
        actions, none = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
        self.fit()
        self.canvas.zoom_by(0.25)
        self.canvas.settle()
        left, top, wide, high = self.canvas.scene.view_state.bounds
        aside = 1300 if data.hasFormat(TEMPLATE_MIME) else 200
        at = QPointF(*self.canvas.view.to_view(left + wide + aside, top + high / 2))
        assert self.canvas.rect().contains(at.toPoint())
        for event in (
            QDragEnterEvent(at.toPoint(), actions, data, LEFT, none),
            QDragMoveEvent(at.toPoint(), actions, data, LEFT, none),
            QDropEvent(at, actions, data, LEFT, none),
        ):
            QApplication.sendEvent(self.canvas, event)

    def fill_dialog(self, texts: dict[str, str]) -> None:
        """Run "Insert ▸ Workload…" and fill in the form that opens."""

        def fill() -> None:
            dialog = next(w for w in QApplication.topLevelWidgets() if isinstance(w, WorkloadDialog) and w.isVisible())
            dialog.kind.setFocus()
            for _ in range(20):
                if dialog.kind_name == "transfer":
                    break
                self.bot.keyClick(dialog.kind, Qt.Key.Key_Down)
            for name, text in texts.items():
                field = dialog.fields[name]
                assert isinstance(field, QLineEdit)
                field.selectAll()
                self.bot.keyClicks(field, text)
            self.bot.keyClick(dialog.title, ENTER)

        QTimer.singleShot(0, fill)
        self.window.run("insert.workload")


@pytest.fixture
def user(window: MainWindow, qtbot: QtBot) -> User:
    window.resize(1440, 900)
    # nothing else does where there is no window manager, and only the window in front hears shortcuts
    window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window, timeout=5000)
    return User(window, qtbot)


def bottleneck(result: WorkloadResult) -> set[str]:
    return {b.id for b in result.binding}


#: two servers, storage and a leaf switch, as one searches for them
PARTS = ("HGX A100 8-GPU (Delta)", "HGX A100 8-GPU (Delta)", "DGX SuperPOD H100 storage", "QM9700")


def ends_of(user: User) -> tuple[str, str, list[str]]:
    """The leaf switch, the storage, and one storage NIC of each server."""
    nics = [n for n in user.ids("nic") if n.startswith("storage_nic")]
    assert len(nics) == 4
    return user.ids("switch")[0], user.ids("storage")[0], nics[::2]


def in_no_others_place(user: User) -> None:
    rects = user.canvas.scene.geometry.rect[user.canvas.scene.geometry.parent < 0]
    for i, one in enumerate(rects):
        for other in rects[i + 1 :]:
            apart = abs(one[:2] + one[2:] / 2 - other[:2] - other[2:] / 2) >= (one[2:] + other[2:]) / 2
            assert apart.any(), "what is inserted covers what was there"


def starts_at_the_nics(user: User, nics: list[str], leaf: str) -> WorkloadResult:
    """The cables of the NICs bind, at the speed of the NICs' ports."""
    result = user.settled()
    assert bottleneck(result) == {f"{nic}--{leaf}:ba" for nic in nics}
    for nic in nics:
        assert user.session.design.links[f"{nic}--{leaf}"].bandwidth_per_direction == "25 GB/s"
    return result


def moves_into_the_servers(user: User, before: WorkloadResult, nics: list[str], leaf: str) -> None:
    """With twice the NICs their slots bind, the rate is higher, and undo takes both back."""
    after = user.settled()
    assert bottleneck(after) == {"cpu0--storage_nic0:ba", "cpu0--storage_nic1:ba"}
    # two ports of 25 GB/s over InfiniBand against two slots of the fourth generation
    assert after.metrics["rate"].value > 1.1 * before.metrics["rate"].value
    for nic in nics:
        assert user.session.design.links[f"{nic}--{leaf}"].bandwidth_per_direction == "50 GB/s"
        assert user.session.design.parts[nic].overrides["bandwidth_per_direction"].value == "100 GB/s"


def test_from_nothing_to_a_moved_bottleneck_by_mouse(user: User) -> None:
    user.window.new_document()
    for text in PARTS:
        user.drag_in(text)
        in_no_others_place(user)
    user.fit()
    assert (len(user.ids("server")), len(user.ids("gpu"))) == (2, 16)
    leaf, storage, nics = ends_of(user)
    for part in (*nics, storage):
        user.connect(part, leaf)
    user.session.select([((), Ref("links", f"{storage}--{leaf}"))])
    user.inspector.flush()
    count = user.inspector.rows["count"].value
    assert isinstance(count, QLineEdit)
    user.bot.mouseDClick(count, LEFT)
    user.bot.keyClicks(count, "4")
    user.bot.keyClick(count, ENTER)
    user.fill_dialog({"from": storage, "to": "gpus"})
    before = starts_at_the_nics(user, nics, leaf)
    assert user.canvas.scene.view_state.loads.known
    user.bot.mouseClick(user.canvas, LEFT, pos=user.at(nics[0]))
    user.bot.mouseClick(user.canvas, LEFT, CTRL, user.at(nics[1]))
    assert user.session.selection == {((), Ref("parts", nic)) for nic in nics}
    user.inspector.flush()
    assert user.inspector.what_if.isVisible()
    assert "All ports together" in user.inspector.what_if.title.text()
    steps = len(user.session.history.steps)
    user.bot.mouseClick(user.inspector.what_if.double, LEFT)
    assert len(user.session.history.steps) == steps, "it is on trial"
    user.bot.mouseClick(user.inspector.what_if.apply_, LEFT)
    moves_into_the_servers(user, before, nics, leaf)
    assert len(user.session.history.steps) == steps + 1, "the NICs and their cables are one step"
    user.session.undo()
    assert user.settled().metrics["rate"].value == before.metrics["rate"].value
    assert bottleneck(user.settled()) == bottleneck(before)


def test_another_type_of_nic_moves_the_bottleneck_too(user: User) -> None:
    user.window.new_document()
    for text in PARTS:
        user.insert(text)
    user.fit()
    leaf, storage, nics = ends_of(user)
    for part in (*nics, storage):
        user.connect(part, leaf)
    user.fill_dialog({"from": storage, "to": "gpus"})
    cable = user.session.design.links[f"{storage}--{leaf}"]
    assert cable.bandwidth_per_direction == "50 GB/s"
    rates: list[float] = []
    user.session.select(((), Ref("parts", nic)) for nic in nics)
    for product in ("InfiniBand NIC, HDR100 100 Gb/s", "InfiniBand NIC, NDR 400 Gb/s"):
        user.inspector.flush()
        box = user.inspector.rows["type"].value
        assert isinstance(box, QComboBox)
        box.setFocus()
        box.showPopup()
        view = box.view()
        # keys within this time belong to the name typed before: the box is the same
        user.bot.wait(QApplication.keyboardInputInterval() + 50)
        user.bot.keyClicks(view, product)
        user.bot.keyClick(view, ENTER)
        result = user.settled()
        rates.append(result.metrics["rate"].value)
        of_nics = {f"{nic}--{leaf}:ba" for nic in nics}
        assert (bottleneck(result) == of_nics) == (len(rates) == 1)
    assert bottleneck(user.settled()) == {f"{storage}--{leaf}:ab"}
    assert rates[1] > 1.5 * rates[0]


class Keys:
    """A user without a mouse: every key is given to the window in front, which finds out whom it is for."""

    def __init__(self, user: User) -> None:
        self.user = user
        self.bot = user.bot

    @property
    def focus(self) -> QWidget:
        # a window comes to the front again only when the event loop has been round
        self.bot.waitUntil(lambda: QApplication.focusWidget() is not None, timeout=2000)
        found = QApplication.focusWidget()
        assert found is not None, "nothing has the focus: the keys are lost"
        return found

    def press(self, *keys: str) -> None:
        """Press shortcuts or keys by name, one after the other."""
        for name in keys:
            code = QKeySequence(name)[0]
            self.bot.keyClick(self._window(), code.key(), code.keyboardModifiers())
            QApplication.processEvents()

    def type(self, text: str) -> None:
        for letter in text:
            self.bot.keyClick(self._window(), letter)

    def _window(self) -> QWindow:
        self.bot.waitUntil(lambda: QGuiApplication.focusWindow() is not None, timeout=2000)
        found = QGuiApplication.focusWindow()
        assert found is not None
        return found

    def tab_to(self, name: str, most: int = 40) -> QWidget:
        """Press Tab until the focus is on the field called so."""
        for _ in range(most):
            if self.focus.accessibleName() == name:
                return self.focus
            self.press("Tab")
        raise AssertionError(f"Tab never comes to {name!r}")

    def place(self, text: str) -> None:
        self.press("Ctrl+P")
        self.type(text)
        self.press("Return")

    def choose(self, text: str, hint: str, then: Callable[[], None] | None = None) -> None:
        """In the list that is open: type, go down to the line with a title or hint, Enter; `then` fills what opens."""
        palette = QApplication.activePopupWidget()
        assert isinstance(palette, CommandPalette)
        self.type(text)
        line = next(n for n, c in enumerate(palette.shown) if hint in (c.title, c.hint, c.hint.split(" ")[-1]))
        self.press(*["Down"] * line)
        if then is not None:
            QTimer.singleShot(0, lambda: closing(then))
        self.press("Return")

    def find(self, part: str) -> None:
        """Ctrl+K, the name of a part, Enter; the canvas has the keys then."""
        self.press("Ctrl+K")
        self.choose(self.user.session.design.parts[part].label, part)
        assert self.user.session.selection == {((), Ref("parts", part))}
        assert self.focus is self.user.canvas


def closing(fill: Callable[[], None]) -> None:
    """Fill a dialog; where that fails the dialog is closed, which otherwise waits for ever."""
    try:
        fill()
    except BaseException:
        dialog = QApplication.activeModalWidget()
        if dialog is not None:
            dialog.close()
        raise


def fill_by_keys(keys: Keys, storage: str) -> None:
    """The form of a new workload, by Tab and typing."""
    keys.tab_to("Kind of workload")
    for _ in range(20):
        dialog = keys.focus.window()
        assert isinstance(dialog, WorkloadDialog)
        if dialog.kind_name == "transfer":
            break
        keys.press("Down")
    for name, text in (("Title", "Storage to all GPUs"), ("from", storage), ("to", "gpus")):
        shown = name if name == "Title" else dialog.fields[name].accessibleName()
        field = keys.tab_to(shown)
        assert isinstance(field, QLineEdit)
        keys.press("Ctrl+A")
        keys.type(text)
    keys.press("Return")


def test_from_nothing_to_a_moved_bottleneck_by_keys_alone(user: User) -> None:
    keys = Keys(user)
    keys.press("Ctrl+N")
    for text in PARTS:
        keys.place(text)
    leaf, storage, nics = ends_of(user)
    in_no_others_place(user)

    # Esc leaves the palette, and arrows move what was placed last
    keys.press("Esc")
    assert keys.focus is user.canvas
    assert user.session.selection == {((), Ref("parts", leaf))}
    was = user.session.design.parts[leaf].position
    assert was is not None
    keys.press("Shift+Right", "Right", "Down")
    now = user.session.design.parts[leaf].position
    assert now is not None
    assert (now.x - was.x, now.y - was.y) == (72, 8)

    # one cable with C and the arrows, the others by name
    keys.find(storage)
    keys.press("C")
    for way in ("Right", "Down", "Left", "Up"):
        last = -2
        while user.aim not in (last, user.box(leaf)):
            last = user.aim
            keys.press(way)
    assert user.aim == user.box(leaf)
    keys.press("Return")
    for nic in nics:
        keys.find(nic)
        keys.press("Ctrl+L")
        keys.choose("QM9700", user.session.design.parts[leaf].label)
        assert keys.focus is user.canvas
    cables = {x.id for x in user.session.design.links.values() if leaf in (x.a, x.b)}
    assert cables == {f"{part}--{leaf}" for part in (storage, *nics)}

    # the workload, and the chooser in the toolbar
    keys.press("Ctrl+K")
    keys.choose("insert workload", "Workload…", lambda: fill_by_keys(keys, storage))
    mine = user.session.workload
    assert user.session.design.workloads[mine].title == "Storage to all GPUs"
    keys.press("Ctrl+Shift+W", "Up", "Return")
    assert user.session.workload != mine
    keys.press("Ctrl+Shift+W", "Down", "Return")
    assert user.session.workload == mine
    user.settled()

    # its cable is found in the Links dock; four of them, in the Inspector
    keys.press("Alt+6")
    keys.tab_to("Filter links")
    keys.type(storage)
    keys.press("Return")
    assert keys.focus.accessibleName() == "Links by utilization"
    assert user.session.selection == {((), Ref("links", f"{storage}--{leaf}"))}
    keys.press("Alt+3")
    keys.tab_to("Parallel links")
    keys.type("4")
    keys.press("Return")
    assert user.session.design.links[f"{storage}--{leaf}"].count == 4
    before = starts_at_the_nics(user, nics, leaf)

    # what limits is read in the answer, and Space shows it
    keys.press("Alt+5")
    assert [keys.focus.accessibleName()] == user.limits()
    assert "NIC" in keys.focus.accessibleName()
    assert figure_text("rate", before.metrics["rate"].value, "B/s") in user.figures()
    keys.press("Space")
    assert {ref.id for _, ref in user.session.selection} == {f"{nic}--{leaf}" for nic in nics}

    for nic in nics:
        keys.find(nic)
        # tried, then taken over
        keys.press("Ctrl+Shift+Up", "Ctrl+Shift+Return")
    moves_into_the_servers(user, before, nics, leaf)
    keys.press("Alt+5")
    assert keys.focus.accessibleName() == user.limits()[0]
    assert "CPU" in keys.focus.accessibleName()
    assert figure_text("rate", user.settled().metrics["rate"].value, "B/s") in user.figures()
    keys.press("Alt+0", "B")
    assert {ref.id for _, ref in user.session.selection} == {"cpu0--storage_nic0", "cpu0--storage_nic1"}
    keys.press("Ctrl+Z", "Ctrl+Z")
    assert user.settled().metrics["rate"].value == before.metrics["rate"].value


def test_a_template_opens_and_shows_its_route_and_loads(user: User) -> None:
    user.window.open_template(SERVER)
    user.settled()
    user.session.set_workload("all-reduce")
    result = user.settled()
    live = user.canvas.scene.view_state.loads
    assert live.known
    geometry = user.canvas.scene.geometry
    assert live.heat[[w for w in range(geometry.n_connections) if "nvlink" in kind_of(user, w)]].max() > 0
    user.canvas.setFocus()
    user.window.run("analyze.binding")
    lit = user.session.highlight
    assert lit == {b.id for b in result.binding}
    assert user.session.selection
    user.key(Qt.Key.Key_Escape)
    assert not user.session.selection


def test_the_links_are_those_of_the_shown_workload(user: User) -> None:
    user.window.open_template(SERVER)
    user.session.set_workload("all-reduce")
    user.settled()
    session = user.session
    every = len(session.design.workloads)
    user.bot.waitUntil(
        lambda: session.analysis is not None and len(session.analysis.workloads) == every, timeout=30_000
    )
    assert session.analysis is not None
    assert {row.kind for row in session.analysis.channels if row.load > 0} == {"nvlink"}


def kind_of(user: User, connection: int) -> str:
    geometry = user.canvas.scene.geometry
    return geometry.connection_kinds[int(geometry.connection_kind[connection])]


def test_a_pasted_topology_becomes_a_drawn_machine(user: User) -> None:
    QGuiApplication.clipboard().setText(TOPOLOGY)
    user.window.run("edit.paste")
    # an empty design is filled at once
    assert "Imported 1 server, 2 GPUs, 2 NICs" in user.window.toasts.shown[-1].text
    assert user.settled().binding
    assert (len(user.ids("gpu")), len(user.ids("nic"))) == (2, 2)
    assert any(x.kind == "nvlink" for x in user.session.design.links.values())
    user.fit()
    rect = user.canvas.scene.geometry.rect
    assert len(rect) == len(user.session.design.parts)
    assert not user.canvas.grab().toImage().isNull()


def test_one_server_of_a_group_is_edited_as_an_exception(user: User) -> None:
    user.window.open_template("su-h100-32")
    user.settled()
    user.fit()
    user.bot.mouseDClick(user.canvas, LEFT, pos=user.at("servers", what="groups"))
    assert not user.session.design.groups["servers"].collapsed
    user.fit()
    shared: Address = (("servers", None),)
    user.bot.mouseClick(user.canvas, LEFT, pos=user.at("gpu0", shared))
    user.inspector.flush()
    bar = user.inspector.members
    assert bar.isVisible()
    assert bar.number.text() == "All 32 equal"
    # the arrow goes to the first member, a number to any
    user.bot.mouseClick(bar.forth, LEFT)
    user.inspector.flush()
    assert user.canvas.members == {shared: 0}
    bar.number.setFocus()
    bar.number.selectAll()
    user.bot.keyClicks(bar.number, "7")
    user.bot.keyClick(bar.number, ENTER)
    user.inspector.flush()
    member: Address = (("servers", 6),)
    assert user.canvas.scene.geometry.blocks[1] == member
    assert user.session.selection == {(member, Ref("parts", "gpu0"))}
    assert title(user.canvas.scene.geometry, user.box("servers", "groups")).endswith("7 of 32")
    assert "makes it differ" in bar.words.text()
    name = user.inspector.rows["name"].value
    assert isinstance(name, QLineEdit)
    user.bot.mouseClick(name, LEFT)
    name.selectAll()
    user.bot.keyClicks(name, "Worn out")
    user.bot.keyClick(name, ENTER)
    group = user.session.design.groups["servers"]
    assert set(group.exceptions) == {6}
    assert group.exceptions[6].parts["gpu0"].name == "Worn out"
    assert group.content.parts["gpu0"].name != "Worn out"
    user.inspector.flush()
    assert "Differs" in bar.words.text()
    # the next one is as it was, and the closed card states that one differs
    user.canvas.setFocus()
    user.key(Qt.Key.Key_Period)
    assert user.canvas.members == {shared: 7}
    assert user.session.design.groups["servers"].member(7).parts["gpu0"].name != "Worn out"
    user.canvas.zoom_to_fit(animated=False)
    user.session.select([((), Ref("groups", "servers"))])
    user.bot.mouseDClick(user.canvas, LEFT, pos=user.header("servers"))
    assert user.session.design.groups["servers"].collapsed
    geometry = user.canvas.scene.geometry
    box = user.box("servers", "groups")
    assert badge(geometry, box) == "×31+1"
    assert detail(geometry, box).startswith("1 differs")
    assert user.settled().binding


def test_a_member_is_chosen_by_keys_alone(user: User) -> None:
    keys = Keys(user)
    user.window.open_template("su-h100-32")
    label = user.session.design.groups["servers"].label
    keys.press("Ctrl+K")
    keys.choose(label, "servers")
    assert user.session.selection == {((), Ref("groups", "servers"))}
    keys.press("M")
    keys.choose("7", f"{label} 7")
    shared: Address = (("servers", None),)
    assert not user.session.design.groups["servers"].collapsed, "a closed group opens"
    assert user.canvas.members == {shared: 6}
    keys.press(",", ",")
    assert user.canvas.members == {shared: 4}
    for _ in range(5):
        keys.press(",")
    assert user.canvas.members == {}, "before the first member comes what all share"
    keys.press(",")
    assert user.canvas.members == {shared: 31}
    # a group that becomes smaller no longer has the member
    user.session.apply(SetReplicas("servers", 4))
    assert user.canvas.members == {}


def test_a_link_and_its_row_choose_each_other(user: User) -> None:
    user.window.open_template(SERVER)
    user.session.set_workload("h2d")
    user.settled()
    user.window.show_panel("links")
    assert user.window.places is not None
    panel = user.window.places.panels["links"]
    assert isinstance(panel, LinksPanel)
    panel.flush()
    last = str(panel.table.lines.lines[-1].key)
    link = picked_of(user.session.design, last)
    assert link is not None
    connection = user.canvas.scene.connections_by_pick[link][0]
    user.fit()
    user.bot.mouseClick(user.canvas, LEFT, pos=user.on_connection(connection))
    assert user.session.selection == {link}
    assert {picked_of(user.session.design, str(k)) for k in panel.table.keys()} == {link}  # noqa: SIM118
    row = panel.table.lines.row_of(last)
    assert row is not None
    shown = panel.table.visualRect(panel.table.lines.index(row, 0))
    assert panel.table.viewport().rect().intersects(shown), "its row is in sight"
    # another answer of the engine keeps the row
    user.window.run("analyze.run")
    user.settled()
    panel.flush()
    assert {picked_of(user.session.design, str(k)) for k in panel.table.keys()} == {link}  # noqa: SIM118
    # and back: a click on a row takes the link, and nothing else
    panel.table.scrollToTop()
    first = panel.table.lines.index(0, 0)
    user.bot.mouseClick(panel.table.viewport(), LEFT, pos=panel.table.visualRect(first).center())
    key = str(panel.table.lines.lines[0].key)
    assert user.session.selection == {picked_of(user.session.design, key)}
    assert user.session.highlight == {key}
    user.session.select(())
    assert not panel.table.keys()


#: renames parts for ever, stating each edit on its output
EDITING = """
import sys, time
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from designer.design.edits.parts import ChangeParts
from designer.gui.app import make_application, make_window
from designer.gui.settings import Settings

app = make_application()
settings = Settings()
settings.reduced_motion, settings.live = True, False
window = make_window(app, settings)
window.show()
window.open_template("hgx-h100-8")
for number in range(1000):
    window.document.session.apply(ChangeParts(("gpu0",), {"name": f"edit {number}"}))
    window.document.session.seal()
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        app.processEvents()
        time.sleep(0.005)
    print(number, flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="kills a process the hard way")
def test_what_was_killed_in_mid_edit_comes_back(user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    with subprocess.Popen(
        [sys.executable, "-c", EDITING], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        stated = [int(child.stdout.readline() or -1) for _ in range(4)]
        child.send_signal(signal.SIGKILL)
        child.wait(10)
    assert stated == [0, 1, 2, 3]
    user.window.begin([])
    user.bot.waitUntil(lambda: user.window.recovery is not None and user.window.recovery.isVisible(), timeout=20_000)
    page = user.window.recovery
    assert page is not None
    assert len(page.entries) == 1
    user.bot.mouseClick(page.restore, LEFT)
    name = user.session.design.parts["gpu0"].name
    assert name.startswith("edit ")
    assert int(name.removeprefix("edit ")) >= stated[-1]
    assert user.session.modified
