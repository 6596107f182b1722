"""No plan of an evacuation stays below its bound, which is right by hand."""

from __future__ import annotations

import pytest

import designer
from designer.families.machines.formulas.evacuation_bound import EvacuationVm, evacuation_bound


def vm(name: str, size: float, to: str = "b", *, fixed: float = 5.0, serial: bool = False) -> EvacuationVm:
    return EvacuationVm(name, "a", to, size, fixed, serial=serial)


def test_bytes_over_the_nic_by_hand() -> None:
    """Ten machines of 10 GB out of one host at 1 GB/s, to two hosts: 5 s of set-up, then 100 GB take 100 s: 105 s.
    Slots are no limit: each is held 5 + 10 s, 150 s over 8 slots are 19 s."""
    machines = [vm(f"m{k}", 10e9, "b" if k % 2 else "c") for k in range(10)]
    assert evacuation_bound(machines, {"a": 1e9, "b": 1e9, "c": 1e9}, 8) == pytest.approx(105)


def test_slots_by_hand() -> None:
    """Eight machines of 1 GB on a fast network, two slots: each is held 5 s and 0.1 s; 8 × 5.1 / 2 = 20.4 s."""
    machines = [vm(f"m{k}", 1e9) for k in range(8)]
    assert evacuation_bound(machines, {"a": 10e9, "b": 10e9}, 2) == pytest.approx(20.4)


def test_those_that_move_alone_add_up_by_hand() -> None:
    """Two of 40 GB that move alone at 1 GB/s take 45 s each, and no ordinary one meanwhile: 90 s and its own 15 s."""
    machines = [vm("g0", 40e9, serial=True), vm("g1", 40e9, serial=True), vm("m", 10e9)]
    assert evacuation_bound(machines, {"a": 1e9, "b": 1e9}, 8) == pytest.approx(105)


def test_an_evacuation_tells_how_near_to_the_best_it_is() -> None:
    study = designer.analyze(designer.open_design("vsphere-cluster-4"), ["evacuate"])
    found = study.workloads[0].metrics
    assert 0 < found["least_time_possible"].value <= found["evacuation_time"].value
    assert "least possible" in found["evacuation_time"].note
