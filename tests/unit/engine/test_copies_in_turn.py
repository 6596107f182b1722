"""Copies one after another against all at once, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from designer.analysis.study import run_workload
from designer.design.document import WorkloadSpec
from designer.engine.network import build_network
from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError
from designer.interchange.templates import open_design


def moved(template: str, **settings: Any) -> WorkloadResult:
    spec = WorkloadSpec(id="w", kind="transfer", settings=settings)
    return run_workload(build_network(open_design(template)), spec)[0]


def value(found: WorkloadResult, name: str) -> float:
    return found.metrics[name].value


@pytest.mark.parametrize("ends", [("memory", "gpus"), ("gpus", "memory")])
def test_copies_that_share_nothing_take_eight_times_as_long_in_turn(ends: tuple[str, str]) -> None:
    """Eight accelerators with a link each: all at once 443.6 GB/s, one after another 55.45 GB/s; both directions."""
    asked = {"from": ends[0], "to": ends[1], "size": "16 GiB"}
    at_once, in_turn = moved("hgx-h100-8", **asked), moved("hgx-h100-8", one_by_one=True, **asked)
    assert value(in_turn, "transfer_time") == pytest.approx(8 * value(at_once, "transfer_time"), rel=1e-3)
    assert value(in_turn, "rate") == pytest.approx(value(at_once, "rate") / 8, rel=1e-3)
    assert value(in_turn, "data_rate_per_gpu") == pytest.approx(value(at_once, "data_rate_per_gpu"))


def test_copies_that_share_a_link_lose_only_what_others_had_beside_it() -> None:
    """Two accelerators behind each of four switches: alone each has 12.1 GB/s, together 6.07; 4 links idle in turn."""
    asked = {"from": "memory", "to": "gpus", "size": "1 GiB"}
    at_once, in_turn = (moved("hpe-apollo-6500-nfs", one_by_one=flag, **asked) for flag in (False, True))
    assert value(in_turn, "data_rate_per_gpu") == pytest.approx(2 * value(at_once, "data_rate_per_gpu"))
    assert value(in_turn, "transfer_time") == pytest.approx(4 * value(at_once, "transfer_time"), rel=1e-3)


def test_every_small_copy_starts_for_itself() -> None:
    """4 kB to each of eight: the starts of copies add up, while all at once they pass at the same time."""
    asked = {"from": "memory", "to": "gpus", "size": "4 kB"}
    at_once, in_turn = (moved("hgx-h100-8", one_by_one=flag, **asked) for flag in (False, True))
    assert value(in_turn, "transfer_time") == pytest.approx(8 * value(at_once, "transfer_time"), rel=1e-3)
    estimate = in_turn.metrics["transfer_time"]
    assert estimate.low < 0.9 * estimate.value < 1.1 * estimate.value < estimate.high


def test_requests_to_a_store_are_in_flight_for_one_copy_alone() -> None:
    """4 KiB, one at a time: 50.8 MB/s from a drive, whether the other seven read as well or not."""
    asked = {"from": "drives", "to": "gpus", "io_size": "4 KiB"}
    at_once, in_turn = (moved("hgx-h100-8", one_by_one=flag, **asked) for flag in (False, True))
    assert value(in_turn, "rate") == pytest.approx(value(at_once, "rate") / 8, rel=1e-3)
    assert value(in_turn, "data_rate_per_gpu") == pytest.approx(4096 / (80e-6 + 4096 / 6.9e9), rel=1e-3)


def test_both_ways_at_once_is_not_one_after_another() -> None:
    with pytest.raises(AnalysisError, match="both ways"):
        moved("hgx-h100-8", one_by_one=True, both_ways=True)
