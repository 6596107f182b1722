"""Storage: transfers in requests, and systems drawn by servers, by what they are provisioned for, or by ports."""

from __future__ import annotations

import math

import pytest

from designer.analysis.study import run_workload
from designer.design.document import WorkloadSpec
from designer.engine.network import Network, build_network
from designer.engine.network.storage import UNDRAWN_WRITES
from designer.engine.transfers import TransferAnswer, evaluate_transfer
from designer.errors import AnalysisError
from designer.families.training.checkpoints import restored, saved, state_band
from designer.formulas.storage.client_rate import socket_rates
from designer.formulas.storage.read_rate import FILE_SHARE
from designer.formulas.storage.requests import cached_write_rate, operations_rate, request_rate
from designer.formulas.storage.storage_capacity import Client
from designer.formulas.transfer._constants import NETWORK_WRITE
from designer.interchange.changes import apply_changes
from designer.interchange.templates import open_design
from designer.units import Bytes, BytesPerSecond, PerSecond, Seconds
from designer.workload.jobs import STREAMS, Requests
from designer.workload.program import Move

# Transfers in requests: what depth, size and latency let through, worked out by hand.

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


def test_a_client_on_the_network_waits_for_the_wire_too() -> None:
    """1 MiB of a client of 10.5 GB/s and 250 us: 0.25 + 0.1 ms, 3.0 GB/s; two at once 6.0, four all of its 10.5."""
    weka = {"type": "storage/weka/client-100g"}
    network = build_network(apply_changes(open_design("serving-h100-8"), {"parts": {"storage": weka}}, "t"))
    one = 1.048576 / (0.25 + 1.048576 / 10.5)
    for threads, rate in ((1, one), (2, 2 * one)):
        move = Move("storage", "memory0", request=1024 * KIB, threads=threads)
        assert evaluate_transfer(network, move, "w").rate.sum() / 1e9 == pytest.approx(rate)


def test_requests_that_pass_the_host_by() -> None:
    """64 KiB of a drive of 80 us straight into an accelerator, by depth: Little's law until the drive binds."""
    network = build_network(open_design("hgx-h100-8"))
    drives = network.net.paths(network.parts_of_kind("drive"))
    drive, net = drives[0], network.net
    part = net.part(int(network.parts_of_kind("drive")[0]))
    medium = network.design.quantity(part, "read_bandwidth")
    latency = network.design.quantity(part, "access_latency")
    assert medium is not None
    assert latency is not None
    each = 64 * KIB / (latency.si("duration") + 64 * KIB / medium.si("rate"))
    for depth in (1, 2, 4):
        found = evaluate_transfer(network, Move(drive, "gpu0", request=64 * KIB, depth=depth), "w")
        assert found.rate.sum() == pytest.approx(depth * each)
        assert found.binding[0].id == "requests"
    full = evaluate_transfer(network, Move(drive, "gpu0", request=1024 * KIB, depth=64), "w").rate.sum()
    assert full == pytest.approx(evaluate_transfer(network, Move(drive, "gpu0"), "w").rate.sum())


def test_without_a_size_a_stream_has_the_medium() -> None:
    assert read(0.0, 1).rate.sum() == pytest.approx(4e9)


def test_nonsense_is_refused() -> None:
    with pytest.raises(AnalysisError, match="0 requests"):
        request_rate(Bytes(1.0), 0, Seconds(1.0))


# Storage systems drawn by their servers, by what they are provisioned for, or by their ports alone.


def answer(source: str, target: str, **given: str | int) -> TransferAnswer:
    """All flows between a storage system on one 100 Gb/s port and host memory."""
    changes = {"parts": {"storage": {"type": "storage/generic/storage", **given}}}
    return evaluate_transfer(
        build_network(apply_changes(open_design("serving-h100-8"), changes, "t")), Move(source, target), "w"
    )


def moved(source: str, target: str, **given: str | int) -> float:
    return float(answer(source, target, **given).rate.sum()) / 1e9


