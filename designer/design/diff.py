"""What changed between two designs. What both share is the same object, so only what was touched is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from designer.catalog.parttype import part_kinds
from designer.design.address import (
    BLOCK_COLLECTIONS,
    DESIGN_COLLECTIONS,
    Address,
    What,
    address_text,
    block_at,
    collection,
    singular,
)
from designer.design.document import Block, Design, Group
from designer.fields import Quantity

MOVES = frozenset({"position", "size", "collapsed"})
#: of things that changed in the same way so many are named
_NAMED = 2
_PROPERTIES = tuple(n for n in Design.model_fields if n not in BLOCK_COLLECTIONS and n not in DESIGN_COLLECTIONS)


@dataclass(frozen=True, slots=True)
class Changes:
    """Ids of one collection that were added, removed and changed, each in the order of the designs."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    def __len__(self) -> int:
        return len(self.added) + len(self.removed) + len(self.changed)


NOTHING = Changes()


@dataclass(frozen=True, slots=True)
class BlockDiff:
    """What changed in the collections of one block. A group is changed if its own fields or set of exceptions is."""

    collections: Mapping[What, Changes]

    def __getitem__(self, what: What) -> Changes:
        return self.collections.get(what, NOTHING)


@dataclass(frozen=True, slots=True)
class Diff:
    """What changed between two designs.

    Parameters
    ----------
    blocks
        By address, ``()`` for the design itself, whose collections include virtual machines, workloads and so on;
        only blocks in which something changed. A group that was added or removed has no entries for its content.
    properties
        Names of the changed fields of the design that are not collections.
    """

    before: Design
    after: Design
    blocks: Mapping[Address, BlockDiff] = field(default_factory=dict[Address, BlockDiff])
    properties: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.blocks or self.properties)

    def __getitem__(self, what: What) -> Changes:
        """Changes of a collection at the top of the design."""
        return self.at((), what)

    def at(self, within: Address, what: What) -> Changes:
        """Changes of a collection of the block at an address."""
        block = self.blocks.get(within)
        return NOTHING if block is None else block[what]

    def fields(self, within: Address, what: What, item_id: str) -> tuple[str, ...]:
        """Which fields of a changed thing differ."""
        old = collection(block_at(self.before, within), what)[item_id]
        new = collection(block_at(self.after, within), what)[item_id]
        return changed_fields(old, new)

    @property
    def only_placement(self) -> bool:
        """True if things only moved, so that no result changes; notes count as placement."""
        if self.properties:
            return False
        for within, block in self.blocks.items():
            for what, changes in block.collections.items():
                if what == "annotations":
                    continue
                if changes.added or changes.removed:
                    return False
                if any(set(self.fields(within, what, i)) - MOVES for i in changes.changed):
                    return False
        return True

    @property
    def only_folds(self) -> bool:
        """True if containers and groups were only opened or closed."""
        return (
            bool(self.blocks)
            and not self.properties
            and all(
                not changes.added
                and not changes.removed
                and all(self.fields(within, what, i) == ("collapsed",) for i in changes.changed)
                for within, block in self.blocks.items()
                for what, changes in block.collections.items()
            )
        )

    def lines(self, limit: int = 1000) -> list[str]:
        """The changes in words, one line each."""
        found: list[str] = []
        for line in self._lines():
            if len(found) >= limit:
                found.append("…")
                break
            found.append(line)
        return found

    def folded(self, limit: int = 200) -> list[str]:
        """The changes in words, one line for all things of a kind that changed in the same way."""
        equal: dict[tuple[str, str], list[str]] = {}
        for kind, name, rest in self._changed_items():
            equal.setdefault((kind, rest), []).append(name)
        found = [*self._property_lines()]
        for (kind, rest), names in equal.items():
            more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
            found.append(f"{kind} {', '.join(names[:_NAMED])}{more}{rest}")
        return found if len(found) <= limit else [*found[:limit], f"… and {len(found) - limit:,} more lines"]

    def _lines(self) -> Iterator[str]:
        yield from self._property_lines()
        yield from (f"{kind} {name}{rest}" for kind, name, rest in self._changed_items())

    def _property_lines(self) -> Iterator[str]:
        for name in self.properties:
            old, new = getattr(self.before, name), getattr(self.after, name)
            if isinstance(old, BaseModel):
                yield from (f"{name}.{line}" for line in _field_lines(old, new))
            elif isinstance(old, Mapping):
                yield f"{name} changed"
            else:
                yield f"{name}: {_text(old)} → {_text(new)}"

    def _changed_items(self) -> Iterator[tuple[str, str, str]]:
        """What was added, removed and changed: what happened to what kind, its name, where and how."""
        for within, block in self.blocks.items():
            where = f" in {address_text(within)}" if within else ""
            old_block, new_block = _block(self.before, within), _block(self.after, within)
            for what, changes in block.collections.items():
                for item_id in changes.added:
                    kind, name = _name(what, collection(new_block, what)[item_id])
                    yield f"added {kind}", name, where
                for item_id in changes.removed:
                    kind, name = _name(what, collection(old_block, what)[item_id])
                    yield f"removed {kind}", name, where
                for item_id in changes.changed:
                    old, new = collection(old_block, what)[item_id], collection(new_block, what)[item_id]
                    kind, name = _name(what, new)
                    how = ", ".join(_field_lines(old, new)) or "placement"
                    yield f"changed {kind}", name, f"{where}: {how}"


