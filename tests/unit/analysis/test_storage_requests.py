"""Transfers in requests: what depth, size and latency let through, worked out by hand."""

from __future__ import annotations

import pytest

from designer.engine.network import build_network
from designer.engine.transfers import TransferAnswer, evaluate_transfer
from designer.errors import AnalysisError
from designer.formulas.storage.read_rate import FILE_SHARE
from designer.formulas.storage.requests import operations_rate, request_rate
from designer.interchange.changes import apply_changes
from designer.interchange.templates import open_design
from designer.units import Bytes, BytesPerSecond, PerSecond, Seconds
from designer.workload.program import Move

KIB = 1024.0


def read(request: float, depth: int, threads: int = 1) -> TransferAnswer:
    """Host memory reads from a drive of 4 GB/s with 100 µs and 500,000 operations a second."""
    drive = {
        "type": "storage/generic/storage",
        "read_bandwidth": "4 GB/s",
        "access_latency": "100 us",
        "random_read_rate": "500000 1/s",
    }
    network = build_network(apply_changes(open_design("serving-h100-8"), {"parts": {"storage": drive}}, "t"))
    move = Move("storage", "memory", request=request, depth=depth, threads=threads, pairing="all")
    return evaluate_transfer(network, move, "w")


def test_one_request_at_a_time() -> None:
    """128 KiB in 100 µs + 32.8 µs is 0.987 GB/s; 4 at once 3.95 GB/s; 16 the 4 GB/s of the medium."""
    rates = [request_rate(Bytes(128 * KIB), n, Seconds(100e-6), BytesPerSecond(4e9)) / 1e9 for n in (1, 4, 16)]
    assert rates == pytest.approx([0.131072 / 0.132768, 4 * 0.131072 / 0.132768, 4.0])


def test_latency_alone_where_the_medium_is_not_known() -> None:
    """32 requests of 4 KiB in 80 µs each: 400,000 a second, 1.64 GB/s."""
    assert request_rate(Bytes(4 * KIB), 32, Seconds(80e-6)) == pytest.approx(400_000 * 4096)


def test_operations_pass_a_file_system_in_part() -> None:
    """A consumer drive of 1 M operations gives 707,000 of 4 KiB, as fio printed: 2.9 GB/s."""
    assert operations_rate(PerSecond(1e6), Bytes(4 * KIB)) == pytest.approx(707_062 * 4096, rel=0.02)


def test_flows_are_held_by_requests_in_flight() -> None:
    """Two flows, one request of 128 KiB each: twice 0.987 GB/s; threads count as depth does."""
    found = read(128 * KIB, 1)
    each = 0.131072 / 0.132768
    assert len(found.rate) == 2
    assert found.rate == pytest.approx([each * 1e9] * 2)
    assert found.binding[0].id == "requests"
    assert read(128 * KIB, 1, threads=2).rate == pytest.approx(read(128 * KIB, 2).rate)


def test_small_requests_are_held_by_operations() -> None:
    """500,000 × 4 KiB × 0.7 = 1.43 GB/s for both flows, whatever is in flight."""
    found = read(4 * KIB, 256)
    assert found.rate.sum() == pytest.approx(500_000 * 4096 * FILE_SHARE.value)
    assert found.binding[0].id.startswith("operations:")


def test_without_a_size_a_stream_has_the_medium() -> None:
    assert read(0.0, 1).rate.sum() == pytest.approx(4e9)


def test_nonsense_is_refused() -> None:
    with pytest.raises(AnalysisError, match="0 requests"):
        request_rate(Bytes(1.0), 0, Seconds(1.0))
