"""Transfers and training solved by classes of flows are those of every flow by itself: metrics, words, loads, rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designer.analysis.study import run_workload
from designer.design.document import Block, Design, Policy, WorkloadSpec
from designer.engine.flows import check, solve
from designer.engine.network import Network, build_network
from designer.engine.results import Bottleneck, ChannelLoads, WorkloadResult
from designer.engine.routes import folding
from designer.engine.transfers import evaluate_transfer
from designer.errors import DesignerError
from designer.interchange.templates import open_design
from designer.memo import forget
from designer.workload.program import Move
from tests.designs import pods
from tests.properties.test_classes_of_resources import CLOSE, SHRUNK, rated, shrunk, without

#: clusters small enough to be tried a hundred times, and how many members of their groups are kept
BASES = {"su-h100-32": {"servers": 6}, "cluster-1024": {"servers": 4}, "cluster-16384": {"pods": 2, "servers": 4}}
ENDS = [
    ("memory", "gpus", "auto"),
    ("gpus", "memory", "auto"),
    ("storage", "gpus", "auto"),
    ("gpus", "storage", "auto"),
    ("gpus", "gpus", "shift"),
    ("gpus", "gpus", "permutation"),
    ("gpus", "gpus", "all"),
    ("nics", "nics", "shift"),
]


class Drawn:
    """A design, stated by what was changed of it: whole it would fill pages."""

    def __init__(self, stated: list[str], design: Design) -> None:
        self.stated, self.design = stated, design

    def __repr__(self) -> str:
        return f"Drawn({self.stated})"


def with_exceptions(draw: st.DrawFn, block: Block, stated: list[str]) -> Block:
    """The block with some of its servers changed in one link each: slower, or lost."""
    groups = dict(block.groups)
    for group in block.groups.values():
        if "gpu0" not in group.content.parts:
            groups[group.id] = group.model_copy(update={"content": with_exceptions(draw, group.content, stated)})
            continue
        names = sorted(group.content.links)
        own: dict[int, Block] = {}
        for member in draw(st.lists(st.integers(0, group.replicas - 1), max_size=3, unique=True)):
            link = draw(st.sampled_from(names))
            lost = draw(st.booleans())
            rate = 0 if lost else draw(st.integers(9, 90))
            stated.append(f"{group.id}[{member}]/{link} = {rate}")
            own[member] = rated(group.content, link, rate) if rate else without(group.content, link)
        groups[group.id] = group.model_copy(update={"exceptions": own})
    return block.model_copy(update={"groups": groups})


@st.composite
def clusters(draw: st.DrawFn) -> Drawn:
    """A small cluster of a template, or of units without storage, some of whose servers differ."""
    name = draw(st.sampled_from([*BASES, "pods"]))
    if name == "pods":
        design = pods(2, spines=2)
        sizes = {"servers": draw(st.integers(2, 4))}
    else:
        design = open_design(name)
        sizes = BASES[name] | {"servers": draw(st.integers(2, BASES[name]["servers"]))}
    design = design.model_copy(update=shrunk(design, sizes))
    policy = Policy(gpudirect=draw(st.booleans()), rail_affinity=draw(st.booleans()))
    stated = [name, f"{sizes}", f"{policy.gpudirect=} {policy.rail_affinity=}"]
    found = with_exceptions(draw, design, stated)
    return Drawn(stated, design.model_copy(update={"groups": found.groups, "policy": policy}))


@st.composite
def transfers(draw: st.DrawFn) -> WorkloadSpec:
    source, target, pairing = draw(st.sampled_from(ENDS))
    asked: dict[str, Any] = {"from": source, "to": target, "pairing": pairing, "both_ways": draw(st.booleans())}
    if draw(st.booleans()):
        asked["demand"] = f"{draw(st.integers(1, 40))} GB/s"
    if draw(st.booleans()):
        asked["size"] = "1 MB"
    return WorkloadSpec(id="w", kind="transfer", settings=asked)


Answer = tuple[WorkloadResult, ChannelLoads | None] | str


def answered(design: Design, spec: WorkloadSpec, limit: int) -> Answer:
    """The answer when classes are looked for among `limit` flows or more; of what cannot be answered, why."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folding, "FOLDED_LIMIT", limit)
        forget()
        try:
            return run_workload(build_network(design), spec, curves=False)
        except DesignerError as error:
            return str(error)


