"""Emptying hosts: the plan, and where machines can go."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.errors import AnalysisError
from designer.formulas.migration.evacuation_schedule import (
    EvacuationVm,
    Move,
    evacuation_schedule,
)
from designer.formulas.migration.evacuation_targets import FreeCapacity, Guest, evacuation_targets
from designer.units import parse_rate
from tests.evacuation_rates import equal_split

GB = 1e9


@pytest.mark.parametrize(
    ("link", "serial", "together"), [("10 Gb/s", 1806, 1771), ("25 Gb/s", 747, 712), ("100 Gb/s", 217, 182)]
)
def test_eight_machines_with_gpus(link: str, serial: float, together: float) -> None:
    """128 GB of memory resent by a tenth, 80 GB of frame buffer, 80 % of the line."""
    rates = equal_split({"a": 0.8 * parse_rate(link)}, {"b0": 0.8 * parse_rate(link)})
    one, many = (evacuation_schedule(one_host(8, serial=alone), rates) for alone in (True, False))
    assert one.makespan.value == pytest.approx(serial, abs=0.6)
    assert many.makespan.value == pytest.approx(together, abs=0.6)


def one_host(count: int, *, serial: bool = False, targets: int = 1) -> list[EvacuationVm]:
    return [EvacuationVm(f"vm{at}", "a", f"b{at % targets}", 220.8 * GB, serial=serial) for at in range(count)]


def test_the_plan_agrees_with_arithmetic() -> None:
    rates = equal_split({"a": 10 * GB}, {"b0": 10 * GB})
    serial = evacuation_schedule(one_host(8, serial=True), rates)
    together = evacuation_schedule(one_host(8), rates)
    assert serial.makespan.value == pytest.approx(8 * (22.08 + 5))
    assert together.makespan.value == pytest.approx(8 * 22.08 + 5)
    assert (serial.most_at_once, together.most_at_once) == (1, 8)


def test_a_slow_destination_binds_and_two_do_not() -> None:
    narrow = equal_split({"a": 10 * GB}, {"b0": 2 * GB, "b1": 2 * GB})
    one = evacuation_schedule(one_host(8), narrow)
    two = evacuation_schedule(one_host(8, targets=2), narrow)
    assert two.makespan.value < 0.6 * one.makespan.value


def test_known_durations_are_scheduled_longest_first() -> None:
    vms = [EvacuationVm(f"vm{at}", "a", "b", 0, fixed_time=time) for at, time in enumerate((3, 5, 2, 4))]
    done = evacuation_schedule(vms, lambda moving: [], slots=2)
    assert done.makespan.value == 7
    assert [move.vm.name for move in done.moves[:2]] == ["vm1", "vm3"]


def test_serial_machines_are_alone_on_both_hosts() -> None:
    vms = [*one_host(3), EvacuationVm("gpu", "a", "b0", 80 * GB, serial=True), *_from("c", 2)]
    done = evacuation_schedule(vms, equal_split({"a": GB, "c": GB}, {"b0": GB}))
    gpu = next(move for move in done.moves if move.vm.name == "gpu")
    others = [move for move in done.moves if move.vm.name != "gpu"]
    assert all(move.end <= gpu.start or move.start >= gpu.end for move in others)


def _from(source: str, count: int) -> list[EvacuationVm]:
    return [EvacuationVm(f"{source}-{at}", source, "b0", 10 * GB) for at in range(count)]


vms_lists = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 3), st.floats(0, 1e11), st.floats(0, 9), st.booleans()),
    min_size=1,
    max_size=24,
)


@given(vms_lists, st.integers(1, 8))
def test_every_plan_keeps_the_rules(rows: list[tuple[int, int, float, float, bool]], slots: int) -> None:
    vms = [
        EvacuationVm(f"vm{at}", f"h{source}", f"h{(source + hop) % 4}", size, fixed, serial=serial)
        for at, (source, hop, size, fixed, serial) in enumerate(rows)
    ]
    bandwidth = {f"h{at}": (at + 1) * GB for at in range(4)}
    done = evacuation_schedule(vms, equal_split(bandwidth, bandwidth), slots=slots)
    assert sorted(move.vm.name for move in done.moves) == sorted(vm.name for vm in vms)
    assert done.makespan.value == pytest.approx(max(move.end for move in done.moves))
    assert done.makespan.low <= done.makespan.value <= done.makespan.high
    for host, rate in bandwidth.items():
        # no plan sends the bytes of a source faster than its bandwidth
        assert done.makespan.value >= sum(vm.size for vm in vms if vm.source == host) / rate * (1 - 1e-9)
    assert done.remaining[-1] == pytest.approx(0, abs=1)
    assert all(earlier >= later - 1 for earlier, later in zip(done.remaining, done.remaining[1:], strict=False))
    for move in done.moves:
        busy = _beside(move, done.moves)
        for host in (move.vm.source, move.vm.destination):
            there = [other for other in busy if host in (other.vm.source, other.vm.destination)]
            assert len(there) < slots
            assert not there or not (move.vm.serial or any(other.vm.serial for other in there))


def _beside(move: Move, moves: Sequence[Move]) -> list[Move]:
    """Moves under way when this one starts, itself and those that take no time aside."""
    lasting = [each for each in moves if each.end > each.start and each is not move]
    return [each for each in lasting if move.end > move.start and each.start <= move.start < each.end]


def test_rates_are_given_by_the_network() -> None:
    seen: list[int] = []

    def rule(moving: Sequence[EvacuationVm]) -> Sequence[float]:
        seen.append(len(moving))
        return [min(vm.rate_cap, GB) for vm in moving]

    vms = [EvacuationVm("a", "x", "y", 10 * GB, 0, rate_cap=0.5 * GB), EvacuationVm("b", "x", "y", 10 * GB, 0)]
    done = evacuation_schedule(vms, rule)
    assert {move.vm.name: move.end for move in done.moves} == pytest.approx({"a": 20, "b": 10})
    assert seen[0] == 2


def test_bad_input() -> None:
    rates = equal_split({"a": GB}, {"b": GB})
    with pytest.raises(AnalysisError, match="no virtual machine"):
        evacuation_schedule([], rates)
    with pytest.raises(AnalysisError, match="same host"):
        evacuation_schedule([EvacuationVm("v", "a", "a", GB)], rates)
    with pytest.raises(AnalysisError, match="two virtual machines"):
        evacuation_schedule([EvacuationVm("v", "a", "b", GB)] * 2, rates)
    with pytest.raises(AnalysisError, match="size of v"):
        evacuation_schedule([EvacuationVm("v", "a", "b", -1)], rates)
    with pytest.raises(AnalysisError, match="slots of a"):
        evacuation_schedule([EvacuationVm("v", "a", "b", GB)], rates, slots={"a": 0, "b": 1})
    with pytest.raises(AnalysisError, match="no slots are given"):
        evacuation_schedule([EvacuationVm("v", "a", "b", GB)], rates, slots={"a": 1})
    with pytest.raises(AnalysisError, match="no bandwidth"):
        evacuation_schedule([EvacuationVm("v", "a", "b", GB)], lambda moving: [0.0 for _ in moving])


ROOMS = [FreeCapacity("a", 512 * GB, 64), FreeCapacity("b", 512 * GB, 64), FreeCapacity("c", 128 * GB, 8)]


def test_targets_are_spread_and_gpu_shapes_go_where_they_fit() -> None:
    guests = [Guest("gpu", "a", 200 * GB, 16, shape="80C"), *(Guest(f"v{at}", "a", 100 * GB, 8) for at in range(3))]
    found = evacuation_targets(guests, ROOMS, lambda host, taken, guest: host == "b" and not taken)
    assert found.feasible
    assert found.host_of["gpu"] == "b"
    assert "a" not in found.host_of.values()
    assert set(found.host_of.values()) == {"b", "c"}


def test_a_missing_shape_is_reported_and_not_timed() -> None:
    found = evacuation_targets([Guest("gpu", "a", GB, 1, shape="80C")], ROOMS)
    assert not found.feasible
    assert found.homeless == {"gpu": "no host can take shape 80C"}


def test_a_machine_larger_than_every_host_is_refused() -> None:
    with pytest.raises(AnalysisError, match="more memory than any host"):
        evacuation_targets([Guest("big", "a", 600 * GB, 1)], ROOMS)
    with pytest.raises(AnalysisError, match="no host to evacuate to"):
        evacuation_targets([Guest("v", "a", GB, 1)], [])


def test_an_unlimited_machine_is_not_slowed_by_its_cap() -> None:
    assert EvacuationVm("v", "a", "b", GB).rate_cap == math.inf
