"""Transfers: published rates, limits, order of links and placements."""

import math
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designer.formulas.transfer import LinkClass, Placement, TransferProtocol, TransferSituation
from designer.formulas.transfer.achievable_fraction import achievable_fraction
from designer.formulas.transfer.pcie_rate import packet_efficiency, pcie_rate
from designer.formulas.transfer.series_of_stages import series_of_stages
from designer.formulas.transfer.transfer_time import transfer_time

GIB = 2.0**30
rates = st.floats(1e8, 1e12)


@pytest.mark.parametrize(
    ("generation", "lanes", "gigabytes"),
    [(1, 16, 4.0), (2, 4, 2.0), (3, 16, 15.754), (4, 8, 15.754), (5, 16, 63.015), (6, 16, 121.0)],
)
def test_raw_pcie_rates(generation: int, lanes: int, gigabytes: float) -> None:
    assert pcie_rate(generation, lanes) == pytest.approx(gigabytes * 1e9, rel=1e-4)


def test_unknown_pcie_is_refused() -> None:
    with pytest.raises(AssertionError):
        pcie_rate(8, 16)
    with pytest.raises(AssertionError):
        pcie_rate(5, 0)


@pytest.mark.parametrize(("payload", "low", "high"), [(128, 0.82, 0.86), (256, 0.90, 0.93), (512, 0.95, 0.96)])
def test_packets_leave_the_published_share(payload: float, low: float, high: float) -> None:
    assert low <= packet_efficiency(payload) <= high


@pytest.mark.parametrize("generation", [3, 4, 5])
def test_copies_stay_below_packet_efficiency(generation: int) -> None:
    assert achievable_fraction(LinkClass.PCIE, TransferProtocol.COPY, generation=generation).value <= packet_efficiency(
        512
    )


@pytest.mark.parametrize(("link", "protocol"), list(product(LinkClass, TransferProtocol)))
@pytest.mark.parametrize("both", [False, True])
def test_every_pair_has_an_answer_with_a_band(link: LinkClass, protocol: TransferProtocol, both: bool) -> None:
    for placement in Placement:
        share = achievable_fraction(link, protocol, placement=placement, both_directions=both, raw_bandwidth=30e9)
        assert 0 < share.low <= share.value <= 1
        assert share.high <= 1.05
        assert share.source


@pytest.mark.parametrize("protocol", [TransferProtocol.P2P, TransferProtocol.RDMA])
def test_placement_orders_pcie_peers(protocol: TransferProtocol) -> None:
    near, middle, far = (
        achievable_fraction(LinkClass.PCIE, protocol, generation=4, placement=placement).value
        for placement in (Placement.SAME_SWITCH, Placement.SAME_SOCKET, Placement.CROSS_SOCKET)
    )
    assert near > middle > far


def test_gpudirect_across_sockets_keeps_about_half() -> None:
    near = achievable_fraction(LinkClass.PCIE, TransferProtocol.RDMA)
    far = achievable_fraction(LinkClass.PCIE, TransferProtocol.RDMA, placement=Placement.CROSS_SOCKET)
    assert far.value / near.value == pytest.approx(0.48, abs=0.02)


@settings(deadline=None)
@given(st.sampled_from(list(LinkClass)), st.integers(1, 6))
def test_a_busy_opposite_direction_never_helps(link: LinkClass, generation: int) -> None:
    alone = achievable_fraction(link, TransferProtocol.COPY, generation=generation)
    busy = achievable_fraction(link, TransferProtocol.COPY, generation=generation, both_directions=True)
    assert busy.value <= alone.value


def test_unknown_generation_takes_the_usual_one() -> None:
    for link, usual in ((LinkClass.PCIE, 4), (LinkClass.NVLINK, 3)):
        assert achievable_fraction(link, TransferProtocol.COPY) == achievable_fraction(
            link, TransferProtocol.COPY, generation=usual
        )


def test_tcp_loses_more_on_fast_lines() -> None:
    shares = [
        achievable_fraction(LinkClass.ETHERNET, TransferProtocol.TCP, raw_bandwidth=rate).value
        for rate in (1.25e9, 12.5e9, 50e9)
    ]
    assert shares == sorted(shares, reverse=True)
    assert len(set(shares)) == 3


