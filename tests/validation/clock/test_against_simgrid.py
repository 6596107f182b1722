"""The clock and SimGrid on 200 random programs: what it said, kept, on every run; SimGrid itself as a long trial."""

from __future__ import annotations

from typing import Any

import pytest

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
