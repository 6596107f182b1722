"""Faster accelerators in a training step: limited by power, and next to slower ones."""

from __future__ import annotations

import pytest

from designer.analysis.study import analyze
from designer.design.document import Design
from designer.interchange.overrides import overridden
from designer.interchange.templates import open_design

PEAK = 989e12


def compute_time(design: Design) -> float:
    return analyze(design, ["llama-2-7b-fsdp"], curves=False).workloads[0].metrics["compute_time"].value


@pytest.fixture(scope="module")
def drawn() -> Design:
    return open_design("hgx-h100-8")


def test_a_higher_peak_at_the_same_power_is_never_slower(drawn: Design) -> None:
    rates = (989, 1300, 1978, 2637, 3000, 3500, 3956, 7912)
    times = [compute_time(overridden(drawn, [f"parts.gpu*.flops_bf16={rate} TFLOP/s"])) for rate in rates]
    assert times == sorted(times, reverse=True)
    assert times[0] > 1.3 * times[2]


def test_faster_units_of_another_format_change_nothing(drawn: Design) -> None:
    """The job runs in bf16: what fp16 units could do draws no power."""
    other = overridden(drawn, [f"parts.gpu*.flops_fp16={4 * PEAK / 1e12} TFLOP/s"])
    assert compute_time(other) == pytest.approx(compute_time(drawn), rel=1e-12)


@pytest.mark.parametrize("field", ["flops_bf16", "memory_bandwidth"])
def test_one_faster_accelerator_waits_for_the_others(drawn: Design, field: str) -> None:
    value = {"flops_bf16": "3956 TFLOP/s", "memory_bandwidth": "13.4 TB/s"}[field]
    mixed = overridden(drawn, [f"parts.gpu0.{field}={value}"])
    assert compute_time(mixed) == pytest.approx(compute_time(drawn), rel=1e-12)


def test_all_wait_for_the_one_that_takes_longest(drawn: Design) -> None:
    """A faster peak does not make up for a tenth of the memory bandwidth, nor the other way round."""
    slow = overridden(drawn, ["parts.gpu*.memory_bandwidth=335 GB/s", "parts.gpu*.flops_bf16=1978 TFLOP/s"])
    one = overridden(drawn, ["parts.gpu3.memory_bandwidth=335 GB/s", "parts.gpu3.flops_bf16=1978 TFLOP/s"])
    assert compute_time(slow) > compute_time(drawn)
    assert compute_time(one) == pytest.approx(compute_time(slow), rel=1e-12)
