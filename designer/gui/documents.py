"""An open document: its session, its file and what others do to it, and its journal."""

from __future__ import annotations

import os
import time
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

from designer.decisions.fitting import fitting_settings
from designer.decisions.suggest import QUICK_CHANNELS, Suggestions, best_single_change
from designer.design.diff import Diff
from designer.design.document import Design
from designer.design.edits.replace import Replace
from designer.errors import Cancelled, DesignerError, FormatError, WriteError
from designer.gui.playing import Player
from designer.gui.session import Session
from designer.gui.workers import Cancelled_, LiveAnalysis, Newest
from designer.interchange.native.held import Owner, file_lock
from designer.interchange.native.journal import Journal
from designer.interchange.native.raw import MAX_FILE, digest_of, read_bytes, shown
from designer.interchange.native.reader import loads
from designer.interchange.native.writer import Conflict, encoded, replace
from designer.present.blocks import State

#: what is opened is noted in the journal when there has been time to show it [ms]
_START_MS: Final = 300
#: quiet time after an answer before the change that helps is searched [ms]
_REST_MS: Final = 800


class FileState(Enum):
    """What others did to the file of a document."""

    OURS = "ours"
    #: it holds something else than what was read or written here
    CHANGED = "changed"
    DELETED = "deleted"
    #: somebody else has it open
    SHARED = "shared"


class Autosave(Enum):
    """Whether the work would survive a crash."""

    #: there is nothing the file does not hold
    CLEAN = "clean"
    #: it outlives the program, and in a moment a power failure
    KEEPING = "keeping"
    KEPT = "kept"
    FAILED = "failed"


class Document(QObject):
    """One open document: its session, live analysis and journal, and an eye on its file.

    Parameters
    ----------
    digest
        What the bytes of the file were when it was read, see ``raw.digest_of``.
    unsaved, edits
        True if no file holds the design, and how many changes are in it already: see ``Journal``.

    Signals
    -------
    autosave_changed, file_state_changed
    """

    autosave_changed = Signal()
    file_state_changed = Signal()

    def __init__(
        self,
        session: Session,
        journal: Path,
        parent: QObject | None = None,
        digest: str | None = None,
        unsaved: bool = False,
        edits: int = 0,
    ) -> None:
        super().__init__(parent)
        self.session = session
        session.setParent(self)
        self.live = LiveAnalysis(session, self)
        self.changes = ChangeFinder(session, self)
        self.player = Player(session, self)
        self.digest = digest
        self.file_state = FileState.OURS
        self.owner: Owner | None = None
        self.autosave, self.kept_at = Autosave.CLEAN, 0.0
        self._lock = file_lock(session.file) if session.file is not None else None
        self._seen: tuple[int, ...] | None = None
        self._origin = session.design
        file = str(session.file) if session.file is not None else None
        self._journal = Journal(journal, file, True, digest, unsaved, self._synced, edits)
        self._writer = Newest(self)
        self._later = QTimer(self, singleShot=True, interval=_START_MS)
        self._later.timeout.connect(self._start)
        self._writer.finished.connect(self._started)
        # before anything is drawn: what can be seen is on its way to the disk
        session.design_changed.connect(self._note)
        if not unsaved:
            self._later.start()
        self.look()

    # ---- the journal

    @property
    def edits(self) -> int:
        """How many changes no file holds."""
        return self._journal.edits

    def _start(self) -> None:
        origin = self._origin

        def job(_cancelled: Cancelled_) -> None:
            self._journal.start(origin)

        self._writer.submit(job)

    def _started(self, _ticket: int, result: object) -> None:
        if isinstance(result, DesignerError):
            self._failed(result)

    def _note(self, changes: Diff) -> None:
        self._later.stop()
        try:
            self._journal.start(self._origin)
            self._journal.record(self.session.design, changes)
        except DesignerError as error:
            self._failed(error)
            return
        self._set_autosave(Autosave.KEEPING if self.session.modified else Autosave.CLEAN)

    def _failed(self, error: DesignerError) -> None:
        if self.autosave is not Autosave.FAILED:
            self.session.warned.emit(f"{error.text} — {error.remedy}")
        self._set_autosave(Autosave.FAILED)

    def _synced(self, trouble: OSError | None) -> None:
        self._writer.call(partial(self._show_disk_trouble, trouble))

    def _show_disk_trouble(self, trouble: OSError | None) -> None:
        if trouble is not None:
            self._failed(WriteError(f"the journal is not kept: {trouble.strerror}", remedy="save the design"))
        elif self.session.modified:
            self.kept_at = time.time()
            self._set_autosave(Autosave.KEPT)

    def _set_autosave(self, state: Autosave) -> None:
        if state is not self.autosave or state is Autosave.KEPT:
            self.autosave = state
            self.autosave_changed.emit()

    def take_over(self) -> None:
        """Note the design now, as one that no file holds.

        Raises
        ------
        WriteError
            If that cannot be written.
        """
        self._later.stop()
        self._journal.start(self.session.design)
        self._set_autosave(Autosave.KEEPING)

    # ---- the file

    def save(self, file: Path, asked: Conflict | None = None) -> tuple[str, ...]:
        """Write the design to a file in one step; says what one should know.

        Parameters
        ----------
        asked
            What spoke against writing, if the user was asked and wants to write all the same.

        Raises
        ------
        Conflict
            If that would take away what others did to the file.
        WriteError
            If it cannot be written; the old file is as it was.
        """
        session = self.session
        design, same = session.design, session.file is not None and same_file(session.file, file)
        data = encoded(design, file)
        known = asked.found if asked is not None else self.digest if same else None
        ours = asked is not None or (same and self._lock is not None and self._lock.held)
        self._journal.saving(str(file), digest_of(data))
        written = replace(file, data, known, ours=ours)
        self.digest = written.digest
        self._journal.saved(design, str(file), written.digest)
        if not same:
            self._release()
            self._lock = file_lock(file)
        session.mark_saved(file)
        self._set_autosave(Autosave.CLEAN)
        self._seen = None
        self.look()
        return written.notes

    def look(self) -> None:
        """See whether others changed, deleted or opened the file."""
        file = self.session.file
        if file is None:
            return
        self._hold()
        try:
            info = file.stat()
            seen = (info.st_mtime_ns, info.st_size, info.st_ino)
            if seen == self._seen and self.file_state is not FileState.DELETED:
                changed = self.file_state is FileState.CHANGED
            else:
                changed = self.digest is not None and digest_of(read_bytes(file, MAX_FILE)) != self.digest
                self._seen = seen
            state = FileState.CHANGED if changed else FileState.SHARED if self.owner else FileState.OURS
        except (OSError, FormatError):
            state = FileState.DELETED
            self._seen = None
        if state is not self.file_state:
            self.file_state = state
            self.file_state_changed.emit()

    def on_disk(self) -> Design | None:
        """The design the file holds now; None if it cannot be read."""
        file = self.session.file
        try:
            return loads(read_bytes(file, MAX_FILE)).design if file is not None else None
        except FormatError:
            return None

    def reload(self) -> None:
        """Take over what the file holds now, as a step that can be undone.

        Raises
        ------
        FormatError
            If it cannot be read.
        """
        session = self.session
        file = session.file
        if file is None:
            return
        data = read_bytes(file, MAX_FILE)
        loaded = loads(data, shown(file))
        self.digest = digest_of(data)
        session.findings = tuple(loaded.findings)
        session.apply(Replace(loaded.design))
        self._journal.saving(str(file), self.digest)
        self._journal.saved(session.design, str(file), self.digest)
        session.mark_saved(file)
        self._set_autosave(Autosave.CLEAN)
        self._seen = None
        self.look()

    def keep_mine(self) -> None:
        """Go on with the design as it is here, knowing that the file holds something else."""
        file = self.session.file
        try:
            self.digest = digest_of(read_bytes(file, MAX_FILE)) if file is not None else None
        except FormatError:
            self.digest = None
        self.session.mark_unsaved()
        self._seen = None
        self.file_state = FileState.OURS
        self.file_state_changed.emit()

    def _hold(self) -> None:
        """State others that the file is open here, or learn who else has it open."""
        self.owner = None
        if self._lock is None or self._lock.held:
            return
        try:
            if not self._lock.take():
                self.owner = self._lock.owner()
        except OSError:
            # a folder one may only read: nothing can be written over there either
            self.owner = None

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def close(self) -> None:
        """Stop all work and remove the journal."""
        self._later.stop()
        self.live.close()
        self.changes.close()
        self.player.close()
        self._writer.close()
        self._journal.discard()
        self._release()


