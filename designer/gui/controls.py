"""Qt's own controls with the two habits every one of ours has: texts are shown as they are, and the wheel only scrolls.

Qt takes a text that begins like HTML for HTML, and then loads the pictures it names. A name from a design or a file is
nobody's markup, so labels are plain from the start and other texts go through `plain`. A house test sees to both.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QEvent, Qt, SignalInstance
from PySide6.QtGui import (
    QClipboard,
    QContextMenuEvent,
    QFont,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QWheelEvent,
)
from PySide6.QtGui import Qt as GuiQt
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QLabel,
    QMenu,
    QPushButton,
    QSlider,
    QSpinBox,
    QStyle,
    QStyleOptionComboBox,
    QWidget,
)

from designer.plain_text import BREAK, breakable, harmless, in_one_line, shortened

#: laying out more characters than this makes the window wait
_LONGEST: Final = 6000


class Label(QLabel):
    """A label that shows its text as it is, and of a text without end the beginning and the end.

    Parameters
    ----------
    role
        How the theme shows it, such as ``muted``.
    wrap
        True if a long text is broken into lines.
    """

    def __init__(self, text: str = "", parent: QWidget | None = None, *, role: str = "", wrap: bool = False) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        if role:
            self.setProperty("role", role)
        self.setText(text)

    def setText(self, text: str) -> None:
        """Show another text."""
        shown = harmless(shortened(text, _LONGEST))
        super().setText(breakable(shown) if self.wordWrap() else shown)

    def text(self) -> str:
        """What is shown, without the places to break it at."""
        return super().text().replace(BREAK, "")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy what is read."""
        if event.matches(QKeySequence.StandardKey.Copy) and self.hasSelectedText():
            self._copy()
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """What is marked can be pasted by the middle button as well."""
        super().mouseReleaseEvent(event)
        clipboard = QGuiApplication.clipboard()
        if self.hasSelectedText() and clipboard.supportsSelection():
            clipboard.setText(self.selectedText().replace(BREAK, ""), QClipboard.Mode.Selection)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Copy what is marked."""
        if not self.hasSelectedText():
            super().contextMenuEvent(event)
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Copy", self._copy)
        menu.popup(event.globalPos())

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.selectedText().replace(BREAK, ""))


class Headline(Label):
    """A bold label, so many times as large as the other text, which grows and shrinks with it."""

    def __init__(self, share: float, text: str = "", *, wrap: bool = False) -> None:
        super().__init__(text, wrap=wrap)
        self._share = share
        self._resize_text()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._resize_text()

    def _resize_text(self) -> None:
        font = QApplication.font()
        font.setPointSizeF(font.pointSizeF() * self._share)
        font.setWeight(QFont.Weight.DemiBold)
        self.setFont(font)


class MarkedLabel(QLabel):
    """A label with markup of ours; names written into it are escaped first."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setText(text)


class Button(QPushButton):
    """A button, what it does, the tip over it, and its name for who does not see it."""

    def __init__(
        self,
        text: str = "",
        run: Callable[..., object] | SignalInstance | None = None,
        *,
        tip: str = "",
        name: str = "",
    ) -> None:
        super().__init__(text)
        if run is not None:
            self.clicked.connect(run)
        if tip:
            self.setToolTip(plain(tip))
        if name:
            self.setAccessibleName(name)


class ChoiceBox(QComboBox):
    """A choice that the wheel passes over: who scrolls a form does not mean to change it. Each is one line."""

    def addItem(self, text: str, data: object = None) -> None:  # type: ignore[override]
        """Offer one more."""
        super().addItem(in_one_line(text), data)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave it to what scrolls."""
        event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Of what is too long, its beginning and …; Qt would cut it in the middle of a letter."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        room = (
            self.style()
            .subControlRect(QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, self)
            .width()
        )
        short = self.fontMetrics().elidedText(self.currentText(), Qt.TextElideMode.ElideRight, room - 2)
        if self.isEditable() or self.currentIndex() < 0 or short == self.currentText():
            super().paintEvent(event)
            return
        option.currentText = short  # type: ignore[misc]
        with QPainter(self) as painter:
            self.style().drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option, painter, self)
            self.style().drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option, painter, self)


class Slider(QSlider):
    """A slider that the wheel passes over."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave it to what scrolls."""
        event.ignore()


class NumberBox(QSpinBox):
    """A number that the wheel passes over."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        # as far from the frame as the text of other fields; style sheets do not reach it
        self.lineEdit().setTextMargins(5, 0, 0, 0)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave it to what scrolls."""
        event.ignore()


def plain(text: str) -> str:
    """A text for a tip or a message box, which know no plain text: what looks like HTML is written so that it shows as
    it was meant.
    """
    text = harmless(shortened(text))
    if not GuiQt.mightBeRichText(text):
        return text
    return f"<p style='white-space:pre-wrap'>{html.escape(text)}</p>"
