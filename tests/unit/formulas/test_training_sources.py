"""Training and storage formulas: one object per file, every constant and shipped model has a source that exists."""

import importlib
import pkgutil
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

import pytest

import designer.formulas as formulas
from designer.formulas.formula import Formula
from designer.registry import discover
from designer.resources import assets
from designer.sources import Constant
from designer.workload.datasets import datasets
from designer.workload.models import models

FAMILIES = ("formulas.compute", "families.training.formulas", "families.serving.formulas", "formulas.storage")
SHARED = ("calibration", "precision", "software")


@pytest.fixture(scope="module")
def known() -> Mapping[str, str]:
    found: dict[str, str] = {}
    for path in sorted((assets() / "sources").glob("*.toml")):
        found |= {key: row["status"] for key, row in tomllib.loads(path.read_text("utf-8")).items()}
    return found


def constants(thing: object) -> Iterator[Constant]:
    if isinstance(thing, Constant):
        yield thing
    elif isinstance(thing, Mapping):
        for value in thing.values():
            yield from constants(value)
    elif is_dataclass(thing) and not isinstance(thing, type):
        for field in fields(thing):
            yield from constants(getattr(thing, field.name))


def modules() -> list[str]:
    found = [f"designer.formulas.{name}" for name in SHARED]
    for family in FAMILIES:
        package = importlib.import_module(f"designer.{family}")
        found += [info.name for info in pkgutil.iter_modules(package.__path__, package.__name__ + ".")]
    assert formulas.__doc__
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_formulas_are_found_and_cite_known_sources(family: str, known: Mapping[str, str]) -> None:
    found = discover(f"designer.{family}", "FORMULA", Formula)
    assert len(found) >= 2
    for formula in found.values():
        assert formula.valid_when
        assert formula.sources
        assert set(formula.sources) <= known.keys()


@pytest.mark.parametrize("module", modules())
def test_constants_cite_known_sources_and_are_no_surer_than_they(module: str, known: Mapping[str, str]) -> None:
    for value in vars(importlib.import_module(module)).values():
        for constant in constants(value):
            assert constant.source in known, constant
            assert not (known[constant.source] == "assumed" and constant.status.is_sure), constant


def test_fitted_constants_say_on_what() -> None:
    for module in modules():
        for value in vars(importlib.import_module(module)).values():
            for constant in constants(value):
                if constant.source.startswith("fit-"):
                    assert constant.note, (module, constant)
                    assert constant.low < constant.high, (module, constant)


def test_models_and_datasets_cite_known_sources(known: Mapping[str, str]) -> None:
    assert {entry.source for entry in models().values()} <= known.keys()
    assert {entry.source for entry in datasets().values()} <= known.keys()
