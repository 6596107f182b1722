"""The clock and SimGrid on the same random programs: ``python -m tests.validation.clock.comparison --write``.

Without ``--write`` it prints the largest difference. SimGrid is asked with the first Python found that has it.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import designer
from designer.engine.account.bottlenecks import Limit
from designer.engine.clock.jobs import job_of
from designer.engine.clock.player import play
from designer.engine.costs import Cost, Priced, Prices
from designer.engine.network import Network, build_network
from designer.workload.program import Arrivals, Compute, Delay, Program, Step
from tests.validation.clock.drawn_programs import CASES, digest, drawn

HERE = Path(__file__).parent
FILE = HERE / "simgrid.json"

Ends = dict[str, list[float]]


def python_with_simgrid() -> str:
    """A Python that can import ``simgrid``; empty if there is none."""
    for name in (sys.executable, "python3", "/usr/bin/python3"):
        found = shutil.which(name)
        if found and subprocess.run([found, "-c", "import simgrid"], capture_output=True, timeout=60).returncode == 0:
            return found
    return ""


def by_simgrid(cases: list[dict[str, Any]], python: str) -> list[Ends]:
    """Ends of all steps by SimGrid."""
    asked = [python, str(HERE / "simgrid_ends.py")]
    stated = subprocess.run(asked, input=json.dumps(cases), capture_output=True, text=True, check=True, timeout=900)
    return json.loads(stated.stdout)


def by_clock(case: dict[str, Any]) -> Ends:
    """Ends of all steps by the clock, as programs of tasks with prices."""
    prices = Prices(_network())
    links = [prices.table.limit(Limit(f"link{k}", f"link {k}", rate), k) for k, rate in enumerate(case["links"])]
    jobs = [job_of(_program(program, links)) for program in case["programs"]]
    run = play(prices, jobs)
    assert run.done, run.findings
    ends: defaultdict[str, list[float]] = defaultdict(list)
    for task in run.tasks:
        if task.step != "arrival":
            ends[f"{task.program}.{task.step}"].append(task.ended)
    return {name: sorted(found) for name, found in ends.items()}


@cache
def _network() -> Network:
    """Any that has as many accelerators as cases have engines."""
    return build_network(designer.open_design("hgx-h100-8"))


def _program(program: dict[str, Any], links: list[int]) -> Program:
    steps = tuple(
        Step(step["name"], _task(step, links), tuple(step["after"]), step["lags"], step["every"])
        for step in program["steps"]
    )
    arrivals = Arrivals("trace", times=tuple(program["arrivals"])) if program["arrivals"] else None
    return Program(program["name"], steps, program["times"], arrivals, program["start"])


def _task(step: dict[str, Any], links: list[int]) -> Compute | Delay | Priced:
    if "flows" not in step:
        if "engine" in step:
            return Compute(f"gpu{step['engine']}", step["seconds"])
        return Delay(step["seconds"])
    flows = step["flows"]
    rows = [sorted(links[n] for n in flow["links"]) for flow in flows]
    return Priced(
        Cost(
            np.cumsum([0, *map(len, rows)]),
            np.array([r for row in rows for r in row]),
            np.ones(sum(map(len, rows))),
            np.array([flow["bytes"] for flow in flows]),
            np.array([flow["cap"] or math.inf for flow in flows]),
            np.array([flow["weight"] for flow in flows]),
            np.array([flow["latency"] for flow in flows]),
            np.full(len(flows), -1),
            unit="B",
        )
    )


def largest(mine: Ends, theirs: Ends) -> float:
    """The largest relative difference of the ends of two runs."""
    assert mine.keys() == theirs.keys()
    return max(abs(a - b) / b for name in mine for a, b in zip(mine[name], theirs[name], strict=True))


def stored() -> list[dict[str, Any]]:
    """What SimGrid said of each case, with its digest."""
    return json.loads(FILE.read_text("utf-8"))["cases"]


if __name__ == "__main__":
    cases = [drawn(seed) for seed in range(CASES)]
    found = by_simgrid(cases, python_with_simgrid())
    off = [largest(by_clock(case), ends) for case, ends in zip(cases, found, strict=True)]
    worst = sorted(range(len(off)), key=off.__getitem__)[-5:]
    sys.stdout.write(f"{len(cases)} cases, differences up to {max(off):.2g}; worst {[(k, off[k]) for k in worst]}\n")
    if "--write" in sys.argv:
        rows = [json.dumps({"digest": digest(case), "ends": ends}) for case, ends in zip(cases, found, strict=True)]
        FILE.write_text('{"cases": [\n' + ",\n".join(rows) + "\n]}\n", "utf-8")
