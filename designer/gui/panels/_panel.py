"""What every panel does: follow the current document, and redraw only while it can be seen; and what a file of
this folder says of its panel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QIcon, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from designer.gui.session import Session
from designer.gui.settings import Settings
from designer.gui.theme import Theme
from designer.registry import discover

if TYPE_CHECKING:
    from designer.design.document import Design

#: how long a panel waits for the answer to an edit [ms]
_HOLD: Final = 24


#: title, and the design where it is at hand
Other = tuple[str, Callable[[], "Design | None"]]


class Place(Enum):
    """Where a panel is shown: in the palette over the canvas, in a place of the side panel, or below the canvas."""

    PALETTE = "Parts"
    ANSWER = "Answer"
    LINKS = "Links"
    CHECKS = "Checks"
    IMPROVE = "Improve"
    TIME = "Time"
    RUN = "Run"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What panels are made with: colours, what is kept, icons of kinds, and the other designs one may compare with."""

    theme: Theme
    settings: Settings
    find_icon: Callable[[str], QIcon | None]
    others: Callable[[], Sequence[Other]]


@dataclass(frozen=True, slots=True)
class PanelKind:
    """A panel as its file declares it, under the name ``PANEL``.

    Parameters
    ----------
    order
        Among those of its place; the first is in front.
    shortcut
        Brings it to the front.
    wanted
        True if there is anything in it for the shown workload of a session; a panel without one always has.
    """

    name: str
    title: str
    place: Place
    order: int
    build: Callable[[Surroundings], Panel]
    shortcut: str = ""
    wanted: Callable[[Session], bool] | None = None


@cache
def panel_kinds() -> tuple[PanelKind, ...]:
    """All panels, place by place and in order; loads their files."""
    found = discover("designer.gui.panels", "PANEL", PanelKind)
    places = list(Place)
    return tuple(sorted(found.values(), key=lambda k: (places.index(k.place), k.order, k.name)))


class Panel(QWidget):
    """Base of the panels. Sub-classes give ``watch`` and ``refresh``.

    Signals
    -------
    canvas_wanted
        Esc: the keys go back to the canvas.
    """

    canvas_wanted = Signal()

    #: True if a panel was redrawn in this turn of the event loop
    _taken: ClassVar = False

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
        self._timer = QTimer(self, singleShot=True, interval=0)
        self._timer.timeout.connect(self._redraw)

    def set_session(self, session: Session | None) -> None:
        """Follow another document."""
        for signal, slot in self._connections:
            signal.disconnect(slot)
        self._connections.clear()
        before, self.session = self.session, session
        if session is not None:
            self.watch(session)
        self.outdate()
        if session is None and before is not None:
            # out of sight as well: what is shown would keep what the closed document was made of
            self.let_go()
            self.flush()

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self.theme = theme
        self.outdate()

    def watch(self, session: Session) -> None:
        """Connect to what the panel shows, by `connect_signal`."""

    def let_go(self) -> None:
        """The last document was closed: forget answers about it; what is shown of it is redrawn after."""

    def refresh(self) -> None:
        """Show the present state of the session."""

    def entry(self) -> QWidget | None:
        """Where the keys go when one comes to the panel by key; None for its first field."""
        return None

    def close_jobs(self) -> None:
        """Stop what runs: the window goes away."""

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
        if self._dirty and self.seen and not self._waits():
            self.flush()

    def _waits(self) -> bool:
        """True if another panel was redrawn in this turn of the event loop: all in one would hold up keys and mouse."""
        if Panel._taken:
            self._timer.start(0)
        return Panel._taken

    @staticmethod
    def _take_turn() -> None:
        """No other panel is redrawn in this turn; what is posted now comes with the next."""
        if not Panel._taken:
            Panel._taken = True
            QTimer.singleShot(0, Panel._next_turn)

    @staticmethod
    def _next_turn() -> None:
        Panel._taken = False

    def flush(self) -> None:
        """Redraw at once, seen or not."""
        self._dirty = False
        self._timer.stop()
        self.redraws += 1
        self.refresh()
        self._take_turn()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc that nothing in the panel has a use for leaves it."""
        if event.key() == Qt.Key.Key_Escape:
            self.canvas_wanted.emit()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        """Redraw what became old while hidden."""
        super().showEvent(event)
        if self._dirty:
            self._timer.start(0)
