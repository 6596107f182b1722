"""References by path, followed when what they point to moves, is renamed or goes away.

Links, wirings and virtual machines point to parts by path. When the block at an address changes, the references
that reach into it may be in that block or in any block around it; all of them pass through one function.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from designer.design.address import Address, AnyAddress, block_at, canonical, place, with_block
from designer.design.document import Block, Design, Elevation, Link, VirtualMachine, VmDevice, Wiring, with_changes
from designer.design.selectors import GroupStep, parse_selector
from designer.errors import DocumentError

#: a path as seen from the changed block → what it is now; None when it points to nothing any more
Rewrite = Callable[[str], str | None]
_WILD = frozenset("*?{")


class Reach(NamedTuple):
    """A reference that reaches into a block: its outer part, the rest, and whether it also reaches elsewhere."""

    prefix: str
    local: str
    shared: bool


def reaches(block: Block, path: str) -> bool:
    """True if a path or selector, seen from `block`, names at least one part."""
    if path in block.parts:
        return True
    try:
        selector = parse_selector(path)
    except DocumentError:
        return False
    return _reaches(block, selector.steps, selector.part)


def _reaches(block: Block, steps: tuple[GroupStep, ...], part: str) -> bool:
    if not steps:
        if not _WILD & set(part):
            return part in block.parts
        return bool(parse_selector(part).matches(block.parts))
    group = block.groups.get(steps[0].group)
    if group is None:
        return False
    try:
        members = steps[0].members(group.replicas)
    except DocumentError:
        return False
    own = [b for index, b in group.exceptions.items() if index in members]
    blocks = own if len(own) == len(members) else [group.content, *own]
    return any(_reaches(b, steps[1:], part) for b in blocks)


def head(path: str) -> str:
    """The first id of a path: of a group where the path goes through one, else of a part."""
    return path.split("/", 1)[0].split("[", 1)[0]


def with_head(path: str, new: str) -> str:
    """A path with its first id exchanged."""
    return new + path[len(head(path)) :]


def is_pattern(path: str) -> bool:
    """True if the first segment is a part pattern with wild cards."""
    return "/" not in path and bool(_WILD & set(path))


def rewrite_references(
    design: Design, within: AnyAddress, touched: Collection[str], rewrite: Rewrite, many: Rewrite | None = None
) -> Design:
    """Pass every reference into the block at `within` whose first id is in `touched` through `rewrite`.

    Links and wirings whose rewritten end is None are removed; virtual machines lose the host or device part.
    Part patterns with wild cards are always passed. Ends of wirings go through `many` where it is given.

    Raises
    ------
    DocumentError
        If a wiring would have to change but also reaches other members, which keep their names.
    """
    steps = canonical(within)
    for depth in range(len(steps), -1, -1):
        block = block_at(design, steps[:depth])
        changed = _rewrite_block(block, steps, depth, touched, rewrite, many or rewrite)
        if changed is not block:
            design = with_block(design, steps[:depth], changed)
    return _rewrite_racks(_rewrite_vms(design, steps, touched, rewrite), steps, touched, rewrite)


def _rewrite_block(
    block: Block, steps: Address, depth: int, touched: Collection[str], rewrite: Rewrite, many: Rewrite
) -> Block:
    inner = steps[depth:]
    update: dict[str, object] = {}
    if inner:
        start = inner[0][0]
        loose = [x for x in block.links.values() if x.a.startswith(start) or x.b.startswith(start)]
    else:
        loose = [
            x
            for x in block.links.values()
            if x.a in touched or x.b in touched or "/" in x.a or "/" in x.b  # almost all links end here
        ]
    links = _rewrite_holders(block, loose, inner, touched, rewrite, steps[:depth])
    if links:
        update["links"] = _apply_changes(block.links, links)
    wirings = _rewrite_holders(block, list(block.wirings.values()), inner, touched, many, steps[:depth])
    if wirings:
        update["wirings"] = _apply_changes(block.wirings, wirings)
    return block.model_copy(update=update) if update else block


def _apply_changes(
    old: Mapping[str, Link] | Mapping[str, Wiring], new: Mapping[str, Link | Wiring | None]
) -> dict[str, Link | Wiring]:
    copy: dict[str, Link | Wiring] = dict(old)
    for key, value in new.items():
        if value is None:
            del copy[key]
        else:
            copy[key] = value
    return copy


def _rewrite_holders(
    block: Block,
    holders: list[Link] | list[Wiring],
    inner: Address,
    touched: Collection[str],
    rewrite: Rewrite,
    at: Address,
) -> dict[str, Link | Wiring | None]:
    changed: dict[str, Link | Wiring | None] = {}
    for holder in holders:
        what = "wirings" if isinstance(holder, Wiring) else "links"
        try:
            a = rewritten(block, holder.a, inner, touched, rewrite)
            b = rewritten(block, holder.b, inner, touched, rewrite)
        except DocumentError as error:
            raise error.at(place=place(at, what, holder.id)) from None
        if a is None or b is None:
            changed[holder.id] = None
        elif a != holder.a or b != holder.b:
            changed[holder.id] = with_changes(holder, a=a, b=b)
    return changed


def rewritten(block: Block, path: str, inner: Address, touched: Collection[str], rewrite: Rewrite) -> str | None:
    """One reference of `block` after the block at `inner`, seen from it, has changed; None if it points nowhere.

    Raises
    ------
    DocumentError
        If it would have to change but also reaches other members.
    """
    found = reach(block, path, inner)
    if found is None or not _touches(found.local, touched):
        return path
    local = rewrite(found.local)
    if local == found.local:
        return path
    if local is None:
        return path if found.shared and reaches(block, path) else None
    if found.shared:
        raise DocumentError(
            f"{path!r} reaches the changed members together with others",
            remedy="delete it first, or make the same change to all members",
        )
    return f"{found.prefix}{local}"


def _touches(path: str, touched: Collection[str]) -> bool:
    return path in touched or head(path) in touched or is_pattern(path)


def reach(block: Block, path: str, inner: Address) -> Reach | None:
    """How a path seen from `block` reaches into the block at `inner`, or None if it does not."""
    if not inner:
        return Reach("", path, False)
    segments = path.split("/")
    if len(segments) <= len(inner):
        return None
    shared = False
    for segment, (group_id, member) in zip(segments, inner, strict=False):
        if head(segment) != group_id or group_id not in block.groups:
            return None
        group = block.groups[group_id]
        try:
            members = parse_selector(f"{segment}/x").steps[0].members(group.replicas)
        except DocumentError:
            return None
        own = sum(1 for index in group.exceptions if index in members)
        if member is None:
            if own == len(members):
                return None
            shared = shared or own > 0
        else:
            if member not in members:
                return None
            shared = shared or len(members) > 1
        block = group.content if member is None else group.member(member)
    n = len(inner)
    return Reach("/".join(segments[:n]) + "/", "/".join(segments[n:]), shared)


def _rewrite_vms(design: Design, steps: Address, touched: Collection[str], rewrite: Rewrite) -> Design:
    changed: dict[str, VirtualMachine] = {}
    for vm in design.vms.values():
        host = None if vm.host is None else rewritten(design, vm.host, steps, touched, rewrite)
        devices: tuple[VmDevice, ...] = tuple(
            device
            if device.part is None
            else device.model_copy(update={"part": rewritten(design, device.part, steps, touched, rewrite)})
            for device in vm.devices
        )
        if host != vm.host or devices != vm.devices:
            changed[vm.id] = with_changes(vm, host=host, devices=devices)
    return design.model_copy(update={"vms": {**design.vms, **changed}}) if changed else design


def _rewrite_racks(design: Design, steps: Address, touched: Collection[str], rewrite: Rewrite) -> Design:
    changed: dict[str, Elevation | None] = {}
    for rack in design.racks.values():
        part = None if rack.part is None else rewritten(design, rack.part, steps, touched, rewrite)
        if rack.part is not None and part is None:
            # with the rack its places are gone
            changed[rack.id] = None
            continue
        units = {rewritten(design, path, steps, touched, rewrite): at for path, at in rack.units.items()}
        if part != rack.part or list(units) != list(rack.units):
            kept = {path: at for path, at in units.items() if path is not None}
            changed[rack.id] = rack.model_copy(update={"part": part, "units": kept})
    if not changed:
        return design
    racks = {key: changed.get(key, rack) for key, rack in design.racks.items()}
    return design.model_copy(update={"racks": {key: rack for key, rack in racks.items() if rack is not None}})


def prune(design: Design, within: AnyAddress, touched: Collection[str]) -> Design:
    """`design` without the links and wirings that pointed to what is no longer in the block at `within`."""
    block = block_at(design, within)
    return rewrite_references(design, within, touched, lambda local: local if reaches(block, local) else None)
