"""The fields of the form of a workload: texts with their units, choices, and the list of models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt, QTimer, Signal, SignalInstance
from PySide6.QtGui import QContextMenuEvent, QFocusEvent
from PySide6.QtWidgets import (
    QComboBox,
    QCompleter,
    QFileDialog,
    QLineEdit,
    QMenu,
    QPushButton,
    QToolButton,
    QWidget,
)

from designer.gui.controls import ChoiceBox, Label
from designer.gui.itemmodels.searched import SearchedModel
from designer.gui.layouts import FLUSH, in_column, in_row
from designer.gui.viewmodels import workload_choices
from designer.gui.viewmodels.forms import Entry

_SWEEP: Final = "Sweep this value…"


class SettingText(QLineEdit):
    """A setting that is typed.

    Signals
    -------
    entered
        The keys came here.
    sweep_wanted
        What the workload does over a range of it is wanted.
    confirmed
        Enter was pressed while ids were offered and none of them was chosen: the form is meant.
    """

    entered = Signal()
    sweep_wanted = Signal()
    confirmed = Signal()

    def __init__(self, entry: Entry, known: Sequence[str] = (), parent: QWidget | None = None) -> None:
        super().__init__(entry.spelled, parent)
        self.setPlaceholderText(workload_choices.placeholder(entry))
        self.setCursorPosition(0)
        if known:
            completer = QCompleter(list(known), self)
            completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
            completer.setFilterMode(Qt.MatchFlag.MatchContains)
            self.setCompleter(completer)
            self.returnPressed.connect(lambda: _pass_on(completer, self.confirmed))
            # the list is shown after the text has changed
            self.textEdited.connect(lambda: QTimer.singleShot(0, self, self._close_if_whole))

    def _close_if_whole(self) -> None:
        """What is typed in whole needs no list, which would lie over the next field and take the click on it."""
        completer = self.completer()
        popup = completer.popup() if completer is not None else None
        if popup is None or completer is None or completer.completionCount() != 1:
            return
        if completer.currentCompletion().casefold() == self.text().strip().casefold():
            popup.hide()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Tell what this is about."""
        super().focusInEvent(event)
        self.entered.emit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """What one does with text, and with the value."""
        menu = self.createStandardContextMenu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addSeparator()
        menu.addAction(_SWEEP, self.sweep_wanted.emit)
        menu.popup(event.globalPos())


def _pass_on(completer: QCompleter, confirmed: SignalInstance) -> None:
    """Enter closes what is offered, and would go no further."""
    popup = completer.popup()
    if popup is not None and popup.isVisible() and not popup.currentIndex().isValid():
        popup.hide()
        confirmed.emit()


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
        """Tell what this is about."""
        super().focusInEvent(event)
        self.entered.emit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """What one does with the value."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(_SWEEP, self.sweep_wanted.emit)
        menu.popup(event.globalPos())


class ListedChoice(QComboBox):
    """A long list that is searched by typing words of a title; what is typed and is none of them stands for itself."""

    entered = Signal()
    sweep_wanted = Signal()
    confirmed = Signal()

    def __init__(self, spelled: str, known: Sequence[tuple[str, str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(14)
        self.setMaxVisibleItems(16)
        self.setModel(SearchedModel(known, self))
        found = SearchedModel(known, self)
        completer = QCompleter(found, self)
        completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self.setCompleter(completer)
        line = self.lineEdit()
        assert line is not None
        line.setPlaceholderText("type to search")
        line.textEdited.connect(found.look_for)
        line.returnPressed.connect(lambda: _pass_on(completer, self.confirmed))
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

    def wheelEvent(self, event: object) -> None:
        """Who scrolls the form does not mean to change it."""
        event.ignore()  # type: ignore[attr-defined]

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Tell what this is about."""
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
        self.own.setToolTip("Take a model from its config.json, as Hugging Face keeps it beside the weights")
        self.told = Label(role="muted", wrap=True)
        #: what is wrong with it; empty if nothing is
        self.problem = ""
        line = in_row((self.list, 1), self.own, margins=FLUSH, spacing=6)
        in_column(line, self.told, on=self, margins=FLUSH, spacing=2)
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
        self.told.setText(self.problem or means)
        role = "bad" if self.problem else "muted"
        if self.told.property("role") != role:
            self.told.setProperty("role", role)
            self.told.style().unpolish(self.told)
            self.told.style().polish(self.told)
        self.told.setVisible(bool(self.told.text()))
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
