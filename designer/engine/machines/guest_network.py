"""The network as a workload in machines sees it: NVLinks that are switched off, NICs that are shared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.engine.machines.guest import Guest
from designer.engine.machines.nic_functions import with_nic_shares
from designer.engine.machines.placement import place_vms
from designer.engine.network import (
    NETWORKS_LIMIT,
    Network,
    network_with_attributes,
    network_without_links,
)
from designer.engine.network.capacities import ACCELERATOR
from designer.engine.network.islands import PARTITION
from designer.findings import Finding, Severity
from designer.memo import memo

Int = npt.NDArray[np.int64]

#: a finding names at most so many accelerators
_LISTED_LIMIT: Final = 20
#: networks with NVLinks switched off that are kept of each
_QUIET_LIMIT: Final = 8


@memo(most=NETWORKS_LIMIT)
def partitioned_network(network: Network) -> Network:
    """The network as its machines leave it: NVLinks join accelerators of one device group, and those of none.

    An accelerator with virtual GPUs outside a group has no NVLink at all.

    Raises
    ------
    AnalysisError
        If the machines cannot be placed.
    """
    if not network.design.vms or any(PARTITION in part.attributes for part in network.net.part_defs):
        return network
    placement = place_vms(network)
    partitions: dict[int, str] = {}
    for vm_id in placement.cut:
        for device in placement.placed[vm_id].devices:
            gpu, group = device.gpu, device.group
            if gpu is None or gpu.board is None or device.kind == "passthrough":
                continue
            partitions[gpu.part] = f"{vm_id}, {group.partition}" if group is not None else gpu.path
    return network_with_attributes(network, PARTITION, partitions) if partitions else network


def cut_findings(network: Network, parts: Int) -> tuple[Finding, ...]:
    """That NVLinks between some accelerators are switched off, where those of one server are in several partitions."""
    net = network.net
    if not any(PARTITION in definition.attributes for definition in net.part_defs):
        # asked after every edit, of clusters as well
        return ()
    apart: dict[tuple[int, str], int] = {}
    for part in parts.tolist():
        apart.setdefault((int(network.island[part]), net.part(part).attributes.get(PARTITION, "")), part)
    many = Counter(island for island, _ in apart)
    named = [part for (island, _), part in apart.items() if many[island] > 1]
    if not named:
        return ()
    where = tuple(net.paths(np.array(sorted(named[:_LISTED_LIMIT]))))
    text = f"NVLink is off between {where[0]} and {where[1]}: device groups keep their GPUs apart, which talk over PCIe"
    remedy = "run it inside one device group, or make the group larger"
    return (Finding("VM-NVLINK-CUT", Severity.WARNING, text, where, remedy),)


def nvlinks_of(network: Network, parts: Sequence[int]) -> tuple[int, ...]:
    """Links of accelerators to each other and to their switches."""
    net = network.net
    ends = np.isin(net.link_a, parts) | np.isin(net.link_b, parts)
    return tuple(np.flatnonzero((network.domain == ACCELERATOR) & ends).tolist())


@memo(most=NETWORKS_LIMIT, each=_QUIET_LIMIT)
def quiet_network(network: Network, silent: tuple[int, ...]) -> Network:
    """The network as a workload sees it whose machines switch some NVLinks off."""
    return network_without_links(network, silent) if silent else network


def network_for(network: Network, guest: Guest | None, *, nics: bool = True) -> Network:
    """The network as a workload in machines sees it: NVLinks switched off, NICs as narrow as its share of them.

    Parameters
    ----------
    nics
        False for whole NICs, as while other machines that have functions of them are idle.
    """
    network = partitioned_network(network)
    if guest is None:
        return network
    quiet = quiet_network(network, guest.silent)
    return with_nic_shares(quiet, guest.nics) if nics else quiet
