"""The open documents: opening, importing, saving, and the journals that bring work back after a crash."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal
from PySide6.QtGui import QGuiApplication

from designer.design.diff import Diff
from designer.design.document import Design
from designer.design.edits.replace import Replace
from designer.design.edits.workloads import AddWorkloads
from designer.errors import DesignerError, FormatError, WriteError
from designer.findings import Finding
from designer.gui.playing import Player
from designer.gui.session import Session
from designer.gui.settings import Settings, journal_folder
from designer.gui.workers import Cancelled_, LiveAnalysis, Newest
from designer.interchange.native.envelope import SUFFIX
from designer.interchange.native.held import Owner, file_lock
from designer.interchange.native.journal import Journal, new_path
from designer.interchange.native.leftovers import Claim, Leftover, survey
from designer.interchange.native.raw import MAX_FILE, digest_of, read_bytes, shown
from designer.interchange.native.reader import loads
from designer.interchange.native.writer import Conflict, encoded, replace
from designer.memo import forget

#: what is opened is noted in the journal when there has been time to show it [ms]
_START_MS: Final = 300
#: others may take several steps to write a file [ms]
_SETTLE_MS: Final = 200
#: answers about the designs that are still open, kept for each function when one is closed
_KEPT: Final = 16


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
            What stood against it, if the user was asked and wants to write all the same.

        Raises
        ------
        Conflict
            If that would take away what others did to the file.
        WriteError
            If it cannot be written; the old file is as it was.
        """
        session = self.session
        design, same = session.design, session.file is not None and _same(session.file, file)
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
        """Tell others that the file is open here, or learn who else has it open."""
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
        self.player.close()
        self._writer.close()
        self._journal.discard()
        self._release()


