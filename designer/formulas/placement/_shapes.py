"""What the placement checkers need to know of a GPU; the catalog's classes fit without being imported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeVar

from designer.errors import CatalogError


class Mode(StrEnum):
    """How a GPU is shared, spelled as in the vSphere API where it has a name for it."""

    SAME_SIZE = "sameSize"
    MIXED_SIZE = "mixedSize"
    MIG = "mig"


class AssignmentPolicy(StrEnum):
    """Which GPU of a host gets the next virtual GPU in same-size mode."""

    SPREAD = "performance"
    GROUP = "consolidation"


class ProfileLike(Protocol):
    """A time-sliced profile."""

    @property
    def name(self) -> str: ...
    @property
    def series(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def most(self) -> int: ...
    @property
    def starts(self) -> tuple[int, ...]: ...


class MigLike(Protocol):
    """A MIG-backed profile."""

    @property
    def name(self) -> str: ...
    @property
    def compute(self) -> int: ...
    @property
    def memory(self) -> int: ...
    @property
    def most(self) -> int: ...
    @property
    def starts(self) -> tuple[int, ...]: ...
    @property
    def media(self) -> bool: ...


class GpuLike(Protocol):
    """A GPU with its profiles."""

    @property
    def id(self) -> str: ...
    @property
    def regions(self) -> int: ...
    @property
    def mixed_size(self) -> bool: ...
    @property
    def compute_slices(self) -> int: ...
    @property
    def memory_slices(self) -> int: ...
    @property
    def large_instances_high(self) -> bool: ...
    @property
    def profiles(self) -> Sequence[ProfileLike]: ...
    @property
    def mig(self) -> Sequence[MigLike]: ...


class PartitionLike(Protocol):
    """A set of GPU modules the NVSwitches can isolate."""

    @property
    def id(self) -> int: ...
    @property
    def modules(self) -> tuple[int, ...]: ...
    @property
    def links_per_gpu(self) -> int: ...


class BoardLike(Protocol):
    """A board of GPUs joined by NVLink."""

    @property
    def id(self) -> str: ...
    @property
    def modules(self) -> tuple[int, ...]: ...
    @property
    def partitions(self) -> Sequence[PartitionLike]: ...


@dataclass(frozen=True, slots=True)
class Resident:
    """A profile on a GPU and its start; in same-size mode the start is the number of the slot."""

    profile: str
    start: int


class Named(Protocol):
    """Profiles of any sort: what they share is a name."""

    @property
    def name(self) -> str: ...


NamedT = TypeVar("NamedT", bound=Named)


def find(name: str, among: Sequence[NamedT], gpu: str) -> NamedT:
    """The profile called `name`, whatever the case.

    Raises
    ------
    CatalogError
        If the GPU does not offer it.
    """
    for each in among:
        if each.name.lower() == name.lower():
            return each
    known = ", ".join(each.name for each in among) or "none"
    raise CatalogError(f"{gpu} has no profile {name!r}", place=gpu, remedy=f"it offers: {known}")
