"""Speed of evacuation plans; run with ``--benchmark-only``."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from designer.formulas.migration.evacuation_schedule import (
    Evacuation,
    EvacuationVm,
    equal_split,
    evacuation_schedule,
)
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
