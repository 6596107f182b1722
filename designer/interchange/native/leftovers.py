"""What runs that ended badly left behind: each journal, what it would give back, and whether that is still wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from designer.design.document import Design
from designer.errors import FormatError
from designer.interchange.native.held import Lock
from designer.interchange.native.journal import Recovered, is_left_behind, left_behind, recover
from designer.interchange.native.raw import MAX_FILE, digest_of, read_bytes
from designer.interchange.native.reader import loads


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
    state, remark = _worth(found, file, written)
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
        # only what stands elsewhere now is removed
        if kind is None:
            self._path.unlink(missing_ok=True)
        self._lock.release()


def _worth(found: Recovered, file: Path | None, written: float) -> tuple[State, str]:
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
