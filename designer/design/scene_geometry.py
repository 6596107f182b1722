"""A picture of a design as arrays: absolute boxes and routed connections, and what each of them shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from designer.catalog.describe import briefs
from designer.catalog.parttype import Capability, Domain, PartKind, part_kinds
from designer.design.address import Address, Ref, block_at
from designer.design.boxes import Boxes
from designer.design.connections import BundledLink, Connections
from designer.design.document import Annotation, Block, Design, Group, Part
from designer.design.query import count_kinds
from designer.sources import Status

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

#: the open groups of a picture: addresses of the blocks they show, ``(("pods", None), ("servers", 3))`` for one server
GroupAddress = Address
STATUSES: Final = tuple(Status)
#: what is reported first of what a group holds: capability and, of switches, what they join
_SUMMARY_ORDER: Final = (
    (Capability.ACCELERATE, None),
    (Capability.CONTAIN, None),
    (Capability.SWITCH, Domain.NETWORK),
    (Capability.ATTACH, None),
    (Capability.STORE, None),
    (Capability.SWITCH, Domain.ACCELERATOR),
)


@dataclass(frozen=True, eq=False)
class Geometry:
    """All boxes and connections of a picture. Coordinates and extents are scene units (pixels at 1:1), y grows
    downwards.

    Parameters
    ----------
    rect : (n, 4) x, y, width, height
    origin : (n, 2) where the positions of a box's contents count from
    shift : (n, 2) how far a box is from its place in the document to make room for open groups
    kind : (n,) number in ``kinds``: part kinds, and "group", "note", "frame"; a group of one part has that part's kind
    parent, last, depth : (n,) number of the container or −1; number behind the contents; nesting depth
    is_container : (n,) whether the box is drawn open, around its contents
    is_group : (n,) whether it is a group of ``replicas``
    member : (n,) member that an open group shows, −1 for what all share
    placed : (n,) whether the document gives the position
    block : (n,) number in ``blocks`` of the address of the block the thing is in
    refs : what each box shows
    connection_a, connection_b : (m,) boxes at both ends
    connection_kind : (m,) number in ``connection_kinds``
    connection_count : (m,) links in the bundle
    connection_capacity : (m,) raw capacity of the bundle per direction [B/s]
    connection_status : (m,) number in ``STATUSES`` of the least sure link; assumed ones are drawn dashed
    connection_route : (m, v, 2) the corners of each connection from box a to box b, the last one repeated
    """

    design: Design
    opened: frozenset[GroupAddress]
    rect: Float
    origin: Float
    shift: Float
    kind: Int
    kinds: tuple[str, ...]
    parent: Int
    last: Int
    depth: Int
    is_container: Bool
    is_group: Bool
    replicas: Int
    member: Int
    placed: Bool
    block: Int
    blocks: tuple[Address, ...]
    refs: Sequence[Ref]
    connection_a: Int
    connection_b: Int
    connection_kind: Int
    connection_kinds: tuple[str, ...]
    connection_count: Int
    connection_capacity: Float
    connection_status: Int
    connection_route: Float
    boxes: Boxes = field(repr=False)
    connections: Connections = field(repr=False)
    #: what was worked out once for this picture, and holds for what an update makes of it
    memory: dict[str, Any] = field(default_factory=dict[str, Any], repr=False)

    def __len__(self) -> int:
        return len(self.refs)

    @property
    def n_connections(self) -> int:
        """Number of connections."""
        return len(self.connection_a)

    @property
    def n_behind(self) -> int:
        """How many frames are in front of the boxes of parts and groups, drawn behind them."""
        return sum(a.style == "frame" for a in self.design.annotations.values())

    def address(self, box: int) -> tuple[Address, Ref]:
        """Address of the block a box is drawn in, and what it shows there."""
        return self.blocks[int(self.block[box])], self.refs[box]

    def content_address(self, box: int) -> Address:
        """Address of the block that is inside an open group; else of the block the box is in."""
        within, ref = self.address(box)
        if ref.what != "groups" or not self.is_container[box]:
            return within
        return (*within, (ref.id, None if self.member[box] < 0 else int(self.member[box])))

    @property
    def numbers(self) -> Mapping[tuple[int, Ref], int]:
        """Number of the box of each thing, by the number of its block."""
        known = self.memory.get("numbers")
        if known is None:
            known = self.memory["numbers"] = self._numbers()
        return known

    def _numbers(self) -> dict[tuple[int, Ref], int]:
        return {(block, ref): i for i, (block, ref) in enumerate(zip(self.block.tolist(), self.refs, strict=True))}

    def box_of(self, within: Address, ref: Ref) -> int | None:
        """Number of the box that shows a thing; None if it is not drawn."""
        try:
            block = self.blocks.index(within)
        except ValueError:
            return None
        return self.numbers.get((block, ref))

    def thing(self, box: int) -> Part | Group | Annotation:
        """What a box shows."""
        within, ref = self.address(box)
        if ref.what == "annotations":
            return self.design.annotations[ref.id]
        block = self.content(within)
        return block.parts[ref.id] if ref.what == "parts" else block.groups[ref.id]

    def content(self, within: Address) -> Block:
        """The block at an address."""
        return block_at(self.design, within) if within else self.design

    def label(self, box: int) -> str:
        """Name of what a box shows, for people."""
        thing = self.thing(box)
        return thing.text if isinstance(thing, Annotation) else thing.label

    def detail(self, box: int) -> str:
        """Second line of a card: the product, or what a group or closed container holds."""
        thing = self.thing(box)
        if isinstance(thing, Annotation):
            return ""
        if isinstance(thing, Group):
            if self.is_container[box]:
                shown = int(self.member[box])
                return f"each of {thing.replicas}" if shown < 0 else f"member {shown} of {thing.replicas}"
            content = thing.content
            if len(content.parts) == 1 and not content.groups:
                return self._product_of(next(iter(content.parts.values())))
            return summary(content)
        return self._product_of(thing)

    def briefs(self, box: int) -> tuple[str, ...]:
        """What a card may say of its part where the product does not fit, best first."""
        thing = self.thing(box)
        if not isinstance(thing, Part):
            return ()
        part_type = self.design.type_of(thing)
        return briefs(thing.kind, {**(part_type.values if part_type else {}), **thing.overrides})

    def _product_of(self, part: Part) -> str:
        """The product a part is, without the vendor's name."""
        part_type = self.design.type_of(part)
        if part_type is None:
            return part.attributes.get("product", "")
        return part_type.title.removeprefix(f"{part_type.vendor} ") if part_type.vendor else part_type.title

    def connection_links(self, connection: int) -> tuple[Address, tuple[BundledLink, ...]]:
        """Address of the block a connection is drawn in, and the links and wirings it represents."""
        return self.blocks[int(self.connections.block[connection])], self.connections.links[connection]

    def bounds(self, boxes: Bool | None = None, connections: Bool | None = None) -> tuple[float, float, float, float]:
        """x, y, width and height of the whole picture, or of marked boxes and connections; zeros when there is nothing.

        Parameters
        ----------
        boxes, connections : (n,), (m,) or None: all
        """
        rect = self.rect if boxes is None else self.rect[boxes]
        if not len(rect):
            return 0.0, 0.0, 0.0, 0.0
        low = rect[:, :2].min(axis=0)
        high = (rect[:, :2] + rect[:, 2:]).max(axis=0)
        chosen = np.arange(self.n_connections) if connections is None else np.flatnonzero(connections)
        if len(chosen):
            reach = self.connection_route[chosen]
            low = np.minimum(low, reach.min(axis=(0, 1)))
            high = np.maximum(high, reach.max(axis=(0, 1)))
        return float(low[0]), float(low[1]), float(high[0] - low[0]), float(high[1] - low[1])

    def at(self, x: float, y: float) -> int | None:
        """The innermost box at a point, the one drawn last; None on empty canvas."""
        r = self.rect
        hit = np.flatnonzero((r[:, 0] <= x) & (x <= r[:, 0] + r[:, 2]) & (r[:, 1] <= y) & (y <= r[:, 1] + r[:, 3]))
        return int(hit[-1]) if len(hit) else None

    def position(self, box: int) -> tuple[int, int]:
        """Position of a box as a document would give it: relative to its container, open groups closed."""
        above = int(self.parent[box])
        base = self.origin[above] if above >= 0 else np.zeros(2)
        x, y = self.origin[box] - base - self.shift[box]
        return round(float(x)), round(float(y))


def summary(block: Block) -> str:
    """What a block holds, in a few words: ``8 GPUs · 10 NICs · 2 CPUs``; what computes and joins comes first."""
    counts = count_kinds(block)
    known = part_kinds()

    def rank(name: str) -> tuple[int, int, str]:
        kind = known.get(name)
        if kind is None:
            return len(_SUMMARY_ORDER), 0, name
        stated = (
            n for n, (has, domain) in enumerate(_SUMMARY_ORDER) if has in kind.capabilities and _is_in(kind, domain)
        )
        return next(stated, len(_SUMMARY_ORDER)), kind.order, name

    words: list[str] = []
    for name in sorted(counts, key=rank):
        kind = known.get(name)
        many = counts[name]
        if many == 1 and kind is not None and Capability.CONTAIN in kind.capabilities and len(counts) > 1:
            continue  # a group of servers need not say that each is one
        word = name.replace("_", " ") if kind is None else kind.title if many == 1 else kind.plural
        words.append(f"{many} {word}")
    return " · ".join(words[:3])


def _is_in(kind: PartKind, domain: Domain | None) -> bool:
    return domain is None or (kind.passes(domain, domain) and Capability.ROOT not in kind.capabilities)
