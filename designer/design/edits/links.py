"""Links: add, remove, change, hang to another part, turn round."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Literal

from designer.design.bends import moved_along
from designer.design.document import Block, Link
from designer.design.edit import (
    BlockEdit,
    ChangeFields,
    RemoveEntries,
    add,
    change,
    changed,
    demand,
    put,
    several,
)
from designer.design.references import is_pattern, reaches
from designer.errors import DocumentError


@dataclass(frozen=True)
class AddLinks(BlockEdit):
    """Put new links into a block."""

    links: tuple[Link, ...]

    @property
    def label(self) -> str:
        if len(self.links) == 1:
            return f"Connect {self.links[0].a} to {self.links[0].b}"
        return f"Add {len(self.links)} links"

    def change(self, block: Block) -> Block:
        for link in self.links:
            check_ends(block, link, self)
        return add(block, "links", self.links, self.within)


@dataclass(frozen=True)
class RemoveLinks(RemoveEntries):
    """Take links out."""

    what = "links"


@dataclass(frozen=True)
class ChangeLinks(ChangeFields):
    """Change the same fields of some links: kind, count, bandwidth_per_direction, generation, lanes …"""

    what = "links"
    fixed = ("id", "a", "b")


@dataclass(frozen=True)
class Reconnect(BlockEdit):
    """Hang one end of a link to another part."""

    id: str
    side: Literal["a", "b"]
    to: str
    port: str = ""

    @property
    def label(self) -> str:
        return f"Connect {self.id} to {self.to}"

    def change(self, block: Block) -> Block:
        changes = {self.side: self.to, f"{self.side}_port": self.port}
        new = change(block, "links", (self.id,), changes, self.within)
        check_ends(block, new.links[self.id], self)
        return moved_along(block, new)


@dataclass(frozen=True)
class BendLinks(BlockEdit):
    """Draw the ways of links by hand: their corners from a to b, see ``Link.bends``; without corners they are found."""

    bends: Mapping[str, tuple[tuple[int, int], ...]]

    @property
    def label(self) -> str:
        return f"{'Bend' if any(self.bends.values()) else 'Straighten'} {several(tuple(self.bends), 'link', 'links')}"

    @property
    def subject(self) -> Hashable:
        return (self.within, frozenset(self.bends))

    def change(self, block: Block) -> Block:
        demand(block, "links", tuple(self.bends), self.within)
        found: list[Link] = []
        for link_id, points in self.bends.items():
            bends = [{"x": x, "y": y} for x, y in points]
            place = self.place("links", link_id)
            found.append(changed(block.links[link_id], {"bends": bends}, place))
        return put(block, "links", found)


def check_ends(block: Block, link: Link, edit: BlockEdit) -> None:
    """Refuse a link whose ends are not two parts.

    Raises
    ------
    DocumentError
        If an end is missing or both are the same.
    """
    for side, path in (("a", link.a), ("b", link.b)):
        wild = is_pattern(path) or "*" in path
        if wild or not reaches(block, path):
            raise DocumentError(
                f"it would end at {path!r}, which {'is many parts' if wild else 'does not exist'}",
                place=edit.place("links", link.id, side),
                remedy="use a wiring for many" if wild else "check the id against the outline",
            )
    if link.a == link.b:
        raise DocumentError(
            "both ends are the same part", place=edit.place("links", link.id), remedy="choose another part"
        )
