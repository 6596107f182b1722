"""What tasks take, on small drawings: figures worked out by hand, and laws that every cost obeys."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import designer
from designer.design.document import Design, Policy
from designer.engine.account.bottlenecks import Limit
from designer.engine.account.expression import shares
from designer.engine.clock.jobs import job_of
from designer.engine.clock.player import play
from designer.engine.costs import Cost, Expansion, Priced, Prices
from designer.engine.costs.move import flows_of
from designer.engine.costs.pricing import every_work
from designer.engine.network import build_network
from designer.engine.results import Bottleneck
from designer.engine.transfers import evaluate_transfer
from designer.errors import AnalysisError
from designer.families.collective.costs import occupied
from designer.families.collective.evaluation import asked_group, time_of
from designer.families.machines.operations import Migrate
from designer.families.serving.costs.serve import _brought, _fetch, _holds
from designer.families.serving.placement import place_deployment
from designer.families.serving.tasks import Infer, Serve
from designer.families.training.preparation import prepare
from designer.families.training.tasks import LoadBatch, ProcessData, TrainStep, TrainSteps
from designer.formulas.compute.roofline import MEMORY_SHARE
from designer.workload.kind import task_of
from designer.workload.program import Collective, Compute, Measure, Move, Program, Step
from designer.workload.program.tasks import Rerouted, Task
from tests.unit.engine.small_designs import BUS, draw
from tests.unit.families.machines.test_collectives_in_machines import machine, pair

A100: dict[str, object] = {
    "flops_bf16": "312 TFLOP/s",
    "flops_fp16": "312 TFLOP/s",
    "memory_bandwidth": "2 TB/s",
    "memory_capacity": "80 GB",
}
#: two servers of a processor, a memory and a GPU; two cables lead from each to the switch with the storage
LINES = [
    f"cpu0 mem0: {BUS}",
    "cpu0 gpu0: pcie 4x16",
    "cpu0 nic0: pcie 4x16",
    f"cpu1 mem1: {BUS}",
    "cpu1 gpu1: pcie 4x16",
    "cpu1 nic1: pcie 4x16",
    "nic0 sw0: ethernet 2* 25 Gb/s",
    "nic1 sw0: ethernet 2* 25 Gb/s",
    "store0 sw0: ethernet 400 Gb/s",
]
VALUES: dict[str, dict[str, object]] = {
    "gpu0": A100,
    "gpu1": A100,
    "cpu0": {"cores": 8},
    "cpu1": {"cores": 8},
    "store0": {"read_bandwidth": "50 GB/s", "write_bandwidth": "50 GB/s"},
}


def drawn(*more: str) -> Design:
    return draw(*more, *LINES, values=VALUES)


def prices(design: Design | None = None) -> Prices:
    return Prices(build_network(design or drawn()))


def cost_of(known: Prices, task: Task) -> Cost:
    found = known.price(task, "w")
    assert isinstance(found, Cost)
    return every_work(found)


def taken(known: Prices, cost: Cost) -> dict[str, float]:
    """What all works take of each resource at a unit a second each, by name."""
    found: dict[str, float] = {}
    row = np.repeat(np.arange(cost.n_works), np.diff(cost.ptr))
    for resource, usage in zip(cost.resource.tolist(), (cost.usage * cost.cap[row]).tolist(), strict=True):
        found[known.table.id(resource)] = found.get(known.table.id(resource), 0.0) + usage
    return found


def test_computing_reads_its_memory_at_the_rate_of_the_roofline():
    """Much to read: as long as the bytes take; its share of a memory is that rate, and its weight the inverse."""
    known = prices()
    cost = cost_of(known, Compute("gpu0", flop=1e9, size=1e9))
    seconds = float(cost.amount[0])
    assert seconds == pytest.approx(1e9 / 2e12 / MEMORY_SHARE.value, rel=0.05)
    assert cost.usage.tolist() == pytest.approx([1e9 / seconds])
    assert cost.weight.tolist() == pytest.approx([seconds / 1e9])
    assert (cost.low, cost.high) == (1.0, pytest.approx(1 / MEMORY_SHARE.low))
    plain = cost_of(known, Compute("gpu0", seconds=2.0))
    assert (plain.low, plain.high, plain.weight.tolist(), len(plain.usage)) == (1.0, 1.0, [1.0], 0)


def test_engines_are_named_by_their_first_part():
    known = prices()
    parts = [known.network.net.index_of(name) for name in ("gpu0", "gpu1")]
    one, both = known.table.engine(parts[:1]), known.table.engine(parts)
    assert known.table.bottleneck(one).label == "gpu0"
    assert known.table.bottleneck(both).label == "gpu0 and 1 like it"
    assert (known.table.slots[one], known.table.slots[both]) == (1, 2)


def test_resources_made_later_have_their_own_capacity():
    known = prices()
    n = known.network.n_resources
    limits = [Limit(f"mount:{k}", f"mount {k}", 1e9 * (k + 1)) for k in range(3)]
    number = known.table.renumbered(np.array([0, n + 2, n, n + 1]), limits, "w")
    assert number.tolist() == [0, n + 2, n, n + 1]
    again = known.table.renumbered(np.array([n, 1]), limits[2:], "w")
    assert again.tolist() == [n + 2, 1]
    assert [known.table.capacity[k] for k in (n, n + 1, n + 2)] == [1e9, 2e9, 3e9]
    assert known.table.capacity.of(np.array([n + 1, 0])).tolist() == [2e9, known.network.capacity[0]]
    assert known.table.capacity[n - 1] == known.network.capacity[n - 1]


@pytest.mark.parametrize("ends", [("store0", "mem0"), ("mem1", "store0"), ("gpu0", "gpu1"), ("gpu1", "gpu0")])
@pytest.mark.parametrize("ecmp", ["split", "hash"])
def test_a_task_takes_the_same_where_what_failed_is_not_on_its_way(ends: tuple[str, str], ecmp: str):
    """A failed link before all others shifts every number; the resources of the task are those of the whole.

    Hashed, each of the two cables of a NIC is a resource of its own, in each direction.
    """
    design = drawn("cpu7 mem7: memory_bus 300 GB/s", "cpu7 nic7: pcie 4x16")
    known = prices(design.model_copy(update={"policy": Policy.model_validate({"ecmp": ecmp})}))
    task = Move(*ends, size=1.0)
    whole, left = cost_of(known, task), cost_of(known, Rerouted(task, (), (0,)))
    assert taken(known, left) == pytest.approx(taken(known, whole))
    assert sorted(left.resource.tolist()) == sorted(whole.resource.tolist())
    limited = Move(*ends, size=1.0, demand=1e9)
    assert taken(known, cost_of(known, Rerouted(limited, (), (0,)))).keys() >= taken(known, whole).keys()


def test_all_hosts_work_on_an_equal_part_of_the_data():
    """8 cores of 100 MB/s each: 800 MB/s a host, and 10 GB over both take 6.25 s."""
    known = prices()
    cost = cost_of(known, ProcessData("store0", "memory", 10e9, 1e8))
    assert cost.amount.sum() == pytest.approx(10e9)
    run = play(known, [job_of(once(ProcessData("store0", "memory", 10e9, 1e8)), "w")])
    # and 60 us until the last byte is there
    assert run.times("p", "s") == [pytest.approx(10e9 / (2 * 8 * 1e8), abs=1e-4)]


def once(task: Task) -> Program:
    return Program("p", (Step("s", task),), measures=(Measure("t", "s", "time", "s"),))


def test_flows_of_a_transfer_are_as_sure_as_the_slowest_is():
    known = prices()
    answer = evaluate_transfer(known.network, Move("store0", "memory"), "w")
    cost = flows_of(known, answer, np.ones(2), "x")
    worst = int(np.argmin(answer.rate))
    ends = answer.rate[worst] / answer.high[worst], answer.rate[worst] / answer.low[worst]
    assert (cost.low, cost.high) == pytest.approx(ends)
    assert cost.low < 1 < cost.high


def test_a_slower_time_of_bytes_is_a_lower_cap():
    known = prices()
    spec = {"source": "store0", "prefetch": 0, "dataset": "imagenet-1k"}
    task = task_of("data_loading", spec, "w", LoadBatch)
    assert task is not None
    cost = known.price(task, "w")
    assert isinstance(cost, Cost)
    assert cost.time is not None
    held = next(iter(_ties(cost)))
    slowed = cost.slowed(dict.fromkeys(held, 2.0))
    assert (slowed.cap < cost.cap).all()
    assert (slowed.cap > cost.cap / 2.01).all()


def _ties(cost: Cost) -> list[tuple[Any, ...]]:
    assert cost.time is not None
    return list(shares(cost.time))


def test_a_collective_takes_no_more_than_its_links_carry_and_fills_one():
    known = prices()
    task = Collective("all-reduce", "gpus", 1e9)
    cost = cost_of(known, task)
    asked = asked_group(known.network, task, "w")
    time = time_of(asked, task)
    assert float(cost.amount[0] + cost.latency[0]) == pytest.approx(time.time)
    assert (cost.low, cost.high) == pytest.approx((time.low / time.time, time.high / time.time))
    share = cost.usage / known.table.capacity.of(cost.resource)
    assert share.max() == pytest.approx(1.0, abs=0.1)
    assert (share <= 1 + 1e-9).all()
    # one hop of a cable: level is rate over weight, so the weight is one over the rate of the collective on a hop
    sides = [side for side in (asked.group.inside, asked.group.between) if side is not None]
    slowest = min(side.rate for side in sides)
    weights = [1 / (side.hops.top_share * slowest) for side in sides]
    assert occupied(known.network, [asked.group])[1] == pytest.approx(weights[-1])


def parts(known: Prices, task: Task) -> dict[str, Cost]:
    price = known.price(task, "w")
    assert isinstance(price, Expansion)
    script: Any = price.make()
    found = {}
    for step in script.program.steps:
        assert isinstance(step.task, Priced)
        found[step.name] = step.task.cost
    return found


TRAINED = {
    "llama": ("hgx-h100-8", {"model": "llama-2-7b", "sharding": "parameters", "global_batch": 16}),
    "tensor": ("hgx-h100-8", {"model": "llama-2-7b", "tensor": 8, "global_batch": 4}),
    "resnet": ("su-h100-32", {"model": "resnet-50", "micro_batch": 64}),
    "servers": ("hgx-h100-8", {"model": "resnet-50", "exchange": "parameter-server", "parameter_servers": "memory"}),
}


@pytest.mark.parametrize("name", TRAINED)
def test_parts_of_a_step_add_up_and_are_off_together(name: str):
    template, settings = TRAINED[name]
    known = prices(designer.open_design(template))
    task = task_of("training", settings, "w", TrainStep)
    assert task is not None
    price = known.price(task, "w")
    assert isinstance(price, Expansion)
    assert price.time is not None
    run = play(known, [job_of(once(task), "w")])
    whole = run.times("p", "s")[0]
    found = parts(known, task)
    visible = [cost for part, cost in found.items() if not part.startswith("hidden")]
    assert sum(float(cost.amount[0] + cost.latency[0]) for cost in visible) == pytest.approx(whole)
    ends = {(round(cost.low, 12), round(cost.high, 12), cost.group) for cost in found.values()}
    assert len(ends) == 1
    low, high, _ = ends.pop()
    assert low < 1 < high
    for part, cost in found.items():
        assert float(cost.amount[0]) > 0, part
        assert 0 <= float(cost.latency[0]) <= float(cost.amount[0] + cost.latency[0]), part
        share = cost.usage / known.table.capacity.of(cost.resource)
        assert (share <= 1 + 1e-9).all(), part
    # what hides does so behind computing, which is longer
    hidden = [float(cost.amount[0] + cost.latency[0]) for part, cost in found.items() if part.startswith("hidden")]
    assert sum(hidden) < float(found["compute"].amount[0])


def test_traffic_waits_for_as_much_of_its_time_as_its_largest_collective():
    """A ring of 256 ranks between 32 servers has many steps: a share of the time is waiting, links idle."""
    template, settings = TRAINED["resnet"]
    known = prices(designer.open_design(template))
    task = task_of("training", settings, "w", TrainStep)
    assert task is not None
    plan = prepare(known.network, task.job, "w")
    costs = plan.ranks.costs(plan.layout)
    plan.estimate(costs)
    (_, size, one), (name, cost) = (
        next(iter(costs.used.items()))[1],
        next((name, cost) for name, cost in parts(known, task).items() if "data traffic" in name),
    )
    time = one.time("all-reduce", size)
    assert 0 < time.latency_term < time.time < 1, name
    share = float(cost.latency[0] / (cost.amount[0] + cost.latency[0]))
    assert share == pytest.approx(time.latency_term / time.time)


@pytest.mark.parametrize("name", [name for name in TRAINED if name != "servers"])
def test_many_steps_as_one_send_what_is_seen_of_their_traffic(name: str):
    template, settings = TRAINED[name]
    known = prices(designer.open_design(template))
    task = task_of("training", settings, "w", TrainStep)
    assert task is not None
    each = cost_of(known, TrainSteps(task.job, count=1.0))
    found = parts(known, task)
    seen = {k: c for k, c in found.items() if k.endswith("traffic") and not k.startswith("hidden")}
    sent: dict[int, float] = {}
    for cost in seen.values():
        long = float(cost.amount[0] + cost.latency[0])
        # the stream is at the mean of its links while it lasts, waiting included
        for resource, usage in zip(cost.resource.tolist(), cost.usage.tolist(), strict=True):
            sent[resource] = sent.get(resource, 0.0) + usage * long
    stream = each.resource >= 0
    stream[: int(each.ptr[-2]) if seen else len(stream)] = False
    got = dict(zip(each.resource[stream].tolist(), (each.usage[stream] * each.amount[0]).tolist(), strict=True))
    assert got == pytest.approx(sent)


def test_a_batch_is_sent_in_the_shares_of_its_ways():
    """A sample of 224 x 224 x 3 bytes leaves memory at the pace of the device's way, and is there a little later."""
    known = prices(designer.open_design("serving-l40s-4"))
    task = task_of("inference", {"model": "resnet-50", "group": "gpu0", "scenario": "offline"}, "w", Infer)
    assert task is not None
    price = known.price(task, "w")
    assert isinstance(price, Expansion)
    made: Any = price.make()
    instance = made._instances[0]
    cost = instance.send.cost
    assert cost.amount.sum() == pytest.approx(224 * 224 * 3)
    run = play(known, [job_of(once(instance.send), "w")])
    assert run.times("p", "s")[0] - float(cost.after.max()) == pytest.approx(instance.pace)


