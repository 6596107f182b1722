"""Long work with the window: one job at a time on a thread, the newest wins, and old answers are dropped."""

from __future__ import annotations

import ctypes
import gc
import importlib
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QTimer, Signal

from designer.errors import Cancelled, DesignerError
from designer.memo import forget_old, turn

if TYPE_CHECKING:
    from designer.design.diff import Diff
    from designer.design.document import Design
    from designer.engine.results import Analysis
    from designer.gui.session import Session

#: quiet time before the curves of all workloads are computed [ms]
IDLE_MS: Final = 250
#: so long somebody at work can keep that waiting [s]
_PUT_OFF: Final = 3.0
_JOIN: Final = 10.0
#: a thread without work ends after so long [s]
_LINGER: Final = 2.0

#: quiet time before new memory is swept, before all of it is, and before that after a document was closed [ms]
_SWEEP_MS: Final = 4000
_DEEP_MS: Final = 60_000
_CLOSED_MS: Final = 12_000
#: so many closed documents at most wait for the longer pause
_MOST_CLOSED: Final = 3
#: how many new objects, young and older rounds it takes until Python collects by itself: few, as each round looks
#: through all that outlived the rounds before it; the last is never reached
_COLLECT: Final = (10_000, 3, 100_000)
#: the youngest generations of Python, of three
_YOUNG: Final = 1

#: M_ARENA_MAX of malloc.h: how many arenas there may be
_ARENAS: Final = -8

Cancelled_ = Callable[[], bool]
Job = Callable[[Cancelled_], object]

#: wakes the thread of the window
_WAKE: Final = QEvent.Type(QEvent.registerEventType())


class Newest(QObject):
    """Runs jobs on a thread, one at a time; a newer job takes the place of one that waits and stops the running one.

    A thread without work waits a little for more before it ends: starting one takes longer than a small job. It emits
    no signals itself, since Qt for Python looks them up without a lock and may then miss them: it leaves what is to be
    called, and wakes the thread of the window with an event.
    """

    #: ticket of the job, what it returned or the error it raised
    finished = Signal(int, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = threading.Condition()
        self._waiting: tuple[int, Job] | None = None
        self._thread: threading.Thread | None = None
        self._working = False
        self._ticket = 0
        self._closed = False
        self._calls: deque[Callable[[], object]] = deque()

    def call(self, call: Callable[[], object]) -> None:
        """Have something called on the thread of the window, soon; from any thread."""
        self._calls.append(call)
        QCoreApplication.postEvent(self, QEvent(_WAKE))

    def event(self, event: QEvent) -> bool:
        """The event by which a thread wakes that of the window."""
        if event.type() != _WAKE:
            return super().event(event)
        while self._calls:
            self._calls.popleft()()
        return True

    def submit(self, job: Job) -> int:
        """Run a job as soon as the running one has noticed that it is outdated; the ticket it will report with."""
        with self._lock:
            self._ticket += 1
            ticket = self._ticket
            if not self._closed:
                self._waiting = (ticket, job)
                self._lock.notify()
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name="designer-job", daemon=True)
                    self._thread.start()
        return ticket

    def cancel(self) -> None:
        """Forget the waiting job and ask the running one to stop."""
        with self._lock:
            self._ticket += 1
            self._waiting = None

    @property
    def busy(self) -> bool:
        """True if a job is running."""
        with self._lock:
            return self._working or self._waiting is not None

    def close(self) -> None:
        """Stop for good and wait for the thread."""
        with self._lock:
            self._closed = True
            self._ticket += 1
            self._waiting = None
            self._lock.notify()
            thread = self._thread
        if thread is not None:
            thread.join(_JOIN)

    def _run(self) -> None:
        while True:
            with self._lock:
                self._working = False
                self._lock.wait_for(lambda: self._closed or self._waiting is not None, _LINGER)
                if self._waiting is None or self._closed:
                    self._thread = None
                    return
                ticket, job = self._waiting
                self._waiting, self._working = None, True
            result: object
            try:
                result = job(lambda ticket=ticket: self._ticket != ticket)
            except Exception as error:
                result = error
            if self._ticket == ticket and not self._closed:
                self.call(partial(self.finished.emit, ticket, result))


class Sweeper(QObject):
    """Collects unreachable memory while the program is idle: looking through all objects takes tenths of a second,
    in which no thread gets anything done. So only what is new is looked through, and all of it after a long pause, or
    after a shorter one once a document was closed. What is known of large designs before the last two goes as well.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._before = gc.get_threshold()
        self._closed = 0
        self._long_quiet = False
        gc.set_threshold(*_COLLECT)
        share_arena()
        self._timer = QTimer(self, singleShot=True, interval=_SWEEP_MS)
        self._timer.timeout.connect(self._quiet)

    def touch(self, *_: object) -> None:
        """Somebody works: sweep later."""
        self._long_quiet = False
        self._timer.start(_CLOSED_MS if 0 < self._closed <= _MOST_CLOSED else _SWEEP_MS)

    def let_go(self) -> None:
        """A document was closed: much that lived long is unreachable."""
        self._closed += 1
        self.touch()

    def _quiet(self) -> None:
        self.sweep(whole=self._closed > 0 or self._long_quiet)
        if not self._long_quiet:
            self._long_quiet = True
            self._timer.start(_DEEP_MS)

    def sweep(self, whole: bool = True) -> None:
        """Collect now.

        Parameters
        ----------
        whole
            True if what lived long is looked through as well; what is left of it need not be looked at in between.
        """
        if whole:
            self._closed = 0
            gc.unfreeze()
            gc.collect()
            gc.freeze()
        else:
            forget_old()
            gc.collect(_YOUNG)
        give_back()

    def close(self) -> None:
        """Leave memory to Python again."""
        self._timer.stop()
        gc.unfreeze()
        gc.set_threshold(*self._before)


@contextmanager
def making_much() -> Generator[None]:
    """While a design is read and laid out hardly anything becomes unreachable, and looking for it takes a third of the
    time; what was made is there to stay, and only looked through with all the rest.
    """
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.freeze()
            gc.enable()


def share_arena() -> None:
    """Have the C library of Linux take memory for all threads from one arena: what the thread of the window let go then
    serves the one that works. They take turns anyway, and a fifth of the memory was unused with large designs.
    """
    if sys.platform == "linux":
        choose = getattr(ctypes.CDLL(None), "mallopt", None)
        if choose is not None:
            choose(_ARENAS, 1)


def give_back() -> None:
    """Hand what was let go back to the system, where its C library does not by itself: a third after a large answer."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


