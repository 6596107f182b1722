"""Time until the first byte of a transfer is there."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability
from designer.engine.network.capacities import band_of, columns
from designer.engine.transfers.problem import Problem
from designer.formulas.transfer import LATENCY, TransferProtocol
from designer.sources import Constant

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]


def latency(problem: Problem) -> Float:
    """Time until the first byte is there: links and switches on the way, media, and the start of every copy.

    A copy engine is started for each leg between an accelerator and memory or a peer of its server; adapters start
    by themselves. The value and the ends of its band. : (3, n_flows) [s]
    """
    network, routes, traffic = problem.network, problem.routes, problem.traffic
    n = traffic.n_flows
    links = columns([f.latency for f in network.link_facts])
    stated = network.hop_bands_of_definitions
    hops = np.where(np.isfinite(stated), stated, 0.0)
    end = network.net.part_def[network.ends_of(routes.channel)]
    entry = links[:, network.net.link_def[routes.channel >> 1]] + hops[:, end]
    found = np.stack([np.bincount(routes.flow, row * routes.share, n) for row in entry]).astype(np.float64)
    accelerates, stores = network.has(Capability.ACCELERATE), network.has(Capability.STORE)
    source, target = problem.legs.source, problem.legs.target
    copies = (accelerates[source] | accelerates[target]) & (network.island[source] == network.island[target])
    copies &= ~(stores[source] | stores[target]) & ~_adapter(problem, source) & ~_adapter(problem, target)
    copied = np.bincount(problem.legs.flow[copies], problem.legs.share[copies], n)
    found += _ends(LATENCY[TransferProtocol.COPY])[:, None] * copied
    media = _media_latency(problem)
    for part in (traffic.source, traffic.target):
        found += np.where(stores[part], media[:, network.net.part_def[part]], 0.0)
    return found


def _ends(constant: Constant) -> Float:
    return np.array([constant.value, constant.low, constant.high])


def _adapter(problem: Problem, part: Int) -> npt.NDArray[np.bool_]:
    return problem.network.has(Capability.ATTACH)[part]


def _media_latency(problem: Problem) -> Float:
    """Access latency of drives and storage systems by definition, with its band. : (3, n_definitions) [s]"""
    network = problem.network
    start = LATENCY[TransferProtocol.STORAGE]
    usual = (start.value, start.low, start.high)
    flow_row = [
        (Capability.STORE in kind.capabilities and band_of(network.design, part, "access_latency")) or usual
        for part, kind in zip(network.net.part_defs, network.kinds, strict=True)
    ]
    return columns(flow_row)
