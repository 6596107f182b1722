"""Which links of the elaborated design each connection of a picture shows, so that loads can be drawn on
connections."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from designer.design.connections import part_boxes
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
    connection, turned = np.full(net.n_links, -1, dtype=np.int64), np.zeros(net.n_links, dtype=bool)
    codes = {kind: code for code, kind in enumerate(geometry.connection_kinds)}
    connection_key = _key(
        geometry.connection_a, geometry.connection_b, geometry.connection_kind, len(geometry), len(codes)
    )
    order = np.argsort(connection_key, kind="stable")
    if not len(order):
        return connection, turned
    a, b = shown[net.link_a], shown[net.link_b]
    # of a large design nearly all links are inside closed groups
    links = np.flatnonzero((a >= 0) & (b >= 0) & (a != b))
    a, b = a[links], b[links]
    kind = np.array([codes.get(link.kind, -1) for link in net.link_defs], dtype=np.int64)[net.link_def[links]]
    key = _key(a, b, kind, len(geometry), len(codes))
    drawn = order[np.minimum(np.searchsorted(connection_key[order], key), len(order) - 1)]
    found = (kind >= 0) & (connection_key[drawn] == key)
    connection[links[found]] = drawn[found]
    turned[links[found]] = geometry.connection_a[drawn[found]] != a[found]
    return connection, turned


def _key(a: Int, b: Int, kind: Int, boxes: int, kinds: int) -> Int:
    return (np.minimum(a, b) * boxes + np.maximum(a, b)) * kinds + kind
