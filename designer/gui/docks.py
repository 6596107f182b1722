"""The docks around the canvas: which there are, where they stand, and that they follow one session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtWidgets import QDockWidget, QMainWindow, QScrollArea, QTabBar, QTabWidget, QWidget

from designer.gui.panels._panel import Panel, PanelKind, Side, Surroundings, panel_kinds
from designer.gui.panels.compare import ComparePanel
from designer.gui.panels.findings import FindingsPanel
from designer.gui.panels.flow import FlowPanel
from designer.gui.panels.inspector import InspectorPanel
from designer.gui.panels.outline import OutlinePanel
from designer.gui.panels.parts import PartsPanel
from designer.gui.theme import Theme

if TYPE_CHECKING:
    from designer.gui.session import Session

P = TypeVar("P", bound=Panel)
_WIDTH, _RIGHT_WIDTH, _HEIGHT = 270, 320, 276


def first_field(panel: QWidget) -> QWidget:
    """The first widget of a panel that takes keys, as one reads; the panel itself if none does.

    The chain of the focus is not followed: it leads through other panels, and Python would take what it finds there for
    children of this one, which end with it.
    """
    found: list[tuple[int, int, QWidget]] = []
    for child in panel.findChildren(QWidget):
        # an area that only scrolls has nothing to say to the keys
        takes = child.focusPolicy() & Qt.FocusPolicy.TabFocus and not isinstance(child, QScrollArea)
        if takes and child.isEnabled() and child.isVisibleTo(panel):
            at = child.mapTo(panel, QPoint(0, 0))
            found.append((at.y(), at.x(), child))
    return min(found, key=lambda each: each[:2])[2] if found else panel


class _Panels(Mapping[str, Panel]):
    """Panels by name, each made when it is first asked for."""

    def __init__(self, kinds: Mapping[str, PanelKind], make: Callable[[str], Panel]) -> None:
        self._kinds, self._make = kinds, make

    def __getitem__(self, name: str) -> Panel:
        if name not in self._kinds:
            raise KeyError(name)
        return self._make(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)


class Docks:
    """All docks of a window.

    Parameters
    ----------
    made
        Panels that are there already, by name.
    """

    def __init__(self, window: QMainWindow, around: Surroundings, made: Mapping[str, Panel]) -> None:
        self._window, self._around = window, around
        self._session: Session | None = None
        self._kinds = {kind.name: kind for kind in panel_kinds()}
        self._made: dict[str, Panel] = {}
        #: all panels by name; asked for one that was never in front, it makes it
        self.panels: Mapping[str, Panel] = _Panels(self._kinds, self._panel)
        self.docks: dict[str, QDockWidget] = {}
        #: docks that are in front of those they share their place with
        self._front: set[str] = set()
        self._make_soon = QTimer(window, singleShot=True, interval=0)
        self._make_soon.timeout.connect(self._make_seen)
        #: told which dock is wanted in front, before it is
        self.before_raise: Callable[[str], object] = lambda name: None
        #: told that the keys go back to the canvas
        self.left: Callable[[], object] = lambda: None
        #: False while the start page is all there is to be seen
        self.shown = True
        window.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        window.setCorner(Qt.Corner.BottomLeftCorner, Side.LEFT.value)
        window.setCorner(Qt.Corner.BottomRightCorner, Side.RIGHT.value)
        for kind in panel_kinds():
            dock = QDockWidget(kind.title, window)
            dock.setObjectName(f"dock-{kind.name}")
            # the tab is the title
            dock.setTitleBarWidget(QWidget(dock))
            dock.visibilityChanged.connect(partial(self._turned, kind.name))
            self.docks[kind.name] = dock
            if kind.name in made:
                self._take(kind.name, made[kind.name])
        # those the window has to do with
        self.parts, self.outline = self._one("parts", PartsPanel), self._one("outline", OutlinePanel)
        self.inspector, self.findings = self._one("inspector", InspectorPanel), self._one("findings", FindingsPanel)
        self.flow = self._one("flow", FlowPanel)
        self.arrange()

    @property
    def compare(self) -> ComparePanel:
        """The panel that compares two designs."""
        return self._one("compare", ComparePanel)

    def _one(self, name: str, kind: type[P]) -> P:
        """A panel as what it is."""
        panel = self._panel(name)
        assert isinstance(panel, kind), name
        return panel

    def _panel(self, name: str) -> Panel:
        """A panel, made when it is first asked for."""
        if name not in self._made:
            self._take(name, self._kinds[name].build(self._around))
        return self._made[name]

    def _take(self, name: str, panel: Panel) -> None:
        self._made[name] = panel
        self.docks[name].setWidget(panel)
        panel.canvas_wanted.connect(lambda: self.left())
        panel.set_front(name in self._front)
        if self._session is not None:
            panel.set_session(self._session)

    def _turned(self, name: str, front: bool) -> None:
        """A dock came to the front or went behind another: there nothing is redrawn, nor made before it is seen."""
        if front:
            self._front.add(name)
        else:
            self._front.discard(name)
        panel = self._made.get(name)
        if panel is not None:
            panel.set_front(front)
        elif front:
            # docks come to the front for a moment while all of them are arranged
            self._make_soon.start()

    def _make_seen(self) -> None:
        for name in sorted(self._front - self._made.keys()):
            if self.docks[name].isVisible():
                self._panel(name)

    def arrange(self) -> None:
        """Every dock where it came from."""
        window = self._window
        places = {side: [kind.name for kind in panel_kinds() if kind.side is side] for side in Side}
        for side, names in places.items():
            for name in names:
                self.docks[name].setFloating(False)
                window.addDockWidget(side.value, self.docks[name])
            for name in names[1:]:
                window.tabifyDockWidget(self.docks[names[0]], self.docks[name])
        for names in places.values():
            for name in names:
                self.docks[name].show()
            self.docks[names[0]].raise_()
        sides = [self.docks[places[side][0]] for side in (Side.LEFT, Side.RIGHT)]
        window.resizeDocks(sides, [_WIDTH, _RIGHT_WIDTH], Qt.Orientation.Horizontal)
        window.resizeDocks([self.docks[places[Side.BOTTOM][0]]], [_HEIGHT], Qt.Orientation.Vertical)
        self._dress_tabs()

    def _dress_tabs(self) -> None:
        for bar in self._window.findChildren(QTabBar):
            if bar.objectName() != "documents":
                bar.setDocumentMode(True)
                bar.setExpanding(False)
                bar.setDrawBase(False)
                bar.setElideMode(Qt.TextElideMode.ElideNone)
                bar.setUsesScrollButtons(True)

    def show_all(self) -> None:
        """Show the docks again after the start page."""
        self.shown = True
        for dock in self.docks.values():
            dock.setVisible(True)
        self._dress_tabs()

    def hide_all(self) -> None:
        """Only the start page is to be seen."""
        self.shown = False
        for dock in self.docks.values():
            dock.hide()

    def raise_dock(self, name: str) -> None:
        """Bring a dock to the front."""
        self.before_raise(name)
        dock = self.docks[name]
        dock.show()
        dock.raise_()
        panel = self.panels[name]
        (panel.entry() or first_field(panel)).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def set_session(self, session: Session | None) -> None:
        """Follow another document."""
        self._session = session
        for panel in self._made.values():
            panel.set_session(session)

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self._around = replace(self._around, theme=theme)
        for panel in self._made.values():
            panel.set_theme(theme)

    def close_jobs(self) -> None:
        """Stop what runs."""
        self._make_soon.stop()
        self.set_session(None)
        for panel in self._made.values():
            panel.close_jobs()
