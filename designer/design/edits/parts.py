"""Parts: add, remove, change, give another type, value, id or container."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from designer.catalog.parttype import PartType, SourceRecord, part_kinds, problems_of
from designer.design.address import block_at, missing, with_block
from designer.design.bends import moved_along
from designer.design.document import Block, Design, Part, Position
from designer.design.edit import BlockEdit, ChangeFields, add, change, changed, demand, put, settled, several, with_id
from designer.design.query import contents
from designer.design.references import is_pattern, prune, reaches, rewrite_references
from designer.errors import DocumentError
from designer.fields import Quantity


@dataclass(frozen=True)
class AddParts(BlockEdit):
    """Put new parts into a block, with the part types they need."""

    parts: tuple[Part, ...]
    part_types: tuple[PartType, ...] = ()
    sources: Mapping[str, SourceRecord] = field(default_factory=dict[str, SourceRecord])

    @property
    def label(self) -> str:
        return f"Add {several([p.label for p in self.parts], 'part', 'parts')}"

    def apply(self, design: Design) -> Design:
        design = super().apply(_with_types(design, self.part_types, self.sources))
        for part in self.parts:
            if part.type and part.type not in design.part_types:
                raise DocumentError(
                    f"the design does not have the part type {part.type!r}",
                    place=self.place("parts", part.id, "type"),
                    remedy="give the part type along with the part",
                )
        return design

    def change(self, block: Block) -> Block:
        grown = add(block, "parts", self.parts, self.within)
        for part in self.parts:
            if part.parent is not None and part.parent not in grown.parts:
                raise missing("parts", part.parent, self.within).at(place=self.place("parts", part.id, "parent"))
        _refuse_circles(grown, [p.id for p in self.parts], self)
        return grown


def add_part(part: Part, part_type: PartType | None = None, **where: Any) -> AddParts:
    """The edit that adds one part."""
    return AddParts((part,), () if part_type is None else (part_type,), **where)


@dataclass(frozen=True)
class RemoveParts(BlockEdit):
    """Take parts out, with what they contain and the links that end at any of it."""

    ids: tuple[str, ...]

    @property
    def label(self) -> str:
        return f"Delete {several(self.ids, 'part', 'parts')}"

    def apply(self, design: Design) -> Design:
        block = block_at(design, self.within)
        demand(block, "parts", self.ids, self.within)
        if not self.ids:
            return design
        gone = contents(block, self.ids)
        groups = [g.id for g in block.groups.values() if g.parent in gone]
        block = put(put(block, "parts", removed=gone), "groups", removed=groups)
        return prune(with_block(design, self.within, block), self.within, gone | set(groups))


@dataclass(frozen=True)
class ChangeParts(ChangeFields):
    """Change the same fields of some parts: name, note, attributes, collapsed, kind …"""

    what = "parts"
    fixed = ("id", "parent", "type")


@dataclass(frozen=True)
class SetType(BlockEdit):
    """Give parts a type of the catalog; a type the design does not carry yet comes along.

    Where it takes the place of another type, values given by hand that either of them states give way: they described
    the product that goes. Values that no type states, such as how a part is set up, stay, and so do those of a part
    that had no type.
    """

    ids: tuple[str, ...]
    type: str
    part_type: PartType | None = None
    sources: Mapping[str, SourceRecord] = field(default_factory=dict[str, SourceRecord])

    @property
    def label(self) -> str:
        return f"Make {several(self.ids, 'part', 'parts')} {self.part_type.title if self.part_type else self.type}"

    def apply(self, design: Design) -> Design:
        design = _with_types(design, () if self.part_type is None else (self.part_type,), self.sources)
        part_type = design.part_types.get(self.type)
        if self.type and part_type is None:
            raise DocumentError(
                f"the design does not have the part type {self.type!r}",
                place=self.place("parts", *self.ids[:1], "type"),
                remedy="give the part type along",
            )
        block = block_at(design, self.within)
        changes = {"type": self.type} if part_type is None else {"type": self.type, "kind": part_type.kind}
        block = change(block, "parts", self.ids, changes, self.within)
        if part_type is None:
            return with_block(design, self.within, block)
        before = block_at(design, self.within).parts
        freed = [self._without_overrides(design, before[i], block.parts[i], part_type) for i in self.ids]
        return with_block(design, self.within, put(block, "parts", freed))

    def _without_overrides(self, design: Design, before: Part, part: Part, new: PartType) -> Part:
        old = design.part_types.get(before.type)
        if old is None or old.id == new.id:
            return part
        left = {n: q for n, q in part.overrides.items() if n not in old.values and n not in new.values}
        return (
            part
            if len(left) == len(part.overrides)
            else changed(part, {"overrides": left}, self.place("parts", part.id))
        )


@dataclass(frozen=True)
class SetValue(BlockEdit):
    """Override one value of parts; None takes the override away."""

    ids: tuple[str, ...]
    name: str
    quantity: Quantity | None

    @property
    def label(self) -> str:
        what = f"{self.name} of {several(self.ids, 'part', 'parts')}"
        return f"Reset {what}" if self.quantity is None else f"Set {what} to {self.quantity.value}"

    @property
    def subject(self) -> Hashable:
        return (self.within, self.ids, self.name)

    def change(self, block: Block) -> Block:
        demand(block, "parts", self.ids, self.within)
        return put(block, "parts", [self._with_value(block.parts[i]) for i in self.ids])

    def _with_value(self, part: Part) -> Part:
        at = self.place("parts", part.id)
        kind = part_kinds().get(part.kind)
        if self.quantity is not None and kind is not None:
            known = kind.field(self.name)
            if known is None:
                raise DocumentError(
                    f"a {kind.title} has no value {self.name!r}",
                    place=f"{at}.overrides.{self.name}",
                    remedy=f"use one of {', '.join(f.name for f in kind.fields)}",
                )
            wrong = problems_of(known, self.quantity)
            if wrong:
                raise DocumentError(wrong[0], place=f"{at}.overrides.{self.name}", remedy="correct the value")
        return changed(part, {"overrides": settled(part.overrides, self.name, self.quantity)}, at)


@dataclass(frozen=True)
class SetAttribute(BlockEdit):
    """Set a free text attribute of parts; None takes it away."""

    ids: tuple[str, ...]
    name: str
    text: str | None

    @property
    def label(self) -> str:
        return f"Set {self.name} of {several(self.ids, 'part', 'parts')}"

    @property
    def subject(self) -> Hashable:
        return (self.within, self.ids, self.name)

    def change(self, block: Block) -> Block:
        demand(block, "parts", self.ids, self.within)
        parts = [block.parts[i] for i in self.ids]
        return put(
            block,
            "parts",
            [
                changed(p, {"attributes": settled(p.attributes, self.name, self.text)}, self.place("parts", p.id))
                for p in parts
            ],
        )


@dataclass(frozen=True)
class SetPartId(BlockEdit):
    """Give a part another id; everything that refers to it follows."""

    id: str
    new_id: str

    @property
    def label(self) -> str:
        return f"Call {self.id} {self.new_id}"

    def apply(self, design: Design) -> Design:
        block = block_at(design, self.within)
        renamed = with_id(block, "parts", self.id, self.new_id, self.within)
        if self.new_id == self.id:
            return design
        at = self.place("parts", self.id, "id")
        parts = {
            (self.new_id if key == self.id else key): renamed
            if key == self.id
            else changed(part, {"parent": self.new_id}, at)
            if part.parent == self.id
            else part
            for key, part in block.parts.items()
        }
        inside = [changed(g, {"parent": self.new_id}, at) for g in block.groups.values() if g.parent == self.id]
        block = put(block.model_copy(update={"parts": parts}), "groups", inside)

        def follow(path: str) -> str:
            if path == self.id:
                return self.new_id
            if is_pattern(path) and not reaches(block, path):
                raise DocumentError(f"{path!r} would choose no parts", remedy="change what the wiring chooses first")
            return path

        return rewrite_references(with_block(design, self.within, block), self.within, {self.id}, follow)


@dataclass(frozen=True)
class SetParent(BlockEdit):
    """Move parts and groups of a block into a container, or with None to the top of the block."""

    parts: tuple[str, ...]
    parent: str | None
    groups: tuple[str, ...] = ()
    positions: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])

    @property
    def label(self) -> str:
        return f"Move {several((*self.parts, *self.groups), 'part', 'parts')} to {self.parent or 'the top'}"

    def change(self, block: Block) -> Block:
        demand(block, "parts", (*self.parts, *(() if self.parent is None else (self.parent,))), self.within)
        demand(block, "groups", self.groups, self.within)
        moved = put(block, "parts", [self._with_parent(block.parts[i], "parts") for i in self.parts])
        _refuse_circles(moved, self.parts, self)
        return moved_along(
            block, put(moved, "groups", [self._with_parent(block.groups[i], "groups") for i in self.groups])
        )

    def _with_parent(self, item: Any, what: str) -> Any:
        changes: dict[str, object] = {"parent": self.parent}
        if item.id in self.positions:
            x, y = self.positions[item.id]
            changes["position"] = Position(x=x, y=y)
        return changed(item, changes, self.place(what, item.id))


def _refuse_circles(block: Block, ids: Iterable[str], edit: BlockEdit) -> None:
    for part_id in ids:
        at = block.parts[part_id].parent
        seen = {part_id}
        while at is not None:
            if at in seen:
                raise DocumentError(
                    f"{part_id!r} would contain itself",
                    place=edit.place("parts", part_id, "parent"),
                    remedy="choose a container outside it",
                )
            seen.add(at)
            at = block.parts[at].parent if at in block.parts else None


def _with_types(design: Design, part_types: Iterable[PartType], sources: Mapping[str, SourceRecord]) -> Design:
    design = put(design, "part_types", [t for t in part_types if t.id not in design.part_types])
    new = {key: source for key, source in sources.items() if key not in design.sources}
    return design.model_copy(update={"sources": {**design.sources, **new}}) if new else design
