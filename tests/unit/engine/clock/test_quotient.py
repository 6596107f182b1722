"""Equal parts of a run are run once: against the whole run and an oracle."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from designer.analysis.simulation import simulate
from designer.analysis.simulation.rerouting import Failure
from designer.design.document import Design
from designer.engine.clock import player
from designer.engine.clock.engine import Clock
from designer.engine.clock.jobs import Change, Changes, Job, job_of
from designer.engine.clock.player import play
from designer.engine.clock.quotient import Quotient, WorkClass, quotient
from designer.engine.clock.run import Run
from designer.engine.clock.work import Shape, Work
from designer.engine.costs import Cost, Prices
from designer.engine.costs.pricing import alone
from designer.engine.flows import Incidence, solve
from designer.engine.network import build_network
from designer.engine.routes import folding
from designer.interchange.templates import open_design
from designer.memo import forget
from designer.workload.program import Collective, Compute, Move, Program, Step
from tests.properties.test_classes_of_resources import CLOSE, rated, shrunk
from tests.unit.families.machines.machines import with_vms
from tests.unit.families.machines.test_collectives_in_machines import pair

# ResourceClass works as one: the folded clock against the same run with every work by itself.


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

    Both use 0 and 1 equally, 2 is used by one of them: the first takes 1 of each of 0 and 1, stated as 1 on resource 0.
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


# Flows stated in classes on the clock: the same run with every flow stated, and with every work by itself.


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


def folded_run(
    design: Design, workloads: Sequence[str], folds: bool, failures: Sequence[Failure] = ()
) -> tuple[Run, bool]:
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
    folded, taken = folded_run(design, [workload], True)
    single, expanded = folded_run(design, [workload], False)
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
    folded, taken = folded_run(design, workloads, True, failures)
    assert not (taken and fails)
    same(folded, folded_run(design, workloads, False, failures)[0])


def test_a_limit_of_a_class_stands_for_those_of_all() -> None:
    """Six servers mount the storage in the same way: one mount is stated, and it counts for six."""
    run, taken = folded_run(small_cluster(None), ["storage-to-gpus"], True)
    assert taken
    assert set(run.more.values()) == {6}
    assert {run.count_equal(number) for number in run.more} == {6}


# The clock against a simulator that knows no components, no classes and nothing it keeps: all of it, at each event.


def naive(capacity: list[float], works: list[Work], after: list[list[int]]) -> list[float]:
    """Ends of all works: every rate again at every event, by the certified solver."""
    left = [work.amount for work in works]
    ends, opens = [math.inf] * len(works), [math.inf] * len(works)
    for i, work in enumerate(works):
        if not after[i]:
            opens[i] = work.delay
    now = 0.0
    while any(math.isinf(end) for end in ends):
        active = [i for i in range(len(works)) if opens[i] <= now + 1e-12 and math.isinf(ends[i])]
        following = min(
            (at for i, at in enumerate(opens) if at > now + 1e-12 and math.isinf(ends[i])), default=math.inf
        )
        step = following - now
        rates: list[float] = []
        if active:
            rows = [list(works[i].shape.uses) for i in active]
            weight = [works[i].shape.weight for i in active]
            cap = [works[i].shape.cap for i in active]
            rates = solve(Incidence.from_rows(rows, capacity, weight, cap)).rate.tolist()
            step = min(step, *(left[i] / rate for i, rate in zip(active, rates, strict=True)))
        now += step
        for i, rate in zip(active, rates, strict=True):
            left[i] -= rate * step
            if left[i] <= 1e-10 * works[i].amount:
                ends[i] = now
        for i, before in enumerate(after):
            if before and math.isinf(opens[i]) and all(not math.isinf(ends[j]) for j in before):
                opens[i] = max(ends[j] for j in before) + works[i].delay
    return ends


class Graph:
    """Works with what each waits for."""

    def __init__(self, works: list[Work], after: list[list[int]]) -> None:
        self.works, self.after = works, after
        self.waiting = [len(before) for before in after]

    def start(self, now: float) -> list[Work]:
        return [work for work, before in zip(self.works, self.after, strict=True) if not before]

    def finished(self, work: Work, now: float) -> list[Work]:
        ended, found = self.works.index(work), []
        for i, before in enumerate(self.after):
            if ended in before:
                self.waiting[i] -= 1
                if not self.waiting[i]:
                    found.append(self.works[i])
        return found


@pytest.mark.parametrize("seed", range(10))
def test_two_hundred_random_programs_of_up_to_64_flows(seed: int):
    drawn = random.Random(seed)
    for _ in range(20):
        n_links = drawn.randint(2, 20)
        capacity = [drawn.uniform(1, 10) for _ in range(n_links)]
        n = drawn.randint(2, 64)
        shapes = [
            Shape(
                [(r, drawn.uniform(0.2, 2)) for r in drawn.sample(range(n_links), drawn.randint(1, min(4, n_links)))],
                drawn.choice([1.0, 1.0, 2.0]),
                drawn.choice([math.inf, math.inf, 0.8]),
            )
            for _ in range(max(1, n // 2))
        ]
        works = [
            Work(drawn.uniform(0.1, 9), drawn.choice(shapes), delay=drawn.choice([0.0, 0.0, drawn.uniform(0, 3)]))
            for _ in range(n)
        ]
        after = [sorted(drawn.sample(range(i), drawn.randint(0, min(2, i)))) if i % 3 else [] for i in range(n)]
        clock = Clock(capacity)
        clock.add(Graph(works, after))
        clock.run()
        assert [work.ended for work in works] == pytest.approx(naive(capacity, works, after), rel=1e-8)
