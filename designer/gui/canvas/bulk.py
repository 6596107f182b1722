"""Connecting servers, racks and groups: one gesture, all their NICs, with what it makes stated before. No Qt.

NICs go to a switch, to a storage system, or one after the other to the switches of a group: NIC i to switch i, the
rule of rails.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Final

from designer.catalog.parttype import Capability, fitting_links, link_kinds, part_kinds
from designer.design.address import Address, block_at
from designer.design.document import Block, Design, Group, Link, Part, Wiring
from designer.design.edit import Edit
from designer.design.edits.links import AddLinks
from designer.design.edits.wirings import AddWirings
from designer.design.geometry import Geometry
from designer.design.ids import next_id
from designer.design.legality import can_connect, free_ports
from designer.fields import amount
from designer.gui.canvas.editing import Offer, link_values
from designer.gui.canvas.together import Together
from designer.gui.viewmodels.cables import is_cable
from designer.memo import Memo, memo
from designer.units import format_line_rate

#: ids are at most so long
_LONGEST: Final = 180
#: what a note names of those left out
_NAMED: Final = 3


class NicRule(Enum):
    """Which NICs are connected."""

    ALL = "all NICs"
    NEAR = "the NICs next to GPUs"
    OTHER = "the NICs of the host"


@dataclass(frozen=True, slots=True)
class NicEnd:
    """A NIC, or one in each member of a group.

    Parameters
    ----------
    shown
        Path to one of them, for asking whether it fits.
    """

    path: str
    shown: str
    part: Part
    replicas: int
    is_near: bool

    @property
    def many(self) -> bool:
        """True if it means one NIC in each member of a group."""
        return "[*]" in self.path


@dataclass(slots=True)
class _Plan:
    links: list[Link] = field(default_factory=list[Link])
    wirings: list[Wiring] = field(default_factory=list[Wiring])
    kinds: Counter[str] = field(default_factory=Counter[str])
    taken: Counter[str] = field(default_factory=Counter[str])
    cables: int = 0
    left: int = 0
    why: str = ""
    #: by kind and type of a NIC and the path of what it is joined to, the kind of cable
    known: dict[tuple[str, str, str], str] = field(default_factory=dict[tuple[str, str, str], str])


def holds_nics(geometry: Geometry, box: int) -> bool:
    """True if a box is a server, rack or group: its NICs are connected, not the box itself."""
    thing = geometry.thing(box)
    if isinstance(thing, Group):
        return len([p for p in thing.content.parts.values() if _ports(p.kind)]) != 1 or bool(thing.content.groups)
    known = part_kinds().get(thing.kind) if isinstance(thing, Part) else None
    return known is not None and Capability.CONTAIN in known.capabilities and not known.ports


def rules_of(geometry: Geometry, boxes: Sequence[int]) -> tuple[NicRule, ...]:
    """The rules that choose differently among the NICs of some boxes."""
    is_near = {end.is_near for box in boxes for end in ends_of(geometry, box)}
    return tuple(NicRule) if len(is_near) > 1 else (NicRule.ALL,)


def ends_of(geometry: Geometry, box: int) -> Sequence[NicEnd]:
    """The NICs in a server, rack or group; those of a group represent all members."""
    return _ends(geometry, box)


def _found_ends(geometry: Geometry, box: int) -> Sequence[NicEnd]:
    within, ref = geometry.address(box)
    block = block_at(geometry.design, within)
    if ref.what == "groups":
        return list(_of_group(block.groups[ref.id], "", "", 1))
    inside = {ref.id}
    grown = True
    while grown:
        more = {p.id for p in block.parts.values() if p.parent in inside} - inside
        grown = bool(more)
        inside |= more
    found = list(_of_block(block, "", "", 1, inside))
    for group in block.groups.values():
        if group.parent in inside:
            found += _of_group(group, "", "", 1)
    return found


#: asked for again and again while one aims
_ends = Memo(_found_ends, most=2)


def _of_group(group: Group, path: str, shown: str, times: int) -> Iterator[NicEnd]:
    first = next((k for k in range(group.replicas) if k not in group.exceptions), 0)
    all_, one = f"{path}{group.id}[*]/", f"{shown}{group.id}[{first}]/"
    yield from _of_block(group.content, all_, one, times * group.replicas, set(group.content.parts))
    for inner in group.content.groups.values():
        yield from _of_group(inner, all_, one, times * group.replicas)


def _of_block(block: Block, path: str, shown: str, times: int, inside: set[str]) -> Iterator[NicEnd]:
    near: set[str] = set()
    joined: dict[str, set[str]] = {}
    for link in block.links.values():
        if link.kind == "pcie":
            joined.setdefault(link.a, set()).add(link.b)
            joined.setdefault(link.b, set()).add(link.a)
    for part in block.parts.values():
        if part.kind == "gpu":
            # what hangs at the same PCIe switch as a GPU, or at the GPU itself
            near |= joined.get(part.id, set())
    near = {n for n in near if n in block.parts and block.parts[n].kind in ("pcie_switch", "gpu", "nic")}
    for part in block.parts.values():
        known = part_kinds().get(part.kind)
        if part.id in inside and known is not None and Capability.ATTACH in known.capabilities:
            is_near = part.id in near or bool(joined.get(part.id, set()) & near)
            yield NicEnd(path + part.id, shown + part.id, part, times, is_near)


def _ports(kind: str) -> bool:
    known = part_kinds().get(kind)
    return known is not None and bool(known.ports)


def connect_all(geometry: Geometry, anchors: Sequence[int], target: int, rule: NicRule | None = None) -> Offer:
    """The edit that connects servers, racks and groups to a switch, a storage system or a group of switches."""
    if any(holds_nics(geometry, anchor) for anchor in anchors) and holds_nics(geometry, target):
        return Offer(reason="connect servers to a switch or a storage system")
    if holds_nics(geometry, target):
        anchors, target = (target,), anchors[0]
    within = geometry.address(target)[0]
    if any(geometry.address(anchor)[0] != within for anchor in anchors):
        return Offer(reason="both must be in the same group")
    goals = _goals(geometry, target)
    if isinstance(goals, str):
        return Offer(reason=goals)
    if rule is None:
        rule = _usual(geometry, anchors, goals[0][1])
    plan, design = _Plan(), geometry.design
    block = block_at(design, within)
    for anchor in anchors:
        ends = [e for e in ends_of(geometry, anchor) if rule is NicRule.ALL or e.is_near == (rule is NicRule.NEAR)]
        for rail, end in enumerate(ends):
            _join(design, block, within, end, goals[rail % len(goals)], plan)
    if not plan.cables:
        return Offer(reason=plan.why or "there is no NIC in it")
    edits: list[Edit] = []
    if plan.links:
        edits.append(AddLinks(tuple(plan.links), within=within))
    if plan.wirings:
        edits.append(AddWirings(tuple(plan.wirings), within=within))
    edit = edits[0] if len(edits) == 1 else Together(tuple(edits), f"Connect by {plan.cables} cables")
    return Offer(edit, kinds=tuple(k for k, _ in plan.kinds.most_common()), note=_note(plan, rule, len(goals)))


def might_connect(geometry: Geometry, anchors: Sequence[int], target: int, rule: NicRule | None = None) -> bool:
    """Whether `connect_all` would make a cable; quick enough to ask for every box in sight, as it looks no further."""
    if any(holds_nics(geometry, anchor) for anchor in anchors) and holds_nics(geometry, target):
        return False
    if holds_nics(geometry, target):
        anchors, target = (target,), anchors[0]
    within = geometry.address(target)[0]
    goals = _goals(geometry, target)
    if isinstance(goals, str) or any(geometry.address(anchor)[0] != within for anchor in anchors):
        return False
    if rule is None:
        rule = _usual(geometry, anchors, goals[0][1])
    block = block_at(geometry.design, within)
    for anchor in anchors:
        ends = [e for e in ends_of(geometry, anchor) if rule is NicRule.ALL or e.is_near == (rule is NicRule.NEAR)]
        for rail, end in enumerate(ends):
            plan = _Plan()
            _join(geometry.design, block, within, end, goals[rail % len(goals)], plan)
            if plan.cables:
                return True
    return False


def _usual(geometry: Geometry, anchors: Sequence[int], goal: Part) -> NicRule:
    """Storage hangs at the NICs of the host, where a server has such; switches take all."""
    known = part_kinds().get(goal.kind)
    if known is not None and Capability.STORE in known.capabilities and len(rules_of(geometry, anchors)) > 1:
        return NicRule.OTHER
    return NicRule.ALL


def _goals(geometry: Geometry, target: int) -> list[tuple[str, Part]] | str:
    """Paths and parts that NICs are joined to in turn; or why there is none."""
    thing = geometry.thing(target)
    if isinstance(thing, Group):
        port = next((p for p in thing.content.parts.values() if _ports(p.kind)), None)
        if port is None:
            return f"{thing.label} has nothing to connect to"
        return [(f"{thing.id}[{k}]/{port.id}", port) for k in range(thing.replicas)]
    if not isinstance(thing, Part) or not _ports(thing.kind):
        return "choose a switch or a storage system"
    return [(thing.id, thing)]


def _is_plain(block: Block, end: NicEnd) -> bool:
    """True if a NIC is as its type says and no cable hangs at it."""
    return not end.many and "/" not in end.path and not end.part.overrides and end.path not in _cabled(block)


@memo(most=4)
def _cabled(block: Block) -> frozenset[str]:
    """Paths of what cables hang at."""
    ends = {end for link in block.links.values() if is_cable(link.kind) for end in (link.a, link.b)}
    # a wiring may hang at anything of the block
    return frozenset(ends | set(block.parts)) if block.wirings else frozenset(ends)


@lru_cache(maxsize=256)
def _fitting(kind: str, other: str) -> tuple[str, ...]:
    return fitting_links(kind, other)


def _join(design: Design, block: Block, within: Address, end: NicEnd, goal: tuple[str, Part], plan: _Plan) -> None:
    path, part = goal
    if not any(is_cable(kind) for kind in _fitting(end.part.kind, part.kind)):
        plan.left += end.replicas
        plan.why = plan.why or f"a {part.label} takes no cables"
        return
    # NICs of one type that nothing hangs at yet take the same kind: only whether it still fits is asked again
    same = (end.part.kind, end.part.type, path) if _is_plain(block, end) else None
    verdict = can_connect(design, end.shown, path, plan.known.get(same) if same else None, within)
    if not verdict.ok and same in plan.known:
        verdict = can_connect(design, end.shown, path, within=within)
    kind = next((k for k in verdict.kinds if is_cable(k)), None)
    if same is not None and kind is not None:
        plan.known[same] = kind
    if kind is None:
        plan.left += end.replicas
        plan.why = plan.why or verdict.reason or f"a {part.label} takes no cables"
        return
    room = free_ports(design, path, kind, end.part.kind) if not within else None
    if room is not None and plan.taken[path] + end.replicas > room:
        plan.left += end.replicas
        plan.why = f"{part.label} has no port left"
        return
    plan.taken[path] += end.replicas
    plan.kinds[kind] += end.replicas
    plan.cables += end.replicas
    values = link_values(design, kind, end.part, part)
    short = f"{end.part.id}--{path.rpartition('/')[2]}"[:_LONGEST]
    if end.many:
        taken = {**block.wirings, **{w.id: w for w in plan.wirings}}
        plan.wirings.append(Wiring(id=next_id(taken, short), pattern="mesh", a=end.path, b=path, kind=kind, **values))
    else:
        known = {**block.links, **{x.id: x for x in plan.links}}
        plan.links.append(Link(id=next_id(known, short), a=end.path, b=path, kind=kind, **values))


def _note(plan: _Plan, rule: NicRule, goals: int) -> str:
    rates = [x.bandwidth_per_direction for x in (*plan.links, *plan.wirings) if x.bandwidth_per_direction]
    speeds = sorted({amount(r, "rate") for r in rates})
    speed = f" at {' and '.join(format_line_rate(s) for s in speeds)}" if speeds else ""
    kind = link_kinds()[plan.kinds.most_common(1)[0][0]].title
    cables = "1 cable" if plan.cables == 1 else f"{plan.cables} cables"
    spread = ", NIC i to switch i" if goals > 1 else ""
    left = f"; {plan.left} left out: {plan.why}" if plan.left else ""
    return f"{cables} of {kind}{speed}, {rule.value}{spread}{left}"
