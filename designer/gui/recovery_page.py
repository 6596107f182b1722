"""The recovery page: everything that runs which ended badly left behind, to be brought back, kept or deleted.

It asks for nothing and forgets nothing: what is not brought back is listed again the next time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QCheckBox, QFrame, QPushButton, QVBoxLayout, QWidget

from designer.gui.controls import Button, Headline, Label, plain
from designer.gui.layouts import FLUSH, in_column, in_row, scrolled
from designer.gui.start_cards import thumbnail
from designer.gui.theme import Theme
from designer.gui.workers import Cancelled_, Newest
from designer.interchange.native.journal import Leftover, State
from designer.plain_text import MONTHS

_PICTURE: Final = QSize(168, 100)
#: between two pictures there is time for a click [ms]
_BETWEEN: Final = 15
#: the widest the list gets [px]
_WIDEST: Final = 980
#: the widest a path gets before it is cut [px]
_PATH: Final = 600
_TITLES: Final = {
    State.UNSAVED: "Unsaved work",
    State.OLDER: "Older than the saved file",
    State.DAMAGED: "Cannot be read",
}
_STATED: Final = {
    State.OLDER: "These files were saved after the program ended; bring one back only to look what was in it.",
    State.DAMAGED: "What is left of them cannot be read. They stay until you delete them.",
}


class JournalEntry(QFrame):
    """One journal: a box to tick, a picture, and what it is.

    Signals
    -------
    ticked
    """

    ticked = Signal()

    def __init__(self, leftover: Leftover, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.leftover = leftover
        self.setObjectName("card")
        self.box = QCheckBox()
        self.box.setChecked(leftover.state is State.UNSAVED)
        self.box.setAccessibleName(f"{leftover.title}, {described(leftover)}")
        self.box.toggled.connect(self._toggled)
        self.picture = Label()
        self.picture.setFixedSize(_PICTURE)
        self._theme = theme
        self.name = Label(leftover.title, role="title")
        words = in_column(1, self.name, spacing=3)
        self.details: list[Label] = []
        place = str(leftover.file) if leftover.file is not None else "Never saved to a file"
        for text, role in ((described(leftover), ""), (place, "muted"), (leftover.remark, "warn")):
            if text and (leftover.state is not State.DAMAGED or role):
                # a long path must not make the page wider than the window
                label = Label(text if role == "warn" else cut(text, self.fontMetrics()), role=role)
                label.setWordWrap(role == "warn")
                label.setToolTip(plain(text))
                self.details.append(label)
                words.addWidget(label)
        words.addStretch(1)
        picture = () if leftover.design is None else (self.picture,)
        in_row(self.box, *picture, (words, 1), on=self, margins=(14, 10, 14, 10), spacing=14)

    def _toggled(self, _on: bool) -> None:
        self.ticked.emit()

    def paint(self, ratio: float) -> None:
        """Make the picture."""
        design = self.leftover.design
        if design is not None:
            self.picture.setPixmap(thumbnail(design, self._theme, _PICTURE, ratio))

    @property
    def waits(self) -> bool:
        """True if it has no picture yet."""
        return self.leftover.design is not None and self.picture.pixmap().isNull()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click anywhere ticks."""
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.box.toggle()
            self.box.setFocus()


