"""A link or part that fails at a time: what changes on the clock for it, and for all that is in it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from designer.design.channels import link_number
from designer.engine.clock.jobs import Change, PartChange
from designer.engine.network import Network
from designer.errors import AnalysisError, DocumentError


@dataclass(frozen=True, slots=True)
class Failure:
    """A link, or all links of a part, by path: from a time on it has a share of its capacity, 0 for failed."""

    path: str
    at: float
    share: float = 0.0


def changes_of_parts(network: Network, failure: Failure) -> list[PartChange]:
    """A failure as changes of what computes; nothing where it is that of a link."""
    net = network.net
    part = next((k for k in range(net.n_parts) if net.path(k) == failure.path), None)
    near = inside(network, part).tolist() if part is not None else []
    return [PartChange(failure.at, k, min(1.0, failure.share)) for k in near]


def inside(network: Network, part: int) -> npt.NDArray[np.int64]:
    """A part and all that is in it: a server that fails takes what it holds with it."""
    found = np.array([part])
    while True:
        more = np.flatnonzero(np.isin(network.net.parent, found))
        more = more[~np.isin(more, found)]
        if not len(more):
            return found
        found = np.concatenate([found, more])


def changes_of_links(network: Network, failure: Failure) -> list[Change]:
    """A failure as changes of the resources of its links.

    Raises
    ------
    AnalysisError
        If there is no such link or part.
    """
    net, path = network.net, failure.path
    if not 0 <= failure.at < math.inf or not 0 <= failure.share < math.inf:
        raise AnalysisError(f"{path} fails at {failure.at:g} s", place="fail", remedy="give a time of 0 s or later")
    sides = {":ab": (0,), ":ba": (1,)}.get(path[-3:], (0, 1))
    name = path[:-3] if len(sides) == 1 else path
    link = link_number(net, name)
    links = [link] if link is not None else []
    resources: list[int] = []
    if not links:
        try:
            part = net.index_of(path)
        except DocumentError:
            part = -1
        if part < 0 or net.path(part) != path:
            raise AnalysisError(
                f"there is no link or part {path!r}", place="fail", remedy="name one as `designer analyze --json` does"
            )
        near = inside(network, part)
        links = np.flatnonzero(np.isin(net.link_a, near) | np.isin(net.link_b, near)).tolist()
        resources += [int(r) for r in network.part_resource[near] if r >= 0]
    for link in links:
        cables, first = int(network.cables[link]), int(network.first_resource[link])
        for side in sides if network.full[link] else (0,):
            resources += range(first + side * cables, first + (side + 1) * cables)
    return [Change(failure.at, resource, failure.share) for resource in resources]
