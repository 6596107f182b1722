"""Transfers: published rates, limits, order of links and placements."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designer.formulas.transfer import LinkClass, Placement, TransferProtocol
from designer.formulas.transfer.achievable_fraction import achievable_fraction
from designer.formulas.transfer.pcie_rate import pcie_rate


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
