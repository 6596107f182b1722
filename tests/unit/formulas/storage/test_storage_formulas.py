"""Reading, feeding accelerators, checkpoints: by hand, limits, refusals."""

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.errors import AnalysisError
from designer.formulas.storage.checkpoint import best_interval, checkpoint, checkpoint_size, lost_share
from designer.formulas.storage.read_rate import FILE_SHARE, Access, Medium, read_rate
from designer.formulas.storage.storage_capacity import (
    HOST_CAPS,
    SHARES,
    Client,
    FeedWorkload,
    Hosts,
    Pattern,
    host_rate,
    storage_capacity,
    utilization,
)
from designer.units import Bytes, BytesPerSecond, PerSecond, Ratio, Seconds

DRIVE = Medium(BytesPerSecond(3e9), PerSecond(10_000.0), Seconds(1e-3))
UNET = FeedWorkload(7, Seconds(0.323), Bytes(146_600_628), Pattern.LARGE)
LOCAL = Hosts(1, BytesPerSecond(10e9), Client.LOCAL)


def test_sequential_reads_run_at_the_bandwidth() -> None:
    assert read_rate(DRIVE, Bytes(1e5), Access.SEQUENTIAL) == 3e9


def test_random_reads_are_held_by_operations_or_by_what_is_in_flight() -> None:
    assert read_rate(DRIVE, Bytes(1e5), Access.RANDOM, 64) == pytest.approx(10_000 * 1e5 * FILE_SHARE.value)
    assert read_rate(DRIVE, Bytes(1e6), Access.RANDOM, 64) == pytest.approx(3e9 * FILE_SHARE.value)
    assert read_rate(DRIVE, Bytes(1e5), Access.RANDOM, 2) == pytest.approx(2 * 1e5 / 1e-3)


def test_a_spindle_is_hopeless_at_random_reads() -> None:
    spindle = Medium(BytesPerSecond(200e6), PerSecond(150.0))
    image = Bytes(130.6e3)
    assert read_rate(spindle, image, Access.RANDOM) < 0.1 * read_rate(spindle, image, Access.SEQUENTIAL)


def test_the_page_cache_takes_its_share() -> None:
    cold, half = (read_rate(DRIVE, Bytes(1e5), Access.SEQUENTIAL, cached=Ratio(share)) for share in (0.0, 0.5))
    assert half == 2 * cold
    assert read_rate(DRIVE, Bytes(1e5), Access.SEQUENTIAL, cached=Ratio(1.0)) == math.inf


@pytest.mark.parametrize(
    ("medium", "sample", "flight", "cached"),
    [(DRIVE, 0.0, 1, 0.0), (DRIVE, 1.0, 0, 0.0), (DRIVE, 1.0, 1, 1.5), (Medium(BytesPerSecond(0.0)), 1.0, 1, 0.0)],
)
def test_reading_nothing_is_refused(medium: Medium, sample: float, flight: int, cached: float) -> None:
    with pytest.raises(AnalysisError):
        read_rate(medium, Bytes(sample), Access.RANDOM, flight, Ratio(cached))


@given(sample=st.floats(1e3, 1e8), flight=st.integers(1, 256))
def test_reading_is_never_faster_than_the_medium(sample: float, flight: int) -> None:
    rate = read_rate(DRIVE, Bytes(sample), Access.RANDOM, flight)
    assert 0 < rate <= DRIVE.bandwidth
    assert read_rate(DRIVE, Bytes(sample), Access.RANDOM, flight + 1) >= rate


@pytest.mark.parametrize(
    ("name", "work", "published"),
    [
        ("3D-UNet on H100", UNET, 3.18),
        ("3D-UNet on A100", dataclasses.replace(UNET, compute=Seconds(0.636)), 1.61),
        ("ResNet-50 on H100", FeedWorkload(400, Seconds(0.224), Bytes(114_660.07), Pattern.RECORDS), 0.205),
        ("ResNet-50 on A100", FeedWorkload(400, Seconds(0.435), Bytes(114_660.07), Pattern.RECORDS), 0.105),
        ("CosmoFlow on H100", FeedWorkload(1, Seconds(0.0035), Bytes(2_828_486), Pattern.SMALL), 0.81),
        ("CosmoFlow on A100", FeedWorkload(1, Seconds(0.00551), Bytes(2_828_486), Pattern.SMALL), 0.51),
    ],
)
def test_demand_of_an_accelerator(name: str, work: FeedWorkload, published: float) -> None:
    """As the rules imply [GB/s]."""
    assert work.demand / 1e9 == pytest.approx(published, rel=0.01), name


