"""What a migration workload asks for on a design: which machines leave, and where they may go."""

from __future__ import annotations

from collections.abc import Sequence

from designer.engine.machines.free_capacity import Placed
from designer.engine.machines.hosts import Host, Hosts
from designer.engine.machines.placement import Placement, place_vms
from designer.engine.network import Network
from designer.engine.routes.selection import resolve
from designer.errors import AnalysisError
from designer.families.machines.operations import Migration

#: hosts named in an error
SHOWN_LIMIT = 5


def asked_moves(network: Network, operation: Migration, place: str) -> tuple[list[Placed], list[Host]]:
    """Machines that leave in a migration workload, and hosts they may go to.

    Raises
    ------
    AnalysisError
        If a machine or host is not there.
    """
    placement = place_vms(network)
    if operation.hosts is None:
        leaving = machines(placement, network, operation.vms, place)
        return leaving, hosts_of(network, placement.hosts, operation.target, f"{place}.to")
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
    return leaving, [host for host in targets if host.path not in emptied]


def machines(placement: Placement, network: Network, ids: Sequence[str], place: str) -> list[Placed]:
    """Machines by id, where they are placed.

    Raises
    ------
    AnalysisError
        If none is named, there is none of that id, or it is placed nowhere.
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