def same_file(a: Path, b: Path) -> bool:
    """True if two paths lead to one file, also while others put a new one in its place."""
    if os.path.realpath(a) == os.path.realpath(b):
        return True
    try:
        return a.samefile(b)
    except OSError:
        return a == b


# Looks for changes as soon as there is an answer: settings with which a workload fits, else the change that helps.


class ChangeFinder(QObject):
    """Keeps `Session.fitting` and `Session.helps` up to date; the analyses they take run on a thread of its own."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._jobs = Newest(self)
        self._jobs.finished.connect(self._arrived)
        self._wanted: tuple[object, str, bool] | None = None
        #: what helps is searched once nothing has been edited for a while
        self._rest = QTimer(self, singleShot=True, interval=_REST_MS)
        self._rest.timeout.connect(self._search)
        session.analysis_changed.connect(self._look)
        session.state_changed.connect(self._look)

    def _look(self, *_: object) -> None:
        session = self.session
        fits = session.state not in (State.UNFIT, State.REFUSED)
        wanted = (session.design, session.workload, fits)
        if fits and (session.stale or not self._is_quick()):
            self._forget()
        elif self._wanted is None or self._wanted[0] is not wanted[0] or self._wanted[1:] != wanted[1:]:
            self._forget()
            self._wanted = wanted
            session.set_fitting(None)
            if fits:
                self._rest.start()
            else:
                self._search()

    def _is_quick(self) -> bool:
        """True if the change that helps is found while one reads the answer."""
        analysis, result = self.session.analysis, self.session.result
        few = analysis is not None and len(analysis.channels) <= QUICK_CHANNELS
        return few and result is not None and result.kind != "serving"

    def _forget(self) -> None:
        self._rest.stop()
        if self._wanted is not None:
            self._wanted = None
            self._jobs.cancel()

    def _search(self) -> None:
        if self._wanted is None:
            return
        design, workload, fits = self.session.design, self.session.workload, self._wanted[2]
        result = self.session.result

        def job(cancelled: Cancelled_) -> object:
            if fits:
                return best_single_change(design, workload, result, cancelled)
            return fitting_settings(design, workload, cancelled=cancelled)

        self._jobs.submit(job)

    def _arrived(self, _ticket: int, result: object) -> None:
        if self._wanted is None or self._wanted[0] is not self.session.design or isinstance(result, Cancelled):
            return
        if isinstance(result, Exception) and not isinstance(result, DesignerError):
            self.session.warned.emit(f"Something went wrong in the search for changes: {result!r}")
        if self._wanted[2]:
            self.session.set_fitting(None, result if isinstance(result, Suggestions) else None)
        else:
            # a refusal says no more than the answer itself: nothing that fits is known
            self.session.set_fitting(result if isinstance(result, tuple) else ())

    def close(self) -> None:
        """Stop for good."""
        self._rest.stop()
        self._jobs.close()