def _block(design: Design, within: Address) -> Block:
    return block_at(design, within)


def diff(before: Design, after: Design) -> Diff:
    """What changed from `before` to `after`."""
    if before is after:
        return Diff(before, after)
    blocks: dict[Address, BlockDiff] = {}
    _compare(before, after, (), blocks)
    properties = tuple(n for n in _PROPERTIES if _differ(getattr(before, n), getattr(after, n)))
    return Diff(before, after, blocks, properties)


def _differ(a: object, b: object) -> bool:
    return a is not b and a != b


def _compare(before: Block, after: Block, within: Address, blocks: dict[Address, BlockDiff]) -> None:
    if before is after:
        return
    names = (*BLOCK_COLLECTIONS, *DESIGN_COLLECTIONS) if isinstance(after, Design) else BLOCK_COLLECTIONS
    found: dict[What, Changes] = {}
    inner: list[tuple[Group, Group]] = []
    for what in names:
        old, new = collection(before, what), collection(after, what)
        if old is new:
            continue
        others = [(k, old.get(k), v) for k, v in new.items() if old.get(k) is not v]
        added = tuple(k for k, a, _ in others if a is None)
        touched = [(k, a, b) for k, a, b in others if a is not None]
        removed = tuple(k for k in old if k not in new) if len(old) + len(added) != len(new) else ()
        if what == "groups":
            inner = [(a, b) for _, a, b in touched]
            changed = tuple(k for k, a, b in touched if _header_differs(a, b))
        else:
            changed = tuple(k for k, a, b in touched if a != b)
        changes = Changes(added, removed, changed)
        if changes:
            found[what] = changes
    if found:
        blocks[within] = BlockDiff(found)
    for old_group, new_group in inner:
        _compare(old_group.content, new_group.content, (*within, (new_group.id, None)), blocks)
        for k in sorted(old_group.exceptions.keys() | new_group.exceptions.keys()):
            if k < old_group.replicas and k < new_group.replicas:
                _compare(old_group.member(k), new_group.member(k), (*within, (new_group.id, k)), blocks)


def _header_differs(old: Group, new: Group) -> bool:
    return old.exceptions.keys() != new.exceptions.keys() or bool(changed_fields(old, new))


def changed_fields(old: BaseModel, new: BaseModel) -> tuple[str, ...]:
    """Names of the fields in which two things of a class differ; of groups all but content and exceptions."""
    skipped = ("content", "exceptions") if isinstance(new, Group) else ()
    return tuple(n for n in type(new).model_fields if n not in skipped and _differ(getattr(old, n), getattr(new, n)))


def _field_lines(old: BaseModel, new: BaseModel) -> Iterator[str]:
    for name in changed_fields(old, new):
        if name in MOVES:
            continue
        a, b = getattr(old, name), getattr(new, name)
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            yield from _mapping_lines(name, a, b)
        else:
            yield f"{name} {_text(a)} → {_text(b)}"
    if isinstance(old, Group) and isinstance(new, Group):
        for k in sorted(new.exceptions.keys() - old.exceptions.keys()):
            yield f"member {k} became an exception"
        for k in sorted(old.exceptions.keys() - new.exceptions.keys()):
            yield f"member {k} is no exception any more"


def _mapping_lines(name: str, a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[str]:
    for key in sorted(a.keys() | b.keys()):
        old, new = a.get(key), b.get(key)
        if old == new:
            continue
        if isinstance(old, Quantity) and isinstance(new, Quantity) and old.value == new.value:
            yield f"{name}.{key} by another source: {_source(old)} → {_source(new)}"
        else:
            yield f"{name}.{key} {_text(old)} → {_text(new)}"


def _source(value: Quantity) -> str:
    return f"{value.source or '–'} ({value.status})"


def _text(value: object) -> str:
    if value is None or value == "":
        return "–"
    if isinstance(value, Quantity):
        return str(value.value)
    text = str(value) if isinstance(value, str | int | float) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _name(what: What, item: Any) -> tuple[str, str]:
    """The kind of a thing and how it is called."""
    label = getattr(item, "title", "") or getattr(item, "name", "")
    named = f"{item.id} ({label})" if label and label != item.id else item.id
    if what == "parts":
        kind = part_kinds().get(item.kind)
        return kind.title if kind else item.kind, named
    if what == "links":
        return f"{item.kind} link", f"{item.id} ({item.a} – {item.b})"
    if what == "groups":
        return "group", f"{named} × {item.replicas}"
    return singular(what), named