def test_capacity_is_the_rate_over_the_demand_at_the_threshold() -> None:
    found = storage_capacity(UNET, LOCAL, Ratio(0.9))
    by_hand = math.floor(10e9 * SHARES[Client.LOCAL, Pattern.LARGE].value / (0.9 * UNET.demand))
    assert found.accelerators == by_hand == 4
    assert found.binding == "hosts"
    assert found.low <= found.accelerators <= found.high
    assert found.utilization >= 0.9


def test_servers_bind_when_they_are_slower() -> None:
    hosts = Hosts(8, BytesPerSecond(50e9), Client.PARALLEL)
    free = storage_capacity(UNET, hosts, Ratio(0.9))
    held = storage_capacity(UNET, hosts, Ratio(0.9), BytesPerSecond(50e9))
    assert held.binding == "servers"
    assert held.accelerators < free.accelerators / 4


def test_short_steps_are_held_by_waiting() -> None:
    cosmo = FeedWorkload(1, Seconds(0.0035), Bytes(2_828_486), Pattern.SMALL)
    found = storage_capacity(cosmo, Hosts(64, BytesPerSecond(100e9), Client.PARALLEL), Ratio(0.7))
    assert found.binding == "step overhead"
    assert found.accelerators == 64, "one on each host: two would be 128"
    assert utilization(cosmo, 80, found.rate) > 0.7 > utilization(cosmo, 160, found.rate)


def test_processor_threads_bind_readers() -> None:
    slow = FeedWorkload(400, Seconds(0.435), Bytes(114_660.07), Pattern.RECORDS)
    hosts = Hosts(1, BytesPerSecond(50e9), Client.OFFLOADED, threads=128)
    found = storage_capacity(slow, hosts, Ratio(0.9))
    assert (found.accelerators, found.binding) == (144, "processor threads")


def test_processors_hold_file_systems_in_the_kernel_and_nics_when_they_are_slow() -> None:
    def each(client: Client, nominal: float, sockets: int) -> float:
        return host_rate(Hosts(1, BytesPerSecond(nominal), client, sockets), Pattern.LARGE)

    for client in (Client.NFS, Client.LUSTRE):
        cap = HOST_CAPS[client, Pattern.LARGE].value
        assert each(client, 50e9, 1) == pytest.approx(cap)
        assert each(client, 50e9, 2) == pytest.approx(2 * cap)
        assert each(client, 3e9, 2) == pytest.approx(SHARES[client, Pattern.LARGE].value * 3e9)
    assert each(Client.PARALLEL, 50e9, 1) == each(Client.PARALLEL, 50e9, 2)


def test_nothing_fits_on_a_path_that_is_too_slow() -> None:
    found = storage_capacity(UNET, Hosts(1, BytesPerSecond(1e9), Client.NFS), Ratio(0.9))
    assert found.accelerators == 0


