"""Lines of a form: the title, the field, and the bar and marks next to it."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QGridLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QProgressBar,
    QStyle,
    QStyleOptionFrame,
    QWidget,
)

from designer.gui.controls import ChoiceBox, Label, plain
from designer.gui.viewmodels import forms
from designer.gui.viewmodels.forms import Entry

#: from these shares on, a part or link is full or busy
_FULL, _BUSY = 0.95, 0.8
#: shares of a line that its title and its field have
_TITLE, _FIELD = 9, 10
#: what the frames of a field and of a choice take from their text, and a field from its inside [px]
_AIR, _ARROW, _INNER = 24, 42, 2


def dress(widget: QWidget, name: str, value: str) -> None:
    """Set what the style sheet of the window chooses by; a sheet of its own would cost ten times as much."""
    if widget.property(name) != value:
        widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


class ValueField(QLineEdit):
    """A value with its unit: shows it for people, lets one edit it as it is spelled.

    Signals
    -------
    entered : ``str``
    """

    entered = Signal(str)
    focused = Signal()
    sweep_wanted = Signal()

    def __init__(self, entry: Entry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.entry = entry
        self._done = False
        self.show_entry(entry)
        self.textEdited.connect(self._check)
        self.editingFinished.connect(self._finish)

    def show_entry(self, entry: Entry) -> None:
        """Show another value of the same line, unless it is being edited."""
        self.entry = entry
        if self.hasFocus() and self.isModified():
            return
        text = entry.spelled if self.hasFocus() else entry.text
        if text != self.text():
            self.setText(text)
            self.setCursorPosition(0)
        self.setModified(False)
        self.setToolTip(plain(entry.tip))
        if (entry.title, entry.tip) != (self.accessibleName(), self.accessibleDescription()):
            self.setAccessibleName(entry.title)
            self.setAccessibleDescription(entry.tip)
        if not entry.text:
            self.setPlaceholderText("–")

    def reset(self) -> None:
        """Forget what was typed: another value comes."""
        self.setModified(False)
        self._mark("")

    def focusInEvent(self, event: object) -> None:
        """Show what is edited."""
        super().focusInEvent(event)  # type: ignore[arg-type]
        if not self.isModified():
            self.setText(self.entry.spelled)
            self.selectAll()
        self.focused.emit()

    def focusOutEvent(self, event: object) -> None:
        """Show what is for people."""
        super().focusOutEvent(event)  # type: ignore[arg-type]
        if not self.isModified() and not self.property("wrong"):
            self.setText(self.entry.text)
            self.setCursorPosition(0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc gives the old value back."""
        if event.key() == Qt.Key.Key_Escape and self.isModified():
            self.setText(self.entry.spelled)
            self.setModified(False)
            self._mark("")
            return
        super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """A text that is longer than the field ends in dots until it is edited."""
        option = QStyleOptionFrame()
        self.initStyleOption(option)
        around = self.style().subElementRect(QStyle.SubElement.SE_LineEditContents, option, self)
        room = around.adjusted(_INNER, 0, -_INNER, 0)
        if self.hasFocus() or self.fontMetrics().horizontalAdvance(self.text()) <= room.width():
            super().paintEvent(event)
            return
        with QPainter(self) as painter:
            self.style().drawPrimitive(QStyle.PrimitiveElement.PE_PanelLineEdit, option, painter, self)
            painter.setPen(self.palette().text().color())
            short = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
            painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), short)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """What one does with text, and with the value."""
        menu = self.createStandardContextMenu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addSeparator()
        menu.addAction(f"Sweep {self.entry.title}…", self.sweep_wanted.emit)
        menu.popup(event.globalPos())
        event.accept()

    def _check(self, text: str) -> None:
        self._mark(forms.check(self.entry, text))

    def _mark(self, wrong: str) -> None:
        if bool(self.property("wrong")) != bool(wrong):
            self.setProperty("wrong", bool(wrong))
            self.style().unpolish(self)
            self.style().polish(self)
        self.setToolTip(plain(wrong or self.entry.tip))

    def _finish(self) -> None:
        if not self.isModified():
            return
        text = forms.with_unit(self.entry, self.text())
        if forms.check(self.entry, text):
            return
        self.setModified(False)
        if text != self.entry.spelled:
            self.entered.emit(text)


