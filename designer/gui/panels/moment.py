"""The moment: what happens at the instant of a run that is looked at, and what the run has lost."""

from __future__ import annotations

import math
from typing import Final

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QWidget

from designer.gui.controls import Button, Label
from designer.gui.layouts import FLUSH, in_column, scrolled
from designer.gui.panels._panel import Panel, PanelKind, Place
from designer.gui.panels._widgets import column, quiet
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels.moments import clock_text, held_text, slower_texts
from designer.gui.viewmodels.plots import busy_at
from designer.gui.viewmodels.words import sentence_case

#: while a run is played the words change this often [ms]
_TOLD_MS: Final = 120
_HINT: Final = (
    "Run workloads together over time, then play what happens on the canvas: who waits for whom, what limits when, "
    "what a failure costs."
)


class MomentPanel(Panel):
    """Sentences about an instant, and the buttons that begin a run and open its lanes.

    Signals
    -------
    run_wanted, lanes_wanted : nothing
        A run is to be computed; its lanes and plots are to be shown.
    """

    run_wanted = Signal()
    lanes_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        page = QWidget()
        page.setObjectName("panel")
        around, self._words = column(page)
        around.setContentsMargins(14, 10, 12, 10)
        self._words.setSpacing(8)
        in_column(scrolled(page), on=self, margins=FLUSH)
        self._later = QTimer(self, singleShot=True, interval=_TOLD_MS)
        self._later.timeout.connect(self.outdate)

    def watch(self, session: Session) -> None:
        """Follow runs and the instant looked at."""
        self.connect_signal(session.simulation_changed, self.outdate)
        self.connect_signal(session.moment_changed, self._moved)

    def _moved(self, _moment: float) -> None:
        if not self._later.isActive():
            self._later.start()

    def refresh(self) -> None:
        """Say what happens now."""
        session, words = self.session, self._words
        frames = session.frames if session is not None else None
        words.let_go()
        if session is None or frames is None:
            words.put(quiet(_HINT))
            words.put(Button("Run over time  F6", self.run_wanted))
            return
        words.put(Label(f"At {clock_text(session.moment, frames.end)}", role="title"))
        words.put(Label(f"{sentence_case(held_text(frames.held(session.moment)))}.", wrap=True))
        busy = busy_at(frames, session.moment)
        if not math.isnan(busy):
            words.put(quiet(f"{busy * 100:.0f}% of what computes is busy."))
        lost = slower_texts(session.simulation)
        if lost:
            words.put(Label("Lost to each other", role="title"))
        for text in lost:
            words.put(quiet(text))
        words.put(Button("Lanes and plots  Ctrl+F6", self.lanes_wanted))


PANEL = PanelKind("moment", "Now", Place.TIME, 10, lambda s: MomentPanel(s.theme))
