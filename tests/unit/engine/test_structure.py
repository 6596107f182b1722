"""What networks connected in the same way share, and partitions of equal rows, change no answer."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.analysis.study import analyze, run_workload
from designer.cli.documents import analysis_document
from designer.design.document import Design, Policy, WorkloadSpec
from designer.engine import routes
from designer.engine.network import build_network, hashing
from designer.engine.network.hashing import distinct, how_many
from designer.engine.network.partition import Partition, by_value, numbered, refined
from designer.engine.results import ChannelLoads, LoadsOfClasses, Rows, WorkloadResult
from designer.engine.routes import folding, hop_loads
from designer.engine.routes.channel_rows import ChannelRows, at_part, busiest_first, of_link, with_ids
from designer.engine.routes.gateways import find_fabric
from designer.engine.routes.hops import legs_of
from designer.engine.routes.selection import resolve
from designer.engine.routes.structure import digest, structure_of
from designer.interchange.templates import open_design
from designer.memo import forget
from tests.properties.test_classes_of_resources import rated, shrunk, without

# What networks connected in the same way share does not change any answer; groups send as each would alone.

SPEC = WorkloadSpec(id="w", kind="training", settings={"model": "llama-2-7b", "tensor": 2, "dataset": "c4-en"})


def changed(design: Design, link: str, rate: int) -> Design:
    links = {**design.links, link: design.links[link].model_copy(update={"bandwidth_per_direction": f"{rate} Gb/s"})}
    return design.model_copy(update={"links": links})


def numbers(result: WorkloadResult) -> dict[str, tuple[float, float, float]]:
    return {name: (m.low, m.value, m.high) for name, m in result.metrics.items()}


@pytest.mark.parametrize("template", ["hgx-h100-8", "dgx1-v100", "sm-4029gp-trt-pair"])
def test_an_edited_design_gives_what_it_gives_afresh(template: str) -> None:
    design = open_design(template)
    for link in list(design.links)[:: max(1, len(design.links) // 5)]:
        edited = changed(design, link, 40)
        run_workload(build_network(design), SPEC, curves=False)
        warm, loads = run_workload(build_network(edited), SPEC, curves=False)
        forget()
        again = edited.model_copy()
        cold, other = run_workload(build_network(again), SPEC, curves=False)
        assert numbers(warm) == numbers(cold)
        assert warm.binding == cold.binding
        assert loads is not None
        assert other is not None
        assert np.array_equal(loads.load, other.load)


def test_values_of_parts_keep_the_structure_and_policy_does_not() -> None:
    design = open_design("hgx-h100-8")
    renamed = design.model_copy(update={"title": "another"})
    turned = design.model_copy(update={"policy": Policy(relay_through_gpu=not design.policy.relay_through_gpu)})
    one = structure_of(build_network(design))
    assert structure_of(build_network(renamed)) is one
    assert structure_of(build_network(turned)) is not one


def test_a_seed_makes_another_structure_where_flows_are_hashed_alone() -> None:
    design = open_design("su-h100-32")

    def with_policy(ecmp: str, seed: int) -> Design:
        policy = Policy.model_validate({"ecmp": ecmp, "hash_seed": seed})
        return design.model_copy(update={"policy": policy})

    def structure(ecmp: str, seed: int) -> object:
        return structure_of(build_network(with_policy(ecmp, seed)))

    assert structure("split", 1) is structure("split", 2)
    assert structure("hash", 1) is not structure("hash", 2)
    spread = [run_workload(build_network(with_policy("split", k)), SPEC, curves=False)[0] for k in (1, 2)]
    assert numbers(spread[0]) == numbers(spread[1])


def test_digests_tell_where_one_array_ends() -> None:
    a, b = np.arange(3), np.arange(3, 5)
    assert digest(a, b) == digest(a.copy(), b.copy())
    assert digest(a, b) != digest(np.arange(4), np.arange(4, 5))


@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 4, 8, 16]))
def test_groups_together_send_what_each_sends_alone(seed: int, size: int) -> None:
    network = build_network(open_design("su-h100-32"))
    ranks = np.random.default_rng(seed).permutation(resolve(network, "gpus", "t"))
    groups = ranks[: len(ranks) // size * size].reshape(-1, size)
    together = legs_of(network, groups)
    alone = [legs_of(network, row[None]) for row in groups]
    for side in (0, 1):
        for column in ("source", "target", "share"):
            expected = np.concatenate([getattr(one[side], column) for one in alone])
            assert np.array_equal(getattr(together[side], column), expected)


# An edited member leaves the ways between servers as they were; what is kept of others changes no answer.


def said(design: Design) -> str:
    """All that is found out, as JSON."""
    found = analyze(design, ["all-reduce", "h2d", "resnet-50", "storage-to-gpus"], curves=False)
    return json.dumps(analysis_document(found, [*found.findings], None), sort_keys=True)


def cluster() -> Design:
    whole = open_design("su-h100-32")
    return whole.model_copy(update=shrunk(whole, {"servers": 8}))


def with_member(design: Design, member: int, rate: int | None) -> Design:
    """The cluster with one server whose first PCIe link is of another rate, or that has lost an NVLink."""
    group = design.groups["servers"]
    kind = "pcie" if rate is not None else "nvlink"
    link = next(one.id for one in group.content.links.values() if one.kind == kind)
    own = without(group.content, link) if rate is None else rated(group.content, link, rate)
    edited = group.model_copy(update={"exceptions": {**group.exceptions, member: own}})
    return design.model_copy(update={"groups": {**design.groups, "servers": edited}})


@pytest.fixture
def in_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few flows represent others too, and few legs are put in order."""
    monkeypatch.setattr(folding, "FOLDED_LIMIT", 0)
    monkeypatch.setattr(hop_loads, "FOLDED_LIMIT", 0)
    monkeypatch.setattr(routes, "ORDERED_LIMIT", 0)
    forget()


