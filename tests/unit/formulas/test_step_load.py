"""Power over a training step, and clocks under a power cap."""

from __future__ import annotations

import pytest

import designer
from designer.analysis.study import analyze
from designer.design.document import Design, with_changes
from designer.engine.results import WorkloadResult
from designer.fields import Quantity
from designer.formulas.power.server_power import AROUND
from designer.formulas.power.step_load import EXPONENT, capped_clock, profile, step_load
from designer.report.figures.power_step import build, job_load
from designer.sources import Status
from designer.units import Ratio, Seconds, Watts


def _with(design: Design, name: str, value: str) -> Design:
    stated = Quantity(value=value, source="given", status=Status.ASSUMED)
    parts = [
        with_changes(p, overrides={**p.overrides, name: stated}) if p.kind == "gpu" else p
        for p in design.parts.values()
    ]
    return with_changes(design, parts=parts)


def _training(design: Design) -> WorkloadResult:
    return analyze(design, ["llama-2-7b-fsdp"]).workloads[0]


def test_a_step_of_two_phases_by_hand() -> None:
    load = step_load(Watts(700), Watts(280), Seconds(0.8), Seconds(0.2), Watts(0))
    # (700 x 0.8 + 280 x 0.2) / 1 s
    assert (load.mean, load.swing, load.seconds) == pytest.approx((616.0, 420.0, 1.0))


def test_smoothing_keeps_the_floor_and_costs_its_energy() -> None:
    # a floor of 90 % of 700 W leaves a swing of 70 W and adds 350 W over a fifth of the step
    load = step_load(Watts(700), Watts(280), Seconds(0.8), Seconds(0.2), Watts(630))
    assert (load.low, load.swing) == pytest.approx((630.0, 70.0))
    assert load.mean == pytest.approx(616.0 + 350.0 * 0.2)


def test_a_cap_below_the_draw_lowers_the_clock() -> None:
    # idle 175 W; 325 of 525 W above it, to the fourth root
    assert capped_clock(Watts(700), Watts(500), Watts(700)) == pytest.approx((325 / 525) ** 0.25)
    assert capped_clock(Watts(400), Watts(500), Watts(700)) == 1.0
    assert capped_clock(Watts(700), Watts(100), Watts(700)) == 0.0


def test_the_published_cap_on_language_models_is_within_the_band() -> None:
    # 150 of 250 W on V100: 6.8 % longer with 13.7 % less energy (arXiv:2205.09646)
    drawn = Watts(150 * 1.068 / 0.863)
    longer = [1 / capped_clock(drawn, Watts(150), Watts(250), Ratio(e)) for e in (EXPONENT.low, EXPONENT.high)]
    assert longer[1] <= 1.068 <= longer[0]


def test_the_rate_of_training_follows_a_cap() -> None:
    design = designer.open_design("hgx-h100-8")
    free, capped = _training(design), _training(_with(design, "power_cap", "500 W"))
    slower = capped.metrics["compute_time"].value / free.metrics["compute_time"].value
    # arithmetic slows by 1 / 0.887, what memory limits does not
    assert 1.05 < slower <= 1 / (325 / 525) ** 0.25 + 1e-6
    assert _training(_with(design, "power_cap", "700 W")).metrics == free.metrics


def test_power_over_the_step_of_a_run() -> None:
    design = designer.open_design("hgx-h100-8")
    result = _training(design)
    found = job_load(design, result)
    assert found is not None
    assert found.accelerators == 8
    assert found.around == pytest.approx(8 * AROUND.value)
    assert found.one.seconds == pytest.approx(result.metrics["step_time"].value, rel=1e-6)
    assert found.one.high <= 700
    assert found.swing == pytest.approx(8 * (found.one.high - 0.4 * 700))
    figure = build(design, analyze(design, ["llama-2-7b-fsdp"]), result)
    assert figure is not None
    smooth = job_load(_with(design, "power_floor", "0.9"), result)
    assert smooth is not None
    assert smooth.swing == pytest.approx(8 * (found.one.high - min(0.9 * 700, found.one.high)))


def test_a_transfer_has_no_step() -> None:
    design = designer.open_design("hgx-h100-8")
    assert job_load(design, analyze(design, ["h2d"]).workloads[0]) is None


def test_a_profile_has_two_corners_for_each_phase() -> None:
    assert profile([(1.0, 5.0), (2.0, 3.0)]) == ((0.0, 1.0, 1.0, 3.0), (5.0, 5.0, 3.0, 3.0))
