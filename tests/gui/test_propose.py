"""Designs proposed from the place Improve: filled in, searched next to the window, the chosen one opened."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from designer.gui.main_window import MainWindow
from designer.gui.panels._propose import ProposePage

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def page(window: MainWindow) -> ProposePage:
    window.resize(1440, 900)
    window.run("file.propose")
    assert window.places is not None
    found = window.places.improve.propose
    tick(found, "server", "dgx-a100", "dgx-h100")
    tick(found, "nodes", "1", "2")
    tick(found, "network", "none", "leaf-spine 1:1")
    write(found, "within", "90")
    return found


def tick(page: ProposePage, choice: str, *values: str) -> None:
    for value, box in page.ticks[choice].items():
        if box.isChecked() != (value in values):
            box.click()


def write(page: ProposePage, name: str, text: str) -> None:
    field = page.fields[name]
    assert isinstance(field, QLineEdit)
    field.setText(text)


def search(qtbot: QtBot, page: ProposePage) -> None:
    before = page.found
    qtbot.waitUntil(lambda: page.job.go.isEnabled() and page.job.go.isVisible(), timeout=10_000)
    qtbot.mouseClick(page.job.go, LEFT)
    qtbot.waitUntil(lambda: not page.job.busy and page.found is not before, timeout=120_000)


def test_the_best_are_cards_and_one_opens(window: MainWindow, page: ProposePage, qtbot: QtBot) -> None:
    search(qtbot, page)
    assert page.found is not None
    assert page.found.best
    cards = page.cards.shown
    assert len(cards) == len(page.found.best)
    assert "the goal" in page.headline.text()
    wanted = page.found.best[-1].design
    qtbot.waitUntil(cards[-1].button.isVisible, timeout=10_000)
    # cards are laid out when the event loop has been round: a person sees them no sooner
    qtbot.wait(100)
    qtbot.mouseClick(cards[-1].button, LEFT)
    qtbot.waitUntil(lambda: window.document is not None and window.document.session.design == wanted, timeout=10_000)


def test_a_point_of_the_front_is_clicked_and_marks_its_card(page: ProposePage, qtbot: QtBot) -> None:
    search(qtbot, page)
    assert page.found is not None
    assert page.front is not None
    front = page.front
    assert len(front.points) == len(page.found.best) > 1
    QApplication.processEvents()
    number, x, y = front.points[-1]
    at = front.plot.mapFromScene(front.place_of(x, y))
    QTest.mouseClick(front.plot.viewport(), LEFT, pos=at)
    qtbot.waitUntil(lambda: front.chosen == number, timeout=3000)
    marked = [n for n, card in enumerate(page.cards.shown) if card.property("selected")]
    assert marked == [number]


def test_what_cannot_be_is_said(page: ProposePage, qtbot: QtBot) -> None:
    write(page, "within", "1")
    page.power.setText("12")
    search(qtbot, page)
    assert not [card for card in page.cards.shown if card.button.isVisible()]
    assert page.found is not None
    assert page.headline.text()


def test_wrong_wishes_stay_in_the_form(page: ProposePage, qtbot: QtBot) -> None:
    for line, text in ((page.budget, "much"), (page.prices, "/nowhere.csv"), (page.fields["within"], "soon")):
        assert isinstance(line, QLineEdit)
        kept = line.text()
        line.setText(text)
        qtbot.mouseClick(page.job.go, LEFT)
        assert page.job.problem.isVisibleTo(page)
        assert not page.job.busy
        line.setText(kept)
    tick(page, "server")
    qtbot.mouseClick(page.job.go, LEFT)
    assert "ticked" in page.job.problem.text()


def test_it_is_stopped_by_esc_and_stays(page: ProposePage, qtbot: QtBot) -> None:
    tick(page, "nodes", *page.ticks["nodes"])
    qtbot.mouseClick(page.job.go, LEFT)
    assert page.job.busy
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert not page.job.busy
    assert page.isVisible()


def test_the_same_search_as_a_command(page: ProposePage) -> None:
    page.copy_command()
    said = QGuiApplication.clipboard().text()
    assert said.startswith("designer propose train --with model=llama-2-7b")
    assert "--within '90 d'" in said
    assert "--choose server=dgx-a100,dgx-h100" in said


def test_goals_fill_in_what_is_usual(page: ProposePage) -> None:
    page.goal.setCurrentIndex(2)
    page.goal.activated.emit(2)
    form = page.form
    assert form.texts["within"] == "10"
    assert form.texts["hosts"] == "hosts[0]/server"
    assert form.ticked["nodes"] == ("4", "5", "6")
    page.goal.setCurrentIndex(1)
    page.goal.activated.emit(1)
    assert page.form.ticked["server"] == ("serving-l40s-4", "dgx-h100")