def test_servers_with_one_drive_each() -> None:
    """Two servers, one drive of 1 GB/s each: 2 × 0.9 read; 2 × 0.5 × 0.8 ÷ (6+2)/6 = 0.6 written."""
    two = {"servers": 2, "drives": 1, "drive_read_bandwidth": "1 GB/s", "drive_write_bandwidth": "0.5 GB/s"}
    assert moved("storage", "memory", redundancy="6+2", **two) == pytest.approx(1.8)
    assert moved("memory", "storage", redundancy="6+2", **two) == pytest.approx(0.6)


def test_provisioned_bandwidth_is_one_allowance() -> None:
    for ends in (("storage", "memory"), ("memory", "storage")):
        assert moved(*ends, provisioned_bandwidth="1.5 GB/s", servers=8) == pytest.approx(1.5)


def test_a_rate_for_each_tib_is_times_the_capacity() -> None:
    """4 TiB at 500 MB/s each: 2 GB/s either way; half of it at 250 MB/s."""
    cloud: dict[str, str | int] = {"type": "storage/azure/managed-lustre", "capacity": "4 TiB"}
    assert moved("storage", "memory", **cloud) == pytest.approx(2.0)
    assert moved("memory", "storage", provisioned_per_tib="250 MB/s", **cloud) == pytest.approx(1.0)
    with pytest.raises(AnalysisError, match="for each TiB of no capacity"):
        moved("storage", "memory", provisioned_per_tib="250 MB/s")


def test_connections_hold_a_client_back() -> None:
    """One TCP connection reads 2 GB/s and writes 1.5; four 8 and 6; sixteen leave two sockets of 6.4, past the link."""
    nfs: dict[str, str | int] = {"protocol": "NFS, TCP", "read_bandwidth": "100 GB/s", "write_bandwidth": "100 GB/s"}
    for count, read, written in ((1, 2.0, 1.5), (4, 8.0, 6.0)):
        found = answer("storage", "memory", nconnect=count, **nfs)
        assert found.rate.sum() / 1e9 == pytest.approx(read)
        assert found.binding[0].id.startswith("client:")
        assert found.low.sum() / 1e9 <= 0.75 * read * 1.001
        assert moved("memory", "storage", nconnect=count, **nfs) == pytest.approx(written)
    free = {key: value for key, value in nfs.items() if key != "protocol"}
    assert moved("storage", "memory", nconnect=16, **nfs) == pytest.approx(moved("storage", "memory", **nfs))
    assert moved("storage", "memory", nconnect=1, protocol="NFS, RDMA", **free) == pytest.approx(10.0)
    with pytest.raises(AnalysisError, match="a client without a connection"):
        moved("storage", "memory", nconnect=0, **nfs)


def test_rates_that_are_given_rule() -> None:
    assert moved("storage", "memory", read_bandwidth="3 GB/s", servers=2, server_cores=1) == pytest.approx(3.0)


def test_a_client_in_the_kernel_is_held_by_the_sockets_of_its_host() -> None:
    """Two sockets write 2 × 3.2 GB/s through Lustre, whatever the system takes."""
    lustre = {"protocol": "Lustre", "write_bandwidth": "100 GB/s", "read_bandwidth": "100 GB/s"}
    found = answer("memory", "storage", **lustre)
    assert found.rate.sum() / 1e9 == pytest.approx(6.4)
    assert found.binding[0].id.startswith("client:")
    assert found.low.sum() < 4.5e9
    assert found.high.sum() > 10e9


def test_ports_alone_are_said_to_be_assumed() -> None:
    """Reads are what the links give, writes 0.28 of the ports; where rates are given nothing is assumed."""
    ports = answer("storage", "memory")
    codes = [finding.code for finding in ports.findings]
    assert codes.count("STORE-ASSUMED") == 1
    for given in ({"read_bandwidth": "3 GB/s"}, {"servers": 2, "server_bandwidth": "100 Gb/s"}):
        assert "STORE-ASSUMED" not in [finding.code for finding in answer("storage", "memory", **given).findings]
    network = ports.asked.network
    store = network.net.paths(ports.traffic.source)[0]
    assert store == "storage"
    ports_rate = ports.rate.sum() / 0.87
    assert moved("memory", "storage") * 1e9 == pytest.approx(ports_rate * UNDRAWN_WRITES.value)
    # a redundancy that is known says what is written: 0.6 of the ports ÷ (1 + 3)
    assert moved("memory", "storage", redundancy="3 copies") * 1e9 == pytest.approx(ports_rate * 0.6 / 4)
    assert ports.low.sum() <= 0.61 * ports_rate


