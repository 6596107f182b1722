"""What is applied is drawn: the missing server, cabled, in one step; new parts have a name and can be seen."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from designer.design.address import Ref
from designer.gui.main_window import MainWindow
from designer.gui.panels.improve import ImprovePanel
from designer.gui.session import Session
from designer.interchange.overrides import overridden
from designer.present.blocks import Page, State

LEFT = Qt.MouseButton.LeftButton


def improve(window: MainWindow, qtbot: QtBot, template: str, *sets: str) -> tuple[Session, ImprovePanel]:
    import designer

    document = window.workspace.add(overridden(designer.open_design(template), list(sets)))
    session = document.session
    qtbot.waitUntil(lambda: session.state is State.ANSWERED, timeout=120_000)
    window.show_panel("improve")
    assert window.places is not None
    panel = window.places.panels["improve"]
    assert isinstance(panel, ImprovePanel)
    return session, panel


def answered(panel: ImprovePanel, qtbot: QtBot, question: str) -> Page:
    button = panel.asked[question]
    qtbot.waitUntil(lambda: button.isVisible() and button.isEnabled())
    qtbot.mouseClick(button, LEFT)
    qtbot.waitUntil(lambda: panel.answer is not None, timeout=120_000)
    assert panel.answer is not None
    return panel.answer.page


def test_cards_are_there_without_a_press(window: MainWindow, qtbot: QtBot) -> None:
    """Where nothing helps, what limits it stays and one sentence says so; the keys stay with the first question."""
    _, panel = improve(window, qtbot, "vsphere-cluster-4")
    qtbot.waitUntil(lambda: panel.answer is not None, timeout=60_000)
    assert [card for card in panel.view.cards.shown if card.button.isVisible()]
    improve(window, qtbot, "hgx-h100-8")
    qtbot.waitUntil(lambda: panel.words.text().startswith("No change"), timeout=60_000)
    assert panel.answer is None
    assert panel.view.limit_title.isVisible()
    assert panel.asked["suggest"].isEnabled()


def seen(window: MainWindow, part: str) -> bool:
    """True if a part is in sight on the canvas."""
    canvas = window.canvas
    assert canvas is not None
    box = canvas.scene.box_of(((), Ref("parts", part)))
    assert box is not None
    x, y, w, h = (float(v) for v in canvas.scene.geometry.rect[box])
    view = canvas.camera.target
    left, top = view.to_view(x, y)
    return QRectF(0, 0, view.width, view.height).intersects(QRectF(left, top, w * view.scale, h * view.scale))


def test_how_many_gpus_draws_the_missing_server(window: MainWindow, qtbot: QtBot) -> None:
    session, panel = improve(window, qtbot, "serving-h100-8", "workloads.chat-70b.rate=20 1/s")
    session.set_workload("chat-70b")
    page = answered(panel, qtbot, "size")
    assert page.headline.startswith("20 requests/s need 12 GPUs; 8 are drawn and serve ")
    card = panel.view.cards.shown[0]
    assert [(s.count, s.kind, s.new) for s in page.changes[0].sketch] == [(8, "gpu", False), (8, "gpu", True)]
    done, drawn = session.history.done, session.design
    said: list[str] = []
    session.message.connect(said.append)
    qtbot.mouseClick(card.button, LEFT)
    assert session.history.done == done + 1
    added = [p for p in session.design.parts.values() if p.id not in drawn.parts]
    assert sum(p.kind == "gpu" for p in added) == 8
    (server,) = [p for p in added if p.kind == "server"]
    assert server.label not in {p.label for p in drawn.parts.values()}
    assert said == [f"Added {server.label}, with 2 links to what was there"]
    assert session.selection == {((), Ref("parts", server.id))}
    # asked again by itself: what is drawn is enough now
    qtbot.waitUntil(lambda: panel.answer is not None, timeout=120_000)
    assert panel.answer is not None
    assert panel.answer.page.state is State.MET
    qtbot.waitUntil(lambda: session.state is State.ANSWERED, timeout=120_000)
    assert session.result is not None
    assert session.result.metrics["accelerators"].value == 12
    assert session.result.metrics["most_requests_per_second"].value > 20
    qtbot.waitUntil(lambda: seen(window, server.id), timeout=5000)
    session.undo()
    assert session.design == drawn


def test_a_suggested_part_has_its_own_name_and_is_in_sight(window: MainWindow, qtbot: QtBot) -> None:
    session, panel = improve(window, qtbot, "serving-l40s-4")
    session.set_workload("storage-to-gpus")
    qtbot.waitUntil(lambda: session.state is State.ANSWERED, timeout=120_000)
    answered(panel, qtbot, "suggest")
    before = session.design
    qtbot.mouseClick(panel.view.cards.shown[0].button, LEFT)
    (new,) = [p for p in session.design.parts.values() if p.id not in before.parts]
    assert new.kind == "storage"
    assert new.label not in {p.label for p in before.parts.values()}
    qtbot.waitUntil(lambda: seen(window, new.id), timeout=5000)
    said = f"Added {new.label}"
    qtbot.waitUntil(lambda: any(said in x.text() for x in window.toasts.findChildren(QLabel)))
    session.undo()
    assert session.design == before
