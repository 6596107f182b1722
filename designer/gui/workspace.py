"""The open documents: opening, importing, saving, and the journals that bring work back after a crash."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

from designer.design.document import Design
from designer.design.edits.workloads import AddWorkloads
from designer.errors import DesignerError, FormatError
from designer.findings import Finding
from designer.gui.session import Session
from designer.gui.settings import Settings, journal_folder
from designer.gui.workers import Cancelled_, LiveAnalysis, Newest
from designer.interchange.native.envelope import SUFFIX
from designer.interchange.native.journal import SUFFIX as JOURNAL_SUFFIX
from designer.interchange.native.journal import Journal, left_behind, recover
from designer.interchange.native.reader import load
from designer.interchange.native.writer import save
from designer.remembered import forget

_numbers = itertools.count(1)
#: a step is noted in the journal after so long [ms]
_JOURNAL_MS: Final = 50
#: answers about the designs that are still open, kept for each function when one is closed
_KEPT: Final = 16


class Document(QObject):
    """One open document: its session, live analysis and journal."""

    def __init__(self, session: Session, journal: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session
        session.setParent(self)
        self.live = LiveAnalysis(session, self)
        self._journal = Journal(journal, str(session.file) if session.file else None)
        self._writer = Newest(self)
        # the loads come first: a step is on disk a moment after it can be seen
        self._later = QTimer(self, singleShot=True, interval=_JOURNAL_MS)
        self._later.timeout.connect(self._record)
        self._writer.finished.connect(self._journaled)
        session.design_changed.connect(self._note)

    def _note(self, _changes: object) -> None:
        if not self.session.modified:
            self._drop_journal()
        elif not self._later.isActive():
            self._later.start()

    def _record(self) -> None:
        design = self.session.design

        def job(_cancelled: Cancelled_) -> None:
            self._journal.record(design)

        self._writer.submit(job)

    def _drop_journal(self) -> None:
        self._later.stop()

        def job(_cancelled: Cancelled_) -> None:
            self._journal.discard()

        self._writer.submit(job)

    def _journaled(self, _ticket: int, result: object) -> None:
        if isinstance(result, DesignerError):
            self.session.warned.emit(f"{result.text} — {result.remedy}")

    def take_over(self) -> None:
        """Note the design now and wait until it is on disk."""
        self._later.stop()
        self._journal.record(self.session.design)

    def save(self, file: Path) -> None:
        """Write the design to a file in one step.

        Raises
        ------
        FormatError
            If it cannot be written; the old file is as it was.
        """
        notes = save(self.session.design, file)
        self._journal.file = str(file)
        self.session.mark_saved(file)
        self._drop_journal()
        for note in notes:
            self.session.warned.emit(note)

    def close(self) -> None:
        """Stop all work and remove the journal."""
        self._later.stop()
        self.live.close()
        self._writer.close()
        self._journal.discard()


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

    def add(self, design: Design, file: Path | None = None, findings: Sequence[Finding] = ()) -> Document:
        """Open a design that is at hand."""
        session = Session(design, file)
        session.findings = tuple(findings)
        journal = journal_folder() / f"{os.getpid()}-{next(_numbers)}{JOURNAL_SUFFIX}"
        document = Document(session, journal, self)
        document.live.enabled = self.settings.live
        self.documents.append(document)
        self.opened.emit(document)
        document.live.refresh()
        return document

    def new(self) -> Document:
        """Open an empty design."""
        return self.add(Design(name="design", title="Untitled"))

    def open(self, file: Path) -> Document | None:
        """Open a design file, or any file that can be imported; the document that has it already, if one does."""
        known = next((d for d in self.documents if d.session.file is not None and _same(d.session.file, file)), None)
        if known is not None:
            self.opened.emit(known)
            return known
        try:
            if not file.name.endswith(".json"):
                return self.import_bytes(read_head(file), file.name)
            loaded = load(file)
        except DesignerError as error:
            self.warned.emit(_told(error))
            return None
        self.settings.add_recent(file)
        return self.add(loaded.design, file, loaded.findings)

    def open_template(self, template_id: str) -> Document | None:
        """Open a template as a new, unsaved document."""
        from designer.interchange.templates import open_any

        try:
            loaded = open_any(template_id)
        except DesignerError as error:
            self.warned.emit(_told(error))
            return None
        return self.add(loaded.design, None, loaded.findings)

    def import_bytes(self, data: bytes, name: str) -> Document | None:
        """Open what a foreign file or pasted text describes."""
        try:
            from designer.interchange.importing import read_bytes

            imported = read_bytes(data, None, name)
        except DesignerError as error:
            self.warned.emit(_told(error))
            return None
        design = with_workloads(imported.design)
        document = self.add(design, None, imported.findings)
        document.session.mark_unsaved()
        n = len(imported.findings)
        self.message.emit(f"Imported {design.title or name}" + (f" with {n} remarks, see Findings" if n else ""))
        return document

    def close(self, document: Document) -> None:
        """Close a document without asking."""
        if document in self.documents:
            self.documents.remove(document)
            document.close()
            self.closed.emit(document)
            document.deleteLater()
            # netlists of designs that nobody looks at any more are most of what a closed document would leave behind
            forget(_KEPT if self.documents else 0)

    def close_all(self) -> None:
        """Close every document without asking."""
        for document in list(self.documents):
            self.close(document)

    def leftovers(self) -> list[Path]:
        """Journals of a run that ended without closing its documents."""
        return left_behind(journal_folder())

    def recover(self, journal: Path) -> Document | None:
        """Open what a journal gives back, as an unsaved document; the journal goes once the new one has it."""
        try:
            found = recover(journal)
        except FormatError as error:
            self.warned.emit(_told(error))
            journal.rename(journal.with_suffix(".damaged"))
            return None
        file = Path(found.file) if found.file else None
        document = self.add(found.design, file, found.findings)
        document.session.mark_unsaved()
        document.take_over()
        journal.unlink(missing_ok=True)
        return document


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
    from designer.interchange.native.raw import MAX_FILE, read_bytes

    return read_bytes(file, MAX_FILE)


def _same(a: Path, b: Path) -> bool:
    try:
        return a.samefile(b)
    except OSError:
        return a == b


def _told(error: DesignerError) -> str:
    return str(error)
