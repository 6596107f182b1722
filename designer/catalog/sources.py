"""The sources that ship with the program: every key a constant or a part file may point to."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import cast

from pydantic import ValidationError

from designer import resources
from designer.catalog.parttype import SourceRecord
from designer.errors import CatalogError
from designer.sources import Source


def load_sources(folder: Path | None = None) -> Mapping[str, Source]:
    """All sources by key, from every ``*.toml`` in `folder` (``assets/sources`` when not given).

    Raises
    ------
    CatalogError
        If a file is no TOML, a record has unknown or missing fields, or a key is in two files.
    """
    records = shipped_sources() if folder is None else _read_sources(folder)
    return MappingProxyType({key: Source(key=key, **record.model_dump()) for key, record in records.items()})


@cache
def shipped_sources() -> Mapping[str, SourceRecord]:
    """The records of ``assets/sources`` by key, as part types carry them; read once.

    Raises
    ------
    CatalogError
        As `load_sources`.
    """
    return _read_sources(resources.assets() / "sources")


def _read_sources(folder: Path) -> Mapping[str, SourceRecord]:
    found: dict[str, SourceRecord] = {}
    home: dict[str, str] = {}
    for path in sorted(folder.glob("*.toml")):
        for key, record in _records(path).items():
            if key in found:
                raise CatalogError(
                    f"source {key!r} is also in {home[key]}", file=str(path), place=key, remedy="rename one of them"
                )
            found[key], home[key] = _source(path, key, record), path.name
    return MappingProxyType(dict(sorted(found.items())))


def _records(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CatalogError(str(error), file=str(path), remedy="mend the TOML syntax there") from None


def _source(path: Path, key: str, record: object) -> SourceRecord:
    try:
        return SourceRecord.model_validate(cast("dict[str, object]", record))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join((key, *(str(p) for p in first["loc"])))
        raise CatalogError(
            first["msg"],
            file=str(path),
            place=place,
            remedy="a source has title, status, publisher, locator, url and accessed",
        ) from None
