"""Word of what would be lost: the state of autosave, and what others did to the file."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QPushButton, QToolButton, QWidget

from designer.gui.controls import Button, Label, plain
from designer.gui.layouts import in_row

if TYPE_CHECKING:
    from designer.gui.documents import Document


class SavingState:
    """A button that says whether work is safe, and a notice when others changed the file.

    Parameters
    ----------
    document
        The document shown.
    save
        Called when the button is pressed.
    settle
        Called with the document and what was chosen in the notice.
    """

    def __init__(
        self,
        document: Callable[[], Document | None],
        save: Callable[[], object],
        settle: Callable[[Document, str], object],
    ) -> None:
        self._document, self._settle = document, settle
        self.button = QToolButton()
        self.button.setObjectName("autosave")
        self.button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.button.clicked.connect(save)
        self.button.hide()
        self.notice = FileNotice()
        self.notice.chosen.connect(self._chosen)

    def listen(self, document: Document) -> None:
        """Follow what happens to a document; only that of the one shown is stated."""
        document.autosave_changed.connect(partial(self._tell_autosave, document))
        document.file_state_changed.connect(partial(self._tell_file, document))

    def tell(self) -> None:
        """Show whether the document in front is saved."""
        self._tell_autosave(self._document())
        self._tell_file(self._document())

    def fit(self) -> None:
        """Be as large as the text needs by now."""
        self.button.setMinimumSize(0, 0)
        self.tell()

    def _tell_autosave(self, about: Document | None, *_: object) -> None:
        """Say whether the work in the document shown would survive a crash."""
        document = self._document()
        self.button.setVisible(document is not None)
        if document is None or about is not document:
            return

        state, modified = document.autosave.value, document.session.modified
        text, tip = autosave_label(state, modified, document.session.file is not None, document.kept_at)
        self.button.setText(text)
        # as wide as it ever was: a button of fixed size asks for no new layout when its text changes
        wanted = self.button.sizeHint().expandedTo(self.button.minimumSize())
        if wanted != self.button.minimumSize():
            self.button.setFixedSize(wanted)
        self.button.setToolTip(plain(tip))
        self.button.setAccessibleName(f"{text}. {tip}")
        if self.button.property("state") != state:
            self.button.setProperty("state", state)
            self.button.style().unpolish(self.button)
            self.button.style().polish(self.button)

    def _tell_file(self, about: Document | None, *_: object) -> None:
        """Say what others did to the file of the document shown."""
        document = self._document()
        if about is not document:
            return
        if document is None or document.file_state.value == "ours":
            self.notice.hide()
            return

        file = document.session.file
        who = document.owner.text if document.owner is not None else ""
        modified = document.session.modified
        self.notice.show_text(*others(document.file_state.value, file.name if file else "", who, modified))

    def _chosen(self, choice: str) -> None:
        document = self._document()
        if choice == "dismiss":
            self.notice.hide()
        elif document is not None:
            self._settle(document, choice)


# A bar over the canvas that stays while others have changed, deleted or opened the file of the design shown.


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


# What is said about work that is not saved, and about files that others change.


def autosave_label(state: str, modified: bool, has_file: bool, kept_at: float) -> tuple[str, str]:
    """Text and tip of the state of the autosave: ``clean``, ``keeping``, ``kept`` or ``failed``."""
    if state == "failed":
        return "Autosave failed", "Unsaved work would not survive a crash: save it, and free some space"
    if not modified:
        if has_file:
            return "Saved", "The file holds all of this design"
        return "Not changed", "Changes will be kept for recovery as they are made"
    save = "click to save" if has_file else "click to save it to a file"
    if state == "kept":
        at = time.strftime("%H:%M", time.localtime(kept_at))
        return f"Autosaved {at}", f"Not saved, but kept for recovery after a crash; {save}"
    return "Autosaving…", f"Not saved; each change is being kept for recovery; {save}"


def others(state: str, name: str, who: str, modified: bool) -> tuple[str, list[tuple[str, str, str]]]:
    """A sentence about a file that others changed, deleted or have open, and what can be done: key, text, tip."""
    dismiss = ("dismiss", "Dismiss", "Go on; you are asked again before anything is overwritten")
    if state == "changed":
        mine = " You have changes of your own." if modified else ""
        return f"{name} was changed by somebody else.{mine}", [
            ("reload", "Reload", "Take over what the file holds; undo brings yours back"),
            ("keep", "Keep mine", "Go on with yours; saving writes over what they did"),
            ("compare", "Compare", "Show both side by side"),
        ]
    if state == "deleted":
        return f"{name} was deleted or moved by somebody else.", [
            ("save", "Save again", "Write the file again"),
            ("save_as", "Save as…", "Write it somewhere else"),
            dismiss,
        ]
    return f"{name} is also open elsewhere: {who}.", [
        ("save_as", "Save as…", "Go on in a file of your own"),
        dismiss,
    ]
