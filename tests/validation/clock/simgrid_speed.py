"""How long SimGrid takes to build and to solve what the engine solves, beside it on the same problems in one run.

``python -m tests.validation.clock.simgrid_speed SIMGRID_SOLVE [--write]`` with the program that `simgrid_solve.cpp`
tells how to make. Processor time throughout, so that what else runs counts for nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from designer.analysis.flows import Incidence, solve
from designer.analysis.network import build_network
from designer.analysis.transfers import evaluate_transfer
from designer.workload.operations import Transfer
from tests.bench.engine_timing import cluster
from tests.bench.instances import permutation

KEPT = Path(__file__).with_name("simgrid_speed.json")
#: GPUs of the permutations; eight a server
PERMUTED = (256, 1024, 4096, 16384)
#: units of 256 GPUs that all read from their host's memory at once
UNIFORM = (1, 16, 64, 384)
LIMIT = 500.0


def by_simgrid(program: str, incidence: Incidence) -> tuple[float, float, np.ndarray]:
    """Seconds of building and of solving, and the rates."""
    sizes = np.array([incidence.n_activities, len(incidence.capacity), len(incidence.resource)], dtype=np.int64)
    rows = (incidence.usage, incidence.capacity, incidence.weight, incidence.demand)
    data = b"".join(
        [
            *(np.ascontiguousarray(part, dtype=np.int64).tobytes() for part in (sizes, incidence.ptr)),
            np.ascontiguousarray(incidence.resource, dtype=np.int64).tobytes(),
            *(np.ascontiguousarray(part, dtype=np.float64).tobytes() for part in rows),
        ]
    )
    told = subprocess.run([program], input=data, capture_output=True, check=True, timeout=LIMIT).stdout.decode()
    first, *rates = told.split("\n")
    build, solved = map(float, first.split())
    return build, solved, np.array([float(rate) for rate in rates if rate])


def of_permutation(program: str, gpus: int) -> dict[str, Any]:
    """A random permutation over hashed single paths, with weights and caps: nothing is alike."""
    incidence = permutation(gpus // 8)
    times: list[float] = []
    for _ in range(5):
        fresh = permutation(gpus // 8)
        begin = time.process_time()
        rate = solve(fresh).rate
        times.append(time.process_time() - begin)
    build, solved, rates = by_simgrid(program, incidence)
    return {
        "case": "permutation",
        "gpus": gpus,
        "entries": len(incidence.resource),
        "solve": float(np.median(times)),
        "simgrid_build": build,
        "simgrid_solve": solved,
        "difference": float(np.max(np.abs(rates - rate) / np.maximum(rate, 1e-9))),
    }


def of_uniform(program: str, units: int) -> dict[str, Any]:
    """Host memory to all GPUs at once on drawn servers: classes are found and solved; SimGrid has every flow."""
    network = build_network(cluster(units))
    asked = Transfer("load", "memory", "gpus")
    begin = time.process_time()
    found = evaluate_transfer(network, asked, "speed", explained=False)
    took = time.process_time() - begin
    problem = found.problem
    times: list[float] = []
    for _ in range(5):
        again = problem.incidence.with_capacity(problem.incidence.capacity.copy())
        begin = time.process_time()
        solve(again)
        times.append(time.process_time() - begin)
    whole = found.expanded().incidence
    build, solved, rates = by_simgrid(program, whole)
    ours = solve(whole).rate
    return {
        "case": "uniform",
        "gpus": units * 256,
        "entries": len(whole.resource),
        "from_the_drawing": took,
        "solve": float(np.median(times)),
        "simgrid_build": build,
        "simgrid_solve": solved,
        "difference": float(np.max(np.abs(rates - ours) / np.maximum(ours, 1e-9))),
    }


def ratio(row: dict[str, Any]) -> float:
    """SimGrid's building and solving over ours [1]."""
    return (row["simgrid_build"] + row["simgrid_solve"]) / row["solve"]


def stored() -> list[dict[str, Any]]:
    """What was measured."""
    return json.loads(KEPT.read_text(encoding="utf-8"))["rows"]


if __name__ == "__main__":
    rows = []
    for make, sizes in ((of_permutation, PERMUTED), (of_uniform, UNIFORM)):
        for size in sizes:
            rows.append(make(sys.argv[1], size))
            sys.stdout.write(f"{rows[-1]} {ratio(rows[-1]):.0f}\n")
            sys.stdout.flush()
    if "--write" in sys.argv:
        text = json.dumps({"simgrid": "3.32", "seconds": "of processor time", "rows": rows}, indent=1)
        KEPT.write_text(text + "\n", encoding="utf-8")
