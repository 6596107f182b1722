"""A transfer as a problem for the solver: what its flows, or one of each class, take of links, parts and limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability
from designer.engine.account.bottlenecks import Limit
from designer.engine.flows import Incidence
from designer.engine.network import Network
from designer.engine.network.capacities import SPREAD
from designer.engine.routes import folding, route
from designer.engine.routes.efficiency import (
    COPY,
    P2P,
    PROTOCOLS,
    RDMA,
    STORAGE,
    STORAGE_WRITE,
    both_directions,
    efficiencies_of,
)
from designer.engine.routes.folding import Fold, Meeting, every_flow, fold
from designer.engine.routes.legs import Legs
from designer.engine.routes.selection import Traffic
from designer.engine.routes.staging import stages
from designer.engine.routes.structure import cables_of
from designer.engine.transfers.flow_rates import RateEstimate
from designer.engine.transfers.limits import MOUNTED_LIMIT, FlowLimits, Mounts, client_paths, mounts_of
from designer.formulas.transfer.achievable_fraction import both_directions_share, product
from designer.memo import memo
from designer.sources import Constant, Status

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

#: limits that flows bring along, mounts that are read, and mounts that are written, with room to spare
_FAMILIES_LIMIT: Final = 4


@dataclass(frozen=True, slots=True, eq=False)
class TransferQuestion:
    """Flows whose legs are known, what each asks for, and limits of their own."""

    network: Network
    traffic: Traffic
    legs: Legs
    demand: Float
    limits: FlowLimits
    marks: Int | None = None

    def folded(self) -> Fold:
        """Classes of the flows."""
        if self.traffic.n_flows < folding.FOLDED_LIMIT:
            return self.every_flow()
        marks = (self.demand.view(np.int64), *([] if self.marks is None else [self.marks]))
        return fold(self.network, self.traffic, self.legs, marks, self.meetings())

    def every_flow(self) -> Fold:
        """Each flow in a class of its own."""
        return every_flow(self.network, self.traffic.n_flows, self.legs)

    def meetings(self) -> list[Meeting]:
        """Limits that flows meet: those of their own, then mounts of clients."""
        own, known = self.limits, dict[tuple[str, float], int]()
        kinds = [known.setdefault((one.kind or one.label, one.capacity), len(known)) for one in own.distinct]
        found = Meeting(own.flow, own.node, own.usage, np.array(kinds, dtype=np.int64)[own.of])
        return [found, *map(_mount_flows, mounts_of(self.network, self.legs))]


@memo(most=MOUNTED_LIMIT)
def _mount_flows(mounts: Mounts) -> Meeting:
    """The flows of mounts: the same object from edit to edit, as the mounts are."""
    return Meeting(mounts.flow, mounts.client, mounts.usage, mounts.kind)


@dataclass(frozen=True, slots=True, eq=False)
class FlowProblem:
    """Flows on resources, one row for each class of them.

    Parameters
    ----------
    incidence
        What a class puts on a resource that represents its equals; resources of the network, then of `limits`.
    flow, many : (n_rows,) the flow that each row describes, and how many it represents
    fold
        Classes of the flows.
    used : (n_resources,) number of the network or, above, of `limits` for each resource of the incidence; None for its
        own number
    limit_many
        How many each of the limits represents.
    estimates
        What usages rest on.
    estimate, passing : (nnz,) which of these each entry rests on, −1 for none, and bytes that pass for a byte of a flow
    """

    incidence: Incidence
    limits: tuple[Limit, ...]
    flow: Int
    many: Int
    fold: Fold
    estimates: Sequence[RateEstimate]
    estimate: Int
    passing: Float
    used: Int | None = None
    limit_many: tuple[int, ...] = ()

    @property
    def extent(self) -> int:
        """Parts and links of the network behind its classes; see ``designer.memo``."""
        return self.fold.extent if self.fold.folds else self.incidence.n_resources

    def number_of(self, rows: Int) -> Int:
        """Numbers of resources of the incidence."""
        return rows if self.used is None else self.used[rows]


@dataclass(frozen=True, slots=True, eq=False)
class _Entries:
    """What flows put on resources.

    Parameters
    ----------
    flow, resource, usage : (n,) what each takes for a byte
    passing : (n,) the same as bytes that pass, for what is physical: links at their raw rate, parts at the best they do
    true : (n,) a number for the very resource that is met, where `resource` represents several
    estimate : (n,) number of the estimate it rests on, −1 for none
    """

    flow: Int
    resource: Int
    usage: Float
    passing: Float
    true: Int
    estimate: Int


def _leads(question: TransferQuestion, folded: Fold) -> tuple[Traffic, Legs]:
    """The first flow of each class."""
    legs, traffic = question.legs, question.traffic
    legs = legs.chosen(folded.legs)
    legs = replace(legs, flow=folded.flows.of[legs.flow])
    return Traffic(legs, traffic.source[folded.flows.first], traffic.target[folded.flows.first]), legs


def _number_limits(first: int, kept: Int, lead: Int) -> Int:
    """Numbers of limits by node, −1 where none is met."""
    place = np.minimum(np.searchsorted(kept, lead), max(0, len(kept) - 1))
    return np.where(kept[place] == lead, first + place, -1) if len(kept) else np.full(len(lead), -1)


def _extra_limits(network: Network, node: Int, family: int) -> Int:
    """Numbers of limits apart from those of channels and parts."""
    return network.n_resources + _FAMILIES_LIMIT * node + family


#: fewer rows than all divided by this are sorted, more are marked
_FEW_ROWS_LIMIT: Final = 16


def _occurring_numbers(numbers: Int, size: int) -> tuple[Int, Int]:
    """Which of `size` numbers occur, ascending, and the place of each among these."""
    if len(numbers) < size // _FEW_ROWS_LIMIT:
        return np.unique(numbers, return_inverse=True)
    occurs = np.zeros(size, dtype=bool)
    occurs[numbers] = True
    place = np.cumsum(occurs, dtype=np.int32)
    return np.flatnonzero(occurs), place[numbers].astype(np.int64) - 1


class Problem:
    """The flows of one transfer, or one of each class, as the solver is asked: what each takes of which resource.

    Attributes
    ----------
    protocol, placement : (n_flows,) how each flow is carried, and how far apart its ends are
    fraction : (nnz,) share of each link entry's raw rate that transfers achieve
    alive, number : (n_flows,) flows with a way, and their row in `incidence`
    estimates, sources
        What rates rest on, and keys of what capacities of links do.
    estimate, passing : (nnz,) of each entry of `incidence`: its estimate, and bytes that pass for a byte of the flow
    met
        Flow, row of the incidence and very resource of each meeting, several of which may be one entry.
    """

    def __init__(self, question: TransferQuestion, folded: Fold) -> None:
        network = question.network
        self.network, self.question, self.fold = network, question, folded
        self.limits: tuple[Limit, ...] = ()
        self.efficiencies = efficiencies_of(network)
        self.traffic, self.legs = _leads(question, folded)
        self.many, demand = folded.flows.many, question.demand[folded.flows.first]
        self.routes = routes = route(network, self.legs)
        n = self.traffic.n_flows
        self.protocol = self._protocols()
        self.placement = self.efficiencies.placement(routes, n)
        codes, self._code = self.efficiencies.codes(routes, self.protocol, self.placement)
        constants = [self.efficiencies.constant(*code) for code in codes]
        self.fraction = np.array([constant.value for constant in constants])[self._code]
        self.estimates: list[RateEstimate] = []
        self.sources: set[str] = set()
        self._numbers: dict[str, int] = {}
        on_link = np.array([self._of_link(*of) for of in zip(codes, constants, strict=True)], dtype=np.int64)
        # what represents the channel of each entry, and what all flows that an entry represents put on it
        self.channel, equal = folded.channel(routes.channel)
        self.share = routes.share * self.many[routes.flow] / equal
        self.alive = np.ones(n, dtype=bool)
        self.alive[routes.lost] = False
        true = self.resource_of(routes.channel, routes.flow)
        rests_on = on_link[self._code]
        blocks = [_Entries(routes.flow, self.link_resources(), self.share / self.fraction, self.share, true, rests_on)]
        blocks += self._part_entries()
        #: how many limits each represents; of limits that were given and of mounts, which of them represent which
        self.limit_many: list[int] = []
        self._representing: dict[int, tuple[int, Int, Int]] = {}
        self.both_links: dict[int, int] = {}
        blocks += self._client_entries()
        blocks += self._both_ways(codes, constants)
        blocks += self._own_entries()
        self._solve_for(blocks, demand)

    def _solve_for(self, blocks: Sequence[_Entries], demand: Float) -> None:
        """The problem of all entries."""
        flow, resource, usage, passing, true, estimate = (
            np.concatenate([getattr(block, name) for block in blocks])
            for name in ("flow", "resource", "usage", "passing", "true", "estimate")
        )
        self.number = np.cumsum(self.alive) - 1
        keep = self.alive[flow]
        flow, resource, usage = self.number[flow[keep]], resource[keep], usage[keep]
        order = np.argsort(flow, kind="stable")
        flow, resource, usage = flow[order], resource[order], usage[order]
        # a few of millions are met: the others are not even counted
        n = self.network.n_resources
        self.used, resource = _occurring_numbers(resource, n + len(self.limits))
        limits = np.array([limit.capacity for limit in self.limits], dtype=np.float64)
        own = np.searchsorted(self.used, n)
        capacity = np.concatenate([self.network.capacity_of(self.used[:own]), limits[self.used[own:] - n]])
        self.met = flow, resource, true[keep][order]
        n_alive = int(self.alive.sum())
        ptr = np.concatenate([[0], np.cumsum(np.bincount(flow, minlength=n_alive))])
        self.asks = demand[self.alive]
        self.incidence = Incidence(ptr, resource.astype(np.int32), usage, capacity, np.ones(n_alive), self.asks)
        self.passing, self.estimate = passing[keep][order], estimate[keep][order]
        if self.incidence.nnz < len(flow):
            # what a flow meets twice is one entry
            key, first, of = np.unique(flow * len(self.used) + resource, return_index=True, return_inverse=True)
            self.passing = np.bincount(of, self.passing, len(key)).astype(np.float64)
            self.estimate = self.estimate[first]

    def limit_of(self, meeting: int) -> Int | None:
        """The limit that represents that of each node of a meeting, −1 where none is met; None without limits.

        Meetings are counted as the question does.
        """
        found = self._representing.get(meeting)
        return _number_limits(*found) if found is not None else None

    def number_of(self, rows: Int) -> Int:
        """Numbers of resources by their rows in the incidence."""
        return self.used[rows]

    def rows_of(self, resources: Int) -> Int:
        """The other way round, for resources that are in it."""
        return np.searchsorted(self.used, resources)

    def flat(self) -> FlowProblem:
        """Its flows on all resources of the network, by their own numbers."""
        one, flow = self.incidence, np.flatnonzero(self.alive)
        limits = np.array([limit.capacity for limit in self.limits], dtype=np.float64)
        capacity = np.concatenate([self.network.capacity, limits])
        resource = self.used[one.resource].astype(np.int32)
        every = Incidence(one.ptr, resource, one.usage, capacity, one.weight, one.demand)
        many = np.ones(len(flow), dtype=np.int64)
        return FlowProblem(every, self.limits, flow, many, self.fold, self.estimates, self.estimate, self.passing)

    def _rests_on(self, name: str, low: float, high: float, sources: Sequence[str]) -> int:
        """The number of an estimate by its band relative to the value [1]; −1 for one without a band."""
        if low == high == 1:
            return -1
        # what agrees in three digits of its band is one
        one = RateEstimate(f"{name} {low:.3g} to {high:.3g}", low, high, tuple(sources))
        number = self._numbers.setdefault(one.name, len(self.estimates))
        if number == len(self.estimates):
            self.estimates.append(one)
        return number

    def _of_link(self, code: tuple[int, int, int], constant: Constant, what: str = "") -> int:
        """The estimate of what flows of a protocol achieve of links of a definition."""
        definition, protocol, _ = code
        facts, link = self.network.link_facts[definition], self.network.net.link_defs[definition]
        spread = SPREAD[facts.status].value if facts.status in (Status.UNVERIFIED, Status.ASSUMED) else 0.0
        low, high = constant.low / constant.value * (1 - spread), constant.high / constant.value * (1 + spread)
        self.sources |= {link.source} if link.source else set()
        sources = (constant.source, *(("assumed-spread",) if spread else ()))
        return self._rests_on(f"{link.kind} {PROTOCOLS[protocol]}{what}", low, high, sources)

    def _of_limit(self, name: str, band: tuple[float, float] | None) -> int:
        """The estimate of a limit; the usual spread where it does not state its band."""
        spread = SPREAD[Status.SECONDARY].value
        low, high = band or (1 - spread, 1 + spread)
        return self._rests_on(name, low, high, () if band else ("assumed-spread",))

    @property
    def lost(self) -> Int:
        """Flows without a path."""
        return np.flatnonzero(np.isin(self.fold.flows.of, self.routes.lost))

    def _add_limits(self, limits: Sequence[Limit], many: Sequence[int]) -> int:
        """The number of the first of new limits."""
        first = self.network.n_resources + len(self.limits)
        self.limits = (*self.limits, *limits)
        self.limit_many += many
        return first

    def _protocols(self) -> Int:
        network, traffic = self.network, self.traffic
        accelerates, stores = network.has(Capability.ACCELERATE), network.has(Capability.STORE)
        code = np.full(traffic.n_flows, COPY, dtype=np.int64)
        direct = ~self._through_host_memory()
        code[accelerates[traffic.source] & accelerates[traffic.target] & direct] = P2P
        code[(network.island[traffic.source] != network.island[traffic.target]) & direct] = RDMA
        code[stores[traffic.source] | stores[traffic.target]] = STORAGE
        code[stores[traffic.target]] = STORAGE_WRITE
        return code

    def _through_host_memory(self) -> npt.NDArray[np.bool_]:
        """Which flows begin, end or stop in host memory: no traffic between peers, so roots do not slow it down."""
        found = np.zeros(self.traffic.n_flows, dtype=bool)
        found[self.routes.flow[stages(self.network, self.routes)]] = True
        return found

    def link_resources(self) -> Int:
        return self.resource_of(self.channel, self.routes.flow)

    def resource_of(self, channel: Int, flow: Int) -> Int:
        network, link = self.network, channel >> 1
        cables = network.cables[link]
        direction = np.where(network.full[link], channel & 1, 0)
        cable = cables_of(network.design.policy, flow, link, cables)
        return network.first_resource[link] + direction * cables + cable

    def _both_ways(self, codes: Sequence[tuple[int, int, int]], constants: Sequence[Constant]) -> list[_Entries]:
        """What copies in opposite directions leave each other on one PCIe link: a limit per link.

        Requests, completions and posted writes meet in the root complex, so both directions together get less than
        twice one. NICs and storage keep their own published figures.
        """
        network, routes = self.network, self.routes
        net = network.net
        taken = np.flatnonzero(routes.share > 0)
        rows, opposite = both_directions(network, self.channel[taken], routes.flow[taken], self.protocol)
        rows = taken[rows]
        link = self.channel[rows] >> 1
        equal = self.fold.channel(2 * opposite)[1]
        found: list[_Entries] = []
        labels: dict[int, str] = {}
        order = np.argsort(link, kind="stable")
        starts, ends = (np.searchsorted(link[order], opposite, side=s) for s in ("left", "right"))
        columns = (opposite.tolist(), starts.tolist(), ends.tolist())
        limits: list[Limit] = []
        first = self.network.n_resources + len(self.limits)
        for one, start, end in zip(*columns, strict=True):
            definition = int(net.link_def[one])
            mine = rows[order[start:end]]
            peers = bool((self.protocol[routes.flow[mine]] == P2P).all())
            kept = both_directions_share(net.link_defs[definition].generation or 0, peers=peers)
            label = labels.setdefault(
                definition, f"{network.channel_label(2 * one, both_ways=True)}, both ways at once"
            )
            capacity = 2 * float(network.rate_of(np.array([one]))[0]) * kept.value
            number = first + len(limits)
            self.both_links[number] = one
            usage = self.share[mine] / self.fraction[mine]
            limits.append(Limit(f"both:{network.channel_id(2 * one)}", label, capacity))
            true = -1 - (routes.channel[mine] >> 1)
            code, which = np.unique(self._code[mine], return_inverse=True)
            rests_on = [self._of_link(codes[k], product(constants[k], kept), " both ways") for k in code.tolist()]
            columns = np.full(len(mine), number), usage, np.zeros(len(mine)), true, np.array(rests_on)[which]
            found.append(_Entries(routes.flow[mine], *columns))
        self._add_limits(limits, equal.tolist())
        return found

    def _part_entries(self) -> list[_Entries]:
        """Media and accelerator memory at both ends of every leg."""
        network, legs = self.network, self.legs
        definition = network.net.part_def
        found: list[_Entries] = []
        for ends, use, band in ((legs.source, "read", "read_band"), (legs.target, "write", "write_band")):
            per_byte = np.array([getattr(r, use) if r else 0.0 for r in network.part_resources])
            # how much more than its value a part may give
            high = np.array([getattr(r, band)[1] if r else 1.0 for r in network.part_resources])
            rows = np.flatnonzero(network.part_resource[ends] >= 0)
            part, flow = ends[rows], legs.flow[rows]
            lead, equal = self.fold.part(part)
            usage = legs.share[rows] * per_byte[definition[part]] * self.many[flow] / equal
            true = network.part_resource[part]
            passing = usage / high[definition[part]]
            of, which = np.unique(definition[part], return_inverse=True)
            rests_on = np.array([self._of_part(d, use, band) for d in of.tolist()], dtype=np.int64)[which]
            found.append(_Entries(flow, network.part_resource[lead], usage, passing, true, rests_on))
        return found

    def _of_part(self, definition: int, use: str, band: str) -> int:
        facts = self.network.part_resources[definition]
        assert facts is not None
        ends: tuple[float, float] = getattr(facts, band)
        return self._rests_on(f"{facts.label} {use}", *ends, ())

    def _client_entries(self) -> list[_Entries]:
        """What one client can get from a storage system through its mount, one limit per server and system."""
        network, net = self.network, self.network.net
        found: list[_Entries] = []
        for k, mounts in enumerate(mounts_of(self.network, self.question.legs)):
            if not len(mounts.capacity):
                continue
            flow, client, usage = mounts.flow, mounts.client, mounts.usage
            rows, lead, many = self._represented_entries(1 + k, flow, client, len(mounts.capacity))
            flow, true = self._row_of(flow[rows]), client[rows]
            kept, which = np.unique(lead[true], return_inverse=True)
            usage = usage[rows] * self.many[flow] / many[true]
            labels = {one: net.part(one).label for one in np.unique(mounts.system[kept]).tolist()}
            system, capacity = mounts.system[kept].tolist(), mounts.capacity[kept].tolist()
            paths = client_paths(network.frame, mounts.system[kept].tobytes(), mounts.part[kept].tobytes())
            limits = [
                Limit(f"client:{path}", f"client of {labels[one]} at {server}", most, f"client of {labels[one]}")
                for one, most, (path, server) in zip(system, capacity, paths, strict=True)
            ]
            first = self._add_limits(limits, many[kept].tolist())
            self._representing[1 + k] = first, kept, lead
            bands = zip(mounts.low[kept].tolist(), mounts.high[kept].tolist(), strict=True)
            of_mount = np.array([self._of_limit("mounts", band) for band in bands], dtype=np.int64)
            rests_on = of_mount[which]
            beyond = _extra_limits(network, true, 1 + k)
            found.append(_Entries(flow, first + which, usage, np.zeros(len(usage)), beyond, rests_on))
        return found

    def _own_entries(self) -> list[_Entries]:
        """Limits that the question brings along."""
        own = self.question.limits
        if not len(own.of):
            return []
        rows, lead, many = self._represented_entries(0, own.flow, own.node, len(own.of))
        flow, true = self._row_of(own.flow[rows]), own.node[rows]
        kept, which = np.unique(lead[true], return_inverse=True)
        usage = own.usage[rows] * self.many[flow] / many[true]
        first = self._add_limits([own.limit(k) for k in kept.tolist()], many[kept].tolist())
        self._representing[0] = first, kept, lead
        names = [self._of_limit(limit.id.partition(":")[0], limit.band) for limit in own.distinct]
        rests_on = np.array(names, dtype=np.int64)[own.of[kept]]
        beyond = _extra_limits(self.network, true, 0)
        return [_Entries(flow, first + which, usage, np.zeros(len(usage)), beyond, rests_on[which])]

    def _represented_entries(self, meeting: int, flow: Int, node: Int, n: int) -> tuple[Int, Int, Int]:
        """Entries of flows that represent their class; which node represents each, and how many are equal to it."""
        if not self.fold.folds:
            return np.arange(len(flow)), np.arange(n), np.ones(n, dtype=np.int64)
        classes = self.fold.meetings[meeting]
        return self.fold.met[meeting], classes.lead, classes.many[classes.of]

    def _row_of(self, flow: Int) -> Int:
        return self.fold.flows.of[flow]
