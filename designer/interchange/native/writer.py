"""Writes designs: the same bytes on every machine, and never half a file."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from designer.design.document import Design
from designer.errors import FormatError
from designer.interchange.native.envelope import FORMAT, VERSION, written_by
from designer.interchange.unwritable import reason


def dumps(design: Design) -> str:
    """The text of a design file: sorted keys, defaults left out, every quantity spelled."""
    content = design.model_dump(mode="json", exclude_defaults=True)
    envelope = {"format": FORMAT, "version": VERSION, "written_by": written_by(), "design": content}
    return json.dumps(envelope, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def save(design: Design, path: str | Path) -> None:
    """Write `design` to `path`: beside it first, then synced, then renamed, so the old file survives any failure.

    Raises
    ------
    FormatError
        If the file cannot be written.
    """
    write_text(Path(path), dumps(design))


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
