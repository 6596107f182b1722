"""Text files a user points at: configurations, traces and job lists; refused with a remedy before they are parsed.

Answers depend on what those files hold: `Contents` gives a digest of it, for those who keep answers.
"""

from __future__ import annotations

import csv
import hashlib
import tomllib
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from designer.errors import CatalogError, ExchangeError

_Read = TypeVar("_Read")
#: files that are read together with one that is named in the same folder
_READ_WITH: Final = ("hf_quant_config.json",)
#: no path is longer than this; a longer text is the content of a file
_LONGEST_PATH: Final = 4096


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


@contextmanager
def csv_errors(place: Callable[[], int], file: str | None = None) -> Generator[None]:
    """Text that is no CSV, such as a cell of more than 131,072 characters, refused with the line that `place` gives.

    Raises
    ------
    ExchangeError
        In place of ``csv.Error``.
    """
    try:
        yield
    except csv.Error as error:
        remedy = "correct the line, or save the table as CSV once more"
        raise ExchangeError(f"not CSV: {error}", file=file, place=f"line {place()}", remedy=remedy) from None


def _named_file(value: str) -> Iterator[Path]:
    """The file that a value of a setting names, if it does, and what is read together with it."""
    if not 0 < len(value) <= _LONGEST_PATH or value.lstrip().startswith("{"):
        return
    path = Path(value)
    try:
        if path.is_file():
            yield path
            yield from (path.with_name(name) for name in _READ_WITH if path.with_name(name).is_file())
    except (OSError, ValueError):
        return


@dataclass(frozen=True, slots=True)
class _Content:
    """What a file held when it was read; `state` is its number, size and time then."""

    state: tuple[int, ...]
    digest: str

    @classmethod
    def of(cls, path: Path) -> _Content:
        # the state first: a change while it is read shows
        state = _state(path)
        try:
            with path.open("rb") as file:
                return cls(state, hashlib.file_digest(file, "sha256").hexdigest())
        except OSError:
            return cls(state, "")


def _state(path: Path) -> tuple[int, ...]:
    try:
        info = path.stat()
    except OSError:
        return ()
    return (info.st_ino, info.st_size, info.st_mtime_ns)


class Contents:
    """What the files hold that settings name. Each is read once; a later change is noticed."""

    def __init__(self) -> None:
        self._known: dict[str, dict[Path, _Content]] = {}

    def digest(self, values: Iterable[object]) -> str:
        """One digest of what all the files hold that the values name; empty if they name none."""
        found = {str(path): content.digest for path, content in self._files(values)}
        pieces = [text for file in sorted(found.items()) for text in file]
        return hashlib.sha256("\0".join(pieces).encode("utf-8", "surrogatepass")).hexdigest() if pieces else ""

    def changed(self, values: Iterable[object]) -> Path | None:
        """A file the values name that is not as it was when it was read; None if there is none."""
        return next((path for path, content in self._files(values) if _state(path) != content.state), None)

    def _files(self, values: Iterable[object]) -> Iterator[tuple[Path, _Content]]:
        for value in values:
            if isinstance(value, str):
                if value not in self._known:
                    self._known[value] = {path: _Content.of(path) for path in _named_file(value)}
                yield from self._known[value].items()


_Entry = TypeVar("_Entry")


def load_entry(path: Path, what: str, make: Callable[[Mapping[str, Any], Path], _Entry]) -> _Entry:
    """Read one entry of a kind such as ``model`` from its file; `make` turns the content into the entry.

    Raises
    ------
    CatalogError
        Naming the file and what is wrong in it.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        return make(data, path)
    except CatalogError as error:
        raise error.at(file=path.name) from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, ValueError, TypeError, KeyError) as error:
        raise CatalogError(str(error), file=path.name, remedy=f"correct the {what} file") from error


def check_entry(
    data: Mapping[str, Any], path: Path, what: str, known: Collection[str], required: Collection[str]
) -> None:
    """Refuse fields that are unknown or missing, and an id that is not the name of the file.

    Raises
    ------
    CatalogError
        Naming the fields.
    """
    unknown, missing = set(data) - set(known), set(required) - set(data)
    if unknown or missing:
        raise CatalogError(
            f"unknown fields {sorted(unknown)}, missing fields {sorted(missing)}", remedy=f"see the other {what} files"
        )
    if data["id"] != path.stem:
        raise CatalogError(f"id {data['id']!r} is not the file name", place="id", remedy=f"call it {path.stem!r}")
