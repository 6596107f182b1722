"""A bar over the canvas that stays while others have changed, deleted or opened the file of the design shown."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from designer.gui.controls import Button, Label
from designer.gui.layouts import in_row


class FileNotice(QFrame):
    """One sentence and what can be done about it.

    Signals
    -------
    chosen : ``str``
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notice")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.text = Label(wrap=True)
        self.buttons: dict[str, QPushButton] = {}
        self._line = in_row((self.text, 1), on=self, margins=(14, 5, 8, 5), spacing=6)
        self.hide()

    def show_text(self, text: str, choices: list[tuple[str, str, str]]) -> None:
        """Show a sentence with buttons: key, text and tip of each."""
        self.text.setText(text)
        self.setAccessibleName(text)
        for button in self.buttons.values():
            self._line.removeWidget(button)
            button.hide()
            button.deleteLater()
        self.buttons = {}
        for key, title, tip in choices:
            button = Button(title, self._sender(key), tip=tip)
            self._line.addWidget(button)
            self.buttons[key] = button
        self.show()

    def _sender(self, key: str) -> Callable[..., None]:
        return partial(self._send, key)

    def _send(self, key: str, *_: object) -> None:
        self.chosen.emit(key)
