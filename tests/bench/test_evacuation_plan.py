"""Speed of evacuation plans; run with ``--benchmark-only``."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from designer.analysis.flows import Incidence
from designer.formulas.migration.evacuation_schedule import (
    Evacuation,
    EvacuationVm,
    evacuation_schedule,
)
from tests.bench.naive import naive
from tests.bench.ratios import against
from tests.evacuation_rates import equal_split

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


def filled() -> object:
    """All moves at once, their rates found by the naive filling."""
    rows = [[(host, 1.0), (HOSTS + (host + 1 + 7 * at) % HOSTS, 1.0)] for host in range(HOSTS) for at in range(VMS)]
    moves = len(rows)
    return naive(Incidence.from_rows(rows, [9e9 + k for k in range(2 * HOSTS)], [1.0] * moves, [math.inf] * moves))


@pytest.mark.parametrize(("serial", "most"), [(False, 17), (True, 3.7)])
def test_a_plan_for_64_hosts_costs_some_naive_fillings(benchmark, serial: bool, most: float):
    """A second is aimed at."""
    make = plan(serial)
    done = benchmark(make)
    assert len(done.moves) == HOSTS * VMS
    assert against(benchmark, make, filled, turns=5) <= most
