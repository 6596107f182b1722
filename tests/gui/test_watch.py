"""A running machine and a fabric as built, in the window: found by menu and search, lit on the drawing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from designer.decisions.as_built import compare_built
from designer.decisions.watching import Counter
from designer.decisions.worth_of_differences import built_design, costs
from designer.design.document import Design, with_changes
from designer.engine.network import build_network
from designer.gui.dialogs.command_palette import CommandPalette
from designer.gui.main_window import MainWindow
from designer.gui.panels import built
from designer.gui.panels.built import BuiltPanel
from designer.gui.panels.watch import WatchPanel
from designer.gui.session import Session
from designer.interchange.counters import Reading, Recording, dumps
from designer.interchange.generating import generate
from designer.interchange.importing import read_any
from designer.interchange.native.writer import save
from designer.present.numbers import percent
from tests.unit.decisions.test_watching import exporter_of, prometheus_of, wait_for

PLAN = [
    ("h1", 1, "leaf1", 1),
    ("h2", 1, "leaf1", 2),
    ("h3", 1, "leaf2", 1),
    ("h4", 1, "leaf2", 2),
    ("h5", 1, "leaf2", 3),
    ("leaf1", 10, "spine1", 1),
    ("leaf1", 11, "spine1", 2),
    ("leaf2", 10, "spine1", 3),
    ("leaf2", 11, "spine1", 4),
]
BUILT = [
    *PLAN[:3],
    ("h4", 1, "leaf1", 3),
    *PLAN[4:8],
    ("h1", 2, "leaf1", 5),
]
LEFT = Qt.MouseButton.LeftButton
#: what all NICs do of the prediction, and one of them
_SHARE, _SLOW = 0.8, 0.5


@pytest.fixture(scope="module")
def pod() -> Design:
    return generate("rail-optimized", {"nodes": "4", "unit": "4"}, {"server": "dgx-h100", "switch": "qm9700"})


def _recording(pod: Design) -> str:
    """All NICs send and receive 80 % of what the all-reduce puts on their cables; NIC 2 of the third server half of
    that.
    """
    from designer.analysis.study import run_workload

    network = build_network(pod)
    loads = run_workload(network, pod.workloads["all-reduce"])[1]
    assert loads is not None
    net, rows = network.net, list[Reading]()
    for i in range(net.n_links):
        nic = net.part(int(net.link_a[i]))
        if nic.kind == "nic" and net.link(i).kind == "infiniband":
            host = net.path(int(net.link_a[i])).split("/")[0].replace("[", "-").replace("]", "")
            share = _SHARE * (_SLOW if (host, nic.attributes["vendor_name"]) == ("servers-2", "mlx5_4") else 1.0)
            rows += [
                Reading(name, host, nic.attributes["vendor_name"], float(loads.load[2 * i + way]) * share)
                for way, name in enumerate(("nic_transmit", "nic_receive"))
            ]
    return dumps(Recording(1.7e9, "5m", tuple(rows)))


def _open(window: MainWindow, qtbot: QtBot, pod: Design, folder: Path) -> Session:
    save(pod, folder / "pod.design.json")
    window.open_file(folder / "pod.design.json")
    assert window.document is not None
    session = window.document.session
    qtbot.waitUntil(lambda: session.analysis is not None or not session.workload, timeout=30_000)
    return session


def dump_of(cables: list[tuple[str, int, str, int]]) -> bytes:
    """``ibnetdiscover -p`` of cables between nodes; names that begin with h are adapters of hosts."""
    names = sorted({end for a, _, b, _ in cables for end in (a, b)})
    guid = {name: f"0x{at:016x}" for at, name in enumerate(names, start=1)}

    def end(name: str, port: int) -> str:
        return f"{'CA' if name.startswith('h') else 'SW'} 1 {port} {guid[name]}"

    def said(name: str) -> str:
        return f"{name} mlx5_0" if name.startswith("h") else name

    lines: list[str] = []
    for a, ap, b, bp in cables:
        for x, xp, y, yp in ((a, ap, b, bp), (b, bp, a, ap)):
            lines.append(f"{end(x, xp)} 4x NDR - {end(y, yp)} ( '{said(x)}' - '{said(y)}' )")
    return "\n".join(lines).encode()


def _search(window: MainWindow, words: str) -> None:
    """Ctrl+K, some words, Enter."""
    QTest.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    palette = window.findChild(CommandPalette)
    assert palette is not None
    QTest.keyClicks(palette.search, words)
    QTest.keyClick(palette.search, Qt.Key.Key_Return)


def test_a_recording_is_watched_over_the_drawing(
    window: MainWindow, qtbot: QtBot, pod: Design, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The link of the slow NIC is named, marked and selected by a click on its row; the others show 80 %."""
    session = _open(window, qtbot, pod, tmp_path)
    record = tmp_path / "r.json"
    record.write_text(_recording(pod))
    _search(window, "prometheus")
    assert window.places is not None
    panel = window.places.panels["watch"]
    assert isinstance(panel, WatchPanel)
    qtbot.waitUntil(panel.isVisible)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(record), ""))
    QTest.mouseClick(panel.record, LEFT)
    qtbot.waitUntil(lambda: session.overlay is not None, timeout=30_000)
    text = panel.view.headline.text()
    assert text.startswith("The link at NVIDIA DGX H100 (8 × H100) 3, NIC 2 is not what it should be"), text
    assert "50% of what its equals do" in text
    overlay, net = session.overlay, build_network(pod).net
    assert overlay is not None
    (marked,) = overlay.marked
    number = next(i for i in range(net.n_links) if net.link_path(i) == marked)
    assert net.path(int(net.link_a[number])) == "servers[2]/nic2"
    used = overlay.state.utilization[2 * number : 2 * number + 2]
    assert used == pytest.approx([_SHARE * _SLOW] * 2)
    others = [u for i, u in enumerate(overlay.state.utilization.tolist()) if i // 2 != number and u == u]
    assert others == pytest.approx([_SHARE] * 62), "the other 31 cables both ways"
    canvas = window.canvas
    assert canvas is not None
    assert canvas.scene.view_state.loads.failed.any(), "the cable is marked on the drawing"
    session.select(())
    table = panel.view.table
    qtbot.waitUntil(lambda: table.isVisible() and table.height() > 20)
    QTest.mouseClick(table.viewport(), LEFT, pos=table.visualRect(table.model().index(0, 0)).center())
    assert {ref.id for _, ref in session.selection} == {"rails", "nic2"}
    QTest.mouseClick(panel.clear, LEFT)
    assert session.overlay is None
    qtbot.waitUntil(lambda: not canvas.scene.view_state.loads.failed.any())


def test_counters_of_an_hour_are_replayed_on_the_drawing(
    window: MainWindow, qtbot: QtBot, pod: Design, tmp_path: Path
) -> None:
    """Sound, slow, sound: the last time is shown first; the slider and Play mark the cable only at the second."""
    session = _open(window, qtbot, pod, tmp_path)
    slow = json.loads(_recording(pod))["readings"]
    usual = {name: max(r[3] for r in slow if r[0] == name) for name, *_ in slow}
    sound = [[name, host, device, usual[name]] for name, host, device, _ in slow]
    instants = [
        Recording(1.7e9 + 60 * k, "1m", tuple(Reading(*r) for r in rows)) for k, rows in enumerate((sound, slow, sound))
    ]
    (tmp_path / "hour.json").write_text(dumps(*instants))
    window.run("file.watch")
    assert window.places is not None
    panel = window.places.panels["watch"]
    assert isinstance(panel, WatchPanel)
    qtbot.waitUntil(panel.isVisible)
    assert not panel.head.isVisible()
    panel.open(tmp_path / "hour.json")
    qtbot.waitUntil(lambda: session.overlay is not None, timeout=30_000)
    qtbot.waitUntil(panel.head.isVisible)
    assert (panel.head.value(), panel.head.maximum()) == (2, 2)
    assert session.overlay is not None
    assert not session.overlay.marked
    QTest.keyClick(panel.head, Qt.Key.Key_Left)
    assert len(session.overlay.marked) == 1
    assert "(2 of 3)" in panel.job.state.text()
    panel._next.setInterval(20)
    panel.head.setValue(2)
    seen: list[int] = []
    panel.head.valueChanged.connect(seen.append)
    QTest.mouseClick(panel.play, LEFT)
    qtbot.waitUntil(lambda: not panel._next.isActive(), timeout=10_000)
    assert seen == [0, 1, 2]
    assert panel.play.text() == "Play"


def test_a_server_that_fails_gives_one_message(window: MainWindow, qtbot: QtBot, pod: Design, tmp_path: Path) -> None:
    session = _open(window, qtbot, pod, tmp_path)
    window.run("file.watch")
    assert window.places is not None
    panel = window.places.panels["watch"]
    assert isinstance(panel, WatchPanel)
    qtbot.waitUntil(panel.isVisible)
    QTest.keyClicks(panel.address, "http://127.0.0.1:9")
    QTest.mouseClick(panel.follow, LEFT, pos=QPoint(8, panel.follow.height() // 2))
    qtbot.waitUntil(lambda: panel.job.problem.isVisible(), timeout=30_000)
    assert "does not answer" in panel.job.problem.text()
    assert not panel.job.busy
    assert not panel._again.isActive(), "it is not asked again and again"
    assert session.overlay is None


def test_a_fabric_as_built_is_lit_and_priced(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of nine cables one is missing, one leads to another leaf and one is not drawn: each is marked, the two that are
    not drawn are drawn over the design, and a click on a row selects the cable.
    """
    (tmp_path / "plan.txt").write_bytes(dump_of(PLAN))
    (tmp_path / "built.txt").write_bytes(dump_of(BUILT))
    design = read_any(str(tmp_path / "plan.txt")).design
    session = _open(window, qtbot, design, tmp_path)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(tmp_path / "built.txt"), ""))
    window.run("file.compare_built")
    assert window.places is not None
    panel = window.places.panels["built"]
    assert isinstance(panel, BuiltPanel)
    qtbot.waitUntil(lambda: session.overlay is not None, timeout=60_000)
    overlay = session.overlay
    assert overlay is not None
    assert panel.view.headline.text() == "Of 9 cables 1 is missing, 1 leads elsewhere; 1 is not drawn."
    assert sorted(overlay.state.words.values()) == ["missing", "moved away"]
    assert [word for _, _, word in overlay.strays] == ["moved here", "extra"]
    canvas = window.canvas
    assert canvas is not None
    qtbot.waitUntil(lambda: bool(canvas.scene.view_state.loads.failed.any()))
    assert canvas._strays == overlay.strays
    qtbot.waitUntil(lambda: panel.view.table.isVisible() and panel.view.table.height() > 20)
    session.select(())
    table = panel.view.table
    row = next(
        n
        for n, line in enumerate(table.lines.lines)
        if line.cells[0].text == "Missing" and "spine1" in line.cells[1].text
    )
    QTest.mouseClick(table.viewport(), LEFT, pos=table.visualRect(table.model().index(row, 0)).center())
    assert {ref.what for _, ref in session.selection} == {"links"}
    QTest.mouseClick(panel.clear, LEFT)
    qtbot.waitUntil(lambda: not canvas.scene.view_state.loads.failed.any())
    assert not canvas._strays


def test_what_differs_is_priced_on_the_workloads(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every uplink at a quarter of its rate: the all-reduce of the drawing loses what it loses with such uplinks."""
    made = generate("leaf-spine", {"nodes": "8", "ports": "8", "gpus": "1"})
    plan = with_changes(made, wirings={**made.wirings, "spine": with_changes(made.wirings["spine"], count=2)})
    spine = with_changes(plan.wirings["spine"], bandwidth_per_direction="100 Gb/s")
    slow = with_changes(plan, wirings={**plan.wirings, "spine": spine})
    monkeypatch.setattr(built, "read_any", lambda _file: SimpleNamespace(design=slow))
    session = _open(window, qtbot, plan, tmp_path)
    window.show_panel("built")
    assert window.places is not None
    panel = window.places.panels["built"]
    assert isinstance(panel, BuiltPanel)
    panel.compare(tmp_path / "slow.txt")
    qtbot.waitUntil(lambda: session.overlay is not None or panel.job.problem.isVisible(), timeout=60_000)
    share = costs(plan, built_design(plan, compare_built(plan, slow).differences))[0].share
    assert share < 1
    assert f"loses {percent(1 - share)}" in panel.view.headline.text(), panel.job.problem.text()


@pytest.mark.long
@pytest.mark.skipif(shutil.which("prometheus") is None, reason="no Prometheus server (Debian: prometheus) is here")
def test_a_real_server_is_followed(window: MainWindow, qtbot: QtBot, pod: Design, tmp_path: Path) -> None:
    """A server scrapes an exporter whose NIC mlx5_4 of the third server runs at half rate: the window names its link,
    asks again, and says once that the server is gone.
    """
    session = _open(window, qtbot, pod, tmp_path)
    readings = json.loads(_recording(pod))["readings"]
    rows = [Counter(*reading) for reading in readings]
    window.run("file.watch")
    assert window.places is not None
    panel = window.places.panels["watch"]
    assert isinstance(panel, WatchPanel)
    with exporter_of(rows) as exporter, prometheus_of(tmp_path, exporter) as url:
        wait_for(url, len(rows))
        panel.window_.setCurrentIndex(panel.window_.findData("30s"))
        QTest.keyClicks(panel.address, url)
        QTest.mouseClick(panel.job.go, LEFT)
        qtbot.waitUntil(lambda: session.overlay is not None, timeout=60_000)
        assert "3, NIC 2 is not what it should be" in panel.view.headline.text()
        first = session.overlay
        panel._again.setInterval(200)
        QTest.mouseClick(panel.follow, LEFT, pos=QPoint(8, panel.follow.height() // 2))
        qtbot.waitUntil(lambda: session.overlay is not first, timeout=60_000)
    qtbot.waitUntil(lambda: panel.job.problem.isVisible(), timeout=60_000)
    assert "does not answer" in panel.job.problem.text()
    assert not panel._again.isActive()
