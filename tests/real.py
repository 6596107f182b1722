"""Where the real topology dumps are. They are input for tests only and are not shipped."""

from __future__ import annotations

import os
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent


def real_folder() -> Path | None:
    """The folder named by DESIGNER_REAL, else ``shared/real`` next to the checkout (or next to its parent), else None.

    Raises
    ------
    FileNotFoundError
        If DESIGNER_REAL names something that is not a folder: asked for, so not to be skipped silently.
    """
    named = os.environ.get("DESIGNER_REAL")
    if named:
        folder = Path(named).expanduser()
        if not folder.is_dir():
            raise FileNotFoundError(f"DESIGNER_REAL names {named}, which is not a folder")
        return folder
    for beside in (CHECKOUT.parent, CHECKOUT.parent.parent):
        folder = beside / "shared" / "real"
        if folder.is_dir():
            return folder
    return None


def real_files(*patterns: str) -> list[Path]:
    """The dumps that match the given glob patterns, sorted; empty where there are none, for `parametrize`."""
    folder = real_folder()
    if folder is None:
        return []
    return sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})


def newer_measurements() -> Path | None:
    """The folder of measurements that are newer than the cases of the tests, next to that of the dumps, else None."""
    folder = real_folder()
    newer = None if folder is None else folder.parent / "facts" / "measurements-2"
    return newer if newer is not None and newer.is_dir() else None
