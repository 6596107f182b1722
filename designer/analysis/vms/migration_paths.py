"""The paths migrations take on the drawn network, and what each gets when several move beside other traffic."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.analysis.bottlenecks import Limit
from designer.analysis.capacities import NETWORK
from designer.analysis.efficiency import COPY, Efficiencies
from designer.analysis.flows import Allocation, Incidence, solve
from designer.analysis.legs import Legs, Routes
from designer.analysis.network import NETWORKS_LIMIT, Network
from designer.analysis.routes import route
from designer.analysis.vms.hosts import Host
from designer.analysis.vms.pulses import Pulses, Turn, turns
from designer.formulas.migration.vmotion_streams import FASTEST, StreamPlan, carried
from designer.memo import memo
from designer.sources import Constant

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

#: workloads whose groups come and go for themselves; of more, each further one is there with its mean load
PULSES_LIMIT: Final = 3
#: a group that gets less of its rate than this is taken to get as much
_KEPT_LIMIT: Final = 1e-6
#: a limit that is this little below another does not count as the narrower one
WIDTH_TOLERANCE: Final = 1e-6


@dataclass(frozen=True, slots=True)
class MigrationTransfer:
    """One machine on its way: hosts and sockets at both ends, and the most it can take [B/s].

    With GPUs it is frame buffer on its way: from those GPUs through host memory to the NICs, and back in there.
    """

    name: str
    source: Host
    target: Host
    from_sockets: tuple[int, ...]
    to_sockets: tuple[int, ...]
    cap: float = float("inf")
    from_gpus: tuple[int, ...] = ()
    to_gpus: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares of network I/O control: what migrations weigh against the traffic beside them [1]; 0 leaves it to TCP."""

    migrations: float = 0.0
    beside: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """Another workload running beside: its activities on the resources of the network, then on its own limits.

    Parameters
    ----------
    pulses
        The last activities are groups of a step and come in turn, as it says; None where all are there all the time.
    """

    id: str
    title: str
    incidence: Incidence
    limits: tuple[Limit, ...] = ()
    pulses: Pulses | None = None

    def there(self, share: float) -> Background:
        """The same with groups that communicate for another share of the time."""
        return self if self.pulses is None else replace(self, pulses=replace(self.pulses, forced=share))


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """What is on the links for a share of the time: the flow problem, and its rates."""

    share: float
    asked: Incidence
    allocation: Allocation