def test_redundancy_that_cannot_be_read_names_the_part() -> None:
    with pytest.raises(AnalysisError, match="storage: redundancy 'twice'"):
        answer("storage", "memory", servers=2, redundancy="twice", server_cores=4)


def test_writes_fill_less_of_a_link_than_reads() -> None:
    """A system of 900 GB/s either way: links bind, and give writes 0.88 of what they give reads."""
    fast = {"protocol": "RDMA", "read_bandwidth": "900 GB/s", "write_bandwidth": "900 GB/s"}
    back, out = answer("storage", "memory", **fast), answer("memory", "storage", **fast)
    assert out.rate.sum() / back.rate.sum() == pytest.approx(NETWORK_WRITE.value)
    assert out.low.sum() / out.rate.sum() < back.low.sum() / back.rate.sum()


def test_a_checkpoint_may_take_longer_than_its_bytes() -> None:
    """Bytes of a parameter are 12 to 16 of 14; writing takes 0.95 to 1.35 times that, reading back 0.95 to 1.3."""
    assert state_band(back=False)[1:] == pytest.approx((0.95 * 12 / 14, 1.35 * 16 / 14))
    assert state_band(back=True)[1:] == pytest.approx((0.95 * 12 / 14, 1.3 * 16 / 14))


def back(**given: str | int) -> TransferAnswer:
    return restored(answer("storage", "memory", **given).asked.network, "storage", "memory", "w")


def test_servers_deliver_files_of_ranks_slower_than_samples() -> None:
    """Two servers of 12.5 GB/s: 0.7 of 25 GB/s for samples, over 2.3 for files; the band is 1.5 to 3.2 as well."""
    given: dict[str, str | int] = {"servers": 2, "server_bandwidth": "100 Gb/s"}
    steady, files = answer("storage", "memory", **given), back(**given)
    assert steady.rate.sum() == pytest.approx(0.7 * 25e9)
    assert files.rate.sum() == pytest.approx(0.7 * 25e9 / 2.3)
    assert files.high.sum() <= steady.high.sum() * (1 + 1e-9)
    assert "reading files of ranks" in files.binding[0].label


def both_ways(network: Network, requests: Requests = STREAMS) -> list[TransferAnswer]:
    """A checkpoint of eight accelerators, read back and written."""
    found = [restored(network, "storage", "gpus", "w", requests), saved(network, "gpus", "storage", "w", requests)]
    assert [len(one.rate) for one in found] == [8, 8]
    return found


def test_files_on_one_server_each_keep_few_servers_busy() -> None:
    """Eight files on 16 servers of 0.25 GB/s each: 2 GB/s; each on two servers, all of 4 GB/s."""
    given: dict[str, str | int] = {"read_bandwidth": "4 GB/s", "write_bandwidth": "4 GB/s", "servers": 16}
    for file_servers, rate in ((1, 2e9), (2, 4e9), (16, 4e9)):
        for found in both_ways(answer("storage", "memory", file_servers=file_servers, **given).asked.network):
            assert found.rate.sum() == pytest.approx(rate)
            assert (found.low.sum() < 0.6 * rate) == (file_servers < 16)
    with pytest.raises(AnalysisError, match="storage: 2 files on 0 of 16 servers"):
        back(file_servers=0, **given)


def test_requests_of_ranks_hold_a_checkpoint_back() -> None:
    """64 KiB in 1 ms and 0.016 ms at 4 GB/s: 0.064 GB/s for each of eight ranks, all of 4 GB/s with eight threads."""
    given: dict[str, str | int] = {"read_bandwidth": "4 GB/s", "write_bandwidth": "4 GB/s", "access_latency": "1 ms"}
    network = answer("storage", "memory", **given).asked.network
    for threads, rate in ((1, 8 * 0.065536 / 1.016384), (8, 4.0)):
        for found in both_ways(network, Requests(2.0**16, 1, threads)):
            assert found.rate.sum() / 1e9 == pytest.approx(rate)


