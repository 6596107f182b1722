"""The journal next to a design that is being edited: after a crash it gives back everything that was accepted.

The file is JSON lines. The first holds a whole design, each further one what changed since the line before, as
things to put in and ids to take out per collection and block; a line may also say that the design is about to be saved.
When the changes outgrow the design the file is written again, so it stays within a few times the size of the design.
Nothing in it is executed when it is read.

Each change is handed to the system before ``record`` returns, so it outlives the program however that ends; the disk is
stated to keep it a moment later, so it outlives a power failure but for that moment. A lock next to the journal is held
while its program lives.
"""

from __future__ import annotations

import errno
import json
import os
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Final, NamedTuple

from designer.atomic import open_companion, write
from designer.design.address import BLOCK_COLLECTIONS, DESIGN_COLLECTIONS, Address, block_at, collection
from designer.design.diff import Diff, diff
from designer.design.document import Design
from designer.errors import FormatError, WriteError
from designer.findings import Finding, Severity
from designer.interchange.native.envelope import FORMAT, VERSION, written_by
from designer.interchange.native.held import Lock, is_running
from designer.interchange.native.json_text import decode, parse
from designer.interchange.native.raw import MAX_FILE, digest_of, read_bytes, shown
from designer.interchange.native.reader import loads, read_raw


class State(Enum):
    """What a journal is worth."""

    #: it holds changes that no file holds
    UNSAVED = "unsaved"
    #: its file was saved later, with something else in it
    OLDER = "older"
    #: it cannot be read
    DAMAGED = "damaged"
    #: its file holds all of it, or there was nothing to lose
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Leftover:
    """A journal of a program that is not running any more.

    Parameters
    ----------
    written
        When the last change was noted [s since 1970].
    remark
        What to know before it is brought back; empty for nothing.
    """

    journal: Path
    state: State
    written: float
    title: str
    file: Path | None = None
    edits: int = 0
    design: Design | None = None
    remark: str = ""


def survey(folder: str | Path, cancelled: Callable[[], bool] = lambda: False) -> list[Leftover]:
    """What was left behind in a folder, newest first; journals with nothing to lose are removed on the way."""
    found: list[Leftover] = []
    for path in left_behind(folder):
        if cancelled():
            break
        leftover = inspect(path)
        if leftover is None:
            continue
        if leftover.state is State.NOTHING:
            remove(path)
        else:
            found.append(leftover)
    return found


def inspect(path: Path) -> Leftover | None:
    """What a journal would give back; None if it is gone."""
    try:
        written = path.stat().st_mtime
    except OSError:
        return None
    try:
        found = recover(path)
    except FormatError as error:
        return Leftover(path, State.DAMAGED, written, path.stem, remark=error.text) if path.exists() else None
    file = Path(found.file) if found.file is not None else None
    name = file.name.removesuffix(".design.json") if file is not None else found.design.title or found.design.name
    state, remark = _state_of(found, file, written)
    if found.findings and not remark:
        remark = found.findings[0].text
    return Leftover(path, state, written, name, file, found.edits, found.design, remark)


def remove(path: Path) -> None:
    """Delete a journal that nobody is using."""
    lock = Lock(path.with_suffix(".lock"))
    try:
        if not lock.take():
            return
        path.unlink(missing_ok=True)
    except OSError:
        return
    finally:
        lock.release()


