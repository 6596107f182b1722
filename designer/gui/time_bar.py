"""The time bar under the canvas: play, hold, scrub, speed, loop; the load of what is busiest, and what binds now."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QPoint, QSize, Qt, QTimer
from PySide6.QtGui import (
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QFrame, QInputDialog, QMenu, QSizePolicy, QToolButton

from designer.errors import UnitError
from designer.gui import icons
from designer.gui.controls import Label, plain
from designer.gui.layouts import in_column, in_row
from designer.gui.playing import SPEEDS
from designer.gui.theme import Theme
from designer.gui.time_ruler import TimeRuler
from designer.gui.viewmodels.moments import clock_text, speed_text
from designer.gui.viewmodels.scenario import Scenario, runnable
from designer.pages.instant import page_of_instant
from designer.pages.simulate import losses
from designer.units import format_quantity, parse_duration

if TYPE_CHECKING:
    from designer.gui.documents import Document
    from designer.gui.playing import Player
    from designer.gui.session import Session

#: what binds is stated again this often while it plays [ms]
_STATED_MS: Final = 120


class Elided(Label):
    """A label that ends in … where there is no room, and states all to those who point at it."""

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setPen(self.palette().color(self.foregroundRole()))
            text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width())
            painter.drawText(self.rect(), self.alignment(), text)

    def show_text(self, text: str) -> None:
        """Show another text."""
        if text != self.text():
            self.setText(text)
            self.setToolTip(plain(text))


class TimeBar(QFrame):
    """Follows the run of one document at a time; hidden where there is none."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("timebar")
        self.theme = theme
        self._document: Document | None = None
        self._connections: list[tuple[Any, Callable[..., object]]] = []
        self.back = self._button("begin", "Back to the start")
        self.play = self._button("play", "Play")
        self.loop = self._button("loop", "Play again and again")
        self.loop.setCheckable(True)
        self.now = Label()
        self.now.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.ruler = TimeRuler(theme)
        self.total = Label(role="muted")
        self.speed = self._button("", "Speed: seconds of the run in a second")
        self.speed.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.what = self._button("", "What runs together, when it begins, and what fails")
        self.what.setProperty("pill", True)
        self.leave = self._button("close", "Leave the run")
        self.binds = Elided()
        self.binds.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.slower = Elided()
        self.slower.setProperty("role", "muted")
        self.slower.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.slower.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        row = in_row(self.back, self.play, self.loop, self.now, spacing=4)
        row.addSpacing(4)
        row.addWidget(self.ruler, 1)
        row.addSpacing(2)
        for widget in (self.total, self.speed, self.what, self.leave):
            row.addWidget(widget)
        below = in_row((self.binds, 3), (self.slower, 2))
        in_column(row, below, on=self, margins=(8, 4, 8, 4), spacing=2)
        self.back.clicked.connect(lambda: self._do(lambda p: p.seek(0.0)))
        self.play.clicked.connect(lambda: self._do(lambda p: p.toggle()))
        self.loop.clicked.connect(lambda: self._do(lambda p: p.set_loop(not p.loop)))
        self.leave.clicked.connect(lambda: self._do(lambda p: p.clear()))
        self.ruler.sought.connect(self._seek)
        self.ruler.key_pressed.connect(self._key)
        self.what.clicked.connect(self._choose)
        self.speed.clicked.connect(self._choose_speed)
        self._later = QTimer(self, singleShot=True, interval=_STATED_MS)
        self._later.timeout.connect(self._show_limit)
        self.hide()

    def _button(self, icon: str, tip: str) -> QToolButton:
        button = QToolButton()
        button.setAccessibleName(tip)
        button.setToolTip(plain(tip))
        button.setProperty("glyph", icon)
        button.setIconSize(QSize(16, 16))
        if icon:
            button.setIcon(icons.icon(icon, self.theme.text))
        return button

    @property
    def player(self) -> Player | None:
        """The run of the document shown."""
        return self._document.player if self._document is not None else None

    def follow(self, document: Document | None) -> None:
        """Show the run of another document; that of the one before is paused."""
        for signal, slot in self._connections:
            signal.disconnect(slot)
        self._connections.clear()
        if self._document is not None and self._document is not document:
            self._document.player.pause()
        self._document = document
        if document is not None:
            session, player = document.session, document.player
            for signal, slot in (
                (session.moment_changed, self._moved),
                (session.simulation_changed, self.refresh),
                (player.changed, self.refresh),
                (session.settled, self.refresh),
            ):
                signal.connect(slot)
                self._connections.append((signal, slot))
        self.refresh()

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self.theme = theme
        for button in (self.back, self.play, self.loop, self.leave):
            button.setIcon(icons.icon(str(button.property("glyph")), theme.text))
        self.ruler.set_theme(theme)

    def refresh(self, *_: object) -> None:
        """Show the state of the run."""
        player = self.player
        shown = player is not None and player.wanted
        self.setVisible(shown)
        if player is None or not shown:
            self.ruler.show_run(None, (), False)
            return
        session = player.session
        frames = session.frames
        glyph = "pause" if player.playing else "play"
        if self.play.property("glyph") != glyph:
            self.play.setProperty("glyph", glyph)
            self.play.setIcon(icons.icon(glyph, self.theme.text))
            self.play.setToolTip("Hold" if player.playing else "Play")
            self.play.setAccessibleName("Hold" if player.playing else "Play")
        moves = frames is not None and frames.end > 0
        for button in (self.back, self.play, self.loop, self.speed):
            button.setEnabled(moves)
        self.loop.setChecked(player.loop)
        self.speed.setText(speed_text(player.speed) if moves else "")
        count = len(player.scenario.workloads)
        self.what.setText("1 workload" if count == 1 else f"{count} workloads")
        self.total.setText(clock_text(frames.end, frames.end) if frames is not None else "")
        if frames is not None:
            metrics = self.now.fontMetrics()
            widest = max((clock_text(frames.end * k / 7, frames.end) for k in range(8)), key=len)
            self.now.setMinimumWidth(metrics.horizontalAdvance(widest + "0"))
        self.ruler.setVisible(moves or frames is None)
        self.ruler.show_run(frames, player.scenario.events, player.stale or player.busy)
        self.slower.show_text(_slower(player))
        self._moved(session.moment)

    def _moved(self, moment: float) -> None:
        player = self.player
        frames = player.session.frames if player is not None else None
        if player is None or frames is None:
            self._show_limit()
            return
        self.now.setText(clock_text(moment, frames.end))
        self.ruler.set_moment(moment)
        if not player.playing:
            self._later.stop()
            self._show_limit()
        elif not self._later.isActive():
            self._later.start()

    def _show_limit(self) -> None:
        """What binds at the instant shown."""
        player = self.player
        if player is None or not player.wanted:
            return
        frames = player.session.frames
        if player.busy:
            stated = f"Running… {player.progress * 100:.0f}%" if player.progress else "Running…"
        elif frames is None:
            stated = ""
        elif player.stale:
            stated = "The design changed since this run. Run it again (F6)."
        elif frames.end <= 0:
            stated = (
                f"{_headline(player.session)} A steady stream does not change over time: give it a size to play it."
            )
        else:
            stated = _headline(player.session)
        self.binds.show_text(stated)

    # ---- hands

    def _do(self, call: Callable[[Player], object]) -> None:
        if self.player is not None:
            call(self.player)

    def _seek(self, moment: float) -> None:
        player = self.player
        if player is not None:
            player.seek(moment)

    def _key(self, key: int) -> None:
        player = self.player
        if player is None:
            return
        calls: dict[int, Callable[[], object]] = {
            int(Qt.Key.Key_Space): player.toggle,
            int(Qt.Key.Key_Plus): partial(player.faster, 1),
            int(Qt.Key.Key_Equal): partial(player.faster, 1),
            int(Qt.Key.Key_Minus): partial(player.faster, -1),
            int(Qt.Key.Key_L): lambda: player.set_loop(not player.loop),
            int(Qt.Key.Key_Left): partial(player.step, -1),
            int(Qt.Key.Key_Right): partial(player.step, 1),
        }
        calls[key]()

    def _choose_speed(self) -> None:
        player = self.player
        if player is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        frames = player.session.frames
        end = frames.end if frames is not None else 1.0
        for speed in SPEEDS:
            # faster than a blink or slower than anybody waits is no choice
            if 0.5 <= end / speed <= 3600:
                action = menu.addAction(speed_text(speed), partial(player.set_speed, speed))
                action.setCheckable(True)
                action.setChecked(speed == player.speed)
        menu.popup(self.speed.mapToGlobal(QPoint(0, -menu.sizeHint().height())))

    def menu(self) -> QMenu | None:
        """What can be run together, and when; made again each time."""
        player = self.player
        if player is None:
            return None
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setToolTipsVisible(True)
        scenario, frames = player.scenario, player.session.frames
        end = frames.end if frames is not None else 0.0
        for workload, title in runnable(player.session.design):
            action = menu.addAction(_shown(title), partial(self._run, scenario.toggled(workload)))
            action.setCheckable(True)
            action.setChecked(workload in scenario.workloads)
            # the last one cannot go: something has to run
            action.setEnabled(scenario.workloads != (workload,))
        menu.addSeparator()
        later = menu.addMenu("Begins")
        for workload, title in runnable(player.session.design):
            if workload in scenario.workloads:
                at = scenario.starts.get(workload)
                stated = f"at {format_quantity(at, 'duration')}" if at is not None else "as it says itself"
                later.addAction(_shown(f"{title}: {stated}…"), partial(self._ask_start, workload, title))
        until = "when all is done" if scenario.until is None else f"at {format_quantity(scenario.until, 'duration')}"
        menu.addAction(f"Ends {until}…", self._ask_until)
        self._add_shifts(menu, player)
        if scenario.events:
            menu.addSeparator()
            gone = menu.addMenu("What happens")
            for event in scenario.events:
                text = f"{clock_text(event.at, max(end, event.at))}  {event.text}"
                gone.addAction(_shown(f"Take out: {text}"), partial(self._run, scenario.without_event(event)))
        return menu

    def _add_shifts(self, menu: QMenu, player: Player) -> None:
        """Later starts that keep workloads out of each other's way: asked for, then offered."""
        from dataclasses import replace

        scenario, found = player.scenario, player.session.simulation
        if len(scenario.workloads) < 2:
            return
        menu.addSeparator()
        asked = menu.addAction(
            "Look for starts that avoid collisions", partial(self._run, replace(scenario, shifts=not scenario.shifts))
        )
        asked.setCheckable(True)
        asked.setChecked(scenario.shifts)
        if found is None or not scenario.shifts or player.busy or player.stale:
            return
        for shift in found.shifts:
            title = found.titles.get(shift.workload, shift.workload)
            later = format_quantity(shift.seconds, "duration")
            text = f"Begin {title} {later} later: together {shift.before / shift.after:.2f}× as fast"
            at = scenario.starts.get(shift.workload, 0.0) + shift.seconds
            menu.addAction(_shown(text), partial(self._run, scenario.started(shift.workload, at)))
        if not found.shifts:
            menu.addAction("No later start is better").setEnabled(False)

    def _choose(self) -> None:
        menu = self.menu()
        if menu is not None:
            menu.popup(self.what.mapToGlobal(QPoint(0, -menu.sizeHint().height())))

    def _run(self, scenario: Scenario) -> None:
        if self.player is not None:
            self.player.set_scenario(scenario)

    def _ask_start(self, workload: str, title: str) -> None:
        player = self.player
        if player is None:
            return
        at = player.scenario.starts.get(workload)
        given = self._ask("When it begins", f"{title} begins at", at)
        if given is not None:
            self._run(player.scenario.started(workload, given[0]))

    def _ask_until(self) -> None:
        from dataclasses import replace

        player = self.player
        if player is None:
            return
        given = self._ask("When it ends", "The run ends at", player.scenario.until)
        if given is not None:
            self._run(replace(player.scenario, until=given[0]))

    def _ask(self, title: str, question: str, before: float | None) -> tuple[float | None] | None:
        """A time, or none where the answer is empty; None if nobody answers."""
        text = format_quantity(before, "duration") if before is not None else ""
        hint = f"{question} (such as 90 s or 10 min; empty: by itself)"
        answer, given = QInputDialog.getText(self, title, hint, text=text)
        if not given:
            return None
        if not answer.strip():
            return (None,)
        try:
            seconds = float(parse_duration(answer))
            if not 0 <= seconds < math.inf:
                raise UnitError(f"{answer} is no time in the run", remedy="give 0 s or later")
        except UnitError as error:
            if self.player is not None:
                self.player.failed.emit(str(error))
            return None
        return (seconds,)


def _shown(text: str) -> str:
    """A name in a menu, where & would underline."""
    return text.replace("&", "&&")


def _slower(player: Player) -> str:
    """What the workloads lose to each other, in a line."""

    found = player.session.simulation
    return "" if player.stale or found is None else " ".join(losses(found))


def _headline(session: Session) -> str:
    """What happens at the instant looked at, in a sentence, and what is busy."""

    if session.simulation is None or session.frames is None:
        return ""
    page = page_of_instant(session.simulation, session.frames, session.design, session.moment)
    busy = "".join(f"   {figure.title}: {figure.value}" for figure in page.figures[1:])
    return page.headline + busy
