"""The paths of migrations on the drawn network, and the rates of those that move at the same time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.engine.account.bottlenecks import Limit
from designer.engine.flows import Allocation, Incidence, solve
from designer.engine.machines.hosts import Host
from designer.engine.network import NETWORKS_LIMIT, Network
from designer.engine.network.capacities import NETWORK
from designer.engine.routes import route
from designer.engine.routes.efficiency import COPY, Efficiencies
from designer.engine.routes.legs import Legs, Routes
from designer.families.machines.formulas.vmotion_streams import CHECKPOINT_SHARE, FASTEST, StreamPlan, carried
from designer.memo import memo
from designer.sources import Constant

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

#: a limit that is this little below another does not count as the narrower one
WIDTH_TOLERANCE: Final = 1e-6


@dataclass(frozen=True, slots=True)
class MigrationTransfer:
    """Memory of one machine on its way, or state of its devices.

    Parameters
    ----------
    source, target, from_sockets, to_sockets
        Hosts and sockets at both ends.
    sender
        The rate that the sender reaches whatever the network gives; None for no such limit.
    devices
        True for the state of its devices.
    from_gpus, to_gpus
        Of frame buffers: the GPUs they leave through host memory, and those they enter.
    routed
        False if no network of the design carries it.
    file_rate
        Of a file that all write and then read: what its file system gives [B/s]; 0 without a file.
    """

    name: str
    source: Host
    target: Host
    from_sockets: tuple[int, ...]
    to_sockets: tuple[int, ...]
    sender: Limit | None = None
    devices: bool = False
    from_gpus: tuple[int, ...] = ()
    to_gpus: tuple[int, ...] = ()
    routed: bool = True
    file_rate: float = 0.0


class MigrationPaths:
    """Transfers as one flow problem; any set of them can be asked about.

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
    ) -> None:
        self.network, self.transfers = network, tuple(transfers)
        self._limits: list[Limit] = []
        self._limit_of: dict[tuple[str, str], int] = {}
        #: resources that are the own limit of a sender
        self._senders: list[int] = []
        pairs: dict[tuple[object, ...], int] = {}
        self._pair = [
            pairs.setdefault(
                (r.source.path, r.target.path, r.from_sockets, r.to_sockets, r.from_gpus, r.to_gpus, r.routed),
                len(pairs),
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
            limits = {} if number in self.lost else self._limits_of(transfer, streams, payload)
            own_resource, own_usage = self._of_pair[number]
            resource.append(np.concatenate([own_resource, np.array(list(limits), dtype=np.int64)]))
            usage.append(np.concatenate([own_usage, list(limits.values())]))
        self.limits = tuple(self._limits)
        ptr = np.concatenate([[0], np.cumsum([len(r) for r in resource])]).astype(np.int64)
        none = np.empty(0, dtype=np.int64)
        self.incidence = Incidence(
            ptr,
            np.concatenate([none, *resource]).astype(np.int32),
            np.concatenate([np.empty(0), *usage]),
            np.concatenate([network.capacity, [limit.capacity for limit in self.limits]]),
            np.ones(len(transfers)),
            np.full(len(transfers), np.inf),
        )
        self._known: dict[tuple[int, ...], tuple[Incidence, Allocation]] = {}

    def reaches(self, transfer: int) -> bool:
        """True if a path exists for a transfer."""
        return self._pair[transfer] not in self.lost

    def solved(self, moving: Sequence[int]) -> tuple[Incidence, Allocation]:
        """The flow problem when only these transfers move, and its rates; kept."""
        key = tuple(sorted(moving))
        if key not in self._known:
            demand = np.zeros(len(self.transfers))
            demand[list(key)] = np.inf
            asked = self.incidence.with_demand(demand)
            self._known[key] = (asked, solve(asked))
        return self._known[key]

    def rates(self, moving: Sequence[int]) -> Float:
        """Rates of transfers that move at the same time [B/s], in their order."""
        return self.solved(moving)[1].rate[list(moving)]

    def routed_rate(self, transfer: int) -> float:
        """The rate of a transfer alone, whatever its sender reaches [B/s]."""
        capacity = self.incidence.capacity.copy()
        capacity[self._senders] = np.inf
        demand = np.zeros(len(self.transfers))
        demand[transfer] = np.inf
        asked = self.incidence.with_capacity(capacity).with_demand(demand)
        return float(solve(asked).rate[transfer])

    def entries(self, transfer: int) -> tuple[Int, Float]:
        """Resources of a transfer and what it takes of each per byte."""
        cut = slice(int(self.incidence.ptr[transfer]), int(self.incidence.ptr[transfer + 1]))
        return self.incidence.resource[cut].astype(np.int64), self.incidence.usage[cut]

    def channels(self, transfer: int) -> tuple[list[int], list[float]]:
        """Channels a transfer takes, and the share of it on each."""
        rows = self.routes.flow == self._pair[transfer]
        return self.routes.channel[rows].tolist(), self.routes.share[rows].tolist()

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
            if not transfer.routed:
                continue
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
        found: list[tuple[Int, Float]] = []
        order = np.argsort(flow, kind="stable")
        cuts = np.searchsorted(flow[order], np.arange(n_pairs + 1))
        for number in range(n_pairs):
            rows = order[cuts[number] : cuts[number + 1]]
            unique, where = np.unique(resource[rows], return_inverse=True)
            found.append((unique, np.bincount(where, usage[rows], len(unique)).astype(np.float64)))
        return found

    def _limits_of(
        self, transfer: MigrationTransfer, streams: Mapping[str, StreamPlan], payload: Constant
    ) -> dict[int, float]:
        """What a transfer takes of limits per byte, by their numbers."""
        found: dict[int, float] = {}
        if transfer.sender is not None:
            self._senders.append(self.network.n_resources + len(self._limits))
            self._limits.append(transfer.sender)
            found[self._senders[-1]] = 1.0
        if transfer.file_rate:
            # written, then read
            found[self._limit("file", "what the file system writes and reads", transfer.file_rate / 2)] = 1.0
        if not transfer.routed:
            return found
        for host, way in ((transfer.source, "out"), (transfer.target, "in")):
            nics = host.migration_nics
            line = sum(nic.line_rate for nic in nics)
            plan = streams.get(host.path)
            if plan is not None:
                words = f"vMotion streams of {host.path}, {way}: {plan.streams}, about one core each"
                most = min(carried(plan.streams), FASTEST.value)
                # frame buffers get less out of as many streams
                drained = min(CHECKPOINT_SHARE.value * carried(plan.streams), FASTEST.value)
                usage = most / drained if transfer.devices else 1.0
                found[self._limit(f"streams:{host.path}:{way}", words, most)] = usage
            drawn = self._cable_rate(host)
            if line < drawn * (1 - WIDTH_TOLERANCE):
                words = f"ports of {host.path}, {way}"
                found[self._limit(f"nic:{host.path}:{way}", words, line * payload.value)] = 1.0
        return found

    def _cable_rate(self, host: Host) -> float:
        """Rate of the cables of the migration NICs [B/s], whatever their ports can do."""
        return _cable_rate(self.network, frozenset(nic.part for nic in host.migration_nics))

    def _limit(self, limit_id: str, label: str, capacity: float) -> int:
        key = (limit_id, label)
        if key not in self._limit_of:
            self._limit_of[key] = self.network.n_resources + len(self._limits)
            self._limits.append(Limit(limit_id, label, capacity, limit_id.partition(":")[0]))
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
