"""The answer in short, below the canvas of a narrow window: state, headline, figures, and the way to the rest."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from designer.gui.controls import Button, Headline, Label
from designer.gui.layouts import FLUSH, in_column, in_row
from designer.gui.panels._page import Grid
from designer.gui.panels._panel import Panel
from designer.gui.panels._widgets import dress
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels.answer import page_for
from designer.plain_text import in_one_line
from designer.present.blocks import State

_FIGURES = 3
_LONGEST = 200


class Brief(Panel):
    """A row about the shown workload.

    Signals
    -------
    opened : nothing
        The whole answer is wanted.
    """

    opened = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.chip, self.subject, self.headline = Label(), Label(role="muted"), Headline(1.08, wrap=True)
        self.chip.setObjectName("chip")
        self.headline.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.figures = Grid(one_line=True)
        self.more = Button("Answer  ›", self.opened, tip="Show the whole answer  (F9)")
        words = in_column(in_row(self.chip, (self.subject, 1), spacing=8), (self.headline, 1), spacing=2)
        right = QWidget()
        in_column(self.figures, 1, on=right, margins=FLUSH)
        in_row((words, 5), (right, 6), self.more, on=self, margins=(14, 6, 12, 2), spacing=18)

    def watch(self, session: Session) -> None:
        """Follow the analysis."""
        for signal in (
            session.analysis_changed,
            session.trial_changed,
            session.workload_changed,
            session.state_changed,
        ):
            self.connect_signal(signal, self.outdate)
        self.connect_signal(session.fitting_changed, self.outdate)

    def refresh(self) -> None:
        """Show the page of the session in short."""
        session = self.session
        page = page_for(session) if session is not None else None
        if session is None or page is None:
            return
        state = session.state
        own = state in (State.STALE, State.COMPUTING, State.NONE)
        self.chip.setText(state.value if own else page.chip_text)
        dress(self.chip, "tone", str(state.tone if own else page.state.tone) or "accent")
        self.subject.setText(in_one_line(page.subject.partition(", on ")[0], _LONGEST))
        self.headline.setText(in_one_line(page.headline, _LONGEST))
        faded = state in (State.UNFIT, State.STALE)
        figures = page.figures[:_FIGURES]
        for cell, figure in zip(self.figures.shown(len(figures)), figures, strict=True):
            cell.show_figure(figure, self.theme, faded)
        self.figures.arrange()
