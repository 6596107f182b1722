"""Small problems for the flow tests."""

from __future__ import annotations

import numpy as np

from designer.engine.flows import Incidence

INF = float("inf")


def random_incidence(
    seed: int, activities: int = 10, resources: int = 8, *, capped: bool = True, tied: bool = False
) -> Incidence:
    """Random routes of 1–4 resources; ``tied`` takes capacities, weights and usages from few values."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(activities):
        used = rng.choice(resources, rng.integers(1, min(4, resources) + 1), replace=False)
        rows.append([(int(r), float(rng.choice([0.5, 1.0, 2.0]) if tied else rng.uniform(0.2, 3))) for r in used])
    capacity = rng.integers(1, 5, resources).astype(float) if tied else rng.uniform(1, 20, resources)
    weight = rng.choice([1.0, 2.0], activities) if tied else rng.uniform(0.5, 3, activities)
    demand = np.where(rng.random(activities) < 0.4 * capped, rng.uniform(0.1, 8, activities), INF)
    return Incidence.from_rows(rows, capacity, weight, demand)


def ring(servers: int = 4, send: float = 50.0, receive: float = 50.0, pcie: float = 63.0) -> Incidence:
    """Each server sends to the next: resources are all sends, then all receives, then all PCIe links."""
    n = servers
    rows = [[(i, 1.0), (n + (i + 1) % n, 1.0), (2 * n + i, 1.0)] for i in range(n)]
    return Incidence.from_rows(rows, [send] * n + [receive] * n + [pcie] * n)
