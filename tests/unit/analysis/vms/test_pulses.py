"""A migration beside a training: it meets communication for its share of the time, not always."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.analysis.flows import Incidence
from designer.analysis.network import build_network
from designer.analysis.simulation import simulate
from designer.analysis.study import analyze
from designer.analysis.vms.hosts import find_hosts
from designer.analysis.vms.migration_paths import Background, MigrationPaths, MigrationTransfer
from designer.analysis.vms.pulses import Pulses, span, turns
from designer.design.document import Design, WorkloadSpec, replaced, with_changes
from designer.formulas.migration.vmotion_streams import LINE_SHARE
from designer.units import Seconds
from tests.unit.analysis.vms.machines import cluster, plain_cluster

LINE = 25e9 / 8


def paths(*pulses: Pulses) -> MigrationPaths:
    """One machine from host 0 to host 1, beside steps whose group fills the cable of host 0 while it communicates."""
    network = build_network(plain_cluster(2, 1))
    one, other = (find_hosts(network).by_path[f"hosts[{k}]/server"] for k in (0, 1))
    move = MigrationTransfer("vm0-0", one, other, (0,), (0,))
    alone = MigrationPaths(network, [move], {}, LINE_SHARE)
    cable = next(r for r in alone.incidence.resource.tolist() if network.capacity[r] == LINE)
    row = Incidence(
        np.array([0, 1]), np.array([cable], dtype=np.int32), np.ones(1), network.capacity, np.ones(1), np.array([LINE])
    )
    beside = [Background(f"train{k}", f"train{k}", row, (), each) for k, each in enumerate(pulses)]
    return MigrationPaths(network, [move], {}, LINE_SHARE, beside)


def test_a_step_that_communicates_a_fifth_of_its_time() -> None:
    """It computes for 0.8 s, then sends for 0.2 s over the cable that a machine leaves by.

    While it sends, the two share the cable: its 0.2 s become twice that, so a step takes 0.8 + 0.4 = 1.2 s, 1.2 times
    as long. The machine has the cable for 0.8 s of each 1.2 s, and half of it for 0.4 s: (0.8 + 0.4 ÷ 2) ÷ 1.2 = 83 %
    of what it gets alone. Payload of migrations is 94 % of the cable, so half of the cable carries 94 % of half.
    """
    pulses = Pulses(0.8, np.zeros(1), np.array([0.2]))
    found = paths(pulses)
    alone = float(paths().rates([0])[0])
    assert alone == pytest.approx(LINE * LINE_SHARE.value)
    # shares of a cable are of what both put through: payload p and its headers fill p/0.94 of it
    on = LINE / (1 + 1 / LINE_SHARE.value)
    kept = on / LINE
    step = 0.8 + 0.2 / kept
    assert found.longer([0], 0) == pytest.approx(step)
    assert float(found.rates([0])[0]) == pytest.approx((0.8 * alone + 0.2 / kept * on) / step)
    assert float(found.rates([0])[0]) / alone == pytest.approx(0.83, abs=0.01)
    # what always-on said: half, however little the training sends
    always = MigrationPaths(
        found.network, found.transfers, {}, LINE_SHARE, [each.there(1.0) for each in found.background]
    )
    assert float(always.rates([0])[0]) == pytest.approx(on)
    never = MigrationPaths(
        found.network, found.transfers, {}, LINE_SHARE, [each.there(0.0) for each in found.background]
    )
    assert float(never.rates([0])[0]) == pytest.approx(alone)


def test_what_hides_behind_computing_makes_no_step_longer_until_it_comes_out() -> None:
    """0.3 s of traffic behind 0.8 s of computing: at half of the cable it takes 0.6 s and still hides, at a third not.

    A machine meets it for 0.6 s of 0.8 s: (0.2 + 0.6 ÷ 2) ÷ 0.8 = 62 % of what it gets alone.
    """
    pulses = Pulses(0.8, np.array([0.3]), np.zeros(1))
    assert pulses.times(np.array([0.5])) == pytest.approx(1.0)
    assert pulses.shares(np.array([0.5])).tolist() == pytest.approx([0.75])
    # 0.3 s at a third are 0.9 s, 0.1 s more than computing
    assert pulses.times(np.array([1 / 3])) == pytest.approx(0.9 / 0.8)
    found = paths(pulses)
    assert found.longer([0], 0) == pytest.approx(1.0)
    assert float(found.rates([0])[0]) / float(paths().rates([0])[0]) == pytest.approx(0.625, abs=0.015)


def test_two_trainings_whose_phases_nobody_knows() -> None:
    """Each sends for half of its step. Both at once for a quarter of the time, none for a quarter, where nobody moves.

    A machine beside both gets less than beside one, and more than the third of the cable it has while both send.
    """
    told = {turn.groups: turn.share for turn in turns({0: np.array([0.5]), 1: np.array([0.5])})}
    assert told == {(-1, -1): 0.25, (-1, 0): 0.25, (0, -1): 0.25, (0, 0): 0.25}
    half = Pulses(0.5, np.zeros(1), np.array([0.5]))
    one, both = (float(paths(*[half] * n).rates([0])[0]) for n in (1, 2))
    alone = float(paths().rates([0])[0])
    assert alone / 3 < both < one < alone


@given(st.floats(0.01, 50), st.floats(1, 5), st.floats(0.02, 0.98), st.floats(0.1, 20), st.integers(0, 99))
def test_any_beginning_lies_between_the_least_and_the_most(
    off: float, slower: float, duty: float, every: float, at: int
) -> None:
    on, busy = off * slower, duty * every
    least, most = span(Seconds(off), Seconds(on), Seconds(busy), Seconds(every))
    assert off * (1 - 1e-9) <= least <= most * (1 + 1e-9)
    assert most <= on * (1 + 1e-9)
    # step by step from a beginning somewhere in the period
    now, left, time = at / 100 * every, 1.0, 0.0
    while left > 1e-12:
        inside = now % every
        room, pace = (busy - inside, on) if inside < busy * (1 - 1e-12) else (every - inside, off)
        room = max(room, 1e-9 * every)
        took = min(room, left * pace)
        time, now, left = time + took, now + took, left - took / pace
    assert least * (1 - 1e-6) - 1e-6 * every <= time <= most * (1 + 1e-6) + 1e-6 * every


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
    told = {one.id: one for one in analyze(design, ["train", "move", "alone"], curves=False).workloads}
    run = simulate(design, ["move"], until=250.0, bands=False)
    time = told["move"].metrics["migration_time"]
    assert time.value == pytest.approx(run.metrics["move"]["migration_time"].value, rel=near)
    assert time.low <= run.metrics["move"]["migration_time"].value <= time.high
    assert told["alone"].metrics["migration_time"].value < time.value
    # what the training loses
    beside = told["move"].tables["background"].rows[0]
    lost = next(m for m in run.meetings if m.workload == "train")
    assert 1 / float(str(beside[3])) == pytest.approx(lost.times, rel=0.01)
    assert any(f.code == "MIG-BESIDE" and f"{lost.times:.2f} times" in f.text for f in told["move"].findings)


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
