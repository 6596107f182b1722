"""Where machines of a host that is emptied can go."""

from __future__ import annotations

import pytest

from designer.errors import AnalysisError
from designer.families.machines.formulas.evacuation_targets import FreeCapacity, Guest, evacuation_targets

GB = 1e9

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