class Workspace(QObject):
    """All open documents."""

    opened = Signal(object)
    closed = Signal(object)
    warned = Signal(str)
    message = Signal(str)

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.settings = settings
        self.documents: list[Document] = []
        self._watcher = QFileSystemWatcher(self)
        self._settle = QTimer(self, singleShot=True, interval=_SETTLE_MS)
        self._settle.timeout.connect(self.look)
        self._watcher.fileChanged.connect(self._stirred)
        self._watcher.directoryChanged.connect(self._stirred)
        app = QGuiApplication.instance()
        if isinstance(app, QGuiApplication):
            # disks over the network tell nothing: one looks when the window comes back
            app.applicationStateChanged.connect(self._stirred)

    def add(
        self,
        design: Design,
        file: Path | None = None,
        findings: Sequence[Finding] = (),
        digest: str | None = None,
        unsaved: bool = False,
        edits: int = 0,
    ) -> Document:
        """Open a design that is at hand; see ``Document``.

        Raises
        ------
        WriteError
            If it is unsaved and cannot be noted in a journal; it is open all the same.
        """
        session = Session(design, file)
        session.findings = tuple(findings)
        document = Document(session, new_path(journal_folder()), self, digest, unsaved, edits)
        document.live.enabled = document.player.live = self.settings.live
        self.documents.append(document)
        trouble: WriteError | None = None
        if unsaved:
            session.mark_unsaved()
            try:
                document.take_over()
            except WriteError as error:
                trouble = error
        session.file_changed.connect(self._watch)
        self._watch()
        self.opened.emit(document)
        document.live.refresh()
        if trouble is not None:
            document.autosave = Autosave.FAILED
            document.autosave_changed.emit()
            raise trouble
        return document

    def new(self) -> Document:
        """Open an empty design, of a name no other open one has."""
        taken = {d.session.title for d in self.documents}
        names = itertools.chain(["Untitled"], (f"Untitled {n}" for n in itertools.count(2)))
        return self.add(Design(name="design", title=next(name for name in names if name not in taken)))

    def names(self) -> dict[Document, str]:
        """What each open document is called, so that no two are called the same."""
        titles = [d.session.title for d in self.documents]
        names: dict[Document, str] = {}
        for document, title in zip(self.documents, titles, strict=True):
            file = document.session.file
            name = f"{title} – {file.parent.name}" if titles.count(title) > 1 and file is not None else title
            turn = 2
            taken = set(names.values())
            told = name
            while told in taken:
                told, turn = f"{name} ({turn})", turn + 1
            names[document] = told
        return names

    # ---- files that others change

    def _stirred(self, *_: object) -> None:
        self._settle.start()

    def _watch(self, *_: object) -> None:
        """Watch the files of all documents, and their folders: a file that is replaced is another one."""
        files = [d.session.file for d in self.documents if d.session.file is not None]
        wanted = {str(f) for f in files if f.exists()} | {str(f.parent) for f in files if f.parent.is_dir()}
        watched = {*self._watcher.files(), *self._watcher.directories()}
        if watched - wanted:
            self._watcher.removePaths(sorted(watched - wanted))
        if wanted - watched:
            self._watcher.addPaths(sorted(wanted - watched))

    def look(self) -> None:
        """See whether others changed one of the files."""
        for document in list(self.documents):
            document.look()
        self._watch()

    def open(self, file: Path) -> Document | None:
        """Open a design file, or any file that can be imported; the document that has it already, if one does."""
        known = next((d for d in self.documents if d.session.file is not None and _same(d.session.file, file)), None)
        if known is not None:
            self.opened.emit(known)
            return known
        try:
            if not file.name.endswith(".json"):
                return self.import_bytes(read_head(file), file.name)
            data = read_bytes(file, MAX_FILE)
            loaded = loads(data, shown(file))
        except DesignerError as error:
            self.warned.emit(_message_of(error))
            return None
        self.settings.add_recent(file)
        return self.add(loaded.design, file, loaded.findings, digest_of(data))

    def open_template(self, template_id: str) -> Document | None:
        """Open a template as a new, unsaved document."""
        from designer.interchange.templates import open_any

        try:
            loaded = open_any(template_id)
        except DesignerError as error:
            self.warned.emit(_message_of(error))
            return None
        return self.add(loaded.design, None, loaded.findings)

    def import_bytes(self, data: bytes, name: str) -> Document | None:
        """Open what a foreign file or pasted text describes."""
        try:
            from designer.interchange import importing

            imported = importing.read_bytes(data, None, name)
        except DesignerError as error:
            self.warned.emit(_message_of(error))
            return None
        design = with_workloads(imported.design)
        try:
            document = self.add(design, None, imported.findings, unsaved=True)
        except WriteError as error:
            self.warned.emit(_message_of(error))
            document = self.documents[-1]
        n = len(imported.findings)
        self.message.emit(f"Imported {design.title or name}" + (f" with {n} remarks, see Findings" if n else ""))
        return document

    def close(self, document: Document) -> None:
        """Close a document without asking."""
        if document in self.documents:
            self.documents.remove(document)
            document.close()
            self._watch()
            self.closed.emit(document)
            document.deleteLater()
            # netlists of designs that nobody looks at any more are most of what a closed document would leave behind
            forget(_KEPT if self.documents else 0)

    def close_all(self) -> None:
        """Close every document without asking."""
        for document in list(self.documents):
            self.close(document)

    def leftovers(self, cancelled: Cancelled_ = lambda: False) -> list[Leftover]:
        """What runs that ended badly left behind, newest first; can be called from a thread."""
        return survey(journal_folder(), cancelled)

    def recover(self, journal: Path) -> Document | None:
        """Open what a journal gives back, as an unsaved document; the journal goes once the new one has it."""
        try:
            with Claim(journal) as found:
                file = Path(found.file) if found.file else None
                return self.add(found.design, file, found.findings, found.digest, unsaved=True, edits=found.edits)
        except FormatError as error:
            self.warned.emit(_message_of(error))
            return None


def with_workloads(design: Design) -> Design:
    """`design` with usual workloads where it has none, so that it shows loads at once."""
    from designer.design.document import WorkloadSpec
    from designer.workload.kind import workload_kinds

    if design.workloads:
        return design
    kinds = design_kinds(design)
    wanted: list[WorkloadSpec] = []
    if "gpu" in kinds and "memory" in kinds and "transfer" in workload_kinds():
        wanted.append(WorkloadSpec(id="h2d", kind="transfer", title="Host memory to all GPUs at once"))
    if kinds.get("gpu", 0) > 1 and "collective" in workload_kinds():
        wanted.append(WorkloadSpec(id="all-reduce", kind="collective", title="All-reduce over all GPUs, 1 GiB"))
    return AddWorkloads(tuple(wanted)).apply(design) if wanted else design


def design_kinds(design: Design) -> dict[str, int]:
    """How many parts of each kind there are."""
    from designer.design.query import count_kinds

    return dict(count_kinds(design))


def design_file_name(text: str) -> Path:
    """A file to save to, with the suffix of designs."""
    return Path(text) if text.endswith(SUFFIX) else Path(text.removesuffix(".json") + SUFFIX)


def read_head(file: Path) -> bytes:
    """The bytes of a file that may be a dump.

    Raises
    ------
    FormatError
        If it cannot be read.
    """
    return read_bytes(file, MAX_FILE)


def _same(a: Path, b: Path) -> bool:
    try:
        return a.samefile(b)
    except OSError:
        return a == b


def _message_of(error: DesignerError) -> str:
    return str(error)
