"""The docks around the canvas: which there are, where they stand, and that they follow one session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QDockWidget, QMainWindow, QScrollArea, QTabBar, QTabWidget, QWidget

from designer.gui.panels._panel import Panel
from designer.gui.panels.checks import ChecksPanel
from designer.gui.panels.compare import ComparePanel, Other
from designer.gui.panels.figures import FiguresPanel
from designer.gui.panels.findings import FindingsPanel
from designer.gui.panels.flow import FlowPanel
from designer.gui.panels.gantt import GanttPanel
from designer.gui.panels.history import HistoryPanel
from designer.gui.panels.inspector import InspectorPanel
from designer.gui.panels.links import LinksPanel
from designer.gui.panels.measured import MeasuredPanel
from designer.gui.panels.migration import MigrationPanel
from designer.gui.panels.outline import OutlinePanel
from designer.gui.panels.parts import PartsPanel
from designer.gui.panels.plots import PlotsPanel
from designer.gui.panels.tables import TablesPanel
from designer.gui.settings import Settings
from designer.gui.theme import Theme

if TYPE_CHECKING:
    from designer.gui.session import Session

_LEFT, _RIGHT, _BOTTOM = (
    Qt.DockWidgetArea.LeftDockWidgetArea,
    Qt.DockWidgetArea.RightDockWidgetArea,
    Qt.DockWidgetArea.BottomDockWidgetArea,
)
_PLACES: Final = (
    (_LEFT, ("parts", "outline")),
    (_RIGHT, ("inspector", "history")),
    (
        _BOTTOM,
        (
            "flow",
            "links",
            "findings",
            "checks",
            "whatif",
            "timeline",
            "gantt",
            "plots",
            "scaling",
            "migration",
            "tables",
            "compare",
            "measured",
        ),
    ),
)
_TITLES: Final = {
    "parts": "Parts",
    "outline": "Outline",
    "inspector": "Inspector",
    "history": "History",
    "flow": "Flow",
    "links": "Links",
    "findings": "Findings",
    "checks": "Tests",
    "whatif": "What if",
    "timeline": "Timeline",
    "gantt": "Gantt",
    "plots": "Plots",
    "scaling": "Scaling",
    "migration": "Migration",
    "tables": "Tables",
    "compare": "Compare",
    "measured": "Measured",
}
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
    """All docks of a window."""

    def __init__(
        self,
        window: QMainWindow,
        settings: Settings,
        theme: Theme,
        find_icon: Callable[[str], QIcon | None],
        others: Callable[[], Sequence[Other]],
    ) -> None:
        self._window = window
        self.parts = PartsPanel(theme, settings, find_icon)
        self.outline = OutlinePanel(theme, find_icon)
        self.inspector = InspectorPanel(theme)
        self.flow = FlowPanel(theme)
        self.findings = FindingsPanel(theme)
        self.checks = ChecksPanel(theme)
        self.compare = ComparePanel(theme, others)
        self.measured = MeasuredPanel(theme)
        empty = "The shown workload has no {}."
        self.panels: dict[str, Panel] = {
            "parts": self.parts,
            "outline": self.outline,
            "inspector": self.inspector,
            "history": HistoryPanel(theme),
            "flow": self.flow,
            "links": LinksPanel(theme),
            "findings": self.findings,
            "checks": self.checks,
            "whatif": FiguresPanel("whatif", "Nothing binds yet: add a workload.", theme),
            "timeline": FiguresPanel("timeline", empty.format("timeline of a step"), theme),
            "gantt": GanttPanel(theme),
            "plots": PlotsPanel(theme),
            "scaling": FiguresPanel("scaling", empty.format("scaling curve"), theme),
            "migration": MigrationPanel(
                empty.format("migration") + " Drag a virtual machine to another host to see what its move takes.", theme
            ),
            "tables": TablesPanel(empty.format("tables"), theme),
            "compare": self.compare,
            "measured": self.measured,
        }
        self.docks: dict[str, QDockWidget] = {}
        window.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        window.setCorner(Qt.Corner.BottomLeftCorner, _LEFT)
        window.setCorner(Qt.Corner.BottomRightCorner, _RIGHT)
        for name, panel in self.panels.items():
            dock = QDockWidget(_TITLES[name], window)
            dock.setObjectName(f"dock-{name}")
            dock.setWidget(panel)
            # the tab is the title
            dock.setTitleBarWidget(QWidget(dock))
            # behind another tab nothing is redrawn
            dock.visibilityChanged.connect(panel.set_front)
            self.docks[name] = dock
        self.arrange()

    def arrange(self) -> None:
        """Every dock where it came from."""
        window = self._window
        for area, names in _PLACES:
            for name in names:
                self.docks[name].setFloating(False)
                window.addDockWidget(area, self.docks[name])
            for name in names[1:]:
                window.tabifyDockWidget(self.docks[names[0]], self.docks[name])
        for _, names in _PLACES:
            for name in names:
                self.docks[name].show()
            self.docks[names[0]].raise_()
        sides = [self.docks["parts"], self.docks["inspector"]]
        window.resizeDocks(sides, [_WIDTH, _RIGHT_WIDTH], Qt.Orientation.Horizontal)
        window.resizeDocks([self.docks["flow"]], [_HEIGHT], Qt.Orientation.Vertical)
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
        for dock in self.docks.values():
            dock.setVisible(True)
        self._dress_tabs()

    def hide_all(self) -> None:
        """Only the start page is to be seen."""
        for dock in self.docks.values():
            dock.hide()

    def raise_dock(self, name: str) -> None:
        """Bring a dock to the front."""
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
        self.inspector.close_jobs()
        self.findings.close_jobs()
        self.checks.close_jobs()
        self.compare.close_jobs()
        self.measured.close_jobs()
