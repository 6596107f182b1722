"""Short messages over the canvas that go away by themselves; nothing has to be clicked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from designer.gui.controls import Label
from designer.gui.layouts import FLUSH, in_column, in_row
from designer.gui.viewmodels.table import sentence_case
from designer.plain_text import shortened

_SHORT, _LONG = 3500, 9000
_MOST = 4
#: characters of a message: it must leave room for the others
_MOST_TEXT: Final = 600
#: the widest a message gets before it is broken into lines [px]
_WIDEST: Final = 420
#: room below messages at the bottom, and above those at the top [px]
_BELOW: Final = 44
_ABOVE: Final = 56


class Toast(QFrame):
    """One message, with a button where something can be done.

    Signals
    -------
    left
        It is going away; sent once.
    """

    left = Signal()

    def __init__(self, text: str, bad: bool, button: str, run: Callable[[], object] | None, parent: QWidget) -> None:
        super().__init__(parent)
        text = shortened(sentence_case(text), _MOST_TEXT)
        self.setObjectName("toast")
        self.setProperty("bad", bad)
        label = Label(text, wrap=True)
        label.ensurePolished()
        # a label that breaks lines wants to be narrow: it is stated how wide its text is
        wide = min(_WIDEST, label.fontMetrics().horizontalAdvance(text) + 4)
        label.setFixedSize(wide, label.heightForWidth(wide))
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text = text
        line = in_row((label, 1), on=self, margins=(14, 9, 10, 9), spacing=12)
        self._leaving = False
        if run is not None:
            act = QPushButton(button)
            act.setProperty("link", True)
            act.clicked.connect(run)
            act.clicked.connect(self.leave)
            line.addWidget(act)
        close = QPushButton("✕")
        close.setProperty("link", True)
        close.setAccessibleName("Dismiss")
        close.clicked.connect(self.leave)
        line.addWidget(close)
        self.setAccessibleName(text)

    def leave(self) -> None:
        """Go away."""
        if self._leaving:
            return
        self._leaving = True
        self.hide()
        self.left.emit()
        self.deleteLater()


class Toasts(QWidget):
    """Stacks messages at the bottom of a widget, or at its top where they cover less.

    Parameters
    ----------
    keep_free
        Rectangles of `over` that messages should not cover.
    """

    def __init__(self, over: QWidget, keep_free: Callable[[], Sequence[QRect]] = tuple) -> None:
        super().__init__(over)
        self._over, self._keep_free = over, keep_free
        self._box = in_column(on=self, margins=FLUSH, spacing=8)
        self.shown: list[Toast] = []
        over.installEventFilter(self)
        self.hide()

    def say(self, text: str, bad: bool = False, button: str = "", run: Callable[[], object] | None = None) -> Toast:
        """Show a message; errors and those with a button stay longer."""
        same = [t for t in self.shown if t.text == shortened(sentence_case(text), _MOST_TEXT)]
        for old in same + self.shown[: max(0, len(self.shown) + 1 - _MOST)]:
            old.leave()
        toast = Toast(text, bad, button, run, self)
        self._box.addWidget(toast, 0, Qt.AlignmentFlag.AlignHCenter)
        self.shown.append(toast)
        toast.left.connect(partial(self._let_go, toast))
        QTimer.singleShot(_LONG if bad or run is not None else _SHORT, toast, toast.leave)
        toast.show()
        self._place()
        return toast

    def _let_go(self, toast: Toast) -> None:
        # what is on show is known here: asked for its items, Qt makes wrappers of things it deletes without a word
        self.shown = [t for t in self.shown if t is not toast]
        self._box.removeWidget(toast)
        self._place()

    def _place(self) -> None:
        self.setVisible(bool(self.shown))
        self.adjustSize()
        width = min(560, self._over.width() - 24)
        self.resize(width, self.sizeHint().height())
        left, room = (self._over.width() - width) // 2, self._over.height() - self.height()
        places = [QRect(left, top, width, self.height()) for top in (room - _BELOW, _ABOVE)]
        self.move(min(places, key=self._covered).topLeft())
        self.raise_()

    def _covered(self, place: QRect) -> int:
        both = [place.intersected(each) for each in self._keep_free()]
        return sum(each.width() * each.height() for each in both if not each.isEmpty())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay at the bottom."""
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return super().eventFilter(watched, event)
