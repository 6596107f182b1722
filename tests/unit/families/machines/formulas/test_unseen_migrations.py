"""Migrations nobody measured: the laws that hold over memory, dirty rate, NICs, streams, release, distance."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from designer.errors import AnalysisError
from designer.families.machines.formulas import Outcome, Release, Verdict
from designer.families.machines.formulas.kvm_bandwidth import Compression, Sender, Transport, kvm_bandwidth
from designer.families.machines.formulas.kvm_precopy import kvm_precopy
from designer.families.machines.formulas.kvm_vfio_state import VfioState, kvm_vfio_state
from designer.families.machines.formulas.vgpu_migration import vgpu_migration
from designer.families.machines.formulas.vgpu_stun import GpuGeneration, VgpuLoad, vgpu_stun
from designer.families.machines.formulas.vmotion_cpu import vmotion_cpu
from designer.families.machines.formulas.vmotion_long_distance import vmotion_long_distance
from designer.families.machines.formulas.vmotion_precopy import vmotion_precopy
from designer.families.machines.formulas.vmotion_streams import StreamPlan, vmotion_streams

GIGABIT, GIB = 1e9 / 8, 2.0**30
MODERN = [release for release in Release if release.since(Release.V7_0)]
speeds = st.sampled_from([1, 10, 25, 40, 50, 100, 200, 400]).map(lambda g: g * GIGABIT)
nics = st.lists(speeds, min_size=1, max_size=4)
memories = st.floats(1, 24_000).map(lambda g: g * GIB)
dirty = st.one_of(st.just(0.0), st.floats(1e3, 1e11))
releases = st.sampled_from(MODERN)


def _bandwidth(lines: list[float], release: Release, adapters: int, encrypted: bool, trip: float) -> tuple[float, Any]:
    """What one migration gets, over any distance."""
    plan = vmotion_streams(lines, release=release, vmknics_per_nic=adapters, encrypted=encrypted)
    if not trip:
        return plan.bandwidth.value, plan
    far = vmotion_long_distance(plan.bandwidth.value, trip, plan.streams)
    return far.bandwidth.value, plan


def _conserved(outcome: Outcome, memory: float, working_set: float) -> None:
    """What a pass dirties is what the next one sends, and nothing else goes over the link."""
    rounds = outcome.rounds
    assert rounds[0].sent == pytest.approx(memory)
    for before, after in pairwise(rounds):
        assert after.sent == before.dirtied
        assert after.start == pytest.approx(before.start + before.duration)
        assert 0 <= before.dirtied <= working_set * (1 + 1e-12)
    if outcome.converged and outcome.verdict is not Verdict.POST_COPY:
        put = sum(each.sent for each in rounds) + rounds[-1].dirtied
        assert outcome.transferred.value == pytest.approx(put)


@settings(deadline=2000)
@given(memories, dirty, nics, releases, st.integers(1, 4), st.booleans(), st.sampled_from([0.0, 0.002, 0.02, 0.15]))
def test_every_vmotion_ends_within_its_bounds(
    memory: float, rate: float, lines: list[float], release: Release, adapters: int, encrypted: bool, trip: float
) -> None:
    bandwidth, plan = _bandwidth(lines, release, adapters, encrypted, trip)
    assert 0 < bandwidth <= sum(lines)
    done = vmotion_precopy(memory, bandwidth, rate)
    for each in (done.total_time, done.precopy_time, done.downtime, done.transferred):
        assert 0 <= each.low <= each.value <= each.high < math.inf
    assert done.total_time.value >= memory / bandwidth
    assert done.transferred.value >= memory
    assert done.downtime.value <= done.longest_downtime * (1 + 1e-9)
    # slowing the guest is what it takes to get over a guest that writes faster than the link sends
    assert done.verdict in (Verdict.CONVERGES, Verdict.SLOWED)
    if rate > bandwidth and memory / bandwidth > 31:
        assert done.verdict is Verdict.SLOWED
        assert "130 %" in done.reason
        assert 0 < done.slowdown.value < 1
    if rate == 0:
        assert len(done.rounds) == 1
        assert done.transferred.value == pytest.approx(memory)
    _conserved(done, memory, memory)
    cores = vmotion_cpu(lines, bandwidth, encrypted=encrypted)
    assert cores.reserved >= 0.3
    assert isinstance(plan, StreamPlan)


@given(memories, nics, releases, st.floats(1.0, 8.0))
def test_a_calm_guest_arrives_sooner_over_more_bandwidth(
    memory: float, lines: list[float], release: Release, factor: float
) -> None:
    slow = vmotion_streams(lines, release=release).bandwidth.value
    fast = vmotion_streams([line * factor for line in lines], release=release).bandwidth.value
    assert fast >= slow * (1 - 1e-12)
    assert vmotion_precopy(memory, fast).total_time.value <= vmotion_precopy(memory, slow).total_time.value + 1e-9


@given(nics, releases, speeds)
def test_another_nic_or_a_newer_release_never_carries_less(lines: list[float], release: Release, more: float) -> None:
    here = vmotion_streams(lines, release=release).bandwidth.value
    assert vmotion_streams([*lines, more], release=release).bandwidth.value >= here * (1 - 1e-12)
    newest = vmotion_streams(lines, release=Release.V9_0).bandwidth.value
    assert newest >= here * (1 - 1e-12)


@given(memories, speeds, st.floats(0.001, 0.15), st.floats(1.0, 10.0))
def test_a_longer_way_is_never_quicker(memory: float, line: float, trip: float, factor: float) -> None:
    near, far = (_bandwidth([line], Release.V8_0_U3, 1, False, t)[0] for t in (trip, trip * factor))
    assert far <= near
    assert vmotion_precopy(memory, far).total_time.value >= vmotion_precopy(memory, near).total_time.value - 1e-9


@given(
    st.lists(st.floats(1, 180), min_size=1, max_size=8),
    memories,
    dirty,
    speeds,
    releases,
    st.sampled_from([None, *GpuGeneration]),
)
def test_stuns_are_finite_and_never_quicker_than_their_bytes(
    buffers: list[float], memory: float, rate: float, line: float, release: Release, generation: GpuGeneration | None
) -> None:
    loads = [VgpuLoad(size * GIB) for size in buffers]
    bandwidth = vmotion_streams([line], release=release).checkpoint_bandwidth.value
    stun = vgpu_stun(loads, bandwidth, bandwidth, release=release, generation=generation)
    assert 0 < stun.stun.low <= stun.stun.value <= stun.stun.high < math.inf
    assert stun.stun.value >= stun.stunned / bandwidth
    assert stun.precopied + stun.stunned == pytest.approx(sum(buffers) * GIB)
    assert stun.feasible == (stun.stun.value <= stun.limit)
    whole = vgpu_migration(loads, memory, bandwidth, bandwidth, rate, release=release, generation=generation)
    assert whole.total_time.value >= (memory + sum(buffers) * GIB) / bandwidth
    assert whole.arrives == (whole.memory.converged and whole.vgpu.feasible)
    assert whole.reason


@settings(deadline=2000)
@given(
    memories,
    dirty,
    speeds,
    st.integers(1, 16),
    st.sampled_from(Compression),
    st.sampled_from(Transport),
    st.booleans(),
    st.booleans(),
    st.floats(0.01, 10.0),
)
def test_every_kvm_migration_has_a_verdict_and_bounds(
    memory: float,
    rate: float,
    line: float,
    channels: int,
    squeeze: Compression,
    transport: Transport,
    auto: bool,
    post: bool,
    limit: float,
) -> None:
    moved = kvm_bandwidth(line, Sender(channels=channels, compression=squeeze, transport=transport))
    done = kvm_precopy(
        memory,
        moved.guest.value,
        rate,
        link_bandwidth=moved.link_rate.value,
        scan_bandwidth=moved.scan,
        auto_converge=auto,
        post_copy=post,
        downtime_limit=limit,
    )
    assert done.reason
    if done.verdict is Verdict.NEVER:
        assert math.isinf(done.total_time.value)
        assert rate > 0
        assert not post
        # what gets it over has a finite answer and a band
        way = kvm_precopy(memory, moved.guest.value, rate, link_bandwidth=moved.link_rate.value, post_copy=True)
        assert way.total_time.low <= way.total_time.value <= way.total_time.high < math.inf
        return
    assert 0 < done.total_time.low <= done.total_time.value < math.inf
    assert done.total_time.value >= memory / moved.guest.value
    # post-copy of the high corner may be quicker than a nominal pre-copy that only just converges
    assert done.downtime.low <= done.downtime.value
    _conserved(done, memory, memory) if squeeze is Compression.NONE else None
    if done.verdict is Verdict.SLOWED:
        assert auto
        assert 0 < done.slowdown.value <= 0.99


@given(memories, st.floats(1e3, 1e10), speeds, st.floats(1.0, 8.0))
def test_more_bandwidth_never_delays_a_kvm_guest(memory: float, rate: float, line: float, factor: float) -> None:
    slow, fast = (kvm_precopy(memory, line * f, rate, scan_bandwidth=1e15) for f in (1.0, factor))
    assert fast.total_time.value <= slow.total_time.value + 1e-6
    if slow.converged:
        assert fast.converged


@given(memories, st.floats(1e3, 1e10), speeds, st.floats(1.0, 8.0))
def test_more_writing_never_speeds_a_kvm_guest_up(memory: float, rate: float, line: float, factor: float) -> None:
    calm, busy = (kvm_precopy(memory, line, rate * f) for f in (1.0, factor))
    assume(calm.converged)
    assert busy.total_time.value >= calm.total_time.value - 1e-6


WRONG = [math.nan, math.inf, -1.0]
CALLS: list[tuple[Callable[[float], object], str, bool]] = [
    (lambda x: vmotion_precopy(x, 1e9), "memory", True),
    (lambda x: vmotion_precopy(1e9, x), "bandwidth", True),
    (lambda x: vmotion_precopy(1e9, 1e9, x), "dirty_rate", False),
    (lambda x: vmotion_precopy(1e9, 1e9, 1e6, working_set=x), "working_set", False),
    (lambda x: vmotion_precopy(1e9, 1e9, 1e6, checkpoint=x), "checkpoint", False),
    (lambda x: vmotion_streams([x]), "nic_line_rate", True),
    (lambda x: vmotion_streams([1e9], mtu=x), "mtu", True),
    (lambda x: vmotion_long_distance(1e9, x, 1), "round_trip", False),
    (lambda x: vgpu_stun([VgpuLoad(x)], 1e9, 1e9), "framebuffer_used", True),
    (lambda x: vgpu_stun([VgpuLoad(1e9)], x, 1e9), "source_bandwidth", True),
    (lambda x: vgpu_stun([VgpuLoad(1e9)], 1e9, 1e9, limit=x), "limit", True),
    (lambda x: kvm_precopy(x, 1e9), "memory", True),
    (lambda x: kvm_precopy(1e9, 1e9, x), "dirty_rate", False),
    (lambda x: kvm_precopy(1e9, 1e9, downtime_limit=x), "downtime_limit", True),
    (lambda x: kvm_bandwidth(x), "line_rate", True),
    (lambda x: kvm_vfio_state([VfioState(x)], 1e9), "size", False),
]


@pytest.mark.parametrize("wrong", [*WRONG, 0.0])
@pytest.mark.parametrize(("make", "place", "zero"), CALLS, ids=[f"{n}-{c[1]}" for n, c in enumerate(CALLS)])
def test_what_is_no_number_is_refused_with_its_place(
    make: Callable[[float], object], place: str, zero: bool, wrong: float
) -> None:
    if wrong == 0 and not zero:
        make(wrong)
        return
    with pytest.raises(AnalysisError) as caught:
        make(wrong)
    assert caught.value.place == place
    assert caught.value.remedy
