"""Plots of a run: loads, bytes left and busy share over time, with the instant looked at marked in all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from designer.gui.layouts import FLUSH, in_column, in_row
from designer.gui.panels._empty import EmptyPage
from designer.gui.panels._panel import Panel, PanelKind, Place
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels.plots import busy_curve, chosen_resources, left_curves, load_curves

if TYPE_CHECKING:
    from designer.engine.clock.frames import Frames
    from designer.gui.figures.live_plot import LivePlot

#: values at the instant are told anew this often while it plays [ms]
_TOLD_MS: Final = 100
#: lines of the instant move this often: each move draws all three plots again, canvas frames come first [ms]
_MOVED_MS: Final = 50


class PlotsPanel(Panel):
    """Three plots side by side, or what to do to get them."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        # plots take long to load: not before there is a panel to hold them
        from designer.gui.figures.live_plot import LivePlot

        self.empty = EmptyPage("Run workloads over time (F6); select links or parts to see their load here.")
        self.load = LivePlot("Load of capacity", "1", theme)
        self.left = LivePlot("Bytes left", "B", theme)
        self.busy = LivePlot("Busy share of what computes", "1", theme)
        self.page = QWidget()
        in_row((self.load, 2), (self.left, 1), (self.busy, 1), on=self.page, margins=(2, 2, 2, 2), spacing=4)
        in_column(self.empty, self.page, on=self, margins=FLUSH)
        self._of: Frames | None = None
        self._later = QTimer(self, singleShot=True, interval=_TOLD_MS)
        self._later.timeout.connect(self._tell)
        self._soon = QTimer(self, singleShot=True, interval=_MOVED_MS)
        self._soon.timeout.connect(self._move)

    @property
    def plots(self) -> tuple[LivePlot, ...]:
        """All of them."""
        return self.load, self.left, self.busy

    def watch(self, session: Session) -> None:
        """Follow runs, the instant looked at, and what is selected."""
        self.connect_signal(session.simulation_changed, self.outdate)
        self.connect_signal(session.selection_changed, self.outdate)
        self.connect_signal(session.moment_changed, self._moved)

    def set_session(self, session: Session | None) -> None:
        """Follow another document; out of sight the plots would keep the one before, closed or not."""
        if session is not self.session:
            self._of = None
            for plot in self.plots:
                plot.session = session
        super().set_session(session)

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        for plot in self.plots:
            plot.set_theme(theme)
        super().set_theme(theme)

    def _moved(self, moment: float) -> None:
        del moment
        if not self.seen:
            self.outdate()
            return
        if self._of is None:
            return
        for timer in (self._soon, self._later):
            if not timer.isActive():
                timer.start()

    def _move(self) -> None:
        if self.session is not None and self._of is not None:
            for plot in self.plots:
                plot.set_moment(self.session.moment)

    def _tell(self) -> None:
        if self.session is not None and self._of is not None:
            for plot in self.plots:
                plot.tell(self.session.moment)

    def refresh(self) -> None:
        """Draw the curves of the run there is."""
        session = self.session
        frames = session.frames if session is not None else None
        self.empty.setVisible(frames is None)
        self.page.setVisible(frames is not None)
        for plot in self.plots:
            plot.session = session
        if session is None or frames is None:
            self._of = None
            for plot in self.plots:
                plot.show_curves([], 1.0)
            return
        end = frames.end
        self.load.show_curves(load_curves(frames, chosen_resources(frames, session.selection), 0.0, end), end)
        if frames is not self._of:
            left, busy = left_curves(frames), busy_curve(frames, 0.0, end)
            self.left.show_curves(left, end)
            self.busy.show_curves(busy, end)
            self.left.setVisible(bool(left))
            self.busy.setVisible(bool(busy))
        self._of = frames
        for plot in self.plots:
            plot.set_moment(session.moment)
        self._tell()


PANEL = PanelKind("plots", "Plots", Place.RUN, 20, lambda s: PlotsPanel(s.theme))