def test_a_given_rate_is_what_files_are_read_at() -> None:
    given: dict[str, str | int] = {"read_bandwidth": "3 GB/s"}
    assert back(**given).rate.sum() == pytest.approx(answer("storage", "memory", **given).rate.sum())


def test_the_rate_of_a_checkpoint_is_as_unsure_as_how_files_are_written() -> None:
    """A steady write to the same drives is surer; both have the same value."""
    network = build_network(open_design("hgx-h100-8"))
    settings = {"model": "llama-2-7b", "target": "drives"}
    found = run_workload(network, WorkloadSpec(id="w", kind="checkpointing", settings=settings))[0].metrics["rate"]
    steady = run_workload(network, WorkloadSpec(id="w", kind="transfer", settings={"from": "memory", "to": "drives"}))
    rate = steady[0].metrics["rate"]
    assert found.value == pytest.approx(rate.value, rel=0.01)
    assert found.low < rate.low / 1.05
    # 1.35 times as long at worst, and deviations of drives besides
    assert found.low < found.value / 1.35


# Clients by release, cores, streams and requests.


FAST: dict[str, str | int] = {"read_bandwidth": "900 GB/s", "write_bandwidth": "900 GB/s"}


def test_the_release_of_a_client_says_what_a_socket_gets() -> None:
    """Two sockets of 5.6 and 3.4 GB/s before Lustre 2.12, of 15.4 and 14.7 from it on; with 2.15 the link binds."""
    for release, read, write in (("2.10.8", 11.2, 6.8), ("2.12", 30.8, 29.4), ("2.15.4", None, None)):
        lustre = {"protocol": "Lustre", "client_release": release, **FAST}
        found = answer("storage", "memory", **lustre), answer("memory", "storage", **lustre)
        assert [one.binding[0].id.startswith("client:") for one in found] == [read is not None] * 2
        for one, rate in zip(found, (read, write), strict=True):
            assert rate is None or one.rate.sum() / 1e9 == pytest.approx(rate)
    read, write = socket_rates(Client.LUSTRE, "2.15") or (None, None)
    assert read is not None
    assert write is not None
    assert (read.value, write.value) == (40e9, 30e9)
    for wrong in ({"protocol": "Lustre", "client_release": "new"}, {"protocol": "NFS, TCP", "client_release": "2.15"}):
        with pytest.raises(AnalysisError, match="a client release of"):
            moved("storage", "memory", **wrong, **FAST)


def test_writers_of_a_checkpoint_hold_a_release_back() -> None:
    """Two sockets of 30 GB/s write 60, eight ranks of 0.81 GB/s 6.5; reading back, the link binds."""
    network = answer("storage", "memory", protocol="Lustre", client_release="2.15", **FAST).asked.network
    back, out = both_ways(network)
    assert out.rate.sum() / 1e9 == pytest.approx(8 * 0.81)
    assert out.binding[0].id == "writers"
    assert back.rate.sum() > 40e9


def test_cores_of_a_client_in_user_space() -> None:
    """One core of WEKA reads 3.4 GB/s and writes 1.8, three 10.2 and 5.4; over UDP it is a TCP stream, 2.0 and 1.5."""
    for protocol, cores, read, write in (
        ("WEKA, DPDK", 1, 3.4, 1.8),
        ("WEKA, DPDK", 3, 10.2, 5.4),
        ("WEKA, UDP", 1, 2, 1.5),
    ):
        weka = {"protocol": protocol, "client_cores": cores, **FAST}
        assert moved("storage", "memory", **weka) == pytest.approx(read)
        assert moved("memory", "storage", **weka) == pytest.approx(write)
    with pytest.raises(AnalysisError, match="cores of a client that has none"):
        moved("storage", "memory", protocol="NFS, TCP", client_cores=2, **FAST)


