"""The fields of the form of a workload: texts with their units, choices, and the list of models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFocusEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QMenu,
    QPushButton,
    QToolButton,
    QWidget,
)

from designer.gui.completing import CompletedChoice, CompletedLine
from designer.gui.controls import ChoiceBox, Label
from designer.gui.itemmodels.choices import SearchedModel
from designer.gui.layouts import FLUSH, in_column, in_row
from designer.gui.viewmodels import workload_choices
from designer.gui.viewmodels.forms import Entry

_SWEEP: Final = "Sweep this value…"


class SettingText(CompletedLine):
    """A setting that is typed.

    Signals
    -------
    entered
        The keys came here.
    sweep_wanted
        What the workload does over a range of it is wanted.
    """

    entered = Signal()
    sweep_wanted = Signal()

    def __init__(self, entry: Entry, known: Sequence[str] = (), parent: QWidget | None = None) -> None:
        super().__init__(entry.spelled, known, parent)
        self.setPlaceholderText(workload_choices.placeholder(entry))
        self.setCursorPosition(0)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show what this is about."""
        super().focusInEvent(event)
        self.entered.emit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """What one does with text, and with the value."""
        menu = self.createStandardContextMenu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addSeparator()
        menu.addAction(_SWEEP, self.sweep_wanted.emit)
        menu.popup(event.globalPos())


class SettingChoice(ChoiceBox):
    """A setting that is chosen from a few; signals as of `SettingText`."""

    entered = Signal()
    sweep_wanted = Signal()

    def __init__(self, entry: Entry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(10)
        for value, title in entry.choices or (("yes", "yes"), ("no", "no")):
            self.addItem(title or "as the design has it", value)
        self.setCurrentIndex(max(0, self.findData(entry.spelled)))

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show what this is about."""
        super().focusInEvent(event)
        self.entered.emit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """What one does with the value."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(_SWEEP, self.sweep_wanted.emit)
        menu.popup(event.globalPos())


class ListedChoice(CompletedChoice):
    """A long list that is searched by typing words of a title; what is typed and is none of them represents itself."""

    entered = Signal()
    sweep_wanted = Signal()

    def __init__(self, spelled: str, known: Sequence[tuple[str, str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMinimumContentsLength(14)
        self.setMaxVisibleItems(16)
        self.setModel(SearchedModel(known, self))
        self.offer(known)
        line = self.lineEdit()
        assert line is not None
        line.setPlaceholderText("type to search")
        self.show_value(spelled)

    def show_value(self, spelled: str) -> None:
        """Choose an entry by its id, or show what is none."""
        at = self.findData(spelled)
        self.setCurrentIndex(at)
        if at < 0:
            self.setEditText(spelled)
        line = self.lineEdit()
        if line is not None:
            line.setCursorPosition(0)

    @property
    def spelled(self) -> str:
        """The id of what is chosen, or what was typed."""
        text = self.currentText().strip()
        at = self.findText(text)
        return str(self.itemData(at)) if at >= 0 else text

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show what this is about."""
        super().focusInEvent(event)
        self.entered.emit()


class ModelField(QWidget):
    """A model from the list, or one's own ``config.json``; says what it is, or what is wrong with it.

    Signals
    -------
    changed
        Another model was chosen.
    entered
        The keys came here.
    """

    changed = Signal()
    entered = Signal()

    def __init__(self, entry: Entry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.list = ListedChoice(entry.spelled, workload_choices.model_choices())
        self.list.setAccessibleName(entry.title)
        self.own = QPushButton("config.json…")
        self.own.setAutoDefault(False)
        self.own.setToolTip("Take a model from its config.json, as Hugging Face keeps it with the weights")
        self.stated = Label(role="muted", wrap=True)
        #: what is wrong with it; empty if nothing is
        self.problem = ""
        line = in_row((self.list, 1), self.own, margins=FLUSH, spacing=6)
        in_column(line, self.stated, on=self, margins=FLUSH, spacing=2)
        self.setFocusProxy(self.list)
        self.list.entered.connect(self.entered)
        self.list.editTextChanged.connect(self._look)
        self.own.clicked.connect(self._ask)
        self._look()

    @property
    def spelled(self) -> str:
        """The model: an id, a path or JSON."""
        return self.list.spelled

    def take(self, path: str) -> None:
        """Take a ``config.json``."""
        self.list.show_value(path)
        self._look()

    def _look(self, *_: object) -> None:
        self.problem, means = workload_choices.check_model(self.spelled)
        self.stated.setText(self.problem or means)
        role = "bad" if self.problem else "muted"
        if self.stated.property("role") != role:
            self.stated.setProperty("role", role)
            self.stated.style().unpolish(self.stated)
            self.stated.style().polish(self.stated)
        self.stated.setVisible(bool(self.stated.text()))
        self.changed.emit()

    def _ask(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "Model configuration", "", "Model configuration (*.json)")
        if name:
            self.take(name)


class GroupHead(QToolButton):
    """The heading of a group of settings, which opens and closes it; closed it says what differs from the default."""

    def __init__(self, title: str, body: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title, self.body = title, body
        self.setText(title)
        self.setCheckable(True)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setStyleSheet(
            "QToolButton { font-weight: 600; padding: 4px 2px; } QToolButton:checked { background: none; }"
        )
        self.toggled.connect(self._open)

    def _open(self, on: bool) -> None:
        self.setArrowType(Qt.ArrowType.DownArrow if on else Qt.ArrowType.RightArrow)
        self.body.setVisible(on)

    def begin(self, on: bool) -> None:
        """Open or closed from the start."""
        self.setChecked(on)
        self._open(on)
