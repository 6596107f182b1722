"""Changed at random, designs answer in classes as with every flow stated, and as if they were drawn part by part."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from designer.analysis.study import run_workload
from designer.design.document import Design, WorkloadSpec
from designer.design.elaborate import elaborate
from designer.engine.clock import frames
from designer.engine.network import build_network
from designer.engine.routes import folding, hop_loads
from designer.errors import DesignerError
from designer.memo import forget
from tests.properties.mutated import Stated, asked, mutated, one_by_one
from tests.properties.test_classes_of_flows import Answer, same
from tests.properties.test_classes_of_resources import CLOSE

LARGE = 1500
#: without virtual machines and slices, which are stated by paths
DRAWN = ("su-h100-32", "cluster-1024", "cluster-gb200-6912", "sm-4029gp-trt-pair", "hpe-apollo-6500-nfs", "pods")


def answered(design: Design, spec: WorkloadSpec, classes: bool) -> Answer:
    """The answer with classes wherever they can be, or nowhere; of what cannot be answered, why."""
    few, many = (2, 0) if classes else (10**9, 10**9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folding, "FOLDED_LIMIT", few)
        patch.setattr(frames, "EQUAL_LIMIT", few)
        patch.setattr(hop_loads, "FOLDED_LIMIT", many)
        forget()
        try:
            return run_workload(build_network(design), spec, curves=False)
        except DesignerError as error:
            return str(error)


def expanded(stated: Stated, spec: WorkloadSpec, which: int) -> None:
    """One of the workloads of the design, or what is asked: all that anybody is stated."""
    try:
        elaborate(stated.design)
    except DesignerError:
        assume(False)
    each = dict(enumerate(stated.design.workloads.values())).get(which, spec)
    same(answered(stated.design, each, True), answered(stated.design, each, False))


def drawn_apart(stated: Stated, spec: WorkloadSpec) -> None:
    """Metrics with their bands, codes of findings, how many channels bind, and what all channels carry."""
    try:
        assume(elaborate(stated.design).n_parts <= LARGE)
        apart = one_by_one(stated.design)
    except DesignerError:
        assume(False)
        return
    mine, theirs = answered(stated.design, spec, True), answered(apart, spec, True)
    if isinstance(mine, str) or isinstance(theirs, str):
        assert isinstance(mine, str) == isinstance(theirs, str), (mine, theirs)
        return
    assert mine[0].metrics.keys() == theirs[0].metrics.keys()
    for name, metric in mine[0].metrics.items():
        other = theirs[0].metrics[name]
        ends = [metric.low, metric.value, metric.high], [other.low, other.value, other.high]
        np.testing.assert_allclose(*ends, rtol=CLOSE, err_msg=name)
    assert sorted(f.code for f in mine[0].findings) == sorted(f.code for f in theirs[0].findings)
    assert sum(b.equal for b in mine[0].binding) == sum(b.equal for b in theirs[0].binding)
    if mine[1] is not None and theirs[1] is not None:
        np.testing.assert_allclose(np.sort(mine[1].load), np.sort(theirs[1].load), rtol=CLOSE, atol=1.0)


few = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
many = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))


@given(mutated(), asked(), st.integers(0, 9))
@few
def test_classes_are_the_expanded_problem(stated: Stated, spec: WorkloadSpec, which: int) -> None:
    expanded(stated, spec, which)


@given(mutated(DRAWN), asked())
@few
def test_groups_answer_as_parts_drawn_one_by_one(stated: Stated, spec: WorkloadSpec) -> None:
    drawn_apart(stated, spec)


@pytest.mark.long
@given(mutated(), asked(), st.integers(0, 9))
@many
def test_classes_are_the_expanded_problem_on_300_designs(stated: Stated, spec: WorkloadSpec, which: int) -> None:
    expanded(stated, spec, which)


@pytest.mark.long
@given(mutated(DRAWN), asked())
@many
def test_groups_answer_as_parts_drawn_one_by_one_on_300_designs(stated: Stated, spec: WorkloadSpec) -> None:
    drawn_apart(stated, spec)
