"""A machine that moves alone takes on the clock what its closed form says, whatever it is and however it moves."""

from __future__ import annotations

from typing import Any

import pytest

from designer.engine.network import build_network
from designer.families.machines.operations import Migrate
from designer.families.machines.planner import departures
from designer.workload.kind import task_of
from tests.unit.families.machines.machines import ask, cluster, rows, value, with_speed

CASES: list[tuple[str, dict[str, Any]]] = [
    ("vmotion", {"vms": "web0"}),
    ("vmotion", {"vms": "web0", "dirty_rate": "700 MB/s", "disks": "100 GB"}),
    ("vmotion", {"vms": "web0", "round_trip": "150 ms"}),
    ("vmotion", {"vms": "lab0"}),
    ("vmotion", {"vms": "lab0", "release": "9.0", "disks": "10 GB"}),
    ("vmotion", {"vms": "lab0", "release": "7.0"}),
    ("vmotion", {"vms": "lab0", "release": "6.7 U3"}),
    ("kvm_migration", {"vms": "web0"}),
    ("kvm_migration", {"vms": "web0", "channels": 8, "compression": "zstd"}),
    ("kvm_migration", {"vms": "web0", "transport": "rdma, all memory pinned"}),
    ("kvm_migration", {"vms": "web0", "dirty_rate": "2 GB/s", "post_copy": True}),
    ("kvm_migration", {"vms": "web0", "dirty_rate": "900 MB/s", "auto_converge": True}),
    ("kvm_migration", {"vms": "lab0", "device_state": "24 GB"}),
    ("kvm_migration", {"vms": "lab0", "device_state": "24 GB", "channels": 4, "multifd_devices": True}),
]


@pytest.mark.parametrize("rate", ["10 Gb/s", "100 Gb/s"])
@pytest.mark.parametrize(("kind", "settings"), CASES)
def test_one_machine_takes_what_its_closed_form_says(kind: str, settings: dict[str, Any], rate: str) -> None:
    design = with_speed(cluster(), rate)
    task = task_of(kind, settings, "w", Migrate)
    assert task is not None
    plan = departures(build_network(design), task.operation, "w")
    (planned,) = plan.planned.values()
    found = ask(design, kind, **settings)
    assert value(found, "migration_time") == pytest.approx(planned.total.value, rel=1e-9)
    (row,) = rows(found).values()
    assert row["pause"] == pytest.approx(planned.downtime.value, rel=1e-9)
    assert row["transferred"] == pytest.approx(planned.transferred.value, rel=1e-9)
    (machine,) = plan.going
    # its parts add up: bytes of memory at the rate it got, its devices' at theirs, and the rest
    state, name = planned.device, machine.name
    memory = planned.memory / row["rate"]
    devices = 0.0
    if state is not None:
        speed = float(plan.model.migration_paths.rates([plan.model.devices[name]])[0])
        devices = (state.before + state.paused) / speed
    assert planned.total.value == pytest.approx(planned.fixed_time + memory + devices, rel=1e-9)
    assert planned.total.low <= planned.total.value <= planned.total.high
