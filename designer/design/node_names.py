"""Nodes of the network and the names that exports, comparisons and cable lists give them.

A node is a switch, a server, or the outermost part below a rack that a cable leads into, such as a storage system. It
has the name of its part; in a group it has the name of the member, followed by its id where a member holds several.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from designer.design.document import Block, Part
from designer.design.elaborate import Netlist
from designer.design.ids import Numberer
from designer.design.member_names import member_name, steps_of
from designer.design.name_pattern import safe

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