def served() -> tuple[Prices, Serve, Any]:
    known = prices(designer.open_design("serving-h100-8"))
    settings = {"model": "llama-3-70b", "weights": "fp8", "tensor": 4, "rate": "1 1/s", "tiers": "memory"}
    settings["reuse"] = "1M:10 %, 10M:40 %, 100M:60 %"
    task = task_of("serving", settings, "w", Serve)
    assert task is not None
    return known, task, place_deployment(known.network, task.operation.deployment, "w")


def test_a_token_is_fetched_as_fast_as_its_slowest_way():
    known, task, placement = served()
    found = _fetch(known, placement, task.operation, 0, "w")
    cost = found.move.cost
    assert isinstance(cost, Cost)
    each = placement.steps.kv.token
    assert cost.amount.tolist() == pytest.approx([each] * len(cost.amount))
    answer = evaluate_transfer(known.network, Move("memory", "gpu0,gpu1,gpu2,gpu3", pairing="nearest"), "w")
    assert found.pace == pytest.approx(each / answer.rate[answer.rate > 0].min())


def test_weights_come_from_all_sources_at_a_rate_at_most():
    known, _, _ = served()
    part = _brought(known, "memory", ("gpu0", "gpu1"), 1e9, 2e9, "w").cost
    assert isinstance(part, Cost)
    # what arrives at each GPU is the size, at 2 GB/s at most
    assert part.amount.sum() == pytest.approx(2e9)
    assert part.cap.sum() == pytest.approx(2 * 2e9)
    assert (part.cap / part.amount).tolist() == pytest.approx([2.0] * len(part.cap))


