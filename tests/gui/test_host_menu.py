"""Hosts and virtual machines are emptied, moved and failed from their menu and from the search."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from designer.design.address import Ref
from designer.gui.main_window import MainWindow
from designer.gui.session import Session
from designer.pages.workload import page_of


@pytest.fixture
def session(window: MainWindow) -> Session:
    window.open_template("vsphere-cluster-4")
    assert window.document is not None
    return window.document.session


def choose(window: MainWindow, title: str) -> None:
    """Run what Ctrl+K finds by its title."""
    window.update_actions()
    entry = next(one for one in window.choices() if one.title == title)
    assert entry.enabled
    entry.run()


def test_a_host_is_emptied_and_the_headline_names_who_stays(window: MainWindow, session: Session, qtbot: QtBot) -> None:
    session.select([((("hosts", 1),), Ref("parts", "server"))])
    steps = len(session.history.steps)
    choose(window, "Empty host")
    assert len(session.history.steps) == steps + 1
    spec = session.design.workloads[session.workload]
    assert spec.settings == {"hosts": "hosts[1]/server"}
    qtbot.waitUntil(lambda: session.result is not None and not session.stale, timeout=30_000)
    result = session.result
    assert result is not None
    page = page_of(result, session.design)
    stays = [str(row[0]) for row in result.tables["machines"].rows if row[3] == "stays"]
    assert ("stay" in page.headline) == bool(stays)
    # asked again, the workload there is shown
    session.select([((("hosts", 1),), Ref("parts", "server"))])
    choose(window, "Empty host")
    assert len(session.history.steps) == steps + 1


def test_a_machine_moves_to_a_host_that_takes_it_and_others_say_why_not(
    window: MainWindow, session: Session, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    session.select([((), Ref("vms", "lab0"))])
    offered: list[object] = []
    monkeypatch.setattr(window, "offer", lambda choices, hint: offered.extend(choices))
    choose(window, "Move virtual machine to…")
    assert len(offered) == 4
    refused = [one for one in offered if not one.enabled]  # type: ignore[attr-defined]
    assert all(one.hint for one in refused)  # type: ignore[attr-defined]
    assert "it runs here already" in {one.hint for one in refused}  # type: ignore[attr-defined]
    free = next(one for one in offered if one.enabled)  # type: ignore[attr-defined]
    before = session.design.vms["lab0"].host
    free.run()  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: session.design.vms["lab0"].host != before, timeout=10_000)


def test_a_host_fails_in_the_run(window: MainWindow, session: Session, qtbot: QtBot) -> None:
    assert window.document is not None
    session.select([((("hosts", 0),), Ref("parts", "server"))])
    choose(window, "Fail now")
    assert [e.path for e in window.document.player.scenario.events] == ["hosts[0]/server"]
    qtbot.waitUntil(lambda: not window.document.player.busy, timeout=60_000)  # type: ignore[union-attr]


def test_designs_without_machines_have_no_such_entries(window: MainWindow) -> None:
    window.open_template("hgx-h100-8")
    assert window.document is not None
    window.document.session.select([((), Ref("parts", "gpu0"))])
    window.update_actions()
    assert not window.qt_actions["insert.empty_host"].isEnabled()
    assert not window.qt_actions["insert.move_machine"].isEnabled()