def test_cpu_loads_over_pcie_do_not_grow_with_the_link() -> None:
    slow, fast = (
        transfer_time(TransferSituation(LinkClass.PCIE, TransferProtocol.BAR_READ, raw, generation=generation))
        for raw, generation in ((15.75e9, 3), (63e9, 5))
    )
    assert slow.bandwidth == pytest.approx(fast.bandwidth)


@settings(deadline=None)
@given(rates, st.floats(0, 1e12), st.sampled_from(list(LinkClass)), st.sampled_from(list(TransferProtocol)))
def test_time_is_latency_plus_size_over_bandwidth(
    raw: float, size: float, link: LinkClass, protocol: TransferProtocol
) -> None:
    found = transfer_time(TransferSituation(link, protocol, raw, size=size))
    assert found.time == pytest.approx(found.latency_term + found.bandwidth_term)
    assert found.bandwidth * found.time == pytest.approx(size)
    assert found.bandwidth_low <= found.bandwidth <= found.bandwidth_high
    assert found.bandwidth <= raw


@settings(deadline=None)
@given(rates, st.floats(1, 1e11), st.floats(1.01, 10))
def test_larger_transfers_take_longer_and_run_faster(raw: float, size: float, factor: float) -> None:
    one = TransferSituation(LinkClass.PCIE, TransferProtocol.COPY, raw, size=size, generation=4)
    small, large = transfer_time(one), transfer_time(replace(one, size=size * factor))
    assert large.time > small.time
    assert large.bandwidth >= small.bandwidth * (1 - 1e-12)


@settings(deadline=None)
@given(st.floats(1.0, 100.0))
def test_kernel_loads_slow_down_smoothly_beyond_their_reach(gibibytes: float) -> None:
    one = TransferSituation(LinkClass.PCIE, TransferProtocol.SM_READ, 31.5e9, size=gibibytes * GIB, generation=4)
    found, larger = transfer_time(one), transfer_time(replace(one, size=1.01 * one.size))
    assert larger.bandwidth <= found.bandwidth * 1.001
    assert found.bandwidth / larger.bandwidth < 1.02


def test_host_memory_limits_a_coherent_link() -> None:
    one = TransferSituation(LinkClass.C2C, TransferProtocol.COPY, 450e9, host_memory_bandwidth=396e9)
    alone, both = transfer_time(one), transfer_time(replace(one, both_directions=True))
    assert alone.bandwidth == pytest.approx(368e9, rel=0.06)
    assert both.bandwidth == pytest.approx(173.6e9, rel=0.02)


def test_an_endless_transfer_gives_the_steady_rate() -> None:
    found = transfer_time(TransferSituation(LinkClass.NVLINK, TransferProtocol.COPY, 300e9, generation=3))
    assert math.isinf(found.time)
    assert found.bandwidth == pytest.approx(275e9, rel=0.01)


def test_impossible_transfers_are_refused() -> None:
    with pytest.raises(AssertionError):
        transfer_time(TransferSituation(LinkClass.PCIE, TransferProtocol.COPY, 0.0))
    with pytest.raises(AssertionError):
        transfer_time(TransferSituation(LinkClass.PCIE, TransferProtocol.COPY, 1e9, size=-1.0))


@settings(deadline=None)
@given(st.lists(rates, min_size=1, max_size=6))
def test_stages_in_series_are_slower_than_the_slowest(bandwidths: list[float]) -> None:
    found = series_of_stages(bandwidths)
    assert found <= min(bandwidths) * (1 + 1e-12)
    assert found >= min(bandwidths) / len(bandwidths) * (1 - 1e-12)


def test_stages_by_hand() -> None:
    assert series_of_stages([6.0, 3.0]) == pytest.approx(2.0)
    assert series_of_stages([6.0, 0.0]) == 0
    assert series_of_stages([]) == math.inf
    with pytest.raises(AssertionError):
        series_of_stages([-1.0])
