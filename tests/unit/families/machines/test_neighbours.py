"""Migrations next to other workloads: programs on one clock, with and without each other."""

from __future__ import annotations

import math

import numpy as np
import pytest

from designer.analysis.simulation import simulate
from designer.analysis.study import analyze
from designer.design.document import Design, WorkloadSpec, replaced, with_changes
from designer.engine.clock.jobs import job_of
from designer.engine.costs import Cost, Priced, Prices
from designer.engine.network import build_network
from designer.families.machines.formulas.vmotion_streams import LINE_SHARE
from designer.families.machines.moves import Moves, Neighbour, moves_of
from designer.families.machines.operations import Conditions, Migration
from designer.families.machines.planner import departures
from designer.workload.program import Delay, Measure, Program, Step
from tests.unit.families.machines.machines import cluster, plain_cluster

LINE = 25e9 / 8


def moved(*steps: tuple[float, float, float]) -> Moves:
    """One machine from host 0 to host 1, next to trainings that compute and then fill the cable of host 0.

    Parameters
    ----------
    steps
        Of each training: how long it computes, sends after that, and sends meanwhile, where nobody else is [s].
    """
    network = build_network(plain_cluster(2, 1))
    prices, operation = Prices(network), Migration(Conditions(dirty_rate=0.0), ("vm0-0",), target="hosts[1]/server")
    plan = departures(network, operation, "w")
    entries, _ = plan.model.migration_paths.entries(0)
    cable = next(r for r in entries.tolist() if r < network.n_resources and network.capacity[r] == LINE)
    beside: list[Neighbour] = []
    for k, (computing, shown, hidden) in enumerate(steps):
        last = {"send": 1}
        program = (
            Step("compute", Delay(computing), lags=last),
            Step("hide", sends(cable, hidden), lags=last),
            Step("send", sends(cable, shown), ("compute", "hide"), last),
        )
        measures = (Measure("step_time", "s", "period", "send"),)
        job = job_of(Program(f"train{k}", program, math.inf, measures=measures))
        beside.append(Neighbour(job.name, job.name, job, max(computing, hidden) + shown))
    return moves_of(prices, plan, operation, "move", "migration_time", beside, explained=True, cancelled=None)


def sends(cable: int, seconds: float) -> Priced:
    """All of a cable for so many seconds, where nobody else is."""
    one, none = np.ones(1), np.zeros(1)
    return Priced(
        Cost(np.array([0, 1]), np.array([cable]), one, one * LINE * seconds, one * LINE, one, none, np.array([-1]))
    )


def test_a_step_that_communicates_a_fifth_of_its_time() -> None:
    """It computes for 0.8 s, then sends for 0.2 s over the cable that a machine leaves by.

    While it sends, the two share the cable: its 0.2 s become 0.2 · (1 + 1 ÷ 0.94) = 0.41 s, for payload p fills
    p ÷ 0.94 of the cable. So a step takes 1.21 s, and the machine has the cable for 0.8 s of it, and
    LINE ÷ (1 + 1 ÷ 0.94) of it for the rest.
    """
    alone, found = moved(), moved((0.8, 0.2, 0.0))
    rate = LINE * LINE_SHARE.value
    assert alone.moved[0].rate == pytest.approx(rate)
    on = LINE / (1 + 1 / LINE_SHARE.value)
    step = 0.8 + 0.2 * LINE / on
    assert found.neighbour_rates[0].times == pytest.approx(step, rel=0.01)
    mean = (0.8 * rate + 0.2 * LINE / on * on) / step
    assert found.moved[0].rate == pytest.approx(mean, rel=0.01)
    waits = 5.2
    assert found.time.value == pytest.approx(waits + (alone.time.value - waits) * rate / mean, rel=0.01)


