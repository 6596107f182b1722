"""Speed of evacuation plans and placement; run with ``--benchmark-only``."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from designer.catalog.vgpu import vgpu_type
from designer.formulas.migration.evacuation_schedule import (
    Evacuation,
    EvacuationVm,
    equal_split,
    evacuation_schedule,
)
from designer.formulas.placement import Mode
from designer.formulas.placement.remaining_fit import GpuState, HostState, VmShape, remaining_fit
from tests.bench.pace import paced

HOSTS, VMS = 64, 8


def plan(serial: bool) -> Callable[[], Evacuation]:
    """A cluster of 64 hosts whose 512 machines all move, to up to seven other hosts each."""
    vms = [
        EvacuationVm(
            f"vm{host}-{at}",
            f"host{host}",
            f"host{(host + 1 + 7 * at) % HOSTS}",
            128e9 * (1 + ((7 * host + 3 * at) % 13) / 100),
            serial=serial,
        )
        for host in range(HOSTS)
        for at in range(VMS)
    ]
    bandwidth = {f"host{host}": 9e9 for host in range(HOSTS)}
    return lambda: evacuation_schedule(vms, equal_split(bandwidth, bandwidth))


@pytest.mark.parametrize("serial", [False, True])
def test_a_plan_for_64_hosts_takes_less_than_a_second(benchmark, serial: bool):
    make = plan(serial)
    done = benchmark(make)
    assert len(done.moves) == HOSTS * VMS
    assert paced(make, turns=3) < 1.0


def test_the_fit_of_a_shape_on_64_hosts_takes_less_than_a_second(benchmark):
    gpu = vgpu_type("h100-80-sxm")
    hosts = [
        HostState(f"host{at}", tuple(GpuState(f"gpu{n}", gpu, Mode.MIXED_SIZE) for n in range(8)))
        for at in range(HOSTS)
    ]

    def fit() -> int:
        return remaining_fit(hosts, VmShape(("20C",))).count

    assert benchmark(fit) == HOSTS * 8 * 4
    assert paced(fit, turns=3) < 1.0
