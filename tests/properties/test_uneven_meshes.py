"""Rings over accelerators joined by unequal links: wider links never make a ring slower, and none passes its links."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from designer.catalog.parttype import Capability
from designer.engine.network import build_network
from designer.families.collective.communicator import make_communicator
from tests.unit.engine.small_designs import draw

LINK = 25e9
Mesh = dict[tuple[int, int], int]


@st.composite
def meshes(draw_: st.DrawFn) -> tuple[int, Mesh]:
    """Three to six accelerators, and how many links join each pair; full, or with some pairs left out."""
    n = draw_(st.integers(3, 6))
    least = draw_(st.sampled_from([0, 1]))
    return n, {pair: draw_(st.integers(least, 5)) for pair in combinations(range(n), 2)}


def ring(n: int, mesh: Mesh) -> float:
    """What each of `n` accelerators sends around the ring, raw [B/s]; over PCIe where links close none."""
    lines = ["cpu0 mem0: memory_bus 300 GB/s", "cpu0 psw0: pcie 5x16"]
    lines += [f"psw0 gpu{k}: pcie 5x16" for k in range(n)]
    lines += [f"gpu{a} gpu{b}: nvlink {count}* 25 GB/s" for (a, b), count in mesh.items() if count]
    network = build_network(draw(*lines))
    inside = make_communicator(network, np.flatnonzero(network.has(Capability.ACCELERATE)), "test").inside
    assert inside is not None
    return inside.rate


@given(meshes(), st.data())
@settings(max_examples=25, deadline=None)
def test_wider_links_never_slow_a_ring(drawn: tuple[int, Mesh], data: st.DataObject) -> None:
    n, mesh = drawn
    pair = data.draw(st.sampled_from(sorted(mesh)))
    before = ring(n, mesh)
    after = ring(n, {**mesh, pair: mesh[pair] + data.draw(st.integers(1, 8))} if mesh[pair] else mesh)
    assert after >= before * (1 - 1e-9)


@given(meshes())
@settings(max_examples=25, deadline=None)
def test_no_ring_passes_the_links_of_a_rank(drawn: tuple[int, Mesh]) -> None:
    n, mesh = drawn
    least = min(sum(count for pair, count in mesh.items() if k in pair) for k in range(n))
    if all(mesh.values()):
        narrowest = min(mesh.values())
        # all equal pairs use the narrowest of each; more is what unequal rings find
        assert ring(n, mesh) >= (n - 1) * narrowest * LINK * (1 - 1e-9)
        assert ring(n, mesh) <= least * LINK * (1 + 1e-9)