def test_engines_hold_the_memory_of_each_device_they_are_on():
    _, _, placement = served()
    held = _holds(placement)
    assert len(held) == placement.replicas.size
    claimed = placement.device.memory * placement.scheduling.memory_share
    assert list(held.values()) == pytest.approx([claimed] * len(held))


def test_what_cannot_be_reached_is_said():
    known = prices(draw(f"cpu0 mem0: {BUS}", "cpu0 gpu0: pcie 4x16", "store0 sw0: ethernet 400 Gb/s", values={}))
    with pytest.raises(AnalysisError):
        known.price(Move("store0", "mem0", size=1.0), "w")


def test_a_resource_in_words_keeps_its_own_words():
    known = prices()
    mine = Bottleneck("limit", "x", "x", "because")
    assert known.table.words(mine) is mine


MOVES = [
    ("vmotion", {"vms": "web0"}),
    ("kvm_migration", {"vms": "web0", "channels": 8}),
    ("evacuation", {"hosts": "hosts[0]/server"}),
    ("evacuation", {"hosts": "hosts[0]/server", "release": "kvm"}),
]


@pytest.mark.parametrize(("kind", "settings"), MOVES)
def test_every_task_of_a_migration_has_a_band_around_its_time(kind: str, settings: dict[str, str]):
    known = prices(designer.open_design("vsphere-cluster-4"))
    task = task_of(kind, settings, "w", Migrate)
    assert task is not None
    price = known.price(task, "w")
    assert isinstance(price, Expansion)
    costs = [t.cost for t in price.tasks if isinstance(t, Priced) and isinstance(t.cost, Cost)]
    assert costs
    for cost in costs:
        assert 0 < cost.low <= 1 <= cost.high < 100, cost.group
    assert any(cost.low < 1 < cost.high for cost in costs)


def test_a_collective_in_turns_takes_its_links_only_while_it_moves():
    """One busy neighbour on each GPU: 0.4878 of the time is its own, and only then are links taken."""
    turns = [
        machine(f"{n}{h}", h, {"kind": "vgpu", "part": "gpu0", "profile": "40C"}, duty="1")
        for h in range(2)
        for n in ("a", "b")
    ]
    known, plain = Prices(build_network(pair(turns))), Prices(build_network(pair()))
    task = Collective("all-reduce", "gpus", 2**30)
    inside, whole = (cost_of(one, t) for one, t in ((known, replace(task, machines="a0, a1")), (plain, task)))
    share = 1 / 2 * 2 / 2.05
    assert inside.latency[0] == pytest.approx(whole.latency[0])
    assert inside.amount[0] + inside.latency[0] == pytest.approx((whole.amount[0] + whole.latency[0]) / share)
    links = [cost.resource < one.network.n_link_resources for cost, one in ((inside, known), (whole, plain))]
    sent = [float((c.usage[at] * c.amount[0]).sum()) for c, at in zip((inside, whole), links, strict=True)]
    assert sent[0] == pytest.approx(sent[1])
