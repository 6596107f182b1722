"""Which things of a container are linked, directly or by what they contain: all that a layout needs of the links."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from designer.catalog.parttype import Domain
from designer.design.address import Ref
from designer.design.arrange.roles import link_domain
from designer.design.document import Block, Link, Wiring
from designer.design.selectors import parse_selector
from designer.errors import DocumentError


class Joint(NamedTuple):
    """Links of one kind between two things of a container."""

    a: Ref
    b: Ref
    kind: str


@dataclass(slots=True)
class Memory:
    """What was found for the links of one block: things by path, and the containers around them."""

    ends: dict[str, Ref | None] = field(default_factory=dict[str, "Ref | None"])
    container_paths: dict[Ref, tuple[str | None, ...]] = field(default_factory=dict[Ref, "tuple[str | None, ...]"])


Joints = Mapping[str | None, tuple[Joint, ...]]
_Kept = dict[int, tuple[weakref.ref[Block], Joints]]
_known: _Kept = {}
_known_of_networks: _Kept = {}


def joints(block: Block) -> Joints:
    """The joints of a block by container; None is the top. Each pair is named once for each kind of link."""
    return _cached_joints(block, _known, lambda _: True)


def network_joints(block: Block) -> Joints:
    """Those of links that leave a host, of which there are few: of a placed block no others are asked about."""
    return _cached_joints(block, _known_of_networks, lambda kind: link_domain(kind) is not Domain.HOST)


def _cached_joints(block: Block, memory: _Kept, chosen: Callable[[str], bool]) -> Joints:
    known = memory.get(id(block))
    if known is not None and known[0]() is block:
        return known[1]
    made = _find_joints(block, [x for x in (*block.links.values(), *block.wirings.values()) if chosen(x.kind)])
    key = id(block)
    memory[key] = (weakref.ref(block, lambda _: memory.pop(key, None)), made)
    return made


def _find_joints(block: Block, links: Sequence[Link | Wiring]) -> Joints:
    found: dict[str | None, dict[Joint, None]] = {}
    memory = Memory()
    for link in links:
        joined = joint_of(block, link, memory)
        if joined is not None:
            container, joint = joined
            known_here = found.setdefault(container, {})
            if (joint.b, joint.a, joint.kind) not in known_here:
                known_here[joint] = None
    return {container: tuple(pairs) for container, pairs in found.items()}


def joint_of(block: Block, link: Link | Wiring, memory: Memory) -> tuple[str | None, Joint] | None:
    """The container in which a link joins two things, and the joint; None if there is none."""
    ends, container_paths = memory.ends, memory.container_paths
    for path in (link.a, link.b):
        if path not in ends:
            ends[path] = _end(block, path)
    a, b = ends[link.a], ends[link.b]
    if a is None or b is None or a == b:
        return None
    joined = _meet(block, a, b, container_paths)
    return None if joined is None else (joined[0], Joint(joined[1], joined[2], link.kind))


def _end(block: Block, path: str) -> Ref | None:
    """The part of this block, or the group in it, at which a link ends."""
    if path in block.parts:
        return Ref("parts", path)
    try:
        selector = parse_selector(path)
    except DocumentError:
        return None
    if selector.steps:
        return Ref("groups", selector.steps[0].group) if selector.steps[0].group in block.groups else None
    matching = selector.matches(block.parts)
    return Ref("parts", matching[0]) if matching else None


def _meet(
    block: Block, a: Ref, b: Ref, container_paths: dict[Ref, tuple[str | None, ...]]
) -> tuple[str | None, Ref, Ref] | None:
    """The innermost container of both ends, and the things in it that hold them."""
    up_a, up_b = _container_path(block, a, container_paths), _container_path(block, b, container_paths)
    if up_a[0] == up_b[0]:
        return up_a[0], a, b
    inside = set(up_b)
    for depth, container in enumerate(up_a):
        if container in inside:
            at = up_b.index(container)
            above_a = a if depth == 0 else Ref("parts", str(up_a[depth - 1]))
            above_b = b if at == 0 else Ref("parts", str(up_b[at - 1]))
            return None if above_a == above_b else (container, above_a, above_b)
    return None


def _container_path(
    block: Block, ref: Ref, container_paths: dict[Ref, tuple[str | None, ...]]
) -> tuple[str | None, ...]:
    """The containers around a thing, innermost first, None for the top last."""
    known = container_paths.get(ref)
    if known is None:
        thing = block.parts[ref.id] if ref.what == "parts" else block.groups[ref.id]
        above: list[str | None] = []
        at = thing.parent
        while at is not None and at in block.parts and at not in above:
            above.append(at)
            at = block.parts[at].parent
        known = container_paths[ref] = (*above, None)
    return known
