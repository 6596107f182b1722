"""One door for everything that is added as one new file."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TypeVar, cast

T = TypeVar("T")


def discover(package: str, attribute: str, kind: type[T], name: str = "name") -> Mapping[str, T]:
    """All objects called `attribute` in the public modules of `package`, by their own name, sorted.

    Each module below the package whose last name does not begin with an underscore must hold exactly one object
    `attribute` of type `kind`, with a unique attribute `name`.

    Raises
    ------
    AssertionError
        If a module lacks the object, the object has another type, or two share a name.
    """
    return cast("Mapping[str, T]", _discover(package, attribute, kind, name))


@lru_cache(maxsize=1024)
def _discover(package: str, attribute: str, kind: type, name: str) -> Mapping[str, object]:
    root = importlib.import_module(package)
    found: dict[str, object] = {}
    for info in pkgutil.walk_packages(root.__path__, package + "."):
        last = info.name.rsplit(".", 1)[-1]
        if info.ispkg or last.startswith("_"):
            continue
        module = importlib.import_module(info.name)
        thing = getattr(module, attribute, None)
        if not isinstance(thing, kind):
            raise AssertionError(f"{info.name} must hold one {attribute} of type {kind.__name__}")
        key = str(getattr(thing, name))
        if key in found:
            raise AssertionError(f"{info.name}: {attribute} named {key!r} exists twice")
        found[key] = thing
    return MappingProxyType(dict(sorted(found.items())))
