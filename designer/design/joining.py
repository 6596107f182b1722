"""What joins what in one block, as numbers of parts: containment, the ends of links, the links that wirings make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from designer.design.document import MAX_PARTS, Block, Wiring
from designer.errors import DocumentError
from designer.registry import discover

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Selection:
    """The parts a path chose.

    Parameters
    ----------
    index : (n_members, n_columns) part numbers; a row per group member, a column per matching part id;
        −1 where a member that is an exception has no such part
    last : size of the innermost group, for patterns that count within it
    """

    index: Indices
    last: int

    @property
    def flat(self) -> Indices:
        """All parts, member by member. : (n_parts,)"""
        places = self.index.ravel()
        return places[places >= 0]

    @property
    def places(self) -> Indices:
        """All places, member by member, −1 where there is no part; so the parts of one member lacking moves no other.
        : (n_members * n_columns,)"""
        return self.index.ravel()


def present(a: Indices, b: Indices) -> tuple[Indices, Indices]:
    """The pairs of places where there is a part on both sides."""
    keep = (a >= 0) & (b >= 0)
    return a[keep], b[keep]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A wiring pattern: ``join`` gives the part numbers of both ends of every link, equally long.

    ``links`` states how many links that will be, so that too many are refused before they are made; None means one
    for each part of the first side.
    """

    name: str
    title: str
    join: Callable[[Selection, Selection], tuple[Indices, Indices]]
    help: str = ""
    links: Callable[[Selection, Selection], int] | None = None

    def count(self, a: Selection, b: Selection) -> int:
        """Number of links `join` would make."""
        return self.links(a, b) if self.links is not None else a.index.size


Int = npt.NDArray[np.int64]
#: the parts of a block that a path chooses
Choose = Callable[[str], Selection]


def patterns() -> Mapping[str, Pattern]:
    """All wiring patterns by name."""
    return discover("designer.design.wiring", "PATTERN", Pattern)


def parents_of(block: Block, local: Mapping[str, int]) -> Sequence[int]:
    """The containing part of each part, −1 at the top; refused where one is missing or contains itself."""
    parents: list[int] = []
    for part in block.parts.values():
        if part.parent is None:
            parents.append(-1)
            continue
        above = local.get(part.parent)
        if above is None:
            raise DocumentError(f"it is contained in {part.parent!r}, which does not exist", place=f"parts.{part.id}")
        parents.append(above)
    _refuse_cycles(block, parents, tuple(local))
    return parents


def _refuse_cycles(block: Block, parents: Sequence[int], ids: Sequence[str]) -> None:
    done = [False] * len(parents)
    for start in range(len(parents)):
        trail: list[int] = []
        at = start
        while at >= 0 and not done[at]:
            if at in trail[-64:] and at in trail:
                raise DocumentError(
                    "it contains itself", place=f"parts.{ids[at]}.parent", remedy="break the circle of parents"
                )
            trail.append(at)
            if len(trail) > len(parents):
                raise DocumentError(
                    "it contains itself", place=f"parts.{ids[at]}.parent", remedy="break the circle of parents"
                )
            at = parents[at]
        for index in trail:
            done[index] = True


def ends_of(block: Block, local: Mapping[str, int], index_of: Callable[[str], int]) -> tuple[Int, Int]:
    """The parts at both ends of each drawn link. : (n_links,), (n_links,)"""
    a, b = np.empty(len(block.links), dtype=np.int64), np.empty(len(block.links), dtype=np.int64)
    for i, link in enumerate(block.links.values()):
        for side, array, path in (("a", a, link.a), ("b", b, link.b)):
            index = local.get(path)
            if index is None:
                if "/" not in path:
                    raise DocumentError(
                        f"it ends at {path!r}, which does not exist",
                        place=f"links.{link.id}.{side}",
                        remedy="delete the link or give it another end",
                    )
                try:
                    index = index_of(path)
                except DocumentError as error:
                    raise error.at(place=f"links.{link.id}.{side}") from None
            array[i] = index
        if a[i] == b[i]:
            raise DocumentError("both ends are the same part", place=f"links.{link.id}", remedy="delete the link")
    return a, b


def refuse_many(wirings: Iterable[Wiring], select: Choose, n_links: int) -> None:
    """Refuse wirings that make too many links together, before any of them is made."""
    for wiring in wirings:
        pattern = patterns().get(wiring.pattern)
        try:
            expected = pattern.count(select(wiring.a), select(wiring.b)) if pattern is not None else 0
        except DocumentError:
            continue  # stated when it is made
        n_links += expected
        if n_links > MAX_PARTS:
            raise DocumentError(
                f"the wiring makes {expected:,} links, {n_links:,} with those before it, more than {MAX_PARTS:,}",
                place=f"wirings.{wiring.id}",
                remedy="use fewer replicas",
            )


def expand_wiring(wiring: Wiring, select: Choose) -> tuple[Int, Int]:
    """The parts at both ends of each link that a wiring makes. : (n_links,), (n_links,)"""
    pattern = patterns().get(wiring.pattern)
    place = f"wirings.{wiring.id}"
    if pattern is None:
        raise DocumentError(
            f"there is no wiring pattern {wiring.pattern!r}", place=place, remedy=f"use one of {', '.join(patterns())}"
        )
    try:
        a, b = select(wiring.a), select(wiring.b)
        for side, chosen in (("a", a), ("b", b)):
            if not chosen.flat.size:
                raise DocumentError(
                    "it chooses no parts", place=f"{place}.{side}", remedy="check the path against the outline"
                )
        joined = pattern.join(a, b)
    except DocumentError as error:
        raise error.at(place=place) from None
    # a part that both sides choose is not linked to itself
    apart = joined[0] != joined[1]
    return joined if apart.all() else (joined[0][apart], joined[1][apart])
