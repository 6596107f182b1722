"""Throughput on accelerators, in formats and of models that nothing was fitted on."""

from __future__ import annotations

from statistics import mean

from tests.validation.serving.unseen import GUIDE, band, by_group, errors, wide


def test_large_dense_models_in_4_bit_on_two_generations_nothing_was_fitted_on() -> None:
    dense = [v for k, v in by_group().items() if k[1].startswith("llama")]
    assert len(dense) == 4
    assert mean(error for _, error, _, _ in dense) <= 0.15


def test_mixtures_of_experts_in_4_bit_on_two_generations_nothing_was_fitted_on() -> None:
    """TensorRT-LLM runs them with CUTLASS by itself: by the kernels it has to be asked for, B200 was 27 % too fast."""
    mixed = [v for k, v in by_group().items() if not k[1].startswith("llama")]
    assert len(mixed) == 2
    assert max(error for _, error, _, _ in mixed) <= 0.13


def test_the_band_holds_four_of_five_of_all_loads() -> None:
    """It holds 58 of 60: four of five lie within .14, which is the width of the release on models it was fitted on."""
    inside = [abs(error) <= band(point) for point, error in errors()]
    assert 0.75 <= mean(inside) <= 0.97


def test_deepseek_on_eight_devices_that_attend_to_requests_of_their_own() -> None:
    """Too fast by 28, 7 and 13 %: the page next to this accounts for each step."""
    ratios = [wide(one) / one.measured for one in GUIDE]
    assert len(ratios) == 3
    assert max(ratios) <= 1.3
    assert min(ratios) >= 0.85
