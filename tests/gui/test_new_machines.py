"""Virtual machines and hosts made in the window; what an evacuation leaves behind is said first."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialogButtonBox
from pytestqt.qtbot import QtBot

from designer.analysis.study import analyze
from designer.design.address import Ref
from designer.design.document import Design
from designer.drawing.machines import machines_of
from designer.engine.results import WorkloadResult
from designer.gui.dialogs.machine_dialog import MachineDialog
from designer.gui.main_window import MainWindow
from designer.gui.session import Session
from designer.gui.viewmodels import new_machine
from designer.interchange.templates import open_design
from designer.pages.workload import page_of
from designer.present.blocks import State

CLUSTER = "vsphere-cluster-4"


@pytest.fixture(scope="module")
def cluster() -> Design:
    return open_design(CLUSTER)


def opened(window: MainWindow, template: str = CLUSTER) -> Session:
    window.open_template(template)
    assert window.document is not None
    return window.document.session


def test_a_machine_with_a_virtual_gpu_on_the_selected_host(window: MainWindow) -> None:
    """Select a host, ask for a machine, choose a profile: it stands there, and one step back takes it away."""
    session = opened(window)
    before = session.design
    stated: list[str] = []
    session.select([((("hosts", 2),), Ref("parts", "server"))])

    def fill() -> None:
        dialog = next(w for w in QApplication.topLevelWidgets() if isinstance(w, MachineDialog) and w.isVisible())
        QTest.keyClicks(dialog.name, "Chat")
        dialog.profile.setCurrentIndex(dialog.profile.findData("vgpu:grid_a100d-20c"))
        dialog.look()
        stated.append(dialog.state.text())
        dialog.buttons.button(QDialogButtonBox.StandardButton.Ok).click()
        if dialog.isVisible():
            dialog.reject()

    QTimer.singleShot(0, fill)
    window.run("insert.machine")
    assert stated[0].startswith("It will run on ESXi host 3"), stated
    made = next(vm for vm in session.design.vms.values() if vm.id not in before.vms)
    assert (made.name, made.host, made.devices[0].profile) == ("Chat", "hosts[2]/server", "grid_a100d-20c")
    placed = machines_of(session.design).placement.placed[made.id]
    assert placed.host.path == "hosts[2]/server"
    assert session.selection == {((), Ref("vms", made.id))}
    session.undo()
    assert session.design.vms == before.vms


def test_what_finds_no_place_is_refused_with_the_reason(qtbot: QtBot, cluster: Design) -> None:
    dialog = MachineDialog(cluster, "hosts[0]/server")
    qtbot.addWidget(dialog)
    ok = dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
    assert ok.isEnabled()
    for text, words in (("64", "Memory"), ("9000 TiB", "memory"), ("-4 GiB", "")):
        dialog.memory.setText(text)
        dialog.look()
        assert not ok.isEnabled()
        assert words in dialog.state.text()
    dialog.memory.setText("64 GiB")
    dialog.profile.setCurrentIndex(dialog.profile.findData("vgpu:grid_a100d-80c"))
    dialog.count.setValue(8)
    dialog.look()
    assert not ok.isEnabled()
    assert dialog.machine is None
    dialog.accept()
    assert dialog.result() != MachineDialog.DialogCode.Accepted


def test_like_another_machine(qtbot: QtBot, cluster: Design) -> None:
    dialog = MachineDialog(cluster)
    qtbot.addWidget(dialog)
    dialog.like.setCurrentIndex(dialog.like.findData("infer0"))
    dialog.look()
    assert dialog.machine is not None
    known = cluster.vms["infer0"]
    made = dialog.machine
    assert (made.vcpus, made.memory, made.dirty_rate) == (known.vcpus, known.memory, known.dirty_rate)
    assert [d.profile for d in made.devices] == [d.profile for d in known.devices]
    assert made.id not in cluster.vms
    assert made.host is None


def test_hosts_are_offered_as_the_drawing_names_them(cluster: Design) -> None:
    drawn = [row.title for row in machines_of(cluster).hosts]
    assert [choice.title.partition("  ·  ")[0] for choice in new_machine.host_choices(cluster)] == drawn
    # and the template's evacuation names the host it empties by the same name
    spec = cluster.workloads["evacuate"]
    row = next(row for row in machines_of(cluster).hosts if row.path == spec.settings["hosts"])
    assert spec.title == f"Empty {row.title}"


def test_one_more_host_of_a_group_and_back(window: MainWindow) -> None:
    session = opened(window)
    before = len(machines_of(session.design).hosts)
    window.run("insert.host")
    hosts = machines_of(session.design).placement.hosts.hosts
    assert len(hosts) == before + 1
    assert hosts[-1].migration_nics, "it is connected as the others"
    session.undo()
    assert len(machines_of(session.design).hosts) == before


def test_a_copy_of_a_single_host_is_connected_as_it_is(window: MainWindow) -> None:
    session = opened(window, "dgx-a100")
    ways = new_machine.new_hosts(session.design)
    assert [way.title for way in ways] == [f"A copy of {session.design.parts['server'].label}"]
    count = sum(p.kind == "gpu" for p in session.design.parts.values())
    window.run("insert.host")
    assert sum(p.kind == "gpu" for p in session.design.parts.values()) == 2 * count
    session.undo()
    assert sum(p.kind == "gpu" for p in session.design.parts.values()) == count


def test_an_evacuation_that_leaves_machines_behind_says_so_first(cluster: Design) -> None:
    """On hosts[3] a GPU is passed through: its machine cannot move, and that comes before how long the others take."""

    def emptied(host: str) -> WorkloadResult:
        changes = {"settings": {"hosts": host}, "title": "Empty it"}
        spec = cluster.workloads["evacuate"].model_copy(update=changes)
        design = cluster.model_copy(update={"workloads": {"evacuate": spec}})
        return analyze(design, ["evacuate"], curves=False).workloads[0]

    found = {host: emptied(f"hosts[{host}]/server") for host in range(4)}
    staying = {host: "machines_staying" in result.metrics for host, result in found.items()}
    assert set(staying.values()) == {True, False}
    for host, result in found.items():
        page = page_of(result, cluster)
        if staying[host]:
            count = round(result.metrics["machines_staying"].value)
            assert page.chip == f"{count} machine{'s stay' if count > 1 else ' stays'}"
            assert page.state is State.PARTLY
        else:
            assert page.state is State.ANSWERED


def test_no_host_no_machine(window: MainWindow) -> None:
    window.new_document()
    window.update_actions()
    assert not window.qt_actions["insert.machine"].isEnabled()
    assert window.qt_actions["insert.host"].isEnabled()
