"""Datasets to train on: how many samples, how large, and the steps they make. One file each in ``assets/datasets``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from designer.errors import CatalogError
from designer.resources import assets
from designer.sources import Status
from designer.units import Bytes, parse
from designer.workload.jobs import InputPath
from designer.workload.text_files import check_entry, load_entry

_FIELDS: Final = {
    "id",
    "title",
    "samples",
    "validation_samples",
    "size",
    "decoded_sample",
    "files",
    "tokens",
    "source",
    "status",
    "note",
}


NOTHING: Final = Bytes(0.0)


@dataclass(frozen=True, slots=True)
class Dataset:
    """Samples to learn from.

    Parameters
    ----------
    samples, validation_samples
        Samples trained on in an epoch, and held out for validation.
    size
        Bytes of all training samples as stored [B].
    decoded_sample
        Bytes of one sample as it reaches the accelerator; 0 for as stored [B].
    files
        Files they lie in.
    tokens
        Tokens of a text corpus; 0 for others.
    """

    id: str
    title: str
    samples: int
    size: Bytes
    validation_samples: int = 0
    decoded_sample: Bytes = NOTHING
    files: int = 0
    tokens: int = 0
    source: str = ""
    status: Status = Status.ASSUMED
    note: str = ""

    def __post_init__(self) -> None:
        if self.samples < 1 or self.size <= 0:
            raise CatalogError(
                f"{self.samples} samples of {self.size:g} bytes together",
                place=f"dataset {self.id}",
                remedy="a dataset has at least one sample, and samples have a size",
            )


def load_dataset(path: Path) -> Dataset:
    """Read one dataset file.

    Raises
    ------
    CatalogError
        Naming the file and what is wrong in it.
    """
    return load_entry(path, "dataset", _dataset)


def _dataset(data: Mapping[str, Any], path: Path) -> Dataset:
    check_entry(data, path, "dataset", _FIELDS, ("id", "title", "samples", "size", "source", "status"))
    values = dict(data)
    values["size"] = Bytes(parse(values["size"], "size"))
    if "decoded_sample" in values:
        values["decoded_sample"] = Bytes(parse(values["decoded_sample"], "size"))
    values["status"] = Status(values["status"])
    return Dataset(**values)


@cache
def datasets() -> Mapping[str, Dataset]:
    """All shipped datasets by id, sorted."""
    found = [load_dataset(path) for path in sorted((assets() / "datasets").glob("*.toml"))]
    return MappingProxyType({entry.id: entry for entry in found})


#: the dataset whose samples are those of the settings
CUSTOM: Final = "custom"
#: bytes of a pixel in datasets: three colours of 4 bytes
PIXEL_BYTES: Final = 12


def dataset_of(path: InputPath) -> Dataset:
    """The samples of an input path: those of a shipped dataset, as far as it says nothing else.

    Raises
    ------
    CatalogError
        If there is no such dataset, or a custom one lacks how many samples it has or how large they are.
    """
    if path.dataset == CUSTOM and not (path.epoch_samples > 0 and path.sample_size > 0):
        raise CatalogError(
            "a custom dataset without samples or their size", remedy="give epoch_samples and sample_size"
        )
    if path.dataset == CUSTOM:
        count = path.epoch_samples
        found = Dataset(CUSTOM, "Samples as given", count, Bytes(count * path.sample_size), files=count)
    else:
        found = dataset(path.dataset)
        count = path.epoch_samples or found.samples
        each = path.sample_size or found.size / found.samples
        tokens = round(found.tokens * count / found.samples)
        found = replace(found, samples=count, size=Bytes(count * each), tokens=tokens)
    if path.resolution > 0:
        found = replace(found, decoded_sample=Bytes(PIXEL_BYTES * path.resolution**2))
    return found


def dataset(dataset_id: str) -> Dataset:
    """A shipped dataset.

    Raises
    ------
    CatalogError
        If there is none of that id.
    """
    found = datasets().get(dataset_id)
    if found is None:
        raise CatalogError(f"there is no dataset {dataset_id!r}", remedy=f"choose one of {', '.join(datasets())}")
    return found
