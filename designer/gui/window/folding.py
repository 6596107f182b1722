"""Docks of small windows: where there is no room for both sides, one is folded to buttons at its edge.

The side one asked for last stays. With more room everything is where it was.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QDockWidget, QMainWindow, QToolBar, QToolButton

from designer.gui import icons
from designer.gui.controls import plain
from designer.gui.docks import Docks
from designer.gui.panels._panel import Side
from designer.gui.theme import Theme

#: width of the sides, least width of the canvas, and height below which what stands under it takes less, at text of
#: 100 % [px]
_SIDES: Final = {Side.LEFT: 270, Side.RIGHT: 320}
_CANVAS: Final = 500
_SHORT, _SHARE, _HEIGHT = 760, 0.33, 276
#: turns of the event loop in which docks find their places
_ROUNDS: Final = 3
#: points of the text at 100 %
_POINTS: Final = 9.5
_ICONS: Final = {"parts": "part", "outline": "template", "inspector": "edit", "history": "clock"}


class Folding(QObject):
    """Folds and unfolds the sides of a window as its size asks for."""

    def __init__(self, window: QMainWindow, docks: Docks, theme: Theme) -> None:
        super().__init__(window)
        self._window, self._docks, self._theme = window, docks, theme
        self.folded: frozenset[Side] = frozenset()
        self._wanted = Side.RIGHT
        self._front: dict[Side, str] = {}
        self._short = False
        self._bars: dict[Side, QToolBar] = {}
        self._buttons: dict[str, QToolButton] = {}
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self.fit)
        #: Qt gives what folds its room for one more turn: a side that stays is widened again until it is as wide
        self._rounds = 0
        self._again = QTimer(self, singleShot=True, interval=0)
        self._again.timeout.connect(self._settle)
        docks.before_raise = self.ask_for
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The window has another size, or another text."""
        if watched is self._window and event.type() in (QEvent.Type.Resize, QEvent.Type.FontChange):
            self._later.start()
        return False

    def fit(self, again: bool = False) -> None:
        """Fold what finds no room; `again` where docks were shown meanwhile."""
        if not self._docks.shown:
            for bar in self._bars.values():
                bar.hide()
            return
        unit = self._unit
        room = self._window.width() - _CANVAS
        if room >= unit * sum(_SIDES.values()):
            folded = frozenset[Side]()
        elif room >= unit * _SIDES[self._wanted]:
            folded = frozenset(_SIDES) - {self._wanted}
        else:
            folded = frozenset(_SIDES)
        short = self._window.height() < _SHORT * unit
        if folded != self.folded or again:
            before, self.folded = self.folded, folded
            for side in _SIDES:
                if side in folded:
                    self._fold(side)
                elif side in before or again:
                    self._unfold(side)
                else:
                    self._widen(side)
            self._rounds = _ROUNDS
            self._again.start()
        if short != self._short:
            self._short = short
            height = round(self._window.height() * _SHARE) if short else _HEIGHT
            below = [d for d in self._on(Side.BOTTOM) if d.isVisible()][:1]
            self._window.resizeDocks(below, [height] * len(below), Qt.Orientation.Vertical)

    @property
    def _unit(self) -> float:
        return max(1.0, self._window.font().pointSizeF() / _POINTS)

    def ask_for(self, name: str) -> None:
        """A dock is wanted in front: its side is unfolded, and the other one gives way where there is no room."""
        side = next((s for s in _SIDES if self._docks.docks[name] in self._on(s)), None)
        if side is None or side not in self.folded:
            return
        self._wanted, self._front[side] = side, name
        room = self._window.width() - _CANVAS
        if room < self._unit * _SIDES[side]:
            # not even one finds room: it is shown all the same, since it was asked for
            self.folded = self.folded - {side}
            self._unfold(side)
        else:
            self.fit()

    def _on(self, side: Side) -> list[QDockWidget]:
        """The docks that stand on a side now."""
        window = self._window
        return [d for d in self._docks.docks.values() if not d.isFloating() and window.dockWidgetArea(d) == side.value]

    def _fold(self, side: Side) -> None:
        for name, dock in self._docks.docks.items():
            if dock in self._on(side):
                if dock.isVisible() and not dock.visibleRegion().isEmpty():
                    self._front[side] = name
                dock.hide()
        self._bar(side).show()

    def _unfold(self, side: Side) -> None:
        docks = self._on(side)
        for dock in docks:
            dock.show()
        front = self._docks.docks.get(self._front.get(side, ""))
        if front is not None and front in docks:
            front.raise_()
        if side in self._bars:
            self._bars[side].hide()
        self._widen(side)

    def _widen(self, side: Side) -> None:
        """Give a side that stays the width it is read at; the window squeezed it before the other one folded."""
        wide = round(_SIDES[side] * self._unit)
        docks = [dock for dock in self._on(side) if dock.isVisible() and dock.width() < wide][:1]
        self._window.resizeDocks(docks, [wide] * len(docks), Qt.Orientation.Horizontal)

    def _settle(self) -> None:
        self._rounds -= 1
        for side in _SIDES:
            if side not in self.folded:
                self._widen(side)
        if self._rounds > 0:
            self._again.start()

    def _bar(self, side: Side) -> QToolBar:
        """The buttons of a folded side; made when it is first folded."""
        bar = self._bars.get(side)
        if bar is not None:
            return bar
        bar = self._bars[side] = QToolBar(self._window)
        bar.setObjectName(f"folded-{side.name.lower()}")
        bar.setWindowTitle("Folded panels")
        bar.setMovable(False)
        left = side is Side.LEFT
        area = Qt.ToolBarArea.LeftToolBarArea if left else Qt.ToolBarArea.RightToolBarArea
        self._window.addToolBar(area, bar)
        for name, dock in self._docks.docks.items():
            if dock in self._on(side):
                button = self._buttons[name] = QToolButton()
                button.setIcon(icons.icon(_ICONS.get(name, "part"), self._theme.muted))
                button.setToolTip(plain(f"Show {dock.windowTitle()}"))
                button.setAccessibleName(f"Show {dock.windowTitle()}")
                button.clicked.connect(partial(self._docks.raise_dock, name))
                bar.addWidget(button)
        return bar

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self._theme = theme
        for name, button in self._buttons.items():
            button.setIcon(icons.icon(_ICONS.get(name, "part"), theme.muted))
