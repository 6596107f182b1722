"""The shipped model shapes: one file per model in ``assets/models``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, cast

from designer.errors import CatalogError
from designer.resources import assets
from designer.sources import Status
from designer.units import Flop, Seconds, parse
from designer.workload.published_formats import UNSAID, PublishedFormat
from designer.workload.shape import ConvolutionalShape, ModelShape, RecommendationShape, TransformerShape
from designer.workload.text_files import check_entry, load_entry
from designer.workload.vision import VisionTower

_KINDS: Final = {
    "transformer": TransformerShape,
    "convolutional": ConvolutionalShape,
    "recommendation": RecommendationShape,
}
_HEADER: Final = {"id", "kind", "title", "aliases", "source", "status", "note", "shape", "published", "vision"}
#: what publishers add to a name: themselves before it, and what the same weights' shape was tuned for after it
_PUBLISHER: Final = re.compile(r"^(.*/)?(meta-)?")
_TUNED: Final = re.compile(r"[-_](hf|chat|instruct|it|base|v0\.1)\b")
#: digits of a side that are read; more are too many pixels anyway
_DIGITS: Final = 9
_NOT_A_WORD: Final = re.compile(r"[^a-z0-9]")


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A shipped model: its shape, where the dimensions come from and how sure they are.

    Parameters
    ----------
    aliases
        Ids of other models of the very same shape, such as later releases.
    published
        Number format of the checkpoint where it is another than 16 bit, with what says so.
    """

    id: str
    title: str
    shape: ModelShape
    source: str
    status: Status
    note: str = ""
    aliases: tuple[str, ...] = ()
    published: PublishedFormat = UNSAID


def load_model(path: Path) -> ModelEntry:
    """Read one model file.

    Raises
    ------
    CatalogError
        Naming the file and the field that is wrong.
    """
    return load_entry(path, "model", _entry)


def _entry(data: Mapping[str, Any], path: Path) -> ModelEntry:
    check_entry(data, path, "model", _HEADER, ("id", "kind", "title", "source", "status", "shape"))
    kind = _KINDS.get(data["kind"])
    if kind is None:
        raise CatalogError(f"{data['kind']!r} is no kind of model", place="kind", remedy=f"use {', '.join(_KINDS)}")
    values = dict(cast("Mapping[str, Any]", data["shape"]))
    allowed = {field.name for field in fields(kind)} - {"name"}
    if set(values) - allowed:
        raise CatalogError(f"unknown fields {sorted(set(values) - allowed)}", place="shape", remedy="remove them")
    if "flop_forward" in values:
        values["flop_forward"] = Flop(parse(values["flop_forward"], "flop"))
    if "matching" in values:
        values["matching"] = Seconds(parse(values["matching"], "duration"))
    if "vision" in data:
        values["vision"] = VisionTower(out=values["hidden"], **data["vision"])
    if "products" in values:
        values["products"] = tuple((int(inner), int(columns)) for inner, columns in values["products"])
    shape = kind(name=str(data["title"]), **values)
    aliases = tuple(str(alias) for alias in data.get("aliases", ()))
    return ModelEntry(
        data["id"],
        data["title"],
        shape,
        data["source"],
        Status(data["status"]),
        data.get("note", ""),
        aliases,
        PublishedFormat(**data.get("published", {})),
    )


@cache
def models() -> Mapping[str, ModelEntry]:
    """All shipped models by id, sorted."""
    found = [load_model(path) for path in sorted((assets() / "models").glob("*.toml"))]
    return MappingProxyType({entry.id: entry for entry in found})


def find_model(name: str) -> ModelEntry | None:
    """The shipped model a name represents: its id, an alias, or how its publisher spells either.

    ``meta-llama/Llama-3.1-8B-Instruct`` is ``llama-3-8b``: the publisher, what it was tuned for, dots and capitals
    change nothing about the shape. ``resnet-50@448`` is the same convolutional network on samples of 448 x 448.

    Raises
    ------
    CatalogError
        If a model cannot be made for samples of the side that is given.
    """
    base, at, side = name.rpartition("@")
    if at and side.strip().isdigit():
        known = find_model(base)
        if known is None:
            return None
        if not isinstance(known.shape, ConvolutionalShape):
            raise CatalogError(f"{known.title} takes no images of a side", remedy=f"name it {known.id}")
        number = int(side.strip()[:_DIGITS])
        shape = known.shape.at_side(number)
        return replace(known, title=f"{known.title}, {number} x {number}", shape=shape, aliases=())
    found = models().get(name)
    return found if found is not None else _spellings().get(_spelling_of(name))


def nearest_models(name: str) -> list[str]:
    """Ids of up to three shipped models whose names look most like `name`, best first."""
    names = get_close_matches(_spelling_of(name), list(_spellings()), n=6, cutoff=0.5)
    return list(dict.fromkeys(_spellings()[near].id for near in names))[:3]


@cache
def _spellings() -> Mapping[str, ModelEntry]:
    return {_spelling_of(name): entry for entry in models().values() for name in (entry.id, *entry.aliases)}


def _spelling_of(name: str) -> str:
    return _NOT_A_WORD.sub("", _TUNED.sub("", _PUBLISHER.sub("", name.strip().lower())))


def model(name: str) -> ModelShape:
    """The shape of a shipped model, by any name that :func:`find_model` knows.

    Raises
    ------
    CatalogError
        If there is none of that name.
    """
    entry = find_model(name)
    if entry is None:
        near = nearest_models(name)
        hint = f"did you mean {' or '.join(near)}" if near else f"choose one of {', '.join(models())}"
        raise CatalogError(f"there is no model {name[:60]!r}", remedy=f"{hint}; a config.json is read as well")
    return entry.shape
