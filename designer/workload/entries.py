"""Files of one entry each in ``assets``: datasets and models, read with one set of messages."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

from designer.errors import CatalogError

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
