"""Copies of a selection: what belongs to it, and planting it again under new ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from designer.design.address import BLOCK_COLLECTIONS, AnyAddress, Ref
from designer.design.bends import shifted_top
from designer.design.document import Block, Group, Link, LinkValues, Part, Position, Wiring, with_changes
from designer.design.edit import demand
from designer.design.elaborate import elaborate
from designer.design.ids import Numberer, renumbered
from designer.design.query import contents
from designer.design.references import head, is_pattern, with_head
from designer.design.selectors import parse_selector
from designer.errors import DocumentError

#: more links than this are not drawn one by one in place of a wiring
MAX_WIRING_LINKS = 20_000
_Contained = TypeVar("_Contained", Part, Group)
_B = TypeVar("_B", bound=Block)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The parts and groups of a selection, with all they contain."""

    parts: frozenset[str]
    groups: frozenset[str]

    @property
    def ids(self) -> frozenset[str]:
        """All ids together."""
        return self.parts | self.groups

    def side(self, block: Block, path: str) -> Literal["in", "out", "mixed"]:
        """Whether a path of the block names only chosen parts, none, or some."""
        if "/" in path:
            return "in" if head(path) in self.groups else "out"
        if not is_pattern(path):
            return "in" if path in self.parts else "out"
        found = parse_selector(path).matches(block.parts)
        inside = sum(1 for part_id in found if part_id in self.parts)
        return "out" if not inside else "in" if inside == len(found) else "mixed"


def choose(block: Block, refs: Iterable[Ref], within: AnyAddress = ()) -> Chosen:
    """The parts and groups `refs` name, and what they contain.

    Raises
    ------
    DocumentError
        If one is not there.
    """
    refs = list(refs)
    parts, groups = [r.id for r in refs if r.what == "parts"], [r.id for r in refs if r.what == "groups"]
    demand(block, "parts", parts, within)
    demand(block, "groups", groups, within)
    inside = contents(block, parts)
    held = [g.id for g in block.groups.values() if g.parent in inside]
    return Chosen(frozenset(inside), frozenset([*groups, *held]))


def cut_out(block: Block, chosen: Chosen) -> Block:
    """The chosen things as a block of their own, with the links and wirings among them; outer containers forgotten."""
    parts = {p.id: _without_parent(p, chosen) for p in block.parts.values() if p.id in chosen.parts}
    groups = {g.id: _without_parent(g, chosen) for g in block.groups.values() if g.id in chosen.groups}
    links = {x.id: x for x in block.links.values() if _is_inside(block, chosen, x)}
    wirings = {x.id: x for x in block.wirings.values() if _is_inside(block, chosen, x)}
    return Block(parts=parts, groups=groups, links=links, wirings=wirings)


def _is_inside(block: Block, chosen: Chosen, holder: Link | Wiring) -> bool:
    return chosen.side(block, holder.a) == "in" and chosen.side(block, holder.b) == "in"


def _without_parent(item: _Contained, chosen: Chosen) -> _Contained:
    if item.parent is None or item.parent in chosen.parts:
        return item
    return item.model_copy(update={"parent": None})


def top_left(block: Block) -> tuple[int, int]:
    """The smallest x and y of what is at the top of a block; (0, 0) where nothing has a position."""
    at = [i.position for i in (*block.parts.values(), *block.groups.values()) if i.parent is None and i.position]
    return (min(p.x for p in at), min(p.y for p in at)) if at else (0, 0)


def shifted(position: Position | None, dx: int, dy: int) -> Position | None:
    """A position moved by a distance."""
    return position if position is None or not (dx or dy) else Position(x=position.x + dx, y=position.y + dy)


@dataclass(frozen=True, slots=True)
class Planted:
    """A copy under new ids, and the new id of each old part and group."""

    block: Block
    parts: Mapping[str, str]
    groups: Mapping[str, str]

    def path(self, path: str) -> str:
        """A path of the original as a path of the copy."""
        if "/" in path:
            return with_head(path, self.groups[head(path)])
        return self.parts[path]


def name_of_copy(block: Block, item: Part | Group, new_id: str) -> str:
    """What a copy of a part or group is called in a block; no other item of the block is called the same."""
    return Planter(block).name(item, new_id)