def test_requests_of_a_client_bound_what_it_gets() -> None:
    """64 slots of 64 KiB in 1 ms: 4.19 GB/s; eight of 4 MiB in 8 ms, as Lustre has for one target: 4.19 GB/s, too."""
    for protocol, given in (
        ("NFS 4.1, TCP", {"client_requests": 64, "client_request_size": "64 KiB", "access_latency": "1 ms"}),
        ("Lustre", {"client_requests": 8, "access_latency": "8 ms"}),
    ):
        assert moved("storage", "memory", protocol=protocol, **given, **FAST) == pytest.approx(4.194304)
    for wrong, said in (
        ({"client_request_size": "1 MiB"}, "a size of requests without their number"),
        ({"client_requests": 8, "protocol": "WEKA"}, "requests of a client without a size"),
    ):
        with pytest.raises(AnalysisError, match=said):
            moved("storage", "memory", **wrong, **FAST)


def test_connections_of_a_rate_of_their_own() -> None:
    """5 Gb/s to each of eight servers of a cloud: 5 GB/s either way; without their number it says nothing."""
    cloud = {"protocol": "Lustre", "connection_bandwidth": "5 Gb/s", **FAST}
    assert moved("storage", "memory", nconnect=8, **cloud) == pytest.approx(5.0)
    assert moved("memory", "storage", nconnect=8, **cloud) == pytest.approx(5.0)
    with pytest.raises(AnalysisError, match="a rate of a connection without their number"):
        moved("storage", "memory", **cloud)


def test_streams_of_a_client_in_user_space() -> None:
    """One stream through dfuse is 0.47 GB/s and 1.4 GB/s with libioil: eight ranks move 3.76 and 11.2."""
    for protocol, rate in (("DAOS, dfuse", 8 * 0.47), ("DAOS, dfuse, libioil", 8 * 1.4), ("DAOS", None)):
        network = answer("storage", "memory", protocol=protocol, **FAST).asked.network
        for found in both_ways(network):
            assert rate is None or found.rate.sum() / 1e9 == pytest.approx(rate)
            assert (found.binding[0].id == "streams") == (rate is not None)
    network = answer("storage", "memory", protocol="DAOS, dfuse", **FAST).asked.network
    for found in both_ways(network, Requests(2.0**24, 1, 2)):
        assert found.rate.sum() / 1e9 == pytest.approx(8 * 2 * 0.47)


def test_writes_of_a_cloud_with_an_allowance_of_their_own() -> None:
    """4 TiB at 250 MB/s read and 100 MB/s written for each: 1.0 and 0.4 GB/s."""
    cloud: dict[str, str | int] = {"provisioned_per_tib": "250 MB/s", "provisioned_write_per_tib": "100 MB/s"}
    assert moved("storage", "memory", capacity="4 TiB", **cloud) == pytest.approx(1.0)
    assert moved("memory", "storage", capacity="4 TiB", **cloud) == pytest.approx(0.4)


# Drives that are slower when their cache is full.


def test_the_rest_of_a_drive_is_written_past_its_cache() -> None:
    """A drive of 1 TB: 280 GB in 62.2 s at 4.5 GB/s, 720 GB in 1,188 s at 0.606, all of it at 0.8 as was published."""
    rates = Bytes(280e9), BytesPerSecond(4.5e9), BytesPerSecond(0.606e9)
    assert cached_write_rate(Bytes(1e12), *rates) == pytest.approx(0.8e9, rel=0.001)
    assert cached_write_rate(Bytes(100e9), *rates) == pytest.approx(4.5e9)
    assert cached_write_rate(Bytes(math.inf), *rates) == 0.606e9
    with pytest.raises(AnalysisError, match="0 B written"):
        cached_write_rate(Bytes(0.0), *rates)