class Claim:
    """Holds a journal while it is brought back, so that no other window brings it back as well."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock(path.with_suffix(".lock"))

    def __enter__(self) -> Recovered:
        try:
            ours = self._path.exists() and is_left_behind(self._path) and self._lock.take()
        except OSError as error:
            remedy = "check the rights of its folder, and what is there"
            raise FormatError(f"it cannot be locked: {error.strerror}", file=str(self._path), remedy=remedy) from None
        if not ours:
            raise FormatError("another window has brought this back already", file=str(self._path))
        try:
            return recover(self._path)
        except BaseException:
            self._lock.release()
            raise

    def __exit__(self, kind: object, *_: object) -> None:
        # only what is elsewhere now is removed
        if kind is None:
            self._path.unlink(missing_ok=True)
        self._lock.release()


def _state_of(found: Recovered, file: Path | None, written: float) -> tuple[State, str]:
    if found.begun is not None and found.design == found.begun and not found.findings:
        return State.NOTHING, ""
    if file is None:
        return State.UNSAVED, ""
    try:
        data = read_bytes(file, MAX_FILE)
        saved = file.stat().st_mtime
    except (FormatError, OSError):
        return State.UNSAVED, "Its file is not there any more."
    try:
        if loads(data).design == found.design:
            return State.NOTHING, ""
    except FormatError:
        return State.UNSAVED, "Its file cannot be read."
    if digest_of(data) == found.digest:
        return State.UNSAVED, ""
    if saved > written:
        return State.OLDER, "Its file was saved later, with something else in it."
    return State.UNSAVED, "Its file was changed by somebody else meanwhile."


JOURNAL: Final = "designer-journal"
SUFFIX: Final = ".journal"
#: changes of at least so many bytes are collected before the file is written again [B]
_COMPACT_FROM: Final = 1_000_000
_LARGEST: Final = 1_000_000_000
#: the disk is reported to keep what was written after so long [s]
_SYNC_AFTER: Final = 0.05
#: a thread without work ends after so long [s]
_LINGER: Final = 2.0


class Journal:
    """Keeps the journal of one document. Its methods can be called from any thread.

    Parameters
    ----------
    path
        The journal's own file; it appears with the first design noted.
    file, digest
        The design file being edited, if it has one, and what its bytes were (``raw.digest_of``); stated at recovery.
    unsaved
        Whether no file holds the first design noted: it was imported or brought back.
    edits
        How many changes are in that already.
    sync
        True if the disk is reported to keep what is written, so that it also outlives a power failure.
    synced
        Called from a thread when all that was noted is on the disk, or with what went wrong there.
    """

    def __init__(
        self,
        path: str | Path,
        file: str | None = None,
        sync: bool = True,
        digest: str | None = None,
        unsaved: bool = False,
        synced: Callable[[OSError | None], object] | None = None,
        edits: int = 0,
    ) -> None:
        self.path = Path(path)
        self.file, self.digest, self.unsaved = file, digest, unsaved
        self._sync, self._synced = sync, synced
        self._lock = Lock(self.path.with_suffix(".lock"))
        self._turn = threading.Condition(threading.RLock())
        #: the design noted last, and the one that a file holds or that there is nothing to lose with
        self._last: Design | None = None
        self._origin: Design | None = None
        self._handle: int | None = None
        self._start = self._size = 0
        self._edits = edits
        self._dirty = self._closed = False
        self._trouble: OSError | None = None
        self._thread: threading.Thread | None = None

    @property
    def edits(self) -> int:
        """How many changes no file holds."""
        return self._edits

    def start(self, design: Design) -> None:
        """Note the design that is opened, if none was noted yet.

        Raises
        ------
        WriteError
            If the journal cannot be written; the next change begins it.
        """
        with self._turn:
            if self._origin is None:
                self.record(design)

    def record(self, design: Design, changes: Diff | None = None) -> None:
        """Note the current design: after an edit, undo or redo. Does nothing if it is the one noted last.

        Parameters
        ----------
        changes
            What changed since the design noted last, if that is at hand.

        Raises
        ------
        WriteError
            If the journal cannot be written; the next call begins it again.
        """
        with self._turn:
            if design is self._last:
                return
            self._origin = self._origin or design
            try:
                if self._trouble is not None:
                    trouble, self._trouble = self._trouble, None
                    raise trouble
                if self._handle is None or self._last is None or self._size > max(_COMPACT_FROM, 2 * self._start):
                    self._begin(design)
                else:
                    known = changes is not None and changes.before is self._last and changes.after is design
                    changed = changes if known and changes is not None else diff(self._last, design)
                    if changed:
                        self._edits += 1
                        self._append(_patch(changed))
            except (OSError, WriteError) as error:
                self._let_go()
                why = error.strerror if isinstance(error, OSError) else error.text
                raise WriteError(
                    f"the journal cannot be written: {why}",
                    file=shown(self.path),
                    remedy="save the design, and free some space",
                ) from None
            self._last = design

    def saving(self, file: str, digest: str) -> None:
        """The design noted last is about to be written to `file`, which then has `digest`."""
        with self._turn:
            if self._handle is None:
                return
            try:
                self._append({"blocks": [], "set": {}, "saving": {"file": file, "digest": digest}})
            except OSError:
                # the file itself will state that it holds this design
                self._let_go()

    def saved(self, design: Design, file: str, digest: str) -> None:
        """A design is now in `file`."""
        with self._turn:
            self.file, self.digest = file, digest
            self._origin, self.unsaved, self._edits = design, False, 0
            if self._handle is not None and design is self._last:
                try:
                    self._append({"blocks": [], "set": {}, "saved": {"file": file, "digest": digest}})
                except OSError:
                    self._let_go()

    def _begin(self, design: Design) -> None:
        origin = design is self._origin
        self._edits += not origin
        head = {
            "format": JOURNAL,
            "version": VERSION,
            "written_by": written_by(),
            "file": self.file,
            "digest": self.digest,
            "unsaved": self.unsaved or not origin,
            "edits": self._edits,
            "process": os.getpid(),
            "locked": True,
            "design": design.model_dump(mode="json", exclude_defaults=True),
        }
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self._lock.take():
            raise OSError(0, "another program writes a journal of this name")
        self._let_go()
        data = _line(head)
        if self.path.is_symlink():
            raise OSError(errno.ELOOP, "a symbolic link has its name")
        write(self.path, data, private=True)
        self._handle = open_companion(self.path, os.O_WRONLY | os.O_APPEND)
        self._start, self._size = len(data), 0
        self._sync_soon()

    def _append(self, line: dict[str, Any]) -> None:
        assert self._handle is not None
        data = _line(line)
        _write(self._handle, data)
        self._size += len(data)
        self._sync_soon()

    # ---- the disk is reported from a thread: waiting for it would be felt with every edit

    def _sync_soon(self) -> None:
        if not self._sync:
            return
        self._dirty = True
        if self._thread is None:
            self._closed = False
            self._thread = threading.Thread(target=self._sync_loop, name="designer-journal", daemon=True)
            self._thread.start()
        self._turn.notify_all()

    def _sync_loop(self) -> None:
        while True:
            with self._turn:
                self._turn.wait_for(lambda: self._dirty or self._closed, _LINGER)
                if not self._dirty or self._closed:
                    self._thread = None
                    return
                # more edits come soon after one another: one call keeps them all
                self._turn.wait_for(lambda: self._closed, _SYNC_AFTER)
                self._dirty = False
                handle = os.dup(self._handle) if self._handle is not None else None
            if handle is None:
                continue
            trouble: OSError | None = None
            try:
                os.fsync(handle)
            except OSError as error:
                trouble = error
            os.close(handle)
            with self._turn:
                self._trouble = trouble or self._trouble
                more = self._dirty
            if self._synced is not None and (trouble is not None or not more):
                self._synced(trouble)

    def _let_go(self) -> None:
        self._last = None
        if self._handle is not None:
            handle, self._handle = self._handle, None
            try:
                os.close(handle)
            except OSError:
                return

    def close(self) -> None:
        """Let go of the file and leave it where it is, for another run to recover."""
        with self._turn:
            self._closed = True
            self._turn.notify_all()
            thread = self._thread
            self._let_go()
        if thread is not None and thread is not threading.current_thread():
            thread.join(_LINGER)
        self._lock.release()

    def discard(self) -> None:
        """Remove the journal: its changes are not wanted. The next edit begins a new one."""
        with self._turn:
            self._let_go()
            self._edits, self._trouble = 0, None
            self.path.unlink(missing_ok=True)
        self.close()


class Recovered(NamedTuple):
    """What a journal gave back.

    Parameters
    ----------
    file, digest
        The file the design belongs to, and what its bytes were when the program had last read or written it.
    edits
        How many changes no file holds.
    begun
        The design the journal began with, where a file holds that or there is nothing in it to lose; None if it was
        saved since.
    """

    design: Design
    file: str | None
    edits: int
    findings: list[Finding]
    digest: str | None = None
    begun: Design | None = None


def new_path(folder: str | Path) -> Path:
    """A name for a journal that no other program, here or in another container, will choose."""
    return Path(folder) / f"{uuid.uuid4().hex}{SUFFIX}"


def recover(path: str | Path) -> Recovered:
    """The last design noted in a journal; a last line that was not finished is left out.

    Raises
    ------
    FormatError
        If there is no journal, or its beginning is damaged.
    """
    path = Path(path)
    lines = read_bytes(path, _LARGEST).split(b"\n")
    try:
        head = parse(decode(lines[0]))
        if not isinstance(head, dict) or head.get("format") != JOURNAL:
            raise FormatError("this is no journal", place="line 1", remedy="choose a .journal file")
        raw, findings = head.get("design"), list[Finding]()
        file, digest, edits = head.get("file"), head.get("digest"), head.get("edits", 0)
        edits = edits if isinstance(edits, int) and edits >= 0 else 0
        version = head.get("version")
        clean = head.get("unsaved") is False and not edits
        begun = read_raw({"format": FORMAT, "version": version, "design": raw}).design if clean else None
        if isinstance(raw, dict):
            for number, line in enumerate(lines[1:], start=2):
                if not line:
                    continue
                try:
                    patch = parse(decode(line))
                    _replay(raw, patch)
                    saving, saved = patch.get("saving"), patch.get("saved")
                    if saved is None and saving is not None and _holds(str(saving["file"]), str(saving["digest"])):
                        saved = saving
                    if saved is not None:
                        # back at its beginning, a design differs from a file that was saved since
                        file, digest, edits, begun = str(saved["file"]), str(saved["digest"]), 0, None
                    elif saving is None:
                        edits += 1
                except (FormatError, KeyError, TypeError, AttributeError, IndexError, ValueError):
                    findings.append(
                        Finding(
                            "JRN-TAIL",
                            Severity.WARNING,
                            f"the journal is damaged from line {number} on",
                            remedy="check the last changes",
                        )
                    )
                    break
        loaded = read_raw({"format": FORMAT, "version": version, "design": raw})
    except FormatError as error:
        raise error.at(file=shown(path)) from None
    return Recovered(
        loaded.design,
        file if isinstance(file, str) else None,
        edits,
        [*findings, *loaded.findings],
        digest if isinstance(digest, str) else None,
        begun,
    )


def _holds(file: str, digest: str) -> bool:
    """True if a file has these bytes: the program lived long enough to write them."""
    try:
        return digest_of(read_bytes(Path(file), _LARGEST)) == digest
    except FormatError:
        return False


def is_left_behind(path: Path) -> bool:
    """True if the program that wrote a journal is not running any more."""
    lock = Lock(path.with_suffix(".lock"))
    if lock.owner() is not None:
        return False
    try:
        with path.open("rb") as file:
            head = json.loads(file.readline(_LARGEST))
        # the first journals had no lock, only the number of their process
        return bool(head.get("locked")) or not is_running(int(head["process"]))
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        return path.exists()
    except OSError:
        return False


def left_behind(folder: str | Path) -> list[Path]:
    """The journals in a folder whose program is not running any more, newest first; damaged ones too."""
    found: list[tuple[float, Path]] = []
    for path in Path(folder).glob(f"*{SUFFIX}"):
        try:
            if is_left_behind(path):
                found.append((path.stat().st_mtime, path))
        except OSError:
            continue
    return [path for _, path in sorted(found, reverse=True)]


def _write(handle: int, data: bytes) -> None:
    """All of it: the system may take less at a time."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _line(content: dict[str, Any]) -> bytes:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n"
    # half a character can be typed but not saved; the journal keeps the rest of the work
    return text.encode("utf-8", "replace")


