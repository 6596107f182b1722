"""Gestures as edits: what a drag, a nudge or a connection does to the design, or why it cannot. No Qt."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from designer.catalog.parttype import PartType, part_kinds
from designer.design.address import Address, Ref, block_at
from designer.design.document import Block, Design, Group, Link, Part, Position, Wiring, with_changes
from designer.design.edit import Edit
from designer.design.edits.links import AddLinks, Reconnect
from designer.design.edits.parts import SetParent
from designer.design.edits.placement import Place
from designer.design.edits.structure import InsertIntoLink
from designer.design.edits.wirings import AddWirings
from designer.design.geometry import Geometry, lay_out
from designer.design.ids import next_id, split_number
from designer.design.legality import can_connect, can_contain, can_move_into, free_ports
from designer.design.query import links_of, roots
from designer.gui.canvas.together import Together
from designer.gui.viewmodels.cables import cable_speed, is_cable, port_speed
from designer.sources import Status
from designer.units import format_line_rate, write

Picked = tuple[Address, Ref]
#: ports whose speeds differ by less run at the speed of both
_EQUAL: Final = 0.99
#: lanes of the widest slot
_SLOT: Final = 16
#: ids are at most so long
_LONGEST: Final = 180


@dataclass(frozen=True, slots=True)
class Offer:
    """An edit that may be made, or the reason why not.

    Parameters
    ----------
    kinds
        For a connection, the kinds of link that fit, most usual first.
    note
        What one should know before it is made.
    room
        How many such links the second part takes in all; None if nothing limits them.
    """

    edit: Edit | None = None
    reason: str = ""
    kinds: tuple[str, ...] = ()
    note: str = ""
    room: int | None = None

    @property
    def ok(self) -> bool:
        """True if the link is allowed."""
        return self.edit is not None


def movable(geometry: Geometry, boxes: Iterable[int]) -> list[int]:
    """The boxes without those inside another one of them, in painter's order."""
    found: list[int] = []
    stop = -1
    for box in sorted(set(boxes)):
        if box >= stop:
            found.append(box)
            stop = int(geometry.last[box])
    return found


def move(
    geometry: Geometry, boxes: Sequence[int], dx: float, dy: float, gesture: Hashable | None = None
) -> Edit | None:
    """The edit that moves boxes by a distance in scene units; None if they stay."""
    dx, dy = round(dx), round(dy)
    if not (dx or dy) or not boxes:
        return None
    places: dict[Address, dict[Ref, tuple[int, int]]] = {}
    for box in movable(geometry, boxes):
        within, ref = geometry.address(box)
        x, y = geometry.position(box)
        places.setdefault(within, {})[ref] = (x + dx, y + dy)
    edits = tuple(Place(positions, within=within, gesture=gesture) for within, positions in places.items())
    return edits[0] if len(edits) == 1 else Together(edits, "Move things")


def put_into(geometry: Geometry, boxes: Sequence[int], dx: float, dy: float, container: int) -> Offer:
    """The edit that moves boxes by a distance and into a container; −1 is the canvas itself."""
    boxes = movable(geometry, boxes)
    parts, groups, positions = list[str](), list[str](), dict[str, tuple[int, int]]()
    within: Address = () if container < 0 else geometry.content_address(container)
    origin = (0.0, 0.0) if container < 0 else tuple(geometry.origin[container].tolist())
    parent = None
    if container >= 0 and geometry.refs[container].what == "parts":
        parent = geometry.refs[container].id
    for box in boxes:
        own, ref = geometry.address(box)
        if own != within:
            return Offer(reason="parts cannot be dragged into or out of a group: ungroup it, or copy and paste")
        if ref.what == "parts":
            verdict = can_move_into(geometry.design, ref.id, parent, within)
            if not verdict.ok:
                return Offer(reason=verdict.reason)
            parts.append(ref.id)
        elif ref.what == "groups":
            reason = _group_misfit(geometry, ref.id, within, container)
            if reason:
                return Offer(reason=reason)
            groups.append(ref.id)
        else:
            return Offer(reason="notes are placed on the canvas itself")
        x, y = (geometry.origin[box] - origin).tolist()
        positions[ref.id] = (round(x + dx), round(y + dy))
    return Offer(SetParent(tuple(parts), parent, tuple(groups), positions, within=within))


