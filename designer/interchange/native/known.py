"""What files held when this program last read or wrote them: a script that reads, changes and writes a design must not
take away what somebody saved in between.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Final

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
