"""Writes designs: the same bytes on every machine, and never half a file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final, NamedTuple

from designer.atomic import write
from designer.design.document import Design
from designer.errors import WriteError
from designer.interchange.native.envelope import FORMAT, VERSION, written_by
from designer.interchange.native.held import Owner, file_lock
from designer.interchange.native.raw import MAX_FILE, digest_of, last_known, read_bytes, remember, shown
from designer.shared_files import exclusive

#: so long somebody else may take to write a file that is to be written [s]
_PATIENCE: Final = 10.0


def dumps(design: Design) -> str:
    """The text of a design file: sorted keys, defaults left out, every quantity spelled."""
    content = design.model_dump(mode="json", exclude_defaults=True)
    envelope = {"format": FORMAT, "version": VERSION, "written_by": written_by(), "design": content}
    return json.dumps(envelope, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def save(design: Design, path: str | Path, overwrite: bool = False) -> tuple[str, ...]:
    """Write `design` to `path`, whole or not at all; says what one should know (see ``atomic.write``).

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
    return replace(path, encoded(design, path), last_known(path), overwrite).notes


def encoded(design: Design, path: Path) -> bytes:
    """The bytes of a design file; `path` is named in the error.

    Raises
    ------
    FormatError
        If it holds what cannot be written.
    """
    try:
        return dumps(design).encode()
    except UnicodeEncodeError:
        raise WriteError(
            "it holds half a character (a lone surrogate)", file=shown(path), remedy="type the text with it again"
        ) from None


class Written(NamedTuple):
    """What ``raw.digest_of`` says of a file that was written, and what one should know."""

    digest: str
    notes: tuple[str, ...]


def replace(path: Path, data: bytes, known: str | None, overwrite: bool = False, ours: bool = False) -> Written:
    """Write `data` to `path` unless that takes away the work of others.

    Parameters
    ----------
    known
        What the file's bytes were when we last knew it; None if we never did.
    ours
        True if it is we who have the file open.

    Raises
    ------
    Conflict, FormatError
        As `save`.
    """
    with exclusive(path, _PATIENCE) as alone:
        if not alone:
            raise WriteError("another program is writing it just now", file=shown(path), remedy="try again")
        digest = digest_of(data)
        if not overwrite and os.path.isfile(path):
            demand_unchanged(path, known, digest, ours)
        notes = write(path, data)
        remember(path, digest)
        return Written(digest, notes)


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


class Conflict(WriteError):
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
