"""Published stun times of virtual machines with virtual GPUs, to be shown beside computed ones."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from designer.errors import CatalogError
from designer.resources import assets
from designer.units import parse_duration, parse_rate, parse_size


@dataclass(frozen=True, slots=True)
class PublishedStun:
    """One cell of a table.

    Parameters
    ----------
    framebuffer, gpus
        Used frame buffer over all GPUs [B], and their number.
    memory
        Guest memory [B]; None where the table does not give it.
    stun
        Stun [s]; None where the migration ran into the limit of 100 s.
    """

    framebuffer: float
    gpus: int
    memory: float | None
    stun: float | None


@dataclass(frozen=True, slots=True)
class StunTable:
    """A published table: release, GPU generation, line rate [B/s], and whether it was measured or estimated."""

    id: str
    title: str
    release: str
    generation: str
    line_rate: float
    kind: str
    source: str
    rows: tuple[PublishedStun, ...]


def load_stun_tables(file: Path | None = None) -> Mapping[str, StunTable]:
    """All published tables by id; the shipped ones if no file is given.

    Raises
    ------
    CatalogError
        If the file cannot be read or misses a value.
    """
    return _tables(file or assets() / "vgpu" / "published" / "stun.toml")


@lru_cache(maxsize=1024)
def _tables(file: Path) -> Mapping[str, StunTable]:
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        tables = [_table(entry) for entry in data["tables"]]
    except (KeyError, TypeError, tomllib.TOMLDecodeError, OSError) as problem:
        raise CatalogError(f"cannot be read: {problem!r}", file=file.name, remedy="correct the file") from problem
    return MappingProxyType({table.id: table for table in tables})


def _table(entry: dict[str, Any]) -> StunTable:
    return StunTable(
        id=entry["id"],
        title=entry["title"],
        release=entry["release"],
        generation=entry["generation"],
        line_rate=parse_rate(entry["line_rate"]),
        kind=entry["kind"],
        source=entry["source"],
        rows=tuple(_row(row) for row in entry["rows"]),
    )


def _row(row: dict[str, Any]) -> PublishedStun:
    return PublishedStun(
        framebuffer=parse_size(row["framebuffer"]),
        gpus=int(row.get("gpus", 1)),
        memory=parse_size(row["memory"]) if "memory" in row else None,
        stun=parse_duration(row["stun"]) if "stun" in row else None,
    )