def test_checkpoints_on_consumer_drives() -> None:
    """Eight drives with 100 GB at 4 GB/s and 1 past it: 50 GB each at once, 200 in 25 + 100 s, 121 of a model in 46."""
    drive = {"write_bandwidth": "4 GB/s", "write_cache": "100 GB", "steady_write_bandwidth": "1 GB/s"}
    drives = {f"nvme{k}": {"type": "drive/generic/consumer-nvme-gen4", **drive} for k in range(8)}
    network = build_network(apply_changes(open_design("hgx-h100-8"), {"parts": drives}, "t"))
    assert len(network.parts_of_kind("drive")) == 8
    for size, rate in ((50e9, 8 * 4.0), (200e9, 8 * 200 / 125), (math.inf, 8 * 1.0)):
        found = saved(network, "gpus", "drives", "w", size=size)
        assert found.rate.sum() / 1e9 == pytest.approx(rate, rel=0.03)
        assert (found.binding[0].id.startswith("cache:")) == (size > 100e9)
    for model, rate in (("llama-2-7b", 32.0), ("llama-2-70b", 8 * 120.7 / 45.7)):
        spec = WorkloadSpec(id="w", kind="checkpointing", settings={"model": model, "target": "drives"})
        assert run_workload(network, spec)[0].metrics["rate"].value / 1e9 == pytest.approx(rate, rel=0.01)
    alone = {"nvme0": {"type": "drive/generic/nvme-gen4", "write_cache": "100 GB"}}
    network = build_network(apply_changes(open_design("hgx-h100-8"), {"parts": alone}, "t"))
    with pytest.raises(AnalysisError, match="a write cache alone"):
        saved(network, "gpus", "drives", "w")


def test_parity_of_drives_in_a_host() -> None:
    """Eight drives of 4 GB/s write 32 GB/s; in arrays of 3+1 24, as 4 bytes are written for 3; reads stay."""
    for redundancy, rate in (("none", 32.0), ("3+1", 24.0), ("2 copies", 16.0)):
        given = {"type": "drive/generic/nvme-gen4", "write_bandwidth": "4 GB/s", "redundancy": redundancy}
        drives = {f"nvme{k}": given for k in range(8)}
        network = build_network(apply_changes(open_design("hgx-h100-8"), {"parts": drives}, "t"))
        assert saved(network, "gpus", "drives", "w").rate.sum() / 1e9 == pytest.approx(rate)
        assert restored(network, "drives", "gpus", "w").rate.sum() / 1e9 > 40
    drives["nvme0"] = {**given, "redundancy": "some"}
    with pytest.raises(AnalysisError, match="nvme0: redundancy 'some'"):
        build_network(apply_changes(open_design("hgx-h100-8"), {"parts": drives}, "t"))


def test_a_mount_that_is_drawn_comes_before_the_rates_of_a_type() -> None:
    """A type of 2 GB/s a client with nconnect of 4 reads 8; with 3 GB/s given by hand it reads these."""
    datastore: dict[str, str | int] = {"type": "storage/vmware/nfs-datastore", **FAST}
    assert moved("storage", "memory", **datastore) == pytest.approx(2.0)
    assert moved("storage", "memory", nconnect=4, **datastore) == pytest.approx(8.0)
    assert moved("storage", "memory", nconnect=4, client_read_bandwidth="3 GB/s", **datastore) == pytest.approx(3.0)
    cloud = {"type": "storage/aws/fsx-lustre", "capacity": "100 TiB"}
    assert moved("storage", "memory", **cloud) == pytest.approx(12.5)
    assert moved("storage", "memory", nconnect=8, connection_bandwidth="5 Gb/s", **cloud) == pytest.approx(5.0)


# How many accelerators storage feeds, by what is said of a client.


def test_sizing_follows_the_rate_and_the_release_of_a_client() -> None:
    """Two sockets by the fit read 2 × 8.6 GB/s of Lustre; a client of 5 GB/s feeds less, Lustre 2.15 fills its link."""
    rates: dict[str, float] = {}
    for name, given in (
        ("fit", {}),
        ("given", {"client_read_bandwidth": "5 GB/s"}),
        ("old", {"client_release": "2.10"}),
        ("new", {"client_release": "2.15"}),
    ):
        changes = {"parts": {"storage": {"type": "storage/generic/storage", "protocol": "Lustre", **given, **FAST}}}
        design = apply_changes(open_design("serving-h100-8"), changes, "t")
        spec = WorkloadSpec(id="w", kind="storage_sizing", settings={"emulated": "b200"})
        rates[name] = run_workload(build_network(design), spec)[0].metrics["rate"].value / 1e9
    assert rates["fit"] == pytest.approx(17.2)
    assert rates["given"] == pytest.approx(5.0)
    assert rates["old"] == pytest.approx(11.2)
    # 0.8 of two ports of 200 Gb/s, where sockets would read 80
    assert rates["new"] == pytest.approx(0.8 * 50)
