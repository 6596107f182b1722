"""Watch: counters of a running machine over its drawing, from a Prometheus server or from a recording of one."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QCheckBox, QFileDialog, QLineEdit, QWidget

from designer import atomic
from designer.decisions.watching import Counter, watch
from designer.errors import DesignerError
from designer.gui.controls import Button, ChoiceBox
from designer.gui.layouts import FLUSH, Wrap, in_column, in_row
from designer.gui.panels._asked import AskedPage
from designer.gui.panels._panel import Panel, PanelKind, Place
from designer.gui.search_job import SearchJob
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels.overlay import WATCH, Overlay, of_watch
from designer.gui.viewmodels.places import picked_of
from designer.gui.workers import Cancelled_
from designer.interchange.counters import ask, dumps, load, read_hosts
from designer.pages.watch import page_of_watch
from designer.present.blocks import Page, State

if TYPE_CHECKING:
    from designer.design.diff import Diff
    from designer.interchange.counters import Recording

#: a server that is followed is asked again after this time [ms]
EVERY_MS: Final = 15_000
_WINDOWS: Final = ("30s", "1m", "5m", "15m", "1h")
_USUAL: Final = "5m"
_NOTHING: Final = Page(
    "", State.NONE, "Ask the Prometheus server of the machine, or open a recording made with “designer watch --save”."
)


class WatchPanel(Panel):
    """Where counters come from, and the page of what is not as it should be; the drawing shows what was measured."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.job = SearchJob(self, "Ask", self.ask, self._take)
        self.address = QLineEdit()
        self.address.setAccessibleName("Address of the Prometheus server")
        self.address.setPlaceholderText("http://prometheus:9090")
        self.address.returnPressed.connect(self.ask)
        self.window_ = ChoiceBox()
        self.window_.setAccessibleName("Mean over")
        self.window_.setToolTip("Rates are means over this time")
        for window in _WINDOWS:
            self.window_.addItem(window, window)
        self.window_.setCurrentIndex(_WINDOWS.index(_USUAL))
        self.follow = QCheckBox("Keep asking")
        self.follow.setToolTip("Ask the server again every 15 seconds")
        self.follow.toggled.connect(self._followed)
        self.record = Button("Open recording…", self._ask_recording, tip="Counters that were saved before")
        self.save = Button("Save recording…", self._ask_target, tip="Save what was measured, to judge it again")
        self.hosts_ = Button(
            "Names of hosts…", self._ask_hosts, tip="A line a node: its name here, and in the counters"
        )
        self.clear = Button("Show loads again", self._clear)
        self.view = AskedPage(theme)
        self.view.wanted.connect(self._reveal)
        in_column(
            in_row((self.address, 1), self.window_, self.job.go, margins=(14, 8, 12, 0), spacing=6),
            Wrap(self.follow, self.record, self.save, self.hosts_, self.clear, margins=(14, 4, 8, 0)),
            in_column(self.job.state, self.job.problem, margins=(14, 2, 12, 0), spacing=2),
            (self.view, 1),
            on=self,
            margins=FLUSH,
            spacing=2,
        )
        self._again = QTimer(self, singleShot=True, interval=EVERY_MS)
        self._again.timeout.connect(self.ask)
        self.hosts: dict[str, str] = {}
        self.recording: Recording | None = None
        self.page: Page | None = None

    def close_jobs(self) -> None:
        """Stop what runs."""
        self._again.stop()
        self.job.close()

    def entry(self) -> QWidget | None:
        """The address."""
        return self.address

    def watch(self, session: Session) -> None:
        """What was measured is judged again for another design or workload."""
        self._forget()
        self.connect_signal(session.design_changed, self._changed)
        self.connect_signal(session.workload_changed, self._judge_again)
        self.connect_signal(session.overlay_changed, self.outdate)

    def let_go(self) -> None:
        """Forget what was measured."""
        self._forget()

    # ---- asking

    def ask(self, *_: object) -> None:
        """Ask the server."""
        url, window = self.address.text().strip(), str(self.window_.currentData())

        def read() -> Recording:
            return ask(url, window)

        self._run(read, "Asking the server…")

    def open(self, file: Path) -> None:
        """Show a recording."""
        self.follow.setChecked(False)

        def read() -> Recording:
            return load(file)

        self._run(read, "Reading the recording…")

    def _run(self, read: Callable[[], Recording], text: str) -> None:
        session = self.session
        if session is None or not session.workload:
            self.job.refuse(ValueError("Add a workload: what runs decides what each link should carry."))
            return
        design, workload, hosts = session.design, session.workload, dict(self.hosts)

        def job(_cancelled: Cancelled_) -> object:
            recording = read()
            counters = [Counter(r.name, r.host, r.device, r.value) for r in recording.readings]
            found = watch(design, workload, counters, hosts)
            return design, recording, page_of_watch(found, workload, design), of_watch(design, found)

        self._again.stop()
        self.job.begin(job, text)

    def _take(self, result: object) -> None:
        assert isinstance(result, tuple)
        design, recording, page, overlay = result
        session = self.session
        if session is None or design is not session.design:
            self.job.end("")
            return
        self.recording, self.page = recording, page
        over = f", mean over {recording.window}" if recording.window else ""
        at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(recording.time))
        self.job.end(f"Measured {at}{over}")
        assert isinstance(overlay, Overlay)
        session.set_overlay(overlay)
        if self.follow.isChecked():
            self._again.start()
        self.flush()

    def _followed(self, on: bool) -> None:
        self._again.stop()
        if on:
            self.ask()

    def _judge_again(self, *_: object) -> None:
        """The same counters for what is shown now."""
        if self.recording is not None:
            self._run(partial(_same, self.recording), "Comparing…")

    def _changed(self, changes: Diff) -> None:
        if not changes.only_placement and self.recording is not None:
            if self.session is not None:
                self.session.clear_overlay(WATCH)
            self._judge_again()

    # ---- files

    def _ask_recording(self, *_: object) -> None:
        name, _filter = QFileDialog.getOpenFileName(self, "Open recording", "", "Recording (*.json);;All files (*)")
        if name:
            self.open(Path(name))

    def _ask_target(self, *_: object) -> None:
        name, _filter = QFileDialog.getSaveFileName(self, "Save recording", "counters.json", "Recording (*.json)")
        if name and self.recording is not None:
            try:
                atomic.write(Path(name), dumps(self.recording).encode())
            except Exception as error:
                self.job.refuse(error)

    def _ask_hosts(self, *_: object) -> None:
        name, _filter = QFileDialog.getOpenFileName(self, "Names of hosts", "", "All files (*)")
        if name:
            self.take_hosts(Path(name))

    def take_hosts(self, file: Path) -> None:
        """Read names of hosts, and compare again."""

        try:
            self.hosts = read_hosts(file)
        except DesignerError as error:
            self.job.refuse(error)
            return
        self._judge_again()

    # ---- what is shown

    def refresh(self) -> None:
        """Show the page of what was measured last."""
        session = self.session
        self.job.go.setEnabled(session is not None)
        self.save.setEnabled(self.recording is not None)
        self.clear.setVisible(session is not None and session.overlay is not None and session.overlay.about == WATCH)
        self.view.show_page(self.page if self.page is not None else _NOTHING, self.theme)

    def _reveal(self, ids: tuple[str, ...]) -> None:
        if self.session is not None:
            picked = [picked_of(self.session.design, i) for i in ids]
            self.session.reveal(p for p in picked if p is not None)

    def _clear(self, *_: object) -> None:
        if self.session is not None:
            self.session.clear_overlay(WATCH)

    def _forget(self) -> None:
        self._again.stop()
        self.job.cancel()
        self.job.problem.hide()
        self.recording = self.page = None
        if self.session is not None:
            self.session.clear_overlay(WATCH)
        self.outdate()


def _same(recording: Recording) -> Recording:
    return recording


PANEL = PanelKind("watch", "Watch", Place.LINKS, 20, lambda s: WatchPanel(s.theme))