def _patch(changes: Diff) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = []
    for within, block in changes.blocks.items():
        if _is_put_whole(changes, within):
            continue
        after = block_at(changes.after, within)
        put: dict[str, Any] = {}
        take: dict[str, Any] = {}
        for what, these in block.collections.items():
            items = collection(after, what)
            if these.added or these.changed:
                put[what] = [
                    items[i].model_dump(mode="json", exclude_defaults=True) for i in (*these.added, *these.changed)
                ]
            if these.removed:
                take[what] = list(these.removed)
        blocks.append({"at": [list(step) for step in within], "put": put, "take": take})
    names = set(changes.properties)
    return {"blocks": blocks, "set": changes.after.model_dump(mode="json", include=names) if names else {}}


def _is_put_whole(changes: Diff, within: Address) -> bool:
    """True if the block lies in a group that is written out itself."""
    return any(group_id in changes.at(within[:d], "groups").changed for d, (group_id, _) in enumerate(within))


def _replay(raw: dict[str, Any], patch: dict[str, Any]) -> None:
    """Make the changes of one line to a raw design; its collections become mappings by id on the way."""
    for change in patch["blocks"]:
        block = raw
        for group_id, member in change["at"]:
            group = _by_id(block, "groups")[group_id]
            block = group["content"] if member is None else group["exceptions"][str(member)]
        for what in (*BLOCK_COLLECTIONS, *DESIGN_COLLECTIONS):
            for item_id in change["take"].get(what, ()):
                del _by_id(block, what)[item_id]
            for item in change["put"].get(what, ()):
                _by_id(block, what)[item["id"]] = item
    raw.update(patch["set"])


def _by_id(block: dict[str, Any], what: str) -> dict[str, Any]:
    items = block.setdefault(what, {})
    if isinstance(items, list):
        items = block[what] = {item["id"]: item for item in items}
    return items
