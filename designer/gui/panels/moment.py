"""The moment: the page of the instant of a run that is looked at."""

from __future__ import annotations

from functools import partial
from typing import Final

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QWidget

from designer.gui.controls import Button, Headline, Label
from designer.gui.layouts import FLUSH, in_column, in_row, scrolled
from designer.gui.panels._page import Grid, LimitRow, Pool, StackBar
from designer.gui.panels._panel import Panel, PanelKind, Place
from designer.gui.panels._widgets import dress, quiet
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.pages.instant import page_of_instant

#: while a run is played the page changes this often [ms]
_STATED_MS: Final = 120
_HINT: Final = (
    "Run workloads together over time, then play what happens on the canvas: who waits for whom, what limits when, "
    "what a failure costs."
)


class MomentPanel(Panel):
    """The blocks of the page of an instant, and the buttons that begin a run and open its lanes.

    Signals
    -------
    run_wanted, lanes_wanted : nothing
        A run is to be computed; its lanes are to be shown.
    """

    run_wanted = Signal()
    lanes_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.hint, self.start = quiet(_HINT), Button("Run over time  F6", self.run_wanted)
        self.chip = Label()
        self.chip.setObjectName("chip")
        self.headline = Headline(1.2, wrap=True)
        self.grid = Grid()
        self.where_title, self.limit_title = Label(role="title"), Label("What limits it now", role="title")
        self.lost_title, self.event_title = Label("Lost to each other", role="title"), Label("Events", role="title")
        self.stacks: Pool[StackBar] = Pool(StackBar)
        self.limits: Pool[LimitRow] = Pool(self._new_limit, 4)
        self.lost: Pool[Label] = Pool(partial(quiet, ""), 4)
        self.events: Pool[Label] = Pool(partial(quiet, ""), 2)
        self.lanes = Button("Lanes and plots  Ctrl+F6", self.lanes_wanted)
        self._answer, page = QWidget(), QWidget()
        page.setObjectName("panel")
        in_column(
            in_row(self.chip, 1),
            self.headline,
            self.grid,
            self.lost_title,
            self.lost,
            self.where_title,
            self.stacks,
            self.limit_title,
            self.limits,
            self.event_title,
            self.events,
            self.lanes,
            on=self._answer,
            margins=FLUSH,
            spacing=7,
        )
        in_column(self.hint, self.start, self._answer, 1, on=page, margins=(14, 10, 12, 10), spacing=8)
        in_column(scrolled(page), on=self, margins=FLUSH)
        self._later = QTimer(self, singleShot=True, interval=_STATED_MS)
        self._later.timeout.connect(self.outdate)

    def _new_limit(self) -> LimitRow:
        row = LimitRow()
        row.wanted.connect(self._reveal)
        return row

    def watch(self, session: Session) -> None:
        """Follow runs and the instant looked at."""
        self.connect_signal(session.simulation_changed, self.outdate)
        self.connect_signal(session.moment_changed, self._moved)

    def _moved(self, _moment: float) -> None:
        if not self._later.isActive():
            self._later.start()

    def refresh(self) -> None:
        """Show the page of the instant."""
        session = self.session
        frames, found = (session.frames, session.simulation) if session is not None else (None, None)
        there = session is not None and frames is not None and found is not None
        self.hint.setVisible(not there)
        self.start.setVisible(not there)
        self._answer.setVisible(there)
        if session is None or frames is None or found is None:
            return

        page = page_of_instant(found, frames, session.design, session.moment)
        self.chip.setText(page.chip_text)
        dress(self.chip, "tone", str(page.state.tone) or "accent")
        self.headline.setText(page.headline)
        for cell, figure in zip(self.grid.shown(len(page.figures)), page.figures, strict=True):
            cell.show_figure(figure, self.theme, False)
        self.grid.arrange()
        self.where_title.setText(page.where_title)
        self.where_title.setVisible(bool(page.where))
        for bar, stack in zip(self.stacks.shown(len(page.where)), page.where, strict=True):
            bar.show_stack(stack, self.theme, False, page.where)
        self.limit_title.setVisible(bool(page.limits))
        for row, limit in zip(self.limits.shown(len(page.limits)), page.limits, strict=True):
            row.show_limit(limit, self.theme)
        self._write(self.lost_title, self.lost, page.remarks)
        rows = page.table.rows if page.table is not None else ()
        self._write(self.event_title, self.events, [f"{when}   {what}" for when, what in rows])

    @staticmethod
    def _write(title: Label, lines: Pool[Label], texts: tuple[str, ...] | list[str]) -> None:
        title.setVisible(bool(texts))
        for line, text in zip(lines.shown(len(texts)), texts, strict=True):
            line.setText(text)

    def _reveal(self, ids: tuple[str, ...]) -> None:
        if self.session is not None:
            self.session.set_highlight(ids)


PANEL = PanelKind("moment", "Now", Place.TIME, 10, lambda s: MomentPanel(s.theme))
