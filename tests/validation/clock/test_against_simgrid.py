"""The clock and SimGrid on 200 random programs: what it said, kept, on every run; SimGrid itself as a long trial."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.validation.clock import simgrid_speed
from tests.validation.clock.comparison import by_clock, by_simgrid, largest, python_with_simgrid, stored
from tests.validation.clock.drawn_programs import CASES, FLOWS, digest, drawn

#: 1 % was asked for; both are exact to what is stored, 9 digits
AGREES = 1e-7
CHUNK = 25


def flows_in(case: dict[str, Any]) -> int:
    """How many flows a case sends."""
    return sum(len(s.get("flows", ())) * (p["times"] // s["every"]) for p in case["programs"] for s in p["steps"])


@pytest.mark.parametrize("first", range(0, CASES, CHUNK))
def test_what_simgrid_said(first: int):
    for seed, kept in list(enumerate(stored()))[first : first + CHUNK]:
        case = drawn(seed)
        assert digest(case) == kept["digest"], "another case was drawn: ask SimGrid anew"
        assert largest(by_clock(case), kept["ends"]) < AGREES, seed


def test_the_cases_are_worth_the_comparison():
    cases = [drawn(seed) for seed in range(CASES)]
    flows = [flows_in(case) for case in cases]
    assert max(flows) <= FLOWS
    assert sum(n >= FLOWS / 2 for n in flows) > CASES / 4
    programs = [program for case in cases for program in case["programs"]]
    steps = [step for program in programs for step in program["steps"]]
    assert any(program["arrivals"] for program in programs)
    assert any(step["lags"] for step in steps)
    assert any(step["every"] > 1 for step in steps)
    assert any("engine" in step for step in steps)
    weights = {flow["weight"] for step in steps for flow in step.get("flows", ())}
    assert weights == {1.0, 2.0, 3.0}


def two_flows(weights: tuple[float, float]) -> dict[str, Any]:
    """10 GB each over one link of 1 GB/s, after a latency of half a second by weight."""
    programs = [
        {
            "name": f"p{k}",
            "start": 0.0,
            "times": 1,
            "arrivals": None,
            "steps": [
                {
                    "name": "s",
                    "after": [],
                    "lags": {},
                    "every": 1,
                    "flows": [{"links": [0], "bytes": 1e10, "latency": 0.5 / w, "weight": w, "cap": 0.0}],
                }
            ],
        }
        for k, w in enumerate(weights)
    ]
    return {"seed": -1, "links": [1e9], "engines": 1, "programs": programs}


def test_two_weighted_flows_by_hand():
    """Weights 2 and 1: the first begins at 0.25 s and has 0.25 GB through at 0.5 s, when the second begins; then 2/3 of
    the link, 9.75 GB in 14.625 s: 15.125 s. Both moved 20 GB over a link that was never idle from 0.25 s on: 20.25."""
    ends = {"p0.s": [15.125], "p1.s": [20.25]}
    assert largest(by_clock(two_flows((2.0, 1.0))), ends) < 1e-12


@pytest.mark.long
def test_simgrid_itself():
    python = python_with_simgrid()
    if not python:
        pytest.skip("no Python here has the module simgrid")
    cases = [drawn(seed) for seed in range(CASES)]
    found = by_simgrid([*cases, two_flows((2.0, 1.0))], python)
    assert largest({"p0.s": [15.125], "p1.s": [20.25]}, found.pop()) < AGREES
    for case, ends, kept in zip(cases, found, stored(), strict=True):
        assert largest(ends, kept["ends"]) < AGREES, case["seed"]
        assert largest(by_clock(case), ends) < AGREES, case["seed"]


def test_how_much_sooner_than_simgrid_as_measured():
    """On 16,384 flows of which none are equivalent: at least 150 times; the difference grows with the size."""
    rows = [row for row in simgrid_speed.stored() if row["case"] == "permutation"]
    ratios = [simgrid_speed.ratio(row) for row in rows]
    assert rows[-1]["gpus"] == 16384
    assert ratios[-1] >= 150
    assert ratios == sorted(ratios)
    assert all(row["difference"] < AGREES for row in simgrid_speed.stored())


def test_how_much_sooner_classes_are_solved_as_measured():
    """98,304 GPUs that read at once: at least 1,000 times, in the time that 1,024 take."""
    rows = {row["gpus"]: row for row in simgrid_speed.stored() if row.get("from") == "storage"}
    assert simgrid_speed.ratio(rows[98304]) >= 1000
    assert rows[98304]["solve"] <= 1.5 * rows[1024]["solve"]


@pytest.mark.long
def test_how_much_sooner_than_simgrid_is_now():
    """Processor time of both in one run, at a quarter of the size: less than half of what was measured is a loss."""
    made = os.environ.get("SIMGRID_SOLVE", "")
    if not made:
        pytest.skip("SIMGRID_SOLVE names no program made of simgrid_solve.cpp")
    row = simgrid_speed.of_permutation(made, 4096)
    (kept,) = [r for r in simgrid_speed.stored() if r["case"] == "permutation" and r["gpus"] == 4096]
    assert row["difference"] < AGREES
    assert simgrid_speed.ratio(row) > simgrid_speed.ratio(kept) / 2
