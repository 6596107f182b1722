"""A design whose members differ in values answers as if nothing of the plain design had been taken over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.analysis.study import analyze
from designer.design import elaborate as elaboration
from designer.design.address import Address, block_at
from designer.design.document import Block, Design, Policy
from designer.design.edits.links import ChangeLinks
from designer.design.edits.parts import ChangeParts
from designer.design.elaborate import elaborate, plain_definitions
from designer.design.shapes import plain_of, shape_of
from designer.engine import network as networks
from designer.engine.network import Network, build_network
from designer.engine.network.frame import changed_links
from designer.engine.network.islands import find_islands
from designer.families.collective.communicator import Communicator, make_communicator
from designer.families.collective.routed_groups import routed_groups
from designer.interchange.templates import open_design
from designer.memo import forget
from tests.designs import pods
from tests.properties.test_classes_of_resources import CLOSE, clusters

SIDES = ("inside", "between", "exchange")


@contextmanager
def afresh() -> Iterator[None]:
    """Nothing is taken over from a plain design, in arrays or in answers."""
    forget()
    with pytest.MonkeyPatch.context() as patch:
        for module in (networks, elaboration):
            patch.setattr(module, "plain_of", lambda block: block)
        yield
    forget()


@st.composite
def edited(draw: st.DrawFn) -> Design:
    """Units of servers of which some have another rate, another NIC or a renamed GPU: values, never links."""
    units, servers = draw(st.integers(1, 3)), draw(st.integers(2, 5))
    design = pods(units, spines=2)
    unit = design.groups["pods"]
    group = unit.content.groups["servers"].model_copy(update={"replicas": servers})
    content = unit.content.model_copy(update={"groups": {**unit.content.groups, "servers": group}})
    design = design.model_copy(
        update={
            "groups": {**design.groups, "pods": unit.model_copy(update={"content": content})},
            "policy": Policy(ecmp=draw(st.sampled_from(["split", "hash"]))),
        }
    )
    names = sorted(group.content.links)
    for _ in range(draw(st.integers(1, 3))):
        pod = draw(st.one_of(st.none(), st.integers(0, units - 1)))
        at: Address = (("pods", pod), ("servers", draw(st.integers(0, servers - 1))))
        what = draw(st.sampled_from(["rate", "gpu", "nic", "leaf"]))
        if what == "rate":
            rate = {"bandwidth_per_direction": f"{draw(st.integers(20, 400))} Gb/s"}
            design = ChangeLinks((draw(st.sampled_from(names)),), rate, within=at).apply(design)
        elif what == "leaf":
            leaf: Address = (("pods", pod), ("leaves", draw(st.integers(0, 7))))
            design = ChangeParts(("switch",), {"name": "other"}, within=leaf).apply(design)
        else:
            part = f"{what}{draw(st.integers(0, 7))}"
            design = ChangeParts((part,), {"name": "other"}, within=at).apply(design)
    return design


@given(st.one_of(edited(), clusters()))
def test_parts_and_links_are_those_of_elaboration_afresh(design: Design) -> None:
    stated = elaborate(design).arrays
    plain = elaborate(plain_of(design))
    part_of, link_of = plain_definitions(elaborate(design), plain)
    assert np.array_equal(part_of[stated.part_def], plain.part_def)
    assert np.array_equal(link_of[stated.link_def], plain.link_def)
    with afresh():
        whole = elaborate(design).arrays
        for name in ("part_def", "parent", "link_a", "link_b", "link_def"):
            assert np.array_equal(getattr(stated, name), getattr(whole, name)), name
        assert stated.wirings == whole.wirings


def test_members_that_differ_in_values_alone_are_found() -> None:
    design = pods(2, spines=2)
    assert plain_of(design) is design
    at: Address = (("pods", 1), ("servers", 3))
    other = ChangeLinks(("cpu0--psw0",), {"bandwidth_per_direction": "40 Gb/s"}, within=at).apply(design)
    assert shape_of(other) is not shape_of(design)
    assert shape_of(plain_of(other)) is shape_of(design)
    network = build_network(other)
    assert network.plain is not None
    found = {network.net.link_path(link) for link in changed_links(network.frame).tolist()}
    assert found == {"pods[1]/servers[3]/cpu0--psw0"}
    # what was said of the others is said of all of them but one
    assert len(set(find_islands(network).class_of.tolist())) == 1 + len(set(find_islands(network.plain).class_of))


def figures(network: Network, group: Communicator) -> dict[str, np.ndarray | float]:
    """What a group gets and loads, resource by resource."""
    stated: dict[str, np.ndarray | float] = {"rate": network.rate, "capacity": network.capacity}
    for side in SIDES:
        activity = getattr(group, side)
        if activity is None:
            continue
        load = np.bincount(*activity.hops.every(), network.n_resources)
        edge = activity.edge
        stated |= {
            f"{side} load": load,
            f"{side} rates": np.array([activity.rate, activity.rate_then, edge.low, edge.value, edge.high]),
            f"{side} binds": activity.hops.members(activity.binding),
        }
        held, many = activity.tightest()
        stated[f"{side} counted"] = float(many.sum()) - len(activity.hops.members(activity.binding))
        assert np.isin(held, activity.hops.members(activity.binding)).all()
    return stated


def common(definitions: tuple[int, ...], of: np.ndarray | None) -> set[int]:
    """Definitions, those that say the same as one."""
    return set(definitions if of is None else of[list(definitions)].tolist())


@given(st.one_of(edited(), clusters()))
def test_rates_loads_and_what_binds_are_those_found_afresh(design: Design) -> None:
    network = build_network(design)
    gpus, departs = network.parts_of_kind("gpu"), network.frame.departs
    one = figures(network, make_communicator(network, gpus, "w"))
    routed = routed_groups(network, gpus[None], "w", "alone")
    with afresh():
        network = build_network(design)
        assert network.plain is None
        other = figures(network, make_communicator(network, gpus, "w"))
        whole = routed_groups(network, gpus[None], "w", "alone")
    assert one.keys() == other.keys()
    for name, figure in one.items():
        np.testing.assert_allclose(figure, other[name], rtol=CLOSE, err_msg=name)
    for side in SIDES:
        mine, theirs = getattr(routed, side), getattr(whole, side)
        assert (mine is None) == (theirs is None)
        if mine is not None:
            assert mine.placement == theirs.placement
            # definitions that say the same may represent each other
            assert common(mine.links, departs and departs.common_link) == common(
                theirs.links, departs and departs.common_link
            )
            assert common(mine.parts, departs and departs.common_part) == common(
                theirs.parts, departs and departs.common_part
            )


@pytest.mark.parametrize("template", ["su-h100-32", "cluster-1024"])
def test_all_workloads_answer_as_afresh(template: str) -> None:
    """Metrics of every workload and the loads of all channels, with a slower server in the design."""
    design = open_design(template)
    at = server_of(design)
    link = next(one.id for one in block_at(design, at).links.values() if one.kind == "pcie")
    design = ChangeLinks((link,), {"bandwidth_per_direction": "90 Gb/s"}, within=at).apply(design)
    stated = analyze(design, curves=False)
    loads = {name: (found.load, found.utilization) for name, found in stated.loads.items()}
    with afresh():
        whole = analyze(design, curves=False)
        others = {name: (found.load, found.utilization) for name, found in whole.loads.items()}
    for mine, theirs in zip(stated.workloads, whole.workloads, strict=True):
        for name, metric in mine.metrics.items():
            other = theirs.metrics[name]
            ends = [metric.low, metric.value, metric.high]
            np.testing.assert_allclose(ends, [other.low, other.value, other.high], rtol=CLOSE, err_msg=name)
    assert loads.keys() == others.keys()
    for name, found in loads.items():
        np.testing.assert_allclose(found, others[name], rtol=1e-6, err_msg=name)


def server_of(block: Block, at: Address = ()) -> Address:
    """A member of the first group of servers."""
    for group in block.groups.values():
        if "gpu0" in group.content.parts:
            return (*at, (group.id, 1))
    return next(
        server_of(group.content, (*at, (group.id, 0))) for group in block.groups.values() if group.content.groups
    )


@pytest.mark.parametrize("member", [0, 3])
def test_a_slower_memory_of_one_member_is_told_apart_from_the_others(member: int) -> None:
    """60 GB/s behind one of four sockets' buses, 61 behind the others: a bus carries what its memory does.

    Once PCIe is twice as fast a GPU asks 2 × 25.8 GB/s of its memory: 0.78 × 60 and 0.78 × 61 are less, and within 2 %.
    """
    design = open_design("vsphere-cluster-4")

    def with_memory(bandwidth: str, within: tuple[tuple[str, int], ...] | str, design: Design) -> Design:
        memory = design.groups["hosts"].content.parts["memory0"]
        overrides = {name: value.model_dump(mode="json") for name, value in memory.overrides.items()}
        overrides["memory_bandwidth"] = {"value": bandwidth}
        at = (("hosts", None),) if within == "all" else within
        return ChangeParts(("memory0",), {"overrides": overrides}, within=at).apply(design)

    edited = with_memory("60 GB/s", (("hosts", member),), with_memory("61 GB/s", "all", design))
    (answer,) = (w for w in analyze(edited, curves=False).workloads if w.id == "h2d")
    buses = {b.id: (b.equal, b.why.split()[0]) for b in (*answer.binding, *answer.next) if "memory0" in b.id}
    assert [equal for equal, rate in buses.values() if rate == "60"] == [1]
    assert sorted(equal for equal, _ in buses.values()) == [1, 3]
