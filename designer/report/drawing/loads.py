"""Loads on the connections of a picture, from loads on the channels of the elaborated design."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.analysis.results import Bottleneck
from designer.design.channels import boxes_of_parts, channel_number, links_on_connections
from designer.design.elaborate import Netlist, elaborate
from designer.design.geometry import Geometry
from designer.design.rates import raw_rate

Float = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]
Int = npt.NDArray[np.int64]
#: channels like a binding one bind with it when they are as full, to rounding
_AS_FULL: Final = 0.999


@dataclass(frozen=True, slots=True, eq=False)
class Loads:
    """What each connection carries, column 0 from its end a to b, column 1 back; NaN where nothing is known.

    A connection may show many links: what is told is told of the fullest.

    Parameters
    ----------
    utilisation : (m, 2) share of what the link can achieve
    rate : (m, 2) carried [B/s]
    capacity : (m, 2) raw capacity [B/s]
    bottleneck : (m, 2) whether some link shown holds back the workload
    links : (m, 2) how many links (bundles) the connection shows
    box_bottleneck : (n,) how many equal parts a box stands for that hold back the workload by themselves, 0 for none
    """

    utilisation: Float
    rate: Float
    capacity: Float
    bottleneck: Bool
    links: Int
    box_bottleneck: Int


def loads_of(geometry: Geometry, load: Float, utilisation: Float, binding: Collection[Bottleneck] = ()) -> Loads:
    """The loads on the connections of a picture.

    Parameters
    ----------
    load, utilisation : (2 · n_links,) per channel, 2 · link from a to b and 2 · link + 1 back [B/s], [1]
    binding
        What holds back the workload; channels of the same link definition that are as full count too.

    Raises
    ------
    DocumentError
        If the design cannot be elaborated.
    """
    net = elaborate(geometry.design)
    connection, backwards = links_on_connections(geometry)
    links = np.flatnonzero(connection >= 0)
    each = np.array([raw_rate(link)[0] * link.count for link in net.link_defs], dtype=np.float64)
    capacity = each[net.link_def] if net.n_links else np.empty(0)
    bottleneck = _bottleneck(net, utilisation, [b.id for b in binding if b.what == "channel"])
    shape = (geometry.n_connections, 2)
    found = Loads(
        np.full(shape, np.nan), np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape, dtype=bool),
        np.zeros(shape, dtype=np.int64), _bottleneck_boxes(geometry, net, binding, connection, bottleneck),
    )  # fmt: skip
    for direction in (0, 1):
        channel = 2 * links + direction
        order = np.lexsort((load[channel], utilisation[channel]))  # the fullest last, so that it is what stays
        at = (connection[links[order]], np.where(backwards[links[order]], 1 - direction, direction))
        found.utilisation[at] = np.fmax(found.utilisation[at], utilisation[channel[order]])
        found.rate[at] = load[channel[order]]
        found.capacity[at] = capacity[links[order]]
        np.logical_or.at(found.bottleneck, at, bottleneck[channel[order]])
        np.add.at(found.links, at, 1)
    return found


def _bottleneck_boxes(
    geometry: Geometry, net: Netlist, binding: Collection[Bottleneck], connection: Int, bottleneck_channels: Bool
) -> Int:
    """How many equal parts bind at each box, 1 where a link inside a closed card does. : (n,)"""
    found, boxes = np.zeros(len(geometry), dtype=np.int64), boxes_of_parts(geometry)
    hidden = np.flatnonzero((connection < 0) & bottleneck_channels.reshape(-1, 2).any(axis=1))
    a, b = boxes[net.link_a[hidden]], boxes[net.link_b[hidden]]
    found[a[(a >= 0) & (a == b)]] = 1
    for bottleneck in binding:
        if bottleneck.what in ("part", "compute"):
            box = int(boxes[net.index_of(bottleneck.id)])
            if box >= 0:
                found[box] = max(int(found[box]), bottleneck.alike)
    return found


def _bottleneck(net: Netlist, utilisation: Float, binding: Collection[str]) -> Bool:
    """Which channels bind. : (2 · n_links,)"""
    bottleneck = np.zeros(2 * net.n_links, dtype=bool)
    for channel_id in binding:
        number = channel_number(net, channel_id)
        if number is None:
            continue
        alike = 2 * np.flatnonzero(net.link_def == net.link_def[number // 2]) + number % 2
        bottleneck[alike] |= utilisation[alike] >= _AS_FULL * utilisation[number]
    return bottleneck
