"""Architectures of accelerators: what dumps mean by a compute capability or gfx number where they name no product.

The figures are those of a typical part, or are in the file of the architecture where no part has them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pydantic import ValidationError

from designer import resources
from designer.catalog.loader import load_catalog
from designer.catalog.parttype import PartType
from designer.errors import CatalogError
from designer.fields import Frozen, Quantity

#: the link between accelerators, by the value that counts such links
_COUNTS: Final = {"nvlink_links": "nvlink", "xgmi_links": "xgmi"}


@dataclass(frozen=True, slots=True)
class Architecture:
    """What accelerators of one architecture share.

    Parameters
    ----------
    id
        The name of its file.
    link_kind
        Kind of the links between accelerators, or empty.
    link_rate
        Nominal payload rate of one such link per direction, spelled; empty where unknown.
    links
        The most such links one accelerator has; 0 where unknown or none.
    compute_capability
        Of its typical part, or empty.
    """

    id: str
    name: str
    pcie_generation: int = 0
    link_kind: str = ""
    link_rate: str = ""
    links: int = 0
    compute_capability: str = ""

    def of(self, part: PartType) -> Architecture:
        """The same with the figures of one part, whose own file is surer than what is typical."""
        return _with_values(self, part.values)


class _File(Frozen):
    """A file of ``assets/recognition/architectures``."""

    title: str
    typical: str = ""
    compute_capabilities: tuple[str, ...] = ()
    gfx: tuple[str, ...] = ()
    values: Mapping[str, Quantity] = {}


def architecture(id: str) -> Architecture:
    """The architecture called `id`.

    Raises
    ------
    CatalogError
        If there is none, or its file is wrong.
    """
    file = _files().get(id)
    if file is None:
        raise CatalogError(f"there is no architecture {id!r}", remedy=f"use one of {', '.join(_files())}")
    return _architecture(id)


def by_compute_capability(number: int) -> Architecture | None:
    """The architecture of a compute capability times ten, as NCCL writes it: 90 for 9.0; None where unknown."""
    text = f"{number // 10}.{number % 10}"
    return next((_architecture(id) for id, file in _files().items() if text in file.compute_capabilities), None)


def by_gfx(digits: str) -> Architecture | None:
    """The architecture of the digits of a gfx name, as RCCL writes them (910 represents 90a); None where unknown."""
    return next((_architecture(id) for id, file in _files().items() if digits in file.gfx), None)


@lru_cache(maxsize=1024)
def link_counts(kind: str) -> frozenset[int]:
    """How many links of a kind the accelerators of each architecture have that has such links."""
    return frozenset(a.links for id in _files() if (a := _architecture(id)).link_kind == kind)


@lru_cache(maxsize=1024)
def _architecture(id: str) -> Architecture:
    file = _files()[id]
    found = Architecture(id, file.title)
    if file.typical:
        found = found.of(load_catalog().get(file.typical))
    return _with_values(found, file.values)


def _with_values(old: Architecture, values: Mapping[str, Quantity]) -> Architecture:
    """`old` with what `values` give; a part without links of its own does not hide those of its relatives."""
    changes: dict[str, str | int] = {}
    if (generation := values.get("pcie_generation")) is not None:
        changes["pcie_generation"] = int(generation.value)
    for name, kind in _COUNTS.items():
        if (links := values.get(name)) is not None and int(links.value) > 0:
            changes |= {"links": int(links.value), "link_kind": kind}
    if (rate := values.get("link_bandwidth_per_direction")) is not None:
        changes["link_rate"] = str(rate.value)
    if (capability := values.get("compute_capability")) is not None:
        changes["compute_capability"] = str(capability.value)
    return replace(old, **changes)


@cache
def _files() -> Mapping[str, _File]:
    folder = resources.assets() / "recognition" / "architectures"
    return MappingProxyType({path.stem: _read(path) for path in sorted(folder.glob("*.toml"))})


def _read(path: Path) -> _File:
    try:
        return _File.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CatalogError(str(error), file=str(path), remedy="mend the TOML syntax there") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(p) for p in first["loc"])
        raise CatalogError(first["msg"], file=str(path), place=place, remedy="see the other architectures") from None
