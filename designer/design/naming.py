"""What parts and links are called in the drawing: ``hosts[1]/gpu0`` is *ESXi host 2, GPU 0*."""

from __future__ import annotations

import re
from typing import Final

from designer.design.document import Block, Part
from designer.design.member_names import member_name

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

    ``[*]`` in the place of a member's number stands for all members. A name that other parts of the same block have as
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
    return f"{title} [{path}]" if part is not None and _is_shared(block, part) else title


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


def _is_shared(block: Block, part: Part) -> bool:
    return any(p.label == part.label and p is not part for p in block.parts.values())
