"""Names of members of groups: by the pattern of the group, else by its id and their index."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from designer.design.document import Block, Group
from designer.design.name_pattern import fill_pattern, safe

_STEP: Final = re.compile(r"([^\[\]/]+)\[(\d+)\]")


def steps_of(path: str) -> list[tuple[str, int]]:
    """Groups and members on the way to a part: ``pods[0]/servers[3]/gpu0`` is pods 0, servers 3."""
    return [(found[1], int(found[2])) for step in path.split("/") if (found := _STEP.fullmatch(step)) is not None]


def member_name(block: Block, steps: Sequence[tuple[str, int]]) -> str:
    """The name of the member at the end of `steps`, each a group of the member before and an index."""
    name = ""
    groups: list[tuple[Group, int]] = []
    for group_id, index in steps:
        group = block.groups[group_id]
        groups.append((group, index))
        block = group.member(index)
        name = _named(group, index, name, groups)
    return name


def _named(group: Group, index: int, outer: str, way: Sequence[tuple[Group, int]]) -> str:
    if group.naming:
        return fill_pattern(group.naming, index, outer, lambda: _before_all(way))
    return f"{outer}-{safe(group.id)}-{index}" if outer else f"{safe(group.id)}-{index}"


def _before_all(way: Sequence[tuple[Group, int]]) -> int:
    """How many members of the innermost group come before the one at the end of `way`, through all groups around."""
    ids = [group.id for group, _ in way]
    total = 0
    for depth, (group, index) in enumerate(way):
        inner = ids[depth + 1 :]
        usual = _count(group.content, inner)
        total += index * usual
        total += sum(_count(block, inner) - usual for at, block in group.exceptions.items() if at < index)
    return total


def _count(block: Block, ids: Sequence[str]) -> int:
    """Members of the innermost group of `ids` in one block; 1 where there is no group on the way any more."""
    if not ids:
        return 1
    group = block.groups.get(ids[0])
    if group is None:
        return 0
    usual = _count(group.content, ids[1:])
    return group.replicas * usual + sum(_count(b, ids[1:]) - usual for b in group.exceptions.values())
