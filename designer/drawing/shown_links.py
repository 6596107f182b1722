"""Which links of the elaborated design each connection of a picture shows, so that loads can be drawn on
connections."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from designer.design.connections import open_links, part_boxes
from designer.design.elaborate import elaborate
from designer.design.geometry import Geometry

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
    shown[shown >= 0] += geometry.n_behind
    return shown


def links_on_connections(geometry: Geometry, shown: Int) -> tuple[Int, Int, Bool]:
    """The elaborated links that connections show, ascending, the connection of each, and whether that runs b → a.

    Members of an open group that are like the one shown count for its connections. : (k,) each

    Parameters
    ----------
    shown
        What `boxes_of_parts` tells.

    Raises
    ------
    DocumentError
        If the design cannot be elaborated.
    """
    net = elaborate(geometry.design)
    codes = {kind: code for code, kind in enumerate(geometry.connection_kinds)}
    connection_key = _key(
        geometry.connection_a, geometry.connection_b, geometry.connection_kind, len(geometry), len(codes)
    )
    order = np.argsort(connection_key, kind="stable")
    links = open_links(net, geometry.boxes) if len(order) else np.empty(0, dtype=np.int64)
    # numbers that are multiplied below
    a, b = (shown[ends[links]].astype(np.int64) for ends in (net.link_a, net.link_b))
    seen = (a >= 0) & (b >= 0) & (a != b)
    links, a, b = links[seen], a[seen], b[seen]
    if not len(links):
        return links, links, np.empty(0, dtype=bool)
    kind = np.array([codes.get(link.kind, -1) for link in net.link_defs], dtype=np.int64)[net.link_def[links]]
    key = _key(a, b, kind, len(geometry), len(codes))
    drawn = order[np.minimum(np.searchsorted(connection_key[order], key), len(order) - 1)]
    found = (kind >= 0) & (connection_key[drawn] == key)
    links, drawn, a = links[found], drawn[found], a[found]
    return links, drawn, geometry.connection_a[drawn] != a


def _key(a: Int, b: Int, kind: Int, boxes: int, kinds: int) -> Int:
    return (np.minimum(a, b) * boxes + np.maximum(a, b)) * kinds + kind
