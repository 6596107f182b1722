"""Why a file could not be written, and what helps against just that."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Final, NamedTuple

_FOLDER: Final = "choose a folder you may write to"
_SPACE: Final = "free some space, or choose another disk"
_REMEDIES: Final = {
    errno.EACCES: _FOLDER, errno.EPERM: _FOLDER, errno.EROFS: _FOLDER, errno.ENOSPC: _SPACE, errno.EDQUOT: _SPACE,
    errno.ENAMETOOLONG: "choose a shorter name",
}  # fmt: skip


class Reason(NamedTuple):
    """What an error says."""

    text: str
    remedy: str


def reason(path: Path, error: OSError) -> Reason:
    """Why `path` could not be written, from what the system said."""
    if not path.parent.is_dir() and error.errno != errno.EACCES:
        return Reason(f"there is no folder {str(path.parent)!r}", "make the folder first, or choose another")
    return Reason(f"cannot write: {error.strerror}", _REMEDIES.get(error.errno or 0, "choose another folder"))
