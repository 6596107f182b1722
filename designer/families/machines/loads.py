"""The load of channels while machines move."""

from __future__ import annotations

import numpy as np

from designer.engine.network import Network
from designer.engine.results import ChannelLoads
from designer.families.machines.moves import Moves


def loads(network: Network, moves: Moves) -> ChannelLoads:
    """Payload of the channels while most machines send; the utilization counts what runs with as well."""
    if moves.run is None:
        return ChannelLoads.none(network.net.n_links)
    run, paths, moving = moves.run, moves.plan.model.migration_paths, moves.sending(moves.busiest)
    load = np.zeros(2 * network.net.n_links)
    for transfer, rate in zip(moving, paths.rates(moving).tolist() if moving else (), strict=True):
        channels, shares = paths.channels(transfer)
        np.add.at(load, channels, np.array(shares) * rate)
    at = moves.busiest * moves.part
    return ChannelLoads(load, run.channels_mean(at, at))
