"""Transfers evaluated: routed, shared fairly, with what binds each flow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.analysis import folding
from designer.analysis.bottlenecks import Limit, Resources, describe, with_gains
from designer.analysis.efficiency import COPY, N_PLACEMENTS, P2P, RDMA, STORAGE, Efficiencies
from designer.analysis.flows import Allocation, Binding, Incidence, binding, next_bottleneck, slowest, solve
from designer.analysis.folding import Fold, Meeting, fold
from designer.analysis.hashing import mix
from designer.analysis.network import (
    LISTED_LIMIT,
    SPREAD,
    STRUCTURES_LIMIT,
    TIE_TOLERANCE,
    Frame,
    Network,
    band_of,
    columns,
    ways,
)
from designer.analysis.protocols import KERNEL_COST, cores_of_islands, host_cost, in_kernel
from designer.analysis.results import Bottleneck, ChannelLoads, Flow, Rows
from designer.analysis.routes import Legs, Routes, route
from designer.analysis.selection import Traffic, pair_up
from designer.analysis.staging import staged, stages
from designer.catalog.parttype import Capability, value_of
from designer.errors import AnalysisError
from designer.findings import Finding, Severity
from designer.formulas.transfer import LATENCY, TransferProtocol
from designer.formulas.transfer.achievable_fraction import both_directions_share, product
from designer.memo import memo
from designer.sources import Constant, Status
from designer.workload.operations import Transfer

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
#: limits that flows bring along, mounts that are read, and mounts that are written, with room to spare
_FAMILIES_LIMIT: Final = 4
NO_SHARES: Mapping[int, float] = MappingProxyType({})


#: questions about clients whose paths are kept for each frame
_PATHS_LIMIT: Final = 4


@dataclass(frozen=True, slots=True, eq=False)
class Extra:
    """A limit beside links and parts, and how much of it each unit of the flows that meet it takes."""

    limit: Limit
    flow: Int
    usage: Float


@dataclass(frozen=True, slots=True, eq=False)
class TransferAnswer:
    """What a transfer achieves.

    Parameters
    ----------
    rate, low, high : (n_flows,) [B/s]; 0 for flows without a way
    latency : (n_flows,) until the first byte is there [s]
    latency_band : (2, n_flows) the ends of its band [s]
    binding, next
        What limits the slowest flows, and what would next.
    sources
        Keys of what the rates rest on.
    """

    traffic: Traffic
    rate: Float
    low: Float
    high: Float
    latency: Float
    latency_band: Float
    binding: tuple[Bottleneck, ...]
    next: tuple[Bottleneck, ...]
    flows: Sequence[Flow]
    loads: ChannelLoads
    sources: tuple[str, ...]
    findings: tuple[Finding, ...]
    problem: FlowProblem
    expanded: Callable[[], FlowProblem]

    @property
    def incidence(self) -> Incidence:
        """All flows that have a way, on the resources of the network and then on `limits`."""
        return self.expanded().incidence

    @property
    def limits(self) -> tuple[Limit, ...]:
        """Limits beside links and parts."""
        return self.expanded().limits


@dataclass(frozen=True, slots=True, eq=False)
class FlowProblem:
    """Flows on resources, one row for each class of them.

    Parameters
    ----------
    incidence
        What a class puts on a resource that stands for its equals; resources of the network, then of `limits`.
    flow, many : (n_rows,) the flow that each row tells of, and how many it stands for
    fold
        What is alike; None where every flow is told.
    """

    incidence: Incidence
    limits: tuple[Limit, ...]
    flow: Int
    many: Int
    fold: Fold | None


def evaluate_transfer(
    network: Network,
    operation: Transfer,
    place: str,
    *,
    explained: bool = True,
    shares: Mapping[int, float] = NO_SHARES,
) -> TransferAnswer:
    """Rates of all flows of a transfer, and what binds them.

    Parameters
    ----------
    shares
        By part, bytes of its memory per second that the transfer may have of it, where that is not all [B/s].
    explained
        True to tell what binds and what would next; the rates are the same.

    Raises
    ------
    AnalysisError
        If nothing can be routed.
    """
    return _asked(network, operation, place, shares).answer(place, explained)


def _asked(network: Network, operation: Transfer, place: str, shares: Mapping[int, float] = NO_SHARES) -> _Question:
    """A transfer paired up."""
    traffic = pair_up(network, operation, place)
    direct = None if operation.through_memory is None else not operation.through_memory
    legs = staged(network, traffic.legs, direct)
    demand = np.full(traffic.n_flows, operation.demand if operation.demand > 0 else np.inf)
    extra = (*_protocol_cores(network, legs), *_memory_shares(network, legs, shares))
    return _Question(network, traffic, legs, demand, extra)


def _memory_shares(network: Network, legs: Legs, shares: Mapping[int, float]) -> list[Extra]:
    """What is to be had of the memory of parts of which a machine has a share."""
    found: list[Extra] = []
    for part, rate in shares.items():
        facts = network.part_resources[int(network.net.part_def[part])]
        flow: list[Int] = []
        usage: list[Float] = []
        for ends, cost in ((legs.source, facts.read if facts else 1.0), (legs.target, facts.write if facts else 1.0)):
            rows = np.flatnonzero(ends == part)
            flow.append(legs.flow[rows])
            usage.append(legs.share[rows] * cost)
        path = network.net.path(part)
        limit = Limit(f"share:{path}", f"share of the memory of {path}", rate)
        found.append(Extra(limit, np.concatenate(flow), np.concatenate(usage)))
    return found


def _protocol_cores(network: Network, legs: Legs) -> tuple[Extra, ...]:
    """What the cores of every host can move to and from storage, where the protocol needs them."""
    stores = in_kernel(network)
    rows = np.flatnonzero(stores[legs.source] | stores[legs.target])
    if not len(rows):
        return ()
    mine = Legs(legs.flow[rows], legs.source[rows], legs.target[rows], legs.share[rows])
    cost = host_cost(network, mine)
    host = network.island[np.where(stores[mine.source], mine.target, mine.source)]
    available = cores_of_islands(network)
    found: list[Extra] = []
    rows = np.flatnonzero(cost > 0)
    rows = rows[np.argsort(host[rows], kind="stable")]
    for alike in np.split(rows, np.flatnonzero(np.diff(host[rows])) + 1):
        cores = float(available[host[alike[0]]]) if len(alike) else 0.0
        if cores:
            limit = Limit("cores", "processor cores moving data", cores / KERNEL_COST.value)
            usage = mine.share[alike] * cost[alike] / KERNEL_COST.value
            found.append(Extra(limit, mine.flow[alike], usage))
    return tuple(found)


def evaluate_legs(
    network: Network,
    traffic: Traffic,
    demand: Float,
    extra: Sequence[Extra],
    place: str,
    *,
    explained: bool = True,
    marks: Int | None = None,
) -> TransferAnswer:
    """Rates of flows whose legs are given, under limits of their own as well.

    Parameters
    ----------
    demand : (n_flows,) most each flow asks for [B/s]
    explained
        True to tell what binds and what would next; the rates are the same.
    marks : (n_flows,) flows of other marks are never of one class

    Raises
    ------
    AnalysisError
        If nothing can be routed.
    """
    return _Question(network, traffic, traffic.legs, demand, extra, marks).answer(place, explained)


@dataclass(frozen=True, slots=True, eq=False)
class TransferDemand:
    """What the flows of a transfer ask of the network, to be solved together with other traffic."""

    incidence: Incidence
    limits: tuple[Limit, ...]


def transfer_demand(network: Network, operation: Transfer, place: str) -> TransferDemand:
    """The flows of a transfer as activities on the resources of the network, then on `limits`.

    Raises
    ------
    AnalysisError
        If nothing can be routed.
    """
    asked = _asked(network, operation, place)
    evaluation = _Evaluation(asked, None)
    _lost(network, asked.traffic, evaluation.lost, evaluation.routes, place)
    return TransferDemand(evaluation.incidence, evaluation.limits)


def _lost(network: Network, traffic: Traffic, lost: Int, routes: Routes, place: str) -> list[Finding]:
    found: list[Finding] = []
    net = network.net
    if len(lost):
        if len(lost) == traffic.n_flows:
            f = int(lost[0])
            raise AnalysisError(
                f"there is no way from {net.path(int(traffic.source[f]))} to {net.path(int(traffic.target[f]))}",
                place=place,
                remedy="join them by links, or give both servers NICs on one network",
            )
        where = tuple(net.path(int(traffic.target[f])) for f in lost[:20])
        text = f"{len(lost)} of {traffic.n_flows} flows have no way and are left out"
        found.append(Finding("FLOW-NO-WAY", Severity.ERROR, text, where, "join these parts to the others"))
    if routes.hashed:
        text = "traffic is hashed to single ways: splitting it over all ways would need too many entries"
        found.append(Finding("FLOW-HASHED", Severity.INFO, text, (), "set the policy to hash to choose the seed"))
    return found


def _ends(constant: Constant) -> Float:
    return np.array([constant.value, constant.low, constant.high])


@memo(most=STRUCTURES_LIMIT, each=_PATHS_LIMIT)
def _paths(frame: Frame, systems: bytes, clients: bytes) -> list[tuple[str, str]]:
    """Paths of storage systems, and of the servers that some parts are in."""
    net = frame.net
    one = {s: net.path(s) for s in set(np.frombuffer(systems, dtype=np.int64).tolist())}
    pairs = zip(np.frombuffer(systems, np.int64).tolist(), np.frombuffer(clients, np.int64).tolist(), strict=True)
    return [(one[s], net.path(c).rpartition("/")[0] or "the server") for s, c in pairs]


@dataclass(frozen=True, slots=True, eq=False)
class _Question:
    """Flows whose legs are known, what each asks for, and limits of their own."""

    network: Network
    traffic: Traffic
    legs: Legs
    demand: Float
    extra: Sequence[Extra]
    marks: Int | None = None

    def answer(self, place: str, explained: bool) -> TransferAnswer:
        """Rates of all flows, worked out for one of each class."""
        evaluation = _Evaluation(self, self.folded())
        findings = _lost(self.network, self.traffic, evaluation.lost, evaluation.routes, place)
        return evaluation.answer(findings, explained)

    def folded(self) -> Fold | None:
        """Which flows are alike."""
        network, traffic = self.network, self.traffic
        if traffic.n_flows < folding.ALIKE_LIMIT:
            return None
        definition = network.net.part_def
        kind = mix(definition[traffic.source], definition[traffic.target], self.demand.view(np.int64)).view(np.int64)
        kind = kind if self.marks is None else mix(kind, self.marks).view(np.int64)
        return fold(network, self.legs, kind, (traffic.source, traffic.target), self.meetings())

    def meetings(self) -> list[Meeting]:
        """Limits that flows meet: those of their own, then mounts of clients."""
        known: dict[tuple[str, float], int] = {}
        kinds = [known.setdefault((e.limit.kind or e.limit.label, e.limit.capacity), len(known)) for e in self.extra]
        size = [len(e.flow) for e in self.extra]
        none = np.empty(0, dtype=np.int64)
        found = [
            Meeting(
                np.concatenate([none, *(e.flow for e in self.extra)]),
                np.repeat(np.arange(len(size)), size),
                np.concatenate([np.empty(0), *(e.usage for e in self.extra)]),
                np.array(kinds, dtype=np.int64),
            )
        ]
        mounts = mounts_of(self.network, self.legs)
        return [*found, *(Meeting(m.flow, m.client, m.usage, m.kind) for m in mounts)]


@dataclass(frozen=True, slots=True, eq=False)
class _Mounts:
    """Mounts of one direction: one for each storage system and server.

    Parameters
    ----------
    flow, client, usage : (n_entries,) what each flow takes of which mount
    system, part : (n_mounts,) the system, and a part of the server
    capacity, kind : (n_mounts,) [B/s]; systems of other definitions have other kinds
    """

    flow: Int
    client: Int
    usage: Float
    system: Int
    part: Int
    capacity: Float
    kind: Int


def mounts_of(network: Network, legs: Legs) -> list[_Mounts]:
    """What one client can get from a storage system through its mount: for reading, then for writing."""
    net = network.net
    stores = [d for d, kind in enumerate(network.kinds) if Capability.STORE in kind.capabilities]
    found: list[_Mounts] = []
    ends = (
        ("client_read_bandwidth", legs.source, legs.target),
        ("client_write_bandwidth", legs.target, legs.source),
    )
    for name, systems, clients in ends:
        rates = np.zeros(len(network.kinds))
        for d in stores:
            part = net.part_defs[d]
            quantity = network.design.quantity(part, name)
            rates[d] = (value_of(part.kind, name, quantity) if quantity else None) or 0.0
        rows = np.flatnonzero(rates[net.part_def[systems]]) if rates.any() else systems[:0]
        system, island = systems[rows], network.island[clients[rows]]
        _, head, pair = np.unique(system * network.n_islands + island, return_index=True, return_inverse=True)
        order = np.argsort(head, kind="stable")
        place = np.empty(len(head), dtype=np.int64)
        place[order] = np.arange(len(head))
        lead = head[order]
        found.append(
            _Mounts(
                legs.flow[rows],
                place[pair],
                legs.share[rows],
                system[lead],
                clients[rows[lead]],
                rates[net.part_def[system[lead]]],
                net.part_def[system[lead]],
            )
        )
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Entries:
    """What flows put on resources.

    Parameters
    ----------
    flow, resource, usage : (n,) what each takes for a byte
    passing : (n,) the same as bytes that pass, for what is physical: links at their raw rate, parts at the best they do
    true : (n,) a number for the very resource that is met, where `resource` stands for several
    """

    flow: Int
    resource: Int
    usage: Float
    passing: Float
    true: Int


def _leads(question: _Question, folded: Fold) -> tuple[Traffic, Legs]:
    """The first flow of each class."""
    legs, traffic = question.legs, question.traffic
    row = np.full(traffic.n_flows, -1, dtype=np.int64)
    row[folded.lead] = np.arange(len(folded.lead))
    mine = row[legs.flow] >= 0
    legs = Legs(row[legs.flow[mine]], legs.source[mine], legs.target[mine], legs.share[mine])
    return Traffic(legs, traffic.source[folded.lead], traffic.target[folded.lead]), legs


def _names(client: Int, paths: Sequence[str]) -> Callable[[Int], list[str]]:
    """What names the limits of mounts, by the number of the client."""
    known = dict(zip(client.tolist(), paths, strict=True))
    return lambda clients: [f"client:{known[c]}" for c in clients.tolist()]


def _numbered(first: int, kept: Int, lead: Int) -> Int:
    """Numbers of limits by node, −1 where none is met."""
    place = np.minimum(np.searchsorted(kept, lead), max(0, len(kept) - 1))
    return np.where(kept[place] == lead, first + place, -1) if len(kept) else np.full(len(lead), -1)


def _beyond(network: Network, node: Int, family: int) -> Int:
    """Numbers of limits apart from those of channels and parts."""
    return network.n_resources + _FAMILIES_LIMIT * node + family


class _Evaluation:
    """One transfer being solved: all its flows, or one of each class."""

    def __init__(self, question: _Question, folded: Fold | None) -> None:
        network = question.network
        self.network, self.question, self.fold = network, question, folded
        self.limits: tuple[Limit, ...] = ()
        self.efficiencies = Efficiencies(network)
        if folded is None:
            self.traffic, self.legs, demand = question.traffic, question.legs, question.demand
            self.many = np.ones(self.traffic.n_flows, dtype=np.int64)
        else:
            self.traffic, self.legs = _leads(question, folded)
            self.many, demand = folded.many, question.demand[folded.lead]
        self.routes = routes = route(network, self.legs)
        n = self.traffic.n_flows
        self.protocol = self._protocols()
        self.placement = self.efficiencies.placement(routes, n)
        self.fraction = self.efficiencies.of(routes, self.protocol, self.placement)
        # what stands for the channel of each entry, and what all flows that an entry stands for put on it
        self.channel, alike = (routes.channel, None) if folded is None else folded.channel(routes.channel)
        self.share = routes.share if alike is None else routes.share * self.many[routes.flow] / alike
        self.alive = np.ones(n, dtype=bool)
        self.alive[routes.lost] = False
        true = self._resource_of(routes.channel, routes.flow)
        blocks = [_Entries(routes.flow, self._link_resources(), self.share / self.fraction, self.share, true)]
        blocks += self._part_entries()
        #: how many limits each stands for; of limits that were given and of mounts, the number of the one that stands
        self.limit_many: list[int] = []
        self.limit_of: dict[int, Int] = {}
        self.both_links: dict[int, int] = {}
        blocks += self._client_entries()
        both, self.both_ways = self._both_ways()
        blocks += both
        blocks += self._own_entries()
        self._solve_for(blocks, demand)

    def _solve_for(self, blocks: Sequence[_Entries], demand: Float) -> None:
        """The problem of all entries."""
        flow, resource, usage, passing, true = (
            np.concatenate([getattr(block, name) for block in blocks])
            for name in ("flow", "resource", "usage", "passing", "true")
        )
        self.number = np.cumsum(self.alive) - 1
        keep = self.alive[flow]
        flow, resource, usage = self.number[flow[keep]], resource[keep], usage[keep]
        order = np.argsort(flow, kind="stable")
        # flow, resource and bytes that pass for each byte of the flow
        self.passing = flow[order], resource[order], passing[keep][order]
        self.true = true[keep][order]
        n_alive = int(self.alive.sum())
        ptr = np.concatenate([[0], np.cumsum(np.bincount(flow, minlength=n_alive))])
        capacity = np.concatenate([self.network.capacity, [limit.capacity for limit in self.limits]])
        self.asks = demand[self.alive]
        self.incidence = Incidence(
            ptr, resource[order].astype(np.int32), usage[order], capacity, np.ones(n_alive), self.asks
        )

    @property
    def lost(self) -> Int:
        """Flows without a way."""
        if self.fold is None or not len(self.routes.lost):
            return self.routes.lost
        return np.flatnonzero(np.isin(self.fold.of, self.routes.lost))

    def _limited(self, limits: Sequence[Limit], many: Sequence[int]) -> int:
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
        return code

    def _through_host_memory(self) -> npt.NDArray[np.bool_]:
        """Which flows begin, end or stop in host memory: no traffic between peers, so roots do not slow it down."""
        found = np.zeros(self.traffic.n_flows, dtype=bool)
        found[self.routes.flow[stages(self.network, self.routes)]] = True
        return found

    def _link_resources(self) -> Int:
        return self._resource_of(self.channel, self.routes.flow)

    def _resource_of(self, channel: Int, flow: Int) -> Int:
        network, link = self.network, channel >> 1
        cables = network.cables[link]
        direction = np.where(network.full[link], channel & 1, 0)
        cable = (mix(flow, link) % cables.astype(np.uint64)).astype(np.int64)
        return network.first_resource[link] + direction * cables + cable

    def _both_ways(self) -> tuple[list[_Entries], Mapping[int, int]]:
        """What copies in opposite directions leave each other on one PCIe link: a limit per link, and its definition.

        Requests, completions and posted writes meet in the root complex, so both directions together get less than
        twice one. NICs and storage keep their own published figures.
        """
        network, routes = self.network, self.routes
        net = network.net
        pcie = np.array([link.kind == "pcie" for link in net.link_defs], dtype=bool)
        copies = np.isin(self.protocol[routes.flow], (COPY, P2P))
        rows = np.flatnonzero(pcie[net.link_def[self.channel >> 1]] & copies & (routes.share > 0))
        link = self.channel[rows] >> 1
        back = (self.channel[rows] & 1).astype(bool)
        opposite = np.intersect1d(link[back], link[~back])
        opposite = opposite[network.full[opposite]]
        alike = (
            np.ones(len(opposite), dtype=np.int64)
            if self.fold is None
            else self.fold.channel(2 * opposite.astype(np.int64))[1]
        )
        found: list[_Entries] = []
        definitions: dict[int, int] = {}
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
            definitions[number] = definition
            self.both_links[number] = one
            usage = self.share[mine] / self.fraction[mine]
            limits.append(Limit(f"both:{network.channel_id(2 * one)}", label, capacity))
            true = -1 - (routes.channel[mine] >> 1)
            found.append(_Entries(routes.flow[mine], np.full(len(mine), number), usage, np.zeros(len(mine)), true))
        self._limited(limits, alike.tolist())
        return found, definitions

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
            usage = legs.share[rows] * per_byte[definition[part]]
            if self.fold is not None:
                lead, alike = self.fold.part(part)
                usage = usage * self.many[flow] / alike
            else:
                lead = part
            true = network.part_resource[part]
            passing = usage / high[definition[part]]
            found.append(_Entries(flow, network.part_resource[lead], usage, passing, true))
        return found

    def _client_entries(self) -> list[_Entries]:
        """What one client can get from a storage system through its mount, one limit per server and system."""
        network, net = self.network, self.network.net
        found: list[_Entries] = []
        for k, mounts in enumerate(mounts_of(network, self.question.legs if self.fold is not None else self.legs)):
            if not len(mounts.capacity):
                continue
            flow, client, usage = mounts.flow, mounts.client, mounts.usage
            rows, lead, many = self._standing(1 + k, flow, client, len(mounts.capacity))
            flow, true = self._row_of(flow[rows]), client[rows]
            kept, which = np.unique(lead[true], return_inverse=True)
            usage = usage[rows] * self.many[flow] / many[true]
            labels = {one: net.part(one).label for one in np.unique(mounts.system[kept]).tolist()}
            system, capacity = mounts.system[kept].tolist(), mounts.capacity[kept].tolist()
            paths = _paths(network.frame, mounts.system[kept].tobytes(), mounts.part[kept].tobytes())
            limits = [
                Limit(f"client:{path}", f"client of {labels[one]} at {server}", most, f"client of {labels[one]}")
                for one, most, (path, server) in zip(system, capacity, paths, strict=True)
            ]
            first = self._limited(limits, many[kept].tolist())
            self.limit_of[1 + k] = _numbered(first, kept, lead)
            found.append(_Entries(flow, first + which, usage, np.zeros(len(usage)), _beyond(network, true, 1 + k)))
        return found

    def _own_entries(self) -> list[_Entries]:
        """Limits that the question brings along."""
        extra = self.question.extra
        if not extra:
            return []
        meeting = self.question.meetings()[0]
        rows, lead, many = self._standing(0, meeting.flow, meeting.node, len(extra))
        flow, true = self._row_of(meeting.flow[rows]), meeting.node[rows]
        kept, which = np.unique(lead[true], return_inverse=True)
        usage = meeting.usage[rows] * self.many[flow] / many[true]
        first = self._limited([extra[k].limit for k in kept.tolist()], many[kept].tolist())
        self.limit_of[0] = _numbered(first, kept, lead)
        return [_Entries(flow, first + which, usage, np.zeros(len(usage)), _beyond(self.network, true, 0))]

    def _standing(self, meeting: int, flow: Int, node: Int, n: int) -> tuple[Int, Int, Int]:
        """Entries of flows that stand for their class; which node stands for each, and how many are like it."""
        if self.fold is None:
            return np.arange(len(flow)), np.arange(n), np.ones(n, dtype=np.int64)
        leads = np.zeros(self.question.traffic.n_flows, dtype=bool)
        leads[self.fold.lead] = True
        alike = self.fold.meetings[meeting]
        return np.flatnonzero(leads[flow]), alike.lead, alike.many

    def _row_of(self, flow: Int) -> Int:
        return flow if self.fold is None else self.fold.of[flow]

    def answer(self, findings: list[Finding], explained: bool = True) -> TransferAnswer:
        """Solve and explain."""
        incidence = self.incidence
        allocation = solve(incidence)
        bottleneck = binding(incidence, allocation)
        described, then = self._explained(allocation, bottleneck) if explained else ((), ())
        low, high, sources = self._band(allocation, bottleneck)
        n = self.traffic.n_flows
        rates = np.stack([np.zeros(n), np.zeros(n), np.zeros(n)])
        rates[:, self.alive] = allocation.rate, low, high
        wait = self._latency()
        alive = np.flatnonzero(self.alive)
        flow = alive if self.fold is None else self.fold.lead[alive]
        problem = FlowProblem(incidence, self.limits, flow, self.many[alive], self.fold)
        told = np.concatenate([rates, wait]) if self.fold is None else np.concatenate([rates, wait])[:, self.fold.of]
        return TransferAnswer(
            self.question.traffic,
            told[0],
            told[1],
            told[2],
            told[3],
            told[4:],
            described,
            then,
            self._listed(told[:3], bottleneck),
            ChannelLoads.made(lambda: self._loads(rates[0])),
            sources,
            tuple(findings),
            problem,
            self._expanded(problem),
        )

    def _expanded(self, problem: FlowProblem) -> Callable[[], FlowProblem]:
        """The problem with every flow for itself."""
        if self.fold is None:
            return lambda: problem

        @cache
        def made() -> FlowProblem:
            flat = _Evaluation(self.question, None)
            alive = np.flatnonzero(flat.alive)
            return FlowProblem(flat.incidence, flat.limits, alive, np.ones(len(alive), dtype=np.int64), None)

        return made

    def _explained(
        self, allocation: Allocation, bottleneck: Binding
    ) -> tuple[tuple[Bottleneck, ...], tuple[Bottleneck, ...]]:
        """What limits the slowest flows, and what would next."""
        incidence = self.incidence
        resources = Resources(self.network, self.limits)
        fractions = self._fraction_of_resource()
        users, many = self._users()
        worst = np.flatnonzero(allocation.rate <= allocation.rate.min() * (1 + TIE_TOLERANCE))
        first = bottleneck.union(worst.tolist())
        described, members = describe(resources, incidence, first, fractions, users, many)
        described = with_gains(described, members, incidence, allocation, slowest())
        after = next_bottleneck(incidence, worst, allocation) if len(first) else None
        then = describe(resources, incidence, after.then, fractions, users, many)[0] if after is not None else ()
        if np.isfinite(self.asks).all() and not len(first):
            described = (Bottleneck("limit", "demand", "what the flows ask for", "every flow gets all it asks for"),)
        return described, then

    def _users(self) -> tuple[Int | None, Int | None]:
        """How many flows use each resource, and how many are like it; None where none stands for others."""
        if self.fold is None:
            return None, None
        n = len(self.incidence.capacity)
        many = np.ones(n, dtype=np.int64)
        flow, resource, _ = self.passing
        many[self.network.n_resources :] = self.limit_many
        many[self._link_resources()] = self.fold.channel(self.routes.channel)[1]
        for ends in (self.legs.source, self.legs.target):
            part = ends[self.network.part_resource[ends] >= 0]
            lead, alike = self.fold.part(part)
            many[self.network.part_resource[lead]] = alike
        _, once = np.unique(np.stack([flow, self.true]), axis=1, return_index=True)
        met = np.bincount(resource[once], self.many[self.alive][flow[once]], n)
        return np.rint(met / many).astype(np.int64), many

    def _fraction_of_resource(self) -> Mapping[int, float]:
        """The least fraction that any flow achieves of each resource."""
        order = np.argsort(-self.fraction, kind="stable")
        return dict(zip(self._link_resources()[order].tolist(), self.fraction[order].tolist(), strict=True))

    def _band(self, allocation: Allocation, bottleneck: Binding) -> tuple[Float, Float, tuple[str, ...]]:
        """Rates if what binds each flow achieved the low or the high end of its fraction and capacity."""
        network = self.network
        rate = allocation.rate
        low, high = np.ones(len(rate)), np.ones(len(rate))
        owner = np.repeat(np.arange(len(rate)), np.diff(bottleneck.ptr))
        alive = np.flatnonzero(self.alive)
        ratio: dict[tuple[int, int, int], tuple[float, float]] = {}
        sources: set[str] = set()
        code = self.protocol[alive] * N_PLACEMENTS + self.placement[alive]
        lows, highs = np.empty(len(owner)), np.empty(len(owner))
        definition, status = self._definitions(bottleneck.resource)
        in_part = (bottleneck.resource >= network.n_link_resources) & (bottleneck.resource < network.n_resources)
        for d, c in np.unique(np.stack([definition, code[owner]], axis=1), axis=0).tolist():
            rows = (definition == d) & (code[owner] == c)
            key = (d, c // N_PLACEMENTS, c % N_PLACEMENTS)
            if key not in ratio:
                ratio[key] = self._ratio(key, sources)
            lows[rows], highs[rows] = ratio[key]
        del status
        lows[in_part], highs[in_part] = self._of_parts(bottleneck.resource[in_part], alive[owner[in_part]])
        np.minimum.at(low, owner, lows)
        # With a tie the flow rises only as far as the least of them.
        tops = np.full(len(rate), np.inf)
        np.minimum.at(tops, owner, highs)
        high = np.where(np.isfinite(tops), tops, 1.0)
        for link in network.net.link_defs:
            if link.source:
                sources.add(link.source)
        high = self._possible(rate, rate * np.maximum(high, low))
        return rate * low, high, tuple(sorted(sources))

    def _of_parts(self, resource: Int, flow: Int) -> tuple[Float, Float]:
        """Bands of parts that bind flows, as the parts state them for reading or writing."""
        network = self.network
        part = np.flatnonzero(network.part_resource >= 0)[resource - network.n_link_resources]
        target = self.traffic.target[flow]
        written = (target if self.fold is None else self.fold.part(target)[0]) == part
        definition = network.net.part_def[part]
        ends: list[Float] = []
        for end in range(2):
            read = np.array([r.read_band[end] if r else 1.0 for r in network.part_resources])
            write = np.array([r.write_band[end] if r else 1.0 for r in network.part_resources])
            ends.append(np.where(written, write[definition], read[definition]))
        return ends[0], ends[1]

    def _possible(self, rate: Float, high: Float) -> Float:
        """The upper ends, drawn back to what all links and parts can pass together if every flow reached its own."""
        owner, resource, passing = self.passing
        capacity = self.incidence.capacity
        now, then = (np.bincount(resource, passing * each[owner], len(capacity)) / capacity for each in (rate, high))
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(then > 1, np.clip((1 - now) / (then - now), 0.0, 1.0), 1.0)
        share = np.ones(len(rate))
        np.minimum.at(share, owner, np.where(passing > 0, room[resource], 1.0))
        return rate + share * (high - rate)

    def _definitions(self, resource: Int) -> tuple[Int, Int]:
        """Link definition of each resource; −1 for parts and limits, −2 − definition for both ways of a link."""
        network = self.network
        found = np.full(len(resource), -1, dtype=np.int64)
        for row in np.flatnonzero(np.isin(resource, list(self.both_ways))).tolist() if self.both_ways else ():
            found[row] = -2 - self.both_ways[int(resource[row])]
        links = resource < network.n_link_resources
        link = np.searchsorted(network.first_resource, resource[links], side="right") - 1
        found[links] = network.net.link_def[link]
        return found, links.astype(np.int64)

    def _ratio(self, key: tuple[int, int, int], sources: set[str]) -> tuple[float, float]:
        definition, protocol, placement = key
        shared = definition < -1
        if shared:
            definition = -2 - definition
        elif definition < 0:
            spread = SPREAD[Status.SECONDARY].value
            sources.add("assumed-spread")
            return 1 - spread, 1 + spread
        constant = self.efficiencies.constant(definition, protocol, placement)
        if shared:
            generation = self.network.net.link_defs[definition].generation or 0
            constant = product(constant, both_directions_share(generation, peers=protocol == P2P))
        status = self.network.link_facts[definition].status
        spread = SPREAD[status].value if status in (Status.UNVERIFIED, Status.ASSUMED) else 0.0
        sources.add(constant.source)
        if spread:
            sources.add("assumed-spread")
        return constant.low / constant.value * (1 - spread), constant.high / constant.value * (1 + spread)

    def _latency(self) -> Float:
        """Time until the first byte is there: links and switches on the way, media, and the start of every copy.

        A copy engine is started for each leg between an accelerator and memory or a peer of its server; adapters start
        by themselves. The value and the ends of its band. : (3, n_flows) [s]
        """
        network, routes, traffic = self.network, self.routes, self.traffic
        n = traffic.n_flows
        links = columns([f.latency for f in network.link_facts])
        hops = np.where(np.isfinite(network.hop_bands), network.hop_bands, 0.0)
        end = network.ends_of(routes.channel)
        entry = links[:, network.net.link_def[routes.channel >> 1]] + hops[:, end]
        found = np.stack([np.bincount(routes.flow, row * routes.share, n) for row in entry]).astype(np.float64)
        accelerates, stores = network.has(Capability.ACCELERATE), network.has(Capability.STORE)
        source, target = self.legs.source, self.legs.target
        copies = (accelerates[source] | accelerates[target]) & (network.island[source] == network.island[target])
        copies &= ~(stores[source] | stores[target]) & ~self._adapter(source) & ~self._adapter(target)
        copied = np.bincount(self.legs.flow[copies], self.legs.share[copies], n)
        found += _ends(LATENCY[TransferProtocol.COPY])[:, None] * copied
        media = self._media_latency()
        for part in (traffic.source, traffic.target):
            found += np.where(stores[part], media[:, network.net.part_def[part]], 0.0)
        return found

    def _adapter(self, part: Int) -> npt.NDArray[np.bool_]:
        return self.network.has(Capability.ATTACH)[part]

    def _media_latency(self) -> Float:
        """Access latency of drives and storage systems by definition, with its band. : (3, n_definitions) [s]"""
        network = self.network
        start = LATENCY[TransferProtocol.STORAGE]
        usual = (start.value, start.low, start.high)
        flow_row = [
            (Capability.STORE in kind.capabilities and band_of(network.design, part, "access_latency")) or usual
            for part, kind in zip(network.net.part_defs, network.kinds, strict=True)
        ]
        return columns(flow_row)

    def _loads(self, rate: Float) -> tuple[Float, Float]:
        network = self.network
        carried = self.share * rate[self.routes.flow]
        n = 2 * network.net.n_links
        load = np.bincount(self.channel, carried, n).astype(np.float64)
        occupied = np.bincount(self.channel, carried / self.fraction, n).astype(np.float64)
        if self.fold is not None:
            every = self.fold.every_channel()
            load, occupied = load[every], occupied[every]
        shared = ~np.repeat(network.full, 2)
        if shared.any():
            both = occupied.reshape(-1, 2).sum(axis=1).repeat(2)
            occupied = np.where(shared, both, occupied)
        return load, occupied / np.repeat(network.rate, 2)

    def _listed(self, rates: Float, bottleneck: Binding) -> Rows[Flow]:
        """The first flows, each told when somebody looks at it; ranked by rate. : rates (3, n_flows)"""
        network, net, traffic = self.network, self.network.net, self.question.traffic
        count = min(traffic.n_flows, LISTED_LIMIT)

        @cache
        def first() -> tuple[Int, Int, Callable[[int], tuple[str, ...]]]:
            legs, routes = self.legs, self.routes
            if self.fold is not None:
                legs = self.question.legs.chosen(self.question.legs.flow < count)
                routes = route(network, legs)
            order = np.argsort(routes.flow, kind="stable")
            cuts = np.searchsorted(routes.flow[order], np.arange(count + 1))
            if self.fold is None:
                return routes.channel[order], cuts, lambda f: self._binding_ids(f, bottleneck)
            named = self._binding_ids_of_members(self.fold, legs, routes, count, bottleneck)
            return routes.channel[order], cuts, lambda f: named[f]

        def rows(numbers: Sequence[int]) -> list[Flow]:
            channel, cuts, binding_of = first()
            some = np.array(numbers, dtype=np.int64)
            size = cuts[some + 1] - cuts[some]
            upto = np.concatenate([[0], np.cumsum(size)])
            chosen = channel[np.repeat(cuts[some] - upto[:-1], size) + np.arange(upto[-1])]
            source, target = traffic.source[some], traffic.target[some]
            columns = (
                net.paths(source),
                net.paths(target),
                ways(network, source, chosen, upto),
                *rates[:, some].tolist(),
                [binding_of(f) for f in numbers],
            )
            return [
                Flow(f"{a}->{b}", a, b, via, rate, low, high, by)
                for a, b, via, rate, low, high, by in zip(*columns, strict=True)
            ]

        return Rows(one=lambda f: rows([f])[0], count=count, rank=rates[0, :count], many=rows)

    def _binding_ids(self, f: int, bottleneck: Binding) -> tuple[str, ...]:
        """Ids of what binds a flow."""
        if not self.alive[f]:
            return ()
        return tuple(Resources(self.network, self.limits).ids(bottleneck.of(int(self.number[f]))))

    def _binding_ids_of_members(
        self, folded: Fold, legs: Legs, routes: Routes, count: int, bottleneck: Binding
    ) -> list[tuple[str, ...]]:
        """Ids of what binds each of the first flows: its own links, parts and limits, where their class binds its."""
        network, net, question = self.network, self.network.net, self.question
        owner = np.repeat(np.arange(len(bottleneck.ptr) - 1), np.diff(bottleneck.ptr))
        size = len(self.incidence.capacity)
        binds = owner * size + bottleneck.resource
        found: list[list[str]] = [[] for _ in range(count)]

        def add(flow: Int, number: Int, true: Int, names: Callable[[Int], list[str]]) -> None:
            row = folded.of[flow]
            kept = np.flatnonzero(self.alive[row] & np.isin(self.number[row] * size + number, binds))
            once = np.unique(np.stack([flow[kept], true[kept]]), axis=1)
            for f, name in zip(once[0].tolist(), names(once[1]), strict=True):
                found[f].append(name)

        channel = folded.channel(routes.channel)[0]
        true = self._resource_of(routes.channel, routes.flow)

        def channels(resources: Int) -> list[str]:
            return network.channel_ids(network.channels_of(resources))

        add(routes.flow, self._resource_of(channel, routes.flow), true, channels)
        for ends in (legs.source, legs.target):
            rows = np.flatnonzero(network.part_resource[ends] >= 0)
            number = network.part_resource[folded.part(ends[rows])[0]]
            add(legs.flow[rows], number, ends[rows], net.paths)
        for k, mounts in enumerate(mounts_of(network, question.legs)):
            if 1 + k in self.limit_of:
                rows = np.flatnonzero(mounts.flow < count)
                client = mounts.client[rows]
                paths = net.paths(mounts.system[client])
                add(mounts.flow[rows], self.limit_of[1 + k][client], client, _names(client, paths))
        both = np.full(net.n_links, -1, dtype=np.int64)
        for number, link in self.both_links.items():
            both[link] = number
        rows = np.flatnonzero(both[channel >> 1] >= 0)
        link = routes.channel[rows] >> 1
        add(
            routes.flow[rows],
            both[channel[rows] >> 1],
            link,
            lambda true: [f"both:{name}" for name in network.channel_ids(2 * true)],
        )
        if 0 in self.limit_of:
            meeting = question.meetings()[0]
            rows = np.flatnonzero(meeting.flow < count)
            node = meeting.node[rows]

            def ids(nodes: Int) -> list[str]:
                return [question.extra[k].limit.id for k in nodes.tolist()]

            add(meeting.flow[rows], self.limit_of[0][node], node, ids)
        return [tuple(names) for names in found]