@pytest.mark.usefixtures("in_classes")
@pytest.mark.parametrize("rate", [100, 300])
def test_a_member_of_other_values_keeps_the_fabric(rate: int) -> None:
    """One object for both designs, so that ways found on it are found again."""
    design = cluster()
    one, other = (find_fabric(build_network(each)) for each in (design, with_member(design, 3, rate)))
    assert one is other
    assert find_fabric(build_network(with_member(design, 3, None))) is not one


@pytest.mark.usefixtures("in_classes")
@pytest.mark.parametrize("rate", [100, None])
def test_what_is_kept_of_others_changes_no_answer(rate: int | None) -> None:
    """A cluster, then a member edited, lost in part, and undone: each is what it is by itself."""
    design = cluster()
    steps = [design, with_member(design, 3, 400), with_member(design, 3, rate), design]
    one_after_the_other = [said(step) for step in steps]
    for step, found in zip(steps, one_after_the_other, strict=True):
        forget()
        assert said(step) == found


# Partitions: rows of equal numbers, after a split, by refinement; loads in classes are the loads of all channels.

partitioned = st.lists(st.integers(0, 6), min_size=1, max_size=40)


@given(partitioned)
def test_classes_are_of_equal_numbers_and_led_by_their_first(chosen: list[int]) -> None:
    for size in (7, 10**9):  # marked, and sorted
        classes = numbered(np.array(chosen), size)
        assert np.array_equal(np.array(chosen)[classes.first][classes.of], chosen)
        assert [chosen.index(chosen[i]) for i in classes.first.tolist()] == classes.first.tolist()
        assert len(classes) == len(set(chosen))


@given(partitioned, st.sets(st.integers(0, 6)), st.integers(0, 45))
def test_members_are_the_first_channels_of_the_classes(chosen: list[int], wanted: set[int], most: int) -> None:
    classes = numbered(np.array(chosen), 7)
    asked = np.array([k for k, i in enumerate(classes.first.tolist()) if chosen[i] in wanted], dtype=np.int64)
    assert classes.members(asked, most).tolist() == [i for i, one in enumerate(chosen) if one in wanted][:most]
    assert classes.many.tolist() == [chosen.count(chosen[i]) for i in classes.first.tolist()]


@given(partitioned, st.data())
def test_sizes_follow_a_split(chosen: list[int], data: st.DataObject) -> None:
    """Channels that became others are counted where they are now, and no others need be."""
    classes = numbered(np.array(chosen), 7)
    rows = sorted(data.draw(st.sets(st.integers(0, len(chosen) - 1))))
    sign = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows))), dtype=np.int64)
    counted = Partition(classes.of, classes.first, classes.many)
    found, was = counted.split(np.array(rows, dtype=np.int64), sign)
    assert found.many.tolist() == np.bincount(found.of, minlength=len(found)).tolist()
    assert np.array_equal(np.array(chosen)[found.first], np.array(chosen)[classes.first[was]])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40))
def test_channels_are_alike_together_where_both_say_so(pairs: list[tuple[int, int]]) -> None:
    one, other = (numbered(np.array(column), 4) for column in zip(*pairs, strict=True))
    both = one.together(other)
    assert len(both) == len(set(pairs))
    assert [pairs[i] for i in both.first[both.of].tolist()] == pairs


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 1.0, 5.0]), st.sampled_from([0.0, 0.2, 0.9])), min_size=1, max_size=6),
    partitioned,
    st.integers(0, 45),
)
def test_the_busiest_are_those_of_all_channels_in_the_same_order(
    values: list[tuple[float, float]], chosen: list[int], most: int
) -> None:
    """Two classes may be as full as each other: then channels of both stand by number."""
    classes = numbered(np.array(chosen) % len(values), len(values))
    load, used = np.array(values).T[:, (np.array(chosen) % len(values))[classes.first]]
    stated = ChannelLoads.made(lambda: LoadsOfClasses(classes, load, used))
    flat = ChannelLoads(stated.load, stated.utilization)
    assert np.array_equal(stated.busiest(most), flat.busiest(most))
    some = np.arange(len(chosen))[::2]
    assert np.array_equal(stated.at(some), flat.at(some))
    assert np.array_equal(flat.in_classes().load, flat.load)