def same(one: Answer, other: Answer) -> None:
    """Equal in all that anybody is stated."""
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return
    mine, theirs = one[0], other[0]
    assert mine.metrics.keys() == theirs.metrics.keys()
    for name, metric in mine.metrics.items():
        stated = theirs.metrics[name]
        ends = [metric.low, metric.value, metric.high], [stated.low, stated.value, stated.high]
        np.testing.assert_allclose(*ends, rtol=CLOSE, err_msg=name)
    for a, b in ((mine.binding, theirs.binding), (mine.next, theirs.next)):
        assert [(x.what, x.id, x.label, x.why, x.equal) for x in a] == [
            (x.what, x.id, x.label, x.why, x.equal) for x in b
        ]
        for mine_gain, their_gain in zip(_gains(a), _gains(b), strict=True):
            # of very many entries only what the whole set gains is stated; classes are few
            assert their_gain is None or mine_gain == pytest.approx(their_gain, rel=CLOSE)
    assert mine.findings == theirs.findings
    assert mine.n_flows == theirs.n_flows
    for flow, other_flow in zip(mine.flows, theirs.flows, strict=True):
        # several ways of a flow come in any order
        assert (flow.id, sorted(flow.via)) == (other_flow.id, sorted(other_flow.via))
        assert flow.bound_by == other_flow.bound_by
        rates = [flow.low, flow.rate, flow.high], [other_flow.low, other_flow.rate, other_flow.high]
        np.testing.assert_allclose(*rates, rtol=CLOSE)
    if one[1] is not None and other[1] is not None:
        np.testing.assert_allclose(one[1].load, other[1].load, rtol=CLOSE, atol=1.0)
        np.testing.assert_allclose(one[1].utilization, other[1].utilization, rtol=CLOSE, atol=1e-12)


def _gains(bottlenecks: Sequence[Bottleneck]) -> list[float | None]:
    return [gain for b in bottlenecks for gain in (b.gain_if_doubled, b.gain_together)]


def tried(design: Design, spec: WorkloadSpec) -> None:
    same(answered(design, spec, 2), answered(design, spec, 10**9))


@given(clusters(), transfers())
@settings(max_examples=25, deadline=None)
def test_classes_are_the_expanded_problem(drawn: Drawn, spec: WorkloadSpec) -> None:
    tried(drawn.design, spec)


@pytest.mark.long
@given(clusters(), transfers())
@settings(max_examples=300, deadline=None)
def test_classes_are_the_expanded_problem_on_300_designs(drawn: Drawn, spec: WorkloadSpec) -> None:
    tried(drawn.design, spec)


@pytest.mark.parametrize("template", SHRUNK)
def test_templates_at_a_tenth_of_their_size(template: str) -> None:
    design = open_design(template)
    design = design.model_copy(update=shrunk(design, SHRUNK[template]))
    for spec in design.workloads.values():
        if spec.kind in ("transfer", "training"):
            tried(design, spec)


def problems(network: Network, source: str, target: str) -> None:
    """The rates are those of a certificate on the classes, and on the expanded problem."""
    answer = evaluate_transfer(network, Move(source, target), "w")
    assert answer.problem.fold.folds
    of = answer.problem.fold.flows.of
    assert answer.problem.many.sum() == len(of)
    assert len(answer.problem.many) < len(of) / 8
    assert check(answer.problem.incidence, solve(answer.problem.incidence).rate).ok
    flat = answer.expanded().incidence
    assert flat.n_activities == len(of)
    assert check(flat, answer.rate).ok


def test_rates_of_classes_are_proven_on_all_flows() -> None:
    design = open_design("cluster-1024")
    network = build_network(design)
    problems(network, "storage", "gpus")
    problems(network, "memory", "gpus")


def test_one_server_with_a_slower_link_splits_its_class_and_no_other() -> None:
    """By hand: 4 units of 32 servers with 8 GPUs, each GPU of a server unlike the others: 8 classes of 128 flows.

    One changed server makes its unit an exception, and then its 8 flows come apart, the 31 others of its unit and the
    96 of other units: three times 8 classes and no more.
    """
    design = open_design("cluster-1024")
    whole = evaluate_transfer(build_network(design), Move("memory", "gpus"), "w").problem
    group = next(iter(g for g in design.groups.values() if "gpu0" in g.content.parts), None)
    if group is None:
        holder = next(
            g for g in design.groups.values() if any("gpu0" in i.content.parts for i in g.content.groups.values())
        )
        inner = next(i for i in holder.content.groups.values() if "gpu0" in i.content.parts)
        name = next(name for name in sorted(inner.content.links) if "gpu0" in name)
        inner = inner.model_copy(update={"exceptions": {3: rated(inner.content, name, 99)}})
        content = holder.content.model_copy(update={"groups": {**holder.content.groups, inner.id: inner}})
        group = holder.model_copy(update={"exceptions": {1: content}})
    else:
        name = next(name for name in sorted(group.content.links) if "gpu0" in name)
        group = group.model_copy(update={"exceptions": {3: rated(group.content, name, 99)}})
    changed = design.model_copy(update={"groups": {**design.groups, group.id: group}})
    split = evaluate_transfer(build_network(changed), Move("memory", "gpus"), "w").problem
    assert whole.many.tolist() == [128] * 8
    assert sorted(split.many.tolist()) == [1] * 8 + [31] * 8 + [96] * 8
