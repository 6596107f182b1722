"""What a migration workload asks for: which machines leave, where they may go, under which conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from designer.analysis.network import Network
from designer.analysis.selection import resolve
from designer.analysis.vms.demands import KVM
from designer.analysis.vms.free_capacity import Placed
from designer.analysis.vms.hosts import Host, Hosts
from designer.analysis.vms.migration_paths import Shares
from designer.analysis.vms.migration_plan import Conditions
from designer.analysis.vms.migrations import KvmSettings
from designer.analysis.vms.placement import Placement, place_vms
from designer.errors import AnalysisError
from designer.formulas.migration.kvm_bandwidth import Compression, Monitor, Transport
from designer.units import BytesPerSecond, Seconds
from designer.workload.migrations import Evacuation, KvmMigration, Vmotion

#: hosts named in an error
SHOWN_LIMIT = 5


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Machines that leave, hosts they may go to, and conditions."""

    leaving: list[Placed]
    allowed: list[Host]
    conditions: Conditions


def asked_moves(network: Network, operation: Vmotion | Evacuation | KvmMigration, place: str) -> Asked:
    """What a migration workload asks for on a drawing.

    Raises
    ------
    AnalysisError
        If a machine or host is not there, or a setting is wrong.
    """
    placement = place_vms(network)
    if isinstance(operation, Evacuation):
        return _evacuation(network, placement, operation, place)
    leaving = machines(placement, network, operation.vms, place)
    allowed = hosts_of(network, placement.hosts, operation.target, f"{place}.to")
    if isinstance(operation, Vmotion):
        return Asked(leaving, allowed, replace(_vsphere(operation, place), dirty_rate=operation.dirty_rate))
    return Asked(leaving, allowed, _kvm(operation))


def _vsphere(operation: Vmotion | Evacuation, place: str) -> Conditions:
    return Conditions(
        release=operation.release,
        encrypted=operation.encrypted,
        vmknics_per_nic=operation.vmknics_per_nic,
        mtu=operation.mtu,
        round_trip=operation.round_trip,
        at_once=operation.at_once,
        disks=operation.disks,
        shares=read_shares(operation.shares, operation.shares_beside, place),
    )


def _kvm(operation: KvmMigration) -> Conditions:
    settings = KvmSettings(
        channels=operation.channels,
        monitor=Monitor(operation.monitor),
        transport=Transport(operation.transport),
        compression=Compression(operation.compression),
        auto_converge=operation.auto_converge,
        post_copy=operation.post_copy,
        downtime_limit=Seconds(operation.downtime_limit),
        max_bandwidth=BytesPerSecond(operation.max_bandwidth) if operation.max_bandwidth else None,
        device_state=operation.device_state,
        multifd_devices=operation.multifd_devices,
    )
    return Conditions(release=KVM, dirty_rate=operation.dirty_rate, at_once=operation.at_once, kvm=settings)


def _evacuation(network: Network, placement: Placement, operation: Evacuation, place: str) -> Asked:
    if not operation.hosts.strip():
        known = ", ".join(host.path for host in placement.hosts.hosts[:SHOWN_LIMIT]) or "none"
        raise AnalysisError("no host is named", place=f"{place}.hosts", remedy=f"hosts: {known}")
    emptied = {h.path for h in hosts_of(network, placement.hosts, operation.hosts, f"{place}.hosts")}
    leaving = [placed for placed in placement.placed.values() if placed.host.path in emptied]
    if not leaving:
        raise AnalysisError(
            f"no machine runs on {operation.hosts}",
            place=f"{place}.hosts",
            remedy="choose a host with machines",
        )
    targets = hosts_of(network, placement.hosts, operation.target, f"{place}.to")
    allowed = [host for host in targets if host.path not in emptied]
    return Asked(leaving, allowed, replace(_vsphere(operation, place), cold=operation.cold))


def read_shares(migrations: int, beside: int, place: str) -> Shares:
    """Shares of network I/O control, given on both sides or on none.

    Raises
    ------
    AnalysisError
        If only one side has shares: they mean nothing alone.
    """
    if bool(migrations) != bool(beside):
        missing = "shares_beside" if migrations else "shares"
        raise AnalysisError(
            "shares weigh two kinds of traffic, and only one has them",
            place=f"{place}.{missing}",
            remedy="give both, or none",
        )
    return Shares(migrations, beside)


def machines(placement: Placement, network: Network, ids: Sequence[str], place: str) -> list[Placed]:
    """Machines by id, where they stand.

    Raises
    ------
    AnalysisError
        If none is named, there is none of that id, or it stands nowhere.
    """
    if not ids:
        known = ", ".join(network.design.vms) or "none"
        raise AnalysisError("no virtual machine is named", place=f"{place}.vms", remedy=f"machines: {known}")
    found: list[Placed] = []
    for vm_id in dict.fromkeys(ids):
        if vm_id not in network.design.vms:
            known = ", ".join(network.design.vms) or "none"
            raise AnalysisError(
                f"there is no virtual machine {vm_id!r}", place=f"{place}.vms", remedy=f"machines: {known}"
            )
        if vm_id not in placement.placed:
            refusal = placement.refused[vm_id]
            raise AnalysisError(f"{vm_id!r} runs nowhere: {refusal.text}", place=f"vms.{vm_id}", remedy=refusal.remedy)
        found.append(placement.placed[vm_id])
    return found


def hosts_of(network: Network, hosts: Hosts, selector: str, place: str) -> list[Host]:
    """The hosts a selector names; all of them for an empty one.

    Raises
    ------
    AnalysisError
        If it names something that is no host.
    """
    if not selector.strip():
        return list(hosts.hosts)
    paths = [network.net.path(part) for part in resolve(network, selector, place).tolist()]
    return [hosts.at(path, place) for path in paths]
