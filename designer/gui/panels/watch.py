"""Watch: counters of a running machine over its drawing, from a Prometheus server or from a recording of one."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QSignalBlocker, Qt, QTimer
from PySide6.QtWidgets import QCheckBox, QFileDialog, QLineEdit, QWidget

from designer import atomic
from designer.decisions.watching import Counter, Watch, watch_over
from designer.errors import DesignerError
from designer.gui.controls import Button, ChoiceBox, Slider
from designer.gui.layouts import FLUSH, Wrap, in_column, in_row
from designer.gui.panels._asked import MeasuredPanel
from designer.gui.panels._panel import PanelKind, Place
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels.overlay import WATCH, of_watch
from designer.gui.workers import Cancelled_
from designer.interchange.counters import ask, dumps, load_all, read_hosts
from designer.pages.watch import page_of_watch

if TYPE_CHECKING:
    from designer.design.diff import Diff
    from designer.interchange.counters import Recording

#: a server that is followed is asked again after this time [ms]
EVERY_MS: Final = 15_000
#: a replay shows the next time after this [ms], and what is followed keeps so many times
NEXT_MS: Final = 400
KEPT_LIMIT: Final = 1_000
_WINDOWS: Final = ("30s", "1m", "5m", "15m", "1h")
_USUAL: Final = "5m"


class WatchPanel(MeasuredPanel):
    """Where counters come from, and the page of what is not as it should be; the drawing shows what was measured."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        nothing = "Ask the Prometheus server of the machine, or open a recording made with “designer watch --save”."
        super().__init__(theme, parent, "Ask", self.ask, self._take, WATCH, nothing)
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
        self.head = Slider(Qt.Orientation.Horizontal)
        self.head.setAccessibleName("Time of the counters")
        self.head.setToolTip("Drag to see the counters of another time")
        self.head.valueChanged.connect(self._moved)
        self.play = Button("Play", self._play, tip="Show one time after the other")
        self.replay = QWidget()
        in_row((self.head, 1), self.play, on=self.replay, margins=(14, 2, 12, 0), spacing=6)
        self.replay.hide()
        in_column(
            in_row((self.address, 1), self.window_, self.job.go, margins=(14, 8, 12, 0), spacing=6),
            Wrap(self.follow, self.record, self.save, self.hosts_, self.clear, margins=(14, 4, 8, 0)),
            in_column(self.job.state, self.job.problem, margins=(14, 2, 12, 0), spacing=2),
            self.replay,
            (self.view, 1),
            on=self,
            margins=FLUSH,
            spacing=2,
        )
        self._again = QTimer(self, singleShot=True, interval=EVERY_MS)
        self._again.timeout.connect(self.ask)
        self._next = QTimer(self, interval=NEXT_MS)
        self._next.timeout.connect(self._step)
        self.hosts: dict[str, str] = {}
        self._opened = False
        #: instants of a recording or of what was asked, the earliest first, and what was found at each
        self.instants: tuple[Recording, ...] = ()
        self.judged: tuple[Watch, ...] = ()

    def close_jobs(self) -> None:
        """Stop what runs."""
        self._again.stop()
        self._next.stop()
        super().close_jobs()

    def entry(self) -> QWidget | None:
        """The address."""
        return self.address

    def watch(self, session: Session) -> None:
        """What was measured is judged again for another design or workload."""
        self._forget()
        self.connect_signal(session.design_changed, self._changed)
        self.connect_signal(session.workload_changed, self._judge_again)
        self.connect_signal(session.overlay_changed, self.outdate)

    # ---- asking

    def ask(self, *_: object) -> None:
        """Ask the server."""
        url, window = self.address.text().strip(), str(self.window_.currentData())
        # what is followed stays in reach of the slider
        before = self.instants[-KEPT_LIMIT:] if self.follow.isChecked() and not self._opened else ()
        self._opened = False

        def read() -> tuple[Recording, ...]:
            return (*before, ask(url, window))

        self._run(read, "Asking the server…")

    def open(self, file: Path) -> None:
        """Show a recording."""
        self.follow.setChecked(False)
        self._opened = True

        def read() -> tuple[Recording, ...]:
            return load_all(file)

        self._run(read, "Reading the recording…")

    def _run(self, read: Callable[[], tuple[Recording, ...]], text: str) -> None:
        session = self.session
        if session is None or not session.workload:
            self.job.refuse(ValueError("Add a workload: what runs decides what each link should carry."))
            return
        design, workload, hosts = session.design, session.workload, dict(self.hosts)

        def job(_cancelled: Cancelled_) -> object:
            instants = read()
            counters = [[Counter(r.name, r.host, r.device, r.value) for r in one.readings] for one in instants]
            return design, instants, watch_over(design, workload, counters, hosts)

        self._again.stop()
        self.job.begin(job, text)

    def _take(self, result: object) -> None:
        assert isinstance(result, tuple)
        design, instants, judged = result
        session = self.session
        if session is None or design is not session.design:
            self.job.end("")
            return
        # the last time is shown, but where an earlier one is looked at
        earlier = instants is self.instants or self.follow.isChecked()
        late = not earlier or self.head.value() == self.head.maximum()
        self.instants, self.judged = instants, judged
        with QSignalBlocker(self.head):
            self.head.setRange(0, len(instants) - 1)
            if late:
                self.head.setValue(len(instants) - 1)
        self.replay.setVisible(len(instants) > 1)
        self._show()
        if self.follow.isChecked():
            self._again.start()

    def _moved(self, _at: int) -> None:
        self._show()

    def _show(self) -> None:
        """Page and drawing of the time that the slider is at."""
        session, k = self.session, self.head.value()
        if session is None or k >= len(self.judged):
            return
        one, found = self.instants[k], self.judged[k]
        over = f", mean over {one.window}" if one.window else ""
        at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(one.time))
        which = f" ({k + 1} of {len(self.instants):,})" if self.instants[1:] else ""
        self.job.end(f"Measured {at}{over}{which}")
        self.page = page_of_watch(found, session.workload, session.design)
        session.set_overlay(of_watch(session.design, found))
        self.flush()

    def _play(self, *_: object) -> None:
        """Begin at the first time if the last is shown; stop where it runs."""
        if self._next.isActive():
            self._halt()
            return
        if self.head.value() == self.head.maximum():
            self.head.setValue(0)
        self.play.setText("Pause")
        self._next.start()

    def _step(self) -> None:
        self.head.setValue(self.head.value() + 1)
        if self.head.value() == self.head.maximum():
            self._halt()

    def _halt(self) -> None:
        self._next.stop()
        self.play.setText("Play")

    def _followed(self, on: bool) -> None:
        self._again.stop()
        if on:
            self.ask()

    def _judge_again(self, *_: object) -> None:
        """The same counters for what is shown now."""
        if self.instants:
            self._run(partial(_same, self.instants), "Comparing…")

    def _changed(self, changes: Diff) -> None:
        if not changes.only_placement and self.instants:
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
        if name and self.instants:
            try:
                atomic.write(Path(name), dumps(*self.instants).encode())
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
        super().refresh()
        self.save.setEnabled(bool(self.instants))

    def _forget(self) -> None:
        self._again.stop()
        self._halt()
        self.instants, self.judged = (), ()
        self.replay.hide()
        super()._forget()


def _same(instants: tuple[Recording, ...]) -> tuple[Recording, ...]:
    return instants


PANEL = PanelKind("watch", "Watch", Place.LINKS, 20, lambda s: WatchPanel(s.theme))
