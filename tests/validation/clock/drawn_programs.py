"""Random programs in plain words, for this clock and for SimGrid alike: links, and steps with what they wait for.

A program is a dictionary, so that the script that asks SimGrid needs nothing of this project: ``links`` [B/s],
``engines``, and ``programs``: ``start`` [s], ``times``, ``arrivals`` (times from the start [s], or None), and
``steps``: ``name``, ``after``, ``lags``, ``every``, and one of

- ``flows``: each with ``links``, ``bytes``, ``latency`` [s], ``weight`` and ``cap`` [B/s] (0: none);
- ``engine`` and ``seconds``: computing, first come first served;
- ``seconds`` alone: a delay.

In SimGrid's CM02 flows share by the inverse of their latency. Either no flow of a case has a latency and all weigh the
same, or every weight is the inverse of the latency.
"""

from __future__ import annotations

import hashlib
import json
import random
from typing import Any

#: how many cases are compared, of how many flows each at most
CASES, FLOWS = 200, 64


def drawn(seed: int) -> dict[str, Any]:
    """The case of a seed."""
    draw = random.Random(seed)
    links = [draw.uniform(1e9, 10e9) for _ in range(draw.randint(2, 20))]
    engines = draw.randint(1, 4)
    base = draw.choice([0.0, 0.02, 0.2])
    budget = draw.randint(2, FLOWS)
    programs: list[dict[str, Any]] = []
    while budget > 0:
        program, flows = _program(draw, links, engines, base, budget, len(programs))
        programs.append(program)
        budget -= flows
    return {"seed": seed, "links": links, "engines": engines, "programs": programs}


def _program(
    draw: random.Random, links: list[float], engines: int, base: float, budget: int, number: int
) -> tuple[dict[str, Any], int]:
    times = draw.choice([1, 1, 2, 3, 5])
    most = max(1, budget // times)
    times = min(times, budget)
    weight = draw.choice([1.0, 1.0, 2.0, 3.0])
    steps: list[dict[str, Any]] = []
    free = list(range(engines))
    draw.shuffle(free)
    flows = 0
    for k in range(draw.randint(1, 6)):
        before = draw.sample(range(k), draw.randint(0, min(2, k)))
        step: dict[str, Any] = {"name": f"s{k}", "after": [f"s{i}" for i in sorted(before)], "lags": {}, "every": 1}
        sort = draw.random()
        if flows < most and (sort < 0.7 or k == 0):
            several = min(most - flows, draw.choice([1, 1, 1, 2, 4, 8]))
            step["flows"] = _flows(draw, links, several, base, weight)
            flows += several
        elif sort < 0.85 and free:
            step |= {"engine": free.pop(), "seconds": draw.uniform(0.1, 3)}
        else:
            step["seconds"] = draw.uniform(0.1, 3)
        steps.append(step)
    arrivals = None
    if times > 1 and draw.random() < 0.3:
        at = 0.0
        arrivals = []
        for _ in range(times):
            at += draw.expovariate(0.5)
            arrivals.append(at)
    elif times > 1 and draw.random() < 0.5:
        # a buffer: the first steps run ahead of the last one by so many items
        for step in steps:
            if not step["after"]:
                step["lags"] = {step["name"]: 1}
        last = steps[-1]["name"]
        if steps[0]["name"] != last:
            steps[0]["lags"][last] = draw.choice([1, 2, 3])
    if times > 2 and steps[-1]["after"] and draw.random() < 0.2:
        steps[-1]["every"] = 2
    start = draw.uniform(0.001, 3)
    program = {"name": f"p{number}", "start": start, "times": times, "arrivals": arrivals, "steps": steps}
    return program, max(1, flows * times)


def _flows(draw: random.Random, links: list[float], n: int, base: float, weight: float) -> list[dict[str, Any]]:
    def one(through: list[int], size: float, cap: float) -> dict[str, Any]:
        return {
            "links": through,
            "bytes": size,
            "latency": base / weight,
            "weight": weight if base else 1.0,
            "cap": cap,
        }

    size = float(draw.randint(10**8, 9 * 10**9))
    cap = draw.choice([0.0, 0.0, 0.0, draw.uniform(2e8, 2e9)])
    if n > 1 and draw.random() < 0.4:
        # alike: the same bytes over the same links
        through = draw.sample(range(len(links)), draw.randint(1, min(4, len(links))))
        return [one(through, size, cap) for _ in range(n)]
    found: list[dict[str, Any]] = []
    for _ in range(n):
        through = draw.sample(range(len(links)), draw.randint(1, min(4, len(links))))
        found.append(one(through, float(draw.randint(10**8, 9 * 10**9)), cap))
    return found


def digest(case: dict[str, Any]) -> str:
    """What distinguishes a case from another one."""
    return hashlib.sha256(json.dumps(case, sort_keys=True).encode()).hexdigest()[:16]
