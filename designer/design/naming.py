"""What parts and links are called in the drawing: ``hosts[1]/gpu0`` is *ESXi host 2, GPU 0*."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from designer.design.document import Block, Group, Part
from designer.design.elaborate import Netlist
from designer.design.ids import Numberer
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
        name = _member_name(group, index, name, groups)
    return name


def _member_name(group: Group, index: int, outer: str, way: Sequence[tuple[Group, int]]) -> str:
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


_NODES: Final = ("switch", "server")
_MAIN: Final = (*_NODES, "storage")
#: holds nodes and is none
_FRAME: Final = "rack"


def homes(net: Netlist) -> list[int]:
    """The node that each part belongs to, by number. : (n_parts,)"""
    kinds = [d.kind for d in net.part_defs]
    of = [kinds[d] for d in net.part_def.tolist()]
    parent = net.parent.tolist()
    found = [-1] * len(of)

    def home(part: int) -> int:
        way: list[int] = []
        at = part
        while found[at] < 0:
            way.append(at)
            above = parent[at]
            if of[at] in _NODES or above < 0 or of[above] == _FRAME:
                found[at] = at
                break
            at = above
        for one in way:
            found[one] = found[at]
        return found[at]

    return [home(part) for part in range(len(of))]


def node_names(net: Netlist, nodes: Iterable[int]) -> dict[int, str]:
    """The name of each node: letters, digits and ``. _ -``, each name once."""
    wishes = wished_names(net, nodes)
    # a name that one node alone has is kept, whatever others make of theirs
    times: dict[str, int] = {}
    for wish in wishes.values():
        times[wish] = times.get(wish, 0) + 1
    names = Numberer({wish for wish, count in times.items() if count == 1})
    return {node: wish if times[wish] == 1 else names.take(wish) for node, wish in wishes.items()}


def wished_names(net: Netlist, nodes: Iterable[int]) -> dict[int, str]:
    """The name each node has by its part or by the pattern of its group; several nodes may have the same."""
    single: dict[tuple[int, str], bool] = {}
    found: dict[int, str] = {}
    for node in nodes:
        part = net.part(node)
        path = net.path(node)
        steps = steps_of(path)
        if not steps:
            found[node] = safe(part.label)
            continue
        block: Block = net.block
        for group, index in steps:
            block = block.groups[group].member(index)
        key = (id(block), part.id)
        alone = single.get(key)
        if alone is None:
            alone = single[key] = _is_single(block, part)
        name = member_name(net.block, steps)
        found[node] = name if alone else f"{name}-{safe(part.id)}"
    return found


def _is_single(block: Block, part: Part) -> bool:
    """True if a part is the one node of its block."""
    main = [p for p in block.parts.values() if p.kind in _MAIN and not _inside_node(block, p)]
    if not main:
        main = [p for p in block.parts.values() if p.parent is None]
    return len(main) == 1 and main[0].id == part.id


def _inside_node(block: Block, part: Part) -> bool:
    above = block.parts.get(part.parent or "")
    while above is not None:
        if above.kind in _MAIN:
            return True
        above = block.parts.get(above.parent or "")
    return False


_MEMBER: Final = re.compile(r"([^\[\]/]+)\[(\d+|\*)\]")
#: texts are searched this far: what is longer is cut before anybody reads it
_MOST: Final = 4000
#: both ends of a link, or a member of a group with what is in it
_PLACE: Final = re.compile(r"([^\s,;:()]+)( [→↔] )([^\s,;:()]+)|[\w-]+\[(?:\d+|\*)\](?:/[\w\[\]*-]+)*")
#: the number at the end of a name
_NUMBER: Final = re.compile(r"[\s_]*#?\d[\d.]*$")
_ENDS: Final = re.compile(r"^(\S+)( [→↔] )(\S+)(.*)$", re.DOTALL)


def part_title(block: Block, path: str, *, alone: bool = False) -> str:
    """What a part is called: its name after those of the groups around it; the path itself where nothing is there.

    ``[*]`` in the place of a member's number represents all members. A name that other parts of the same block have as
    well is followed by the path.

    Parameters
    ----------
    alone
        Its own name without those of the groups; of a group that holds nothing else, the name of the group.
    """
    names: list[str] = []
    part: Part | None = None
    top, steps = block, list[tuple[str, int]]()
    for step in path.split("/"):
        member = _MEMBER.fullmatch(step)
        group = block.groups.get(member[1]) if member is not None else None
        if member is not None and group is not None:
            part = None
            one = None if member[2] == "*" else int(member[2])
            if one is not None and one >= group.replicas:
                return path
            steps.append((group.id, one or 0))
            if one is None or not group.naming:
                names.append(group.label if one is None else f"{one_of(group.label)} {one + 1}")
            else:
                # the name that exports and cable lists give it
                names.append(member_name(top, steps))
            block = group.content if one is None else group.member(one)
        elif member is None and step in block.parts:
            part = block.parts[step]
        else:
            return path
    if part is not None and not (names and _is_alone(block, part)):
        names.append(part.label)
    title = names[-1] if alone else ", ".join(names)
    return f"{title} [{path}]" if part is not None and _has_shared_label(block, part) else title


def link_title(block: Block, label: str, *, alone: bool = False) -> str:
    """The name of a link ``a → b (kind)`` whose ends are paths, with its ends as :func:`part_title` calls them."""
    ends = _ENDS.match(label)
    if ends is None:
        title = part_title(block, label, alone=alone)
        return in_names(block, label) if title == label else title
    return f"{part_title(block, ends[1], alone=alone)}{ends[2]}{part_title(block, ends[3], alone=alone)}{ends[4]}"


def in_names(block: Block, text: str) -> str:
    """A text with the ends of the links ``a → b`` and the members of groups in it as :func:`part_title` calls them."""

    def named(match: re.Match[str]) -> str:
        if not match[2]:
            return part_title(block, match[0])
        return f"{part_title(block, match[1])}{match[2]}{part_title(block, match[3])}"

    return _PLACE.sub(named, text[:_MOST]) + text[_MOST:]


def without_number(label: str) -> str:
    """``GPU 0`` is ``GPU``."""
    return _NUMBER.sub("", label).strip() or label


def one_of(label: str) -> str:
    """The singular of what a group is called: ``Leaf switches`` is ``Leaf switch``."""
    head, comma, rest = label.partition(",")
    words = head.split()
    if words and words[-1].endswith("ches"):
        words[-1] = words[-1][:-2]
    elif words and words[-1].endswith("eaves"):
        words[-1] = words[-1][:-3] + "f"
    elif words and words[-1].endswith("s") and not words[-1].endswith("ss") and words[-1] != words[-1].upper():
        words[-1] = words[-1][:-1]
    return " ".join(words) + comma + rest


def several(name: str) -> str:
    """The plural of a kind of part: ``GPUs``, ``PCIe switches``, ``Memories``."""
    if re.search(r"(?:ch|sh|s|x)$", name):
        return f"{name}es"
    return f"{name[:-1]}ies" if re.search(r"[^aeiouAEIOU]y$", name) else f"{name}s"


def _is_alone(block: Block, part: Part) -> bool:
    """True if a part is the one thing that its block is."""
    return part.parent is None and not any(p.parent is None and p is not part for p in block.parts.values())


def _has_shared_label(block: Block, part: Part) -> bool:
    return any(p.label == part.label and p is not part for p in block.parts.values())
