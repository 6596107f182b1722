"""The open documents: opening, importing, saving, and the journals that bring work back after a crash."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal
from PySide6.QtGui import QGuiApplication

from designer.design.document import Design, WorkloadSpec
from designer.design.edits.workloads import AddWorkloads
from designer.design.query import count_kinds
from designer.errors import DesignerError, FormatError, WriteError
from designer.findings import Finding
from designer.gui.documents import Autosave, Document, same_file
from designer.gui.session import Session
from designer.gui.settings import Settings, journal_folder
from designer.gui.workers import Cancelled_, making_much
from designer.interchange.native.envelope import SUFFIX
from designer.interchange.native.journal import Claim, Leftover, new_path, survey
from designer.interchange.native.raw import MAX_FILE, digest_of, read_bytes, shown
from designer.interchange.native.reader import loads
from designer.interchange.templates import open_any
from designer.memo import forget
from designer.workload.kind import workload_kinds

#: others may take several steps to write a file [ms]
_SETTLE_MS: Final = 200
#: answers about the designs that are still open, kept for each function when one is closed
_KEPT: Final = 16


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
            # disks over the network state nothing: one looks when the window comes back
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
        with making_much():
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
            stated = name
            while stated in taken:
                stated, turn = f"{name} ({turn})", turn + 1
            names[document] = stated
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
        known = next(
            (d for d in self.documents if d.session.file is not None and same_file(d.session.file, file)), None
        )
        if known is not None:
            self.opened.emit(known)
            return known
        try:
            if not file.name.endswith(".json"):
                return self.import_bytes(read_head(file), file.name)
            data = read_bytes(file, MAX_FILE)
            with making_much():
                loaded = loads(data, shown(file))
        except DesignerError as error:
            self.warned.emit(str(error))
            return None
        self.settings.add_recent(file)
        return self.add(loaded.design, file, loaded.findings, digest_of(data))

    def open_template(self, template_id: str) -> Document | None:
        """Open a template as a new, unsaved document."""

        try:
            loaded = open_any(template_id)
        except DesignerError as error:
            self.warned.emit(str(error))
            return None
        return self.add(loaded.design, None, loaded.findings)

    def import_bytes(self, data: bytes, name: str) -> Document | None:
        """Open what a foreign file or pasted text describes."""
        try:
            from designer.interchange import importing

            imported = importing.read_bytes(data, None, name)
        except DesignerError as error:
            self.warned.emit(str(error))
            return None
        design = with_workloads(imported.design)
        try:
            document = self.add(design, None, imported.findings, unsaved=True)
        except WriteError as error:
            self.warned.emit(str(error))
            document = self.documents[-1]
        n = len(imported.findings)
        self.message.emit(f"Imported {design.title or name}" + (f" with {n} remarks, see Checks" if n else ""))
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
            self.warned.emit(str(error))
            return None


def with_workloads(design: Design) -> Design:
    """`design` with usual workloads where it has none, so that it shows loads at once."""

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