class MigrationPaths:
    """Transfers and background traffic as one flow problem; any set of transfers can be asked about.

    Parameters
    ----------
    streams
        What the vMotion streams of each host carry, by path; none for hypervisors without such a limit.
    payload
        Share of a network cable's rate that migration payload reaches.
    """

    def __init__(
        self,
        network: Network,
        transfers: Sequence[MigrationTransfer],
        streams: Mapping[str, StreamPlan],
        payload: Constant,
        background: Sequence[Background] = (),
        shares: Shares = Shares(),
    ) -> None:
        self.network, self.transfers, self.shares = network, tuple(transfers), shares
        self._limits: list[Limit] = []
        self._limit_of: dict[tuple[str, str], int] = {}
        pairs: dict[tuple[object, ...], int] = {}
        self._pair = [
            pairs.setdefault(
                (r.source.path, r.target.path, r.from_sockets, r.to_sockets, r.from_gpus, r.to_gpus), len(pairs)
            )
            for r in transfers
        ]
        examples: dict[int, MigrationTransfer] = {}
        for number, transfer in zip(self._pair, transfers, strict=True):
            examples.setdefault(number, transfer)
        self.routes = route(network, self._legs(examples))
        self.lost = frozenset(self.routes.lost.tolist())
        self._of_pair = self._entries(self.routes, len(pairs), payload)
        resource: list[Int] = []
        usage: list[Float] = []
        for transfer, number in zip(transfers, self._pair, strict=True):
            limits = self._limits_of(transfer, streams, payload)
            if number in self.lost:
                limits = []
            own_resource, own_usage = self._of_pair[number]
            resource.append(np.concatenate([own_resource, np.array(limits, dtype=np.int64)]))
            usage.append(np.concatenate([own_usage, np.ones(len(limits))]))
        self._first: list[tuple[int, int]] = []
        self._groups: dict[int, tuple[int, int]] = {}
        weight, demand = [1.0] * len(transfers), [transfer.cap for transfer in transfers]
        base = network.n_resources
        for each in background:
            incidence = each.incidence
            shift = len(self._limits)
            self._first.append((len(resource), incidence.n_activities))
            if each.pulses is not None:
                n = len(each.pulses.hidden)
                self._groups[len(self._first) - 1] = (len(resource) + incidence.n_activities - n, n)
            for a in range(incidence.n_activities):
                cut = slice(int(incidence.ptr[a]), int(incidence.ptr[a + 1]))
                own = incidence.resource[cut].astype(np.int64)
                resource.append(np.where(own >= base, own + shift, own))
                usage.append(incidence.usage[cut])
            weight += incidence.weight.tolist()
            demand += incidence.demand.tolist()
            self._limits += each.limits
        self.background = tuple(background)
        self.limits = tuple(self._limits)
        ptr = np.concatenate([[0], np.cumsum([len(r) for r in resource])]).astype(np.int64)
        none = np.empty(0, dtype=np.int64)
        self.incidence = Incidence(
            ptr,
            np.concatenate([none, *resource]).astype(np.int32),
            np.concatenate([np.empty(0), *usage]),
            np.concatenate([network.capacity, [limit.capacity for limit in self.limits]]),
            np.array(weight),
            np.array(demand),
        )
        self._known: dict[tuple[int, ...], tuple[Moment, ...]] = {}
        self._solved: dict[tuple[tuple[int, ...], tuple[int, ...]], tuple[Incidence, Allocation]] = {}

    def reaches(self, transfer: int) -> bool:
        """True if a path exists for a transfer."""
        return self._pair[transfer] not in self.lost

    def doubled(self, resources: Sequence[int]) -> MigrationPaths:
        """The same paths with twice the capacity on some resources."""
        twin = copy.copy(self)
        capacity = self.incidence.capacity.copy()
        capacity[list(resources)] *= 2
        twin.incidence = self.incidence.with_capacity(capacity)
        twin._known, twin._solved = {}, {}
        return twin

    def moments(self, moving: Sequence[int]) -> tuple[Moment, ...]:
        """All that may be on the links at one time when just these transfers move; kept."""
        key = tuple(sorted(moving))
        if key not in self._known:
            self._known[key] = self._moments(key)
        return self._known[key]

    def usual(self, moving: Sequence[int]) -> Moment:
        """What is there for most of the time."""
        return max(self.moments(moving), key=lambda moment: moment.share)

    def mean(self, moving: Sequence[int]) -> Float:
        """Rates of all activities over time [B/s]."""
        found = self.moments(moving)
        return np.sum([moment.share * moment.allocation.rate for moment in found], axis=0)

    def rates(self, moving: Sequence[int]) -> Float:
        """Rates of transfers that move at the same time [B/s], in their order."""
        return self.mean(moving)[list(moving)]

    def of_background(self, moving: Sequence[int], number: int) -> Float:
        """Rates of the activities of one background workload [B/s]."""
        first, count = self._first[number]
        return self.mean(moving)[first : first + count]

    def longer(self, moving: Sequence[int], number: int) -> float | None:
        """How many times as long a step of one background workload takes [1]; None where it has none."""
        pulses = self.background[number].pulses
        return None if pulses is None else pulses.times(self._kept(moving)[number])

    def _moments(self, moving: tuple[int, ...]) -> tuple[Moment, ...]:
        pulsing = {n: self.background[n].pulses for n in list(self._groups)[:PULSES_LIMIT]}
        kept = self._kept(moving)
        now = turns({n: p.shares(kept[n]) for n, p in pulsing.items() if p is not None})
        return tuple(Moment(turn.share, *self._at(moving, turn)) for turn in now)

    def _kept(self, moving: Sequence[int]) -> dict[int, Float]:
        """The share of its rate that each group of each background workload keeps while it communicates."""
        pulsing = list(self._groups)[:PULSES_LIMIT]
        alone = {n: np.ones(self._groups[n][1]) for n in self._groups}
        shares = {n: p.shares(alone[n]) for n in pulsing if (p := self.background[n].pulses) is not None}
        kept = dict(alone)
        for n in pulsing:
            # whoever else is there meanwhile is there as often as without migrations
            others = {m: s for m, s in shares.items() if m != n}
            first, count = self._groups[n]
            for k in range(count):
                rate = 0.0
                for turn in turns(others):
                    groups = list(turn.groups)
                    groups.insert(pulsing.index(n), k)
                    _, allocation = self._at(tuple(sorted(moving)), Turn(turn.share, tuple(groups)))
                    rate += turn.share * float(allocation.rate[first + k])
                kept[n][k] = min(1.0, max(_KEPT_LIMIT, rate / float(self.incidence.demand[first + k])))
        return kept

    def _at(self, moving: tuple[int, ...], turn: Turn) -> tuple[Incidence, Allocation]:
        key = (moving, turn.groups)
        if key not in self._solved:
            asked = self._asked(moving, turn.groups)
            self._solved[key] = (asked, solve(asked))
        return self._solved[key]

    def _asked(self, moving: tuple[int, ...], groups: tuple[int, ...]) -> Incidence:
        """The flow problem when just these transfers move beside these groups."""
        demand = self.incidence.demand.copy()
        own = len(self.transfers)
        here = np.ones(len(demand), dtype=bool)
        here[:own] = False
        here[list(moving)] = True
        for at, (number, (first, count)) in enumerate(self._groups.items()):
            if at < len(groups):
                here[first : first + count] = False
                if groups[at] >= 0:
                    here[first + groups[at]] = True
                continue
            pulses = self.background[number].pulses
            assert pulses is not None
            demand[first : first + count] *= pulses.shares(np.ones(count))
        demand[~here] = 0.0
        return self._weighed(len(moving), here).with_demand(demand)

    def _weighed(self, moving: int, here: npt.NDArray[np.bool_]) -> Incidence:
        """The flows with the shares of their class, which those of a class divide among themselves."""
        shares, own, base = self.shares, len(self.transfers), self.incidence
        if not (shares.migrations and shares.beside and moving and here[own:].any()):
            return base
        weight = base.weight.copy()
        weight[:own] = shares.migrations / moving
        weight[own:] *= shares.beside / weight[own:][here[own:]].sum()
        return Incidence(base.ptr, base.resource, base.usage, base.capacity, weight, base.demand)

    def channels(self, transfer: int) -> tuple[list[int], list[float]]:
        """Channels a transfer takes, and the share of it on each."""
        rows = self.routes.flow == self._pair[transfer]
        return self.routes.channel[rows].tolist(), self.routes.share[rows].tolist()

    def fraction_of(self, transfer: int) -> dict[int, float]:
        """What share of each resource the payload of a transfer achieves."""
        return self._fractions[self._pair[transfer]]

    def _legs(self, examples: Mapping[int, MigrationTransfer]) -> Legs:
        flow: list[int] = []
        source: list[int] = []
        target: list[int] = []
        share: list[float] = []

        def leg(number: int, a: int, b: int, part: float) -> None:
            flow.append(number)
            source.append(a)
            target.append(b)
            share.append(part)

        for number, transfer in examples.items():
            for a, b, part in nic_pairs(transfer.source, transfer.target):
                leg(number, a, b, part)
                out, back = (
                    _memories(transfer.source, transfer.from_sockets),
                    _memories(transfer.target, transfer.to_sockets),
                )
                for memory in out:
                    leg(number, memory, a, part / len(out))
                for memory in back:
                    leg(number, b, memory, part / len(back))
            for gpus, sockets, host, outward in (
                (transfer.from_gpus, transfer.from_sockets, transfer.source, True),
                (transfer.to_gpus, transfer.to_sockets, transfer.target, False),
            ):
                memories = _memories(host, sockets) if gpus else []
                for gpu in gpus:
                    for memory in memories:
                        ends = (gpu, memory) if outward else (memory, gpu)
                        leg(number, *ends, 1 / (len(gpus) * len(memories)))
        return Legs(
            np.array(flow, dtype=np.int64),
            np.array(source, dtype=np.int64),
            np.array(target, dtype=np.int64),
            np.array(share),
        )

    def _entries(self, routes: Routes, n_pairs: int, payload: Constant) -> list[tuple[Int, Float]]:
        """Resources and usage of each pair of hosts."""
        network = self.network
        efficiencies = Efficiencies(network)
        protocol = np.full(n_pairs, COPY, dtype=np.int64)
        link = routes.channel >> 1
        fraction = np.ones(len(link))
        host = network.domain[link] != NETWORK
        inside = replace(routes, flow=routes.flow[host], channel=routes.channel[host], share=routes.share[host])
        fraction[host] = efficiencies.of(inside, protocol, efficiencies.placement(inside, n_pairs))
        fraction[~host] = payload.value
        direction = np.where(network.full[link], routes.channel & 1, 0)
        # Migrations use many connections, so they spread over all cables of a bundle.
        cables = network.cables[link]
        again = np.repeat(np.arange(len(link)), cables)
        within = np.arange(len(again)) - np.repeat(np.cumsum(cables) - cables, cables)
        resource = (network.first_resource[link] + direction * cables)[again] + within
        usage = (routes.share / fraction / cables)[again]
        flow = routes.flow[again]
        self._fractions: list[dict[int, float]] = []
        found: list[tuple[Int, Float]] = []
        order = np.argsort(flow, kind="stable")
        cuts = np.searchsorted(flow[order], np.arange(n_pairs + 1))
        for number in range(n_pairs):
            rows = order[cuts[number] : cuts[number + 1]]
            unique, where = np.unique(resource[rows], return_inverse=True)
            found.append((unique, np.bincount(where, usage[rows], len(unique)).astype(np.float64)))
            self._fractions.append(dict(zip(resource[rows].tolist(), fraction[again[rows]].tolist(), strict=True)))
        return found

    def _limits_of(
        self, transfer: MigrationTransfer, streams: Mapping[str, StreamPlan], payload: Constant
    ) -> list[int]:
        found: list[int] = []
        for host, way in ((transfer.source, "out"), (transfer.target, "in")):
            nics = host.migration_nics
            line = sum(nic.line_rate for nic in nics)
            plan = streams.get(host.path)
            if plan is not None:
                words = f"vMotion streams of {host.path}, {way}: {plan.streams}, about one core each"
                found.append(
                    self._limit(f"streams:{host.path}:{way}", words, min(carried(plan.streams), FASTEST.value))
                )
            drawn = self._cable_rate(host)
            if line < drawn * (1 - WIDTH_TOLERANCE):
                found.append(
                    self._limit(f"nic:{host.path}:{way}", f"ports of {host.path}, {way}", line * payload.value)
                )
        return found

    def _cable_rate(self, host: Host) -> float:
        """Rate of the cables of the migration NICs [B/s], whatever their ports can do."""
        return _cable_rate(self.network, frozenset(nic.part for nic in host.migration_nics))

    def _limit(self, limit_id: str, label: str, capacity: float) -> int:
        key = (limit_id, label)
        if key not in self._limit_of:
            self._limit_of[key] = self.network.n_resources + len(self._limits)
            self._limits.append(Limit(limit_id, label, capacity))
        return self._limit_of[key]


#: hosts whose rates are kept
_HOSTS_LIMIT: Final = 4096


@memo(most=NETWORKS_LIMIT, each=_HOSTS_LIMIT)
def _cable_rate(network: Network, parts: frozenset[int]) -> float:
    net = network.net
    mine = np.isin(net.link_a, list(parts)) | np.isin(net.link_b, list(parts))
    return float(network.rate[mine & (network.domain == NETWORK)].sum())


def nic_pairs(source: Host, target: Host) -> list[tuple[int, int, float]]:
    """NICs that talk to each other and the share of the traffic on each pair, by what the narrower end carries."""
    there = target.migration_nics
    if not there or not source.migration_nics:
        return []
    count = max(len(source.migration_nics), len(there))
    found = [(source.migration_nics[at % len(source.migration_nics)], there[at % len(there)]) for at in range(count)]
    rates = [min(a.line_rate, b.line_rate) for a, b in found]
    return [(a.part, b.part, rate / sum(rates)) for (a, b), rate in zip(found, rates, strict=True)]


def _memories(host: Host, sockets: tuple[int, ...]) -> list[int]:
    near = [memory for at in sockets for memory in host.sockets[at].memories]
    return near or [memory for socket in host.sockets for memory in socket.memories]
