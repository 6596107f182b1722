"""From ids in results to things one can select: channels, links, parts, limits."""

from __future__ import annotations

from designer.design.address import Address, Ref, block_at, split_path
from designer.design.document import Design
from designer.errors import DocumentError

Picked = tuple[Address, Ref]


def picked_of(design: Design, identity: str) -> Picked | None:
    """What an id of a result points to: a channel ``a--b:ab``, a link, wiring link, group or part by its path."""
    path = identity
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


def link_of_channel(identity: str) -> str:
    """Path of the link a channel is a direction of."""
    return identity[:-3] if identity.endswith((":ab", ":ba")) else identity