@given(
    client=st.sampled_from(list(Client)),
    pattern=st.sampled_from(list(Pattern)),
    hosts=st.integers(1, 20),
    rate=st.floats(1e9, 400e9),
    threshold=st.sampled_from([0.5, 0.7, 0.9]),
)
def test_more_of_anything_never_feeds_fewer(
    client: Client, pattern: Pattern, hosts: int, rate: float, threshold: float
) -> None:
    work = dataclasses.replace(UNET, pattern=pattern)
    base = Hosts(hosts, BytesPerSecond(rate), client)
    found = storage_capacity(work, base, Ratio(threshold))
    more = storage_capacity(work, dataclasses.replace(base, count=hosts + 1), Ratio(threshold))
    faster = storage_capacity(work, dataclasses.replace(base, nominal=BytesPerSecond(2 * rate)), Ratio(threshold))
    stricter = storage_capacity(work, base, Ratio(threshold + 0.05))
    # as many on each host: with one host more, a few may be left over
    assert more.accelerators > found.accelerators - (hosts + 1)
    assert found.accelerators % hosts == 0 or found.accelerators < hosts
    assert faster.accelerators >= found.accelerators
    assert stricter.accelerators <= found.accelerators
    if found.accelerators:
        assert utilization(work, found.accelerators, found.rate) >= threshold
        next_one = found.accelerators + (hosts if found.accelerators >= hosts else 1)
        assert utilization(work, next_one, found.rate) < threshold or found.binding == "processor threads"


def test_tables_cover_every_client_and_pattern() -> None:
    assert set(SHARES) == {(client, pattern) for client in Client for pattern in Pattern}
    assert set(HOST_CAPS) <= set(SHARES)
    assert (
        host_rate(LOCAL, Pattern.LARGE, "low")
        < host_rate(LOCAL, Pattern.LARGE)
        < host_rate(LOCAL, Pattern.LARGE, "high")
    )


@pytest.mark.parametrize(
    ("work", "hosts", "threshold"),
    [
        (UNET, Hosts(0, BytesPerSecond(1e9), Client.LOCAL), 0.9),
        (UNET, Hosts(1, BytesPerSecond(0.0), Client.LOCAL), 0.9),
        (UNET, LOCAL, 0.0),
        (UNET, LOCAL, 1.1),
        (dataclasses.replace(UNET, batch=0), LOCAL, 0.9),
        (dataclasses.replace(UNET, compute=Seconds(0.0)), LOCAL, 0.9),
    ],
)
def test_feeding_nothing_is_refused(work: FeedWorkload, hosts: Hosts, threshold: float) -> None:
    with pytest.raises(AnalysisError):
        storage_capacity(work, hosts, Ratio(threshold))


def test_checkpoint_of_a_176_billion_model() -> None:
    """Public: 2.3 TB in 40 s from a parallel file system of 57.5 GB/s."""
    size = checkpoint_size(176e9)
    assert size / 1e12 == pytest.approx(2.3, rel=0.08)
    found = checkpoint(Bytes(2.3e12), BytesPerSecond(57.5e9), BytesPerSecond(57.5e9))
    assert found.write == pytest.approx(40.0)
    assert found.stall == found.write == found.restore


def test_a_snapshot_stops_training_only_while_it_copies() -> None:
    found = checkpoint(
        Bytes(100e9), BytesPerSecond(1e9), BytesPerSecond(2e9), copies=4, snapshot_rate=BytesPerSecond(50e9)
    )
    assert (found.write, found.stall, found.restore) == (100, 2, 200)


def test_the_best_interval_loses_least() -> None:
    found = checkpoint(Bytes(100e9), BytesPerSecond(5e9), BytesPerSecond(5e9))
    mtbf = Seconds(8 * 3600.0)
    best = best_interval(found.stall, mtbf)
    assert best == pytest.approx(math.sqrt(2 * 20 * 8 * 3600))
    assert lost_share(best, found, mtbf) < lost_share(Seconds(best / 3), found, mtbf)
    assert lost_share(best, found, mtbf) < lost_share(Seconds(best * 3), found, mtbf)
    with pytest.raises(AnalysisError, match="writing one takes"):
        lost_share(Seconds(10.0), found, mtbf)


def test_checkpoints_of_nothing_are_refused() -> None:
    with pytest.raises(AnalysisError):
        checkpoint_size(0)
    with pytest.raises(AnalysisError):
        checkpoint(Bytes(1.0), BytesPerSecond(0.0), BytesPerSecond(1.0))
    with pytest.raises(AnalysisError):
        best_interval(Seconds(0.0), Seconds(1.0))
    with pytest.raises(AnalysisError):
        lost_share(Seconds(0.0), checkpoint(Bytes(1.0), BytesPerSecond(1.0), BytesPerSecond(1.0)), Seconds(1.0))
