"""Resources in words, which of them are equal, and what workloads get done."""

from __future__ import annotations

import numpy as np
import pytest

from designer.engine.account.bottlenecks import Limit, ResourceClass, Resources, sort_of
from designer.engine.account.worth import share_of, share_of_work, worth_of
from designer.engine.network import Network, build_network
from designer.engine.network.partition import by_value
from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError
from designer.interchange.templates import open_design
from designer.sources import Estimate
from tests.unit.engine.small_designs import BUS, draw

LINES = [
    f"cpu0 mem0: {BUS}",
    "cpu0 gpu0: pcie 4x16",
    "cpu0 nic0: pcie 4x16",
    "nic0 sw0: ethernet 25 Gb/s",
    "store0 sw0: ethernet 400 Gb/s",
]


def network() -> Network:
    return build_network(draw(*LINES, values={"store0": {"read_bandwidth": "50 GB/s", "write_bandwidth": "50 GB/s"}}))


def test_a_resource_says_what_it_is_and_how_many_share_it():
    known = network()
    limit = Limit("mount:x", "the mount", 2e9)
    resources = Resources(known, (limit,))
    first, last = resources.bottleneck(0, 1), resources.bottleneck(known.n_resources, 3)
    assert first.what == "channel"
    assert first.why.endswith("used by one flow")
    assert (last.what, last.id, last.label) == ("limit", "mount:x", "the mount")
    assert last.why == "2 GB/s, shared by 3 flows"
    parts = [resources.bottleneck(k, 2) for k in range(known.n_link_resources, known.n_resources)]
    assert {p.what for p in parts} == {"part"}
    assert "store0" in {p.id for p in parts}


def test_each_direction_of_a_link_has_its_own_name():
    known = network()
    resources = Resources(known)
    every = np.arange(known.n_resources)
    names = [resources.bottleneck(int(k), 1).id for k in every]
    assert resources.ids(every) == names
    assert len(set(names)) == len(names)


def test_directions_and_members_that_are_equal_are_one_group():
    """32 servers of eight GPUs: each link of a server is in a group of its 32 members, each direction by itself."""
    known = build_network(open_design("su-h100-32"))
    resources = Resources(known)
    path = "servers[{}]/nic0"
    number = [known.net.index_of(path.format(k)) for k in (0, 7)]
    links = [int(np.flatnonzero((known.net.link_a == n) | (known.net.link_b == n))[0]) for n in number]
    first = known.first_resource[links]
    assert known.full[links].all()
    chosen = np.array([first[0], first[1], first[0] + 1, first[1] + 1])
    groups = sorted(sorted(chosen[g].tolist()) for g in by_value(resources.definition_of(chosen)).groups())
    assert groups == sorted([sorted(chosen[:2].tolist()), sorted(chosen[2:].tolist())])
    every = by_value(resources.definition_of(np.arange(known.n_link_resources))).groups()
    assert sum(len(g) for g in every) == known.n_link_resources
    # what is equal has the same capacity
    assert all(np.ptp(known.capacity_of(g)) == 0 for g in every)


def test_links_as_wide_of_one_kind_are_of_one_sort():
    known = network()
    kinds = {known.net.link_defs[int(known.net.link_def[k])].kind: k for k in range(known.net.n_links)}
    at = {kind: ResourceClass(int(known.first_resource[k])) for kind, k in kinds.items()}
    assert sort_of(known, at["ethernet"])[0] == "ethernet"
    one, other = (ResourceClass(int(known.first_resource[k])) for k in (1, 2))
    assert sort_of(known, one) == sort_of(known, other)
    assert sort_of(known, at["pcie"]) != sort_of(known, at["ethernet"])
    beyond = ResourceClass(known.n_link_resources)
    assert sort_of(known, beyond) is beyond
    assert sort_of(known, "mine") == "mine"


def result(name: str, value: float, kind: str = "training") -> WorkloadResult:
    return WorkloadResult("w", kind, "w", {name: Estimate.exact(value, "s", ())}, (), (), (), 0)


def test_half_the_rate_and_twice_the_time_are_half_of_the_work():
    assert share_of(result("samples_per_second", 10.0), result("samples_per_second", 5.0)) == 0.5
    assert share_of(result("step_time", 1.0), result("step_time", 2.0)) == 0.5
    assert share_of(result("evacuation_time", 100.0, "migration"), result("evacuation_time", 50.0, "migration")) == 2.0
    assert share_of(result("step_time", 1.0), result("samples_per_second", 2.0)) == 0.0
    # nothing that becomes nothing has lost nothing, and what was nothing and is some has gained all
    assert share_of(result("samples_per_second", 0.0), result("samples_per_second", 0.0)) == 1.0
    assert share_of(result("samples_per_second", 0.0), result("samples_per_second", 3.0)) == 1.0
    assert share_of(result("step_time", 1.0), result("step_time", 0.0)) == 1.0


def test_fewer_ranks_do_no_more_each():
    before, after = result("communication_time", 1.0, "collective"), result("communication_time", 0.5, "collective")
    assert share_of_work(before, after) == 2.0
    assert share_of_work(before, after, 8, 6) == pytest.approx(0.75)
    assert share_of_work(before, result("communication_time", 1 + 1e-12, "collective")) == 1.0


def test_what_gets_nothing_done_is_refused():
    with pytest.raises(AnalysisError, match="no metric"):
        worth_of(result("memory_per_gpu", 1.0))
