"""Data loading: requests that workers keep in flight, and how busy a given number of accelerators is."""

from __future__ import annotations

from typing import Any

import pytest

from designer.analysis.study import run_workload
from designer.design.document import WorkloadSpec
from designer.engine.network import build_network
from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError
from designer.interchange.templates import open_design

#: eight accelerators, each with a drive of 6.9 GB/s that answers in 80 us
DESIGN = "hgx-h100-8"
DRIVE, LATENCY = 6.9e9, 80e-6
SAMPLE = 146600628


def loaded(**settings: Any) -> WorkloadResult:
    given = {"dataset": "mlperf-storage-unet3d", "source": "drives", "decode": "none", **settings}
    spec = WorkloadSpec(id="w", kind="data_loading", settings=given)
    return run_workload(build_network(open_design(DESIGN)), spec)[0]


def rate(**settings: Any) -> float:
    return loaded(**settings).metrics["rate"].value


def test_one_request_at_a_time_waits_for_the_drive() -> None:
    """4 KiB in 80 us and 0.6 us of transfer: 50.8 MB/s from each of eight drives."""
    assert rate(io_size="4 KiB", workers=1) == pytest.approx(8 * 4096 / (LATENCY + 4096 / DRIVE), rel=1e-3)


def test_workers_and_depth_multiply() -> None:
    """Two workers with four requests each are as eight workers with one; both are eight times one."""
    one = rate(io_size="4 KiB", workers=1)
    assert rate(io_size="4 KiB", workers=2, queue_depth=4) == pytest.approx(8 * one)
    assert rate(io_size="4 KiB", workers=8) == pytest.approx(8 * one)


def test_many_requests_give_what_streams_do() -> None:
    """8 workers of 1 MiB keep 8.4 MB in flight: 36 GB/s in 0.23 ms, more than any drive has."""
    assert rate(io_size="1 MiB") == pytest.approx(rate())


def test_what_the_page_cache_serves_needs_no_request() -> None:
    """Half of the reads miss: twice as much arrives."""
    one = rate(io_size="4 KiB", workers=1)
    assert rate(io_size="4 KiB", workers=1, cached=0.5) == pytest.approx(2 * one)


@pytest.mark.parametrize(
    ("compute", "utilization"),
    [
        # computing 323 ms, waiting 0.74 + 3 doublings of 3.23 ms; reading 7 samples at 4.83 GB/s takes 212 ms
        (0.323, 0.323 / (0.323 + 0.74e-3 + 3 * 3.23e-3)),
        # computing 162 ms: the drives decide
        (0.1621, 0.1621 / (7 * SAMPLE / (0.7 * DRIVE))),
    ],
)
def test_a_given_number_of_accelerators_is_kept_so_busy(compute: float, utilization: float) -> None:
    found = loaded(batch=7, measured_compute=f"{compute} s").metrics
    assert found["gpu_utilization"].value == pytest.approx(utilization, rel=1e-3)
    asked = 8 * 7 * SAMPLE / compute
    assert found["delivered_rate"].value == pytest.approx(asked * utilization, rel=1e-3)
    assert found["delivered_rate"].value <= found["rate"].value * (1 + 1e-9)
    assert found["delivered_rate"].low <= found["delivered_rate"].value <= found["delivered_rate"].high


def test_without_computing_no_utilization_is_stated() -> None:
    assert "gpu_utilization" not in loaded().metrics


def test_a_queue_depth_of_nothing_is_refused() -> None:
    with pytest.raises(AnalysisError, match="without a request"):
        loaded(io_size="4 KiB", queue_depth=0)
