"""Checkpoints written behind training: what they cost, on the clock and in the answer."""

from __future__ import annotations

import pytest

import designer
from designer.analysis.simulation import Simulation, simulate
from designer.analysis.study import analyze
from designer.design.document import Design
from designer.engine.results import WorkloadResult

TRAINING = "llama-2-7b-fsdp"
#: of c4-en in batches of eight
STEPS = 4_760_743


def designed(**settings: object) -> Design:
    design = designer.open_design("hgx-h100-8")
    spec = design.workloads[TRAINING]
    changed = spec.model_copy(update={"settings": {**spec.settings, **settings}})
    return design.model_copy(update={"workloads": {**design.workloads, TRAINING: changed}})


def answered(design: Design) -> WorkloadResult:
    return analyze(design, [TRAINING], curves=False).workloads[0]


def played(design: Design, until: float) -> Simulation:
    return simulate(design, [TRAINING], until=until, bands=False)


def steps_done(found: Simulation) -> int:
    return sum(task.step == "step" and task.done for task in found.run.tasks)


@pytest.mark.parametrize("every", [1, 20])
def test_the_time_to_train_is_what_the_clock_takes(every: int) -> None:
    """By hand: 0.4623 s a step, 0.212 s a copy, 2.483 s a write.

    Every step: the next copy waits for the write, so a step takes 2.483 + 0.212 = 2.695 s. Every 20 steps the write is
    done before the next copy is due: 0.4623 + 0.212 / 20 = 0.4729 s.
    """
    design = designed(checkpoint_every=every, snapshot=True)
    each = answered(design).metrics["time_to_train"].value / STEPS
    assert each == pytest.approx({1: 2.695, 20: 0.4729}[every], rel=1e-3)
    found = played(design, 300.0)
    assert 300.0 / steps_done(found) == pytest.approx(each, rel=0.01)


def test_a_step_takes_as_long_on_the_clock_as_in_the_answer() -> None:
    design = designed(checkpoint_every=1, snapshot=True)
    step = answered(design).metrics["step_time"].value
    assert played(design, 60.0).metrics[TRAINING]["step_time"].value == pytest.approx(step, rel=1e-6)


@pytest.mark.parametrize(("every", "late"), [(1, True), (5, True), (6, False), (100, False)])
def test_a_checkpoint_that_is_due_before_the_last_is_written_is_a_finding(every: int, late: bool) -> None:
    # 2.483 s of writing are 5.34 steps
    codes = {f.code for f in answered(designed(checkpoint_every=every, snapshot=True)).findings}
    assert ("TRAIN-CHECKPOINT" in codes) is late


def test_a_copy_that_waits_for_nothing_lets_training_go_on() -> None:
    found = played(designed(checkpoint_every=20, snapshot=True), 30.0)
    steps = {task.number: task for task in found.run.tasks if task.step == "step"}
    write = next(task for task in found.run.tasks if task.step == "checkpoint" and task.number == 19)
    # steps 20 and 21 begin one after the other while the checkpoint is written
    assert steps[21].began == pytest.approx(steps[20].ended, abs=1e-9)
    assert steps[21].ended < write.ended


@pytest.mark.parametrize("snapshot", [True, False])
def test_the_effective_time_of_a_long_run_is_that_of_the_answer(snapshot: bool) -> None:
    """A run draws its failures; the answer is the mean of all such runs."""
    design = designed(global_batch=64, checkpoint_every=10, snapshot=snapshot, time_between_failures="1200 s")
    mean = answered(design).metrics["ettr"].value
    assert played(design, 25_000.0).metrics[TRAINING]["ettr"].value == pytest.approx(mean, rel=0.1)
