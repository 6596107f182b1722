"""Numbers of the links and channels of the elaborated design, by their paths."""

from __future__ import annotations

from designer.design.document import Block
from designer.design.elaborate import Netlist
from designer.memo import Memo


def channel_number(net: Netlist, channel_id: str) -> int | None:
    """Number of the channel with an id such as ``servers[3]/cpu0--gpu0:ab`` or ``rails[7]:ba``; None if unknown."""
    path, _, direction = channel_id.rpartition(":")
    link = link_number(net, path)
    return None if link is None or direction not in ("ab", "ba") else 2 * link + (direction == "ba")


def link_number(net: Netlist, path: str) -> int | None:
    """Number of the link at a path such as ``servers[3]/cpu0--gpu0`` or ``rails[7]``; None if unknown."""
    step, _, rest = path.partition("/")
    if not rest and step in net.block.links:
        return _numbers(net.block)[step]
    name, bracket, index = step.partition("[")
    if not bracket or not index[:-1].isdigit():
        return None
    number = int(index[:-1])
    if not rest:
        found = next(((start, stop) for wiring, start, stop in net.wirings if wiring == name), None)
        return None if found is None or found[0] + number >= found[1] else found[0] + number
    group = next((g for g in net.groups if g.id == name), None)
    if group is None or number >= len(group.net_of):
        return None
    inner = link_number(group.net(number), rest)
    return None if inner is None else int(group.link_start[number]) + inner


def _link_numbers(block: Block) -> dict[str, int]:
    return {link_id: number for number, link_id in enumerate(block.links)}


#: number of each link among those drawn in a block; asked for once per channel that binds
_numbers = Memo(_link_numbers, most=16)
