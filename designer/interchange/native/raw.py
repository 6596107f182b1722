"""Files as bytes: plain ones, of a size one can read."""

from __future__ import annotations

import os
import stat
import threading
from hashlib import blake2b
from pathlib import Path
from typing import Final

from designer.errors import FormatError

#: so many files are known; the oldest are forgotten
_MOST: Final = 4096
_digests: dict[str, str] = {}
_turn = threading.Lock()


def remember(path: str | Path, digest: str) -> None:
    """A file holds this now, see ``raw.digest_of``."""
    name = os.path.realpath(path)
    with _turn:
        _digests.pop(name, None)
        _digests[name] = digest
        while len(_digests) > _MOST:
            del _digests[next(iter(_digests))]


def last_known(path: str | Path) -> str | None:
    """What the file held when it was last read or written here; None if that never was."""
    with _turn:
        return _digests.get(os.path.realpath(path))


#: larger files are refused before they are read [B]
MAX_FILE = 256_000_000


def read_bytes(path: Path, limit: int) -> bytes:
    """The bytes of a plain file of at most `limit` bytes.

    Raises
    ------
    FormatError
        If there is none, it is no plain file, too large, or cannot be read.
    """
    name = shown(path)
    try:
        info = path.stat()
        if stat.S_ISDIR(info.st_mode):
            raise FormatError("this is a folder", file=name, remedy="choose a file in it")
        if not stat.S_ISREG(info.st_mode):
            raise FormatError("this is no plain file", file=name, remedy="choose a .design.json file")
        if info.st_size > limit:
            raise _too_large(name, info.st_size, limit)
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except (OSError, ValueError) as error:
        missing = isinstance(error, FileNotFoundError)
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise FormatError(
            "there is no such file" if missing else f"it cannot be read: {reason}",
            file=name,
            remedy="check the name" if missing else "check the name and its permissions",
        ) from None
    if len(data) > limit:
        raise _too_large(name, len(data), limit)
    return data


def _too_large(name: str, size: int, limit: int) -> FormatError:
    return FormatError(
        f"the file has {size / 1e6:,.0f} MB, more than {limit / 1e6:,.0f} MB",
        file=name,
        remedy="use groups with replicas in place of single parts",
    )


def shown(path: str | Path) -> str:
    """A file name that can be printed whatever bytes it is made of."""
    return os.fspath(path).encode("utf-8", "replace").decode()


def digest_of(data: bytes) -> str:
    """A name for exactly these bytes, to see whether a file is as one knew it."""
    return blake2b(data, digest_size=16).hexdigest()