def _group_misfit(geometry: Geometry, group_id: str, within: Address, container: int) -> str:
    group = block_at(geometry.design, within).groups[group_id]
    if container < 0 or geometry.refs[container].what != "parts":
        return ""
    kind = geometry.kinds[int(geometry.kind[container])]
    for part in roots(group.content):
        verdict = can_contain(geometry.design, kind, part.kind)
        if not verdict.ok:
            return verdict.reason
    return ""


@dataclass(frozen=True, slots=True)
class _Ends:
    """Two ends in their common block; ``shown`` are paths of single members, ``a`` and ``b`` those of all."""

    within: Address
    a: str
    b: str
    shown: tuple[str, str]

    @property
    def many(self) -> bool:
        return "[*]" in self.a or "[*]" in self.b


def connect(geometry: Geometry, a: int, b: int, kind: str | None = None, replacing: str | None = None) -> Offer:
    """The edit that links the parts of two boxes, with the most usual kind of link or `kind`."""
    ends = _ends(geometry, a, b)
    if isinstance(ends, str):
        return Offer(reason=ends)
    verdict = can_connect(geometry.design, *ends.shown, kind=kind, within=ends.within, replacing=replacing)
    if not verdict.ok:
        return Offer(reason=verdict.reason)
    block = block_at(geometry.design, ends.within)
    chosen = verdict.kinds[0]
    goal, own = _end(geometry, b), _end(geometry, a)
    room = (
        None
        if ends.within or goal is None or own is None
        else free_ports(geometry.design, ends.shown[1], chosen, own.kind)
    )
    speed, note = _speed(geometry, chosen, a, b), _slowed(geometry, chosen, a, b)
    if ends.many:
        wiring = Wiring(
            id=next_id(block.wirings, _named(ends)), pattern="mesh", a=ends.a, b=ends.b, kind=chosen, **speed
        )
        return Offer(AddWirings((wiring,), within=ends.within), kinds=verdict.kinds, note=note, room=room)
    link = Link(id=next_id(block.links, _named(ends)), a=ends.a, b=ends.b, kind=chosen, **speed)
    return Offer(AddLinks((link,), within=ends.within), kinds=verdict.kinds, note=note, room=room)


def _speed(geometry: Geometry, kind: str, a: int, b: int) -> dict[str, Any]:
    ends = [_end(geometry, box) for box in (a, b)]
    if ends[0] is None or ends[1] is None:
        return {}
    return link_values(geometry.design, kind, ends[0], ends[1])


def link_values(design: Design, kind: str, a: Part, b: Part) -> dict[str, Any]:
    """Speed of a new link: cables run at that of the slower port, PCIe at what both ends can; other kinds have their
    own.
    """
    if kind == "pcie":
        return _pcie(design, a, b)
    if not is_cable(kind):
        return {}
    speed = cable_speed(design, a, b)
    return {} if speed is None else {"bandwidth_per_direction": write(speed[0], "rate"), "status": speed[1]}


def _pcie(design: Design, a: Part, b: Part) -> dict[str, Any]:
    known = {
        name: [q.value for part in (a, b) if (q := design.quantity(part, name)) is not None and type(q.value) is int]
        for name in ("pcie_generation", "pcie_lanes")
    }
    generations, lanes = known["pcie_generation"], known["pcie_lanes"]
    if not generations:
        return {}
    status = Status.DERIVED if len(generations) > 1 and lanes else Status.ASSUMED
    return {"generation": min(generations), "lanes": min([_SLOT, *lanes]), "status": status}


def _slowed(geometry: Geometry, kind: str, a: int, b: int) -> str:
    """What a cable between ports of unlike speed runs at; empty where they are equivalent."""
    ends = [_end(geometry, box) for box in (a, b)]
    if not is_cable(kind) or ends[0] is None or ends[1] is None:
        return ""
    speeds = [speed[0] for end in ends if end is not None and (speed := port_speed(geometry.design, end)) is not None]
    if len(speeds) < len(ends) or min(speeds) > max(speeds) * _EQUAL:
        return ""
    return f"at {format_line_rate(min(speeds))} of {format_line_rate(max(speeds))}"


