"""The shipped model shapes: one file per model in ``assets/models``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, cast

from designer.errors import CatalogError
from designer.resources import assets
from designer.sources import Status
from designer.units import Flop, parse
from designer.workload.entries import check_entry, load_entry
from designer.workload.shape import ConvolutionalShape, ModelShape, TransformerShape

_KINDS: Final = {"transformer": TransformerShape, "convolutional": ConvolutionalShape}
_HEADER: Final = {"id", "kind", "title", "source", "status", "note", "shape"}


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A shipped model: its shape, where the dimensions come from and how sure they are."""

    id: str
    title: str
    shape: ModelShape
    source: str
    status: Status
    note: str = ""


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
    shape = kind(name=str(data["title"]), **values)
    return ModelEntry(data["id"], data["title"], shape, data["source"], Status(data["status"]), data.get("note", ""))


@cache
def models() -> Mapping[str, ModelEntry]:
    """All shipped models by id, sorted."""
    found = [load_model(path) for path in sorted((assets() / "models").glob("*.toml"))]
    return MappingProxyType({entry.id: entry for entry in found})


def model(model_id: str) -> ModelShape:
    """The shape of a shipped model.

    Raises
    ------
    CatalogError
        If there is none of that id.
    """
    entry = models().get(model_id)
    if entry is None:
        near = [name for name in models() if model_id.lower()[:4] and name.startswith(model_id.lower()[:4])]
        hint = ", ".join(near or list(models()))
        raise CatalogError(f"there is no model {model_id!r}", remedy=f"choose one of {hint}")
    return entry.shape