class RecoveryPage(QWidget):
    """Lists what was left behind.

    Signals
    -------
    restore_wanted, delete_wanted : ``list[Path]``
    left
        Somebody wants back to where they came from.
    counted : ``int``
        How many designs with unsaved work there are.
    """

    restore_wanted = Signal(object)
    delete_wanted = Signal(object)
    left = Signal()
    counted = Signal(int)

    def __init__(
        self, theme: Theme, look: Callable[[Cancelled_], list[Leftover]], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("start")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._theme, self._look = theme, look
        self.entries: list[JournalEntry] = []
        self.heading = Headline(1.6, "Recovery")
        self.stated = Label(role="muted", wrap=True)
        self.restore = QPushButton("&Bring back")
        self.restore.setProperty("primary", True)
        self.restore.clicked.connect(lambda: self.restore_wanted.emit(self.chosen()))
        self.all = Button("Select &all", self._tick_all)
        self.delete = Button("&Delete…", lambda: self.delete_wanted.emit(self.chosen(damaged=True)))
        self.back = Button("&Not now", self.left, tip="They stay, and can be brought back later from the File menu")
        line = in_row(self.restore, self.all, 1, self.delete, self.back, spacing=8)
        self._list = QVBoxLayout()
        self._list.setSpacing(10)
        self._shown: list[QWidget] = []
        inside = QWidget()
        inside.setMaximumWidth(_WIDEST)
        in_column(self.heading, self.stated, line, self._list, 1, on=inside, margins=FLUSH, spacing=12)
        page = QWidget()
        page.setObjectName("start")
        page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        in_row((inside, 1), 0, on=page, margins=(44, 30, 44, 40))
        self.area = scrolled(page)
        in_column(self.area, on=self, margins=FLUSH)
        self._painter = QTimer(self)
        self._painter.setInterval(_BETWEEN)
        self._painter.timeout.connect(self._paint_next)
        self._jobs = Newest(self)
        self._jobs.finished.connect(self._arrived)
        self._tell()

    # ---- filling

    def fill(self) -> None:
        """Look what was left behind, on a thread; the list is shown when that is done."""
        if not self.entries:
            self.stated.setText("Looking what earlier runs left behind…")
        self._jobs.submit(self._look)

    def _arrived(self, _ticket: int, result: object) -> None:
        if isinstance(result, Exception):
            self.stated.setText(f"What was left behind cannot be looked at: {result}")
            return
        assert isinstance(result, list)
        self.show_leftovers(result)

    def show_leftovers(self, found: list[Leftover]) -> None:
        """List these; what was ticked stays as it was."""
        ticks = {e.leftover.journal: e.box.isChecked() for e in self.entries}
        for widget in self._shown:
            self._list.removeWidget(widget)
            widget.hide()
            widget.setParent(None)
            widget.deleteLater()
        self._shown, self.entries = [], []
        for state, title in _TITLES.items():
            these = [x for x in found if x.state is state]
            if these and (state is not State.UNSAVED or len(these) < len(found)):
                self._head(title, _STATED.get(state, ""))
            for leftover in these:
                entry = JournalEntry(leftover, self._theme)
                entry.box.setChecked(ticks.get(leftover.journal, entry.box.isChecked()))
                entry.ticked.connect(self._tell)
                self.entries.append(entry)
                self._put(entry)
        self._tell()
        self._painter.start()
        self.counted.emit(sum(x.state is State.UNSAVED for x in found))

    def _head(self, title: str, stated: str) -> None:
        head = Label(title, role="title")
        head.setContentsMargins(0, 8 if self._shown else 0, 0, 0)
        self._put(head)
        if stated:
            below = Label(stated, role="muted", wrap=True)
            self._put(below)

    def _put(self, widget: QWidget) -> None:
        self._list.addWidget(widget)
        self._shown.append(widget)

    def _tell(self) -> None:
        unsaved = sum(e.leftover.state is State.UNSAVED for e in self.entries)
        if not self.entries:
            text = "Nothing is left of earlier runs: all work was saved or given up knowingly."
        elif not unsaved:
            text = "No unsaved work is left of earlier runs."
        else:
            text = (
                f"The program ended with {several(unsaved)} that {'was' if unsaved == 1 else 'were'} not saved. "
                "What is not brought back stays here."
            )
        self.stated.setText(text)
        chosen = len(self.chosen())
        self.restore.setText("&Bring back" if not chosen else f"&Bring back {several(chosen)}")
        self.restore.setEnabled(chosen > 0)
        self.delete.setEnabled(bool(self.chosen(damaged=True)))
        self.all.setText("Select n&one" if self._all_ticked() else "Select &all")
        for button in (self.restore, self.all, self.delete):
            button.setVisible(bool(self.entries))
        self.back.setText("&Not now" if unsaved else "&Back")

    def _all_ticked(self) -> bool:
        return bool(self.entries) and all(e.box.isChecked() for e in self.entries)

    def _tick_all(self) -> None:
        on = not self._all_ticked()
        for entry in self.entries:
            entry.box.setChecked(on)

    def chosen(self, damaged: bool = False) -> list[Path]:
        """The journals that are ticked; with `damaged` also those that cannot be brought back."""
        ticked = [e.leftover for e in self.entries if e.box.isChecked()]
        return [x.journal for x in ticked if damaged or x.state is not State.DAMAGED]

    def titles(self, journals: list[Path]) -> list[tuple[str, str]]:
        """Name and description of some journals."""
        return [(e.leftover.title, described(e.leftover)) for e in self.entries if e.leftover.journal in journals]

    def set_theme(self, theme: Theme) -> None:
        """Other colours: the pictures are made again."""
        self._theme = theme
        self.show_leftovers([e.leftover for e in self.entries])

    def close_jobs(self) -> None:
        """Stop what runs."""
        self._painter.stop()
        self._jobs.close()

    def _paint_next(self) -> None:
        if self.isVisible():
            for entry in self.entries:
                if entry.waits:
                    entry.paint(self.devicePixelRatioF())
                    return
        self._painter.stop()

    def showEvent(self, event: object) -> None:
        """Go on painting."""
        super().showEvent(event)  # type: ignore[arg-type]
        self._painter.start()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc goes back."""
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
            return
        super().keyPressEvent(event)


def several(number: int) -> str:
    """ "1 design", "3 designs"."""
    return "1 design" if number == 1 else f"{number} designs"


def described(leftover: Leftover) -> str:
    """When and how much: "12 edits, today 14:03"."""
    edits = "1 edit" if leftover.edits == 1 else f"{leftover.edits} edits"
    return f"{edits if leftover.edits else 'Not edited yet'}, {when(leftover.written, time.time())}"


def when(at: float, now: float) -> str:
    """A time as one says it: "today 14:03", "21 November 2026, 14:03"."""
    then, today = time.localtime(at), time.localtime(now)
    clock = time.strftime("%H:%M", then)
    if then[:3] == today[:3]:
        return f"today {clock}"
    if then[:3] == time.localtime(now - 86_400)[:3]:
        return f"yesterday {clock}"
    return f"{then.tm_mday} {MONTHS[then.tm_mon - 1]} {then.tm_year}, {clock}"


def cut(text: str, metrics: QFontMetrics) -> str:
    """A path cut in its middle where it does not fit."""
    return metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, _PATH)
