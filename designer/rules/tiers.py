"""The tiers of switches of each fabric, by their distance from the hosts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability
from designer.engine.network import Network
from designer.engine.network.capacities import NETWORK
from designer.engine.network.islands import roles_of
from designer.engine.routes.gateways import find_fabric

Int = npt.NDArray[np.int64]
#: roles of NICs that carry the traffic of accelerators
COMPUTE_ROLES = ("", "compute", "backend", "back-end")


@dataclass(frozen=True, slots=True, eq=False)
class Tier:
    """The switches at one distance from the hosts in one fabric.

    Parameters
    ----------
    level
        1 for leaves, 2 for spines, and so on.
    switches : part numbers
    down, up : (n_switches,) raw rate towards the hosts and away from them [B/s]
    compute
        Whether traffic of accelerators runs on this fabric, and not that of storage or management alone.
    """

    fabric: int
    level: int
    switches: Int
    down: npt.NDArray[np.float64]
    up: npt.NDArray[np.float64]
    compute: bool

    @property
    def name(self) -> str:
        """Word for a switch of this tier."""
        return {1: "leaf", 2: "spine"}.get(self.level, "core")


def find_tiers(network: Network) -> tuple[Tier, ...]:
    """The switches by fabric and distance from the hosts; storage systems do not make a switch a leaf."""
    fabric = find_fabric(network)
    parts = np.flatnonzero(fabric.switch >= 0)
    if not len(parts):
        return ()
    net = network.net
    links = np.flatnonzero(network.domain == NETWORK)
    a, b, rate = fabric.switch[net.link_a[links]], fabric.switch[net.link_b[links]], network.rate[links]
    stores = network.has(Capability.STORE)
    level = np.zeros(len(parts), dtype=np.int64)
    below = np.zeros(len(parts), dtype=np.float64)
    served = ~stores[fabric.gateway]
    np.add.at(below, fabric.to_switch[served], network.rate[fabric.out[served] >> 1])
    # switches of storage systems are leaves as well, or what leads to them would look like a way up
    level[np.unique(fabric.to_switch)] = 1
    inside = (a >= 0) & (b >= 0)
    sa, sb, inner = a[inside], b[inside], rate[inside]
    at = 1
    while True:
        reached = np.concatenate([sb[level[sa] == at], sa[level[sb] == at]])
        new = np.unique(reached[level[reached] == 0])
        if not len(new):
            break
        at += 1
        level[new] = at
    down, up = below, np.zeros(len(parts), dtype=np.float64)
    for here, there in ((sa, sb), (sb, sa)):
        higher, lower = level[there] > level[here], level[there] < level[here]
        np.add.at(up, here[higher], inner[higher])
        np.add.at(down, here[lower], inner[lower])
    component = np.full(len(parts), -1, dtype=np.int64)
    component[fabric.to_switch] = fabric.fabric
    for here, there in ((sa, sb), (sb, sa)) * at:
        unknown = component[there] < 0
        component[there[unknown]] = component[here[unknown]]
    roles = np.array([role in COMPUTE_ROLES for role in roles_of(network)], dtype=bool)
    computing = set(fabric.fabric[roles[net.part_def[fabric.gateway]] & served].tolist())
    found: list[Tier] = []
    for number in np.unique(component[component >= 0]).tolist():
        for depth in range(1, at + 1):
            chosen = np.flatnonzero((component == number) & (level == depth))
            if len(chosen):
                members = (parts[chosen], down[chosen], up[chosen])
                found.append(Tier(number, depth, *members, number in computing))
    return tuple(found)
