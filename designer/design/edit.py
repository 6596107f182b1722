"""What every edit is, and the pieces they share.

An edit is a frozen dataclass. It refuses what cannot be done with a ``DocumentError`` and returns the very same
design when there is nothing to do. Only what changes is built again, through its constructor; the rest is shared.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

from pydantic import ValidationError

from designer.design.address import AnyAddress, Ref, What, block_at, collection, missing, place, singular, with_block
from designer.design.document import Block, Design, with_changes
from designer.design.validation import refused
from designer.errors import DocumentError
from designer.fields import Frozen

_B = TypeVar("_B", bound=Block)
_M = TypeVar("_M", bound=Frozen)


class Edit(Protocol):
    """A change of a design that can be done, named and merged with the next one."""

    @property
    def label(self) -> str:
        """What it does, for menus and the history."""
        ...

    @property
    def merge_key(self) -> Hashable | None:
        """Consecutive edits with equal keys are one step of the history; None never merges."""
        ...

    def apply(self, design: Design) -> Design:
        """The changed design.

        Raises
        ------
        DocumentError
            If it cannot be done.
        """
        ...


@dataclass(frozen=True)
class Extended:
    """Base of edits that do another one and then more; named and merged as that one."""

    edit: Edit

    @property
    def label(self) -> str:
        return self.edit.label

    @property
    def merge_key(self) -> Hashable | None:
        return self.edit.merge_key


@dataclass(frozen=True, kw_only=True)
class DesignEdit:
    """Base of all edits. ``gesture`` names a drag, nudge or slider: its edits merge into one step."""

    gesture: Hashable | None = None

    @property
    def merge_key(self) -> Hashable | None:
        return None if self.gesture is None else (type(self).__name__, self.gesture, self.subject)

    @property
    def subject(self) -> Hashable:
        """What it changes; only edits of the same subject merge."""
        return ()

    @property
    def label(self) -> str:
        raise NotImplementedError

    def apply(self, design: Design) -> Design:
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class BlockEdit(DesignEdit):
    """Base of edits of one block: ``within`` is its address, see ``designer.design.address``."""

    within: AnyAddress = ()

    def apply(self, design: Design) -> Design:
        block = block_at(design, self.within)
        changed = self.change(block)
        return design if changed is block else with_block(design, self.within, changed)

    def change(self, block: Block) -> Block:
        """The changed block."""
        raise NotImplementedError

    def place(self, *rest: str) -> str:
        """Place of something in this edit's block."""
        return place(self.within, *rest)


@dataclass(frozen=True)
class ChangeFields(BlockEdit):
    """Base of edits that change the same fields of some things of one collection."""

    #: the collection, and its fields that are not changed this way
    what: ClassVar[What]
    fixed: ClassVar[tuple[str, ...]] = ("id",)

    ids: tuple[str, ...]
    changes: Mapping[str, object]

    @property
    def label(self) -> str:
        return f"Change {' and '.join(self.changes)} of {several(self.ids, singular(self.what), self.what)}"

    @property
    def subject(self) -> Hashable:
        return (self.within, self.ids, tuple(self.changes))

    def change(self, block: Block) -> Block:
        return change(block, self.what, self.ids, self.changes, self.within, self.fixed)


@dataclass(frozen=True)
class RemoveEntries(BlockEdit):
    """Base of edits that take things out of one collection."""

    what: ClassVar[What]

    ids: tuple[str, ...]

    @property
    def label(self) -> str:
        return f"Delete {several(self.ids, singular(self.what), self.what)}"

    def change(self, block: Block) -> Block:
        return remove(block, self.what, self.ids, self.within)


def put(block: _B, what: What, items: Iterable[Any] = (), removed: Iterable[str] = ()) -> _B:
    """`block` with `items` put into a collection and ids taken out; itself if that changes nothing."""
    old = collection(block, what)
    new = [item for item in items if old.get(item.id) is not item]
    gone = [key for key in removed if key in old]
    if not new and not gone:
        return block
    copy = dict(old)
    for key in gone:
        copy.pop(key, None)
    for item in new:
        copy[item.id] = item
    return block.model_copy(update={what: copy})


def add(block: _B, what: What, items: Iterable[Any], within: AnyAddress = ()) -> _B:
    """`block` with new `items` in a collection.

    Raises
    ------
    DocumentError
        If one of the ids is taken.
    """
    items = list(items)
    old = collection(block, what, within)
    seen: set[str] = set()
    for item in items:
        if item.id in old or item.id in seen:
            raise DocumentError(
                f"there is already a {singular(what)} {item.id!r}",
                place=place(within, what, item.id),
                remedy="choose another id",
            )
        seen.add(item.id)
    return put(block, what, items)


def remove(block: _B, what: What, ids: Iterable[str], within: AnyAddress = ()) -> _B:
    """`block` without the things called `ids`.

    Raises
    ------
    DocumentError
        If one is not there.
    """
    ids = list(ids)
    demand(block, what, ids, within)
    return put(block, what, removed=ids)


def demand(block: Block, what: What, ids: Iterable[str], within: AnyAddress = ()) -> None:
    """Refuse ids that are not in a collection.

    Raises
    ------
    DocumentError
        If one is not there.
    """
    known = collection(block, what, within)
    for item_id in ids:
        if item_id not in known:
            raise missing(what, item_id, within)


def change(
    block: _B,
    what: What,
    ids: Iterable[str],
    changes: Mapping[str, object],
    within: AnyAddress = (),
    fixed: Iterable[str] = ("id",),
) -> _B:
    """`block` with the same fields of some things changed; fields called `fixed` are refused.

    Raises
    ------
    DocumentError
        If a thing or field does not exist or cannot have the value.
    """
    ids = list(ids)
    demand(block, what, ids, within)
    known = collection(block, what)
    return put(block, what, [changed(known[i], changes, place(within, what, i), fixed) for i in ids])


def with_id(block: Block, what: What, old: str, new: str, within: AnyAddress) -> Any:
    """The thing called `old` with the id `new`.

    Raises
    ------
    DocumentError
        If it is not there, or the new id is taken or impossible.
    """
    demand(block, what, (old,), within)
    known, at = collection(block, what), place(within, what, old)
    renamed = changed(known[old], {"id": new}, at, fixed=())
    if new != old and new in known:
        text = f"there is already a {singular(what)} {new!r}"
        raise DocumentError(text, place=f"{at}.id", remedy="choose another id")
    return renamed


def changed(item: _M, changes: Mapping[str, object], at: str, fixed: Iterable[str] = ("id",)) -> _M:
    """`item` with fields changed; itself if they are as they were.

    Raises
    ------
    DocumentError
        If a field does not exist, is fixed, or cannot have the value.
    """
    for name in changes:
        if name not in type(item).model_fields or name in fixed:
            raise DocumentError(
                f"{name!r} cannot be changed here", place=f"{at}.{name}", remedy="choose a field of this thing"
            )
    try:
        new = with_changes(item, **changes)
    except ValidationError as error:
        raise refused(error, at) from None
    return item if new == item else new


def settled(old: Mapping[str, Any], key: str, value: Any) -> dict[str, Any]:
    """A copy of a mapping with one value put in, or taken out where it is None."""
    return {k: v for k, v in {**old, key: value}.items() if v is not None}


def several(items: Iterable[str | Ref], one: str, many: str) -> str:
    """Words for a label: "GPU gpu0", "3 parts"."""
    ids = [item.id if isinstance(item, Ref) else item for item in items]
    return f"{one} {ids[0]}" if len(ids) == 1 else f"{len(ids)} {many}"
