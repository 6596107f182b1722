"""vMotion streams, cores, admission and distance: the published numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.errors import AnalysisError
from designer.families.machines.formulas import Release, read_release
from designer.families.machines.formulas.vmotion_admission import (
    Operation,
    network_room,
    vmotion_admission,
)
from designer.families.machines.formulas.vmotion_cpu import vmotion_cpu
from designer.families.machines.formulas.vmotion_long_distance import vmotion_long_distance
from designer.families.machines.formulas.vmotion_streams import streams_for, vmotion_streams
from designer.units import parse_rate

GBIT = parse_rate("1 Gb/s")
V, S, U = Operation.VMOTION, Operation.STORAGE, Operation.UNSHARED


@pytest.mark.parametrize(
    ("gigabits", "streams"), [(10, 1), (25, 2), (40, 3), (50, 4), (80, 6), (100, 7), (200, 14), (5000, 112)]
)
def test_streams_per_nic_speed(gigabits: int, streams: int) -> None:
    assert streams_for(gigabits * GBIT) == streams


@pytest.mark.parametrize(("vmknics", "gigabits"), [(1, 18), (2, 28), (3, 36)])
def test_adapters_on_40_gbe_before_streams_were_automatic(vmknics: int, gigabits: float) -> None:
    plan = vmotion_streams([40 * GBIT], release=Release.V6_5, vmknics_per_nic=vmknics)
    assert plan.streams == vmknics
    assert plan.bandwidth.value == pytest.approx(gigabits * GBIT, rel=0.03)
    assert plan.bandwidth.low <= gigabits * GBIT <= plan.bandwidth.high


def test_streams_are_automatic_since_7_0_u2() -> None:
    old = vmotion_streams([100 * GBIT], release=Release.V7_0_U1)
    new = vmotion_streams([100 * GBIT], release=Release.V7_0_U2)
    assert (old.streams, new.streams) == (1, 7)
    assert new.bandwidth.value > 3 * old.bandwidth.value
    assert new.limited_by == "streams, one core each"


def test_up_to_80_gigabits_follow_from_streams_and_nics() -> None:
    plan = vmotion_streams([100 * GBIT], release=Release.V8_0_U1)
    assert plan.bandwidth.low <= 80 * GBIT <= plan.bandwidth.high
    assert plan.checkpoint_bandwidth.value == pytest.approx(8.14e9, rel=0.01)
    twice = vmotion_streams([100 * GBIT, 100 * GBIT], release=Release.V8_0_U1)
    assert twice.streams == 14
    assert twice.bandwidth.value == twice.bandwidth.high == twice.checkpoint_bandwidth.value == 80 * GBIT
    assert twice.limited_by == "the fastest vMotion that was published"


def test_small_frames_cost_bandwidth() -> None:
    assert vmotion_streams([10 * GBIT], mtu=1500).bandwidth.value < vmotion_streams([10 * GBIT]).bandwidth.value


@given(st.lists(st.floats(1 * GBIT, 400 * GBIT), min_size=1, max_size=4), st.floats(1, 2))
def test_a_faster_nic_never_carries_less(rates: list[float], factor: float) -> None:
    slow, fast = vmotion_streams(rates), vmotion_streams([rates[0] * factor, *rates[1:]])
    assert fast.bandwidth.value >= slow.bandwidth.value
    assert slow.bandwidth.low <= slow.bandwidth.value <= slow.bandwidth.high
    assert slow.bandwidth.value < sum(rates)


@pytest.mark.parametrize(("rates", "reserved"), [([1], 0.3), ([1] * 4, 0.4), ([10], 1.0)])
def test_reserved_cores(rates: list[int], reserved: float) -> None:
    assert vmotion_cpu([rate * GBIT for rate in rates], 0).reserved == pytest.approx(reserved)


CHART = {
    False: [(10, 0.37, 1.29), (20, 0.97, 2.45), (30, 1.61, 3.5), (40, 2.3, 5.3)],
    True: [(10, 1.13, 1.59), (20, 2.26, 3.34), (30, 4.2, 5.0), (40, 6.0, 6.6)],
}


@pytest.mark.parametrize(("encrypted", "row"), [(on, row) for on, rows in CHART.items() for row in rows])
def test_cores_are_planned_at_or_just_above_the_chart(encrypted: bool, row: tuple[int, float, float]) -> None:
    gigabits, source, destination = row
    cores = vmotion_cpu([100 * GBIT], gigabits * GBIT, encrypted=encrypted)
    for estimate, seen in ((cores.source, source), (cores.destination, destination)):
        assert seen - 0.1 <= estimate.value <= seen + 1.1
        assert estimate.low * 0.98 <= seen <= estimate.high * 1.01


def test_seventeen_cores_at_100_gigabits_encrypted() -> None:
    cores = vmotion_cpu([100 * GBIT], 100 * GBIT, encrypted=True)
    assert cores.source.value == pytest.approx(17, abs=0.5)
    assert cores.destination.value == pytest.approx(17, abs=0.5)


@pytest.mark.parametrize(
    ("gigabits", "consistent", "room"),
    [(0.5, True, 2), (1, True, 4), (8, True, 4), (10, True, 8), (40, True, 8), (100, True, 8), (100, False, 2)],
)
def test_network_class(gigabits: float, consistent: bool, room: int) -> None:
    assert network_room(gigabits * GBIT, consistent=consistent) == room
    assert vmotion_admission(V, {}, slowest_line_rate=gigabits * GBIT, consistent=consistent).more == room


def test_host_costs_since_6_0() -> None:
    assert vmotion_admission(S, {}, slowest_line_rate=10 * GBIT).more == 2
    assert vmotion_admission(U, {}, slowest_line_rate=10 * GBIT).more == 2
    assert vmotion_admission(V, {S: 1}, slowest_line_rate=10 * GBIT).more == 4


def test_250_megabits_for_each() -> None:
    admission = vmotion_admission(V, {}, slowest_line_rate=10 * GBIT, bandwidth=1.1 * GBIT)
    assert (admission.more, admission.binding) == (4, "bandwidth")


@given(st.dictionaries(st.sampled_from(list(Operation)), st.integers(0, 10)), st.sampled_from(list(Operation)))
def test_what_is_admitted_never_exceeds_a_maximum(running: dict[Operation, int], operation: Operation) -> None:
    admission = vmotion_admission(operation, running, slowest_line_rate=10 * GBIT)
    if admission.more:
        more = dict(running)
        more[operation] = more.get(operation, 0) + admission.more
        full = vmotion_admission(operation, more, slowest_line_rate=10 * GBIT)
        assert full.more == 0
        touched = {name for name, used in full.used.items() if used != admission.used[name]}
        assert all(full.used[name] <= full.room[name] for name in touched)


def test_distance() -> None:
    near = vmotion_long_distance(10 * GBIT, 0.0002, 1)
    far = vmotion_long_distance(10 * GBIT, 0.150, 1)
    beyond = vmotion_long_distance(10 * GBIT, 0.151, 8)
    assert near.supported
    assert near.bandwidth.value == 10 * GBIT
    assert not near.latency_mode
    assert far.supported
    assert far.latency_mode
    assert far.bandwidth.value < near.bandwidth.value
    assert beyond.reasons == ("the round trip is longer than 150 ms",)
    assert "250 Mbit/s" in vmotion_long_distance(1 * GBIT, 0.1, 4, concurrent=8).reasons[0]


@given(st.floats(1e6, 2e10), st.floats(0, 0.2), st.floats(1, 5), st.integers(1, 14))
def test_a_longer_way_is_never_faster(bandwidth: float, round_trip: float, factor: float, streams: int) -> None:
    near = vmotion_long_distance(bandwidth, round_trip, streams).bandwidth
    far = vmotion_long_distance(bandwidth, round_trip * factor, streams).bandwidth
    assert far.value <= near.value
    assert near.low <= near.value <= near.high


def test_bad_input() -> None:
    with pytest.raises(AnalysisError, match="no vMotion NIC"):
        vmotion_streams([])
    with pytest.raises(AnalysisError, match="nic_line_rate"):
        vmotion_streams([0.0])
    with pytest.raises(AnalysisError, match="vmknics_per_nic"):
        vmotion_streams([GBIT], vmknics_per_nic=0)
    with pytest.raises(AnalysisError, match="bandwidth"):
        vmotion_cpu([GBIT], -1)
    with pytest.raises(AnalysisError, match="-1 running"):
        vmotion_admission(V, {V: -1}, slowest_line_rate=GBIT)
    with pytest.raises(AnalysisError, match="streams"):
        vmotion_long_distance(GBIT, 0.01, 0)
    with pytest.raises(AnalysisError, match="no vSphere release"):
        read_release("8.5")


@pytest.mark.parametrize("text", ["8.0 U3", "8.0U3", "8.0 u3"])
def test_releases_are_read_as_people_write_them(text: str) -> None:
    assert read_release(text) is Release.V8_0_U3
    assert Release.V8_0_U3.since(Release.V8_0_U1)
    assert not Release.V7_0_U3.since(Release.V8_0)