class EntryRow(QWidget):
    """One line of the form: title, value, and how sure it is."""

    entered = Signal(str)
    doubled = Signal()
    focused = Signal()
    sweep_wanted = Signal()

    def __init__(self, entry: Entry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.entry = entry
        self._shown: Entry | None = None
        self.title = Label(role="muted", wrap=True)
        self.value: QWidget = self._editor(entry)
        self.mark = Label()
        self.mark.setFixedWidth(12)
        self.mark.setAlignment(Qt.AlignmentFlag.AlignCenter)
        grid = self._grid = QGridLayout(self)
        self._below = not entry.editable
        grid.setContentsMargins(0, 1, 0, 1)
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(2)
        # the same for every line, so that the fields are aligned
        grid.setColumnStretch(0, _TITLE)
        grid.setColumnStretch(1, _FIELD)
        self.bar: QProgressBar | None = None
        if entry.editable:
            grid.addWidget(self.title, 0, 0)
            grid.addWidget(self.value, 0, 1)
            grid.addWidget(self.mark, 0, 2)
        else:
            grid.addWidget(self.title, 0, 0, 1, 3)
            grid.addWidget(self.value, 1, 0, 1, 3)
        if entry.bar is not None:
            self.bar = QProgressBar()
            self.bar.setTextVisible(False)
            grid.addWidget(self.bar, 2, 0, 1, 3)
        self.show_entry(entry)

    def _editor(self, entry: Entry) -> QWidget:
        if not entry.editable:
            label = Label(wrap=True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            return label
        if entry.dimension in ("choice", "flag"):
            box = ChoiceBox()
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(8)
            box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            box.activated.connect(lambda: self.entered.emit(str(box.currentData())))
            return box
        field = ValueField(entry)
        field.entered.connect(self.entered)
        field.focused.connect(self.focused)
        field.sweep_wanted.connect(self.sweep_wanted)
        return field

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """What one does with the value."""
        if not self.entry.editable:
            super().contextMenuEvent(event)
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(f"Sweep {self.entry.title}…", self.sweep_wanted.emit)
        menu.popup(event.globalPos())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the value next to its title or below it, as the width allows."""
        super().resizeEvent(event)
        self._place()

    def showEvent(self, event: QShowEvent) -> None:
        """What it shows may have changed out of sight."""
        super().showEvent(event)
        self._place()

    def _place(self) -> None:
        """Put a value that is too long for the line of its title below it, at the whole width."""
        # out of sight it has no width yet: it is placed once, when it is shown
        if not self.entry.editable or not self.isVisible():
            return
        text = self.value.currentText() if isinstance(self.value, QComboBox) else self.entry.text
        room = (self.width() - self.mark.width() - 2 * self._grid.horizontalSpacing()) * _FIELD // (_TITLE + _FIELD)
        air = _ARROW if isinstance(self.value, QComboBox) else _AIR
        below = self.fontMetrics().horizontalAdvance(text) + air > room
        if below == self._below:
            return
        self._below = below
        for widget in (self.title, self.value, self.mark):
            self._grid.removeWidget(widget)
        if below:
            self._grid.addWidget(self.title, 0, 0, 1, 3)
            self._grid.addWidget(self.value, 1, 0, 1, 2)
            self._grid.addWidget(self.mark, 1, 2)
        else:
            self._grid.addWidget(self.title, 0, 0)
            self._grid.addWidget(self.value, 0, 1)
            self._grid.addWidget(self.mark, 0, 2)

    def reset(self) -> None:
        """Forget what was typed: another value comes."""
        if isinstance(self.value, ValueField):
            self.value.reset()

    def show_entry(self, entry: Entry) -> None:
        """Show the line again; what is on show already stays."""
        old, self.entry = self._shown, entry
        self._shown = replace(entry, make=None)
        if isinstance(self.value, ValueField):
            self.value.show_entry(entry)
        elif isinstance(self.value, QComboBox):
            fill(self.value, entry)
        if old == self._shown:
            return
        self._place()
        self.title.setText(entry.title)
        self.setToolTip(plain(entry.tip))
        if isinstance(self.value, QLabel):
            self.value.setText(entry.text)
        if self.bar is not None and entry.bar is not None:
            self.bar.setRange(0, 1000)
            self.bar.setValue(round(entry.bar * 1000))
            dress(self.bar, "level", "full" if entry.bar >= _FULL else "busy" if entry.bar >= _BUSY else "free")
        self.mark.setText("●" if entry.overridden else "?" if entry.unsure else "")
        dress(self.mark, "role", "accent" if entry.overridden else "assumed")
        self.mark.setToolTip(plain(entry.tip))


def fill(box: QComboBox, entry: Entry) -> None:
    """Put the choices of a line into a box."""
    choices = entry.choices or (("yes", "yes"), ("no", "no"))
    if [box.itemData(i) for i in range(box.count())] != [c[0] for c in choices]:
        box.clear()
        for value, title in choices:
            box.addItem(title, value)
    index = box.findData(entry.spelled)
    box.setCurrentIndex(index)
    if index < 0:
        box.setPlaceholderText(entry.text)
    box.setAccessibleName(entry.title)
    box.setToolTip(plain(entry.tip))


def sort_of(entry: Entry) -> tuple[bool, bool, bool]:
    """Lines of one sort have the same widgets."""
    return entry.editable, entry.dimension in ("choice", "flag"), entry.bar is not None
