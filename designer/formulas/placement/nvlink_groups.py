"""NVLink device groups of 2, 4 or 8 GPUs: which partition a group takes, and which NVLinks that cuts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from designer.errors import AnalysisError, CatalogError
from designer.formulas.formula import Formula
from designer.formulas.placement._shapes import BoardLike, PartitionLike

SOURCES: Final = ("nvidia-fabric-manager", "nvidia-aie-user-guide", "denneman-2026-device-groups")


@dataclass(frozen=True, slots=True)
class NvlinkGroup:
    """A group on a board: the partition, its modules, NVLinks each GPU keeps, and the pairs that are cut off."""

    partition: int
    modules: tuple[int, ...]
    links_per_gpu: int
    cut: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """Groups in the order asked for (None where there was no partition), and the modules still free."""

    groups: tuple[NvlinkGroup | None, ...]
    free: tuple[int, ...]

    @property
    def fits(self) -> bool:
        """True if every group has a partition."""
        return all(group is not None for group in self.groups)


def group_name(size: int, profile: str) -> str:
    """Name of a device group as the vSphere client shows it, such as ``Nvidia:2@grid_a100x-40c%NVLink``.

    Parameters
    ----------
    size
        GPUs in the group.
    profile
        vSphere name of the full-frame-buffer C profile.
    """
    return f"Nvidia:{size}@{profile.lower()}%NVLink"


def nvlink_groups(
    board: BoardLike, sizes: Sequence[int], *, taken: Iterable[int] = (), largest_first: bool = False
) -> GroupPlan:
    """Partitions for groups of the given sizes on one board.

    Parameters
    ----------
    board
        With its partition table, by module ID.
    sizes
        GPUs per group: 1 is a single GPU without NVLink; in order of power-on.
    taken
        Modules in use, by a group or a single machine.
    largest_first
        Plan all groups together instead of in order of power-on: largest first never misses a plan on these tables.

    Raises
    ------
    AnalysisError
        If the board has no partition of a size, such as 3.
    CatalogError
        If a taken module is not on the board.

    Notes
    -----
    A group takes what is already broken: the partition whose largest wholly free parent is smallest. On an untouched
    board the upper half goes first, so that modules 1–4 stay whole.

    Sources
    -------
    Fabric Manager tables; post of 2026-03-31 for the order.
    """
    used = set(taken)
    foreign = used - set(board.modules)
    if foreign:
        raise CatalogError(
            f"module {min(foreign)} is not on {board.id}", place=board.id, remedy="give module IDs, not PCI order"
        )
    for size in sizes:
        _partitions(board, size)
    order = sorted(range(len(sizes)), key=lambda at: -sizes[at]) if largest_first else list(range(len(sizes)))
    groups: list[NvlinkGroup | None] = [None] * len(sizes)
    for at in order:
        choice = _choose(board, sizes[at], used)
        if choice is not None:
            used |= set(choice.modules)
            groups[at] = NvlinkGroup(choice.id, choice.modules, choice.links_per_gpu, cut_pairs(board, choice.modules))
    return GroupPlan(tuple(groups), tuple(module for module in board.modules if module not in used))


def cut_pairs(board: BoardLike, modules: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Pairs (module in the group, module outside) whose NVLink path is switched off; all pairs of a single GPU.

    Raises
    ------
    CatalogError
        If a module is not on the board.
    """
    foreign = set(modules) - set(board.modules)
    if foreign:
        raise CatalogError(f"module {min(foreign)} is not on {board.id}", place=board.id, remedy="give module IDs")
    inside = set(modules)
    return tuple((mine, other) for mine in sorted(inside) for other in board.modules if other not in inside)


def _partitions(board: BoardLike, size: int) -> list[PartitionLike]:
    found = [each for each in board.partitions if len(each.modules) == size]
    if not found:
        offered = sorted({len(each.modules) for each in board.partitions})
        raise AnalysisError(
            f"there is no device group of {size} GPUs on {board.id}",
            place=board.id,
            remedy=f"choose {', '.join(map(str, offered))}",
        )
    return found


def _choose(board: BoardLike, size: int, used: set[int]) -> PartitionLike | None:
    free = [each for each in _partitions(board, size) if not used & set(each.modules)]
    if not free:
        return None
    whole = [each for each in board.partitions if not used & set(each.modules)]

    def preference(candidate: PartitionLike) -> tuple[int, int, int]:
        parents = [each for each in whole if set(candidate.modules) < set(each.modules)]
        broken = max((len(each.modules) for each in parents), default=0)
        half = min(_half_of(board, candidate))
        return (broken, -half, candidate.id)

    return min(free, key=preference)


def _half_of(board: BoardLike, candidate: PartitionLike) -> tuple[int, ...]:
    """The smallest half-board that holds the candidate, or the candidate itself."""
    halves = [
        each.modules
        for each in board.partitions
        if len(each.modules) * 2 == len(board.modules) and set(candidate.modules) <= set(each.modules)
    ]
    return halves[0] if halves else candidate.modules


FORMULA: Final = Formula(
    name="nvlink-groups",
    title="NVLink device groups on a board",
    function=nvlink_groups,
    sources=SOURCES,
    valid_when="HGX A100, H100, H200 and B200 boards, and NVLink bridges; full-frame-buffer time-sliced C profiles",
)
