"""What migrations meet: streams and admission of the hosts, paths on the drawing, and what each takes at a rate."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from designer.analysis.bottlenecks import Resources
from designer.analysis.flows import binding
from designer.analysis.network import Network
from designer.analysis.vms.demands import KVM, vsphere
from designer.analysis.vms.free_capacity import Placed
from designer.analysis.vms.hosts import Host
from designer.analysis.vms.migration_paths import Background, MigrationPaths, MigrationTransfer
from designer.analysis.vms.migration_plan import Alternative, Conditions, Going
from designer.analysis.vms.migrations import (
    Drain,
    MigrationEstimate,
    kvm_estimate,
    kvm_rate,
    vmotion_estimate,
)
from designer.errors import AnalysisError
from designer.formulas.migration.vmotion_admission import Admission, Operation, vmotion_admission
from designer.formulas.migration.vmotion_long_distance import LongDistance, vmotion_long_distance
from designer.formulas.migration.vmotion_streams import (
    JUMBO_FROM,
    LINE_SHARE,
    LINE_SHARE_1500,
    StreamPlan,
    vmotion_streams,
)
from designer.formulas.placement import Release
from designer.sources import Constant, Status
from designer.units import Bytes, BytesPerSecond, Seconds

#: what clusters of KVM hosts allow by default from one host
KVM_AT_ONCE: Final = Constant(2, 1, 5, "kubevirt-parallel-migrations", Status.SECONDARY, "1", "outbound per host")


class MigrationModel:
    """What moving machines whose targets are chosen meets on their hosts and on the network."""

    def __init__(
        self, network: Network, going: Sequence[Going], conditions: Conditions, background: Sequence[Background]
    ) -> None:
        self.network, self.conditions = network, conditions
        self.going = tuple(going)
        hosts = {host.path: host for each in going for host in (each.placed.host, each.there.host)}
        self.streams = {path: stream_plan(host, self._release_of(path), conditions) for path, host in hosts.items()}
        self.slots = {path: self._admission(host) for path, host in hosts.items()}
        kvm = bool(going) and all(each.release == KVM for each in going)
        payload = LINE_SHARE if conditions.mtu >= JUMBO_FROM.value else LINE_SHARE_1500
        self.distance = self._long_distance()
        live = [each for each in self.going if not each.cold]
        transfers = [
            MigrationTransfer(
                each.name, each.placed.host, each.there.host, each.placed.sockets, each.there.sockets, self._cap(each)
            )
            for each in live
        ]
        self.transfers = {each.name: at for at, each in enumerate(live)}
        limits = {} if kvm else self.streams
        self.migration_paths = MigrationPaths(network, transfers, limits, payload, background, conditions.shares)
        self.drains = self._drains(live, payload)

    def _release_of(self, path: str) -> str:
        found = {each.release for each in self.going if path in (each.placed.host.path, each.there.host.path)}
        return min(found) if found else ""

    def _admission(self, host: Host) -> Admission:
        at_once = self.conditions.at_once
        if at_once:
            return Admission(at_once, "the setting at_once", {}, {})
        slowest = min(nic.line_rate for nic in host.migration_nics)
        if self._release_of(host.path) == KVM:
            return Admission(int(KVM_AT_ONCE.value), "parallel migrations per host", {}, {})
        operation = Operation.UNSHARED if self.conditions.disks else Operation.VMOTION
        return vmotion_admission(
            operation,
            {},
            slowest_line_rate=BytesPerSecond(slowest),
            bandwidth=BytesPerSecond(self.streams[host.path].bandwidth.value),
        )

    def _drains(self, live: Sequence[Going], payload: Constant) -> Mapping[str, Drain]:
        """What the drawn paths give the frame buffer of each machine with GPUs: GPU, host memory, NIC and back in."""
        transfers = [
            MigrationTransfer(
                each.name,
                each.placed.host,
                each.there.host,
                each.placed.sockets,
                each.there.sockets,
                from_gpus=_gpus_of(each.placed),
                to_gpus=_gpus_of(each.there),
            )
            for each in live
            if _gpus_of(each.placed) and _gpus_of(each.there)
        ]
        if not transfers:
            return {}
        paths = MigrationPaths(self.network, transfers, {}, payload)
        words = Resources(self.network, paths.limits)
        known: dict[tuple[tuple[int, ...], ...], tuple[float, str]] = {}
        found: dict[str, Drain] = {}
        for at, transfer in enumerate(transfers):
            if not paths.reaches(at):
                continue
            key = (transfer.from_gpus, transfer.to_gpus)
            if key not in known:
                there = paths.usual([at])
                bottleneck = binding(there.asked, there.allocation).of(at).tolist()
                label = words.bottleneck(int(bottleneck[0]), 1).label if bottleneck else ""
                known[key] = (float(paths.rates([at])[0]), label)
            found[transfer.name] = Drain(*known[key], tuple(paths.channels(at)[0]))
        return found

    def _long_distance(self) -> LongDistance | None:
        migration = self.conditions.round_trip
        if not migration or not self.streams:
            return None
        narrow = min(self.streams.values(), key=lambda plan: plan.bandwidth.value)
        return vmotion_long_distance(BytesPerSecond(narrow.bandwidth.value), Seconds(migration), narrow.streams)

    def _cap(self, going: Going) -> float:
        cap = self.distance.bandwidth.value if self.distance is not None else float("inf")
        if going.release == KVM:
            cap = min(cap, kvm_rate(self.conditions.kvm, _line(going)).link_rate.value)
        return cap

    def migration(self, going: Going, rate: float) -> MigrationEstimate:
        """One machine at a rate [B/s]."""
        dirty = self.conditions.dirty_rate
        drain = self.drains.get(going.name)
        if going.release == KVM:
            return kvm_estimate(going.placed, rate, _line(going), self.conditions.kvm, dirty, drain)
        ends = (self.streams[going.placed.host.path], self.streams[going.there.host.path])
        checkpoint = min(plan.checkpoint_bandwidth.value for plan in ends)
        release = vsphere(going.release)
        return vmotion_estimate(going.placed, rate, checkpoint, release, dirty, drain, self.conditions.disks)

    def alternatives(self, going: Going, rate: float, migration: MigrationEstimate) -> tuple[Alternative, ...]:
        """What would bring over a machine that does not arrive at this rate [B/s]."""
        tried: list[tuple[str, MigrationModel, Going]] = []
        if going.release == KVM and not migration.converges:
            for title, more in (("auto-converge", {"auto_converge": True}), ("post-copy", {"post_copy": True})):
                tried.append((title, self._under(kvm=replace(self.conditions.kvm, **more)), going))
        elif going.release != KVM and migration.converges:
            newest = Release.V9_0.value
            if going.release != newest:
                tried.append((f"release {newest}", self, replace(going, release=newest)))
        return tuple(
            Alternative(title, found) for title, model, each in tried if (found := model.migration(each, rate)).arrives
        )

    def _under(self, **changes: Any) -> MigrationModel:
        twin = copy.copy(self)
        twin.conditions = replace(self.conditions, **changes)
        return twin


def _line(going: Going) -> float:
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
