"""The docks around the canvas: which there are, where they stand, and that they follow one session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QScrollArea, QTabBar, QTabWidget, QWidget

from designer.gui.panels._panel import Panel, Side, Surroundings, panel_kinds
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
    """The first widget of a panel that takes keys; the panel itself if none does."""
    at = panel.nextInFocusChain()
    while at is not None and at is not panel and panel.isAncestorOf(at):
        # an area that only scrolls has nothing to say to the keys
        if isinstance(at, QScrollArea):
            at = at.nextInFocusChain()
            continue
        if at.focusPolicy() & Qt.FocusPolicy.TabFocus and at.isEnabled() and at.isVisibleTo(panel):
            return at
        at = at.nextInFocusChain()
    return panel


class Docks:
    """All docks of a window.

    Parameters
    ----------
    made
        Panels that are there already, by name.
    """

    def __init__(self, window: QMainWindow, around: Surroundings, made: Mapping[str, Panel]) -> None:
        self._window = window
        self.panels: dict[str, Panel] = {kind.name: made.get(kind.name) or kind.build(around) for kind in panel_kinds()}
        # those the window has to do with
        self.parts, self.outline = self._one(PartsPanel), self._one(OutlinePanel)
        self.inspector, self.findings = self._one(InspectorPanel), self._one(FindingsPanel)
        self.flow, self.compare = self._one(FlowPanel), self._one(ComparePanel)
        self.docks: dict[str, QDockWidget] = {}
        #: told which dock is wanted in front, before it is
        self.before_raise: Callable[[str], object] = lambda name: None
        #: False while the start page is all there is to be seen
        self.shown = True
        window.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        window.setCorner(Qt.Corner.BottomLeftCorner, Side.LEFT.value)
        window.setCorner(Qt.Corner.BottomRightCorner, Side.RIGHT.value)
        for kind in panel_kinds():
            panel = self.panels[kind.name]
            dock = QDockWidget(kind.title, window)
            dock.setObjectName(f"dock-{kind.name}")
            dock.setWidget(panel)
            # the tab is the title
            dock.setTitleBarWidget(QWidget(dock))
            # behind another tab nothing is redrawn
            dock.visibilityChanged.connect(panel.set_front)
            self.docks[kind.name] = dock
        self.arrange()

    def _one(self, kind: type[P]) -> P:
        """The panel of a class."""
        return next(panel for panel in self.panels.values() if isinstance(panel, kind))

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
        for panel in self.panels.values():
            panel.set_session(session)

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        for panel in self.panels.values():
            panel.set_theme(theme)

    def close_jobs(self) -> None:
        """Stop what runs."""
        self.set_session(None)
        for panel in self.panels.values():
            panel.close_jobs()
