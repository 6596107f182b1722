"""Ways drawn by hand that follow what they join: with the container of both ends, and with both ends together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from designer.design.address import Ref
from designer.design.document import Block, Group, Link, Part, Position, replaced
from designer.memo import memo

_B = TypeVar("_B", bound=Block)
Chain = tuple[Ref, ...]


def tops(block: Block, link: Link) -> tuple[Ref, Ref] | None:
    """The things at both ends that are side by side in one container; None where one end contains the other."""
    one, other = (_chain(block, path) for path in (link.a, link.b))
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    return None if same in (len(one), len(other)) else (one[same], other[same])


def _chain(block: Block, path: str) -> Chain:
    """What an end of a link is in, from the outermost to itself, or to the group it is in."""
    head, _, inner = path.partition("/")
    found: list[Ref] = []
    above: str | None = head
    if inner:
        group = block.groups.get(head.partition("[")[0])
        if group is None:
            return ()
        found.append(Ref("groups", group.id))
        above = group.parent
    while above is not None and above in block.parts and len(found) <= len(block.parts):
        found.append(Ref("parts", above))
        above = block.parts[above].parent
    return tuple(reversed(found))


def moved_along(before: Block, after: _B) -> _B:
    """A block in which things moved or links were hung elsewhere, with the ways drawn by hand moved where both ends
    moved in the same way, and given up where the ends meet in another container."""
    changed: list[Link] = []
    for link in _bent_links(after.links):
        old, ends = tops(before, before.links.get(link.id, link)), tops(after, link)
        steps = {_step(before, after, ref) for ref in ends or ()}
        step = steps.pop() if len(steps) == 1 else None
        if step is not None and old == ends:
            if step != (0, 0):
                changed.append(link.model_copy(update={"bends": shifted_bends(link.bends, *step)}))
        elif old is None or ends is None or _parent(before, old[0]) != _parent(after, ends[0]):
            changed.append(link.model_copy(update={"bends": ()}))
    return after.model_copy(update={"links": replaced(after.links, changed)}) if changed else after


@memo(most=16)
def _bent_links(links: Mapping[str, Link]) -> tuple[Link, ...]:
    """Links drawn by hand; few, and looked for among all of them at every step of a drag."""
    return tuple(link for link in links.values() if link.bends)


def shifted_top(block: _B, dx: int, dy: int) -> _B:
    """A block the things at whose top moved, with the ways of links between those moved too."""
    changed: list[Link] = []
    for link in block.links.values():
        ends = tops(block, link) if link.bends else None
        if ends is not None and _parent(block, ends[0]) is None:
            changed.append(link.model_copy(update={"bends": shifted_bends(link.bends, dx, dy)}))
    return block.model_copy(update={"links": replaced(block.links, changed)}) if changed else block


def shifted_bends(bends: tuple[Position, ...], dx: int, dy: int) -> tuple[Position, ...]:
    """Corners moved by a distance."""
    return tuple(Position(x=p.x + dx, y=p.y + dy) for p in bends)


def _step(before: Block, after: Block, ref: Ref) -> tuple[int, int] | None:
    """How far a thing moved; None if that is not known."""
    old, new = (_items_of(block, ref).get(ref.id) for block in (before, after))
    if old is None or new is None or old.position is None or new.position is None:
        return None
    return new.position.x - old.position.x, new.position.y - old.position.y


def _parent(block: Block, ref: Ref) -> str | None:
    return _items_of(block, ref)[ref.id].parent


def _items_of(block: Block, ref: Ref) -> Mapping[str, Part | Group]:
    return block.parts if ref.what == "parts" else block.groups
