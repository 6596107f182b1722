"""A panel that shows whatever figures there are for it and the shown workload."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QFrame, QPushButton, QScrollArea, QStackedLayout, QWidget

from designer.gui.layouts import in_column
from designer.gui.panels._panel import Panel
from designer.gui.panels._widgets import WidgetColumn, quiet
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels.answer_state import empty_text
from designer.gui.viewmodels.places import picked_of
from designer.plain_text import HEADING, in_one_line
from designer.present.blocks import State
from designer.report.figure_kinds import figure_kinds

if TYPE_CHECKING:
    from designer.engine.results import WorkloadResult
    from designer.gui.figures.view import FigureView
    from designer.report.figure import Figure

#: the least width of a figure next to others and height of one below others; figures are next to each other in panels
#: at
#: least so wide [px]
_WIDE: Final = 280
_HIGH: Final = 230
_SIDE_BY_SIDE: Final = 600
_UNBOUND: Final = 16_777_215


class FiguresPanel(Panel):
    """Figures side by side, or below each other in a narrow panel; a sentence where there are none.

    Parameters
    ----------
    dock
        The ``dock`` of the figures to show.
    empty
        What to say where there are none.
    """

    def __init__(self, dock: str, empty: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.dock = dock
        self._views: list[FigureView] = []
        self._nothing = empty
        self.empty = EmptyPage(empty)
        self.empty.wanted.connect(self._show_workload)
        self._page = QWidget()
        self._page.setObjectName("panel")
        self._row = QBoxLayout(QBoxLayout.Direction.TopToBottom, self._page)
        self._row.setContentsMargins(6, 6, 6, 2)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self.empty)
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setWidget(self._page)
        self.area.viewport().installEventFilter(self)
        self._stack.addWidget(self.area)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Place figures next to each other where there is room, as high as that is."""
        if event.type() == QEvent.Type.Resize:
            self._fit()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        room = self.area.viewport().size()
        side_by_side = room.width() >= _SIDE_BY_SIDE
        way = QBoxLayout.Direction.LeftToRight if side_by_side else QBoxLayout.Direction.TopToBottom
        self._row.setDirection(way)
        self._page.setMaximumHeight(room.height() if side_by_side else _UNBOUND)
        off, needed = Qt.ScrollBarPolicy.ScrollBarAlwaysOff, Qt.ScrollBarPolicy.ScrollBarAsNeeded
        self.area.setVerticalScrollBarPolicy(off if side_by_side else needed)
        self.area.setHorizontalScrollBarPolicy(needed if side_by_side else off)
        for view in self._views:
            view.setMinimumSize(_WIDE if side_by_side else 0, 0 if side_by_side else _HIGH)

    def watch(self, session: Session) -> None:
        """Follow the analysis."""
        self.connect_signal(session.analysis_changed, self.outdate)
        self.connect_signal(session.trial_changed, self.outdate)
        self.connect_signal(session.workload_changed, self.outdate)
        self.connect_signal(session.state_changed, self.outdate)

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        for view in self._views:
            view.set_theme(theme)
        super().set_theme(theme)

    def figures(self) -> list[Figure]:
        """The figures there are for the shown workload."""
        return self._built(self.session.shown_result if self.session is not None else None)

    def _built(self, result: WorkloadResult | None) -> list[Figure]:
        session = self.session
        analysis = session.shown_analysis if session is not None else None
        if session is None or analysis is None or result is None:
            return []

        kinds = sorted((k for k in figure_kinds().values() if k.dock == self.dock), key=lambda k: (k.order, k.name))
        made = [k.build(session.shown_design, analysis, result) for k in kinds]
        return [f for f in made if f is not None]

    def _others(self) -> list[tuple[str, str]]:
        """Workloads that have figures for this panel."""
        session = self.session
        if session is None or session.analysis is None:
            return []
        return [(w.id, w.title) for w in session.analysis.workloads if w.id != session.workload and self._built(w)]

    def _show_workload(self, workload: str) -> None:
        if self.session is not None:
            self.session.set_workload(workload)

    def refresh(self) -> None:
        """Draw them."""
        figures = self.figures()
        if not figures and self._views and self.session is not None and self.session.trial is not None:
            # trials have no curves: those of the present design stay
            return
        self._stack.setCurrentIndex(1 if figures else 0)
        if not figures:
            state = self.session.state if self.session is not None else State.ANSWERED
            self.empty.text.setText(empty_text(state, self._nothing))
            self.empty.offer(self._others() if state is not State.COMPUTING else ())
            return
        from designer.gui.figures.view import FigureView

        while len(self._views) < len(figures):
            view = FigureView(self.theme)
            view.picked.connect(self._reveal)
            self._views.append(view)
            self._row.addWidget(view, 1)
        for number, view in enumerate(self._views):
            view.set_figure(figures[number] if number < len(figures) else None)
            view.setVisible(number < len(figures))
        self._fit()

    def _reveal(self, key: str) -> None:
        if self.session is not None:
            found = picked_of(self.session.design, key)
            if found is not None:
                self.session.reveal([found])


# What a panel says where the shown workload has nothing for it, and the way to one that has.

#: so many workloads are offered
_MOST: Final = 4


class EmptyPage(QWidget):
    """A sentence, and below it a button for each workload of the design that has what this one lacks.

    Signals
    -------
    wanted : ``str``
        Id of the workload to show.
    """

    wanted = Signal(str)

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.text = quiet(text)
        self.text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._buttons = WidgetColumn()
        self._buttons.setSpacing(2)
        self._offered: tuple[tuple[str, str], ...] = ()
        in_column(1, self.text, self._buttons, 1, on=self, margins=(14, 12, 14, 12), spacing=8)

    def offer(self, workloads: Sequence[tuple[str, str]]) -> None:
        """Offer other workloads, as id and title."""
        offered = tuple(workloads[:_MOST])
        if offered == self._offered:
            return
        self._offered = offered
        self._buttons.let_go()
        for key, title in offered:
            button = QPushButton(f"Show “{in_one_line(title, HEADING)}”".replace("&", "&&"))
            button.setProperty("link", True)
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            button.clicked.connect(partial(self._wanted, key))
            self._buttons.put(button, Qt.AlignmentFlag.AlignHCenter)

    def _wanted(self, key: str, *_: object) -> None:
        self.wanted.emit(key)
