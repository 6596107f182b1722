"""What storage servers deliver and take, worked out by hand."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.errors import AnalysisError
from designer.formulas.storage.client_rate import client_of, socket_rates
from designer.formulas.storage.storage_capacity import Client
from designer.formulas.storage.storage_servers import (
    CORE_WRITE,
    DRIVES_READ,
    PORTS_READ,
    PORTS_WRITE,
    Redundancy,
    Spread,
    StorageServers,
    busiest_share,
    forwarded,
    redundancy_of,
    server_rates,
    spread_of,
)
from designer.units import BytesPerSecond

GB = 1e9


def servers(
    count: int, network: float = 0.0, read: float = 0.0, write: float = 0.0, cores: float = 0.0
) -> StorageServers:
    return StorageServers(
        count, BytesPerSecond(network * GB), cores, BytesPerSecond(read * GB), BytesPerSecond(write * GB)
    )


def test_eight_servers_forward_what_they_take() -> None:
    """6+2 on 8 servers of 100 GB/s: of a byte 1 + 7/8 × 8/6 = 2.167 reach ports, 0.6 × 800 ÷ 2.167 = 221.5 GB/s."""
    described = dataclasses.replace(servers(8, 100, read=290), redundancy=Redundancy(6, 2), spread=Spread.SERVERS)
    found = server_rates(described)
    assert found is not None
    read, write = found
    assert read.value == pytest.approx(PORTS_READ.value * 800 * GB)
    assert write.value == pytest.approx(PORTS_WRITE.value * 800 / (1 + 7 / 8 * 8 / 6) * GB)
    assert read.stage == write.stage == "ports of the servers"


def test_drives_of_one_server_hold_both_back() -> None:
    """24 drives of 6 and 3 GB/s, 8+2 inside: 0.9 × 144 read, 0.8 × 72 ÷ 1.25 = 46.1 GB/s written."""
    described = dataclasses.replace(
        servers(1, 400, read=144, write=72), redundancy=Redundancy(8, 2), spread=Spread.INSIDE
    )
    found = server_rates(described)
    assert found is not None
    assert found[0].value == pytest.approx(DRIVES_READ.value * 144 * GB)
    assert found[1].value == pytest.approx(0.8 * 72 / 1.25 * GB)
    assert {one.stage for one in found} == {"drives of the servers"}


def test_writes_grow_with_the_cores_of_servers() -> None:
    """32 cores a node: 10 nodes take 352 GB/s where ports and drives are not known, and 30 nodes three times that."""
    ten, thirty = server_rates(servers(10, cores=32)), server_rates(servers(30, cores=32))
    assert ten is not None
    assert thirty is not None
    assert ten[1].value == pytest.approx(10 * 32 * CORE_WRITE.value)
    assert thirty[1].value == pytest.approx(3 * ten[1].value)


@pytest.mark.parametrize(("code", "factor"), [("8+2", 2.25), ("4+2", 2.5), ("8+3", 2.375), ("4+3", 2.75)])
def test_many_servers_forward_as_the_vendor_states(code: str, factor: float) -> None:
    """IBM states 2.25, 2.5, 2.4 and 2.75 for each byte; of 1,000 servers each keeps a thousandth."""
    described = dataclasses.replace(servers(1000, 10), redundancy=redundancy_of(code), spread=Spread.SERVERS)
    assert forwarded(described)[0] == pytest.approx(factor, rel=2e-3)


def test_who_distributes_is_read_from_the_protocol() -> None:
    assert spread_of("WEKA, DPDK") is Spread.SERVERS
    assert spread_of("DAOS") is Spread.CLIENT
    assert spread_of("Lustre") is Spread.INSIDE
    assert spread_of("InDataOS") is None
    clients = dataclasses.replace(servers(4, 100), redundancy=Redundancy(1, 2), spread=Spread.CLIENT)
    assert forwarded(clients) == (3.0, 3.0, 3.0)
    assert forwarded(dataclasses.replace(clients, spread=Spread.INSIDE)) == (1.0, 1.0, 1.0)


def test_copies_and_words_of_redundancy() -> None:
    assert redundancy_of("3 copies") == Redundancy(1, 2)
    assert redundancy_of("RAID 6, 8 + 2").written == pytest.approx(1.25)
    assert redundancy_of("none").written == 1.0
    with pytest.raises(AnalysisError, match="twice"):
        redundancy_of("twice")


def test_nothing_known_is_no_answer_and_nonsense_is_refused() -> None:
    assert server_rates(servers(4)) is None
    with pytest.raises(AnalysisError, match="-1 storage servers"):
        server_rates(servers(-1, 10))


@given(
    count=st.integers(0, 64),
    figures=st.tuples(*[st.floats(0, 500) for _ in range(4)]),
    spread=st.sampled_from([None, *Spread]),
)
def test_bands_hold_the_value_and_more_ports_never_slow_down(
    count: int, figures: tuple[float, float, float, float], spread: Spread | None
) -> None:
    network, read, write, cores = figures
    described = dataclasses.replace(servers(count, network, read, write, cores), spread=spread)
    found = server_rates(described)
    more = server_rates(dataclasses.replace(described, network=BytesPerSecond(2 * described.network)))
    if found is None or more is None:
        return
    for one, other in zip(found, more, strict=True):
        assert 0 < one.low <= one.value <= one.high
        assert other.value >= one.value


def test_clients_are_known_by_the_words_of_a_protocol() -> None:
    assert client_of("NFSv3, TCP") is Client.NFS
    assert client_of("NFS, RDMA") is Client.PARALLEL
    assert client_of("Lustre over RoCE") is Client.LUSTRE
    assert client_of("NVMe over TCP") is Client.BLOCK
    assert socket_rates(Client.PARALLEL) is None


def test_files_on_few_servers_leave_the_others_idle() -> None:
    """Eight files on 30 servers keep 8 busy; of ten on eight one server keeps two; 1,000 on 30 at most 34 each."""
    assert busiest_share(8, 30, 1)[0] == pytest.approx(8 / 30)
    assert busiest_share(8, 30, 2)[0] == pytest.approx(16 / 30)
    assert busiest_share(10, 8, 1)[0] == pytest.approx(1.25 / 2)
    value, low = busiest_share(1000, 30, 1)
    assert value == pytest.approx(1000 / 30 / 34)
    # placed at random the fullest holds about 34 + 15
    assert low == pytest.approx(33.33 / (34 + 15.06), rel=1e-3)
    assert busiest_share(3, 4, 4) == (1.0, 1.0)
    with pytest.raises(AnalysisError, match="0 files"):
        busiest_share(0, 4, 1)


def test_forwarding_of_writes_by_hand() -> None:
    """8+2 on ten servers: 1 + 1.25 x 0.9 = 2.125 bytes at the ports for each; three copies on four 1 + 3 x 0.75."""
    assert forwarded(StorageServers(10, redundancy=Redundancy(8, 2)))[0] == pytest.approx(2.125)
    assert forwarded(StorageServers(4, redundancy=Redundancy(1, 2)))[0] == pytest.approx(3.25)