def _end(geometry: Geometry, box: int) -> Part | None:
    """The part whose port a link to a box uses."""
    thing = geometry.thing(box)
    if isinstance(thing, Group):
        only = _only_port(thing)
        return None if only is None else thing.content.parts[only]
    return thing if isinstance(thing, Part) else None


def _named(ends: _Ends) -> str:
    short = [path.rpartition("/")[2] or path for path in (ends.a, ends.b)]
    return f"{short[0]}--{short[1]}"[:_LONGEST]


def _ends(geometry: Geometry, a: int, b: int) -> _Ends | str:
    found: list[tuple[Address, str]] = []
    for box in (a, b):
        within, ref = geometry.address(box)
        if ref.what == "annotations":
            return "a note cannot be linked"
        if ref.what == "groups":
            group = block_at(geometry.design, within).groups[ref.id]
            only = _only_port(group)
            if only is None:
                return f"open {group.label} to link the parts in it"
            within, part_id = (*within, (ref.id, None)), only
        else:
            part_id = ref.id
        found.append((within, part_id))
    (wa, pa), (wb, pb) = found
    common = 0
    while common < min(len(wa), len(wb)) and wa[common] == wb[common]:
        common += 1
    # two members of one group meet outside of it
    within = wa[:common]
    block = block_at(geometry.design, within)
    shown = (_path(block, wa[common:], pa, False), _path(block, wb[common:], pb, False))
    return _Ends(within, _path(block, wa[common:], pa, True), _path(block, wb[common:], pb, True), shown)


def _path(block: Block, steps: Address, part_id: str, every: bool) -> str:
    """Path from a block into its groups: to all members, or to one that is like the others."""
    pieces: list[str] = []
    for group_id, member in steps:
        group = block.groups[group_id]
        if member is None and not every:
            member = next((k for k in range(group.replicas) if k not in group.exceptions), 0)
        pieces.append(f"{group_id}[{'*' if member is None else member}]/")
        block = group.content if member is None else group.member(member)
    return "".join(pieces) + part_id


def _only_port(group: Group) -> str | None:
    """The one part of a group that has ports, if there is just one."""
    found = [p.id for p in group.content.parts.values() if p.kind in part_kinds() and part_kinds()[p.kind].ports]
    return found[0] if len(found) == 1 and not group.content.groups else None


def rehang(geometry: Geometry, connection: int, end: Literal["a", "b"], box: int) -> Offer:
    """The edit that hangs an end of a connection to another part."""
    within, links = geometry.connection_links(connection)
    if len(links) != 1 or links[0].what != "links":
        return Offer(reason="this connection represents several links: change them one by one")
    link = block_at(geometry.design, within).links[links[0].id]
    side: Literal["a", "b"] = end if not links[0].reversed else ("b" if end == "a" else "a")
    kept = int(geometry.connection_b[connection] if end == "a" else geometry.connection_a[connection])
    ends = _ends(geometry, kept, box)
    if isinstance(ends, str):
        return Offer(reason=ends)
    if ends.within != within or ends.many:
        return Offer(reason="a link cannot be moved into or out of a group")
    verdict = can_connect(geometry.design, *ends.shown, kind=link.kind, within=within, replacing=link.id)
    if not verdict.ok:
        return Offer(reason=verdict.reason)
    return Offer(Reconnect(link.id, side, ends.b, within=within), kinds=verdict.kinds)


def new_part(
    design: Design, kind: str, part_type: PartType | None, within: Address, parent: str | None, at: tuple[int, int]
) -> Part:
    """A part with a fresh id, its middle or corner at a position relative to its container."""
    block = block_at(design, within)
    part_id = next_id(block.parts, f"{kind}0")
    return Part(
        id=part_id,
        name=_name_of(block, kind, part_id),
        kind=kind,
        type=part_type.id if part_type is not None else "",
        parent=parent,
        position=Position(x=at[0], y=at[1]),
    )


