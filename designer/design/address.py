"""Where in a design: addresses of blocks through groups, and references to things in a block.

An address is a path of groups, each with a member or None: ``(("pods", None), ("servers", 3))`` is server 3, as an
exception, in the content that all pods share. A bare group id represents all its members.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from designer.design.document import Block, Design, Group
from designer.design.selectors import parse_selector
from designer.errors import DocumentError

Step = tuple[str, int | None]
Address = tuple[Step, ...]
#: what callers may write: a group id alone means all its members
AnyAddress = tuple[str | Step, ...]

#: names of the collections of a design; the first four are in every block
What = Literal[
    "parts",
    "links",
    "groups",
    "wirings",
    "vms",
    "workloads",
    "assertions",
    "waivers",
    "racks",
    "annotations",
    "part_types",
]
BLOCK_COLLECTIONS: tuple[What, ...] = ("parts", "links", "groups", "wirings")
DESIGN_COLLECTIONS: tuple[What, ...] = (
    "vms",
    "workloads",
    "assertions",
    "waivers",
    "racks",
    "annotations",
    "part_types",
)
_SINGULAR: dict[str, str] = {
    "parts": "part",
    "links": "link",
    "groups": "group",
    "wirings": "wiring",
    "vms": "virtual machine",
    "workloads": "workload",
    "assertions": "assertion",
    "waivers": "waiver",
    "racks": "rack",
    "annotations": "note",
    "part_types": "part type",
}


class Ref(NamedTuple):
    """One thing of a block: the collection it is in, and its id."""

    what: What
    id: str


def singular(what: str) -> str:
    """Word for one thing of a collection."""
    return _SINGULAR.get(what, what)


def canonical(within: AnyAddress) -> Address:
    """The address with every step written out."""
    return tuple((step, None) if isinstance(step, str) else step for step in within)


def block_at(design: Design, within: AnyAddress) -> Block:
    """The block at an address; ``()`` is the design itself.

    Raises
    ------
    DocumentError
        If a group or member on the way does not exist.
    """
    block: Block = design
    for depth, (group_id, member) in enumerate(canonical(within)):
        group = get_group(block, group_id, within[:depth])
        if member is None:
            block = group.content
        else:
            _check_member(group, member, within[:depth])
            block = group.member(member)
    return block


def with_block(design: Design, within: AnyAddress, block: Block) -> Design:
    """`design` with the block at an address exchanged; a member's block becomes an exception of its group."""
    steps = canonical(within)
    trail: list[Block] = [design]
    for step in steps:
        trail.append(block_at_step(trail[-1], step))
    if trail.pop() is block:
        return design
    for (group_id, member), outer in zip(reversed(steps), reversed(trail), strict=True):
        group = outer.groups[group_id]
        if member is None:
            group = group.model_copy(update={"content": block})
        else:
            group = group.model_copy(update={"exceptions": {**group.exceptions, member: block}})
        block = outer.model_copy(update={"groups": {**outer.groups, group_id: group}})
    assert isinstance(block, Design)
    return block


def where_stored(design: Design, within: AnyAddress) -> Address:
    """The address of the block that holds what is at `within`: that of all members where a member is no exception."""
    found: list[Step] = []
    block: Block = design
    for depth, (group_id, member) in enumerate(canonical(within)):
        group = get_group(block, group_id, within[:depth])
        if member is not None:
            _check_member(group, member, within[:depth])
        stored = member if member in group.exceptions else None
        found.append((group_id, stored))
        block = group.content if stored is None else group.exceptions[stored]
    return tuple(found)


def block_at_step(block: Block, step: Step) -> Block:
    """The block one step further in."""
    group = block.groups[step[0]]
    return group.content if step[1] is None else group.member(step[1])


def _check_member(group: Group, member: int, within: AnyAddress) -> None:
    if not 0 <= member < group.replicas:
        raise DocumentError(
            f"there is no member {member} in a group of {group.replicas}",
            place=place(within, "groups", group.id),
            remedy=f"choose 0 to {group.replicas - 1}",
        )


def get_group(block: Block, group_id: str, within: AnyAddress = ()) -> Group:
    """The group called `group_id` of a block.

    Raises
    ------
    DocumentError
        If there is none.
    """
    group = block.groups.get(group_id)
    if group is None:
        raise missing("groups", group_id, within)
    return group


def collection(block: Block, what: What, within: AnyAddress = ()) -> Mapping[str, Any]:
    """One of the collections of a block or design, by name.

    Raises
    ------
    DocumentError
        If the block is not a design and the collection is one that only designs have.
    """
    found = getattr(block, what, None)
    if found is None:
        raise DocumentError(
            f"a group holds no {singular(what)}", place=place(within, what), remedy="put it at the top of the design"
        )
    return found


def get_item(block: Block, ref: Ref, within: AnyAddress = ()) -> Any:
    """What a reference points to.

    Raises
    ------
    DocumentError
        If it is not there.
    """
    item = collection(block, ref.what, within).get(ref.id)
    if item is None:
        raise missing(ref.what, ref.id, within)
    return item


def missing(what: str, item_id: str, within: AnyAddress = ()) -> DocumentError:
    """The error for an id that does not exist."""
    return DocumentError(
        f"there is no {singular(what)} {item_id!r}",
        place=place(within, what),
        remedy="check the id against the outline",
    )


def place(within: AnyAddress, *rest: str) -> str:
    """The place of something in the document: ``groups.servers.content.parts.gpu0``."""
    pieces: list[str] = []
    for group_id, member in canonical(within):
        pieces += ["groups", group_id, *(["content"] if member is None else ["exceptions", str(member)])]
    return ".".join([*pieces, *rest])


def address_text(within: AnyAddress) -> str:
    """An address as people and paths write it: ``pods[*]/servers[3]``; empty for the design itself."""
    return "/".join(f"{g}[{'*' if m is None else m}]" for g, m in canonical(within))


def split_path(path: str) -> tuple[Address, str]:
    """Address and part id of a path; ``[*]`` and ranges become None, which is all members.

    Raises
    ------
    DocumentError
        If the path cannot be read.
    """
    selector = parse_selector(path)
    steps = tuple((s.group, s.low if s.high is not None and s.low == s.high else None) for s in selector.steps)
    return steps, selector.part
