"""Synthetic clusters as incidences: servers of eight GPUs in PCIe pairs, rails of leaf and spine switches.

Capacities in GB/s. ``load`` is regular (storage to GPU with an even split over parallel links), ``permutation`` has no
symmetry at all (random pairs, hashed single paths, random weights, 30 % of the flows capped).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from designer.engine.flows import Incidence

GPUS = 8
SERVERS_PER_UNIT = 32
SPINES = 16

#: capacities of one server: 4 PCIe uplinks each way, 8 GPU slots each way, 8 NIC slots each way, 8 HBM, 2 DRAM,
#: 8 NVLink ports each way
SERVER = np.concatenate([np.full(8, 63.0), np.full(16, 63.0), np.full(16, 63.0), np.full(8, 3350.0), [307.0, 307.0]])
SERVER = np.concatenate([SERVER, np.full(16, 450.0)])
UP, GPU_IN, GPU_OUT, NIC_OUT, NIC_IN, HBM, DRAM, NV_OUT, NV_IN = 0, 8, 16, 24, 32, 40, 48, 50, 58


@dataclass(frozen=True)
class Cluster:
    """Where each block of resources begins."""

    servers: int
    capacity: NDArray[np.float64]
    blocks: dict[str, int]

    @classmethod
    def of(cls, servers: int) -> Cluster:
        units = -(-servers // SERVERS_PER_UNIT)
        rails, storage = units * GPUS, max(1, servers // 8)
        sizes = {
            "server": (servers, SERVER),
            "nic_up": (servers * GPUS, [50.0]),
            "nic_down": (servers * GPUS, [50.0]),
            "leaf_up": (rails * SPINES, [100.0]),
            "leaf_down": (rails * SPINES, [100.0]),
            "storage_port": (storage, [100.0]),
            "storage_up": (units * SPINES, [200.0]),
            "storage_down": (units * 2 * SPINES, [50.0]),
            "storage_nic": (servers * 2, [25.0]),
        }
        blocks, parts, offset = {}, [], 0
        for name, (count, values) in sizes.items():
            blocks[name] = offset
            parts.append(np.tile(values, count))
            offset += len(parts[-1])
        return cls(servers, np.concatenate(parts), blocks)


def _incidence(columns, capacity, weight=None, demand=None, keep=None) -> Incidence:
    """Columns are (resource (n,) or (n, k), usage); ``keep`` marks used entries, column by column."""
    ids = [np.atleast_2d(np.asarray(ids).T).T for ids, _ in columns]
    n = len(ids[0])
    usage = np.concatenate([np.full(i.shape, u, float) for i, (_, u) in zip(ids, columns, strict=True)], axis=1)
    table = np.concatenate(ids, axis=1)
    mask = np.ones(table.shape, bool) if keep is None else keep
    ptr = np.concatenate([[0], np.cumsum(mask.sum(axis=1))])
    weight = np.ones(n) if weight is None else weight
    demand = np.full(n, np.inf) if demand is None else demand
    return Incidence(ptr, table[mask], usage[mask], capacity, weight, demand)


def load(servers: int) -> Incidence:
    """One flow per GPU from its storage server: 41 resources, memory crossed twice, even split over the spines."""
    c = Cluster.of(servers)
    i = np.arange(servers * GPUS)
    s, g = i // GPUS, i % GPUS
    unit, q, spine = s // SERVERS_PER_UNIT, g // 4, np.arange(SPINES)
    base = c.blocks["server"] + s * len(SERVER)
    columns = [
        (c.blocks["storage_port"] + s // 8 % max(1, servers // 8), 1.0),
        (c.blocks["storage_up"] + (unit * SPINES)[:, None] + spine, 1 / SPINES),
        (c.blocks["storage_down"] + ((unit * 2 + q) * SPINES)[:, None] + spine, 1 / SPINES),
        (c.blocks["storage_nic"] + s * 2 + q, 1.0),
        (base + DRAM + q, 2.0),
        (base + UP + g // 2, 1.0),
        (base + GPU_IN + g, 1.0),
        (base + HBM + g, 1.0),
    ]
    if servers == 1:  # the host path in more detail, as one server is drawn
        columns += [(base + UP + 4 + g // 2, 1.0), (base + GPU_OUT + g, 1.0), (base + NIC_IN + g, 1.0)]
    return _incidence(columns, c.capacity)


def permutation(servers: int, seed: int = 0) -> Incidence:
    """Every GPU sends to another one: NVLink to the rail of its peer, NIC, one hashed leaf–spine path, NIC, GPU."""
    c, rng = Cluster.of(servers), np.random.default_rng(seed)
    n = servers * GPUS
    i, j = np.arange(n), rng.permutation(n)
    s1, g1, s2, g2 = i // GPUS, i % GPUS, j // GPUS, j % GPUS
    u1, u2 = s1 // SERVERS_PER_UNIT, s2 // SERVERS_PER_UNIT
    b1, b2 = s1 * len(SERVER), s2 * len(SERVER)
    spine = rng.integers(0, SPINES, n)
    columns = [
        (b1 + NV_OUT + g1, 1.0),
        (b1 + NV_IN + g2, 1.0),
        (b1 + GPU_OUT + g2, 1.0),
        (b1 + NIC_OUT + g2, 1.0),
        (c.blocks["nic_up"] + s1 * GPUS + g2, 1.0),
        (c.blocks["leaf_up"] + (u1 * GPUS + g2) * SPINES + spine, 1.0),
        (c.blocks["leaf_down"] + (u2 * GPUS + g2) * SPINES + spine, 1.0),
        (c.blocks["nic_down"] + s2 * GPUS + g2, 1.0),
        (b2 + NIC_IN + g2, 1.0),
        (b2 + GPU_IN + g2, 1.0),
    ]
    nvlink, local, same_unit = g1 != g2, s1 == s2, u1 == u2
    remote = ~local
    fabric = remote & ~same_unit
    keep = np.stack([nvlink, nvlink, remote, remote, remote, fabric, fabric, remote, remote, remote], axis=1)
    weight = rng.uniform(0.5, 2.0, n)
    demand = np.where(rng.random(n) < 0.3, rng.uniform(1, 40, n), np.inf)
    demand[~keep.any(axis=1)] = 0.0  # a GPU that drew itself
    return _incidence(columns, c.capacity, weight, demand, keep)


def random_dense(activities: int, resources: int, per_activity: int, seed: int = 0) -> Incidence:
    """Uniformly random routes over capacities of 1–100: many levels, no locality."""
    rng = np.random.default_rng(seed)
    ptr = np.arange(0, activities * per_activity + 1, per_activity)
    routes = rng.integers(0, resources, activities * per_activity)
    ones = np.ones(activities)
    return Incidence(ptr, routes, np.ones(len(routes)), rng.uniform(1, 100, resources), ones, ones * np.inf)


def chain(n: int) -> Incidence:
    """Activity i uses resources i and i + 1 of growing capacity: n bottlenecks, each waits for the one before."""
    routes = np.stack([np.arange(n), np.arange(1, n + 1)], axis=1).ravel()
    capacity = np.cumsum(np.linspace(1, 2, n + 1))
    return Incidence(np.arange(0, 2 * n + 1, 2), routes, np.ones(2 * n), capacity, np.ones(n), np.full(n, np.inf))
