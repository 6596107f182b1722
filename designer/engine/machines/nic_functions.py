"""What machines have of a NIC that gives functions (SR-IOV) to several of them, and the network as they see it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from designer.catalog.parttype import Capability
from designer.design.document import with_changes
from designer.design.shapes import Shape
from designer.engine.machines.placement import Placement
from designer.engine.network import NETWORKS_LIMIT, Network, network_of
from designer.engine.network.capacities import NETWORK
from designer.memo import memo
from designer.sources import Constant, Status

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
    return _narrowed(network, tuple((part, share.value) for part, share in shares.items())) if shares else network


@memo(most=NETWORKS_LIMIT, each=_SHARES_LIMIT)
def _narrowed(network: Network, shares: tuple[tuple[int, float], ...]) -> Network:
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
