"""The tools over the canvas, and the hint that says what the one in use can do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QPainter, QPaintEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QSizePolicy, QToolButton, QWidget

from designer.gui.controls import plain
from designer.gui.layouts import in_row

_ACTIONS: Final = ("edit.undo", "edit.redo")
#: room next to the hint, size of icons, and of what is between groups of tools [px]
_AIR: Final = 8
_ICON: Final = QSize(18, 18)
_GAP: Final = 5


class Hint(QWidget):
    """What can be done now, in the room the buttons leave; a text that has none is shortened, its tip shows all."""

    def __init__(self) -> None:
        super().__init__()
        self._text = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setMinimumWidth(0)

    def text(self) -> str:
        """The whole text."""
        return self._text

    def setText(self, text: str) -> None:
        """Show another text."""
        self._text = text
        self.setToolTip(plain(text))
        self.setAccessibleName(text)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(0, self.fontMetrics().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        room = self.rect().adjusted(_AIR, 0, -_AIR, 0)
        shown = self.fontMetrics().elidedText(self._text, Qt.TextElideMode.ElideRight, room.width())
        with QPainter(self) as painter:
            painter.setPen(self.palette().color(self.palette().ColorRole.PlaceholderText))
            painter.drawText(room, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, shown)


class ToolBar(QFrame):
    """Buttons of tools and of undo, in a row or, where the window is narrow, in a column."""

    def __init__(self, actions: Mapping[str, QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("floating")
        self.line = in_row(on=self, margins=(4, 3, 4, 3), spacing=2)
        for action_id in _ACTIONS:
            self.line.addWidget(self._button(actions[action_id]))

    def _button(self, action: QAction) -> QToolButton:
        button = QToolButton()
        button.setDefaultAction(action)
        button.setIconSize(_ICON)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        return button

    def add_tools(self, actions: Sequence[QAction]) -> None:
        """Put tools in front; the first document brings them."""
        for at, action in enumerate(actions):
            self.line.insertWidget(at, self._button(action))
        self.line.insertSpacing(len(actions), _GAP)

    def stand(self, upright: bool) -> None:
        """Put the buttons in a column, or in a row."""
        way = QBoxLayout.Direction.TopToBottom if upright else QBoxLayout.Direction.LeftToRight
        self.line.setDirection(way)
        self.adjustSize()
