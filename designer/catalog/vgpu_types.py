"""What the catalog says of a GPU as virtual GPUs see it: profiles, MIG geometry, NVLink partitions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from designer.errors import CatalogError
from designer.sources import Status

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class VgpuProfile:
    """A time-sliced profile of a GPU.

    Parameters
    ----------
    name, series
        Such as ``40C``; the series is C, Q, B or A.
    framebuffer
        Memory of one virtual GPU [B].
    size
        The same in placement units, the number in the name.
    most
        Virtual GPUs of it on one GPU in same-size mode.
    starts
        Placement IDs in mixed-size mode [placement units]; none if the GPU has no such mode.
    status, starts_status
        How sure `most` and `starts` are.
    """

    name: str
    series: str
    framebuffer: float
    size: int
    most: int
    starts: tuple[int, ...]
    status: Status
    source: str
    starts_status: Status

    @property
    def time_slice(self) -> str:
        """Length of the best-effort scheduler's time slice: 2 ms up to eight virtual GPUs, else 1 ms."""
        return "2 ms" if self.most <= 8 else "1 ms"


@dataclass(frozen=True, slots=True)
class MigProfile:
    """A MIG-backed profile.

    Parameters
    ----------
    name, instance
        Name as a virtual GPU (``2-20C``) and as a MIG instance (``2g.20gb``).
    framebuffer
        Memory of one instance [B]; nominal where the exact figure was not found.
    compute, memory
        Slices it takes.
    starts
        First memory slices it may take.
    most
        Instances of it on one GPU.
    media
        True if it holds the media engines; one instance per GPU can.
    """

    name: str
    instance: str
    framebuffer: float
    compute: int
    memory: int
    starts: tuple[int, ...]
    most: int
    media: bool
    status: Status
    source: str
    starts_status: Status


@dataclass(frozen=True, slots=True)
class VgpuType:
    """A GPU as virtual GPUs see it.

    Parameters
    ----------
    id, title, prefix
        File name, name for people, and name in front of profile names.
    vsphere_prefix, vsphere_status
        The same as vSphere writes it, empty if not known, and how sure it is.
    architecture
        Such as ``hopper``.
    regions
        Frame buffer in placement units.
    mixed_size
        True if profiles of different size may share it (Ampere and newer).
    compute_slices, memory_slices
        MIG geometry; 0 without MIG.
    large_instances_high
        True if MIG puts an instance of half the memory at the upper half first.
    """

    id: str
    title: str
    prefix: str
    vsphere_prefix: str
    vsphere_status: Status
    architecture: str
    regions: int
    mixed_size: bool
    compute_slices: int
    memory_slices: int
    large_instances_high: bool
    note: str
    profiles: tuple[VgpuProfile, ...]
    mig: tuple[MigProfile, ...]

    def profile(self, name: str) -> VgpuProfile:
        """The time-sliced profile called `name`.

        Raises
        ------
        CatalogError
            If this GPU does not offer it.
        """
        return _by_name(self.id, name, {each.name: each for each in self.profiles})

    def mig_profile(self, name: str) -> MigProfile:
        """The MIG profile called `name`, as a virtual GPU (``2-20C``) or as an instance (``2g.20gb``).

        Raises
        ------
        CatalogError
            If this GPU does not offer it.
        """
        both = {each.name: each for each in self.mig} | {each.instance: each for each in self.mig}
        return _by_name(self.id, name, both)

    @property
    def full_profile(self) -> VgpuProfile | None:
        """The C profile with the whole frame buffer, the only one device groups are made of."""
        return next((each for each in self.profiles if each.series == "C" and each.most == 1), None)


@dataclass(frozen=True, slots=True)
class Partition:
    """GPU modules the NVSwitches can isolate together, and the NVLinks each GPU keeps."""

    id: int
    modules: tuple[int, ...]
    links_per_gpu: int


@dataclass(frozen=True, slots=True)
class NvlinkBoard:
    """A board, or bridged cards, with the partitions it can be cut into.

    Parameters
    ----------
    gpus
        Ids of the GPU types that sit on it.
    modules
        Module IDs; they are not the order of the PCI bus.
    partitions
        In the vendor's numbering.
    since
        First vSphere release that offers its groups; empty if not known.
    seen_orders
        Module of GPU 0, 1, … as read on real machines.
    """

    id: str
    title: str
    gpus: tuple[str, ...]
    modules: tuple[int, ...]
    partitions: tuple[Partition, ...]
    since: str
    note: str
    status: Status
    source: str
    seen_orders: tuple[tuple[int, ...], ...]


def _by_name(gpu: str, name: str, among: Mapping[str, T]) -> T:
    for key, each in among.items():
        if key.lower() == name.lower():
            return each
    raise CatalogError(f"{gpu} has no profile {name!r}", place=gpu, remedy=f"it offers: {', '.join(among) or 'none'}")
