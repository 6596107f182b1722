"""Measured acceptance of drafted tokens, by draft and model."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from designer.errors import CatalogError
from designer.resources import assets


@cache
def drafts() -> Mapping[str, tuple[float, ...]]:
    """Tokens per verifying step with one, two, … drafted, by id."""
    data = tomllib.loads((assets() / "serving" / "drafts.toml").read_text(encoding="utf-8"))
    return MappingProxyType({name: tuple(row["curve"]) for name, row in data.items()})


def draft(name: str) -> tuple[float, ...]:
    """The curve of a draft.

    Raises
    ------
    CatalogError
        If there is none of that id.
    """
    found = drafts().get(name)
    if found is None:
        raise CatalogError(f"there is no measured draft {name!r}", remedy=f"choose one of {', '.join(drafts())}")
    return found
