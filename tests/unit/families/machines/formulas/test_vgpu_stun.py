"""Stun of virtual GPUs: the vendor's tables, the Llama table of 8.0 U3 and 9.0, and what must hold."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.errors import AnalysisError
from designer.families.machines.formulas import Release
from designer.families.machines.formulas._precopy import ONE_PUBLICATION
from designer.families.machines.formulas.vgpu_migration import vgpu_migration
from designer.families.machines.formulas.vgpu_stun import (
    Channel,
    GpuGeneration,
    VgpuLoad,
    VgpuStun,
    channel_of,
    vgpu_stun,
)
from designer.families.machines.formulas.vmotion_streams import vmotion_streams
from designer.units import parse_rate

GB, GIB = 1e9, 2.0**30
TEN = 0.94 * parse_rate("10 Gb/s")
WORST = {
    1: (5, 6, 8, 12),
    2: (7, 9, 11, 15),
    4: (13, 14, 16, 21),
    8: (24, 25, 28, 32),
    16: (47, 48, 50, 54),
    32: (91, 92, 95, 99),
}


def stun(gib: float, release: Release, generation: GpuGeneration, **more: float) -> VgpuStun:
    return vgpu_stun([VgpuLoad(gib * GIB)], TEN, TEN, release=release, generation=generation, **more)


@pytest.mark.parametrize(
    ("framebuffer", "memory", "seconds"),
    [(fb, ram, row[at]) for fb, row in WORST.items() for at, ram in enumerate((4, 8, 16, 32))],
)
def test_worst_case_of_7_0(framebuffer: int, memory: int, seconds: float) -> None:
    found = stun(framebuffer, Release.V7_0, GpuGeneration.VOLTA, worst_case_memory=memory * GIB)
    assert found.stun.value == pytest.approx(seconds, abs=0.51)
    assert found.feasible


@pytest.mark.parametrize(
    ("framebuffer", "seconds"), [(1, 9.0), (2, 16.5), (4, 31.4), (8, 61.3), (10, 76.3), (12, 91.2)]
)
def test_p40_on_6_7_u1(framebuffer: int, seconds: float) -> None:
    found = stun(framebuffer, Release.V6_7_U1, GpuGeneration.PASCAL)
    assert found.stun.value == pytest.approx(seconds, abs=0.05)
    assert found.feasible


@pytest.mark.parametrize("framebuffer", [16, 24])
def test_p40_times_out_as_published(framebuffer: int) -> None:
    found = stun(framebuffer, Release.V6_7_U1, GpuGeneration.PASCAL)
    assert not found.feasible
    assert "exceeds the limit of 100 s" in found.reason


@pytest.mark.parametrize(
    ("framebuffer", "seconds"), [(1, 2.17), (2, 4.03), (4, 7.02), (8, 14.48), (16, 27.79), (32, 50.81)]
)
def test_v100_on_6_7_u3(framebuffer: int, seconds: float) -> None:
    found = stun(framebuffer, Release.V6_7_U3, GpuGeneration.VOLTA).stun
    assert found.value == pytest.approx(seconds, abs=1.5)
    assert found.low <= seconds <= found.high


@pytest.mark.parametrize(("framebuffer", "seconds"), [(1, 2), (2, 4), (4, 6), (8, 12), (16, 22), (32, 39)])
def test_v100_on_7_0(framebuffer: int, seconds: float) -> None:
    found = stun(framebuffer, Release.V7_0, GpuGeneration.VOLTA).stun
    assert found.value == pytest.approx(seconds, abs=1.4)
    assert found.low <= seconds <= found.high


LLAMA = [
    (40, 1, GpuGeneration.ADA, 5.4, 1.8),
    (80, 2, GpuGeneration.ADA, 10.2, 2.3),
    (144, 2, GpuGeneration.HOPPER, 24.5, 6.3),
    (576, 8, GpuGeneration.HOPPER, math.inf, 21.0),
]


def llama(gigabytes: float, gpus: int, generation: GpuGeneration, release: Release) -> VgpuStun:
    host = vmotion_streams([parse_rate("100 Gb/s")], release=release).checkpoint_bandwidth.value
    return vgpu_stun([VgpuLoad(gigabytes * GB / gpus)] * gpus, host, host, release=release, generation=generation)


@pytest.mark.parametrize("row", LLAMA)
def test_llama_on_8_0_u3_and_9_0(row: tuple[float, int, GpuGeneration, float, float]) -> None:
    gigabytes, gpus, generation, before, after = row
    old = llama(gigabytes, gpus, generation, Release.V8_0_U3)
    new = llama(gigabytes, gpus, generation, Release.V9_0)
    if math.isinf(before):
        assert not old.feasible
    else:
        assert old.stun.value == pytest.approx(before, rel=0.06)
    assert new.stun.value == pytest.approx(after, abs=1.0)
    assert new.stun.low <= after <= new.stun.high
    assert new.feasible
    assert new.precopied == pytest.approx(0.7 * gigabytes * GB)


@pytest.mark.parametrize("release", [Release.V8_0_U3, Release.V9_0])
@pytest.mark.parametrize("generation", [None, *GpuGeneration])
@pytest.mark.parametrize("gigabits", [10, 25, 200])
def test_bands_since_8_0_u3_are_as_wide_as_what_one_publication_knows_and_never_quicker_than_the_line(
    release: Release, generation: GpuGeneration | None, gigabits: int
) -> None:
    """All eight cells are one publication's, on 100 GbE: what only one knows is off by 1.6 either way elsewhere.

    8.0 U3, 80 GB over 25 Gb/s: .6 s + 80/3.125 = 26.2 s; the slow end at 1/1.6 of the rate 1 + 80/1.95 = 42 s.
    """
    rate = parse_rate(f"{gigabits} Gb/s")
    found = vgpu_stun([VgpuLoad(80 * GB)], rate, rate, release=release, generation=generation)
    moving = found.stun.value - (0.2 if release is Release.V9_0 else 0.6)
    assert found.stun.high >= 1.59 * moving
    share = 0.30 / 1.6 if release is Release.V9_0 else 1.0
    assert found.stun.low >= 0.9 * share * 80 * GB / rate
    if gigabits == 25 and release is Release.V8_0_U3 and generation is GpuGeneration.ADA:
        assert (found.stun.value, found.stun.high) == (pytest.approx(26.2, abs=0.1), pytest.approx(42, abs=0.2))


@pytest.mark.parametrize("board", [GpuGeneration.ADA, GpuGeneration.HOPPER])
def test_a_board_left_out_is_in_the_band_of_what_the_other_leaves_for_the_stun(board: GpuGeneration) -> None:
    """Share of the memory that 9.0 stuns for, read off the cells of the other board, 1.6 either way."""
    rate = vmotion_streams([parse_rate("100 Gb/s")], release=Release.V9_0).checkpoint_bandwidth.value
    others = [(after - 0.2) * rate / (size * GB) for size, _, each, _, after in LLAMA if each is not board]
    left = sum(others) / len(others)
    for size, gpus, each, _, after in LLAMA:
        if each is board:
            loads = [VgpuLoad(size * GB / gpus)] * gpus
            ends = [
                vgpu_stun(loads, rate, rate, release=Release.V9_0, generation=board, stunned_share=share).stun
                for share in (left * ONE_PUBLICATION.low, left * ONE_PUBLICATION.high)
            ]
            assert ends[0].low <= after <= ends[1].high


def test_576_gigabytes_at_64_gigabits() -> None:
    """21.6 s by the formula, 21 s measured."""
    rate = parse_rate("64 Gb/s")
    found = vgpu_stun([VgpuLoad(72 * GB)] * 8, rate, rate, release=Release.V9_0)
    assert found.stun.value == pytest.approx(21.6, abs=0.25)


def test_channel_by_release() -> None:
    assert channel_of(Release.V7_0_U3) is Channel.TWO_CONNECTIONS
    assert channel_of(Release.V8_0) is Channel.TWO_CONNECTIONS
    assert channel_of(Release.V8_0_U1) is Channel.STREAMS
    assert channel_of(Release.V9_0) is Channel.PRECOPY


def test_two_connections_do_not_use_a_faster_line() -> None:
    fast = parse_rate("94 Gb/s")
    loads = [VgpuLoad(16 * GIB)]
    slow_line = vgpu_stun(loads, TEN, TEN, release=Release.V7_0)
    fast_line = vgpu_stun(loads, fast, fast, release=Release.V7_0)
    assert (slow_line.stun.value, slow_line.stun.high) == (fast_line.stun.value, fast_line.stun.high)
    # the quick end of the band: 16 GiB in no less than 10 Gb/s allows, however fast another board drains
    assert slow_line.stun.low >= 16 * GIB / TEN > fast_line.stun.low
    assert fast_line.limited_by == "checkpoint channel"


def test_the_slower_host_rules() -> None:
    loads = [VgpuLoad(40 * GB)]
    fast, slow = parse_rate("25 Gb/s"), parse_rate("10 Gb/s")
    assert vgpu_stun(loads, fast, slow).stun == vgpu_stun(loads, slow, fast).stun == vgpu_stun(loads, slow, slow).stun


def test_devices_add_up() -> None:
    whole = vgpu_stun([VgpuLoad(40 * GB)], 8 * GB, 8 * GB)
    parts = vgpu_stun([VgpuLoad(10 * GB)] * 4, 8 * GB, 8 * GB)
    assert parts.stun.value == pytest.approx(whole.stun.value)


def test_sharing_multiplies_the_stun() -> None:
    alone = vgpu_stun([VgpuLoad(80 * GB)], 8 * GB, 8 * GB).stun.value
    shared = vgpu_stun([VgpuLoad(80 * GB)], 8 * GB, 8 * GB, concurrent=8).stun.value
    assert shared > 7 * alone


def test_a_limit_of_its_own() -> None:
    found = vgpu_stun([VgpuLoad(80 * GB)], 8 * GB, 8 * GB, limit=5)
    assert not found.feasible
    assert "limit of 5 s" in found.reason


def test_a_whole_migration_on_9_0() -> None:
    rate = 8 * GB
    done = vgpu_migration([VgpuLoad(72 * GB)] * 8, 1024 * GB, rate, rate, 0.2 * GB, release=Release.V9_0)
    assert done.arrives
    assert done.downtime.value == pytest.approx(done.vgpu.stun.value + done.memory.downtime.value)
    assert done.total_time.value == pytest.approx(
        done.vgpu.precopy_time + done.memory.total_time.value + done.vgpu.stun.value
    )
    assert done.remaining[0] == pytest.approx(1600 * GB)
    assert done.remaining[-1] == 0
    assert done.time[-1] == pytest.approx(done.total_time.value)
    old = vgpu_migration([VgpuLoad(72 * GB)] * 8, 1024 * GB, rate, rate, 0.2 * GB, generation=GpuGeneration.HOPPER)
    assert not old.arrives
    assert old.reason == old.vgpu.reason


@given(
    st.lists(st.floats(1e8, 1.5e11), min_size=1, max_size=16),
    st.floats(1e8, 2.5e10),
    st.floats(1, 8),
    st.sampled_from([release for release in Release if release.since(Release.V6_7_U1)]),
    st.sampled_from([None, *GpuGeneration]),
)
def test_what_always_holds(
    used: list[float], bandwidth: float, factor: float, release: Release, generation: GpuGeneration | None
) -> None:
    loads = [VgpuLoad(each) for each in used]
    slow = vgpu_stun(loads, bandwidth, bandwidth, release=release, generation=generation)
    fast = vgpu_stun(loads, bandwidth * factor, bandwidth * factor, release=release, generation=generation)
    more = vgpu_stun([*loads, loads[0]], bandwidth, bandwidth, release=release, generation=generation)
    assert slow.stun.low <= slow.stun.value <= slow.stun.high
    assert fast.stun.value <= slow.stun.value * (1 + 1e-12)
    assert more.stun.value > slow.stun.value
    assert slow.precopied + slow.stunned == pytest.approx(sum(used))
    assert slow.remaining[0] == pytest.approx(sum(used))
    assert slow.remaining[-1] == 0


def test_bad_input() -> None:
    with pytest.raises(AnalysisError, match="no virtual GPU"):
        vgpu_stun([], GB, GB)
    with pytest.raises(AnalysisError, match="framebuffer_used"):
        vgpu_stun([VgpuLoad(0)], GB, GB)
    with pytest.raises(AnalysisError, match="destination_bandwidth"):
        vgpu_stun([VgpuLoad(GB)], GB, -1)
    with pytest.raises(AnalysisError, match="stunned_share"):
        vgpu_stun([VgpuLoad(GB)], GB, GB, release=Release.V9_0, stunned_share=1.5)
    with pytest.raises(AnalysisError, match="limit"):
        vgpu_stun([VgpuLoad(GB)], GB, GB, limit=0)
