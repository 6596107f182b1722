"""Every formula of migration and placement is found, and every constant has a source that exists."""

from __future__ import annotations

import importlib
import pkgutil
import tomllib
from collections.abc import Iterator

import pytest

from designer.formulas.formula import Formula
from designer.registry import discover
from designer.resources import assets
from designer.sources import Constant

KNOWN = tomllib.loads((assets() / "sources" / "migration.toml").read_text("utf-8"))
#: what formulas of several areas share has its source in another file
EVERY = {
    key: entry
    for file in (assets() / "sources").iterdir()
    if file.name.endswith(".toml")
    for key, entry in tomllib.loads(file.read_text("utf-8")).items()
}


def constants(package: str) -> Iterator[tuple[str, Constant]]:
    root = importlib.import_module(package)
    for info in pkgutil.iter_modules(root.__path__, package + "."):
        for name, value in vars(importlib.import_module(info.name)).items():
            values = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else [value]
            yield from ((f"{info.name}.{name}", one) for one in values if isinstance(one, Constant))


@pytest.mark.parametrize(("family", "least"), [("families.machines.formulas", 14), ("formulas.placement", 6)])
def test_formulas_are_found_and_cite_known_sources(family: str, least: int) -> None:
    formulas = discover(f"designer.{family}", "FORMULA", Formula)
    assert len(formulas) >= least
    for formula in formulas.values():
        assert formula.valid_when
        assert formula.title
        assert set(formula.sources) <= KNOWN.keys()


def test_constants_cite_known_sources_and_are_no_surer_than_an_assumption() -> None:
    found = dict(constants("designer.families.machines.formulas"))
    assert len(found) > 60
    for where, one in found.items():
        assert one.source in EVERY, where
        if EVERY[one.source]["status"] == "assumed":
            assert not one.status.is_sure, where


def test_every_source_is_complete() -> None:
    for key, entry in KNOWN.items():
        assert {"title", "publisher", "status", "accessed"} <= entry.keys(), key
