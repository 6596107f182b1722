"""Placement on the canvas: place, move, resize, align, distribute, same size, collapse.

Positions are scene units relative to the container. Things without a position are where the canvas laid them out,
so edits that start from where something is take ``start``: the places it is drawn at.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from designer.design.address import Ref, block_at, get_item, singular, where_stored, with_block
from designer.design.bends import moved_along
from designer.design.document import Block, Design, Position, Size
from designer.design.edit import BlockEdit, changed, put, several

#: extent of a thing that has no size of its own and is not in ``extents``, scene units
DEFAULT_EXTENT = (160, 96)
_LARGEST = 10_000_000
Point = tuple[int, int]
Points = Mapping[Ref, Point]


@dataclass(frozen=True, kw_only=True)
class _Arrangement(BlockEdit):
    """Base: ``start`` states where things without a position are drawn, ``extents`` how large those without a size."""

    start: Points = field(default_factory=dict[Ref, Point])
    extents: Points = field(default_factory=dict[Ref, Point])

    def _point_of(self, ref: Ref, item: Any) -> Point:
        return (item.position.x, item.position.y) if item.position is not None else self.start.get(ref, (0, 0))

    def _extent(self, ref: Ref, item: Any) -> Point:
        size = getattr(item, "size", None)
        return (size.width, size.height) if size is not None else self.extents.get(ref, DEFAULT_EXTENT)

    def _with_points(self, block: Block, points: Points) -> Block:
        return moved_along(block, update(self, block, points, lambda item, ref: {"position": _position(*points[ref])}))


@dataclass(frozen=True)
class Place(BlockEdit):
    """Put things at given positions: the end of a drag, an automatic layout."""

    positions: Points
    title: str = "Move"

    @property
    def label(self) -> str:
        return f"{self.title} {_count_text(self.positions)}"

    @property
    def subject(self) -> Hashable:
        return (self.within, frozenset(self.positions))

    def change(self, block: Block) -> Block:
        places = {ref: _position(*at) for ref, at in self.positions.items()}
        return moved_along(block, update(self, block, places, lambda item, ref: {"position": places[ref]}))


@dataclass(frozen=True)
class Resize(BlockEdit):
    """Give a part or note another size and, when dragged at the left or top, position."""

    ref: Ref
    size: Point | None
    position: Point | None = None

    @property
    def label(self) -> str:
        return f"Resize {_count_text((self.ref,))}"

    @property
    def subject(self) -> Hashable:
        return (self.within, self.ref)

    def change(self, block: Block) -> Block:
        changes: dict[str, object] = {"size": None if self.size is None else _size(*self.size)}
        if self.position is not None:
            changes["position"] = _position(*self.position)
        return update(self, block, (self.ref,), lambda item, ref: changes)


@dataclass(frozen=True)
class Align(_Arrangement):
    """Align things at one side or their middle."""

    refs: tuple[Ref, ...]
    side: Literal["left", "center", "right", "top", "middle", "bottom"]

    @property
    def label(self) -> str:
        return f"Align {_count_text(self.refs)} {self.side}"

    def change(self, block: Block) -> Block:
        axis = 0 if self.side in ("left", "center", "right") else 1
        share = {"left": 0, "top": 0, "center": 1, "middle": 1, "right": 2, "bottom": 2}[self.side]
        items = {ref: get_item(block, ref, self.within) for ref in self.refs}
        if len(items) < 2:
            return block
        spans = {ref: (self._point_of(ref, i)[axis], self._extent(ref, i)[axis]) for ref, i in items.items()}
        low, high = min(a for a, _ in spans.values()), max(a + n for a, n in spans.values())
        points: dict[Ref, Point] = {}
        for ref, item in items.items():
            value = low + (high - low - spans[ref][1]) * share // 2
            points[ref] = _with_coordinate(self._point_of(ref, item), axis, value)
        return self._with_points(block, points)


@dataclass(frozen=True)
class Distribute(_Arrangement):
    """Make the gaps between things equal; the outermost two stay where they are."""

    refs: tuple[Ref, ...]
    direction: Literal["horizontal", "vertical"]

    @property
    def label(self) -> str:
        return f"Distribute {_count_text(self.refs)} {self.direction}ly"

    def change(self, block: Block) -> Block:
        axis = 0 if self.direction == "horizontal" else 1
        items = {ref: get_item(block, ref, self.within) for ref in self.refs}
        if len(items) < 3:
            return block
        order = sorted(items, key=lambda ref: (self._point_of(ref, items[ref])[axis], ref))
        starts = [self._point_of(ref, items[ref])[axis] for ref in order]
        extents = [self._extent(ref, items[ref])[axis] for ref in order]
        free = starts[-1] - starts[0] - sum(extents[:-1])
        points: dict[Ref, Point] = {}
        before = 0
        for i, ref in enumerate(order):
            value = starts[0] + before + round(free * i / (len(order) - 1))
            points[ref] = _with_coordinate(self._point_of(ref, items[ref]), axis, value)
            before += extents[i]
        return self._with_points(block, points)


@dataclass(frozen=True)
class MatchSize(_Arrangement):
    """Make things as wide, as high or both as the first of them."""

    refs: tuple[Ref, ...]
    width: bool = True
    height: bool = True

    @property
    def label(self) -> str:
        return f"Same size for {_count_text(self.refs)}"

    def change(self, block: Block) -> Block:
        if not self.refs:
            return block
        model = self._extent(self.refs[0], get_item(block, self.refs[0], self.within))

        def resized(item: Any, ref: Ref) -> Mapping[str, object]:
            own = self._extent(ref, item)
            return {"size": _size(model[0] if self.width else own[0], model[1] if self.height else own[1])}

        return update(self, block, [r for r in self.refs if r.what != "groups"], resized)


@dataclass(frozen=True)
class SetCollapsed(BlockEdit):
    """Close or open containers and groups; seen through one member, for all that are no exceptions."""

    refs: tuple[Ref, ...]
    collapsed: bool

    def apply(self, design: Design) -> Design:
        """A way of looking makes no member an exception."""
        within = where_stored(design, self.within)
        block = block_at(design, within)
        changed = self.change(block)
        return design if changed is block else with_block(design, within, changed)

    @property
    def label(self) -> str:
        return f"{'Close' if self.collapsed else 'Open'} {_count_text(self.refs)}"

    def change(self, block: Block) -> Block:
        return update(self, block, self.refs, lambda item, ref: {"collapsed": self.collapsed})


def update(
    edit: BlockEdit, block: Block, refs: Iterable[Ref], changes: Callable[[Any, Ref], Mapping[str, object]]
) -> Block:
    """`block` with fields of different things changed, each collection copied once."""
    new: dict[str, list[Any]] = {}
    for ref in refs:
        item = get_item(block, ref, edit.within)
        fields = changes(item, ref)
        new.setdefault(ref.what, []).append(changed(item, fields, edit.place(ref.what, ref.id)))
    for what, items in new.items():
        block = put(block, what, items)  # type: ignore[arg-type]
    return block


def _count_text(refs: Iterable[Ref]) -> str:
    refs = tuple(refs)
    return several(refs, singular(refs[0].what) if refs else "thing", "things")


def _with_coordinate(point: Point, axis: int, value: int) -> Point:
    return (value, point[1]) if axis == 0 else (point[0], value)


def _position(x: int, y: int) -> Position:
    return Position(x=max(-_LARGEST, min(_LARGEST, int(x))), y=max(-_LARGEST, min(_LARGEST, int(y))))


def _size(width: int, height: int) -> Size:
    return Size(width=max(8, min(1_000_000, int(width))), height=max(8, min(1_000_000, int(height))))
