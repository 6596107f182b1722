"""How long SimGrid takes to build and to solve what the engine solves, next to it on the same problems in one run.

``python -m tests.validation.clock.simgrid_speed SIMGRID_SOLVE [--write]`` with the program that `simgrid_solve.cpp`
states how to make. Processor time throughout, so that what else runs counts for nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from designer.engine import transfers
from designer.engine.flows import Incidence, solve
from designer.engine.network import build_network
from designer.engine.transfers import Problem, evaluate_transfer
from designer.interchange.templates import open_design
from designer.workload.program import Move
from tests.bench.instances import permutation

KEPT = Path(__file__).with_name("simgrid_speed.json")
#: GPUs of the permutations; eight a server
PERMUTED = (256, 1024, 4096, 16384)
#: clusters whose GPUs all read at once, and what they read from
UNIFORM = (
    ("cluster-1024", "storage"),
    ("cluster-16384", "storage"),
    ("cluster-98304", "storage"),
    ("cluster-98304", "memory"),
)
#: a millisecond is measured so many times: what else runs takes the caches away now and then
TURNS = 101
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
    stated = subprocess.run([program], input=data, capture_output=True, check=True, timeout=LIMIT).stdout.decode()
    first, *rates = stated.split("\n")
    build, solved = map(float, first.split())
    return build, solved, np.array([float(rate) for rate in rates if rate])


def of_permutation(program: str, gpus: int) -> dict[str, Any]:
    """A random permutation over hashed single paths, with weights and caps: nothing is equivalent."""
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


def of_uniform(program: str, template: str, source: str) -> dict[str, Any]:
    """All GPUs of a drawn cluster read at once: one flow of each class is routed, priced and solved, with the
    certificate; SimGrid has every flow. Which flows are equivalent was found before, as it stays from edit to edit.
    """
    network = build_network(open_design(template))
    asked = Move(source, "gpus")
    begin = time.process_time()
    found = evaluate_transfer(network, asked, "speed", explained=False)
    took = time.process_time() - begin
    question = transfers._pair_transfer(network, asked, "speed")
    folded = question.folded()
    times: list[float] = []
    for _ in range(TURNS):
        begin = time.process_time()
        solve(Problem(question, folded).incidence)
        times.append(time.process_time() - begin)
    whole = found.expanded().incidence
    build, solved, rates = by_simgrid(program, whole)
    ours = found.rate[found.expanded().flow]
    return {
        "case": "uniform",
        "from": source,
        "gpus": len(found.rate),
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
    program = sys.argv[1]
    cases = [partial(of_permutation, program, n) for n in PERMUTED] + [
        partial(of_uniform, program, *u) for u in UNIFORM
    ]
    for case in cases:
        rows.append(case())
        sys.stdout.write(f"{rows[-1]} {ratio(rows[-1]):.0f}\n")
        sys.stdout.flush()
    if "--write" in sys.argv:
        text = json.dumps({"simgrid": "3.32", "seconds": "of processor time", "rows": rows}, indent=1)
        KEPT.write_text(text + "\n", encoding="utf-8")
