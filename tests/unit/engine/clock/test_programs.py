"""Programs on drawings: the clock agrees with the closed forms of ``analyze``, and says what they cannot."""

from __future__ import annotations

import itertools
import math

import networkx as nx
import numpy as np
import pytest

import designer
from designer.analysis.simulation import simulate
from designer.analysis.simulation.rerouting import Failure
from designer.engine.clock.jobs import Change, Changes, job_of
from designer.engine.clock.measures import answer
from designer.engine.clock.player import play
from designer.engine.clock.settled import period_of, settle
from designer.engine.costs import Prices
from designer.engine.network import build_network
from designer.errors import AnalysisError
from designer.workload.program import Arrivals, Compute, Delay, Mark, Measure, Move, Program, Step
from tests.geometric_precopy import precopy_geometric
from tests.moments import utilization
from tests.precopy import Precopy


def prices(template: str = "hgx-h100-8") -> Prices:
    return Prices(build_network(designer.open_design(template)))


@pytest.mark.parametrize(
    ("template", "workload", "metric"),
    [
        ("hgx-h100-8", "h2d", "rate"),
        ("dgx2", "h2d", "rate"),
        ("hgx-h100-8", "storage-to-gpus", "rate"),
        ("hgx-h100-8", "all-reduce", "communication_time"),
        ("dgx1-v100", "all-reduce", "communication_time"),
        ("hgx-h100-8", "llama-2-7b-fsdp", "step_time"),
        ("hgx-h100-8", "resnet-50", "step_time"),
        ("su-h100-32", "llama-2-7b-fsdp", "step_time"),
        ("vsphere-cluster-4", "evacuate", "evacuation_time"),
        ("vsphere-cluster-4", "vmotion", "migration_time"),
        ("cluster-1024", "resnet-50", "step_time"),
    ],
)
def test_alone_the_clock_agrees_with_the_closed_form(template: str, workload: str, metric: str):
    design = designer.open_design(template)
    if workload not in design.workloads:
        pytest.skip("the template has no such workload")
    closed = designer.analyze(design, [workload]).workloads[0].metrics[metric].value
    found = simulate(design, [workload], until=None if template.startswith("vsphere") else 3.0, bands=False)
    assert found.metrics[workload][metric].value == pytest.approx(closed, rel=1e-3)


def test_the_pipeline_bubble_is_p_minus_1_over_m():
    """Four stages, each a GPU; micro-batches flow through, forward 1 s and backward 2 s in one: (m + p − 1) × 3 s."""
    stages, micro_batches = 4, 8
    steps = tuple(
        Step(f"s{k}", Compute(f"gpu{k}", 3.0), (f"s{k - 1}",) if k else (), {f"s{k}": 1}) for k in range(stages)
    )
    run = play(prices(), [job_of(Program("pipeline", steps, micro_batches))])
    assert run.end == pytest.approx((micro_batches + stages - 1) * 3.0, rel=1e-12)
    assert run.done


def test_precopy_of_a_guest_over_a_drawn_link_is_the_geometric_series():
    table = prices("vsphere-cluster-4")
    net = table.network.net
    nics = [net.path(int(p)) for p in table.network.parts_of_kind("nic")]
    way = Move(nics[0], nics[-1], 1.0)
    alone = play(table, [job_of(Program("one", (Step("move", Move(nics[0], nics[-1], 1e9)),)))])
    rate = 1e9 / (alone.tasks[0].ended - alone.works[0].began)
    memory, dirty, goal = 64e9, 0.25 * rate, 0.3
    guest: list[Precopy] = []

    def make() -> Precopy:
        guest.append(Precopy(way, memory, dirty, goal * rate))
        return guest[-1]

    from designer.engine.clock.jobs import Job

    run = play(table, [Job("guest", make)])
    closed = precopy_geometric(memory, rate, dirty, switchover_goal=goal)
    assert run.end == pytest.approx(closed.precopy_time + closed.switchover_time, rel=1e-3)
    assert len(guest[-1].passes) == closed.passes


