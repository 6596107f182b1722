"""Routes of very many legs are added up where only sums count: nothing that is asked of them changes."""

from __future__ import annotations

import numpy as np
import pytest

from designer.engine.network import Network, build_network
from designer.engine.routes import fabric_routes, route
from designer.engine.routes.legs import Legs
from designer.families.collective.communicator import make_concurrent
from designer.interchange.templates import open_design
from designer.memo import forget


@pytest.fixture(scope="module")
def network() -> Network:
    return build_network(open_design("cluster-1024"))


def test_sums_over_flows_are_those_of_the_flows_one_by_one(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fabric_routes, "MERGED_LIMIT", 0)
    gpus = network.parts_of_kind("gpu")
    legs = Legs.of(gpus, np.roll(gpus, 24))
    single, merged = route(network, legs), route(network, legs, sums=True)
    assert len(merged.merged_share)
    assert len(merged.flow) < len(single.flow)
    n = 2 * network.net.n_links
    one, other = (np.bincount(r.channel, r.share, n) for r in (single, merged))
    np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-12)


def test_communicators_are_the_same_with_and_without(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = network.parts_of_kind("gpu")
    pairs = np.stack([gpus[:-64], gpus[64:]], axis=1)
    alone = make_concurrent(network, pairs, "")
    monkeypatch.setattr(fabric_routes, "MERGED_LIMIT", 0)
    forget()
    merged = make_concurrent(network, pairs, "")
    assert all(one.between is not None and len(one.between.hops.passed) == 1 for one in alone)
    assert [one.situation for one in merged] == [one.situation for one in alone]
    assert all(one.between is not None and len(one.between.hops.passed) == 2 for one in merged)
