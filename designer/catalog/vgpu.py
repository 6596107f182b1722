"""Virtual GPU types: profiles, placement IDs, MIG geometry and NVLink partitions, read from ``assets/vgpu``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Final, cast

from designer.catalog.vgpu_types import MigProfile, NvlinkBoard, Partition, VgpuProfile, VgpuType
from designer.errors import CatalogError
from designer.resources import assets
from designer.sources import Status
from designer.units import parse_size

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