def _name_of(block: Block, kind: str, part_id: str) -> str:
    """What a new part is called: its kind and number, as templates call theirs; nothing where its like have no names
    either, as in what was read from a machine.
    """
    equal = [part for part in block.parts.values() if part.kind == kind]
    known = part_kinds().get(kind)
    if known is None or (equal and not any(part.name for part in equal)):
        return ""
    taken = {part.label for part in block.parts.values()}
    number = int(split_number(part_id)[1] or 0)
    title = known.called or known.title
    while f"{title} {number}" in taken:
        number += 1
    return f"{title} {number}"


def insert(geometry: Geometry, connection: int, kind: str, part_type: PartType | None, x: float, y: float) -> Offer:
    """The edit that puts a new part into a link, in the container both ends share."""
    within, links = geometry.connection_links(connection)
    if len(links) != 1 or links[0].what != "links":
        return Offer(reason="a part can be inserted into a single link only")
    block = block_at(geometry.design, within)
    link = block.links[links[0].id]
    known = part_kinds().get(kind)
    if known is not None and known.port_for(link.kind) is None:
        return Offer(reason=f"a {known.title} has no port for this link")
    parent, origin = _shared_container(geometry, connection, within, kind)
    part = new_part(geometry.design, kind, part_type, within, parent, (round(x - origin[0]), round(y - origin[1])))
    return Offer(InsertIntoLink(link.id, part, part_type, within=within))


def thread(geometry: Geometry, connection: int, box: int) -> Offer:
    """The edit that inserts an unconnected part into a link."""
    within, links = geometry.connection_links(connection)
    own, ref = geometry.address(box)
    if len(links) != 1 or links[0].what != "links" or own != within or ref.what != "parts":
        return Offer(reason="a part can be inserted into a single link of its own block only")
    block = block_at(geometry.design, within)
    if links_of(block, ref.id):
        return Offer(reason="the part has links already")
    link = block.links[links[0].id]
    for end in (link.a, link.b):
        verdict = can_connect(geometry.design, ref.id, end, kind=link.kind, within=within, replacing=link.id)
        if not verdict.ok:
            return Offer(reason=verdict.reason)
    second = with_changes(link, id=next_id(block.links, link.id), a=ref.id, a_port="")
    edits = (Reconnect(link.id, "b", ref.id, within=within), AddLinks((second,), within=within))
    return Offer(Together(edits, f"Insert {ref.id} into {link.id}"))


def _shared_container(
    geometry: Geometry, connection: int, within: Address, kind: str
) -> tuple[str | None, tuple[float, float]]:
    """The innermost container around both ends that may hold a part of a kind, and where its positions count from."""
    around: list[set[int]] = []
    for box in (int(geometry.connection_a[connection]), int(geometry.connection_b[connection])):
        above: set[int] = set()
        at = int(geometry.parent[box])
        while at >= 0:
            above.add(at)
            at = int(geometry.parent[at])
        around.append(above)
    for box in sorted(around[0] & around[1], reverse=True):
        origin = (float(geometry.origin[box, 0]), float(geometry.origin[box, 1]))
        if geometry.content_address(box) != within:
            continue
        ref = geometry.refs[box]
        if ref.what == "groups":
            return None, origin
        if can_contain(geometry.design, geometry.kinds[int(geometry.kind[box])], kind).ok:
            return ref.id, origin
    return None, (0.0, 0.0)


def connection_picks(geometry: Geometry, connection: int) -> frozenset[Picked]:
    """The links and wirings drawn as one connection."""
    within, links = geometry.connection_links(connection)
    return frozenset((within, Ref(link.what, link.id)) for link in links)


@dataclass(frozen=True)
class Linked:
    """Links a part that was just added to others; those it does not fit stay unlinked."""

    part: Picked
    sources: frozenset[Picked]
    opened: frozenset[Address]
    merge_key: Hashable | None = None

    @property
    def label(self) -> str:
        """What it does."""
        return f"Connect {self.part[1].id}"

    def apply(self, design: Design) -> Design:
        """The design with the links."""
        for source in sorted(self.sources):
            geometry = lay_out(design, self.opened)
            a, b = geometry.box_of(*source), geometry.box_of(*self.part)
            if a is not None and b is not None:
                edit = connect(geometry, a, b).edit
                design = edit.apply(design) if edit is not None else design
        return design
