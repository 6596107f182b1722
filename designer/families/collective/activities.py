"""What hops that work in lockstep come to on a design: one rate for all, and the resources that hold it there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from designer.engine.network import NETWORKS_LIMIT, TIE_TOLERANCE, Network
from designer.engine.network.capacities import NETWORK, of_each
from designer.engine.network.partition import Float, Int
from designer.engine.routes.efficiency import N_PLACEMENTS, derated, efficiencies_of
from designer.engine.routes.hop_loads import Cells, Hops, resources_of
from designer.formulas.collectives import EdgeRate
from designer.formulas.transfer.achievable_fraction import both_directions_share
from designer.memo import memo
from designer.sources import Constant, Status

_ENDS: Final = ("value", "low", "high")


@dataclass(frozen=True, slots=True, eq=False)
class Activity:
    """A synchronous pattern of hops on the network: what it gets, and what holds it there.

    Parameters
    ----------
    rate
        What it gets alone [B/s], raw.
    binding, following
        Classes of resources that bind it, and those that would next; ``rate_then`` is the rate when the first are
        gone.
    edge
        What plain transfers over these links reach when all hops are busy at once, so what no hop can pass;
        ``edge_classes`` and ``edge_links`` are the classes of resources and of links used both ways that hold it there.
    """

    hops: Hops
    rate: float
    binding: Int
    following: Int
    rate_then: float
    edge: EdgeRate
    edge_classes: Int
    edge_links: Int

    @property
    def n_legs(self) -> int:
        """How many hops there are."""
        return self.hops.n_legs

    def binds_on(self, network: Network, links: Int) -> Int:
        """The resources of some links that bind it."""
        resource = resources_of(network, links)[0]
        return resource[np.isin(self.hops.classes.of[resource], self.binding + 1)]

    def tightest(self) -> tuple[Int, Int]:
        """One resource of every class that binds it, and how many there are of each."""
        return self._leads(self.binding)

    def then(self) -> tuple[Int, Int]:
        """The same for what would bind it next."""
        return self._leads(self.following)

    def edge_tightest(self, network: Network) -> tuple[Int, Int]:
        """The same for what holds plain transfers back."""
        if not len(self.edge_links):
            return self._leads(self.edge_classes)
        # a PCIe link has one resource a direction, and both represent the link; some bind by themselves as well
        hops = self.hops
        first = network.first_resource[hops.two_way_links[hops.two_way.members(self.edge_links)]]
        every = np.unique(np.concatenate([hops.members(self.edge_classes), first, first + 1]))
        return every, np.ones(len(every), dtype=np.int64)

    def _leads(self, classes: Int) -> tuple[Int, Int]:
        order = np.argsort(self.hops.first[classes])
        return self.hops.first[classes[order]], self.hops.many[classes[order]]


def activity_of(network: Network, hops: Hops) -> Activity:
    """What hops get on a network: one rate for all, so the tightest resource gives it."""
    first = hops.first
    capacity = network.capacity_of(first)
    level = capacity * _calibrated_shares(network)[network.net.link_def[network.links_of(first)]]
    level = level / hops.usage
    rate = float(level.min())
    binds = level <= rate * (1 + TIE_TOLERANCE)
    rest = level[~binds]
    rate_then = float(rest.min()) if len(rest) else np.inf
    follows = ~binds & (level <= rate_then * (1 + TIE_TOLERANCE)) if len(rest) else np.zeros(len(level), dtype=bool)
    return Activity(
        hops, rate, np.flatnonzero(binds), np.flatnonzero(follows), rate_then, *_edge(network, hops, capacity)
    )


def _edge(network: Network, hops: Hops, capacity: Float) -> tuple[EdgeRate, Int, Int]:
    """What the network solves for these hops, all equally busy: one rate for all, so the tightest resource gives it.

    Notes
    -----
    The fractions are those of single transfers: rings are measured on few machines, and where a link keeps less of
    its raw rate than those did, such as one between sockets, the ring cannot have more.
    """
    net = network.net
    definition = net.link_def[network.links_of(hops.first)]
    links = hops.two_way_links[hops.two_way.first]
    of_link = net.link_def[links]
    kept = {
        d: both_directions_share(net.link_defs[d].generation or 0, peers=d not in hops.hosted)
        for d in np.unique(of_link).tolist()
    }
    rates = 2 * network.class_rate[network.arrays.rate_class[links]]
    ends: list[float] = []
    binds, by_links = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    taken, taken_both = (
        _shares_taken(network, hops.cells, definition),
        _shares_taken(network, hops.two_way_cells, of_link),
    )
    for k, end in enumerate(_ENDS):
        level = capacity / taken[k]
        both = np.empty(0)
        if len(links):
            share_kept = np.array([getattr(kept[d], end) for d in of_link.tolist()])
            both = rates * share_kept / taken_both[k]
        rate = float(min(level.min(), both.min(initial=np.inf)))
        ends.append(rate)
        if end == "value":
            binds = np.flatnonzero(level <= rate * (1 + TIE_TOLERANCE))
            by_links = np.flatnonzero(both <= rate * (1 + TIE_TOLERANCE))
    return EdgeRate(*ends), binds, by_links


def _shares_taken(network: Network, cells: Cells, definition: Int) -> Float:
    """What is taken of each row by all kinds of hops together, at what they achieve of its definition.

    Returns
    -------
    numpy array : (3, n_rows)
        For each end of the band of what they achieve.
    """
    efficiencies = efficiencies_of(network)
    load = np.zeros((len(_ENDS), len(definition)))
    share = np.ones((len(_ENDS), len(network.net.link_defs)))
    for code, usage in zip(cells.codes, cells.usage, strict=True):
        rows = np.flatnonzero(usage)
        of_row = definition[rows]
        for d in set(of_row.tolist()):
            constant = efficiencies.constant(d, *divmod(code, N_PLACEMENTS))
            share[:, d] = [min(1.0, getattr(constant, end)) for end in _ENDS]
        load[:, rows] += usage[rows] / share[:, of_row]
    return load


@memo(most=NETWORKS_LIMIT)
def _calibrated_shares(network: Network) -> Float:
    """Share of links that collectives were measured to get, 1 where nothing was measured. : (n_link_defs,)"""
    whole = Constant(1, 1, 1, "", Status.DERIVED)
    return np.array(of_each(lambda d: derated(whole, d.attributes, "collective").value, network.net.link_defs))


def host_rate(network: Network, hops: Hops) -> float:
    """Rate that the links inside servers which hops use would give alone [B/s]; 0 where there are none."""
    level, _ = _host_levels(network, hops)
    return float(level.min()) if len(level) else 0.0


def host_tightest(network: Network, hops: Hops) -> tuple[Int, Int]:
    """One resource of every class that holds that rate, and how many there are of each."""
    level, classes = _host_levels(network, hops)
    binds = classes[level <= level.min(initial=np.inf) * (1 + TIE_TOLERANCE)]
    return hops.first[binds], hops.many[binds]


def _host_levels(network: Network, hops: Hops) -> tuple[Float, Int]:
    host = np.flatnonzero(network.domain[network.links_of(hops.first)] != NETWORK)
    return network.capacity_of(hops.first[host]) / hops.usage[host], host
