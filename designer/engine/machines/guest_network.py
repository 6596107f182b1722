"""The network as a workload in machines sees it: NVLinks that are switched off, NICs that are shared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability
from designer.design.document import with_changes
from designer.design.shapes import Shape
from designer.engine.machines.guest import Guest
from designer.engine.machines.placement import Placement, place_vms
from designer.engine.network import (
    NETWORKS_LIMIT,
    Network,
    network_of,
    network_with_attributes,
    network_without_links,
)
from designer.engine.network.capacities import ACCELERATOR, NETWORK
from designer.engine.network.islands import PARTITION
from designer.findings import Finding, Severity
from designer.memo import memo
from designer.sources import Constant, Status

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


# What machines have of a NIC that gives functions (SR-IOV) to several of them, and the network as they see it.

#: networks with NICs that are shared kept of each
_SHARES_LIMIT: Final = 8


def nic_shares(
    network: Network, placement: Placement, machines: Collection[str], running: Collection[str] = ()
) -> Mapping[int, Constant]:
    """By NIC, the share of it that functions of some machines have, where other machines have functions of it too.

    Parameters
    ----------
    running
        Machines whose own work runs on the same clock: what they take of the NIC is stated there.

    Notes
    -----
    A NIC serves its functions in turn, so each has an equal part while all are busy, and all of it while the others
    are idle: a machine that has two of four functions has half, and up to the whole.
    """
    own: dict[str, int] = {}
    all_of: dict[str, int] = {}
    for name, placed in placement.placed.items():
        for device in placed.devices:
            if device.kind != "sriov" or not device.part:
                continue
            if name in machines:
                own[device.part] = own.get(device.part, 0) + 1
            if name in machines or name not in running:
                all_of[device.part] = all_of.get(device.part, 0) + 1
    found: dict[int, Constant] = {}
    for path, functions in own.items():
        part = network.net.index_of(path) if functions < all_of[path] else -1
        if part >= 0 and Capability.ATTACH in network.kind(part).capabilities:
            share = functions / all_of[path]
            note = f"{functions} of {all_of[path]} functions"
            found[part] = Constant(share, share, 1.0, "assumed-nic-functions", Status.ASSUMED, "1", note)
    return found


def with_nic_shares(network: Network, shares: Mapping[int, Constant]) -> Network:
    """The network of machines that have shares of NICs: their ports are that much narrower; all keeps its number."""
    return _narrow_links(network, tuple((part, share.value) for part, share in shares.items())) if shares else network


@memo(most=NETWORKS_LIMIT, each=_SHARES_LIMIT)
def _narrow_links(network: Network, shares: tuple[tuple[int, float], ...]) -> Network:
    net = network.net
    definitions = list(net.part_defs)
    part_def = net.part_def.copy()
    for part, share in shares:
        links = np.flatnonzero(((net.link_a == part) | (net.link_b == part)) & (network.domain == NETWORK))
        if not len(links):
            continue
        rate = float(network.rate_of(links).max()) * share
        whole = net.part_defs[int(net.part_def[part])]
        limit = {"bandwidth_per_direction": {"value": f"{rate!r} B/s"}}
        definitions.append(with_changes(whole, overrides={**whole.overrides, **limit}))
        part_def[part] = len(definitions) - 1
    changed = replace(net.arrays, part_def=part_def)
    narrowed = replace(net, part_defs=tuple(definitions), shape=Shape(net.block), changed=changed)
    return network_of(network.design, narrowed)
