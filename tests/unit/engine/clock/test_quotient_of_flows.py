"""Flows stated in classes on the clock: the same run with every flow stated, and with every work by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designer.analysis.simulation import simulate
from designer.analysis.simulation.rerouting import Failure
from designer.design.document import Design
from designer.engine.clock import player
from designer.engine.clock.quotient import Quotient, quotient
from designer.engine.clock.run import Run
from designer.engine.costs import Cost
from designer.engine.routes import folding
from designer.interchange.templates import open_design
from designer.memo import forget
from tests.properties.test_classes_of_resources import CLOSE, rated, shrunk
from tests.unit.engine.clock.test_quotient import apart


def small_cluster(slow: int | None) -> Design:
    """A unit of six servers next to its storage; one of them may have a slower link to a GPU."""
    whole = open_design("su-h100-32")
    design = whole.model_copy(update=shrunk(whole, {"servers": 6}))
    if slow is None:
        return design
    name = next(k for k, group in design.groups.items() if "gpu0" in group.content.parts)
    servers = design.groups[name]
    link = next(x.id for x in servers.content.links.values() if x.kind == "pcie" and "gpu0" in (x.a, x.b))
    own = servers.model_copy(update={"exceptions": {slow: rated(servers.content, link, 100)}})
    return design.model_copy(update={"groups": {**design.groups, name: own}})


def ran(design: Design, workloads: Sequence[str], folds: bool, failures: Sequence[Failure] = ()) -> tuple[Run, bool]:
    """A run of some workloads, and whether classes of flows were taken as they came."""
    taken: list[bool] = []

    def watched(*args: Any) -> tuple[Sequence[Cost], Quotient]:
        costs, found = quotient(*args)
        taken.append(any(cost.folded is not None for cost in costs))
        return costs, found

    forget()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folding, "FOLDED_LIMIT", 0 if folds else 10**9)
        patch.setattr(player, "quotient", watched if folds else apart)
        run = simulate(design, workloads, until=3.0, failures=failures, bands=False).run
    forget()
    return run, any(taken)


def same(one: Run, other: Run) -> None:
    """All ends, and the load of every resource of the network, to 1e-9."""
    assert [t.ended for t in one.tasks] == pytest.approx([t.ended for t in other.tasks], rel=CLOSE, nan_ok=True)
    n = one.table.network.n_resources
    assert one.mean_load()[:n] == pytest.approx(other.mean_load()[:n], rel=CLOSE, abs=1e-3)
    most = [share for _, share in one.busiest(1)]
    assert most == pytest.approx([share for _, share in other.busiest(1)], rel=CLOSE)


@pytest.mark.parametrize("workload", ["resnet-50", "storage-to-gpus"])
def test_classes_of_flows_run_as_every_flow_does(workload: str) -> None:
    """Training reads samples, computes and reduces; a transfer moves alone."""
    design = small_cluster(None)
    folded, taken = ran(design, [workload], True)
    single, expanded = ran(design, [workload], False)
    assert taken
    assert not expanded
    assert len(folded.works) < len(single.works)
    same(folded, single)


@settings(max_examples=6, deadline=None)
@given(slow=st.sampled_from([None, 0, 2]), fails=st.booleans(), both=st.booleans())
def test_where_classes_do_not_agree_every_flow_is_told(slow: int | None, fails: bool, both: bool) -> None:
    """A slower member, a link that fails, two workloads of flows: the run is that of every work by itself."""
    design = small_cluster(slow)
    name = next(k for k, group in design.groups.items() if "gpu0" in group.content.parts)
    link = next(x.id for x in design.groups[name].content.links.values() if x.kind == "pcie")
    failures = [Failure(f"{name}[1]/{link}", 0.5, 0.5)] if fails else []
    workloads = ["resnet-50", "storage-to-gpus"] if both else ["resnet-50"]
    folded, taken = ran(design, workloads, True, failures)
    assert not (taken and fails)
    same(folded, ran(design, workloads, False, failures)[0])


def test_a_limit_of_a_class_stands_for_those_of_all() -> None:
    """Six servers mount the storage alike: one mount is stated, and it counts for six."""
    run, taken = ran(small_cluster(None), ["storage-to-gpus"], True)
    assert taken
    assert set(run.more.values()) == {6}
    assert {run.count_equal(number) for number in run.more} == {6}