def slowest_cycle(program: Program, durations: dict[str, float]) -> float:
    """The period of a program [s]: of all cycles of steps that wait for each other, the most time for each lag.

    The cycle mean of a max-plus system: Baccelli, Cohen, Olsder, Quadrat 1992, theorem 3.23.
    """
    waits = nx.DiGraph()
    for step in program.steps:
        waits.add_edges_from((before, step.name, {"lag": lag}) for before, lag in step.lags.items())
        waits.add_edges_from((before, step.name, {"lag": 0}) for before in step.after)
    return max(
        sum(durations[name] for name in cycle)
        / sum(waits.edges[pair]["lag"] for pair in itertools.pairwise([*cycle, cycle[0]]))
        for cycle in nx.simple_cycles(waits)
    )


def test_prefetch_hides_input_and_no_prefetch_adds_it():
    """2 s to load, 3 s to compute: 3 s a step with a buffer, 5 s without."""
    for ahead, period in ((1, 5.0), (2, 3.0), (3, 3.0)):
        steps = (
            Step("load", Delay(2.0), (), {"load": 1, "step": ahead}),
            Step("step", Compute("gpu0", 3.0), ("load",), {"step": 1}),
        )
        program = Program("train", steps, math.inf)
        run, found = settle(prices(), [job_of(program)], {"train": "step"})
        assert found["train"].time == pytest.approx(period, rel=1e-9)
        assert found["train"].settled
        assert slowest_cycle(program, {"load": 2.0, "step": 3.0}) == pytest.approx(period, rel=1e-12)
        assert not run.done


@pytest.mark.parametrize("arrivals", [None, Arrivals("periodic", 1 / 4.0)])
def test_a_program_without_end_is_answered_while_work_is_under_way(arrivals: Arrivals | None):
    """2 s to load, 3 s to compute, one ahead: 3 s a step alone, 4 s where items arrive every 4 s; never stuck."""
    steps = (
        Step("load", Delay(2.0), (), {"load": 1, "step": 2}),
        Step("step", Compute("gpu0", 3.0), ("load",), {"step": 1}),
    )
    measures = (Measure("step_time", "s", "period", "step"),)
    program = Program("train", steps, math.inf, arrivals, measures=measures)
    found = answer(prices(), job_of(program), bands=False)
    assert found.metrics["step_time"].value == pytest.approx(4.0 if arrivals else 3.0, rel=1e-9)
    assert not [finding for finding in found.run.findings if finding.code == "CLOCK-STUCK"]


def test_a_slow_cycle_is_found_among_fast_ones():
    """A ring over two items: (2 + 3 + 4) / 2 = 4.5 s, slower than any step of itself."""
    steps = (
        Step("a", Delay(2.0), (), {"a": 1, "c": 2}),
        Step("b", Delay(3.0), ("a",), {"b": 1}),
        Step("c", Delay(4.0), ("b",), {"c": 1}),
    )
    program = Program("ring", steps, math.inf)
    assert slowest_cycle(program, {"a": 2.0, "b": 3.0, "c": 4.0}) == 4.5
    _, found = settle(prices(), [job_of(program)], {"ring": "c"})
    assert found["ring"].time == pytest.approx(4.5, rel=1e-9)


def test_a_checkpoint_every_so_many_steps():
    """Steps of 1 s, 4 s of writing after every third, which all wait for: 7 s for three."""
    steps = (
        Step("step", Compute("gpu0", 1.0), (), {"step": 1, "write": 1}),
        Step("write", Delay(4.0), ("step",), every=3),
    )
    _, found = settle(prices(), [job_of(Program("train", steps, math.inf))], {"train": "step"})
    assert found["train"].time == pytest.approx(7 / 3, rel=1e-9)


