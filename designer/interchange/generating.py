"""The door for designs from parameters: families by name, and the design of one."""

from __future__ import annotations

from collections.abc import Mapping

from designer.design.document import Design
from designer.errors import FormatError
from designer.interchange.generators._generator import Generator
from designer.interchange.network_products import chosen_parts
from designer.registry import discover


def generators() -> Mapping[str, Generator]:
    """All families by name."""
    return discover("designer.interchange.generators", "GENERATOR", Generator)


def generate(family: str, given: Mapping[str, str], parts: Mapping[str, str] | None = None) -> Design:
    """The design of a family with these parameters, others as they are by default.

    Parameters
    ----------
    parts
        Products by use: ``server``, ``switch``, ``storage``, ``storage-switch``, ``inband``, ``oob``.

    Raises
    ------
    FormatError
        If there is no such family, parameter or product, or the values do not fit each other.
    """
    known = generators()
    if family not in known:
        raise FormatError(f"there is no family {family!r}", remedy=f"use {', '.join(known)}")
    found = known[family]
    return found.make(found.asked(given, chosen_parts(parts or {})))
