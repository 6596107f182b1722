"""Which links of the elaborated design each wire of a picture shows, so that loads can be drawn on wires."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from designer.design.elaborate import elaborate
from designer.design.geometry import Geometry
from designer.design.wires import part_boxes

Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]


def links_on_wires(geometry: Geometry) -> tuple[Int, Bool]:
    """For each elaborated link the wire that shows it, −1 where none does, and whether the wire runs b → a.

    Members of an open group that are like the one shown count for its wires. : (n_links,) each

    Raises
    ------
    DocumentError
        If the design cannot be elaborated.
    """
    net = elaborate(geometry.design)
    shown = part_boxes(net, geometry.boxes, every_member=True)
    offset = geometry.n_behind
    a, b = shown[net.link_a], shown[net.link_b]
    seen = (a >= 0) & (b >= 0) & (a != b)
    codes = {kind: code for code, kind in enumerate(geometry.wire_kinds)}
    kind = np.array([codes.get(link.kind, -1) for link in net.link_defs], dtype=np.int64)[net.link_def]
    key = _key(a + offset, b + offset, kind, len(geometry), len(codes))
    wire_key = _key(geometry.wire_a, geometry.wire_b, geometry.wire_kind, len(geometry), len(codes))
    order = np.argsort(wire_key, kind="stable")
    if not len(order):
        return np.full(net.n_links, -1, dtype=np.int64), np.zeros(net.n_links, dtype=bool)
    at = np.minimum(np.searchsorted(wire_key[order], key), len(order) - 1)
    wire = order[at]
    found = seen & (kind >= 0) & (wire_key[wire] == key)
    return np.where(found, wire, -1), found & (geometry.wire_a[wire] != a + offset)


def _key(a: Int, b: Int, kind: Int, boxes: int, kinds: int) -> Int:
    return (np.minimum(a, b) * boxes + np.maximum(a, b)) * kinds + kind
