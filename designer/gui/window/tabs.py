"""The open documents in the window: a tab, a canvas and a watch over virtual machines for each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QStackedWidget, QTabBar, QToolButton, QWidget

from designer.gui import icons
from designer.gui.controls import plain
from designer.gui.theme import Theme
from designer.plain_text import in_one_line

if TYPE_CHECKING:
    from designer.gui.canvas.canvas import Canvas
    from designer.gui.canvas.machine_watch import MachineWatch
    from designer.gui.documents import Document

_CLOSE_ICON: Final = QSize(12, 12)
#: a tab names so many letters of a title
_LONGEST: Final = 48
#: what distinguishes two designs of one name
_NUMBER: Final = re.compile(r" \(\d+\)$")


def cut_apart(names: Sequence[str]) -> list[str]:
    """Names cut to the letters of a tab: at the end, but before a number in brackets; in the middle, where two that
    differ would read the same.
    """

    def cut(name: str) -> str:
        tail = _NUMBER.search(name)
        end = tail[0] if tail is not None else ""
        return name if len(name) <= _LONGEST else name[: _LONGEST - 1 - len(end)].rstrip() + "…" + end

    found = [cut(name) for name in names]
    equal = {text for text in found if len({name for name, own in zip(names, found, strict=True) if own == text}) > 1}
    half = _LONGEST // 2
    return [
        f"{name[: half - 1]}…{name[-half:]}" if text in equal else text for name, text in zip(names, found, strict=True)
    ]


class Tabs:
    """The tab bar and the pages below it. Pages that are no document have no tab.

    Parameters
    ----------
    picked
        Called when another tab comes to the front.
    close
        Called when a document shall be closed.
    """

    def __init__(self, picked: Callable[[], None], close: Callable[[Document], None]) -> None:
        self._picked, self._close = picked, close
        self.order: list[Document] = []
        self._canvases: dict[Document, Canvas] = {}
        self._watches: dict[Document, MachineWatch] = {}
        self.pages = QStackedWidget()
        self.bar = QTabBar()
        self.bar.setObjectName("documents")
        self.bar.setMovable(False)
        self.bar.setExpanding(False)
        self.bar.setDocumentMode(True)
        self.bar.setDrawBase(False)
        # where there is little room names are shortened; buttons to scroll would cover the button that closes
        self.bar.setUsesScrollButtons(False)
        self.bar.setElideMode(Qt.TextElideMode.ElideRight)
        self.bar.currentChanged.connect(self._changed)
        self.bar.hide()

    def __iter__(self) -> Iterator[tuple[Document, Canvas]]:
        return ((d, self._canvases[d]) for d in self.order)

    @property
    def shown(self) -> Document | None:
        """The document shown; None while another page is."""
        front = self._front
        return front if front is not None and self.pages.currentWidget() is self._canvases.get(front) else None

    @property
    def _front(self) -> Document | None:
        """The document of the tab in front, whatever page is shown."""
        at = self.bar.currentIndex()
        return self.order[at] if 0 <= at < len(self.order) else None

    def canvas(self, document: Document | None) -> Canvas | None:
        """The canvas of a document."""
        return self._canvases.get(document) if document is not None else None

    def add(self, document: Document, canvas: Canvas, watch: MachineWatch, theme: Theme) -> None:
        """Give a document a tab at the end, and bring it to the front."""
        self._canvases[document], self._watches[document] = canvas, watch
        self.order.append(document)
        self.pages.addWidget(canvas)
        at = self.bar.addTab(document.session.title)
        close = QToolButton()
        close.setObjectName("closetab")
        close.setIcon(icons.icon("close", theme.faint))
        close.setIconSize(_CLOSE_ICON)
        close.setAccessibleName("Close design")
        close.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        close.clicked.connect(partial(self._close_wanted, document))
        self.bar.setTabButton(at, QTabBar.ButtonPosition.RightSide, close)
        self.bar.setCurrentIndex(at)

    def remove(self, document: Document) -> None:
        """Take a document out; no tab is picked by that."""
        at, canvas = self.order.index(document), self._canvases.pop(document)
        self._watches.pop(document).close()
        self.order.remove(document)
        self.bar.blockSignals(True)
        self.bar.removeTab(at)
        self.bar.blockSignals(False)
        self.pages.removeWidget(canvas)
        canvas.hide()
        canvas.setParent(None)
        canvas.deleteLater()

    def bring(self, document: Document) -> None:
        """Bring the tab of a document to the front."""
        self.bar.setCurrentIndex(self.order.index(document))

    def show(self) -> Document | None:
        """Show the document of the tab in front, and say which that is."""
        document = self._front
        if document is not None:
            self.pages.setCurrentWidget(self._canvases[document])
            self.bar.setVisible(True)
        return document

    def show_page(self, page: QWidget) -> None:
        """Show a page that is no document."""
        self.pages.setCurrentWidget(page)
        self.bar.setVisible(bool(self.order))

    def next(self, by: int) -> None:
        """Bring a tab further on to the front."""
        if self.order:
            self.bar.setCurrentIndex((self.bar.currentIndex() + by) % self.bar.count())

    def retitle(self, names: Mapping[Document, str]) -> None:
        """Name every tab, with a dot where something is not saved."""
        cut = cut_apart([in_one_line(names.get(document, document.session.title)) for document in self.order])
        for at, document in enumerate(self.order):
            session = document.session
            text = ("● " if session.modified else "") + cut[at].replace("&", "&&")
            if text != self.bar.tabText(at):
                self.bar.setTabText(at, text)
            self.bar.setTabToolTip(at, plain(str(session.file or "not saved yet")))

    def _changed(self, at: int) -> None:
        if 0 <= at < len(self.order):
            self._picked()

    def _close_wanted(self, document: Document, *_: object) -> None:
        if document in self.order:
            self._close(document)
