"""What migrations meet: streams and admission of the hosts, paths on the drawing, and what each takes at a rate."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from designer.engine.account.bottlenecks import Limit
from designer.engine.flows import Allocation, Incidence, solve
from designer.engine.machines.demands import KVM, dirtying_of, filled_of, vsphere
from designer.engine.machines.free_capacity import Placed
from designer.engine.machines.hosts import Host
from designer.engine.network import NETWORKS_LIMIT, Network
from designer.engine.network.capacities import NETWORK
from designer.engine.routes import route
from designer.engine.routes.efficiency import COPY, Efficiencies
from designer.engine.routes.legs import Legs, Routes
from designer.errors import AnalysisError
from designer.families.machines.formulas.kvm_bandwidth import Monitor, Transport
from designer.families.machines.formulas.kvm_precopy import BANDWIDTH_SPREAD as KVM_SPREAD
from designer.families.machines.formulas.vmotion_admission import Admission, Operation, vmotion_admission
from designer.families.machines.formulas.vmotion_long_distance import LongDistance, vmotion_long_distance
from designer.families.machines.formulas.vmotion_precopy import BANDWIDTH_SPREAD
from designer.families.machines.formulas.vmotion_streams import (
    CHECKPOINT_SHARE,
    FASTEST,
    JUMBO_FROM,
    LINE_SHARE,
    LINE_SHARE_1500,
    StreamPlan,
    carried,
    vmotion_streams,
)
from designer.families.machines.migration_plan import Alternative, Going
from designer.families.machines.migrations import (
    NETWORK_LIMIT,
    Drain,
    MigrationEstimate,
    kvm_estimate,
    kvm_rate,
    vmotion_estimate,
)
from designer.families.machines.operations import Conditions
from designer.formulas.placement import Release
from designer.memo import memo
from designer.sources import Constant, Estimate, Status
from designer.units import Bytes, BytesPerSecond, Seconds, format_si

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


#: what clusters of KVM hosts allow by default from one host
KVM_AT_ONCE: Final = Constant(2, 1, 5, "kubevirt-parallel-migrations", Status.SECONDARY, "1", "outbound per host")


#: of what is left on a guest that does not converge, that the pause is set to hold
_ROOM: Final = Constant(1.05, 1.05, 1.05, "migration-assumed", Status.ASSUMED, "1", "at the lowest rate of the band")


class MigrationModel:
    """What moving machines whose targets are chosen meets on their hosts and on the network.

    Attributes
    ----------
    transfers, devices
        Number of the transfer of a machine's memory, and of the state of its devices, by machine.
    """

    def __init__(self, network: Network, going: Sequence[Going], conditions: Conditions) -> None:
        self.network, self.conditions = network, conditions
        self.going = tuple(going)
        hosts = {host.path: host for each in going for host in (each.placed.host, each.there.host)}
        transport = conditions.kvm.sender.transport
        #: machines are stopped before their memory is sent
        self.stopped = transport is Transport.FILE
        #: some network of the design carries them
        self.routed = not (transport.same_host or self.stopped)
        self.streams = (
            {path: stream_plan(host, self._release_of(path), conditions) for path, host in hosts.items()}
            if self.routed
            else {}
        )
        self.slots = {path: self._admission(host) for path, host in hosts.items()}
        kvm = bool(going) and all(each.release == KVM for each in going)
        payload = LINE_SHARE if conditions.mtu >= JUMBO_FROM.value else LINE_SHARE_1500
        self.distance = self._long_distance()
        self.drains: Mapping[str, Drain] = {}
        live = [each for each in self.going if not each.cold]
        transfers = [self._transfer(each, self._sender(each)) for each in live]
        self.transfers = {each.name: at for at, each in enumerate(live)}
        self.devices: dict[str, int] = {}
        for each in live:
            state = self.migration(each, _line(each)).device
            if state is not None:
                self.devices[each.name] = len(transfers)
                words = f"state of devices of {each.name}: {state.limited_by}"
                most = Limit("device-state", words, state.most) if state.most < math.inf else None
                ends = _gpus_of(each.placed), _gpus_of(each.there)
                gpus = ends if all(ends) and self.routed else ((), ())
                transfers.append(replace(self._transfer(each, most), devices=True, from_gpus=gpus[0], to_gpus=gpus[1]))
        self.migration_paths = paths = MigrationPaths(network, transfers, {} if kvm else self.streams, payload)
        known: dict[tuple[object, ...], float] = {}
        drains: dict[str, Drain] = {}
        for name, at in self.devices.items():
            one = transfers[at]
            if not one.from_gpus or not paths.reaches(at):
                continue
            key = (one.source.path, one.target.path, one.from_gpus, one.to_gpus)
            if key not in known:
                known[key] = paths.routed_rate(at)
            drains[name] = Drain(known[key], tuple(paths.channels(at)[0]))
        self.drains = drains

    def _release_of(self, path: str) -> str:
        found = {each.release for each in self.going if path in (each.placed.host.path, each.there.host.path)}
        return min(found) if found else ""

    def _admission(self, host: Host) -> Admission:
        at_once = self.conditions.at_once
        if at_once:
            return Admission(at_once, "the setting at_once", {}, {})
        if self._release_of(host.path) == KVM:
            return Admission(int(KVM_AT_ONCE.value), "parallel migrations per host", {}, {})
        lines = [nic.line_rate for nic in host.migration_nics]
        operation = Operation.UNSHARED if self.conditions.disks else Operation.VMOTION
        return vmotion_admission(
            operation,
            {},
            slowest_line_rate=BytesPerSecond(min(lines)),
            bandwidth=BytesPerSecond(sum(lines)),
        )

    def adapters_add_streams(self) -> bool:
        """True if several VMkernel adapters per NIC give some host more streams than one does."""
        single = replace(self.conditions, vmknics_per_nic=1)
        hosts = {host.path: host for each in self.going for host in (each.placed.host, each.there.host)}
        plans = ((path, stream_plan(host, self._release_of(path), single)) for path, host in hosts.items())
        return any(plan.streams != self.streams[path].streams for path, plan in plans)

    def _long_distance(self) -> LongDistance | None:
        migration = self.conditions.round_trip
        if not migration or not self.streams:
            return None
        narrow = min(self.streams.values(), key=lambda plan: plan.bandwidth.value)
        return vmotion_long_distance(BytesPerSecond(narrow.bandwidth.value), Seconds(migration), narrow.streams)

    def _transfer(self, going: Going, sender: Limit | None) -> MigrationTransfer:
        placed, there = going.placed, going.there
        file_rate = self.conditions.kvm.sender.file_rate or 0.0
        return MigrationTransfer(
            going.name,
            placed.host,
            there.host,
            placed.sockets,
            there.sockets,
            sender,
            routed=self.routed,
            file_rate=file_rate,
        )

    def _sender(self, going: Going) -> Limit | None:
        if going.release == KVM:
            moved = kvm_rate(self.conditions.kvm, _line(going))
            return Limit("sender", f"what the sender gives: {moved.limited_by}", moved.link_rate.value)
        if self.distance is not None:
            return Limit("sender", "windows of the streams per round trip", self.distance.bandwidth.value)
        return None

    def fill_unknown(self, going: Going) -> bool:
        """True if nothing says how much of the memory of a KVM guest is not zero, and the sender leaves zeros out."""
        sender = self.conditions.kvm.sender
        if going.release != KVM or going.cold or sender.sends_all:
            return False
        return sender.monitor is not Monitor.QEMU or filled_of(going.placed.vm) is None

    def scan_of(self, going: Going) -> Estimate:
        """Memory of a KVM guest searched for zero pages per second [B/s]."""
        return kvm_rate(self.conditions.kvm, _line(going)).scan

    def migration(
        self, going: Going, rate: float, dirty: float = 1.0, scan: float = 1.0, filled: float = 1.0
    ) -> MigrationEstimate:
        """One machine at a rate [B/s].

        Parameters
        ----------
        dirty, scan
            How many times as much it writes, and as long the search of its memory takes [1].
        filled
            Share of its memory that is not zero, where the design does not say [1].
        """
        written = self.conditions.dirty_rate
        if dirty != 1.0:
            written = dirty * (dirtying_of(going.placed.vm).rate if written is None else written)
        drain = self.drains.get(going.name)
        if going.release == KVM:
            settings = self.conditions.kvm
            return kvm_estimate(going.placed, rate, _line(going), settings, written, drain, scan, filled)
        ends = (self.streams[going.placed.host.path], self.streams[going.there.host.path])
        checkpoint = min(plan.checkpoint_bandwidth.value for plan in ends)
        release = vsphere(going.release)
        return vmotion_estimate(going.placed, rate, checkpoint, release, written, drain, self.conditions.disks)

    def first_pass(self, going: Going) -> float:
        """Bytes of its memory and disks that a machine sends at least [B]."""
        return self.migration(going, _line(going), 0.0).memory

    def spread(self, going: Going) -> tuple[float, float]:
        """80 % band of the rate of a machine, relative [1]."""
        if going.release != KVM:
            return BANDWIDTH_SPREAD.low, BANDWIDTH_SPREAD.high
        guest = kvm_rate(self.conditions.kvm, _line(going)).guest
        return min(KVM_SPREAD.low, guest.low / guest.value), max(1.0, guest.high / guest.value)

    def rate_spread(self, going: Going) -> tuple[float, float]:
        """80 % band of the bytes per second that a machine puts on the network, relative [1]."""
        if going.release != KVM:
            return BANDWIDTH_SPREAD.low, BANDWIDTH_SPREAD.high
        rate = kvm_rate(self.conditions.kvm, _line(going)).link_rate
        return rate.low / rate.value, rate.high / rate.value

    def alternatives(self, going: Going, rate: float, migration: MigrationEstimate) -> tuple[Alternative, ...]:
        """What would bring over a machine that does not arrive at this rate [B/s]."""
        tried: list[tuple[str, MigrationModel, Going]] = []
        if going.release == KVM and not migration.converges:
            ways: list[tuple[str, dict[str, Any]]] = []
            if self.conditions.kvm.sender.monitor is Monitor.QEMU:
                ways.append(("auto-converge", {"auto_converge": True, "dirty_limit": None}))
            if self.conditions.kvm.sender.monitor in (Monitor.QEMU, Monitor.CLOUD_HYPERVISOR):
                ways.append(("post-copy", {"post_copy": True}))
            if migration.remaining[-1]:
                # the rest does not shrink, so a pause in which all of it fits lets the machine go
                longest = _ROOM.value * migration.remaining[-1] / (rate * self.spread(going)[0])
                ways.append((f"a pause of {format_si(longest, 's')} allowed", {"downtime_limit": Seconds(longest)}))
            for title, more in ways:
                tried.append((title, self._with_conditions(kvm=replace(self.conditions.kvm, **more)), going))
        elif going.release != KVM and migration.converges:
            newest = Release.V9_0.value
            if going.release != newest:
                tried.append((f"release {newest}", self, replace(going, release=newest)))
        return tuple(
            Alternative(title, found) for title, model, each in tried if (found := model.migration(each, rate)).arrives
        )

    def _with_conditions(self, **changes: Any) -> MigrationModel:
        twin = copy.copy(self)
        twin.conditions = replace(self.conditions, **changes)
        return twin


def _line(going: Going) -> float:
    """Rate of the narrower host's NICs [B/s]; of a machine that stays on its host, more than any process copies."""
    if going.placed.host.path == going.there.host.path:
        return NETWORK_LIMIT
    return min(sum(nic.line_rate for nic in host.migration_nics) for host in (going.placed.host, going.there.host))


def stream_plan(host: Host, release: str, conditions: Conditions) -> StreamPlan:
    """The vMotion streams of a host.

    Raises
    ------
    AnalysisError
        If it has no NIC.
    """
    nics = host.migration_nics
    if not nics:
        raise AnalysisError(
            f"{host.path} has no NIC that is cabled", place=host.path, remedy="join a NIC of it to a switch"
        )
    return vmotion_streams(
        [nic.line_rate for nic in nics],
        release=vsphere(release),
        vmknics_per_nic=conditions.vmknics_per_nic,
        mtu=Bytes(conditions.mtu),
        encrypted=conditions.encrypted,
    )


def _gpus_of(placed: Placed) -> tuple[int, ...]:
    return tuple(sorted({device.gpu.part for device in placed.devices if device.gpu is not None}))
