"""Formulas: one object per file, and every constant and shipped model has a source that exists."""

from __future__ import annotations

import importlib
import pkgutil
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

import pytest

from designer.formulas.formula import Formula
from designer.registry import discover
from designer.resources import assets
from designer.sources import Constant
from designer.workload.datasets import datasets
from designer.workload.models import models

#: folders of formulas, and how many each has at the least
FAMILIES = {
    "formulas.collectives": 2,
    "formulas.compute": 2,
    "formulas.placement": 6,
    "formulas.storage": 2,
    "formulas.transfer": 2,
    "families.machines.formulas": 14,
    "families.serving.formulas": 2,
    "families.training.formulas": 2,
}
SHARED = ("calibration", "precision", "software")
FILES = {path.stem: tomllib.loads(path.read_text("utf-8")) for path in (assets() / "sources").glob("*.toml")}
STATUS = {key: row["status"] for table in FILES.values() for key, row in table.items()}


def constants(thing: object) -> Iterator[Constant]:
    if isinstance(thing, Constant):
        yield thing
    elif isinstance(thing, Mapping):
        for value in thing.values():
            yield from constants(value)
    elif isinstance(thing, tuple):
        for value in thing:
            yield from constants(value)
    elif is_dataclass(thing) and not isinstance(thing, type):
        for field in fields(thing):
            yield from constants(getattr(thing, field.name))


def constants_of(module: str) -> list[Constant]:
    return [one for value in vars(importlib.import_module(module)).values() for one in constants(value)]


def modules(*families: str) -> list[str]:
    found: list[str] = []
    for family in families:
        package = importlib.import_module(f"designer.{family}")
        found += [info.name for info in pkgutil.walk_packages(package.__path__, package.__name__ + ".")]
    return found


MODULES = [*(f"designer.formulas.{name}" for name in SHARED), *modules(*FAMILIES)]


@pytest.mark.parametrize("family", FAMILIES)
def test_formulas_are_found_and_cite_known_sources(family: str) -> None:
    found = discover(f"designer.{family}", "FORMULA", Formula)
    assert len(found) >= FAMILIES[family]
    for formula in found.values():
        assert formula.valid_when
        assert formula.title
        assert formula.sources
        assert set(formula.sources) <= STATUS.keys()


@pytest.mark.parametrize("module", MODULES)
def test_constants_cite_known_sources_and_are_no_surer_than_they(module: str) -> None:
    for constant in constants_of(module):
        assert constant.source in STATUS, constant
        # a value may be less sure than its document, never surer than an assumption
        assert not (STATUS[constant.source] == "assumed" and constant.status.is_sure), constant


@pytest.mark.parametrize(
    ("module", "least"), [("formulas.collectives._constants", 30), ("formulas.transfer._constants", 30)]
)
def test_tables_of_constants_are_read(module: str, least: int) -> None:
    assert len(constants_of(f"designer.{module}")) > least


def test_constants_of_migration_are_read() -> None:
    assert sum(len(constants_of(module)) for module in modules("families.machines.formulas")) > 60


def test_sources_of_migration_are_complete() -> None:
    for key, entry in FILES["migration"].items():
        assert {"title", "publisher", "status", "accessed"} <= entry.keys(), key


def test_no_two_files_have_a_source_of_one_name() -> None:
    assert len(STATUS) == sum(map(len, FILES.values()))


def test_fitted_constants_say_on_what() -> None:
    for module in MODULES:
        for constant in constants_of(module):
            if constant.source.startswith("fit-"):
                assert constant.note, (module, constant)
                assert constant.low < constant.high, (module, constant)


def test_models_and_datasets_cite_known_sources() -> None:
    assert {entry.source for entry in models().values()} <= STATUS.keys()
    assert {entry.source for entry in datasets().values()} <= STATUS.keys()
