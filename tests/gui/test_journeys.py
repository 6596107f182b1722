"""What people come for, from the first click to the answer, by real mouse and key events."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from designer.analysis.results import WorkloadResult
from designer.design.address import Address, Ref
from designer.gui.canvas.canvas import Canvas
from designer.gui.dialogs.command_palette import CommandPalette
from designer.gui.dialogs.workload_dialog import WorkloadDialog
from designer.gui.main_window import MainWindow
from designer.gui.panels.inspector import InspectorPanel
from designer.gui.session import Session

LEFT = Qt.MouseButton.LeftButton
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
        assert self.window.docks is not None
        return self.window.docks.inspector

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
        assert self.window.docks is not None
        search = self.window.docks.parts.search
        search.clear()
        self.bot.keyClicks(search, text)
        self.bot.keyClick(search, ENTER)

    def key(self, key: Qt.Key, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        self.bot.keyClick(self.canvas, key, keys)

    def at(self, part: str, within: Address = (), what: str = "parts") -> QPoint:
        """Where the middle of a thing is drawn."""
        box = self.canvas.scenery.box_of((within, Ref(what, part)))  # type: ignore[arg-type]
        assert box is not None
        x, y, w, h = self.canvas.scenery.geometry.rect[box].tolist()
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

    def connect_by_keys(self, a: str, b: str) -> None:
        """Find one part by name, press C, go to the other with the arrows."""
        before = set(self.session.design.links)
        self.find(a)
        self.key(Qt.Key.Key_C)
        want = self.canvas.scenery.box_of(((), Ref("parts", b)))
        tool = self.canvas.tool
        for way in (Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Down, Qt.Key.Key_Up):
            last = -2
            while tool.target not in (want, last):  # type: ignore[attr-defined]
                last = tool.target  # type: ignore[attr-defined]
                self.key(way)
        assert tool.target == want  # type: ignore[attr-defined]
        self.key(ENTER)
        assert len(set(self.session.design.links) - before) == 1

    def inspector_double_click(self) -> None:
        """The × 2 button by mouse."""
        self.bot.mouseClick(self.inspector.what_if.double, LEFT)

    def inspector_double_key(self) -> None:
        """The × 2 button by the space bar."""
        self.inspector.what_if.double.setFocus()
        self.bot.keyClick(self.inspector.what_if.double, Qt.Key.Key_Space)

    def find(self, part: str) -> None:
        """Search everything for a part and take it."""
        palette = CommandPalette(self.window.choices(), self.window.theme, "Search", self.window)
        palette.show()
        self.bot.keyClicks(palette.search, self.session.design.parts[part].label)
        wanted = next(n for n, c in enumerate(palette.shown) if c.hint == part)
        for _ in range(wanted):
            self.bot.keyClick(palette.search, Qt.Key.Key_Down)
        self.bot.keyClick(palette.search, ENTER)
        assert self.session.selection == {((), Ref("parts", part))}

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
    return User(window, qtbot)


def bound(result: WorkloadResult) -> set[str]:
    return {b.id for b in result.binding}


def from_nothing_to_a_moved_bottleneck(
    user: User, connect: Callable[[str, str], None], double: Callable[[], None]
) -> None:
    """Two servers, a leaf switch and storage: what starves the GPUs, and what does once that is doubled."""
    user.window.new_document()
    for text in ("HGX H100 8-GPU (Delta-Next)", "HGX H100 8-GPU (Delta-Next)", "Jean Zay", "QM9700"):
        user.insert(text)
    user.fit()
    rects = user.canvas.scenery.geometry.rect[user.canvas.scenery.geometry.parent < 0]
    for i, one in enumerate(rects):
        for other in rects[i + 1 :]:
            apart = abs(one[:2] + one[2:] / 2 - other[:2] - other[2:] / 2) >= (one[2:] + other[2:]) / 2
            assert apart.any(), "what is inserted covers what was there"
    assert (len(user.ids("server")), len(user.ids("gpu"))) == (2, 16)
    leaf, storage = user.ids("switch")[0], user.ids("storage")[0]
    nics = [n for n in user.ids("nic") if n.startswith("storage_nic")][::2]
    for part in (*nics, storage):
        connect(part, leaf)
    user.fill_dialog({"from": storage, "to": "gpus"})
    before = user.settled()
    assert user.session.design.workloads[user.session.workload].settings["from"] == storage
    assert user.canvas.scenery.stage.live.known
    cables = {x.id for x in user.session.design.links.values() if leaf in (x.a, x.b)}
    assert bound(before)
    assert {channel[:-3] for channel in bound(before)} <= cables
    after = before
    for _ in range(4):
        if bound(after) != bound(before):
            break
        rate = after.metrics["rate"].value
        user.window.run("analyze.binding")
        user.inspector.flush()
        assert user.inspector.what_if.isVisible()
        double()
        after = user.settled()
        assert after.metrics["rate"].value > rate
    assert bound(after) - bound(before), "something else binds once that is wide enough"
    while user.session.design.workloads and bound(user.settled()) != bound(before):
        user.session.undo()
    assert user.settled().metrics["rate"].value < after.metrics["rate"].value


def test_from_nothing_to_a_moved_bottleneck_by_mouse(user: User) -> None:
    from_nothing_to_a_moved_bottleneck(user, user.connect, user.inspector_double_click)


def test_from_nothing_to_a_moved_bottleneck_by_keys_alone(user: User) -> None:
    from_nothing_to_a_moved_bottleneck(user, user.connect_by_keys, user.inspector_double_key)


def test_a_template_opens_and_shows_its_route_and_loads(user: User) -> None:
    user.window.open_template(SERVER)
    user.settled()
    user.session.set_workload("all-reduce")
    result = user.settled()
    live = user.canvas.scenery.stage.live
    assert live.known
    geometry = user.canvas.scenery.geometry
    assert live.heat[[w for w in range(geometry.n_wires) if "nvlink" in kind_of(user, w)]].max() > 0
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


def kind_of(user: User, wire: int) -> str:
    geometry = user.canvas.scenery.geometry
    return geometry.wire_kinds[int(geometry.wire_kind[wire])]


def test_a_pasted_topology_becomes_a_drawn_machine(user: User) -> None:
    QGuiApplication.clipboard().setText(TOPOLOGY)
    user.window.run("edit.paste")
    toast = user.window.toasts.shown[-1]
    assert "describes a machine" in toast.text
    user.bot.mouseClick(toast.findChildren(QPushButton)[0], LEFT)
    assert user.settled().binding
    assert (len(user.ids("gpu")), len(user.ids("nic"))) == (2, 2)
    assert any(x.kind == "nvlink" for x in user.session.design.links.values())
    user.fit()
    rect = user.canvas.scenery.geometry.rect
    assert len(rect) == len(user.session.design.parts)
    assert not user.canvas.grab().toImage().isNull()


def test_one_server_of_a_group_is_edited_as_an_exception(user: User) -> None:
    user.window.open_template("su-h100-32")
    user.settled()
    user.fit()
    group = user.session.design.groups["servers"]
    user.bot.mouseDClick(user.canvas, LEFT, pos=user.at("servers", what="groups"))
    assert not user.session.design.groups["servers"].collapsed
    member: Address = (("servers", 3),)
    user.session.reveal([(member, Ref("parts", "gpu0"))])
    user.inspector.flush()
    name = user.inspector.rows["name"].value
    assert isinstance(name, QLineEdit)
    name.setFocus()
    name.selectAll()
    user.bot.keyClicks(name, "Worn out")
    user.bot.keyClick(name, ENTER)
    group = user.session.design.groups["servers"]
    assert set(group.exceptions) == {3}
    assert group.exceptions[3].parts["gpu0"].name == "Worn out"
    assert group.content.parts["gpu0"].name != "Worn out"
    assert user.settled().binding


#: renames parts for ever, telling each edit on its output
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
        told = [int(child.stdout.readline() or -1) for _ in range(4)]
        child.send_signal(signal.SIGKILL)
        child.wait(10)
    assert told == [0, 1, 2, 3]
    user.window.begin([])
    user.bot.waitUntil(lambda: bool(user.window.toasts.shown), timeout=5000)
    toast = user.window.toasts.shown[-1]
    assert "Unsaved work" in toast.text
    user.bot.mouseClick(toast.findChildren(QPushButton)[0], LEFT)
    name = user.session.design.parts["gpu0"].name
    assert name.startswith("edit ")
    assert int(name.removeprefix("edit ")) >= told[-1] - 1
    assert user.session.modified
