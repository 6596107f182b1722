"""From ids in results to things one can select: channels, links, parts, limits."""

from __future__ import annotations

from typing import Final

from designer.design.address import Address, Ref, block_at, split_path
from designer.design.document import Block, Design
from designer.errors import DocumentError

Picked = tuple[Address, Ref]


#: begins the id of what clients get of a storage system, before the path of that system
CLIENT: Final = "client:"


def picked_of(design: Design, identity: str) -> Picked | None:
    """What an id of a result points to: a channel ``a--b:ab``, a link, wiring link, group or part by its path."""
    path = identity.removeprefix(CLIENT)
    if path.endswith((":ab", ":ba")):
        path = path[:-3]
    try:
        within, name = split_path(path)
    except DocumentError:
        return None
    found = _look(design, _common(design, within), name)
    if found is None and "[" in path and "/" not in path.rsplit("]", 1)[-1]:
        # the last step is a numbered link of a wiring: rails[12]
        head, _, _ = path.rpartition("[")
        try:
            within, name = split_path(head)
        except DocumentError:
            return None
        found = _look(design, _common(design, within), name)
    return found


def picked_equals(design: Design, identity: str, equal: int) -> list[Picked]:
    """What an id of a result points to, and its equals in the same block where the result represents them.

    Parameters
    ----------
    equal
        How many the id represents. Equals are parts of its kind and type, or links of its values between such parts;
        where there are more of them than that, which are meant is not known, and the one is all.
    """
    one = picked_of(design, identity)
    if one is None or equal < 2:
        return [] if one is None else [one]
    within, ref = one
    block = block_at(design, within)
    if ref.what not in ("parts", "links"):
        return [one]
    known = block.parts if ref.what == "parts" else block.links
    mark = _mark(block, ref)
    equals = [Ref(ref.what, name) for name in known if _mark(block, Ref(ref.what, name)) == mark]
    return [(within, found) for found in equals] if len(equals) <= equal else [one]


def _mark(block: Block, ref: Ref) -> object:
    """Equal for parts and links that are the same thing at another place."""
    if ref.what == "parts":
        part = block.parts[ref.id]
        return part.kind, part.type
    link = block.links[ref.id]
    ends = sorted(
        (p.kind, p.type) if (p := block.parts.get(end)) is not None else (end, "") for end in (link.a, link.b)
    )
    return link.kind, link.count, link.bandwidth_per_direction, link.generation, link.lanes, tuple(ends)


def _look(design: Design, within: Address, name: str) -> Picked | None:
    try:
        block = block_at(design, within)
    except DocumentError:
        return None
    for what, items in (
        ("links", block.links),
        ("parts", block.parts),
        ("wirings", block.wirings),
        ("groups", block.groups),
    ):
        if name in items:
            return within, Ref(what, name)  # type: ignore[arg-type]
    return None


def _common(design: Design, within: Address) -> Address:
    """The address with members that are no exceptions replaced by what all members share."""
    steps: list[tuple[str, int | None]] = []
    for group_id, member in within:
        try:
            group = block_at(design, tuple(steps)).groups.get(group_id)
        except DocumentError:
            group = None
        shared = group is not None and member is not None and member not in group.exceptions
        steps.append((group_id, None if shared else member))
    return tuple(steps)
