"""Memos count the memory of what they are asked about, see ``designer.memo``: what holds a network has an extent."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import typing
from dataclasses import dataclass

import designer.analysis
import designer.engine
import designer.families
from designer.engine.network import Network
from designer.memo import Memo


def _hosts() -> dict[str, type]:
    """The class of the first argument of each memo of the analyses, by the name of the function."""
    found: dict[str, type] = {}
    packages = (designer.analysis, designer.engine, designer.families)
    for module in (m for one in packages for m in pkgutil.walk_packages(one.__path__, f"{one.__name__}.")):
        for one in vars(importlib.import_module(module.name)).values():
            if not isinstance(one, Memo):
                continue
            first = next(iter(inspect.signature(one._make).parameters))
            host = typing.get_type_hints(one._make)[first]
            for each in typing.get_args(host) if not isinstance(host, type) else (host,):
                found[f"{one._make.__module__}.{one._make.__qualname__}"] = typing.get_origin(each) or each
    return found


def _holds_a_network(host: type, seen: set[type]) -> bool:
    """Whether a field of a dataclass, or of what its fields hold, has an extent."""
    if hasattr(host, "extent"):
        return True
    if host in seen or not dataclasses.is_dataclass(host):
        return False
    seen.add(host)
    types = [typing.get_type_hints(host)[field.name] for field in dataclasses.fields(host)]
    while types:
        kind = types.pop()
        types += typing.get_args(kind)
        if isinstance(kind, type) and _holds_a_network(kind, seen):
            return True
    return False


def test_what_holds_a_network_has_an_extent() -> None:
    hosts = _hosts()
    assert len(hosts) > 40
    wrong = [name for name, host in hosts.items() if not hasattr(host, "extent") and _holds_a_network(host, set())]
    assert wrong == []


@dataclass(frozen=True)
class Holder:
    inside: tuple[Network | None, ...]


@dataclass(frozen=True)
class Plain:
    number: int


def test_a_network_inside_is_noticed() -> None:
    assert _holds_a_network(Holder, set())
    assert not _holds_a_network(Plain, set())
