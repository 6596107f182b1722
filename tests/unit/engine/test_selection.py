"""Who sends to whom."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.engine.network import build_network
from designer.engine.routes.selection import Traffic, pair_up, resolve
from designer.errors import AnalysisError
from designer.workload.program import Move
from tests.designs import one_server, one_unit
from tests.unit.engine.small_designs import draw, server, transfer

NETWORK = build_network(draw(*server(), "nic0 sw0: ethernet 100 Gb/s", "store0 sw0: ethernet 100 Gb/s"))
PAIRINGS = ["nearest", "striped", "pairs", "shift", "permutation", "all", "auto"]


def traffic(source: str, target: str, **settings: object) -> Traffic:
    return pair_up(NETWORK, Move(source, target, **settings), "t")  # type: ignore[arg-type]


def pairs(found: Traffic) -> list[str]:
    path = NETWORK.net.path
    return [f"{path(a)}->{path(b)}" for a, b in zip(found.source.tolist(), found.target.tolist(), strict=True)]


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize(
    ("source", "target"),
    [("gpus", "gpus"), ("memory", "gpus"), ("gpus", "memory"), ("store0", "gpus"), ("memory", "memory")],
)
def test_no_flow_to_itself_and_every_flow_whole(source: str, target: str, pairing: str):
    if pairing == "pairs" and {source, target} == {"memory", "gpus"}:
        pytest.skip("as many parts on both sides are needed")
    for both_ways in (False, True):
        found = (
            traffic(source, target, pairing=pairing, both_ways=both_ways)
            if not (pairing == "pairs" and source == target)
            else None
        )
        if found is None:
            with pytest.raises(AnalysisError, match="end where it begins"):
                traffic(source, target, pairing=pairing)
            return
        legs = found.legs
        assert (legs.source != legs.target).all()
        np.testing.assert_allclose(np.bincount(legs.flow, legs.share, found.n_flows), 1)


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_both_ways_adds_the_twin_of_every_flow(pairing: str):
    there = traffic(
        "gpus" if pairing == "pairs" else "memory",
        "gpu1,gpu0,gpu3,gpu2" if pairing == "pairs" else "gpus",
        pairing=pairing,
    )
    both = traffic(
        "gpus" if pairing == "pairs" else "memory",
        "gpu1,gpu0,gpu3,gpu2" if pairing == "pairs" else "gpus",
        pairing=pairing,
        both_ways=True,
    )
    back = [f"{b}->{a}" for a, b in (p.split("->") for p in pairs(there))]
    assert pairs(both) == pairs(there) + back
    n = len(there.legs)
    assert both.legs.source[n:].tolist() == there.legs.target.tolist()


def test_auto_takes_what_fits():
    assert pairs(traffic("memory", "gpus")) == ["mem0->gpu0", "mem0->gpu1", "mem1->gpu2", "mem1->gpu3"]
    assert pairs(traffic("gpus", "memory")) == ["gpu0->mem0", "gpu1->mem0", "gpu2->mem1", "gpu3->mem1"]
    assert pairs(traffic("gpus", "gpus")) == ["gpu0->gpu2", "gpu1->gpu3", "gpu2->gpu0", "gpu3->gpu1"]
    assert pairs(traffic("gpu0", "gpu1,gpu2")) == ["gpu0->gpu1", "gpu0->gpu2"]
    assert pairs(traffic("store0", "gpus")) == ["store0->gpu0", "store0->gpu1", "store0->gpu2", "store0->gpu3"]


def test_nearest_of_one_kind_is_the_neighbour_not_itself():
    assert pairs(traffic("gpus", "gpus", pairing="nearest")) == ["gpu1->gpu0", "gpu0->gpu1", "gpu3->gpu2", "gpu2->gpu3"]


def test_pairs_that_do_not_match():
    with pytest.raises(AnalysisError, match="3 and 2") as refusal:
        traffic("gpu0,gpu1,gpu2", "memory", pairing="pairs")
    assert refusal.value.remedy


def test_too_many_pairs_are_refused_before_they_are_made():
    network = build_network(one_unit(300))
    with pytest.raises(AnalysisError, match="5,760,000"):
        pair_up(network, Move("gpus", "gpus", pairing="all"), "t")


def test_words_paths_and_lists():
    network = build_network(one_server())
    names = [network.net.path(i) for i in resolve(network, "gpu3, gpu1,gpu3 , gpu1*", "x").tolist()]
    assert names == ["gpu3", "gpu1"]
    assert len(resolve(network, "gpus", "x")) == len(resolve(network, "gpu*", "x")) == 8
    assert len(resolve(network, "nics", "x")) == 10


@given(st.integers(0, 2**63 - 1))
def test_a_permutation_is_one_and_depends_on_its_seed_only(seed: int):
    first, again = (traffic("gpus", "gpus", pairing="permutation", seed=seed) for _ in range(2))
    assert np.array_equal(first.target, again.target)
    assert len(set(first.source.tolist())) == len(set(first.target.tolist())) == first.n_flows


@given(st.floats(1, 1e12))
def test_no_flow_gets_more_than_it_asks_for(demand: float):
    answer = transfer(draw(*server()), "memory", "gpus", demand=demand)
    assert (answer.rate <= demand).all()
    assert (answer.low <= answer.rate).all()
    assert (answer.rate <= answer.high).all()
