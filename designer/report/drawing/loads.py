"""Loads on the wires of a picture, from loads on the channels of the elaborated design."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.analysis.results import Bound
from designer.design.channels import boxes_of_parts, channel_number, links_on_wires
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
    """What each wire carries, column 0 from its end a to b, column 1 back; NaN where nothing is known.

    A wire may show many links: what is told is told of the fullest.

    Parameters
    ----------
    utilisation : (m, 2) share of what the link can achieve
    rate : (m, 2) carried [B/s]
    capacity : (m, 2) raw capacity [B/s]
    bound : (m, 2) whether some link shown holds back the workload
    links : (m, 2) how many links (bundles) the wire shows
    box_bound : (n,) how many equal parts a box stands for that hold back the workload by themselves, 0 for none
    """

    utilisation: Float
    rate: Float
    capacity: Float
    bound: Bool
    links: Int
    box_bound: Int


def loads_of(geometry: Geometry, load: Float, utilisation: Float, binding: Collection[Bound] = ()) -> Loads:
    """The loads on the wires of a picture.

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
    wire, backwards = links_on_wires(geometry)
    links = np.flatnonzero(wire >= 0)
    each = np.array([raw_rate(link)[0] * link.count for link in net.link_defs], dtype=np.float64)
    capacity = each[net.link_def] if net.n_links else np.empty(0)
    bound = _bound(net, utilisation, [b.id for b in binding if b.what == "channel"])
    shape = (geometry.n_wires, 2)
    found = Loads(
        np.full(shape, np.nan), np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape, dtype=bool),
        np.zeros(shape, dtype=np.int64), _bound_boxes(geometry, net, binding, wire, bound),
    )  # fmt: skip
    for direction in (0, 1):
        channel = 2 * links + direction
        order = np.lexsort((load[channel], utilisation[channel]))  # the fullest last, so that it is what stays
        at = (wire[links[order]], np.where(backwards[links[order]], 1 - direction, direction))
        found.utilisation[at] = np.fmax(found.utilisation[at], utilisation[channel[order]])
        found.rate[at] = load[channel[order]]
        found.capacity[at] = capacity[links[order]]
        np.logical_or.at(found.bound, at, bound[channel[order]])
        np.add.at(found.links, at, 1)
    return found


def _bound_boxes(geometry: Geometry, net: Netlist, binding: Collection[Bound], wire: Int, bound_channels: Bool) -> Int:
    """How many equal parts bind at each box, 1 where a link inside a closed card does. : (n,)"""
    found, boxes = np.zeros(len(geometry), dtype=np.int64), boxes_of_parts(geometry)
    hidden = np.flatnonzero((wire < 0) & bound_channels.reshape(-1, 2).any(axis=1))
    a, b = boxes[net.link_a[hidden]], boxes[net.link_b[hidden]]
    found[a[(a >= 0) & (a == b)]] = 1
    for bound in binding:
        if bound.what in ("part", "compute"):
            box = int(boxes[net.index_of(bound.id)])
            if box >= 0:
                found[box] = max(int(found[box]), bound.alike)
    return found


def _bound(net: Netlist, utilisation: Float, binding: Collection[str]) -> Bool:
    """Which channels bind. : (2 · n_links,)"""
    bound = np.zeros(2 * net.n_links, dtype=bool)
    for channel_id in binding:
        number = channel_number(net, channel_id)
        if number is None:
            continue
        alike = 2 * np.flatnonzero(net.link_def == net.link_def[number // 2]) + number % 2
        bound[alike] |= utilisation[alike] >= _AS_FULL * utilisation[number]
    return bound