@pytest.mark.parametrize("name", ["hgx-h100-8", "cluster-1024"])
def test_loads_of_a_cluster_are_kept_once_for_each_class(name: str) -> None:
    """A cluster of 128 servers has hardly more classes than one of them, and what goes in comes out of each part."""
    found = analyze(open_design(name), curves=False)
    for loads in found.loads.values():
        stated = loads.in_classes()
        assert len(stated.classes) < 400
        assert loads.load.shape == stated.classes.of.shape
        assert (loads.utilization <= 1 + 1e-9).all()


pairs_of_a_graph = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 2)), min_size=1, max_size=12, unique=True
)


@given(pairs_of_a_graph, st.integers(1, 5), st.randoms(use_true_random=False))
def test_refined_colours_are_equitable_and_the_coarsest(
    pairs: list[tuple[int, int, int]], copies: int, draw: random.Random
) -> None:
    """Copies of a graph, each pair joined to copies at random: no more classes than the graph has nodes, and in each
    class every node has as many neighbours of every class by every label."""
    rows: list[tuple[int, int, int]] = []
    for one, other, label in pairs:
        targets = draw.sample(range(copies), copies)
        rows += [(one * copies + k, other * copies + targets[k], label) for k in range(copies)]
    columns = np.array(rows, dtype=np.int64).T
    colour = refined(np.zeros(6 * copies, dtype=np.uint64), [(columns[0], columns[1], columns[2].view(np.uint64))])
    classes = by_value(colour)
    assert len(classes) <= 6
    around: list[list[tuple[int, int, int]]] = [[] for _ in range(6 * copies)]
    for one, other, label in rows:
        around[one].append((0, label, int(classes.of[other])))
        around[other].append((1, label, int(classes.of[one])))
    for node, near in enumerate(around):
        assert sorted(near) == sorted(around[int(classes.first[classes.of[node]])])


def test_a_node_that_stands_for_several_counts_as_often() -> None:
    """A node with two neighbours, and one with a neighbour that represents two, have the same colour."""
    one, other = np.array([0, 0, 1]), np.array([2, 3, 4])
    label = np.zeros(3, dtype=np.uint64)
    for times, equal in ((np.array([1, 1, 1, 1, 2]), True), (np.ones(5, dtype=np.int64), False)):
        colour = refined(np.array([1, 1, 2, 2, 2], dtype=np.uint64), [(one, other, label)], times)
        assert bool(colour[0] == colour[1]) == equal


# Values distinguished by sorting them are those that sorting the rows distinguishes.


@pytest.mark.parametrize("few", [0, 4096])
@given(values=st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5), max_size=60))
def test_distinct_values_come_in_the_order_of_their_first_rows(few: int, values: list[int]) -> None:
    """By hand: of 7, 3, 7, 5 the values are 7, 3, 5; their first rows 0, 1, 3; the rows' numbers 0, 1, 0, 2."""
    rows = np.array(values, dtype=np.uint64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashing, "_FEW", few)
        first, of, many = distinct(rows)
    met = list(dict.fromkeys(values))
    assert rows[first].tolist() == met
    assert first.tolist() == [values.index(value) for value in met]
    assert of.tolist() == [met.index(value) for value in values]
    assert many.tolist() == [values.count(value) for value in met]
    assert how_many(rows) == len(met)


# Channels as rows: looked up one by one they say the same as all of them read through.


@pytest.fixture(scope="module", params=["hgx-h100-8", "su-h100-32"])
def rows(request: pytest.FixtureRequest) -> ChannelRows:
    found = analyze(open_design(request.param), curves=False).channels
    assert isinstance(found, ChannelRows)
    return found


def test_looking_up_agrees_with_reading_through(rows: ChannelRows) -> None:
    plain = list(rows)
    busy = next(i for i in busiest_first(rows, idle=False))
    row = plain[busy]
    link = row.id.rpartition(":")[0]
    assert with_ids(rows, (row.id, "nothing:ab", "none")) == with_ids(plain, (row.id,)) == {row.id: row}
    assert of_link(rows, link) == of_link(plain, link)
    assert len(of_link(rows, link)) == 2
    for part in (row.source, row.target):
        arriving, leaving = at_part(rows, part)
        assert (arriving, leaving) == at_part(plain, part)
        assert row in (arriving if part == row.target else leaving)
    assert at_part(rows, "no/such[9]/part") == ([], [])


def test_the_busiest_come_first_and_idle_ones_only_when_asked(rows: ChannelRows) -> None:
    plain = list(rows)
    for idle in (False, True):
        order = busiest_first(rows, idle)
        shares = [plain[i].utilization for i in order]
        assert shares == sorted(shares, reverse=True)
        assert len(order) == sum(1 for r in plain if idle or r.load > 0)
        assert [plain[i].utilization for i in busiest_first(plain, idle)] == shares


def test_rows_made_one_by_one_are_made_once() -> None:
    made: list[int] = []
    rows = Rows(one=lambda i: made.append(i) or i * i, count=5)
    assert (rows[2], rows[-1], rows[2], list(rows[0:2])) == (4, 16, 4, [0, 1])
    assert made == [2, 4, 0, 1]
    assert list(rows) == [0, 1, 4, 9, 16]
    with pytest.raises(IndexError):
        rows[5]
