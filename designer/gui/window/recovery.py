"""Work that runs which ended badly left behind: looked for, offered, brought back or deleted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStackedWidget, QWidget

from designer.gui.dialogs.toast import Toasts
from designer.gui.files import Files
from designer.gui.start_page import StartPage
from designer.gui.theme import Theme

if TYPE_CHECKING:
    from designer.gui.documents import Document
    from designer.gui.recovery_page import RecoveryPage
    from designer.gui.workspace import Workspace


class RecoveryWindow(Protocol):
    """What recovery asks of the window."""

    theme: Theme
    toasts: Toasts
    files: Files
    start: StartPage
    pages: QStackedWidget

    @property
    def workspace(self) -> Workspace:
        """The open documents."""
        ...

    @property
    def document(self) -> Document | None:
        """The document shown."""
        ...

    def show_page(self, page: QWidget) -> None:
        """Show a page that is no document."""
        ...

    def show_document(self, document: Document) -> None:
        """Bring a document to the front."""
        ...

    def leave_page(self) -> None:
        """Back from a page to the documents."""
        ...

    def focus_canvas(self) -> None:
        """Give the keys to the canvas."""
        ...


class Recovery:
    """The page of work left behind, made at first need, and what is done from it."""

    def __init__(self, host: RecoveryWindow) -> None:
        self._host = host
        self.page: RecoveryPage | None = None

    def _ready_page(self) -> RecoveryPage:
        if self.page is None:
            from designer.gui.recovery_page import RecoveryPage

            page = self.page = RecoveryPage(self._host.theme, self._host.workspace.leftovers)
            page.restore_wanted.connect(self._bring_back)
            page.delete_wanted.connect(self._delete)
            page.left.connect(self._leave)
            page.counted.connect(self._host.start.tell_leftovers)
            self._host.pages.addWidget(page)
        return self.page

    def show(self) -> None:
        """Show what was left behind."""
        page = self._ready_page()
        page.fill()
        self._host.show_page(page)
        page.setFocus()

    def look(self) -> None:
        """Look what was left behind, and state if that is something."""
        page = self._ready_page()
        page.counted.connect(self._offer, Qt.ConnectionType.SingleShotConnection)
        page.fill()

    def _offer(self, number: int) -> None:
        if not number or self._host.pages.currentWidget() is self.page:
            return
        if self._host.document is None:
            # nobody is at work yet: there is nothing more important to show
            self.show()
            return
        designs = "1 design" if number == 1 else f"{number} designs"
        self._host.toasts.say(f"An earlier run ended with unsaved work in {designs}.", False, "Show", self.show)

    def _leave(self) -> None:
        self._host.leave_page()
        self._host.focus_canvas()

    def _bring_back(self, journals: list[Path]) -> None:
        back = [d for d in map(self._host.workspace.recover, journals) if d is not None]
        self._ready_page().fill()
        if back:
            self._host.show_document(back[0])
            self._host.toasts.say("Brought back 1 design" if len(back) == 1 else f"Brought back {len(back)} designs")

    def _delete(self, journals: list[Path]) -> None:
        from designer.interchange.native.journal import remove

        page = self._ready_page()
        if self._host.files.ask_to_delete(page.titles(journals)):
            for journal in journals:
                remove(journal)
            page.fill()

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        if self.page is not None:
            self.page.set_theme(theme)

    def close(self) -> None:
        """Stop looking."""
        if self.page is not None:
            self.page.close_jobs()
