"""Collectives in classes of resources are those of every resource by itself: on random designs and shrunk clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.analysis.study import run_workload
from designer.design.document import Block, Design, Policy, WorkloadSpec
from designer.design.elaborate import elaborate
from designer.design.port_usage import usage
from designer.engine import routes
from designer.engine.flows import Incidence, check
from designer.engine.network import Network, build_network
from designer.engine.network.partition import Partition
from designer.engine.results import WorkloadResult
from designer.engine.routes import hop_loads, route
from designer.engine.routes.hops import legs_of
from designer.engine.routes.legs import Legs
from designer.engine.routes.staging import staged
from designer.families.collective import routed_groups
from designer.families.collective.activities import Activity
from designer.families.collective.communicator import make_communicator
from designer.interchange.templates import open_design
from designer.memo import forget
from tests.designs import pods

#: answers agree this closely, relative
CLOSE = 1e-9


def one_by_one(*columns: Any, figures: Any = ()) -> Partition[Any]:
    """Every row its own class: the expanded problem."""
    every = np.arange(len(columns[0]))
    return Partition(every, every, np.ones(len(every), dtype=np.int64))


@pytest.fixture(autouse=True, scope="module")
def servers_stand_for_others() -> Iterator[None]:
    """Few servers represent others too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hop_loads, "FOLDED_LIMIT", 0)
        yield


def rated(block: Block, link: str, rate: int) -> Block:
    changed = block.links[link].model_copy(update={"bandwidth_per_direction": f"{rate} Gb/s"})
    return block.model_copy(update={"links": {**block.links, link: changed}})


def without(block: Block, link: str) -> Block:
    return block.model_copy(update={"links": {k: v for k, v in block.links.items() if k != link}})


@st.composite
def clusters(draw: st.DrawFn) -> Design:
    """One or two units of a few servers, some of which are slower in one link or have lost one."""
    design = pods(draw(st.integers(1, 2)), spines=2)
    unit = design.groups["pods"]
    servers = unit.content.groups["servers"]
    n = draw(st.integers(2, 5))
    block = servers.content
    names = sorted(block.links)
    exceptions: dict[int, Block] = {}
    for member in draw(st.lists(st.integers(0, n - 1), max_size=3, unique=True)):
        link = draw(st.sampled_from(names))
        lost = draw(st.booleans()) and "nvsw" in link
        exceptions[member] = without(block, link) if lost else rated(block, link, draw(st.integers(20, 400)))
    if draw(st.booleans()):
        block = rated(block, draw(st.sampled_from(names)), draw(st.integers(20, 400)))
    group = servers.model_copy(update={"replicas": n, "content": block, "exceptions": exceptions})
    inside = unit.content.model_copy(update={"groups": {**unit.content.groups, "servers": group}})
    whole = unit.model_copy(update={"content": inside})
    if unit.replicas > 1 and draw(st.booleans()):
        # one unit has other servers than its equals: an exception of the whole group
        whole = whole.model_copy(
            update={
                "exceptions": {
                    1: unit.content.model_copy(
                        update={
                            "groups": {**unit.content.groups, "servers": servers.model_copy(update={"replicas": n})}
                        }
                    )
                }
            }
        )
    policy = Policy(ecmp=draw(st.sampled_from(["split", "hash"])))
    return design.model_copy(update={"groups": {**design.groups, "pods": whole}, "policy": policy})


def answer(design: Design, kind: str, algorithm: str = "auto") -> WorkloadResult:
    settings = {"group": "gpus", "collective": kind, "size": "256 MiB", "algorithm": algorithm}
    spec = WorkloadSpec(id="w", kind="collective", settings=settings)
    return run_workload(build_network(design), spec, curves=False)[0]


def same(one: WorkloadResult, other: WorkloadResult) -> None:
    """Equal metrics, bottlenecks and findings."""
    assert one.metrics.keys() == other.metrics.keys()
    for name, metric in one.metrics.items():
        stated = other.metrics[name]
        np.testing.assert_allclose(
            [metric.low, metric.value, metric.high], [stated.low, stated.value, stated.high], rtol=CLOSE, err_msg=name
        )
    for mine, theirs in ((one.binding, other.binding), (one.next, other.next)):
        assert [(b.what, b.id, b.label, b.why, b.equal) for b in mine] == [
            (b.what, b.id, b.label, b.why, b.equal) for b in theirs
        ]
    assert one.findings == other.findings


@given(clusters(), st.sampled_from(["all-reduce", "all-gather", "all-to-all"]))
def test_classes_are_the_expanded_problem(design: Design, kind: str) -> None:
    classed = answer(design, kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hop_loads, "classes_of", one_by_one)
        patch.setattr(hop_loads, "FOLDED_LIMIT", 10**9)
        patch.setattr(routed_groups, "_from_plain", lambda *_: None)
        patch.setattr(routes, "_plain_routes", lambda *_: None)
        forget()
        expanded = answer(design, kind)
    forget()
    same(classed, expanded)


