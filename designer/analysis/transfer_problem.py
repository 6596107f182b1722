"""A transfer as a problem for the solver: what its flows take of links, parts and limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from designer.analysis.bottlenecks import Limit
from designer.analysis.efficiency import COPY, P2P, RDMA, STORAGE, Efficiencies
from designer.analysis.flows import Incidence
from designer.analysis.hashing import mix
from designer.analysis.network import Network
from designer.analysis.routes import Legs, Routes
from designer.analysis.selection import Traffic
from designer.analysis.staging import stages
from designer.analysis.transfer_limits import Extra, client_limits
from designer.catalog.parttype import Capability
from designer.formulas.transfer.achievable_fraction import both_directions_share

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]


class Problem:
    """The flows of one transfer as the solver is asked: what each takes of which resource.

    Attributes
    ----------
    protocol, placement : (n_flows,) how each flow is carried, and how far apart its ends are
    fraction : (nnz,) share of each link entry's raw rate that transfers achieve
    alive, number : (n_flows,) flows with a way, and their row in `incidence`
    passing
        Flow, resource and bytes that pass for each byte of the flow.
    both_ways
        Definition of the link of each limit on both directions together, by resource.
    """

    def __init__(
        self, network: Network, traffic: Traffic, legs: Legs, routes: Routes, demand: Float, extra: Sequence[Extra]
    ) -> None:
        self.network, self.traffic, self.legs, self.routes = network, traffic, legs, routes
        self.efficiencies = Efficiencies(network)
        n = traffic.n_flows
        self.protocol = self._protocols()
        self.placement = self.efficiencies.placement(routes, n)
        self.fraction = self.efficiencies.of(routes, self.protocol, self.placement)
        resource = self.link_resources()
        part_flow, part_resource, part_usage = self._part_entries(legs)
        limit_flow, limit_resource, limit_usage, self.limits = client_limits(network, legs)
        both, self.both_ways = self._both_ways(network.n_resources + len(self.limits))
        extra = (*both, *extra)
        first = network.n_resources + len(self.limits)
        self.limits = (*self.limits, *(e.limit for e in extra))
        entries = len(routes.flow) + len(part_flow)
        flow = np.concatenate([routes.flow, part_flow, limit_flow, *(e.flow for e in extra)])
        numbered = (np.full(len(e.flow), first + k) for k, e in enumerate(extra))
        resource = np.concatenate([resource, part_resource, limit_resource, *numbered])
        usage = np.concatenate([routes.share / self.fraction, part_usage, limit_usage, *(e.usage for e in extra)])
        # the same as bytes that pass, for limits of the physical: links at their raw rate, parts at the best they do
        passing = np.concatenate([routes.share, part_usage / self._part_highs(legs), np.zeros(len(usage) - entries)])
        self.alive = np.ones(n, dtype=bool)
        self.alive[routes.lost] = False
        self.number = np.cumsum(self.alive) - 1
        keep = self.alive[flow]
        flow, resource, usage = self.number[flow[keep]], resource[keep], usage[keep]
        order = np.argsort(flow, kind="stable")
        # flow, resource and bytes that pass for each byte of the flow
        self.passing = flow[order], resource[order], passing[keep][order]
        n_alive = int(self.alive.sum())
        ptr = np.concatenate([[0], np.cumsum(np.bincount(flow, minlength=n_alive))])
        capacity = np.concatenate([network.capacity, [limit.capacity for limit in self.limits]])
        self.asks = demand[self.alive]
        self.incidence = Incidence(
            ptr, resource[order].astype(np.int32), usage[order], capacity, np.ones(n_alive), self.asks
        )

    def _protocols(self) -> Int:
        network, traffic = self.network, self.traffic
        accelerates, stores = network.has(Capability.ACCELERATE), network.has(Capability.STORE)
        code = np.full(traffic.n_flows, COPY, dtype=np.int64)
        direct = ~self._through_host_memory()
        code[accelerates[traffic.source] & accelerates[traffic.target] & direct] = P2P
        code[(network.island[traffic.source] != network.island[traffic.target]) & direct] = RDMA
        code[stores[traffic.source] | stores[traffic.target]] = STORAGE
        return code

    def _through_host_memory(self) -> npt.NDArray[np.bool_]:
        """Which flows begin, end or stop in host memory: no traffic between peers, so roots do not slow it down."""
        found = np.zeros(self.traffic.n_flows, dtype=bool)
        found[self.routes.flow[stages(self.network, self.routes)]] = True
        return found

    def link_resources(self) -> Int:
        network, routes = self.network, self.routes
        link = routes.channel >> 1
        cables = network.cables[link]
        direction = np.where(network.full[link], routes.channel & 1, 0)
        cable = (mix(routes.flow, link) % cables.astype(np.uint64)).astype(np.int64)
        return network.first_resource[link] + direction * cables + cable

    def _both_ways(self, first: int) -> tuple[tuple[Extra, ...], Mapping[int, int]]:
        """What copies in opposite directions leave each other on one PCIe link: a limit per link, and its definition.

        Requests, completions and posted writes meet in the root complex, so both directions together get less than
        twice one. NICs and storage keep their own published figures.
        """
        network, routes = self.network, self.routes
        net = network.net
        pcie = np.array([link.kind == "pcie" for link in net.link_defs], dtype=bool)
        copies = np.isin(self.protocol[routes.flow], (COPY, P2P))
        rows = np.flatnonzero(pcie[net.link_def[routes.channel >> 1]] & copies & (routes.share > 0))
        link = routes.channel[rows] >> 1
        back = (routes.channel[rows] & 1).astype(bool)
        opposite = np.intersect1d(link[back], link[~back])
        opposite = opposite[network.full[opposite]]
        found: list[Extra] = []
        definitions: dict[int, int] = {}
        labels: dict[int, str] = {}
        order = np.argsort(link, kind="stable")
        starts, ends = (np.searchsorted(link[order], opposite, side=s) for s in ("left", "right"))
        for one, start, end in zip(opposite.tolist(), starts.tolist(), ends.tolist(), strict=True):
            definition = int(net.link_def[one])
            mine = rows[order[start:end]]
            peers = bool((self.protocol[routes.flow[mine]] == P2P).all())
            kept = both_directions_share(net.link_defs[definition].generation or 0, peers=peers)
            label = labels.setdefault(
                definition, f"{network.channel_label(2 * one, both_ways=True)}, both ways at once"
            )
            capacity = 2 * float(network.rate[one]) * kept.value
            definitions[first + len(found)] = definition
            usage = routes.share[mine] / self.fraction[mine]
            found.append(Extra(Limit(f"both:{network.channel_id(2 * one)}", label, capacity), routes.flow[mine], usage))
        return tuple(found), definitions

    def _part_entries(self, legs: Legs) -> tuple[Int, Int, Float]:
        """Media and accelerator memory at both ends of every leg."""
        network = self.network
        read = np.array([r.read if r else 0.0 for r in network.part_resources])
        write = np.array([r.write if r else 0.0 for r in network.part_resources])
        definition = network.net.part_def
        flow: list[Int] = []
        resource: list[Int] = []
        usage: list[Float] = []
        for ends, cost in ((legs.source, read), (legs.target, write)):
            rows = np.flatnonzero(network.part_resource[ends] >= 0)
            flow.append(legs.flow[rows])
            resource.append(network.part_resource[ends[rows]])
            usage.append(legs.share[rows] * cost[definition[ends[rows]]])
        return np.concatenate(flow), np.concatenate(resource), np.concatenate(usage)

    def _part_highs(self, legs: Legs) -> Float:
        """How much more than their value parts at both ends of every leg may give; as `_part_entries`."""
        network = self.network
        found: list[Float] = []
        for ends, ordered in ((legs.source, "read_band"), (legs.target, "write_band")):
            high = np.array([getattr(r, ordered)[1] if r else 1.0 for r in network.part_resources])
            rows = np.flatnonzero(network.part_resource[ends] >= 0)
            found.append(high[network.net.part_def[ends[rows]]])
        return np.concatenate(found)
