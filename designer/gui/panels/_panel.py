"""What every dock panel does: follow the current document, and redraw only while it can be seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from designer.gui.session import Session
from designer.gui.theme import Theme

#: how long a panel waits for the answer to an edit [ms]
_HOLD: Final = 24


class Panel(QWidget):
    """Base of the panels. Sub-classes give ``watch`` and ``refresh``."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.theme = theme
        self.session: Session | None = None
        self._connections: list[tuple[Any, Callable[..., Any]]] = []
        self._dirty = True
        self._front = True
        #: how often it was redrawn
        self.redraws = 0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._redraw)

    def set_session(self, session: Session | None) -> None:
        """Follow another document."""
        for signal, slot in self._connections:
            signal.disconnect(slot)
        self._connections.clear()
        self.session = session
        if session is not None:
            self.watch(session)
        self.outdate()

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self.theme = theme
        self.outdate()

    def watch(self, session: Session) -> None:
        """Connect to what the panel shows, by `connect_signal`."""

    def refresh(self) -> None:
        """Show the present state of the session."""

    def entry(self) -> QWidget | None:
        """Where the keys go when one comes to the panel by key; None for its first field."""
        return None

    def connect_signal(self, signal: Any, slot: Callable[..., Any]) -> None:
        """Connect a signal of the session until another document is followed."""
        signal.connect(slot)
        self._connections.append((signal, slot))

    @property
    def seen(self) -> bool:
        """True if any of it can be seen: Qt calls a panel behind another tab visible, people do not."""
        return self._front and self.isVisible()

    def set_front(self, front: bool) -> None:
        """Whether its tab is the one in front; what became old meanwhile is redrawn."""
        self._front = front
        if front and self._dirty and self.isVisible():
            self._timer.start(0)

    @property
    def pending(self) -> bool:
        """True if it can be seen and will be redrawn."""
        return self.seen and self._dirty

    def outdate(self, *_: object) -> None:
        """What is shown is old: redraw soon, once, and only if it can be seen."""
        self._dirty = True
        if self.seen:
            # while loads are worked out their answer is waited for, shortly, so that both are shown by one redraw
            self._timer.start(_HOLD if self.session is not None and self.session.stale else 0)

    def _redraw(self) -> None:
        if self._dirty and self.seen:
            self.flush()

    def flush(self) -> None:
        """Redraw at once, seen or not."""
        self._dirty = False
        self._timer.stop()
        self.redraws += 1
        self.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        """Redraw what became old while hidden."""
        super().showEvent(event)
        if self._dirty:
            self._timer.start(0)
