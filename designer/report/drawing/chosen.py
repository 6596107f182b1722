"""Part of a picture: some boxes with all they contain, and the connections among them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from designer.design.address import address_text
from designer.design.geometry import Geometry
from designer.errors import ExchangeError
from designer.report.drawing.loads import Loads


def chosen_part(geometry: Geometry, paths: Collection[str], loads: Loads | None) -> tuple[Geometry, Loads | None]:
    """The picture of only the boxes at some paths; a path is an address and an id, ``servers[*]/gpu0``.

    Raises
    ------
    ExchangeError
        If a path names nothing that is drawn.
    """
    keep = np.zeros(len(geometry), dtype=bool)
    number = {path_of(geometry, box): box for box in range(len(geometry))}
    for path in paths:
        box = number.get(path)
        if box is None:
            raise ExchangeError(f"{path!r} is not in the picture", remedy="choose something that is drawn")
        keep[box : geometry.last[box]] = True
    new = np.cumsum(keep) - 1
    connections = keep[geometry.connection_a] & keep[geometry.connection_b]
    above = geometry.parent[keep]
    inside = (above >= 0) & keep[above]
    ends = np.concatenate([[0], np.cumsum(keep)])
    picked = replace(
        geometry,
        refs=[ref for ref, kept in zip(geometry.refs, keep.tolist(), strict=True) if kept],
        parent=np.where(inside, new[above], -1),
        last=ends[geometry.last[keep]],
        **{name: getattr(geometry, name)[keep] for name in _BOXES},
        **{name: getattr(geometry, name)[connections] for name in _CONNECTIONS},
        connection_a=new[geometry.connection_a[connections]],
        connection_b=new[geometry.connection_b[connections]],
        memory={},
    )
    if loads is None:
        return picked, None
    return picked, Loads(
        loads.utilisation[connections],
        loads.rate[connections],
        loads.capacity[connections],
        loads.bottleneck[connections],
        loads.links[connections],
        loads.box_bottleneck[keep],
    )


_BOXES = (
    "rect", "origin", "shift", "kind", "depth", "is_container", "is_group", "replicas", "member", "placed", "block",
)  # fmt: skip
_CONNECTIONS = (
    "connection_kind",
    "connection_count",
    "connection_capacity",
    "connection_status",
    "connection_shape",
    "connection_route",
    "connection_blocked",
)


def path_of(geometry: Geometry, box: int) -> str:
    """Path of what a box shows: ``servers[3]/gpu0``, ``servers[*]/gpu0`` where it stands for all members."""
    within, ref = geometry.address(box)
    return f"{address_text(within)}/{ref.id}" if within else ref.id
