"""Which links of the elaborated design each connection of a picture shows, so that loads can be drawn on
connections."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from designer.design.connections import part_boxes
from designer.design.document import Block
from designer.design.elaborate import Netlist, elaborate
from designer.design.geometry import Geometry
from designer.memo import Memo

Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]


def boxes_of_parts(geometry: Geometry) -> Int:
    """For each elaborated part the box of the picture that shows it, −1 where none does. : (n_parts,)

    Members of an open group that are like the one shown have its boxes.

    Raises
    ------
    DocumentError
        If the design cannot be elaborated.
    """
    shown = part_boxes(elaborate(geometry.design), geometry.boxes, every_member=True)
    return np.where(shown >= 0, shown + geometry.n_behind, -1)


def links_on_connections(geometry: Geometry) -> tuple[Int, Bool]:
    """For each elaborated link the connection that shows it, −1 where none does, and whether the connection runs b → a.

    Members of an open group that are like the one shown count for its connections. : (n_links,) each

    Raises
    ------
    DocumentError
        If the design cannot be elaborated.
    """
    net = elaborate(geometry.design)
    shown = boxes_of_parts(geometry)
    a, b = shown[net.link_a], shown[net.link_b]
    seen = (a >= 0) & (b >= 0) & (a != b)
    codes = {kind: code for code, kind in enumerate(geometry.connection_kinds)}
    kind = np.array([codes.get(link.kind, -1) for link in net.link_defs], dtype=np.int64)[net.link_def]
    key = _key(a, b, kind, len(geometry), len(codes))
    connection_key = _key(
        geometry.connection_a, geometry.connection_b, geometry.connection_kind, len(geometry), len(codes)
    )
    order = np.argsort(connection_key, kind="stable")
    if not len(order):
        return np.full(net.n_links, -1, dtype=np.int64), np.zeros(net.n_links, dtype=bool)
    at = np.minimum(np.searchsorted(connection_key[order], key), len(order) - 1)
    connection = order[at]
    found = seen & (kind >= 0) & (connection_key[connection] == key)
    return np.where(found, connection, -1), found & (geometry.connection_a[connection] != a)


def _key(a: Int, b: Int, kind: Int, boxes: int, kinds: int) -> Int:
    return (np.minimum(a, b) * boxes + np.maximum(a, b)) * kinds + kind


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


def _numbered(block: Block) -> dict[str, int]:
    return {link_id: number for number, link_id in enumerate(block.links)}


#: number of each link among those drawn in a block; asked for once per channel that binds
_numbers = Memo(_numbered, most=16)