class LiveAnalysis(QObject):
    """Keeps a session's analysis fresh: the shown workload at once, curves and the other workloads when idle."""

    #: milliseconds the last answer took
    timed = Signal(float)
    #: share done and what is being done
    progressed = Signal(float, str)
    busy_changed = Signal(bool)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.enabled = True
        self.took = 0.0
        self._jobs = Newest(self)
        self._jobs.finished.connect(self._arrived)
        self._asked: tuple[Design, str, bool] | None = None
        self._ticket = 0
        self._answered = 0.0
        self._idle = QTimer(self, singleShot=True, interval=IDLE_MS)
        self._idle.timeout.connect(self._complete)
        session.settled.connect(self._design_changed)
        session.workload_changed.connect(self.refresh)
        session.selection_changed.connect(self.put_off)

    def refresh(self, _workload: str = "") -> None:
        """Analyse the current design now."""
        self._idle.stop()
        design, workload = self.session.design, self.session.workload
        if not design.workloads:
            self._jobs.cancel()
            self._asked = None
            self.session.set_analysis(None)
            self.session.set_awaited(False)
            self.busy_changed.emit(False)
            return
        self._ask(design, workload, full=False)

    def put_off(self, *_: object) -> None:
        """Somebody is at work: what waits for a quiet moment waits on, but not for ever."""
        if self._idle.isActive() and time.monotonic() - self._answered < _PUT_OFF:
            self._idle.start()

    def stop(self) -> None:
        """Cancel what is running; the last answer stays, marked stale."""
        self._idle.stop()
        self._jobs.cancel()
        self.session.set_awaited(False)
        self.busy_changed.emit(False)

    def close(self) -> None:
        """Stop for good."""
        self.enabled = False
        self._idle.stop()
        self._jobs.close()

    def _design_changed(self, changes: Diff) -> None:
        if self.enabled and not changes.only_placement:
            self.refresh()
        elif self._asked is not None and changes.only_placement:
            # nothing that counts has changed: what is asked for holds for the new design as well
            self._asked = (changes.after, *self._asked[1:])
            self.put_off()

    def _complete(self) -> None:
        design = self.session.design
        if self.enabled and design.workloads:
            self._ask(design, self.session.workload, full=True)

    def _ask(self, design: Design, workload: str, full: bool) -> None:
        if self._asked is None or self._asked[0] is not design:
            turn()
        self._asked = (design, workload, full)

        def job(cancelled: Cancelled_) -> object:
            # loading is no part of the time stated
            importlib.import_module("designer.analysis.study")

            begin = time.perf_counter()
            answer = study(design, workload, full, cancelled, self._progress)
            for result in answer.workloads:
                if result.id == workload:
                    # the window lists them: what is made at the first look is made here, not while it waits
                    len(result.flows)
                    if result.id in answer.loads:
                        _ = answer.loads[result.id].stored
            return answer, (time.perf_counter() - begin) * 1e3

        self._ticket = self._jobs.submit(job)
        if not full:
            self.session.set_awaited(True)
        self.busy_changed.emit(True)

    def _progress(self, share: float, text: str) -> None:
        self._jobs.call(partial(self._show_progress, share, text))

    def _show_progress(self, share: float, text: str) -> None:
        self.progressed.emit(share, text)
        self.session.set_progress(share, text)

    def _arrived(self, ticket: int, result: object) -> None:
        if ticket != self._ticket:
            # it was on its way when something else was asked
            return
        self._take(result)
        self.session.set_awaited(False)

    def _take(self, result: object) -> None:
        asked = self._asked
        if asked is None or asked[0] is not self.session.design or not self.enabled:
            return
        full = asked[2]
        self.busy_changed.emit(False)
        if isinstance(result, Cancelled):
            return
        if isinstance(result, DesignerError):
            if not full:
                self.session.set_analysis(None, result)
            return
        if isinstance(result, Exception):
            self.session.set_analysis(None, DesignerError(f"the analysis failed: {result!r}"))
            return
        assert isinstance(result, tuple)
        analysis, took = result
        if not full:
            self.took = took
            self.timed.emit(took)
            self._answered = time.monotonic()
            self._idle.start()
        self.session.set_analysis(analysis)


def study(
    design: Design, workload: str, full: bool, cancelled: Cancelled_, progress: Callable[[float, str], None]
) -> Analysis:
    """The shown workload, or with `full` every workload with its curves; workloads that cannot run are left out then.

    Raises
    ------
    DesignerError
        If the shown workload cannot be run.
    """
    from designer.analysis.study import analyze

    one = [workload] if workload in design.workloads else None
    if not full:
        return analyze(design, one, curves=False, progress=progress, cancelled=cancelled)
    try:
        return analyze(design, None, curves=True, shown=workload, progress=progress, cancelled=cancelled)
    except Cancelled:
        raise
    except DesignerError:
        return analyze(design, one, curves=True, progress=progress, cancelled=cancelled)
