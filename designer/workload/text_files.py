"""Text files a user points at: configurations, traces and job lists; refused with a remedy before they are parsed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from designer.errors import ExchangeError

_Read = TypeVar("_Read")


def read_file(
    path: Path, parse: Callable[[str], _Read], what: str, *, largest: int, missing: str, too_large: str
) -> _Read:
    """What `parse` makes of the text of a file; its refusals name the file.

    Parameters
    ----------
    what
        The file in words, such as "a trace".
    largest
        Larger files are refused [B].
    missing, too_large
        Remedies where the path is no file, or too large a one.

    Raises
    ------
    ExchangeError
        If it cannot be read or parsed.
    """
    try:
        if not path.is_file():
            raise ExchangeError("not a file", file=str(path), remedy=missing)
        if path.stat().st_size > largest:
            raise ExchangeError(f"too large for {what}", file=path.name, remedy=too_large)
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ExchangeError("not UTF-8 text", file=path.name, remedy="save it as UTF-8") from None
    except OSError as error:
        raise ExchangeError(str(error), file=path.name, remedy="check the path and its permissions") from None
    try:
        return parse(text)
    except ExchangeError as error:
        raise error.at(file=path.name) from None
