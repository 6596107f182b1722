"""One door for everything that is added as one new file, or by an installed package.

A package offers objects through entry points of the groups in `GROUPS`; ``docs/extensions.md`` shows one. The packages
of ``designer/contrib`` are shipped and loaded in the same way. What cannot be loaded is left out, and one warning on
the logger ``designer`` names the package and the reason.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.util import find_spec
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Final, TypeVar, cast

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")

#: groups of entry points, and what their objects are
GROUPS: Final[Mapping[str, str]] = {
    "designer.parts": "part kinds",
    "designer.catalogs": "folders of part files",
    "designer.importers": "importers",
    "designer.exporters": "exporters",
    "designer.rules": "rules",
    "designer.workloads": "workload kinds",
    "designer.proposals": "families of proposed designs",
    "designer.faults": "kinds of faults",
}


def discover(package: str, attribute: str, kind: type[T], name: str = "name", group: str = "") -> Mapping[str, T]:
    """All objects called `attribute` in the public modules of `package`, by their own name, sorted.

    Each module below the package whose last name does not begin with an underscore must hold one object `attribute` of
    type `kind`, or a tuple of them under its plural, as `RULE` and `RULES`; `name` is unique. An empty `package` has no
    modules. The objects of the entry points of `group` follow; one whose name is taken is left out with a warning.

    Raises
    ------
    AssertionError
        If a module lacks the object, the object has another type, or two share a name.
    """
    return cast("Mapping[str, T]", _discover((package,) if package else (), attribute, kind, name, group))


def rooms(
    package: str, room: str, attribute: str, kind: type[T], name: str = "name", group: str = ""
) -> Mapping[str, T]:
    """As `discover`, from the folder or module `room` of every folder of `package`; folders without it are skipped.

    Raises
    ------
    AssertionError
        As `discover`, and if modules of two folders share a name.
    """
    folders = tuple(
        found
        for info in pkgutil.iter_modules(importlib.import_module(package).__path__, package + ".")
        if info.ispkg and find_spec(found := f"{info.name}.{room}") is not None
    )
    return cast("Mapping[str, T]", _discover(folders, attribute, kind, name, group))


@lru_cache(maxsize=64)
def extensions(group: str, kind: type[T]) -> Mapping[str, T]:
    """The objects of the entry points of a group that are of type `kind`, by ``module:object``, sorted.

    Those of ``designer/contrib`` come first. An entry point that cannot be loaded, or whose object has another type, is
    left out with a warning.
    """
    found: dict[str, T] = {}
    for point in _entry_points(group):
        try:
            thing = point.load()
        except Exception as error:  # whatever a package of somebody else raises must not end the program
            _left_out(point, f"{type(error).__name__}: {error}")
            continue
        if isinstance(thing, kind):
            found[point.value] = thing
        else:
            _left_out(point, f"it is of type {type(thing).__name__}, not {kind.__name__}")
    return MappingProxyType(found)


def foreign_package(function: object) -> str:
    """The package a function comes from; empty for those of this program."""
    package = str(getattr(function, "__module__", "")).partition(".")[0]
    return "" if package == "designer" else package


def _entry_points(group: str) -> list[EntryPoint]:
    # imported here: it takes longer than everything else that `designer --help` needs
    from importlib.metadata import EntryPoint, entry_points

    # by name: contrib is above all that it extends
    listed: Mapping[str, Mapping[str, str]] = importlib.import_module("designer.contrib").ENTRY_POINTS
    shipped = [EntryPoint(name, value, group) for name, value in listed.get(group, {}).items()]
    return [*shipped, *sorted(entry_points(group=group), key=lambda point: (point.name, point.value))]


def _left_out(point: EntryPoint, reason: str) -> None:
    import logging

    package = point.dist.name if point.dist is not None else point.module
    text = "warning: %s of the package %s is left out: %s (remedy: update or uninstall the package)"
    logging.getLogger("designer").warning(text, f"{point.name!r} ({point.group})", package, " ".join(reason.split()))


@lru_cache(maxsize=1024)
def _discover(packages: tuple[str, ...], attribute: str, kind: type, name: str, group: str) -> Mapping[str, object]:
    found: dict[str, object] = {}
    for module in (module for package in packages for module in _modules(package)):
        things = getattr(module, f"{attribute}S", None) or (getattr(module, attribute, None),)
        for thing in things:
            if not isinstance(thing, kind):
                raise AssertionError(f"{module.__name__} must hold one {attribute} of type {kind.__name__}")
            key = str(getattr(thing, name))
            if key in found:
                raise AssertionError(f"{module.__name__}: {attribute} named {key!r} exists twice")
            found[key] = thing
    for value, thing in extensions(group, kind).items() if group else ():
        key = str(getattr(thing, name))
        if key not in found:
            found[key] = thing
        else:
            point = next(p for p in _entry_points(group) if p.value == value)
            _left_out(point, f"the name {key!r} is taken")
    return MappingProxyType(dict(sorted(found.items())))


def _modules(package: str) -> Iterator[ModuleType]:
    """The public modules below a package; a module itself."""
    folder = importlib.import_module(package)
    if not hasattr(folder, "__path__"):
        yield folder
        return
    for info in pkgutil.walk_packages(folder.__path__, package + "."):
        if not info.ispkg and not info.name.rsplit(".", 1)[-1].startswith("_"):
            yield importlib.import_module(info.name)
