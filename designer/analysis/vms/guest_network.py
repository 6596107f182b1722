"""The network as a workload in machines sees it: NVLinks that are switched off, NICs that are shared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from designer.analysis.capacities import ACCELERATOR
from designer.analysis.network import NETWORKS_LIMIT, Network, network_without_links
from designer.analysis.vms.free_capacity import Placed, PlacedDevice
from designer.analysis.vms.guest import Guest
from designer.analysis.vms.nic_functions import with_nic_shares
from designer.analysis.vms.placement import place_vms
from designer.memo import memo

#: networks with NVLinks switched off that are kept of each
_QUIET_LIMIT: Final = 8


def silent_nvlinks(
    network: Network, mine: Mapping[int, tuple[Placed, PlacedDevice]], slices: Mapping[int, str]
) -> tuple[int, ...]:
    """NVLinks that the machines of a workload cannot use."""
    cut = place_vms(network).cut
    names = {link for placed, _ in mine.values() if placed.vm.id in cut for link in cut[placed.vm.id].links}
    if not names:
        return nvlinks_of(network, list(slices))
    net = network.net
    found = {k for k in nvlinks_of(network, list(mine)) if net.link_path(k) in names}
    return tuple(sorted(found | set(nvlinks_of(network, list(slices)))))


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
    if guest is None:
        return network
    quiet = quiet_network(network, guest.silent)
    return with_nic_shares(quiet, guest.nics) if nics else quiet
