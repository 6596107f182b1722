"""The layer of virtual machines on the canvas, by real mouse events on the shipped cluster."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from designer.design.address import Ref
from designer.design.document import Design, Part, Position, VirtualMachine, VmDevice
from designer.design.edits.placement import Place, SetCollapsed
from designer.design.edits.vms import AddVms, ChangeVms, RemoveVms
from designer.design.naming import in_names
from designer.drawing.batches import Labels
from designer.drawing.compose_virtual_machines import _fitting_name, chosen_chips, counts_only, virtual_machines
from designer.drawing.fonts import text_width
from designer.drawing.levels import Level
from designer.drawing.machines import machines_of
from designer.drawing.picture import compose
from designer.drawing.trays import Trays
from designer.gui.canvas import machine_moves
from designer.gui.canvas.canvas import Canvas
from designer.gui.canvas.tools.move_vm import MoveMachine
from designer.gui.controls import Label
from designer.gui.main_window import MainWindow
from designer.gui.panels._entry_rows import ValueField
from designer.gui.panels._widgets import ElidedLink
from designer.gui.panels.inspector import InspectorPanel
from designer.gui.panels.migration import MigrationPanel
from designer.gui.panels.tables import TablesPanel
from designer.gui.session import Session

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


class User:
    """Hands on the machines of an open design."""

    def __init__(self, window: MainWindow, bot: QtBot, template: str) -> None:
        self.window, self.bot = window, bot
        window.open_template(template)
        self.warnings: list[str] = []
        self.said: list[str] = []
        self.session.warned.connect(self.warnings.append)
        self.session.message.connect(self.said.append)

    @property
    def session(self) -> Session:
        assert self.window.document is not None
        return self.window.document.session

    @property
    def canvas(self) -> Canvas:
        assert self.window.canvas is not None
        return self.window.canvas

    @property
    def trays(self) -> Trays:
        found = self.canvas.scene.view_state.trays
        assert found is not None
        return found

    def wait(self) -> None:
        """Until the layer shows the present design."""
        self.bot.waitUntil(self._fresh, timeout=20_000)
        self.canvas.settle()

    def _fresh(self) -> bool:
        machines = self.canvas.scene.machines
        vms = self.session.design.vms
        return (machines is None) if not vms else machines is not None and machines.design.vms is vms

    def chip(self, vm: str) -> QPoint:
        at = [c.id for c in self.trays.chips].index(vm)
        return self._middle(*self.trays.chip_rect[at].tolist())

    def row(self, host: str) -> QPoint:
        at = [r.host for r in self.trays.rows].index(host)
        return self._middle(*self.trays.row_rect[at].tolist())

    def _middle(self, x: float, y: float, w: float, h: float) -> QPoint:
        return QPointF(*self.canvas.view.to_view(x + w / 2, y + h / 2)).toPoint()

    def drag(self, vm: str, to: QPoint) -> None:
        """Take a chip to a point, without letting go."""
        start = self.chip(vm)
        QTest.mouseMove(self.canvas, start)
        QTest.mousePress(self.canvas, LEFT, NONE, start)
        QTest.mouseMove(self.canvas, start + QPoint(8, 8))
        QTest.mouseMove(self.canvas, to)

    def drop(self, vm: str, host: str) -> None:
        to = self.row(host)
        self.drag(vm, to)
        QTest.mouseRelease(self.canvas, LEFT, NONE, to)

    def host_of(self, vm: str) -> str:
        """The host in whose row the chip is."""
        at = [c.id for c in self.trays.chips].index(vm)
        return self.trays.rows[int(self.trays.row_of[at])].host


@pytest.fixture
def user(window: MainWindow, qtbot: QtBot) -> User:
    made = User(window, qtbot, "vsphere-cluster-4")
    made.wait()
    return made


def test_every_machine_is_a_chip_in_the_row_of_its_host(user: User) -> None:
    design = user.session.design
    assert {c.id for c in user.trays.chips} == set(design.vms)
    for vm in design.vms.values():
        assert user.host_of(vm.id) == vm.host
    stated = {c.id: c.detail for c in user.trays.chips}
    assert stated["infer0"] == "20C"
    assert stated["etl0"] == "16 vCPUs"


def test_trays_cover_nothing_and_are_in_sight(user: User) -> None:
    geometry, view = user.canvas.scene.geometry, user.canvas.view
    for x, y, w, h in user.trays.rect.tolist():
        assert not len(user.canvas.scene.view_state.boxes.index.touching(x, y, w, h))
        left, top = view.to_view(x, y)
        right, bottom = view.to_view(x + w, y + h)
        assert left >= 0
        assert top >= 0
        assert right <= user.canvas.width()
        assert bottom <= user.canvas.height()
    assert len(geometry)
    chips = user.trays.chip_rect
    for k, (x, y, w, h) in enumerate(chips.tolist()):
        others = [c for j, c in enumerate(chips.tolist()) if j != k]
        assert not any(x < a + c and a < x + w and y < b + d and b < y + h for a, b, c, d in others)


def test_a_drop_is_one_step_and_tells_the_migration(user: User) -> None:
    done = user.session.history.done
    user.drop("infer0", "hosts[2]/server")
    assert not user.warnings
    vm = user.session.design.vms["infer0"]
    assert vm.host == "hosts[2]/server"
    assert vm.devices[0].part in ("hosts[2]/gpu0", "hosts[2]/gpu1")
    assert user.session.history.done == done + 1
    assert user.session.history.undo_label == "Move Inference 0 to ESXi host 3"
    assert user.host_of("infer0") == "hosts[2]/server"
    moved = user.session.migration
    assert moved is not None
    metrics = moved.result.metrics
    assert metrics["migration_time"].value > metrics["switchover_time"].value >= metrics["stun_time"].value > 0
    assert any("vmotion" in b.label for b in moved.result.binding)
    assert user.said[-1] == moved.text
    for word in ("in all", "switch-over", "GPU stun", "bound by"):
        assert word in moved.text
    shown = [t.text for t in user.window.toasts.shown]
    assert in_names(user.session.design, moved.text) in shown
    assert not any("hosts[" in text for text in shown)


def test_undo_brings_the_machine_back_and_forgets_the_migration(user: User) -> None:
    before = user.session.design
    user.drop("infer0", "hosts[2]/server")
    user.session.undo()
    assert user.session.design is before
    assert user.session.migration is None
    user.wait()
    assert user.host_of("infer0") == "hosts[0]/server"
    user.session.redo()
    user.wait()
    assert user.host_of("infer0") == "hosts[2]/server"


def test_the_migration_dock_comes_to_the_front(user: User) -> None:
    user.drop("etl0", "hosts[0]/server")
    places = user.window.places
    assert places is not None
    panel = places.panels["migration"]
    assert isinstance(panel, MigrationPanel)
    user.bot.waitUntil(lambda: panel.isVisible() and not panel.visibleRegion().isEmpty(), timeout=5000)
    panel.flush()
    assert user.session.migration is not None
    assert panel.summary.accessibleName() == user.session.migration.text
    assert [f.title for f in panel.figures()] == ["Memory left to move, by machine"]
    assert user.canvas.hasFocus() or not user.window.isActiveWindow()
    # a machine without a GPU is not stunned
    assert "stun" not in user.session.migration.text
    user.session.set_workload("vmotion")
    panel.flush()
    assert user.session.migration is None
    assert panel.summary.isHidden()


@pytest.mark.parametrize(
    ("vm", "host", "why"),
    [
        ("train0", "hosts[2]/server", "frame buffer"),
        ("train0", "hosts[1]/server", "taken"),
    ],
)
def test_a_host_without_such_a_gpu_refuses(user: User, vm: str, host: str, why: str) -> None:
    before = user.session.design
    user.drop(vm, host)
    assert user.session.design is before
    assert len(user.warnings) == 1
    assert user.warnings[0].startswith("Training 0 stays: ")
    assert why in user.warnings[0]
    assert user.session.migration is None


def test_too_much_memory_refuses(user: User) -> None:
    user.session.apply(ChangeVms(("etl0",), {"memory": "690 GiB"}))
    user.wait()
    before = user.session.design
    user.drop("etl0", "hosts[0]/server")
    assert user.session.design is before
    assert "memory" in user.warnings[-1]


def test_a_passed_through_device_keeps_its_machine(user: User) -> None:
    device = VmDevice(kind="passthrough", part="hosts[0]/nvme0")
    user.session.apply(ChangeVms(("web0",), {"devices": (device,)}))
    user.wait()
    before = user.session.design
    user.drop("web0", "hosts[1]/server")
    assert user.session.design is before
    assert "passed through" in user.warnings[-1]


def test_hosts_light_up_while_a_chip_is_dragged(user: User) -> None:
    theme = user.canvas.scene.theme
    user.drag("infer0", user.row("hosts[2]/server"))
    tool = user.canvas.tool
    assert isinstance(tool, MoveMachine)
    assert tool.verdict("hosts[2]/server").ok
    assert not tool.verdict("hosts[1]/server").ok
    frame = user.canvas.frame()
    region = (0.0, 0.0, float(user.canvas.width()), float(user.canvas.height()))
    fills = {getattr(b, "fill", "") for b in tool.overlay(frame, region)}
    assert theme.good + "26" in fills
    assert theme.bad + "26" in fills
    user.canvas.repaint()
    assert user.canvas.last_calls <= 400
    before = user.session.design
    QTest.keyClick(user.canvas, Qt.Key.Key_Escape)
    assert not isinstance(user.canvas.tool, MoveMachine)
    QTest.mouseRelease(user.canvas, LEFT, NONE, user.row("hosts[2]/server"))
    assert user.session.design is before


def test_a_drop_beside_every_host_changes_nothing(user: User) -> None:
    before = user.session.design
    user.drag("infer0", QPoint(5, 5))
    QTest.mouseRelease(user.canvas, LEFT, NONE, QPoint(5, 5))
    user.drop("infer0", "hosts[0]/server")
    assert user.session.design is before
    assert not user.warnings


def test_a_click_selects_the_machine(user: User) -> None:
    QTest.mouseClick(user.canvas, LEFT, NONE, user.chip("lab0"))
    assert user.session.selection == frozenset({((), Ref("vms", "lab0"))})
    # its chip is framed
    frame, view_state = user.canvas.frame(), user.canvas.scene.view_state
    assert chosen_chips(view_state, frame, {"lab0"})
    assert not chosen_chips(view_state, frame, set())
    region = (0.0, 0.0, float(user.canvas.width()), float(user.canvas.height()))
    assert len(user.canvas.tool.overlay(frame, region)) >= len(chosen_chips(view_state, frame, {"lab0"}))


def test_the_layer_is_hidden_and_shown(user: User) -> None:
    action = user.window.qt_actions["view.machines"]
    user.window.update_actions()
    assert action.isChecked()
    at = user.chip("infer0")
    user.window.run("view.machines")
    assert not action.isChecked()
    assert user.canvas.scene.view_state.trays is None
    QTest.mousePress(user.canvas, LEFT, NONE, at)
    assert not isinstance(user.canvas.tool, MoveMachine)
    QTest.mouseRelease(user.canvas, LEFT, NONE, at)
    user.window.run("view.machines")
    assert action.isChecked()
    assert len(user.trays.chips) == len(user.session.design.vms)


def test_trays_follow_their_box_and_stay_while_groups_open(user: User) -> None:
    before = user.trays.rect.copy()
    user.session.apply(Place({Ref("groups", "hosts"): (400, 640)}))
    assert user.trays.rect[0, 1] > before[0, 1]
    user.session.apply(SetCollapsed((Ref("groups", "hosts"),), False))
    user.wait()
    assert len(user.trays.rows) == 4
    gpus = {user.canvas.scene.geometry.refs[box].id for box in user.trays.gpu_box.tolist()}
    assert gpus == {"gpu0", "gpu1"}


def test_without_machines_there_is_no_layer(user: User) -> None:
    user.session.apply(RemoveVms(tuple(user.session.design.vms)))
    user.wait()
    assert user.canvas.scene.view_state.trays is None


def test_a_machine_no_host_takes_is_reported_and_can_be_placed(user: User) -> None:
    user.session.apply(AddVms((VirtualMachine(id="big", name="Big", memory="9000 GiB"),)))
    user.wait()
    assert user.host_of("big") == ""
    user.drop("big", "hosts[2]/server")
    assert "memory" in user.warnings[-1]
    assert user.session.design.vms["big"].host is None


@pytest.mark.parametrize("template", ["hgx-a100-4", "hgx-h100-8"])
def test_nvlinks_a_machine_switches_off_are_drawn_as_cut(window: MainWindow, qtbot: QtBot, template: str) -> None:
    user = User(window, qtbot, template)
    whole = VmDevice(kind="vgpu", profile="80C")
    user.session.apply(AddVms((VirtualMachine(id="one", name="One", vcpus=4, memory="64 GiB", devices=(whole,)),)))
    user.wait()
    geometry = user.canvas.scene.geometry
    gpu = int(user.trays.gpu_box[0])
    cut = user.trays.cut
    assert len(cut) == {"hgx-a100-4": 3, "hgx-h100-8": 4}[template]
    assert all(gpu in (geometry.connection_a[w], geometry.connection_b[w]) for w in cut.tolist())
    assert all(geometry.connection_kinds[int(geometry.connection_kind[w])] == "nvlink" for w in cut.tolist())
    user.canvas.zoom_to(0.8)
    view_state, frame = user.canvas.scene.view_state, user.canvas.frame()
    assert frame.level is Level.NEAR
    region = ((-4000.0, -4000.0, 9000.0, 9000.0),)
    dashed = [b for b in compose(view_state, frame, region) if getattr(b, "colour", "") == view_state.theme.bad]
    assert any(getattr(b, "dash", ()) for b in dashed)


def test_the_nvlinks_of_a_device_group_lead_to_its_own_gpus_only(window: MainWindow, qtbot: QtBot) -> None:
    user = User(window, qtbot, "hgx-h100-8")
    pair = VmDevice(kind="device_group", count=2)
    user.session.apply(AddVms((VirtualMachine(id="pair", vcpus=4, memory="64 GiB", devices=(pair,)),)))
    user.wait()
    assert len(user.trays.gpu_box) == 2
    assert not len(user.trays.cut)
    assert len(user.trays.fenced) == 8
    assert user.trays.chips[0].cut == 6


def test_a_message_after_one_that_went_away(user: User) -> None:
    first = user.window.toasts.say("one")
    first.leave()
    user.bot.waitSignal(first.destroyed, timeout=2000)
    user.bot.wait(20)
    user.window.toasts.say("Two")
    assert [t.text for t in user.window.toasts.shown] == ["Two"]


def test_many_machines_cost_few_calls_and_are_counted(qtbot: QtBot) -> None:
    parts: list[Part] = []
    vms: list[VirtualMachine] = []
    for k in range(40):
        at = Position(x=k % 8 * 560, y=k // 8 * 260)
        parts += [Part(id=f"s{k}", kind="server", collapsed=True, position=at)]
        parts += [Part(id=f"c{k}", kind="cpu", parent=f"s{k}")]
        vms += [VirtualMachine(id=f"v{k}-{j}", host=f"s{k}", memory="1 GiB") for j in range(6)]
    design = Design(name="many", parts={p.id: p for p in parts}, vms={v.id: v for v in vms})
    canvas = Canvas(Session(design))
    qtbot.addWidget(canvas)
    canvas.camera.animated = False
    canvas.resize(1600, 1000)
    canvas.show()
    canvas.set_machines(machines_of(design))
    region = ((0.0, 0.0, 1600.0, 1000.0),)
    stated: dict[float, list[str]] = {}
    for scale in (0.45, 1.0):
        canvas.zoom_to(scale)
        canvas.tile_cache.drop()
        canvas.repaint()
        assert canvas.last_calls <= 400
        batches = virtual_machines(canvas.scene.view_state, canvas.frame(), region)
        stated[scale] = [label.text for b in batches if isinstance(b, Labels) for label in b.labels]
    assert "6 VMs" in stated[0.45]
    assert not any(text.startswith("v") for text in stated[0.45])
    assert any(text.startswith("v") for text in stated[1.0])
    canvas.hide()


def test_the_inspector_edits_a_machine_with_undo(user: User) -> None:
    places = user.window.places
    assert places is not None
    panel = places.panels["inspector"]
    assert isinstance(panel, InspectorPanel)
    QTest.mouseClick(user.canvas, LEFT, NONE, user.chip("infer0"))
    panel.flush()
    assert panel.title.text() == "Inference 0"
    field = panel.rows["memory"].value
    assert isinstance(field, ValueField)
    before = user.session.design
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "96 apples")
    assert field.property("wrong")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert user.session.design is before
    field.selectAll()
    QTest.keyClicks(field, "96 GiB")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert user.session.design.vms["infer0"].memory == "96 GiB"
    assert user.session.history.undo_label == "Change memory of VM infer0"
    user.session.undo()
    assert user.session.design is before
    panel.flush()
    # what the document refuses is stated, and nothing changes
    panel.rows["host"].entered.emit("hosts[9]/server")
    assert "there is no host" in user.warnings[-1]
    assert user.session.design is before


def test_a_move_counts_the_workload_that_is_shown(user: User) -> None:
    user.session.apply(AddVms((VirtualMachine(id="far", host="hosts[0]/server", memory="64 GiB"),)))
    user.wait()
    rates: dict[str, float] = {}
    for shown in ("vmotion", "storage-to-gpus", "all-reduce"):
        user.session.set_workload(shown)
        user.drop("far", "hosts[2]/server")
        moved = user.session.migration
        assert moved is not None
        rates[shown] = moved.result.metrics["rate"].value
        assert [row[0] for row in moved.result.tables["background"].rows]
        user.session.undo()
        user.wait()
    assert rates["storage-to-gpus"] == pytest.approx(rates["vmotion"])


def test_a_heavy_move_is_worked_out_beside_the_window(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_moves, "HEAVY", 1)
    before = user.session.design
    user.drop("infer0", "hosts[2]/server")
    # the window goes on; the answer comes later
    assert user.session.design is before
    assert "Working out" in user.said[-1]
    user.bot.waitUntil(lambda: user.session.design is not before, timeout=20_000)
    assert user.session.design.vms["infer0"].host == "hosts[2]/server"
    assert user.session.migration is not None
    user.wait()
    # an answer for a design that has moved on is dropped
    user.drop("infer1", "hosts[0]/server")
    user.session.apply(ChangeVms(("web0",), {"vcpus": 3}))
    now = user.session.design
    user.bot.waitUntil(lambda: bool(user.warnings), timeout=20_000)
    assert "has changed meanwhile" in user.warnings[-1]
    assert user.session.design is now


def test_a_machine_is_taken_from_a_tray_that_only_counts(user: User) -> None:
    user.canvas.zoom_to(0.36)
    user.canvas.settle()
    frame, view_state = user.canvas.frame(), user.canvas.scene.view_state
    assert frame.level is not Level.FAR
    assert counts_only(view_state, frame)
    start = user.chip("infer0")
    QTest.mouseMove(user.canvas, start)
    QTest.mousePress(user.canvas, LEFT, NONE, start)
    tool = user.canvas.tool
    assert isinstance(tool, MoveMachine)
    QTest.mouseMove(user.canvas, start + QPoint(12, 12))
    QTest.mouseMove(user.canvas, user.row("hosts[2]/server"))
    region = (0.0, 0.0, float(user.canvas.width()), float(user.canvas.height()))
    labels = [label for b in tool.overlay(frame, region) if isinstance(b, Labels) for label in b.labels]
    assert "Inference 0" in {label.text for label in labels}
    QTest.mouseRelease(user.canvas, LEFT, NONE, user.row("hosts[2]/server"))
    assert user.session.design.vms["infer0"].host == "hosts[2]/server"


def test_beside_its_chips_a_small_tray_gives_the_nearest(user: User) -> None:
    trays = user.trays
    for number, (x, y, w, h) in enumerate(trays.chip_rect.tolist()):
        assert trays.nearest_chip(x + w / 2, y + h / 2) == number
        assert trays.nearest_chip(x + w + 1, y + h / 2) in {number, number + 1}
    assert trays.nearest_chip(-1e6, -1e6) == -1


def test_tables_and_findings_call_hosts_as_the_drawing_does(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(1440, 900)
    window.open_template("vsphere-cluster-4")
    document, places = window.document, window.places
    assert document is not None
    assert places is not None
    session = document.session
    session.set_workload("evacuate")
    qtbot.waitUntil(lambda: session.result is not None and session.result.id == "evacuate" and not session.stale)
    for name in ("tables", "findings", "answer"):
        window.show_panel(name)
        places.panels[name].flush()
    tables, findings = places.panels["tables"], places.findings
    assert isinstance(tables, TablesPanel)
    shown = [cell.text for line in tables.table.lines.lines for cell in line.cells]
    assert "ESXi host 1" in shown
    shown += [cell.text for line in findings.table.lines.lines for cell in line.cells]
    assert any("ESXi host 2, GPU 0" in text for text in shown)
    shown += [label.full for label in places.answer.findChildren(ElidedLink)]
    shown += [label.text() for label in places.answer.findChildren(Label)]
    assert not [text for text in shown if "hosts[" in text]


@pytest.mark.parametrize("room", [200.0, 60.0, 44.0, 24.0, 8.0])
def test_hosts_beside_their_machines_keep_their_numbers_in_little_room(room: float) -> None:
    names = [_fitting_name(f"ESXi hosts {k}", room, 11.0) for k in range(1, 13)]
    assert len(set(names)) == 12
    assert all(name.endswith(str(k)) for k, name in enumerate(names, 1))
    assert room < 20 or all(text_width(name, 11.0, bold=True) <= room for name in names)
    assert _fitting_name("racks[3]/hosts[7]", 30.0, 11.0) == "[7]"