def solved(network: Network, legs: Legs) -> tuple[float, set[int], Incidence]:
    """The rate of hops in step and what binds them, from all routes without any classes."""
    routes = route(network, staged(network, legs))
    assert not len(routes.lost)
    entry = np.array([int(network.first_resource[c >> 1]) for c in routes.channel.tolist()])
    entry += np.where(network.full[routes.channel >> 1], (routes.channel & 1) * network.cables[routes.channel >> 1], 0)
    usage = np.bincount(entry, routes.share, network.n_resources)
    used = np.flatnonzero(usage)
    level = network.capacity[used] / usage[used]
    rate = float(level.min())
    problem = Incidence(
        np.array([0, len(used)]), used.astype(np.int32), usage[used], network.capacity, np.ones(1), np.full(1, np.inf)
    )
    return rate, set(used[level <= rate * (1 + CLOSE)].tolist()), problem


@given(clusters())
def test_rates_and_bottlenecks_are_those_of_all_routes(design: Design) -> None:
    """Flat, with the certificate of the solver; only where ways split, as hashing makes every cable a resource."""
    design = design.model_copy(update={"policy": Policy()})
    network = build_network(design)
    gpus = network.parts_of_kind("gpu")
    group = make_communicator(network, gpus, "w")
    inside, between, _ = legs_of(network, gpus[None])
    for activity, legs in ((group.inside, inside), (group.between, between)):
        if activity is None:
            continue
        rate, binds, problem = solved(network, legs)
        assert activity.rate == pytest.approx(rate, rel=CLOSE)
        assert set(activity.hops.members(activity.binding).tolist()) == binds
        first, equal = activity.tightest()
        assert set(first.tolist()) <= binds
        assert int(equal.sum()) == len(binds)
        assert check(problem, np.array([activity.rate])).ok
        assert all_loads(network, activity) == pytest.approx(problem.load(np.array([activity.rate])), rel=CLOSE)


def all_loads(network: Network, activity: Activity) -> np.ndarray:
    """What an activity puts on every resource at its rate."""
    return np.bincount(*activity.hops.every(), network.n_resources) * activity.rate


@given(clusters(), st.integers(20, 400))
def test_an_edit_and_its_undo_give_what_they_give_afresh(design: Design, rate: int) -> None:
    """What is kept from one value to the next changes no answer."""
    unit = design.groups["pods"]
    servers = unit.content.groups["servers"]
    for link in ("cpu0--psw0", "gpu1--nvsw2", "psw3--nic3"):
        group = servers.model_copy(update={"content": rated(servers.content, link, rate)})
        content = unit.content.model_copy(update={"groups": {**unit.content.groups, "servers": group}})
        edited = design.model_copy(
            update={"groups": {**design.groups, "pods": unit.model_copy(update={"content": content})}}
        )
        before, warm, undone = answer(design, "all-reduce"), answer(edited, "all-reduce"), answer(design, "all-reduce")
        forget()
        same(warm, answer(edited.model_copy(), "all-reduce"))
        same(before, undone)


#: clusters and how many members of their groups make about a tenth of them
SHRUNK = {
    "cluster-1024": {"servers": 8},
    "cluster-16384": {"pods": 2, "servers": 96},
    "cluster-98304": {"pods": 2, "servers": 256},
    "cluster-gb200-6912": {"racks": 9},
}


def shrunk(block: Block, sizes: dict[str, int]) -> dict[str, Any]:
    groups = {
        g.id: g.model_copy(
            update={
                "replicas": min(g.replicas, sizes.get(g.id, g.replicas)),
                "content": g.content.model_copy(update=shrunk(g.content, sizes)),
            }
        )
        for g in block.groups.values()
    }
    return {"groups": groups}


@pytest.mark.parametrize("template", SHRUNK)
def test_templates_at_a_tenth_of_their_size(template: str) -> None:
    design = open_design(template)
    design = design.model_copy(update=shrunk(design, SHRUNK[template]))
    classed = answer(design, "all-reduce")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hop_loads, "classes_of", one_by_one)
        patch.setattr(hop_loads, "FOLDED_LIMIT", 10**9)
        patch.setattr(routed_groups, "_from_plain", lambda *_: None)
        patch.setattr(routes, "_plain_routes", lambda *_: None)
        forget()
        expanded = answer(design, "all-reduce")
    forget()
    same(classed, expanded)
    assert max(b.equal for b in (*classed.binding, *classed.next)) > 1


@given(clusters())
def test_ports_in_use_are_counted_in_rows_as_link_by_link(design: Design) -> None:
    net, used = elaborate(design), usage(design)
    links: Counter[tuple[int, str, str]] = Counter()
    lanes: Counter[int] = Counter()
    ends = zip(net.link_a.tolist(), net.link_b.tolist(), net.link_def.tolist(), strict=True)
    for a, b, definition in ends:
        link = net.link_defs[definition]
        for here, there in ((a, b), (b, a)):
            links[here, link.kind, net.part(there).kind] += link.count
            lanes[here] += link.count * (link.lanes or 0) if link.kind == "pcie" else 0
    found = {
        (part, *key): int(counts[used.row[part]])
        for key, counts in used.links.items()
        for part in np.flatnonzero(counts[used.row]).tolist()
    }
    assert found == dict(links)
    assert used.lanes[used.row].tolist() == [lanes[part] for part in range(net.n_parts)]
    # a row describes parts of one definition, and the first part of each is its own
    assert np.array_equal(net.part_def[used.first][used.row], net.part_def)
    assert np.array_equal(used.row[used.first], np.arange(len(used.first)))
    assert (np.diff(used.first) > 0).all()
