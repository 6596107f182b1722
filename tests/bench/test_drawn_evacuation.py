"""Speed of evacuations on drawn clusters; run with ``--benchmark-only``."""

from __future__ import annotations

import math

import pytest

from designer.analysis.study import run_workload
from designer.design.document import Design, WorkloadSpec
from designer.engine.flows import Incidence
from designer.engine.network import build_network
from designer.engine.results import WorkloadResult
from tests.bench.naive import naive
from tests.bench.ratios import against
from tests.unit.families.machines.machines import plain_cluster, rows

HOSTS, VMS = 64, 8
#: in naive fillings of as many moves, by machines moved
MOST = {VMS: 14, 8 * VMS: 29}


def filled() -> object:
    """All moves at once to up to seven other hosts each, their rates found by the naive filling."""
    rows = [[(host, 1.0), (HOSTS + (host + 1 + 7 * at) % HOSTS, 1.0)] for host in range(HOSTS) for at in range(VMS)]
    moves = len(rows)
    return naive(Incidence.from_rows(rows, [9e9 + k for k in range(2 * HOSTS)], [1.0] * moves, [math.inf] * moves))


def fresh(design: Design) -> Design:
    """An equal design nobody has asked yet, as after an edit."""
    return design.model_copy()


def emptied(design: Design, hosts: str) -> WorkloadResult:
    spec = WorkloadSpec(id="e", kind="evacuation", settings={"hosts": hosts})
    return run_workload(build_network(fresh(design)), spec, curves=True)[0]


@pytest.mark.parametrize(("hosts", "moves"), [("hosts[0]/server", VMS), ("hosts[0-7]/server", 8 * VMS)])
def test_hosts_of_a_cluster_of_512_machines_are_emptied(benchmark, hosts: str, moves: int) -> None:
    """Against the naive filling of the moves of all 512; a second is aimed at."""
    design = plain_cluster(HOSTS, VMS)
    result = benchmark.pedantic(emptied, (design, hosts), rounds=1)
    assert len(rows(result)) == moves
    assert all(row["to"] for row in rows(result).values())
    ratio = against(benchmark, lambda: emptied(design, hosts), filled, turns=5)
    assert ratio <= MOST[moves]
