"""The window around the canvas: the side panel with its places, the palette, the pages of a run, the time bar.

Panels are made when they are first needed. What documents, files and actions do with them is in ``main_window``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QFrame, QMainWindow, QMenu, QToolButton, QWidget

from designer.gui import theme
from designer.gui.layouts import in_row
from designer.gui.legend_bar import LegendBar
from designer.gui.settings import Settings
from designer.gui.toolbar import Hint, ToolBar
from designer.gui.window.menus import Menus
from designer.gui.window_area import WindowArea

if TYPE_CHECKING:
    from designer.gui.canvas.canvas import Canvas
    from designer.gui.documents import Document
    from designer.gui.panels._panel import Panel, PanelKind, Place, Surroundings
    from designer.gui.panels.improve import ImprovePanel
    from designer.gui.places import Places
    from designer.gui.time_bar import TimeBar
    from designer.gui.viewmodels.sweep import Varied

#: meanings of the colours of links
_COLOURS: Final = {"limits": "What limits", "utilization": "Utilization"}
#: how many numbers are kept of what is open
_KEPT: Final = 2
#: room for the frame and title that desktops draw around a window [px]
_FRAME: Final = 2
_TITLE_BAR: Final = 32


class PanelWindow(QMainWindow):
    """A window whose panels are shown, hidden and arranged around the canvas of a document."""

    menus: Menus
    area: WindowArea
    toolbar: ToolBar
    hint: Hint
    legend: LegendBar
    opener: QToolButton
    colours: QToolButton

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.settings = settings
        self.theme = theme.resolve(settings.theme)
        self.places: Places | None = None
        self.time_bar_: TimeBar | None = None
        #: panels that were made before the places were wanted
        self._panels: dict[str, Panel] = {}
        #: what colours of links mean where no place asks for another meaning
        self._colours = "limits"

    # ---- what the window itself decides

    @property
    def document(self) -> Document | None:
        """The document shown; None on a page that is no document."""
        raise NotImplementedError

    @property
    def canvas(self) -> Canvas | None:
        """The canvas of the document shown."""
        raise NotImplementedError

    def new_document(self) -> None:
        """Open an empty design."""
        raise NotImplementedError

    def run(self, action_id: str, *_: object) -> None:
        """Do what an action does, if it can be done now."""
        raise NotImplementedError

    def find_icon(self, kind: str) -> QIcon | None:
        """Icon of a kind of part in its colour."""
        raise NotImplementedError

    def _others(self) -> list[tuple[str, Callable[[], Any]]]:
        """Title of each design to compare with, and what loads it."""
        raise NotImplementedError

    def _connect_places(self, places: Places) -> None:
        """Connect the panels with what the window does for them."""
        raise NotImplementedError

    # ---- making them

    def _make_area(self, pages: QWidget) -> None:
        self.area = WindowArea(pages)
        self.area.arranged.connect(self._arranged)

    def _make_tools(self) -> None:
        """The tools over the canvas, its legend, and the corner that opens the side panel."""
        self.toolbar, self.hint = ToolBar(self.menus.actions), Hint()
        self.legend = LegendBar(self.hint)
        self.area.tools, self.area.legend = self.area.hold(self.toolbar), self.area.hold(self.legend)
        self.opener, self.colours = QToolButton(), QToolButton()
        self.opener.setText("Answer ‹")
        self.opener.setToolTip("Show the side panel  (F9)")
        self.opener.clicked.connect(self.toggle_side)
        self.colours.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.colours.setToolTip("What the colours of links mean")
        menu = QMenu(self.colours)
        for name, title in _COLOURS.items():
            menu.addAction(title, partial(self.set_colours, name))
        self.colours.setMenu(menu)
        corner = QFrame()
        corner.setObjectName("floating")
        in_row(self.colours, self.opener, on=corner, margins=(4, 3, 4, 3), spacing=4)
        self.area.corner = self.area.hold(corner)

    @property
    def time_bar(self) -> TimeBar:
        """The bar under the canvas; made at first need."""
        if self.time_bar_ is None:
            from designer.gui.time_bar import TimeBar

            self.time_bar_ = TimeBar(self.theme)
            self.area.bar = self.area.hold(self.time_bar_)
        return self.time_bar_

    def _ready_places(self) -> Places:
        if self.places is None:
            from designer.gui.actions._late import tools_of_toolbar
            from designer.gui.panels._panel import Place
            from designer.gui.places import Palette, Places

            self.menus.add_late(self.theme)
            self.toolbar.add_tools([self.menus.actions[name] for name in ("view.parts", *tools_of_toolbar())])
            self.legend.add_actions(self.menus.actions, self.run)
            places = self.places = Places(self._around(), self._panels, self.menus.actions["analyze.edit"], self.run)
            self._panels = {}
            area = self.area
            area.side = area.hold(places)
            area.palette_ = area.hold(Palette(places.books[Place.PALETTE], self.leave_panels, area))
            area.run = area.hold(places.books[Place.RUN])
            area.brief = area.hold(places.brief)
            places.brief.opened.connect(partial(places.bring, "answer"))
            places.wanted.connect(self._open_place)
            places.tabs.currentChanged.connect(lambda: self._colour())
            places.widened.connect(self._widen)
            places.parts.dropped.connect(self._dropped)
            places.left = self.leave_panels
            self._connect_places(places)
            for name in ("outline", "history"):
                places.frames[name].addAction(self.menus.actions["edit.delete"])
            # what is selected there is selected on the canvas: its letter does there what it does here
            places.frames["outline"].addAction(self.menus.actions["edit.connect"])
            self._restore_places()
        return self.places

    def _restore_places(self) -> None:
        state = self.settings.layout("places")
        words = bytes(state.data()).decode(errors="replace").split() if state is not None else []
        if len(words) == _KEPT and all(word.isdigit() for word in words):
            self.area.side_shown, self.area.side_width = words[0] != "0", int(words[1])

    def _around(self) -> Surroundings:
        from designer.gui.panels._panel import Surroundings

        return Surroundings(self.theme, self.settings, self.find_icon, self._others)

    def make_panel(self, kind: PanelKind) -> None:
        """Make a panel before the places are wanted."""
        if self.places is None and kind.name not in self._panels:
            self._panels[kind.name] = kind.build(self._around())

    def make_places(self) -> None:
        """Make the places before a document is there to be shown in them."""
        self._ready_places()

    # ---- showing and hiding them

    def fit_screen(self, room: QRect) -> None:
        """Make the window no larger than a screen has room for, with the frame around it, and bring it inside.

        Parameters
        ----------
        room
            What the desktop leaves of the screen.
        """
        most = room.adjusted(0, 0, -2 * _FRAME, -_TITLE_BAR)
        least = self.minimumSize().boundedTo(most.size())
        self.setMinimumSize(least)
        self.resize(self.size().boundedTo(most.size()).expandedTo(least))
        if not room.contains(self.geometry()):
            self.move(room.center() - self.rect().center())

    def _arranged(self) -> None:
        """The tools lie elsewhere: the whole design is fitted next to them, and panels out of sight rest."""
        if self.canvas is not None:
            self.canvas.set_free(self.area.margins())
        if self.places is not None:
            self.places.look()
            self.opener.setVisible(self.area.document and self.places.isHidden() and not self.area.narrow)
            self._colour()

    def _open_place(self, place: Place) -> None:
        from designer.gui.panels._panel import Place

        area = self.area
        if place is Place.PALETTE:
            area.palette_shown = True
        elif place is Place.RUN:
            area.run_shown = True
        elif area.narrow:
            area.side_over = True
        else:
            area.side_shown = True
        area.arrange()

    def _widen(self, wide: bool) -> None:
        self.area.wide = wide
        self.area.arrange()

    def toggle_side(self) -> None:
        """Show or hide the side panel."""
        area = self.area
        if area.narrow:
            area.side_over = not area.side_over
        else:
            area.side_shown = not area.side_shown
        area.arrange()
        if self.places is not None and self.places.isHidden():
            self.focus_canvas()

    def toggle_wide(self) -> None:
        """Give the side panel much of the window, or take it back."""
        if self.places is not None:
            self.places.wide.toggle()

    def toggle_parts(self) -> None:
        """Open the palette, or close it."""
        if self.area.palette_shown:
            self.leave_panels()
        else:
            self.search_parts()

    def toggle_run(self) -> None:
        """Show or hide the pages of a run below the canvas."""
        self.area.run_shown = not self.area.run_shown
        self.area.arrange()

    def leave_panels(self) -> None:
        """Close what lies over the canvas, and give it the keys."""
        self.area.palette_shown = self.area.side_over = False
        self.area.arrange()
        self.focus_canvas()

    def _dropped(self) -> None:
        """A part was dragged out of the palette: it closes, unless Ctrl is held."""
        if not QApplication.keyboardModifiers() & Qt.KeyboardModifier.ControlModifier:
            self.leave_panels()

    def reset_layout(self) -> None:
        """Put all panels back to where they came from."""
        self.settings.set_layout("places", None)
        area = self.area
        area.side_shown, area.side_width = True, 0
        area.palette_shown = area.run_shown = area.side_over = False
        if self.places is not None:
            self.places.arrange()
        area.arrange()

    def show_panel(self, name: str) -> None:
        """Bring a panel to the front."""
        if self.document is not None:
            self._ready_places().bring(name)

    def focus_canvas(self) -> None:
        """Give the keys to the canvas."""
        canvas = self.canvas
        if canvas is not None:
            canvas.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def find_in_design(self) -> None:
        """Show the outline, ready to type."""
        self.show_panel("outline")
        if self.places is not None:
            self.places.outline.search.setFocus()
            self.places.outline.search.selectAll()

    def search_parts(self) -> None:
        """Show the palette, ready to type."""
        if self.document is None:
            self.new_document()
        self.show_panel("parts")
        if self.places is not None:
            self.places.parts.search.setFocus()
            self.places.parts.search.selectAll()

    def choose_workload(self) -> None:
        """Open the list of workloads."""
        if self.document is not None:
            from designer.gui.panels._panel import Place

            self._open_place(Place.ANSWER)
            chooser = self._ready_places().head.chooser
            chooser.setFocus(Qt.FocusReason.ShortcutFocusReason)
            chooser.showPopup()

    # ---- what panels ask for

    def offer(self, choices: list[Any], hint: str) -> None:
        """Show a list to search and choose from."""
        from designer.gui.dialogs.command_palette import CommandPalette

        CommandPalette(choices, self.theme, hint, self).open_over(self)

    def _migrated(self, migration: object) -> None:
        """Bring what a move takes to the front; the keys stay with the canvas."""
        if migration is not None and self.places is not None:
            self.places.bring("migration", keys=False)

    def edit_workload(self, new: bool = False) -> None:
        """Show the form of the workload."""
        from designer.gui.workload_form import edit_workload

        if self.document is not None:
            varied = edit_workload(self.document.session, new, self)
            if varied is not None:
                self.sweep_value(varied)
                return
            # what had the keys before may be gone, as the command palette is
            self.activateWindow()
            self.focus_canvas()

    def sweep_value(self, varied: Varied | None = None) -> None:
        """Ask what the workload does while a value varies; the batch, or what comes first, where none is named."""
        if self.document is not None:
            self._improve().ask_sweep(varied)

    def propose_designs(self) -> None:
        """Ask for designs that reach a goal."""
        if self.document is None:
            self.new_document()
        self._improve().ask_designs()

    def _improve(self) -> ImprovePanel:
        """The place Improve, in front."""
        self.show_panel("improve")
        return self._ready_places().improve

    # ---- what colours mean, and what-ifs

    def set_colours(self, name: str) -> None:
        """What colours of links mean: ``limits`` or ``utilization``."""
        self._colours = name
        self._colour()

    def _colour(self) -> None:
        """Links by utilization while they are listed, else as chosen."""
        from designer.gui.panels._panel import Place

        listed = self.places is not None and self.places.place is Place.LINKS and self.places.isVisible()
        name = "utilization" if listed else self._colours
        self.colours.setText(f"Colours: {_COLOURS[name]}")
        if self.canvas is not None:
            self.canvas.set_colours(name)
            self.legend.explain(self.canvas)

    def scale_value(self, by: int) -> None:
        """What if the number in question were twice as large, or half for −1; the keys stay where they are."""
        if self.places is not None:
            self.places.bring("inspector", keys=False)
            self.places.inspector.scale(by)

    @property
    def on_trial(self) -> bool:
        """True if a what-if is compared with the design."""
        return self.places is not None and self.places.inspector.what_if.on_trial

    def end_trial(self, apply: bool) -> None:
        """Put the what-if into the design, or forget it."""
        if self.places is not None:
            what_if = self.places.inspector.what_if
            what_if.apply() if apply else what_if.discard()

    def _colour_panels(self) -> None:
        """All panels and bars in the colours of the theme."""
        for panel in self._panels.values():
            panel.set_theme(self.theme)
        if self.places is not None:
            self.places.set_theme(self.theme)
        if self.canvas is not None:
            self.legend.explain(self.canvas)
        if self.time_bar_ is not None:
            self.time_bar_.set_theme(self.theme)