def test_arrivals_queue_for_a_pool_of_accelerators():
    """Two arrive at once every second, eight serve 3 s each: six are busy, nobody waits."""
    served = (Step("serve", Compute("gpus", 3.0, one=True)),)
    program = Program("pool", served, 50, Arrivals("trace", times=tuple(k // 2 for k in range(50))))
    run = play(prices(), [job_of(program)])
    assert max(run.times("pool", "serve")) == pytest.approx(3.0, rel=1e-12)
    assert run.busy(next(iter(run.table.slots)), 5, 20) == pytest.approx(6 / 8, rel=1e-9)


@pytest.mark.parametrize("shape", ["poisson", "bursty", "periodic"])
def test_the_same_seed_is_the_same_run(shape: str):
    program = Program(
        "queue", (Step("serve", Compute("gpu0", 0.5), draw="exponential"),), 300, Arrivals(shape, 1.2, 2.0, 7), seed=3
    )
    runs = [play(prices(), [job_of(program)]) for _ in range(2)]
    assert runs[0].ends("queue", "serve") == runs[1].ends("queue", "serve")
    assert len(runs[0].ends("queue", "serve")) == 300


def test_more_arrivals_than_can_be_served_are_reported_with_the_rate():
    """0.5 s each on one GPU: 2 a second at most."""
    program = Program("queue", (Step("serve", Compute("gpu0", 0.5)),), 20, Arrivals("poisson", 3.0))
    run = play(prices(), [job_of(program)])
    stated = [f for f in run.findings if f.code == "CLOCK-SATURATED"]
    assert len(stated) == 1
    assert "2" in stated[0].remedy
    assert stated[0].where == ("gpu0",)


def test_alike_ranks_are_one_and_an_edited_one_is_apart():
    """Eight equally loaded GPUs are one class; with one link that fails by itself there are more."""
    table = prices()
    program = Program("load", (Step("move", Move("memory", "gpus", 1e9)),))
    whole = play(table, [job_of(program)])
    assert whole.tasks[0].works
    assert sum(whole.works[k].equal for k in whole.tasks[0].works) == 8
    assert len(whole.tasks[0].works) < 8
    link = whole.works[0].log[0][2][0]
    events = (Change(0.001, link, 0.5),)
    broken = play(table, [job_of(program)], changes=Changes(events=events))
    assert len(broken.tasks[0].works) > len(whole.tasks[0].works)
    assert broken.end > whole.end


def test_classes_change_no_number(monkeypatch: pytest.MonkeyPatch):
    """The same run with every rank by itself."""
    from designer.engine.clock import player
    from designer.engine.clock.quotient import Quotient, WorkClass

    table = prices()
    programs = [
        Program("in", (Step("load", Move("memory", "gpus", 2e9)), Step("go", Compute("gpus", 0.01), ("load",))), 3),
        Program("all", (Step("move", Move("gpus", "gpus", 1e9, "shift")),), 3, start=0.02),
        Program("one", (Step("move", Move("gpu0", "gpu5", 3e9)),), start=0.03),
    ]

    def apart(costs, capacity, slots, split=()):
        works = tuple(
            tuple(
                WorkClass(
                    k,
                    1,
                    tuple(
                        zip(
                            cost.resource[cost.ptr[k] : cost.ptr[k + 1]].tolist(),
                            cost.usage[cost.ptr[k] : cost.ptr[k + 1]].tolist(),
                            strict=True,
                        )
                    ),
                    int(cost.engine[k]),
                )
                for k in range(cost.n_works)
            )
            for cost in costs
        )
        return costs, Quotient(works, np.arange(len(capacity)))

    together = play(table, [job_of(p) for p in programs])
    monkeypatch.setattr(player, "quotient", apart)
    single = play(prices(), [job_of(p) for p in programs])
    assert len(single.works) > len(together.works)
    for name, times in single.marks.items():
        assert together.marks[name] == pytest.approx(times, rel=1e-9)
    for at in np.linspace(0.001, single.end * 0.99, 23):
        assert together.load_at(at) == pytest.approx(single.load_at(at), rel=1e-6, abs=1e-3)


def test_what_can_never_go_on_names_what_it_waits_for():
    design = designer.open_design("hgx-h100-8")
    table = prices()
    path = table.network.net.path(int(table.network.parts_of_kind("gpu")[0]))
    program = Program("copy", (Step("move", Move("memory", path, 1e12)),))
    found = simulate(design, programs=[program], failures=[Failure(path, 1.0)])
    stated = [f for f in found.findings if f.code == "CLOCK-STUCK"]
    assert len(stated) == 1
    assert path in stated[0].text
    assert not found.run.done


def test_a_failure_that_is_mended_only_delays():
    table = prices()
    program = Program("copy", (Step("move", Move("memory", "gpu0", 1e11)),))
    plain = play(table, [job_of(program)])
    held = plain.works[0].log[0][2]
    events = tuple(c for r in held for c in (Change(0.5, r, 0.0), Change(1.5, r, 1.0)))
    late = play(table, [job_of(program)], changes=Changes(events=events))
    assert late.end == pytest.approx(plain.end + 1.0, rel=1e-9)


def test_steps_that_wait_for_each_other_are_refused():
    steps = (Step("a", Delay(1.0), ("b",)), Step("b", Delay(1.0), ("a",)))
    with pytest.raises(AnalysisError, match="can never begin: a waits for b waits for a"):
        Program("ring", steps)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Delay(-1.0),
        lambda: Compute("gpus", math.nan),
        lambda: Move("memory", "gpus", -5.0),
        lambda: Program("p", (Step("a", Delay(1.0)),), start=-1.0),
        lambda: Program("p", (Step("a", Delay(1.0)),), weight=0.0),
        lambda: Program("p", (Step("a", Delay(1.0)),), times=0.5),
        lambda: Program("p", ()),
        lambda: Arrivals("poisson", -2.0),
        lambda: Arrivals("trace", times=(1.0, 0.5)),
        lambda: Arrivals("trace", times=(-1.0,)),
    ],
)
def test_bad_programs_are_refused(make):
    with pytest.raises(AnalysisError):
        make()


def test_marks_series_and_busy_are_read_from_the_run():
    """1 s on, 1 s off, four times."""
    steps = (Step("on", Compute("gpu0", 1.0)), Step("off", Delay(1.0), ("on",)), Step("end", Mark("end"), ("off",)))
    run = play(prices(), [job_of(Program("blink", steps, 4))])
    engine = next(iter(run.table.slots))
    assert run.marks["blink/on"] == pytest.approx((1, 3, 5, 7))
    assert run.marks["blink/end"] == pytest.approx((2, 4, 6, 8))
    assert run.busy(engine) == pytest.approx(0.5)
    series = run.series(engine, 0, 8, 4)
    assert series.mean == pytest.approx([0.5] * 4)
    assert series.low == pytest.approx([0.0] * 4)
    assert series.high == pytest.approx([1.0] * 4)
    assert run.load_at(0.5)[engine] == 1
    assert run.load_at(1.5)[engine] == 0
    assert [run.tasks[k].step for k in run.path()] == ["on", "off", "end"] * 4


def test_periods_are_read_from_ends():
    assert period_of([1.0]) is None
    found = period_of([5.0, 6.0, 8.0, 9.0, 11.0, 12.0, 14.0, 15.0, 17.0, 18.0])
    assert found is not None
    assert (found.items, found.time, found.settled) == (2, 1.5, True)


def test_two_jobs_on_one_link_are_reported_to_shift():
    """1 s of computing, then 1 s alone on a link that both use: 3 s a period together, 2 s if one starts later."""
    table = prices()
    probe = play(table, [job_of(Program("p", (Step("m", Move("memory", "gpu0", 1e9)),)))])
    # its last entry is when everything has been sent
    second = 1e9 / probe.works[0].log[-1][0]
    programs = [
        Program(
            name,
            (Step("compute", Compute(gpu, 1.0)), Step("copy", Move("memory", "gpu0", second), ("compute",))),
            math.inf,
            measures=(Measure("step_time", "s", "period", "copy"),),
        )
        for name, gpu in (("a", "gpu1"), ("b", "gpu2"))
    ]
    found = simulate(designer.open_design("hgx-h100-8"), programs=programs, until=90, shifts=True, bands=False)
    assert found.metrics["a"]["step_time"].value == pytest.approx(3.0, rel=1e-4)
    assert found.slow_down["a"] == pytest.approx(1.5, rel=1e-4)
    assert len(found.shifts) == 1
    assert found.shifts[0].before == pytest.approx(3.0, rel=1e-3)
    assert found.shifts[0].after == pytest.approx(2.0, rel=1e-3)


def with_workload(template: str, kind: str, **settings: object):
    from designer.design.document import WorkloadSpec

    design = designer.open_design(template)
    spec = WorkloadSpec(id="asked", kind=kind, settings=settings)
    return design.model_copy(update={"workloads": {**design.workloads, "asked": spec}})


@pytest.mark.parametrize(
    ("template", "kind", "settings", "metrics"),
    [
        ("hgx-h100-8", "data_loading", {"source": "drives"}, ("input_time",)),
        ("hgx-h100-8", "data_loading", {"source": "drives", "prefetch": 0}, ("input_time",)),
        ("su-h100-32", "checkpointing", {}, ("checkpoint_time", "checkpoint_stall", "restore_time")),
        ("hgx-h100-8", "checkpointing", {"target": "drives", "snapshot": True}, ("checkpoint_stall", "restore_time")),
        ("hgx-h100-8", "transfer", {"size": "10 GB", "both_ways": True}, ("transfer_time",)),
        ("su-h100-32", "transfer", {"from": "gpus", "to": "gpus", "pairing": "shift"}, ("rate",)),
        ("su-h100-32", "collective", {"collective": "all-to-all", "size": "1 GB"}, ("communication_time",)),
        ("hgx-h100-8", "training", {"exchange": "parameter-server", "sharding": "none"}, ("step_time",)),
    ],
)
def test_kinds_agree_with_their_closed_forms(template: str, kind: str, settings: dict, metrics: tuple[str, ...]):
    design = with_workload(template, kind, **settings)
    closed = designer.analyze(design, ["asked"]).workloads[0].metrics
    found = simulate(design, ["asked"], until=30.0 if kind in ("training", "collective") else None, bands=False)
    for metric in metrics:
        assert found.metrics["asked"][metric].value == pytest.approx(closed[metric].value, rel=2e-3), metric


def test_a_migration_slows_a_transfer_only_while_it_lasts():
    """A copy from host to host next to an evacuation on the same network takes longer, and the evacuation as well."""
    design = designer.open_design("vsphere-cluster-4")
    alone = simulate(design, ["evacuate"], bands=False)
    moved = alone.run.times("evacuate", "migrate")
    assert len(moved) == 1
    inner = alone.run.inner(0)
    assert {alone.run.tasks[k].step.split()[0] for k in inner} == {"set-up", "move", "stun", "resume"}
    busy = max(alone.run.works, key=lambda w: w.equal if w.log else 0)
    resource = max((r for w in alone.run.works for r, _ in w.uses), key=alone.run.busy)
    assert busy is not None
    slower = play(
        Prices(build_network(design)),
        [job_of(_evacuation(design))],
        changes=Changes(events=(Change(0.0, resource, 0.5),)),
    )
    # half the network, and more is dirtied meanwhile
    assert slower.end > alone.run.end * 1.3


def _evacuation(design):
    from dataclasses import replace

    from designer.workload.kind import program_of

    spec = design.workloads["evacuate"]
    program = program_of(spec.kind, spec.settings, "evacuate")
    assert program is not None
    return replace(program, name="evacuate")


def test_a_run_outlives_what_is_priced_after_it():
    table = prices()
    run = play(table, [job_of(Program("a", (Step("m", Move("memory", "gpu0", 1e9)),)))])
    before = run.load_at(run.end / 2)
    play(table, [job_of(Program("b", (Step("c", Compute("gpus", 1.0)), Step("m", Move("memory", "gpus", 1e9)))))])
    assert utilization(run, run.end / 2).shape == before.shape
    assert run.load_at(run.end / 2) == pytest.approx(before)
    assert utilization(run, run.end / 2).max() <= 1 + 1e-9


def test_a_metric_that_cannot_be_reported_yet_is_said():
    found = simulate(designer.open_design("hgx-h100-8"), ["llama-2-7b-fsdp"], until=0.1, bands=False)
    assert [f.code for f in found.findings] == ["CLOCK-SHORT"]
    assert "step time" in found.findings[0].text


def test_kvm_guests_take_what_the_closed_form_says():
    design = designer.open_design("vsphere-cluster-4")
    guests = [name for name, vm in design.vms.items() if not vm.devices]
    if not guests:
        pytest.skip("all machines of the template have devices")
    design = with_workload("vsphere-cluster-4", "kvm_migration", vms=guests[0])
    closed = designer.analyze(design, ["asked"]).workloads[0].metrics["migration_time"].value
    found = simulate(design, ["asked"], bands=False)
    assert found.metrics["asked"]["migration_time"].value == pytest.approx(closed, rel=1e-3)


@pytest.mark.parametrize(
    ("template", "settings", "until"),
    [
        ("dgx1-v100", {"model": "resnet-50"}, 5.0),
        ("su-h100-32", {"model": "llama-2-7b", "sharding": "parameters"}, 12.0),
        ("su-h100-32", {"model": "llama-2-7b", "software": "megatron-2022", "tensor": 8}, 20.0),
    ],
)
def test_a_step_beside_streams_agrees_with_the_fixed_point(template: str, settings: dict, until: float):
    """Streams from every GPU to another on the links of the step. ``analyze`` works out a mean share of the links; the
    clock sees that streams get more while the step only computes: within 1 % of each other, and both far from alone."""
    from designer.design.document import WorkloadSpec

    design = designer.open_design(template)
    if template == "dgx1-v100":
        settings = {**design.workloads["resnet-50"].settings}
    beside = WorkloadSpec(id="beside", kind="transfer", settings={"from": "gpus", "to": "gpus", "pairing": "shift"})
    asked = WorkloadSpec(id="asked", kind="training", settings={**settings, "background": "beside"})
    alone = WorkloadSpec(id="alone", kind="training", settings=settings)
    workloads = {**design.workloads, "beside": beside, "asked": asked, "alone": alone}
    design = design.model_copy(update={"workloads": workloads})
    both, single = designer.analyze(design, ["asked", "alone"], curves=False).workloads
    closed, without = both.metrics["step_time"].value, single.metrics["step_time"].value
    found = simulate(design, ["asked"], until=until, bands=False)
    took = found.metrics["asked"]["step_time"].value
    assert took == pytest.approx(closed, rel=0.01)
    assert took > without * 1.001
    assert found.slow_down["asked"] == pytest.approx(took / without, rel=1e-6)


def test_an_evacuation_beside_streams_sends_more_and_agrees_with_the_plan():
    """Streams take their share of the migration network: machines get less, dirty more meanwhile, and send more."""
    from designer.design.document import WorkloadSpec

    design = designer.open_design("vsphere-cluster-4")
    nics = "hosts[*]/vmotion_nic0"
    stream = WorkloadSpec(id="stream", kind="transfer", settings={"from": nics, "to": nics, "pairing": "shift"})
    settings = {**design.workloads["evacuate"].settings, "background": "stream"}
    asked = WorkloadSpec(id="asked", kind="evacuation", settings=settings)
    design = design.model_copy(update={"workloads": {**design.workloads, "stream": stream, "asked": asked}})
    closed = designer.analyze(design, ["asked"], curves=False).workloads[0].metrics["evacuation_time"].value
    alone = designer.analyze(design, ["evacuate"], curves=False).workloads[0].metrics["evacuation_time"].value
    found = simulate(design, ["asked"], until=1000.0, bands=False)
    took = found.metrics["asked"]["evacuation_time"].value
    assert took == pytest.approx(closed, rel=1e-3)
    assert found.slow_down["asked"] == pytest.approx(closed / alone, rel=1e-3)
    assert took > 1.5 * alone
    sent = [work for work in found.run.works if found.run.tasks[work.task].step.startswith("move ")]
    assert len(sent) > len({found.run.tasks[work.task].step for work in sent})


def test_a_migration_that_begins_later_slows_steps_only_while_it_runs():
    from designer.design.document import WorkloadSpec

    design = designer.open_design("vsphere-cluster-4")
    settings = {"model": "resnet-50", "group": "gpus", "micro_batch": 64}
    train = WorkloadSpec(id="train", kind="training", settings=settings)
    moving = WorkloadSpec(id="moving", kind="vmotion", settings={"vms": "lab0", "to": "hosts[3]/server"})
    design = design.model_copy(update={"workloads": {**design.workloads, "train": train, "moving": moving}})
    found = simulate(design, ["train", "moving"], until=200.0, starts={"moving": 60.0}, bands=False)
    met = [m for m in found.meetings if m.workload == "train"]
    assert len(met) == 1
    assert met[0].by == "moving"
    assert met[0].begin >= 60.0
    assert met[0].seconds == pytest.approx(found.metrics["moving"]["migration_time"].value, rel=1e-6)
    ends = found.run.ends("train", "step")
    before = [b - a for a, b in itertools.pairwise(ends) if b < 60]
    after = [b - a for a, b in itertools.pairwise(ends) if a > met[0].begin + met[0].seconds]
    assert max(before) == pytest.approx(min(before), rel=1e-6)
    assert max(after) == pytest.approx(min(before), rel=1e-6)
    assert met[0].times >= 1 - 1e-9


def test_each_slow_down_names_who_causes_it():
    """One job computes 1 s and copies 1 s; from 10 s on another copies the same way, a third somewhere else.

    Next to the second the copy takes 2 s: a step takes 3 s in place of 2 s, 1.5 times as long. The third is far.
    Of the 20 s of copying of the second 2 s are done in each 3 s, so they meet for 30 s.
    """
    design = designer.open_design("hgx-h100-8")
    prices = Prices(build_network(design))
    size = 1e12
    alone = play(prices, [job_of(Program("one", (Step("copy", Move("memory0", "gpu0", size)),)))]).end
    steps = (
        Step("compute", Compute("gpu0", seconds=alone), lags={"copy": 1}),
        Step("copy", Move("memory0", "gpu0", size), ("compute",)),
    )
    job = Program("job", steps, math.inf, measures=(Measure("step_time", "s", "period", "copy"),))
    ended = (Measure("transfer_time", "s", "end", "copy"),)
    other = Program("other", (Step("copy", Move("memory0", "gpu0", 20 * size)),), start=10 * alone, measures=ended)
    far = Program("far", (Step("copy", Move("memory1", "gpu7", 30 * size)),), start=10 * alone, measures=ended)
    found = simulate(design, programs=[job, other, far], until=80 * alone, bands=False)
    met = {(m.workload, m.by): m for m in found.meetings}
    assert met["job", "other"].times == pytest.approx(1.5, rel=1e-3)
    assert met["job", "other"].seconds == pytest.approx(30 * alone, rel=0.05)
    assert met["job", "far"].times == pytest.approx(1.0, rel=1e-6)
    assert met["other", "job"].times == pytest.approx(1.5, rel=0.05)
    stated = [f.text for f in found.findings if f.code == "CLOCK-MET"]
    assert any(text.startswith("other makes a step of job 1.50 times as long for ") for text in stated)
    assert not any("far" in text for text in stated)
