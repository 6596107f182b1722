"""Word of what would be lost: the state of autosave, and what others did to the file."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton

from designer.gui.controls import plain
from designer.gui.dialogs.file_notice import FileNotice

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

    def _tell_autosave(self, about: Document | None, *_: object) -> None:
        """Say whether the work in the document shown would survive a crash."""
        document = self._document()
        self.button.setVisible(document is not None)
        if document is None or about is not document:
            return
        from designer.gui.viewmodels.autosave import autosave_label

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
        from designer.gui.viewmodels.autosave import others

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