def test_what_hides_behind_computing_makes_no_step_longer_until_it_comes_out() -> None:
    """0.3 s of traffic behind 0.8 s of computing: at 48 % of the cable it takes 0.62 s and still hides.

    A machine meets it for 0.62 s of 0.8 s: (0.18 + 0.62 · 0.516) ÷ 0.8 = 62 % of what it gets alone.
    """
    alone, found = moved(), moved((0.8, 0.0, 0.3))
    assert found.neighbour_rates[0].times == pytest.approx(1.0)
    assert found.moved[0].rate / alone.moved[0].rate == pytest.approx(0.625, abs=0.015)
    # with 0.5 s it comes out: at half of the cable 1.03 s
    assert moved((0.8, 0.0, 0.5)).neighbour_rates[0].times == pytest.approx(0.5 * (1 + 1 / 0.94) / 0.8, rel=0.01)


def test_more_trainings_leave_less_of_the_cable() -> None:
    none, one, both = (moved(*[(0.5, 0.5, 0.0)] * n).moved[0].rate for n in (0, 1, 2))
    assert none / 3 < both < one < none


def one_network(batch: int) -> Design:
    """The shipped cluster where migrations share the cables of a training over two hosts."""
    design = cluster()
    group = design.groups["hosts"]
    parts = {k: p for k, p in group.content.parts.items() if k not in ("nic0", "storage_nic0")}
    links = {k: x for k, x in group.content.links.items() if not {x.a, x.b} & {"nic0", "storage_nic0"}}
    content = with_changes(group.content, parts=parts, links=links)
    job = {"model": "gpt2-xl", "group": "hosts[0]/gpu*, hosts[1]/gpu*", "global_batch": batch, "dataset": ""}
    move = {"vms": "web0", "to": "hosts[1]/server"}
    specs = [
        WorkloadSpec(id="train", kind="training", settings=job),
        WorkloadSpec(id="move", kind="vmotion", settings={**move, "background": "train"}),
        WorkloadSpec(id="alone", kind="vmotion", settings=move),
    ]
    return with_changes(
        design,
        groups=replaced(design.groups, [with_changes(group, content=content)]),
        wirings={"vmotion_network": design.wirings["vmotion_network"]},
        vms={"web0": design.vms["web0"]},
        workloads=replaced({}, specs),
    )


@pytest.mark.parametrize(("batch", "near"), [(16, 0.02), (64, 0.02), (256, 0.06)])
def test_the_steady_answer_is_what_the_clock_says(batch: int, near: float) -> None:
    """The migration lasts for many steps of a small batch, and for three of a large one, so phases count there."""
    design = one_network(batch)
    stated = {one.id: one for one in analyze(design, ["train", "move", "alone"], curves=False).workloads}
    run = simulate(design, ["move"], until=250.0, bands=False)
    time = stated["move"].metrics["migration_time"]
    assert time.value == pytest.approx(run.metrics["move"]["migration_time"].value, rel=near)
    assert time.low <= run.metrics["move"]["migration_time"].value <= time.high
    assert stated["alone"].metrics["migration_time"].value < time.value
    # what the training loses
    beside = stated["move"].tables["background"].rows[0]
    lost = next(m for m in run.meetings if m.workload == "train")
    assert 1 / float(str(beside[3])) == pytest.approx(lost.times, rel=0.01)
    assert any(f.code == "MIG-BESIDE" and f"{lost.times:.2f} times" in f.text for f in stated["move"].findings)


def test_the_less_a_training_communicates_the_less_a_migration_loses() -> None:
    times: list[float] = []
    widths: list[float] = []
    for batch in (16, 64, 256, 1024):
        result = analyze(one_network(batch), ["move"], curves=False).workloads[0]
        m = result.metrics["migration_time"]
        times.append(m.value)
        widths.append(math.log(m.high / m.low))
    assert times == sorted(times, reverse=True)
    # as long as a single step the migration may meet all of its traffic or none: the band is wider than over many
    assert widths[-1] > widths[0]


def test_no_band_is_quicker_than_without_the_training() -> None:
    move, alone = (
        one.metrics["migration_time"] for one in analyze(one_network(1024), ["move", "alone"], curves=False).workloads
    )
    assert alone.low * (1 - 1e-9) <= move.low < alone.value < move.value < move.high
