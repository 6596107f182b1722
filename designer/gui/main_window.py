"""The window: menus and tabs above, the canvases, side panel and tools below.

Only Qt is loaded with this module; everything heavier comes when it is first needed, so the window opens quickly.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QByteArray, QEvent, QPoint, QRect, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QIcon
from PySide6.QtWidgets import (
    QApplication,
    QMenuBar,
    QMessageBox,
    QWidget,
)

from designer.drawing.theme import canvas_theme
from designer.errors import WriteError
from designer.gui import icons, theme
from designer.gui.actions._members import show as show_member
from designer.gui.actions._members import shown_group
from designer.gui.dialogs.toast import Toasts
from designer.gui.files import Files
from designer.gui.layouts import FLUSH, in_column
from designer.gui.settings import Settings
from designer.gui.start_page import StartPage
from designer.gui.window.document_dialogs import Billing, Racking, Reporting
from designer.gui.window.head import Head
from designer.gui.window.menus import Menus
from designer.gui.window.panel_window import PanelWindow
from designer.gui.window.recovery import Recovery
from designer.gui.window.requests import Requests
from designer.gui.window.saving import SavingState
from designer.gui.window.tabs import Tabs
from designer.gui.window.warming import Warming
from designer.gui.workers import Sweeper
from designer.interchange.native.envelope import written_by
from designer.memo import forget
from designer.plain_text import in_one_line

if TYPE_CHECKING:
    from designer.design.diff import Diff
    from designer.design.document import Design
    from designer.gui.canvas.canvas import Canvas
    from designer.gui.dialogs.command_palette import PaletteEntry
    from designer.gui.documents import Document
    from designer.gui.places import Places
    from designer.gui.recovery_page import RecoveryPage
    from designer.gui.workspace import Workspace


class MainWindow(PanelWindow):
    """The frame around everything. Its public methods are what actions ask for (``actions._action.Window``)."""

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(settings or Settings())
        self.setWindowTitle("designer[*]")
        self.setAcceptDrops(True)
        self.resize(1440, 900)
        self.setMinimumSize(900, 560)
        self._menu_bar = QMenuBar()
        self.start = self._start_page()
        self.documents = Tabs(self._show_document, self._close)
        self.tabs, self.pages = self.documents.bar, self.documents.pages
        self.pages.addWidget(self.start)
        self.saving = SavingState(lambda: self.document, lambda: self.run("file.save"), self._settle)
        self.autosave, self.notice = self.saving.button, self.saving.notice
        self._over = middle = QWidget()
        self._make_area(self.pages)
        in_column(self.notice, (self.area, 1), on=middle, margins=FLUSH, spacing=0)
        self.setCentralWidget(middle)
        self.toasts = Toasts(middle, self._in_question)
        self.files = Files(self, self, self.settings, self.toasts, lambda: self.theme.name)
        self.recovery_ = Recovery(self)
        self.requests = Requests(self)
        self.racking = Racking(self)
        self.billing = Billing(self)
        self.reporting = Reporting(self)
        self.workspace_: Workspace | None = None
        self.sweeper: Sweeper | None = None
        self._ending = False
        self.warming = Warming(self, self)
        self._connections: list[tuple[Any, Callable[..., object]]] = []
        self.menus = Menus(self, self, self.pages, self.theme)
        self.qt_actions = self.menus.actions
        self.head = Head(self._menu_bar, self.tabs, self.autosave, self.menus.search)
        self.setMenuWidget(self.head)
        self._make_tools()
        geometry = self.settings.layout("geometry")
        if geometry is not None:
            self.restoreGeometry(geometry)
        if sys.platform == "darwin":
            # only there the desktop asks this way, and a filter sees each single event of the program
            QApplication.instance().installEventFilter(self)  # type: ignore[union-attr]

    def _start_page(self) -> StartPage:
        start = StartPage(self.theme, lambda: self.settings.recent)
        start.new_wanted.connect(self.new_document)
        start.open_wanted.connect(lambda: self.files.ask_open())
        start.import_wanted.connect(lambda: self.files.paste_machine())
        start.template_chosen.connect(self.open_template)
        start.question_chosen.connect(self.open_question)
        start.file_chosen.connect(self.open_file)
        start.recovery_wanted.connect(self.show_recovery)
        # netlists of all templates are of no use once one is opened
        start.pictures_painted.connect(lambda: not self.documents.order and forget())
        return start

    def menuBar(self) -> QMenuBar:
        """The bar of menus, which shares its row with the tabs."""
        return self._menu_bar

    def run(self, action_id: str, *_: object) -> None:
        """Do what an action does, if it can be done now."""
        self.menus.run(action_id)

    def update_actions(self, *_: object) -> None:
        """Look which actions can be done."""
        self.menus.update()

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
    def document(self) -> Document | None:
        """The document shown; None on the start page."""
        return self.documents.shown

    @property
    def canvas(self) -> Canvas | None:
        """The canvas of the document shown."""
        return self.documents.canvas(self.document)

    def _in_question(self) -> list[QRect]:
        """Where the canvas shows what limits and what is selected, which messages leave free."""
        canvas = self.canvas
        if canvas is None or not canvas.isVisible():
            return []
        corner = canvas.mapTo(self._over, QPoint(0, 0))
        return [rect.translated(corner) for rect in canvas.in_question()]

    @property
    def recovery(self) -> RecoveryPage | None:
        """The page of work left behind; None until it was needed."""
        return self.recovery_.page

    def _opened(self, document: Document) -> None:
        if document in self.documents.order:
            self.show_document(document)
            return
        from designer.gui.canvas.canvas import Canvas
        from designer.gui.canvas.machine_watch import MachineWatch
        from designer.gui.last_views import LastView

        sweeper = self._sweeping()
        canvas = Canvas(document.session, self._canvas_theme())
        canvas.camera.animated = not self.settings.reduced_motion
        canvas.hint_changed.connect(self.hint.setText)
        self.requests.listen(canvas)
        self._listen_to_document(document)
        for signal in (
            document.session.design_changed,
            document.session.selection_changed,
            document.session.analysis_changed,
            # while a run is played every frame counts
            document.session.moment_changed,
            canvas.view_changed,
        ):
            signal.connect(sweeper.touch)
        canvas.view_changed.connect(document.live.put_off)
        self.documents.add(document, canvas, MachineWatch(document.session, canvas.set_machines, canvas), self.theme)
        self._show_document()
        canvas.setFocus()
        # everything has taken its place only when the event loop has been round
        QTimer.singleShot(0, canvas, lambda: canvas.zoom_to_fit(animated=False))
        LastView(canvas, self.settings)

    def _sweeping(self) -> Sweeper:
        """What collects unreachable memory, for all documents."""

        self.sweeper = self.sweeper or Sweeper(self)
        return self.sweeper

    def _listen_to_document(self, document: Document) -> None:
        session = document.session
        session.warned.connect(self.warn)
        session.message.connect(self.say)
        for signal in (
            session.analysis_changed,
            session.overlay_changed,
            session.trial_changed,
            session.workload_changed,
            session.simulation_changed,
            session.moment_changed,
        ):
            signal.connect(partial(self._light, document))
        document.player.failed.connect(self.warn)
        session.migration_changed.connect(self._migrated)
        session.modified_changed.connect(self._retitle)
        session.design_changed.connect(self._renamed)
        session.file_changed.connect(self._retitle)
        self.saving.listen(document)

    def _closed(self, document: Document) -> None:
        self._disconnect()
        self.racking.close(document.session)
        self.billing.close(document.session)
        self.reporting.close(document.session)
        self.documents.remove(document)
        if self.sweeper is not None:
            self.sweeper.let_go()
        if self._ending:
            # what would be shown in its place is closed next
            self._follow(None)
        else:
            self.leave_page()

    def leave_page(self) -> None:
        """Show the document of the tab in front, or the start page if none is open."""
        if self.documents.order:
            self._show_document()
        else:
            self.show_start()

    def show_document(self, document: Document) -> None:
        """Bring a document to the front."""
        self.documents.bring(document)
        self._show_document()

    def _show_document(self) -> None:
        document = self.documents.show()
        if document is not None:
            self._ready_places()
            self.area.document = True
            self.area.arrange()
            self._follow(document)

    def show_start(self) -> None:
        """Show the start page with all templates."""
        self.start.search.clear()
        self.show_page(self.start)

    def show_page(self, page: QWidget) -> None:
        """Show a page that is no document."""
        self._follow(None)
        if page is self.start and not self.start.filled:
            self.start.fill()
        self.documents.show_page(page)
        self._retitle()
        self.area.document = False
        self.area.arrange()
        self.update_actions()

    # ---- the document in front

    def _connect_places(self, places: Places) -> None:
        places.head.add_wanted.connect(lambda: self.edit_workload(new=True))
        places.parts.insert_requested.connect(self.requests.insert)
        places.inspector.shown_group = partial(shown_group, self)
        places.inspector.member_wanted.connect(partial(show_member, self))
        places.inspector.what_if.tried.connect(self.update_actions)
        places.inspector.sweep_wanted.connect(self.sweep_value)
        places.opened = self.open_proposal
        places.findings.waive_wanted.connect(self.requests.waive)
        places.answer.workload_wanted.connect(lambda: self.edit_workload(new=True))
        places.answer.update_wanted.connect(partial(self.run, "analyze.run"))
        places.answer.stop_wanted.connect(partial(self.run, "analyze.stop"))
        places.answer.place_wanted.connect(self.show_panel)
        places.answer.formula_wanted.connect(places.start_test)
        places.moment.run_wanted.connect(partial(self.run, "time.run"))
        places.moment.lanes_wanted.connect(self.toggle_run)

    def _follow(self, document: Document | None) -> None:
        self._disconnect()
        session = document.session if document is not None else None
        if self.places is not None:
            if any(d.session is self.places.inspector.session for d in self.documents.order):
                # what is being typed belongs to the design it was typed for
                self.places.inspector.finish()
            self.places.set_session(session, document)
        if document is not None and session is not None:
            for signal in (session.design_changed, session.selection_changed):
                signal.connect(self.menus.update_soon)
                self._connections.append((signal, self.menus.update_soon))
        self.hint.setText(self.canvas.tool.hint if self.canvas is not None else "")
        self._colour()
        self.legend.follow(self.canvas)
        if document is not None or self.time_bar_ is not None:
            self.time_bar.follow(document)
        self._retitle()
        self.saving.tell()
        self.update_actions()

    def _disconnect(self) -> None:
        for signal, slot in self._connections:
            signal.disconnect(slot)
        self._connections.clear()

    def _others(self) -> list[tuple[str, Callable[[], Any]]]:
        from designer.gui.window.comparing import others

        return others(self.document, self.documents.order)

    def _light(self, document: Document, *_: object) -> None:
        canvas = self.documents.canvas(document)
        if canvas is not None:
            from designer.gui.window.lighting import light

            light(canvas, document)
            self.legend.explain(canvas)

    def _renamed(self, changes: Diff) -> None:
        if changes.before.title != changes.after.title:
            self._retitle()

    def _retitle(self, *_: object) -> None:
        if self.workspace_ is not None:
            self.documents.retitle(self.workspace_.names())
        document = self.document
        name = in_one_line(document.session.title).replace("[*]", "[*][*]") if document is not None else ""
        # the title before the mark in it: Qt warns of a mark that has no place
        self.setWindowTitle(f"{name}[*] – designer" if document is not None else "designer[*]")
        self.setWindowModified(document is not None and document.session.modified)

    # ---- work that must not be lost

    def show_recovery(self) -> None:
        """Show what runs that ended badly left behind."""
        self.recovery_.show()

    def look_for_leftovers(self) -> None:
        """Look what runs that ended badly left behind, and state if that is something."""
        self.recovery_.look()

    def _settle(self, document: Document, choice: str) -> None:
        self.files.settle(document, choice)

    def compare_with_file(self, document: Document) -> None:
        """Show a document next to what its file holds now."""
        self.show_document(document)
        self.show_panel("compare")
        if self.places is not None:
            from designer.gui.window.comparing import ON_DISK

            self.places.compare.choose(ON_DISK)

    # ---- looks

    def _canvas_theme(self) -> Any:
        from dataclasses import replace

        return replace(canvas_theme(self.theme.name), family=self.font().family())

    def set_theme(self, name: str) -> None:
        """``system``, ``light`` or ``dark``; everything changes at once."""
        self.settings.theme = name
        self.theme = theme.resolve(name)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme.apply(app, self.theme)
        self.menus.set_theme(self.theme)
        self.start.set_theme(self.theme)
        self.recovery_.set_theme(self.theme)
        self.racking.set_theme(self.theme)
        self.billing.set_theme(self.theme)
        for _, canvas in self.documents:
            canvas.set_theme(self._canvas_theme())
        self._colour_panels()
        self.update_actions()

    def find_icon(self, kind: str) -> QIcon | None:
        """Icon of a kind of part in its colour."""
        if kind in icons.names():
            return icons.icon(kind, self.theme.muted)
        return icons.kind_icon(kind, self.theme.is_dark)

    # ---- what actions ask for

    def new_document(self) -> None:
        """Open an empty design."""
        self.workspace.new()

    def open_template(self, template_id: str) -> None:
        """Open a template as a new document."""
        self.workspace.open_template(template_id)

    def open_question(self, template_id: str, workload: str, panel: str) -> None:
        """Open a template with the workload and panel that answer a question."""
        self.open_template(template_id)
        document = self.document
        if document is not None:
            if workload in document.session.design.workloads:
                document.session.set_workload(workload)
            self._ready_places().bring(panel, keys=False)

    def open_file(self, file: Path) -> None:
        """Open a file."""
        self.workspace.open(Path(file))

    def close_document(self) -> None:
        """Close the document shown; asks if it is not saved."""
        document = self.document
        if document is not None:
            self._close(document)

    def _close(self, document: Document) -> None:
        if self.files.may_close([document]):
            self.workspace.close(document)

    def quit(self) -> None:
        """Close the window."""
        self.close()

    def next_tab(self, by: int) -> None:
        """Show another open document."""
        self.documents.next(by)
        self._show_document()

    def edit_racks(self) -> None:
        """Show the racks of the document, to move what is in them."""
        if self.document is not None:
            self.racking.show(self.document.session, self.theme)

    def show_bill(self) -> None:
        """Show the bill of materials of the document."""
        if self.document is not None:
            self.billing.show(self.document.session, self.theme, self.files.folder())

    def compare_built(self) -> None:
        """Ask for the dump of the fabric that was built, and compare the document with it."""
        if self.document is not None:
            self.show_panel("built")
            self._ready_places().built.ask()

    def export_report(self) -> None:
        """Ask where the report of the document goes."""
        if self.document is not None:
            self.reporting.show(self.document.session, self.files.folder())

    def open_proposal(self, design: Design) -> None:
        """Open a proposed design as a new, unsaved document."""

        try:
            self.workspace.add(design, unsaved=True)
        except WriteError as error:
            self.toasts.say(error.text, bad=True)

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
        for sized in (self.head, self.saving, self.legend):
            sized.fit()
        for document, canvas in self.documents:
            document.live.enabled = document.player.live = self.settings.live
            canvas.camera.animated = not self.settings.reduced_motion

    def about(self) -> None:
        """State about the program."""

        QMessageBox.about(
            self,
            "About designer",
            f"<b>{written_by()}</b><p>Design AI servers and clusters: draw them, see which link binds, "
            "and what to buy first.</p><p>Every number carries its unit, band and source.</p>",
        )

    def command_palette(self) -> None:
        """Search everything: commands, parts of the design, templates."""
        self.update_actions()
        self.offer(self.choices(), "Search commands, parts, workloads, templates")

    def choices(self) -> list[PaletteEntry]:
        """What the command palette searches: commands, the design, templates."""
        from designer.gui.searching import everything

        session = self.document.session if self.document is not None else None
        go_to = partial(self.requests.go_to, session) if session is not None else None
        insert = self.requests.insert_kept if session is not None else None
        return everything(
            self.qt_actions, self.run, session, self.open_template, self.theme, self.find_icon, go_to, insert
        )

    # ---- messages, drops, closing

    def say(self, text: str) -> None:
        """Show a message about something that went well."""
        self.toasts.say(self._named(text))

    def warn(self, text: str) -> None:
        """Show a message about something that did not."""
        self.toasts.say(self._named(text), bad=True)

    def _named(self, text: str) -> str:
        """A message with hosts and other members of groups as the drawing calls them."""
        from designer.design.naming import in_names

        return in_names(self.document.session.design, text) if self.document is not None else text

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
        if not self.files.may_close(list(self.documents.order)):
            event.ignore()
            return
        self.settings.set_layout("geometry", self.saveGeometry())
        if self.places is not None:
            kept = f"{self.area.side_shown:d} {self.area.side_width}"
            self.settings.set_layout("places", QByteArray(kept.encode()))
        self.settings.sync()
        self.shut_down()
        event.accept()

    def shut_down(self) -> None:
        """Close every document without asking and stop all threads."""
        self._ending = True
        app = QApplication.instance()
        if app is not None:
            app.removeEventFilter(self)
        self.warming.close()
        if self.places is not None:
            self.places.close_jobs()
        self.recovery_.close()
        self.racking.close_all()
        self.billing.close_all()
        self.reporting.close_all()
        if self.workspace_ is not None:
            self.workspace_.close_all()
        if self.sweeper is not None:
            self.sweeper.close()
            self.sweeper = None

    def begin(self, files: list[str]) -> None:
        """Work after the window is shown: fill the start page, open files, offer recovery."""
        if not files:
            self.start.fill()
        for name in files:
            path = Path(name)
            if path.exists() or name.endswith(".json"):
                self.open_file(path)
            else:
                self.open_template(name)
        if self.document is None and not self.start.filled:
            self.start.fill()
        QTimer.singleShot(0, self, self.files.offer_recovery)
        self._sweeping()
        self.warming.begin(at_once=not files)
