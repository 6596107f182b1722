"""ResourceClass works as one: the folded clock against the same run with every work by itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from designer.design.document import Design
from designer.engine.clock import player
from designer.engine.clock.jobs import Change, Changes, Job, job_of
from designer.engine.clock.player import play
from designer.engine.clock.quotient import Quotient, WorkClass, quotient
from designer.engine.clock.run import Run
from designer.engine.costs import Cost, Prices
from designer.engine.costs.pricing import alone
from designer.engine.network import build_network
from designer.workload.program import Collective, Compute, Move, Program, Step
from tests.unit.families.machines.machines import with_vms
from tests.unit.families.machines.test_collectives_in_machines import pair


def drawn(hosts: int, slow: int | None) -> Design:
    """Hosts of a GPU and a NIC each on one switch; one of them may have a slower link to its GPU."""
    design = with_vms(pair(), only=True).model_dump()
    group = design["groups"]["hosts"] if isinstance(design["groups"], dict) else design["groups"][0]
    group["replicas"] = hosts
    if slow is not None:
        content = pair().groups["hosts"].content.model_dump()
        links = content["links"].values() if isinstance(content["links"], dict) else content["links"]
        for link in links:
            if link["id"] == "psw0-gpu0":
                link["generation"] = 3
        group["exceptions"] = {slow: content}
    return Design.model_validate(design)


def programs(size: float) -> list[Program]:
    return [
        Program("in", (Step("load", Move("memory", "gpus", size)), Step("go", Compute("gpus", 0.01), ("load",))), 2),
        Program("sum", (Step("all", Collective("all-reduce", "gpus", size)),), 3, start=0.02),
        Program("one", (Step("move", Move("hosts[0]/memory0", "hosts[1]/gpu0", 3 * size)),), start=0.03),
    ]


def apart(
    costs: Sequence[Cost], capacity: Any, slots: Mapping[int, int], split: Collection[int] = ()
) -> tuple[Sequence[Cost], Quotient]:
    """Every work by itself."""

    def one(cost: Cost, k: int) -> WorkClass:
        rows = slice(int(cost.ptr[k]), int(cost.ptr[k + 1]))
        uses = tuple(zip(cost.resource[rows].tolist(), cost.usage[rows].tolist(), strict=True))
        return WorkClass(k, 1, uses, int(cost.engine[k]))

    works = tuple(tuple(one(cost, k) for k in range(cost.n_works)) for cost in costs)
    return costs, Quotient(works, np.arange(len(capacity)))


def ran(design: Design, size: float, events: Sequence[tuple[float, str, float]] = ()) -> Run:
    prices = Prices(build_network(design))
    jobs: list[Job] = [job_of(p) for p in programs(size)]
    net = prices.network.net
    changes: list[Change] = []
    for at, path, share in events:
        link = next(k for k in range(net.n_links) if net.link_path(k) == path)
        changes.append(Change(at, int(prices.network.first_resource[link]), share))
    return play(prices, jobs, changes=Changes(events=tuple(changes)))


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(2, 9), st.sampled_from([None, 0, 1]), st.booleans(), st.sampled_from([1e8, 1e9]))
def test_the_folded_clock_is_the_unfolded_one(hosts: int, slow: int | None, fails: bool, size: float) -> None:
    """All ends, and the load of every resource, to 1e-9; with a slower member and a link that degrades as well."""
    design = drawn(hosts, slow)
    events = [(0.025, "hosts[1]/psw0-gpu0", 0.5)] if fails else []
    folded = ran(design, size, events)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(player, "quotient", apart)
        single = ran(design, size, events)
    assert len(folded.works) <= len(single.works)
    assert [t.ended for t in folded.tasks] == pytest.approx([t.ended for t in single.tasks], rel=1e-9)
    n = len(folded.represents)
    assert folded.mean_load() == pytest.approx(single.mean_load()[:n], rel=1e-9, abs=1e-3)


def test_members_that_differ_are_not_folded() -> None:
    """Of nine hosts one has a slower link: its works are a class of their own, the others stay one."""
    equal, other = ran(drawn(9, None), 1e9), ran(drawn(9, 4), 1e9)

    def loading(run: Run) -> list[int]:
        first = next(t for t in run.tasks if t.step == "load")
        return sorted(run.works[k].equal for k in first.works)

    assert sum(loading(equal)) == sum(loading(other)) == 9
    # hosts 0 and 1 have a move of their own next to them
    assert max(loading(equal)) == 7
    assert max(loading(other)) == 6


@pytest.mark.parametrize("n", [1, 8, 1000])
def test_works_on_equal_resources_cost_as_one(n: int) -> None:
    """n works of a unit on n equivalent resources are one work that represents n, whatever n is."""
    cost = alone(1.0, uses={0: 1.0})
    many = Cost(
        np.arange(n + 1),
        np.arange(n),
        np.ones(n),
        *(np.full(n, value) for value in (2.0, 1.0, 1.0, 0.0)),
        np.full(n, -1),
    )
    _, found = quotient([many], [1.0] * n, {})
    assert [(one.multiplicity, one.uses) for one in found.works[0]] == [(n, ((0, 1.0),))]
    assert not found.represents.any()
    # with another work on the first of them, that one is apart
    _, both = quotient([many, cost], [1.0] * n, {})
    assert sorted(one.multiplicity for one in both.works[0]) == sorted({1, n - 1} - {0} if n > 1 else {1})


def test_what_the_same_works_use_alike_is_looked_at_once() -> None:
    """A work on resources 0, 1 and 2, half as much on the last, and one of another task on 0 and 1 alone.

    Both use 0 and 1 alike, 2 is used by one of them: the first takes 1 of each of 0 and 1, stated as 1 on resource 0.
    """

    def one(uses: Mapping[int, float], amount: float) -> Cost:
        figures = (np.full(1, value) for value in (amount, 1.0, 1.0, 0.0))
        return Cost(
            np.array([0, len(uses)]), np.array(list(uses)), np.array(list(uses.values())), *figures, np.full(1, -1)
        )

    _, found = quotient([one({0: 1.0, 1: 1.0, 2: 0.5}, 2.0), one({1: 3.0, 0: 3.0}, 1.0)], [1.0] * 4, {})
    assert [(w.multiplicity, w.uses) for works in found.works for w in works] == [
        (1, ((0, 1.0), (2, 0.5))),
        (1, ((0, 3.0),)),
    ]
    assert found.represents.tolist() == [0, 0, 2, 3]
    # something happens to one of them by itself
    _, split = quotient([one({0: 1.0, 1: 1.0, 2: 0.5}, 2.0), one({1: 3.0, 0: 3.0}, 1.0)], [1.0] * 4, {}, apart=[1])
    assert split.represents.tolist() == [0, 1, 2, 3]
