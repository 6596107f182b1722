"""The window: menus, toolbar, docks and tabs around the canvases of the open documents.

Only Qt is loaded with this module; everything heavier comes when it is first needed, so the window stands quickly.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, QTimer
from PySide6.QtGui import QAction, QCloseEvent, QDragEnterEvent, QDropEvent, QIcon, QKeySequence
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QMainWindow,
    QMenu,
    QMessageBox,
    QStackedWidget,
    QTabBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from designer.gui import icons, theme
from designer.gui.controls import plain
from designer.gui.dialogs.file_notice import FileNotice
from designer.gui.dialogs.toast import Toasts
from designer.gui.files import Files
from designer.gui.settings import Settings
from designer.gui.start_page import StartPage
from designer.gui.toolbar import ToolBar

if TYPE_CHECKING:
    from designer.gui.actions._action import Action
    from designer.gui.canvas.canvas import Canvas
    from designer.gui.canvas.machine_watch import MachineWatch
    from designer.gui.canvas.tools.tool import QuickAdd
    from designer.gui.dialogs.command_palette import Choice
    from designer.gui.docks import Docks
    from designer.gui.recovery_page import RecoveryPage
    from designer.gui.session import Picked, Session
    from designer.gui.time_bar import TimeBar
    from designer.gui.workers import Sweeper
    from designer.gui.workspace import Document, Workspace

_LAYOUT: Final = 1
#: what a design is compared with when others changed its file
_ON_DISK: Final = "its file as it is now"


class MainWindow(QMainWindow):
    """The frame around everything. Its public methods are what actions ask for (``actions._action.Window``)."""

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__()
        self.settings = settings or Settings()
        self.theme = theme.resolve(self.settings.theme)
        self.setWindowTitle("designer")
        self.setAcceptDrops(True)
        self.resize(1440, 900)
        self.setMinimumSize(900, 560)
        self.setDockOptions(
            QMainWindow.DockOption.AllowTabbedDocks
            | QMainWindow.DockOption.AllowNestedDocks
            | QMainWindow.DockOption.GroupedDragging
        )
        self.start = StartPage(self.theme, lambda: self.settings.recent)
        self.start.new_wanted.connect(self.new_document)
        self.start.open_wanted.connect(lambda: self.files.ask_open())
        self.start.import_wanted.connect(lambda: self.files.paste_machine())
        self.start.template_chosen.connect(self.open_template)
        self.start.file_chosen.connect(self.open_file)
        self.start.recovery_wanted.connect(self.show_recovery)
        self.recovery: RecoveryPage | None = None
        self.tabs = QTabBar()
        self.tabs.setObjectName("documents")
        self.tabs.setMovable(False)
        self.tabs.setExpanding(False)
        self.tabs.setDocumentMode(True)
        self.tabs.setDrawBase(False)
        self.tabs.currentChanged.connect(self._tab_changed)
        self.pages = QStackedWidget()
        self.pages.addWidget(self.start)
        middle = QWidget()
        box = QVBoxLayout(middle)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        self.autosave = QToolButton()
        self.autosave.setObjectName("autosave")
        self.autosave.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.autosave.clicked.connect(lambda: self.run("file.save"))
        self.autosave.hide()
        head = QHBoxLayout()
        head.setSpacing(0)
        head.addWidget(self.tabs, 1)
        head.addWidget(self.autosave)
        self.notice = FileNotice()
        self.notice.chosen.connect(self._settle)
        box.addLayout(head)
        box.addWidget(self.notice)
        box.addWidget(self.pages, 1)
        self._below = box
        self.time_bar_: TimeBar | None = None
        self.setCentralWidget(middle)
        self.toasts = Toasts(middle)
        self.files = Files(self, self, self.settings, self.toasts, lambda: self.theme.name)
        self.tabs.hide()
        self.workspace_: Workspace | None = None
        self.sweeper: Sweeper | None = None
        self.docks: Docks | None = None
        self.qt_actions: dict[str, QAction] = {}
        self._canvases: dict[Document, Canvas] = {}
        self._watches: dict[Document, MachineWatch] = {}
        self._order: list[Document] = []
        self._connections: list[tuple[Any, Callable[..., object]]] = []
        self._closing = False
        self._fill_menus()
        self.toolbar = ToolBar(self.qt_actions, self.run, self.theme)
        self.toolbar.add_wanted.connect(lambda: self.edit_workload(new=True))
        self.toolbar.findings.clicked.connect(lambda: self.show_panel("findings"))
        self.addToolBar(self.toolbar)
        self.toolbar.hide()
        geometry = self.settings.layout("geometry")
        if geometry is not None:
            self.restoreGeometry(geometry)
        if sys.platform == "darwin":
            # only there the desktop asks this way, and a filter sees each single event of the program
            QApplication.instance().installEventFilter(self)  # type: ignore[union-attr]

    # ---- menus and toolbar, from the table of actions

    def _fill_menus(self) -> None:
        from designer.gui.actions._action import menus

        for menu in menus():
            shown = self.menuBar().addMenu(menu.title)
            shown.setToolTipsVisible(True)
            shown.aboutToShow.connect(self.update_actions)
            below: dict[str, QMenu] = {}
            section = menu.actions[0].section
            for action in menu.actions:
                if action.section != section:
                    section = action.section
                    shown.addSeparator()
                target = shown
                if action.under:
                    if action.under not in below:
                        below[action.under] = shown.addMenu(action.under)
                    target = below[action.under]
                made = self._make(action)
                target.addAction(made)
            if menu.name == "file":
                self._recent = QMenu("Recent files", shown)
                shown.insertMenu(self.qt_actions["file.save"], self._recent)
                self._recent.aboutToShow.connect(self._fill_recent)
        search = QToolButton()
        search.setProperty("pill", True)
        search.setText("Search everything   Ctrl+K")
        search.setIcon(icons.icon("search", self.theme.muted))
        search.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        search.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        search.clicked.connect(self.command_palette)
        self._search = search
        self.menuBar().setCornerWidget(search)

    def _make(self, action: Action) -> QAction:
        made = QAction(action.title, self)
        made.setObjectName(action.id)
        made.setShortcuts([QKeySequence(s) for s in action.shortcut])
        if action.icon:
            made.setIcon(icons.icon(action.icon, self.theme.text))
            made.setIconVisibleInMenu(False)
        tip = action.tip or action.title
        keys = made.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        made.setToolTip(plain(f"{tip}  ({keys})" if keys else tip))
        made.setStatusTip(tip)
        made.setCheckable(action.checked is not None)
        made.triggered.connect(partial(self.run, action.id))
        self.qt_actions[action.id] = made
        if action.shortcut and all(_is_plain(s) for s in action.shortcut):
            # plain letters and Del belong to the canvas: in a list or field they mean something else
            made.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            self.pages.addAction(made)
        else:
            self.addAction(made)
        return made

    def run(self, action_id: str, *_: object) -> None:
        """Do what an action does, if it can be done now."""
        from designer.gui.actions._action import all_actions

        action = all_actions()[action_id]
        if action.enabled_when(self):
            action.run(self)
        self.update_actions()

    def update_actions(self, *_: object) -> None:
        """Look which actions can be done."""
        from designer.gui.actions._action import all_actions

        for action_id, made in self.qt_actions.items():
            action = all_actions()[action_id]
            made.setEnabled(action.enabled_when(self))
            if action.checked is not None:
                made.setChecked(action.checked(self))
        document = self.document
        if document is not None:
            history = document.session.history
            self.qt_actions["edit.undo"].setText(f"Undo {_lower(history.undo_label)}".strip())
            self.qt_actions["edit.redo"].setText(f"Redo {_lower(history.redo_label)}".strip())

    def _fill_recent(self) -> None:
        self._recent.clear()
        for file in self.settings.recent:
            self._recent.addAction(str(file), partial(self.open_file, file))
        self._recent.setEnabled(True)
        if self._recent.isEmpty():
            self._recent.addAction("None yet").setEnabled(False)

    # ---- documents

    @property
    def workspace(self) -> Workspace:
        """The open documents; made at first need."""
        if self.workspace_ is None:
            from designer.gui.workspace import Workspace

            self.workspace_ = Workspace(self.settings, self)
            self.workspace_.opened.connect(self._opened)
            self.workspace_.closed.connect(self._closed)
            self.workspace_.warned.connect(self.warn)
            self.workspace_.message.connect(self.say)
        return self.workspace_

    @property
    def time_bar(self) -> TimeBar:
        """The bar under the canvas; made at first need."""
        if self.time_bar_ is None:
            from designer.gui.time_bar import TimeBar

            self.time_bar_ = TimeBar(self.theme)
            self._below.addWidget(self.time_bar_)
        return self.time_bar_

    @property
    def document(self) -> Document | None:
        """The document shown; None on the start page."""
        at = self.tabs.currentIndex()
        if self.pages.currentWidget() in (self.start, self.recovery) or not 0 <= at < len(self._order):
            return None
        return self._order[at]

    @property
    def canvas(self) -> Canvas | None:
        """The canvas of the document shown."""
        document = self.document
        return self._canvases.get(document) if document is not None else None

    def _opened(self, document: Document) -> None:
        if document in self._order:
            self.show_document(document)
            return
        from designer.gui.canvas.canvas import Canvas
        from designer.gui.canvas.machine_watch import MachineWatch
        from designer.gui.last_views import LastView
        from designer.gui.workers import Sweeper

        self.sweeper = self.sweeper or Sweeper(self)
        session = document.session
        canvas = Canvas(session, self._canvas_theme())
        canvas.camera.animated = not self.settings.reduced_motion
        canvas.hint_changed.connect(self.toolbar.hint.setText)
        canvas.quick_add_requested.connect(self._quick_add)
        canvas.context_requested.connect(self._context)
        canvas.template_dropped.connect(self._drop_template)
        canvas.activated.connect(self._activated)
        canvas.member_changed.connect(self._member_changed)
        canvas.step_wanted.connect(self._step_member)
        session.warned.connect(self.warn)
        session.message.connect(self.say)
        session.analysis_changed.connect(partial(self._light, document))
        session.workload_changed.connect(partial(self._light, document))
        session.simulation_changed.connect(partial(self._light, document))
        session.moment_changed.connect(partial(self._light, document))
        document.player.failed.connect(self.warn)
        session.migration_changed.connect(self._migrated)
        session.modified_changed.connect(self._retitle)
        session.file_changed.connect(self._retitle)
        document.autosave_changed.connect(partial(self._tell_autosave, document))
        document.file_state_changed.connect(partial(self._tell_file, document))
        for signal in (
            session.design_changed,
            session.selection_changed,
            session.analysis_changed,
            canvas.view_changed,
        ):
            signal.connect(self.sweeper.touch)
        canvas.view_changed.connect(document.live.put_off)
        self._canvases[document] = canvas
        self._watches[document] = MachineWatch(session, canvas.set_machines, canvas)
        self._order.append(document)
        self.pages.addWidget(canvas)
        at = self.tabs.addTab(session.title)
        close = QToolButton()
        close.setObjectName("closetab")
        close.setIcon(icons.icon("close", self.theme.faint))
        close.setIconSize(QSize(12, 12))
        close.setAccessibleName("Close design")
        close.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        close.clicked.connect(partial(self._close_tab, document))
        self.tabs.setTabButton(at, QTabBar.ButtonPosition.RightSide, close)
        self.tabs.setCurrentIndex(self.tabs.count() - 1)
        self._show_document()
        canvas.setFocus()
        # the docks have taken their room only when the event loop has been round
        QTimer.singleShot(0, canvas, lambda: canvas.zoom_to_fit(animated=False))
        LastView(canvas, self.settings)

    def _closed(self, document: Document) -> None:
        at = self._order.index(document)
        canvas = self._canvases.pop(document)
        self._watches.pop(document).close()
        self._disconnect()
        self._order.remove(document)
        self.tabs.blockSignals(True)
        self.tabs.removeTab(at)
        self.tabs.blockSignals(False)
        self.pages.removeWidget(canvas)
        canvas.hide()
        canvas.setParent(None)
        canvas.deleteLater()
        if self.sweeper is not None:
            self.sweeper.touch()
        if self._order:
            self._show_document()
        else:
            self.show_start()

    def _tab_changed(self, at: int) -> None:
        if 0 <= at < len(self._order):
            self._show_document()

    def show_document(self, document: Document) -> None:
        """Bring a document to the front."""
        self.tabs.setCurrentIndex(self._order.index(document))
        self._show_document()

    def _show_document(self) -> None:
        at = self.tabs.currentIndex()
        if not 0 <= at < len(self._order):
            return
        document = self._order[at]
        self.pages.setCurrentWidget(self._canvases[document])
        self.tabs.setVisible(True)
        self.toolbar.show()
        self._ready_docks().show_all()
        self._follow(document)

    def show_start(self) -> None:
        """Show the start page."""
        self._show_page(self.start)

    def _show_page(self, page: QWidget) -> None:
        """Show a page that is no document."""
        self._follow(None)
        self.pages.setCurrentWidget(page)
        self.toolbar.hide()
        self.tabs.setVisible(bool(self._order))
        if self.docks is not None:
            self.docks.hide_all()
        self.update_actions()

    def _ready_docks(self) -> Docks:
        if self.docks is None:
            from designer.gui.actions._members import show as show_member
            from designer.gui.actions._members import shown_group
            from designer.gui.docks import Docks

            self.docks = Docks(self, self.settings, self.theme, self.find_icon, self._compared)
            self.docks.parts.insert_requested.connect(self._insert)
            self.docks.parts.left.connect(self.focus_canvas)
            self.docks.inspector.shown_group = partial(shown_group, self)
            self.docks.inspector.member_wanted.connect(partial(show_member, self))
            self.docks.inspector.what_if.tried.connect(self.update_actions)
            self.docks.findings.counted.connect(self.toolbar.count)
            self.docks.flow.workload_wanted.connect(lambda: self.edit_workload(new=True))
            for name in ("outline", "history"):
                self.docks.docks[name].addAction(self.qt_actions["edit.delete"])
            # what is selected there is selected on the canvas: its letter does there what it does here
            self.docks.docks["outline"].addAction(self.qt_actions["edit.connect"])
            state = self.settings.layout("docks")
            if state is not None:
                self.restoreState(state, _LAYOUT)
        return self.docks

    def _follow(self, document: Document | None) -> None:
        self._disconnect()
        session = document.session if document is not None else None
        if self.docks is not None:
            self.docks.set_session(session)
        if document is not None and session is not None:
            for signal in (session.design_changed, session.selection_changed):
                signal.connect(self.update_actions)
                self._connections.append((signal, self.update_actions))
        self.toolbar.follow(document)
        if document is not None or self.time_bar_ is not None:
            self.time_bar.follow(document)
        self._retitle()
        self._tell_autosave()
        self._tell_file()
        self.update_actions()

    def _disconnect(self) -> None:
        for signal, slot in self._connections:
            signal.disconnect(slot)
        self._connections.clear()

    def _light(self, document: Document, *_: object) -> None:
        """Colour the canvas by the load of the shown workload, or of the instant of the run that is looked at."""
        import numpy as np

        from designer.drawing.loads import Activity, ChannelState

        canvas, session = self._canvases.get(document), document.session
        if canvas is None:
            return
        frames = session.frames
        if frames is not None and document.player.shown:
            from designer.gui.viewmodels.moments import shown_binding

            load, share = frames.channels(session.moment, session.span)
            parts, busy = frames.parts(session.moment, session.span)
            # of the time of a frame there is no single thing that binds
            held = frames.held(session.moment) if not document.player.playing else []
            doing = Activity(parts, busy, np.full(len(parts), np.nan))
            canvas.show_moment(ChannelState(load, share, doing), *shown_binding(held))
            return
        loads = session.analysis.loads.get(session.workload) if session.analysis is not None else None
        result = session.result if loads is not None else None
        bottleneck = result.binding if result is not None else ()
        binding = tuple(b.id for b in bottleneck if b.what == "channel")
        parts = tuple((b.id, b.alike) for b in bottleneck if b.what in ("part", "compute"))
        shown = ChannelState(loads.load, loads.utilization) if loads is not None else None
        canvas.show_result(shown, binding, parts)

    def _migrated(self, migration: object) -> None:
        """Bring what a move takes to the front; the keys stay with the canvas."""
        if migration is not None and self.docks is not None:
            self.docks.docks["migration"].raise_()

    def _retitle(self, *_: object) -> None:
        names = self.workspace_.names() if self.workspace_ is not None else {}
        for at, document in enumerate(self._order):
            session = document.session
            text = ("● " if session.modified else "") + names.get(document, session.title)
            if text != self.tabs.tabText(at):
                self.tabs.setTabText(at, text)
            self.tabs.setTabToolTip(at, plain(str(session.file or "not saved yet")))
        document = self.document
        self.setWindowModified(document is not None and document.session.modified)
        self.setWindowTitle(f"{document.session.title}[*] – designer" if document is not None else "designer")

    # ---- work that must not be lost

    def _recovery_page(self) -> RecoveryPage:
        if self.recovery is None:
            from designer.gui.recovery_page import RecoveryPage

            page = self.recovery = RecoveryPage(self.theme, self.workspace.leftovers)
            page.restore_wanted.connect(self._bring_back)
            page.delete_wanted.connect(self._delete_leftovers)
            page.left.connect(self._leave_recovery)
            page.counted.connect(self.start.tell_leftovers)
            self.pages.addWidget(page)
        return self.recovery

    def show_recovery(self) -> None:
        """Show what runs that ended badly left behind."""
        page = self._recovery_page()
        page.fill()
        self._show_page(page)
        page.setFocus()

    def look_for_leftovers(self) -> None:
        """Look what runs that ended badly left behind, and tell if that is something."""
        page = self._recovery_page()
        page.counted.connect(self._offer_recovery, Qt.ConnectionType.SingleShotConnection)
        page.fill()

    def _offer_recovery(self, number: int) -> None:
        if not number or self.pages.currentWidget() is self.recovery:
            return
        if self.document is None:
            # nobody is at work yet: there is nothing more important to show
            self.show_recovery()
            return
        designs = "1 design" if number == 1 else f"{number} designs"
        self.toasts.say(f"An earlier run ended with unsaved work in {designs}.", False, "Show", self.show_recovery)

    def _leave_recovery(self) -> None:
        if self._order:
            self._show_document()
            self.focus_canvas()
        else:
            self.show_start()

    def _bring_back(self, journals: list[Path]) -> None:
        back = [d for d in map(self.workspace.recover, journals) if d is not None]
        self._recovery_page().fill()
        if back:
            self.show_document(back[0])
            self.say("Brought back 1 design" if len(back) == 1 else f"Brought back {len(back)} designs")

    def _delete_leftovers(self, journals: list[Path]) -> None:
        from designer.interchange.native.leftovers import remove

        page = self._recovery_page()
        if self.files.ask_to_delete(page.titles(journals)):
            for journal in journals:
                remove(journal)
            page.fill()

    def _tell_autosave(self, about: Document | None = None) -> None:
        """Say whether the work in the document shown would survive a crash."""
        document = self.document
        self.autosave.setVisible(document is not None)
        if document is None or (about is not None and about is not document):
            return
        from designer.gui.viewmodels.autosave import autosave_label

        state, modified = document.autosave.value, document.session.modified
        text, tip = autosave_label(state, modified, document.session.file is not None, document.kept_at)
        self.autosave.setText(text)
        # as wide as it ever was: a button of fixed size asks for no new layout when its text changes
        wanted = self.autosave.sizeHint().expandedTo(self.autosave.minimumSize())
        if wanted != self.autosave.minimumSize():
            self.autosave.setFixedSize(wanted)
        self.autosave.setToolTip(plain(tip))
        self.autosave.setAccessibleName(f"{text}. {tip}")
        if self.autosave.property("state") != state:
            self.autosave.setProperty("state", state)
            self.autosave.style().unpolish(self.autosave)
            self.autosave.style().polish(self.autosave)

    def _tell_file(self, about: Document | None = None) -> None:
        """Say what others did to the file of the document shown."""
        document = self.document
        if about is not None and about is not document:
            return
        if document is None or document.file_state.value == "ours":
            self.notice.hide()
            return
        from designer.gui.viewmodels.autosave import others

        file = document.session.file
        who = document.owner.text if document.owner is not None else ""
        self.notice.tell(*others(document.file_state.value, file.name if file else "", who, document.session.modified))

    def _settle(self, choice: str) -> None:
        document = self.document
        if choice == "dismiss":
            self.notice.hide()
        elif document is not None:
            self.files.settle(document, choice)

    def compare_with_file(self, document: Document) -> None:
        """Show a document beside what its file holds now."""
        self.show_document(document)
        self.show_panel("compare")
        if self.docks is not None:
            self.docks.compare.choose(_ON_DISK)

    # ---- looks

    def _canvas_theme(self) -> Any:
        from dataclasses import replace

        from designer.drawing.theme import canvas_theme

        return replace(canvas_theme(self.theme.name), family=self.font().family())

    def set_theme(self, name: str) -> None:
        """``system``, ``light`` or ``dark``; everything changes at once."""
        self.settings.theme = name
        self.theme = theme.resolve(name)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme.apply(app, self.theme)
        for action_id, made in self.qt_actions.items():
            from designer.gui.actions._action import all_actions

            if all_actions()[action_id].icon:
                made.setIcon(icons.icon(all_actions()[action_id].icon, self.theme.text))
        self._search.setIcon(icons.icon("search", self.theme.muted))
        self.start.set_theme(self.theme)
        if self.recovery is not None:
            self.recovery.set_theme(self.theme)
        for canvas in self._canvases.values():
            canvas.set_theme(self._canvas_theme())
        if self.docks is not None:
            self.docks.set_theme(self.theme)
        self.toolbar.set_theme(self.theme)
        if self.time_bar_ is not None:
            self.time_bar_.set_theme(self.theme)
        self.update_actions()

    def find_icon(self, kind: str) -> QIcon | None:
        """Icon of a kind of part in its colour."""
        from designer.gui.kind_icons import kind_icon

        if kind in icons.names():
            return icons.icon(kind, self.theme.muted)
        return kind_icon(kind, self.theme.is_dark)

    # ---- what actions ask for

    def new_document(self) -> None:
        """Open an empty design."""
        self.workspace.new()

    def open_template(self, template_id: str) -> None:
        """Open a template as a new document."""
        self.workspace.open_template(template_id)

    def open_file(self, file: Path) -> None:
        """Open a file."""
        self.workspace.open(Path(file))

    def close_document(self) -> None:
        """Close the document shown; asks if it is not saved."""
        document = self.document
        if document is not None and self.files.may_close([document]):
            self.workspace.close(document)

    def _close_tab(self, document: Document, *_: object) -> None:
        if document in self._order and self.files.may_close([document]):
            self.workspace.close(document)

    def quit(self) -> None:
        """Close the window."""
        self.close()

    def find_in_design(self) -> None:
        """Show the outline, ready to type."""
        self.show_panel("outline")
        if self.docks is not None:
            self.docks.outline.search.setFocus()
            self.docks.outline.search.selectAll()

    def search_parts(self) -> None:
        """Show the palette, ready to type."""
        if self.document is None:
            self.new_document()
        self.show_panel("parts")
        if self.docks is not None:
            self.docks.parts.search.setFocus()
            self.docks.parts.search.selectAll()

    def show_panel(self, name: str) -> None:
        """Bring a dock to the front."""
        if self.document is not None:
            self._ready_docks().raise_dock(name)

    def focus_canvas(self) -> None:
        """Give the keys to the canvas."""
        canvas = self.canvas
        if canvas is not None:
            canvas.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def scale_value(self, by: int) -> None:
        """What if the number in question were twice as large, or half for −1; the keys stay where they are."""
        if self.docks is not None:
            self.docks.docks["inspector"].raise_()
            self.docks.inspector.scale(by)

    @property
    def on_trial(self) -> bool:
        """True if a what-if stands beside the design."""
        return self.docks is not None and self.docks.inspector.what_if.on_trial

    def end_trial(self, apply: bool) -> None:
        """Put the what-if into the design, or forget it."""
        if self.docks is not None:
            what_if = self.docks.inspector.what_if
            what_if.apply() if apply else what_if.discard()

    def choose_workload(self) -> None:
        """Open the list of workloads in the toolbar."""
        if self.document is not None:
            self.toolbar.chooser.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.toolbar.chooser.showPopup()

    def offer(self, choices: list[Any], hint: str) -> None:
        """Show a list to search and choose from."""
        from designer.gui.dialogs.command_palette import CommandPalette

        CommandPalette(choices, self.theme, hint, self).open_over(self)

    def _member_changed(self) -> None:
        if self.docks is not None:
            self.docks.inspector.outdate()

    def _step_member(self, picked: Picked, by: int) -> None:
        from designer.gui.actions._members import step_from

        step_from(self, picked, by)

    def reset_layout(self) -> None:
        """All docks back to where they came from."""
        self.settings.set_layout("docks", None)
        if self.docks is not None:
            self.docks.arrange()

    def next_tab(self, by: int) -> None:
        """Show another open document."""
        if self.tabs.count():
            self.tabs.setCurrentIndex((self.tabs.currentIndex() + by) % self.tabs.count())
            self._show_document()

    def edit_workload(self, new: bool = False) -> None:
        """Show the form of the workload."""
        from designer.gui.workload_form import edit_workload

        if self.document is not None:
            edit_workload(self.document.session, new, self)
            # what had the keys before may be gone, as the command palette is
            self.activateWindow()
            self.focus_canvas()

    def edit_settings(self) -> None:
        """Show the settings."""
        from designer.gui.dialogs.settings_dialog import SettingsDialog

        dialog = SettingsDialog(self.settings, self)
        dialog.changed.connect(self.take_settings)
        dialog.exec()
        dialog.deleteLater()

    def take_settings(self) -> None:
        """Follow the settings."""
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme.base_font(app, self.settings.font_scale)
        self.set_theme(self.settings.theme)
        for document in self._order:
            document.live.enabled = document.player.live = self.settings.live
            self._canvases[document].camera.animated = not self.settings.reduced_motion

    def about(self) -> None:
        """Tell about the program."""
        from designer.interchange.native.envelope import written_by

        QMessageBox.about(
            self,
            "About designer",
            f"<b>{written_by()}</b><p>Design AI servers and clusters: draw them, see which link binds, "
            "and what to buy first.</p><p>Every number carries its unit, band and source.</p>",
        )

    def command_palette(self) -> None:
        """Search everything: commands, parts of the design, templates."""
        from designer.gui.dialogs.command_palette import CommandPalette

        self.update_actions()
        CommandPalette(self.choices(), self.theme, "Search commands, parts, workloads, templates", self).open_over(self)

    def choices(self) -> list[Choice]:
        """All one can search for."""
        from designer.gui.searching import everything

        session = self.document.session if self.document is not None else None
        go_to = partial(self._go_to, session) if session is not None else None
        insert = self._insert_kept if session is not None else None
        return everything(
            self.qt_actions, self.run, session, self.open_template, self.theme, self.find_icon, go_to, insert
        )

    def _insert_kept(self, what: str, key: str) -> None:
        """Put in what was searched for; the next key is for the canvas."""
        self._insert(what, key)
        self.focus_canvas()

    def _go_to(self, session: Session, picked: Picked) -> None:
        """Select a thing that was searched for; the next key is for the canvas."""
        session.reveal([picked])
        self.focus_canvas()

    # ---- inserting

    def _insert(self, what: str, key: str) -> None:
        canvas = self.canvas
        if canvas is None:
            return
        if what == "template":
            self._drop_template(key)
        else:
            kind, is_type = key.split("/", 1)[0], "/" in key
            canvas.add_part(kind, key if is_type else "")
        canvas.reveal(canvas.session.selection)
        if self.docks is not None and self.docks.parts.search.hasFocus():
            # the next word is another part
            self.docks.parts.search.selectAll()

    def _drop_template(self, template_id: str, x: float | None = None, y: float | None = None) -> None:
        from designer.errors import DesignerError
        from designer.gui.inserting import insert_template

        canvas = self.canvas
        if canvas is None:
            return
        try:
            insert_template(canvas, template_id, x, y)
        except DesignerError as error:
            self.warn(error.text)

    def _quick_add(self, wanted: QuickAdd) -> None:
        """Offer the parts that fit at a point."""
        from designer.gui.dialogs.command_palette import CommandPalette
        from designer.gui.searching import fitting_parts

        canvas = self.canvas
        if canvas is not None:
            hint = "Add a part that fits here" if wanted.kinds else "Add a part"
            CommandPalette(fitting_parts(canvas, wanted, self.find_icon), self.theme, hint, self).open_over(self)

    def _activated(self, _picked: object) -> None:
        self.show_panel("inspector")

    def _context(self, at: QPoint, picked: Picked | None) -> None:
        document = self.document
        if document is None:
            return
        if picked is not None and picked not in document.session.selection:
            document.session.select([picked])
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        ids = (
            (
                "edit.connect",
                "edit.connect_to",
                "edit.replace_type",
                "edit.select_similar",
                "edit.tidy",
                "",
                "edit.replicate",
                "edit.group",
                "edit.ungroup",
                "",
                "edit.cut",
                "edit.copy",
                "edit.duplicate",
                "edit.delete",
                "",
                "time.fail",
                "time.degrade",
                "time.mend",
                "",
                "view.fit_selection",
            )
            if picked is not None
            else ("insert.part", "insert.note", "edit.paste", "", "edit.select_all", "edit.tidy", "view.fit")
        )
        self.update_actions()
        for action_id in ids:
            if action_id:
                menu.addAction(self.qt_actions[action_id])
            else:
                menu.addSeparator()
        menu.popup(at)

    def _compared(self) -> list[tuple[str, Callable[[], Any]]]:
        """What the shown document can be compared with."""
        shown = self.document
        if shown is None:
            return []
        first = shown.session.history.steps[0].before if shown.session.history.steps else None
        found: list[tuple[str, Callable[[], Any]]] = []
        if shown.session.file is not None:
            found.append((_ON_DISK, shown.on_disk))
        if first is not None:
            found.append(("itself as it was opened", lambda: first))
        found += [(d.session.title, partial(_design_of, d)) for d in self._order if d is not shown]
        from designer.interchange.templates import list_templates

        return found + [(f"template: {t.title}", partial(_template, t.id)) for t in list_templates()]

    # ---- messages, drops, closing

    def say(self, text: str) -> None:
        """Tell something that went well."""
        self.toasts.say(text)

    def warn(self, text: str) -> None:
        """Tell something that did not."""
        self.toasts.say(text, bad=True)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Files and texts can be dropped anywhere."""
        if event.mimeData().hasUrls() or event.mimeData().hasText():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open dropped files; import a dropped text."""
        data = event.mimeData()
        files = [Path(u.toLocalFile()) for u in data.urls() if u.isLocalFile()]
        for file in files:
            self.open_file(file)
        if not files and data.hasText():
            self.files.offer_import(data.text())
        event.acceptProposedAction()

    def eventFilter(self, watched: Any, event: QEvent) -> bool:
        """Files opened by the desktop while the program runs."""
        if event.type() == QEvent.Type.FileOpen:
            self.open_file(Path(event.file()))  # type: ignore[attr-defined]
            return True
        return super().eventFilter(watched, event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask once for all documents that are not saved, then stop all work."""
        if not self.files.may_close(list(self._order)):
            event.ignore()
            return
        self.settings.set_layout("geometry", self.saveGeometry())
        if self.docks is not None and self.document is not None:
            self.settings.set_layout("docks", self.saveState(_LAYOUT))
        self.settings.sync()
        self.shut_down()
        event.accept()

    def shut_down(self) -> None:
        """Close every document without asking and stop all threads."""
        app = QApplication.instance()
        if app is not None:
            app.removeEventFilter(self)
        if self.docks is not None:
            self.docks.close_jobs()
        if self.recovery is not None:
            self.recovery.close_jobs()
        if self.workspace_ is not None:
            self.workspace_.close_all()
        if self.sweeper is not None:
            self.sweeper.close()
            self.sweeper = None

    def begin(self, files: list[str]) -> None:
        """What is done once the window stands: fill the start page, open files, offer recovery."""
        self.start.fill()
        for name in files:
            path = Path(name)
            if path.exists() or name.endswith(".json"):
                self.open_file(path)
            else:
                self.open_template(name)
        QTimer.singleShot(0, self, self.files.offer_recovery)


def _design_of(document: Document) -> Any:
    return document.session.design


@lru_cache(maxsize=4)
def _template(template_id: str) -> Any:
    """A template to compare with; kept, since each edit asks for it again."""
    from designer.interchange.templates import open_design

    return open_design(template_id)


def _is_plain(shortcut: str) -> bool:
    """True if it is a single key without modifiers."""
    return "+" not in shortcut


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
