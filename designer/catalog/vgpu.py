"""Virtual GPU types: profiles, placement IDs, MIG geometry and NVLink partitions, read from ``assets/vgpu``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar, cast

from designer.errors import CatalogError
from designer.resources import assets
from designer.sources import Status
from designer.units import parse_duration, parse_rate, parse_size

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


@dataclass(frozen=True, slots=True)
class PublishedStun:
    """One cell of a table.

    Parameters
    ----------
    framebuffer, gpus
        Used frame buffer over all GPUs [B], and their number.
    memory
        Guest memory [B]; None where the table does not give it.
    stun
        Stun [s]; None where the migration ran into the limit of 100 s.
    """

    framebuffer: float
    gpus: int
    memory: float | None
    stun: float | None


@dataclass(frozen=True, slots=True)
class StunTable:
    """A published table: release, GPU generation, line rate [B/s], and whether it was measured or estimated."""

    id: str
    title: str
    release: str
    generation: str
    line_rate: float
    kind: str
    source: str
    rows: tuple[PublishedStun, ...]


def load_stun_tables(file: Path | None = None) -> Mapping[str, StunTable]:
    """All published tables by id; the shipped ones if no file is given.

    Raises
    ------
    CatalogError
        If the file cannot be read or misses a value.
    """
    return _tables(file or assets() / "vgpu" / "published" / "stun.toml")


@lru_cache(maxsize=1024)
def _tables(file: Path) -> Mapping[str, StunTable]:
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        tables = [_table(entry) for entry in data["tables"]]
    except (KeyError, TypeError, tomllib.TOMLDecodeError, OSError) as problem:
        raise CatalogError(f"cannot be read: {problem!r}", file=file.name, remedy="correct the file") from problem
    return MappingProxyType({table.id: table for table in tables})


def _table(entry: dict[str, Any]) -> StunTable:
    return StunTable(
        id=entry["id"],
        title=entry["title"],
        release=entry["release"],
        generation=entry["generation"],
        line_rate=parse_rate(entry["line_rate"]),
        kind=entry["kind"],
        source=entry["source"],
        rows=tuple(_row(row) for row in entry["rows"]),
    )


def _row(row: dict[str, Any]) -> PublishedStun:
    return PublishedStun(
        framebuffer=parse_size(row["framebuffer"]),
        gpus=int(row.get("gpus", 1)),
        memory=parse_size(row["memory"]) if "memory" in row else None,
        stun=parse_duration(row["stun"]) if "stun" in row else None,
    )


__all__ = [
    "MigProfile",
    "NvlinkBoard",
    "Partition",
    "VgpuProfile",
    "VgpuType",
    "load_boards",
    "load_vgpu_types",
]

SERIES: Final = {"C": "compute", "Q": "workstation", "B": "desktop", "A": "applications"}
ARCHITECTURES: Final = ("maxwell", "pascal", "volta", "turing", "ampere", "ada", "hopper", "blackwell")


def load_vgpu_types(folder: Path | None = None) -> Mapping[str, VgpuType]:
    """All GPU types with virtual GPUs, by id, sorted.

    Parameters
    ----------
    folder
        Folder of the files; the shipped catalog if not given.

    Raises
    ------
    CatalogError
        If a file is no TOML, misses a value, has an unknown key, or contradicts itself.
    """
    return _types(folder or assets() / "vgpu")


def load_boards(folder: Path | None = None) -> Mapping[str, NvlinkBoard]:
    """All boards with NVLink partitions, by id, sorted.

    Raises
    ------
    CatalogError
        As `load_vgpu_types`.
    """
    return _boards(folder or assets() / "vgpu" / "boards")


@lru_cache(maxsize=1024)
def _types(folder: Path) -> Mapping[str, VgpuType]:
    return MappingProxyType({path.stem: _read_type(path) for path in sorted(folder.glob("*.toml"))})


@lru_cache(maxsize=1024)
def _boards(folder: Path) -> Mapping[str, NvlinkBoard]:
    return MappingProxyType({path.stem: _read_board(path) for path in sorted(folder.glob("*.toml"))})


class _Table:
    """A TOML table whose every key is asked for once; what is left over is an error."""

    def __init__(self, data: object, file: Path, place: str = "") -> None:
        self.file, self.place = file, place
        if not isinstance(data, dict):
            raise self.error("a table is expected here")
        self.data = dict(cast("dict[str, object]", data))

    def error(self, text: str, remedy: str = "correct the file") -> CatalogError:
        """An error at this place."""
        return CatalogError(text, file=self.file.name, place=self.place or None, remedy=remedy)

    def take(self, key: str, kind: type, default: object = None) -> object:
        """The value of `key`, checked to be of `kind`."""
        value = self.data.pop(key, default)
        if value is None:
            raise self.error(f"{key!r} is missing")
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.error(f"{key!r} is {value!r}, not {kind.__name__}")
        return value

    def text(self, key: str, default: str | None = None) -> str:
        """Text."""
        return str(self.take(key, str, default))

    def count(self, key: str, default: int | None = None, least: int = 0) -> int:
        """A whole number of at least `least`."""
        value = cast("int", self.take(key, int, default))
        if value < least:
            raise self.error(f"{key!r} is {value}", f"give at least {least}")
        return value

    def flag(self, key: str, *, default: bool | None = None) -> bool:
        """True or false."""
        return bool(self.take(key, bool, default))

    def counts(self, key: str, default: tuple[int, ...] | None = None) -> tuple[int, ...]:
        """Whole numbers, ascending."""
        values = cast("list[object]", self.take(key, list, None if default is None else list(default)))
        if any(not isinstance(value, int) or isinstance(value, bool) for value in values):
            raise self.error(f"{key!r} holds something that is no whole number")
        return tuple(cast("list[int]", values))

    def tables(self, key: str) -> list[_Table]:
        """Tables in a list."""
        rows = cast("list[object]", self.take(key, list, []))
        return [_Table(row, self.file, f"{key}[{at}]") for at, row in enumerate(rows)]

    def status(self, key: str) -> Status:
        """How sure a value is."""
        value = self.text(key)
        try:
            return Status(value)
        except ValueError as problem:
            raise self.error(f"{key!r} is {value!r}", f"choose one of {', '.join(Status)}") from problem

    def done(self) -> None:
        """Refuse unknown keys."""
        if self.data:
            raise self.error(f"unknown key {min(self.data)!r}", "remove it or correct its spelling")


def _open(path: Path, kind: str) -> _Table:
    try:
        table = _Table(tomllib.loads(path.read_text(encoding="utf-8")), path)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as problem:
        raise CatalogError(f"cannot be read: {problem}", file=path.name, remedy="correct the file") from problem
    if table.text("id") != path.stem:
        raise table.error("the id differs from the name of the file", "give both the same name")
    if table.text("kind") != kind:
        raise table.error(f"this is no file of kind {kind!r}")
    return table


def _read_type(path: Path) -> VgpuType:
    table = _open(path, "vgpu")
    prefix = _Table(
        table.take("vsphere_prefix", dict, {"value": "", "status": "unverified", "source": ""}), path, "vsphere_prefix"
    )
    regions = table.count("regions", least=1)
    mixed = table.flag("mixed_size")
    read = VgpuType(
        id=path.stem,
        title=table.text("title"),
        prefix=table.text("prefix"),
        vsphere_prefix=prefix.text("value"),
        vsphere_status=prefix.status("status"),
        architecture=table.text("architecture"),
        regions=regions,
        mixed_size=mixed,
        compute_slices=table.count("compute_slices", 0),
        memory_slices=table.count("memory_slices", 0),
        large_instances_high=table.flag("large_instances_high", default=False),
        note=table.text("note", ""),
        profiles=tuple(_read_profile(row, regions, mixed) for row in table.tables("profiles")),
        mig=tuple(_read_mig(row) for row in table.tables("mig")),
    )
    prefix.text("source")
    prefix.done()
    table.done()
    _check_type(read, table)
    return read


def _read_profile(row: _Table, regions: int, mixed: bool) -> VgpuProfile:
    profile = VgpuProfile(
        name=row.text("name"),
        series=row.text("series"),
        framebuffer=parse_size(row.text("framebuffer")),
        size=row.count("size", least=1),
        most=row.count("most", least=1),
        starts=row.counts("starts"),
        status=row.status("status"),
        source=row.text("source"),
        starts_status=row.status("starts_status"),
    )
    row.done()
    if profile.series not in SERIES or profile.name != f"{profile.size}{profile.series}":
        raise row.error(f"{profile.name!r} is not its size and series", "name it as in 40C")
    if profile.size > regions or any(start < 0 or start + profile.size > regions for start in profile.starts):
        raise row.error(f"{profile.name} lies outside the frame buffer of {regions}")
    if any(after < before + profile.size for before, after in pairwise(profile.starts)):
        raise row.error(f"starts of {profile.name} overlap or descend")
    if mixed != bool(profile.starts):
        raise row.error(f"starts of {profile.name} contradict mixed_size = {str(mixed).lower()}")
    return profile


def _read_mig(row: _Table) -> MigProfile:
    profile = MigProfile(
        name=row.text("name"),
        instance=row.text("instance"),
        framebuffer=parse_size(row.text("framebuffer")),
        compute=row.count("compute", least=1),
        memory=row.count("memory", least=1),
        starts=row.counts("starts"),
        most=row.count("most", least=1),
        media=row.flag("media"),
        status=row.status("status"),
        source=row.text("source"),
        starts_status=row.status("starts_status"),
    )
    row.done()
    return profile


def _check_type(read: VgpuType, table: _Table) -> None:
    names = [each.name for each in (*read.profiles, *read.mig)]
    if len(set(names)) != len(names):
        raise table.error("a profile name is given twice")
    if read.architecture not in ARCHITECTURES:
        raise table.error(f"unknown architecture {read.architecture!r}", f"choose one of {', '.join(ARCHITECTURES)}")
    if bool(read.mig) != bool(read.memory_slices and read.compute_slices):
        raise table.error("MIG profiles need compute_slices and memory_slices, and the reverse")
    for each in read.mig:
        inside = all(start >= 0 and start + each.memory <= read.memory_slices for start in each.starts)
        if not each.starts or not inside or each.compute > read.compute_slices:
            raise table.error(f"{each.name} lies outside the slices of the GPU")


def _read_board(path: Path) -> NvlinkBoard:
    table = _open(path, "vgpu-board")
    gpus = tuple(str(each) for each in cast("list[object]", table.take("gpus", list, [])))
    orders = cast("list[list[int]]", table.take("seen_orders", list, []))
    board = NvlinkBoard(
        id=path.stem,
        title=table.text("title"),
        gpus=gpus,
        modules=table.counts("modules"),
        partitions=tuple(_read_partition(row) for row in table.tables("partitions")),
        since=table.text("since", ""),
        note=table.text("note", ""),
        status=table.status("status"),
        source=table.text("source"),
        seen_orders=tuple(tuple(order) for order in orders),
    )
    table.done()
    known = set(board.modules)
    if any(not each.modules or set(each.modules) - known for each in board.partitions):
        raise table.error("a partition names a module the board does not have")
    if len({each.id for each in board.partitions}) != len(board.partitions):
        raise table.error("a partition id is given twice")
    if any(sorted(order) != sorted(known) for order in board.seen_orders):
        raise table.error("a module order does not name every module once")
    return board


def _read_partition(row: _Table) -> Partition:
    partition = Partition(row.count("id"), row.counts("modules"), row.count("links_per_gpu"))
    row.done()
    return partition
