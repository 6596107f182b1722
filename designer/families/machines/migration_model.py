"""What migrations meet: streams and admission of the hosts, paths on the drawing, and what each takes at a rate."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from designer.engine.account.bottlenecks import Limit
from designer.engine.machines.demands import KVM, dirtying_of, filled_of, vsphere
from designer.engine.machines.free_capacity import Placed
from designer.engine.machines.hosts import Host
from designer.engine.network import Network
from designer.errors import AnalysisError
from designer.families.machines.formulas.kvm_bandwidth import Monitor, Transport
from designer.families.machines.formulas.kvm_precopy import BANDWIDTH_SPREAD as KVM_SPREAD
from designer.families.machines.formulas.vmotion_admission import Admission, Operation, vmotion_admission
from designer.families.machines.formulas.vmotion_long_distance import LongDistance, vmotion_long_distance
from designer.families.machines.formulas.vmotion_precopy import BANDWIDTH_SPREAD
from designer.families.machines.formulas.vmotion_streams import (
    JUMBO_FROM,
    LINE_SHARE,
    LINE_SHARE_1500,
    StreamPlan,
    vmotion_streams,
)
from designer.families.machines.migration_paths import MigrationPaths, MigrationTransfer
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
from designer.sources import Constant, Estimate, Status
from designer.units import Bytes, BytesPerSecond, Seconds, format_si

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
        slowest = min(nic.line_rate for nic in host.migration_nics)
        operation = Operation.UNSHARED if self.conditions.disks else Operation.VMOTION
        return vmotion_admission(
            operation,
            {},
            slowest_line_rate=BytesPerSecond(slowest),
            bandwidth=BytesPerSecond(self.streams[host.path].bandwidth.value),
        )

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
