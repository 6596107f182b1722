"""How long a step waits for samples, and how sure that is, worked out by hand."""

from __future__ import annotations

import math

import pytest

from designer.analysis.study import analyze
from designer.interchange.templates import open_design
from designer.sources import Estimate


def of(template: str, workload: str) -> dict[str, Estimate]:
    return dict(analyze(open_design(template), [workload], curves=False).workloads[0].metrics)


def test_waiting_is_what_reading_takes_beyond_computing() -> None:
    """178 ms to read (170 to 188), 25.8 ms to compute (14.4 to 52.7): 153 ms, less 28 or more 15 ms.

    No more than both at their worst allow, 170 - 53 = 117 and 188 - 14 = 173 ms, and never from nothing.
    """
    found = of("hpe-apollo-6500-nfs", "googlenet-nfs")
    stall, reading, step = (found[name] for name in ("input_stall", "input_time", "step_time"))
    assert step.value == pytest.approx(reading.value)
    busy = step.value - stall.value
    computing = found["compute_time"]
    assert busy == pytest.approx(computing.value, rel=0.02)
    longer, shorter = computing.high - computing.value, computing.value - computing.low
    assert stall.low == pytest.approx(stall.value - math.hypot(reading.value - reading.low, longer), rel=0.01)
    assert stall.high == pytest.approx(stall.value + math.hypot(reading.high - reading.value, shorter), rel=0.01)
    assert 0.117 < stall.low < stall.value < stall.high < 0.173


def test_without_batches_ahead_all_reading_is_waiting() -> None:
    found = of("m40-server", "resnet-18-serial")
    stall, reading = found["input_stall"], found["input_time"]
    assert (stall.value, stall.low, stall.high) == (reading.value, reading.low, reading.high)


def test_no_waiting_where_reading_is_over_long_before() -> None:
    """6.9 ms to read next to 38 ms of computing."""
    stall = of("hgx-h100-8", "resnet-50")["input_stall"]
    assert (stall.value, stall.low, stall.high) == (0.0, 0.0, 0.0)
