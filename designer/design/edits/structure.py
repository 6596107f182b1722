"""Structure: delete with healing, insert into a link, make and dissolve groups, single members as exceptions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from designer.catalog.parttype import PartType, fitting_links, part_kinds
from designer.design.address import AnyAddress, Ref, block_at, get_group, missing, with_block
from designer.design.bends import shifted_top
from designer.design.copies import (
    Chosen,
    Planted,
    Planter,
    choose,
    cut_out,
    links_of_wiring,
    merged,
    top_left,
    values_of,
)
from designer.design.document import Block, Design, Group, Link, Part, Position, Wiring, with_changes
from designer.design.edit import BlockEdit, add, changed, demand, put, remove, several
from designer.design.ids import Numberer, next_id
from designer.design.query import links_of
from designer.design.rates import raw_rate
from designer.design.references import head, is_pattern, prune, rewrite_references
from designer.design.selectors import parse_selector
from designer.design.validation import check_size
from designer.errors import DocumentError

#: scene units between members laid out next to each other
_GAP = 48
_EXTENT = (160, 96)
_MAX_UNGROUPED = 20_000


@dataclass(frozen=True)
class Delete(BlockEdit):
    """Take things of any sort out: the Delete key. With ``heal`` the neighbours of a part in a chain are joined."""

    refs: tuple[Ref, ...]
    heal: bool = False

    @property
    def label(self) -> str:
        return f"Delete {several(self.refs, 'part', 'things')}"

    def apply(self, design: Design) -> Design:
        block = block_at(design, self.within)
        chosen = choose(block, self.refs, self.within)
        if self.heal:
            for ref in self.refs:
                if ref.what == "parts":
                    block = _bridge_gap(block, ref.id)
        for what in ("links", "wirings"):
            block = remove(block, what, [r.id for r in self.refs if r.what == what], self.within)
        block = put(put(block, "parts", removed=chosen.parts), "groups", removed=chosen.groups)
        design = with_block(design, self.within, block)
        if chosen.ids:
            design = prune(design, self.within, chosen.ids)
        for what in ("vms", "workloads", "assertions", "waivers", "racks", "annotations"):
            design = remove(design, what, [r.id for r in self.refs if r.what == what])
        return _without_orphans(design)


def _without_orphans(design: Design) -> Design:
    promises = [a for a in design.assertions.values() if a.workload is not None]
    orphans = [a.id for a in promises if a.workload not in design.workloads]
    design = put(design, "assertions", removed=orphans)
    if design.default_workload and design.default_workload not in design.workloads:
        design = design.model_copy(update={"default_workload": next(iter(design.workloads), "")})
    return design


def _bridge_gap(block: Block, part_id: str) -> Block:
    """`block` with the two neighbours of a part joined, if it has just two links of one kind that may join them."""
    links = links_of(block, part_id)
    if len(links) != 2 or links[0].kind != links[1].kind:
        return block
    ends = [(x.b, x.b_port) if x.a == part_id else (x.a, x.a_port) for x in links]
    if ends[0][0] == ends[1][0] or part_id in (ends[0][0], ends[1][0]) or not _may_join(block, links[0].kind, ends):
        return block
    slow = min(links, key=lambda x: raw_rate(x)[0])
    joined = with_changes(
        slow,
        a=ends[0][0],
        a_port=ends[0][1],
        b=ends[1][0],
        b_port=ends[1][1],
        id=links[0].id,
        count=min(x.count for x in links),
        bends=(),
    )
    return put(put(block, "links", removed=(links[1].id,)), "links", (joined,))


def _may_join(block: Block, kind: str, ends: Iterable[tuple[str, str]]) -> bool:
    parts = [block.parts.get(path) for path, _ in ends]
    known = [p.kind for p in parts if p is not None and p.kind in part_kinds()]
    return len(known) < 2 or kind in fitting_links(known[0], known[1])


@dataclass(frozen=True)
class InsertIntoLink(BlockEdit):
    """Put a new part into a link: what was one link is then two of the same kind."""

    link: str
    part: Part
    part_type: PartType | None = None

    @property
    def label(self) -> str:
        return f"Insert {self.part.label} into {self.link}"

    def apply(self, design: Design) -> Design:
        if self.part_type is not None and self.part_type.id not in design.part_types:
            design = put(design, "part_types", (self.part_type,))
        return super().apply(design)

    def change(self, block: Block) -> Block:
        demand(block, "links", (self.link,), self.within)
        link = block.links[self.link]
        kind = part_kinds().get(self.part.kind)
        if kind is not None and kind.port_for(link.kind) is None:
            raise DocumentError(
                f"a {kind.title} has no port for {link.kind}",
                place=self.place("parts", self.part.id),
                remedy="insert a part that has one",
            )
        grown = add(block, "parts", (self.part,), self.within)
        if self.part.parent is not None and self.part.parent not in block.parts:
            raise missing("parts", self.part.parent, self.within)
        first = with_changes(link, b=self.part.id, b_port="", bends=())
        second = with_changes(link, id=next_id(block.links, link.id), a=self.part.id, a_port="", bends=())
        return put(grown, "links", (first, second))


@dataclass(frozen=True)
class MakeGroup(BlockEdit):
    """Make a group of the selected things; links to outside become links of every member."""

    refs: tuple[Ref, ...]
    id: str
    replicas: int = 1
    name: str = ""

    @property
    def label(self) -> str:
        return f"Make group {self.name or self.id}"

    def apply(self, design: Design) -> Design:
        block = block_at(design, self.within)
        chosen = choose(block, self.refs, self.within)
        at = self.place("groups", self.id)
        if not chosen.ids:
            raise DocumentError("nothing is selected that a group can hold", place=at, remedy="select parts")
        if self.id in block.groups:
            raise DocumentError(f"there is already a group {self.id!r}", place=at, remedy="choose another id")
        content = cut_out(block, chosen)
        left, top = top_left(content)
        group = changed(
            Group(
                id="group",
                replicas=1,
                content=_shift_content(content, -left, -top),
                parent=_container(block, chosen, at),
            ),
            {"id": self.id, "replicas": self.replicas, "name": self.name, "position": Position(x=left, y=top)},
            at,
            fixed=(),
        )
        rest = put(put(block, "parts", removed=chosen.parts), "groups", removed=chosen.groups)
        rest = put(put(rest, "links", removed=content.links), "wirings", removed=content.wirings)
        if self.replicas > 1:
            rest = self._spread(block, rest, chosen)
        rest = put(rest, "groups", (group,))
        design = rewrite_references(
            with_block(design, self.within, rest),
            self.within,
            chosen.ids,
            lambda path: f"{self.id}[0]/{path}" if chosen.side(block, path) == "in" else path,
            lambda path: self._map_selector(block, chosen, path),
        )
        return check_size(design, at)

    def _spread(self, block: Block, rest: Block, chosen: Chosen) -> Block:
        """Links from inside to outside as wirings from all members."""
        names = Numberer(block.wirings)
        crossing = [
            x for x in rest.links.values() if chosen.side(block, x.a) == "in" or chosen.side(block, x.b) == "in"
        ]
        wirings = [
            Wiring(
                id=names.take(link.id),
                pattern="mesh",
                a=f"{self.id}[*]/{link.a}" if chosen.side(block, link.a) == "in" else link.a,
                b=f"{self.id}[*]/{link.b}" if chosen.side(block, link.b) == "in" else link.b,
                **values_of(link),
            )
            for link in crossing
        ]
        return put(put(rest, "links", removed=[x.id for x in crossing]), "wirings", wirings)

    def _map_selector(self, block: Block, chosen: Chosen, path: str) -> str:
        side = chosen.side(block, path)
        if side == "mixed":
            raise DocumentError(
                f"{path!r} chooses parts inside and outside the new group",
                remedy="delete the wiring first, or select all the parts it chooses",
            )
        return f"{self.id}[*]/{path}" if side == "in" else path


def _shift_content(content: Block, dx: int, dy: int) -> Block:
    """Content with what is at its top moved."""

    def moved(item: Any) -> Any:
        if item.parent is not None or item.position is None:
            return item
        return item.model_copy(update={"position": Position(x=item.position.x + dx, y=item.position.y + dy)})

    parts, groups = [moved(p) for p in content.parts.values()], [moved(g) for g in content.groups.values()]
    return shifted_top(put(put(content, "parts", parts), "groups", groups), dx, dy)


def _container(block: Block, chosen: Chosen, at: str) -> str | None:
    outer = {block.parts[p].parent for p in chosen.parts} | {block.groups[g].parent for g in chosen.groups}
    outer -= chosen.parts
    if len(outer) > 1:
        raise DocumentError(
            "the selected things stand in different containers", place=at, remedy="select things of one container"
        )
    return next(iter(outer), None)


@dataclass(frozen=True)
class Ungroup(BlockEdit):
    """Dissolve a group: its members become parts of the block, each with its links."""

    id: str

    @property
    def label(self) -> str:
        return f"Ungroup {self.id}"

    def apply(self, design: Design) -> Design:
        block = block_at(design, self.within)
        group = get_group(block, self.id, self.within)
        size = sum(len(b.parts) + len(b.links) + len(b.groups) for b in _members(group))
        if size > _MAX_UNGROUPED:
            raise DocumentError(
                f"{size:,} things would stand single, more than {_MAX_UNGROUPED:,}",
                place=self.place("groups", self.id),
                remedy="lower its replicas first",
            )
        block = self._unroll_wirings(block)
        rest = put(block, "groups", removed=(self.id,))
        copies = self._plant_members(rest, group)
        grown = merged(rest, [c.block for c in copies])
        return rewrite_references(
            with_block(design, self.within, grown),
            self.within,
            {self.id},
            lambda path: self._map_path(copies, path),
            lambda path: self._map_selector(grown, group, copies, path),
        )

    def _unroll_wirings(self, block: Block) -> Block:
        """`block` with its wirings into the group drawn link by link."""
        into = [w for w in block.wirings.values() if self._is_inside(w.a) or self._is_inside(w.b)]
        names = Numberer(block.links)
        links = [
            Link(id=names.take(f"{w.id}1"), a=a, b=b, **values_of(w))
            for w in into
            for a, b in links_of_wiring(block, w.id)
        ]
        return put(put(block, "links", links), "wirings", removed=[w.id for w in into])

    def _is_inside(self, path: str) -> bool:
        return "/" in path and head(path) == self.id

    def _plant_members(self, rest: Block, group: Group) -> list[Planted]:
        planter = Planter(rest)
        x, y = (group.position.x, group.position.y) if group.position is not None else (0, 0)
        step = _width(group.content) + _GAP
        if group.replicas == 1:
            return [planter.plant(group.member(0), (x, y), group.parent)]
        return [
            planter.plant(block, (x + k * step, y), group.parent, lambda old, k=k: f"{self.id}{k}-{old}"[:200])
            for k, block in enumerate(_members(group))
        ]

    def _map_path(self, copies: list[Planted], path: str) -> str | None:
        if not self._is_inside(path):
            return path
        step = parse_selector(path).steps[0]
        inner = path.split("/", 1)[1]
        if step.low >= len(copies):
            return None
        copy = copies[step.low]
        known = copy.groups if "/" in inner else copy.parts
        return copy.path(inner) if head(inner) in known else None

    def _map_selector(self, grown: Block, group: Group, copies: list[Planted], path: str) -> str | None:
        if not self._is_inside(path):
            return path
        inner = path.split("/", 1)[1]
        if group.replicas == 1:
            if "/" in inner or not is_pattern(inner):
                return self._map_path(copies, path)
            wanted = {copies[0].parts[p] for p in parse_selector(inner).matches(copies[0].parts)}
            if set(parse_selector(inner).matches(grown.parts)) == wanted:
                return inner
        raise DocumentError(
            f"{path!r} reaches into the group {self.id!r}", remedy="delete the wiring first, or ungroup from outside in"
        )


def _members(group: Group) -> list[Block]:
    return [group.member(k) for k in range(min(group.replicas, _MAX_UNGROUPED + 1))]


def _width(block: Block) -> int:
    rights = [0]
    for item in (*block.parts.values(), *block.groups.values()):
        if item.parent is None and item.position is not None:
            size = item.size if isinstance(item, Part) else None
            rights.append(item.position.x + (size.width if size is not None else _EXTENT[0]))
    return max(rights) or _EXTENT[0]


@dataclass(frozen=True)
class ResetException(BlockEdit):
    """Make members of a group like the others again; without ``members`` all of them."""

    group: str
    members: tuple[int, ...] | None = None

    @property
    def label(self) -> str:
        if self.members is None:
            return f"Reset all exceptions of {self.group}"
        return f"Reset {several([f'{self.group}[{m}]' for m in self.members], 'member', 'members')}"

    def apply(self, design: Design) -> Design:
        block = block_at(design, self.within)
        group = get_group(block, self.group, self.within)
        members = tuple(group.exceptions) if self.members is None else self.members
        for member in members:
            if member not in group.exceptions:
                raise DocumentError(
                    f"member {member} is like the others already",
                    place=self.place("groups", self.group, "exceptions"),
                    remedy="choose a member that is an exception",
                )
        if not members:
            return design
        kept = {k: b for k, b in group.exceptions.items() if k not in members}
        block = put(block, "groups", (group.model_copy(update={"exceptions": kept}),))
        design = with_block(design, self.within, block)
        for member in members:
            own = group.exceptions[member]
            gone = (own.parts.keys() - group.content.parts.keys()) | (own.groups.keys() - group.content.groups.keys())
            inside: AnyAddress = (*self.within, (self.group, member))
            if gone:
                design = prune(design, inside, gone)
        return check_size(design, self.place("groups", self.group))
