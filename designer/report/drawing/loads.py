"""Loads on the wires of a picture, from loads on the channels of the elaborated design."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from designer.design.channels import links_on_wires
from designer.design.geometry import Geometry

Float = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Loads:
    """What each wire carries, column 0 from its end a to b, column 1 back; NaN where nothing is known.

    Parameters
    ----------
    utilisation : (m, 2) of the fullest link shown by the wire
    rate : (m, 2) carried by all links the wire shows [B/s]
    capacity : (m, 2) of all links the wire shows [B/s]
    bound : (m, 2) whether it holds back the workload
    """

    utilisation: Float
    rate: Float
    capacity: Float
    bound: Bool


def loads_of(geometry: Geometry, rate: Float, capacity: Float, bound: Bool | None = None) -> Loads:
    """The loads on the wires of a picture.

    Parameters
    ----------
    rate, capacity : (2 · n_links,) per channel, 2 · link from a to b and 2 · link + 1 back [B/s]
    bound : (2 · n_links,) whether the channel holds back the workload

    Raises
    ------
    DocumentError
        If the design cannot be elaborated.
    """
    wire, backwards = links_on_wires(geometry)
    links = np.flatnonzero(wire >= 0)
    shape = (geometry.n_wires, 2)
    fullest, carried, room = np.full(shape, -1.0), np.zeros(shape), np.zeros(shape)
    binding = np.zeros(shape, dtype=bool)
    for direction in (0, 1):
        channel = 2 * links + direction
        at = (wire[links], np.where(backwards[links], 1 - direction, direction))
        share = np.divide(rate[channel], capacity[channel], out=np.zeros(len(links)), where=capacity[channel] > 0)
        np.maximum.at(fullest, at, share)
        np.add.at(carried, at, rate[channel])
        np.add.at(room, at, capacity[channel])
        if bound is not None:
            np.logical_or.at(binding, at, bound[channel])
    unknown = fullest < 0
    for values in (fullest, carried, room):
        values[unknown] = np.nan
    return Loads(fullest, carried, room, binding)