class Planter:
    """Makes copies with ids that are new to a block, one after the other."""

    def __init__(self, block: Block) -> None:
        self.parts, self.groups = Numberer(block.parts), Numberer(block.groups)
        self.links, self.wirings = Numberer(block.links), Numberer(block.wirings)
        self._names = {item.label for item in (*block.parts.values(), *block.groups.values())}
        #: the number that a name got last
        self._last: dict[str, int] = {}

    def name(self, item: Part | Group, new_id: str) -> str:
        """What a copy is called: its number changes as that of its id does; another name gets a number if it is taken.

        What is in a copied container keeps its name: the container distinguishes it.
        """
        name = renumbered(item.name, item.id, new_id)
        if item.parent is None and name and name == item.name and name in self._names:
            k = self._last.get(name, 1) + 1
            while f"{name} {k}" in self._names:
                k += 1
            self._last[name] = k
            name = f"{name} {k}"
        self._names.add(name)
        return name

    def plant(
        self,
        source: Block,
        offset: tuple[int, int] = (0, 0),
        parent: str | None = None,
        wish: Callable[[str], str] = str,
    ) -> Planted:
        """A copy of `source`; what is at its top moves by `offset` and goes into `parent`."""
        part_ids = {old: self.parts.take(wish(old)) for old in source.parts}
        group_ids = {old: self.groups.take(wish(old)) for old in source.groups}

        def item_changes(item: Part | Group, new_id: str) -> dict[str, object]:
            changes: dict[str, object] = {"id": new_id, "name": self.name(item, new_id)}
            if item.parent is None:
                return {**changes, "parent": parent, "position": shifted(item.position, *offset)}
            return {**changes, "parent": part_ids[item.parent]}

        parts = [with_changes(p, **item_changes(p, part_ids[p.id])) for p in source.parts.values()]
        groups = [with_changes(g, **item_changes(g, group_ids[g.id])) for g in source.groups.values()]
        planted = Planted(Block(parts={p.id: p for p in parts}, groups={g.id: g for g in groups}), part_ids, group_ids)
        links = [(x, x.id, x.a, x.b) for x in shifted_top(source, *offset).links.values()]
        wirings: list[Wiring] = []
        for wiring in source.wirings.values():
            if is_pattern(wiring.a) or is_pattern(wiring.b):
                # the pattern would also choose the original's parts
                links += [(wiring, f"{wiring.id}1", a, b) for a, b in links_of_wiring(source, wiring.id)]
            else:
                ends = {"a": planted.path(wiring.a), "b": planted.path(wiring.b)}
                wirings.append(with_changes(wiring, id=self.wirings.take(wish(wiring.id)), **ends))
        new_links = [
            as_link(values, self.links.take(wish(link_id)), planted.path(a), planted.path(b))
            for values, link_id, a, b in links
        ]
        block = planted.block.model_copy(
            update={"links": {x.id: x for x in new_links}, "wirings": {x.id: x for x in wirings}}
        )
        return Planted(block, part_ids, group_ids)


def as_link(values: LinkValues, link_id: str, a: str, b: str) -> Link:
    """A link with the values of a link or wiring."""
    if isinstance(values, Link):
        return with_changes(values, id=link_id, a=a, b=b)
    return Link(id=link_id, a=a, b=b, **values_of(values))


def values_of(values: LinkValues) -> dict[str, Any]:
    """The fields links and wirings have in common."""
    return {name: getattr(values, name) for name in LinkValues.model_fields}


def links_of_wiring(block: Block, wiring_id: str) -> list[tuple[str, str]]:
    """The ends of every link a wiring of the block makes, as paths.

    Raises
    ------
    DocumentError
        If it cannot be joined, or makes more than ``MAX_WIRING_LINKS`` links.
    """
    net = elaborate(block)
    start, stop = next((s, e) for key, s, e in net.wirings if key == wiring_id)
    if stop - start > MAX_WIRING_LINKS:
        raise DocumentError(
            f"the wiring {wiring_id!r} would become {stop - start:,} single links, more than {MAX_WIRING_LINKS:,}",
            remedy="delete the wiring first",
        )
    return [(net.path(int(net.link_a[i])), net.path(int(net.link_b[i]))) for i in range(start, stop)]


def merged(block: _B, extras: Iterable[Block]) -> _B:
    """`block` with everything of the `extras` put in; each collection is copied once."""
    extras = list(extras)
    update: dict[str, object] = {}
    for name in BLOCK_COLLECTIONS:
        new: list[Mapping[str, object]] = [getattr(extra, name) for extra in extras]
        if any(new):
            both: dict[str, object] = dict(getattr(block, name))
            for items in new:
                both.update(items)
            update[name] = both
    return block.model_copy(update=update) if update else block
