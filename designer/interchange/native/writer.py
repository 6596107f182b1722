"""Writes designs: the same bytes on every machine, and never half a file."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Final

from designer.design.document import Design
from designer.errors import FormatError
from designer.interchange.native.envelope import FORMAT, VERSION, written_by
from designer.interchange.native.held import Owner, file_lock, writing_lock
from designer.interchange.native.known import last_known, remember
from designer.interchange.native.raw import MAX_FILE, digest_of, read_bytes, shown
from designer.interchange.unwritable import reason

#: so long somebody else may take to write a file that is to be written [s]
_PATIENCE: Final = 10.0


def dumps(design: Design) -> str:
    """The text of a design file: sorted keys, defaults left out, every quantity spelled."""
    content = design.model_dump(mode="json", exclude_defaults=True)
    envelope = {"format": FORMAT, "version": VERSION, "written_by": written_by(), "design": content}
    return json.dumps(envelope, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def save(design: Design, path: str | Path, overwrite: bool = False) -> None:
    """Write `design` to `path`: beside it first, then synced, then renamed, so the old file survives any failure.

    Parameters
    ----------
    overwrite
        Write also over what others did: a file that changed since this program read or wrote it, or that is open in
        another program's window.

    Raises
    ------
    Conflict
        If that would take away the work of others.
    FormatError
        If the file cannot be written.
    """
    path = Path(path)
    replace(path, dumps(design), last_known(path), overwrite)


def replace(path: Path, text: str, known: str | None, overwrite: bool = False, ours: bool = False) -> str:
    """Write `text` to `path` unless that takes away the work of others; what ``raw.digest_of`` says of it then.

    Parameters
    ----------
    known
        What the file's bytes were when we last knew it; None if we never did.
    ours
        Whether it is we who have the file open.

    Raises
    ------
    Conflict, FormatError
        As `save`.
    """
    writing = writing_lock(path)
    try:
        alone = writing.wait(_PATIENCE)
    except OSError:
        # where no lock can stand no file can either, or it is a device: writing tells
        alone = True
    if not alone:
        raise FormatError("another program is writing it just now", file=shown(path), remedy="try again")
    try:
        digest = digest_of(text.encode("utf-8", "replace"))
        if not overwrite and path.is_file():
            demand_unchanged(path, known, digest, ours)
        write_text(path, text)
        remember(path, digest)
        return digest
    finally:
        writing.release()


def demand_unchanged(path: Path, known: str | None, new: str | None = None, ours: bool = False) -> None:
    """Refuse to write over a file that others changed or have open; `new` is what is to be in it.

    Raises
    ------
    Conflict
        If they did, or have.
    """
    if known is not None:
        found = digest_of(read_bytes(path, MAX_FILE))
        if found not in (known, new):
            raise Conflict("it was changed by somebody else since it was read", path, found, None)
    owner = None if ours else file_lock(path).owner()
    if owner is not None:
        raise Conflict(f"it is open elsewhere: {owner.text}", path, known, owner)


class Conflict(FormatError):
    """A file holds the work of others, which would be lost.

    Parameters
    ----------
    found
        What the file's bytes are now, where that is known.
    owner
        Who has it open.
    """

    def __init__(self, text: str, path: Path, found: str | None, owner: Owner | None) -> None:
        remedy = "save under another name, or look at what is in it and overwrite it knowingly"
        super().__init__(text, file=shown(path), remedy=remedy)
        self.found, self.owner = found, owner


def write_text(path: Path, text: str) -> None:
    """Replace the file at `path` by `text` in one step; a symbolic link stays, what it points to is replaced.

    Raises
    ------
    FormatError
        If the file cannot be written.
    """
    try:
        path = Path(os.path.realpath(path))
        if path.exists() and not path.is_file():
            raise FormatError("this is no plain file", file=str(path), remedy="choose another name")
        mode = path.stat().st_mode & 0o777 if path.exists() else None
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:80]}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise _unwritten(path, error) from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode if mode is not None else 0o644)
        os.replace(name, path)
        _sync_folder(path.parent)
    except UnicodeEncodeError:
        Path(name).unlink(missing_ok=True)
        raise FormatError(
            "it holds half a character (a lone surrogate)", file=str(path), remedy="type the text with it again"
        ) from None
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise _unwritten(path, error) from error


def _unwritten(path: Path, error: OSError) -> FormatError:
    why = reason(path, error)
    return FormatError(why.text, file=str(path), remedy=why.remedy)


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power failure, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
