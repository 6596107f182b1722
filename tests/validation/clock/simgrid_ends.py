"""When every step ends by SimGrid: ``python3 simgrid_ends.py < cases.json > ends.json``, with the module ``simgrid``.

Needs nothing of this project. Every item of every step is an actor that waits for those before it, then sends its
flows, holds its engine or sleeps. The model is CM02 with latency and bandwidth factors of 1, without TCP gamma and
without cross-traffic. Each case runs in a process of its own: SimGrid has one engine in each.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

#: each flow has a link of its own for its latency and its cap; where it has no cap, this wide [B/s]
WIDE = 1e18
MODEL = (
    "network/model:CM02",
    "network/latency-factor:1",
    "network/bandwidth-factor:1",
    "network/TCP-gamma:0",
    "network/crosstraffic:0",
    "network/weight-S:0",
    "surf/precision:1e-9",
)


def ends_of(case: dict[str, Any]) -> dict[str, list[float]]:
    """Ends of all items of each step, by ``program.step`` [s]."""
    import simgrid

    engine = simgrid.Engine(["simgrid", "--log=root.thres:error", *(f"--cfg={option}" for option in MODEL)])
    zone = simgrid.NetZone.create_full_zone("world")
    links = []
    for k, rate in enumerate(case["links"]):
        link = zone.create_link(f"link{k}", rate)
        link.set_latency(0.0)
        links.append(link.seal())
    pairs: dict[str, tuple[Any, Any]] = {}
    for program in case["programs"]:
        for step in program["steps"]:
            for i in range(program["times"]):
                for k, flow in enumerate(step.get("flows", ())):
                    name = f"{program['name']}.{step['name']}.{i}.{k}"
                    near, far = zone.create_host(f"{name}.near", 1e9), zone.create_host(f"{name}.far", 1e9)
                    own = zone.create_link(name, flow["cap"] or WIDE)
                    own.set_latency(flow["latency"])
                    through = [own.seal(), *(links[n] for n in flow["links"])]
                    route = [simgrid.LinkInRoute(link) for link in through]
                    zone.add_route(near.netpoint, far.netpoint, None, None, route, False)
                    pairs[name] = near, far
    home = zone.create_host("home", 1e9)
    zone.seal()
    engines = [simgrid.Mutex() for _ in range(case["engines"])]
    ends: dict[str, list[float]] = {}

    for program in case["programs"]:
        _actors(simgrid, program, home, engines, pairs, ends)
    engine.run()
    return ends


def _actors(simgrid: Any, program: dict[str, Any], home: Any, engines: list[Any], pairs: Any, ends: Any) -> None:
    steps, times = program["steps"], program["times"]
    before = _before(program)
    done = {(step["name"], i): [] for step in steps for i in range(times)}
    gates = {}
    for step in steps:
        for i in range(times):
            gates[step["name"], i] = simgrid.Semaphore(0)
            for one in before[step["name"], i]:
                done[one].append((step["name"], i))

    def run(step: dict[str, Any], i: int) -> None:
        name = f"{program['name']}.{step['name']}"
        simgrid.this_actor.sleep_until(program["start"])
        if program["arrivals"]:
            simgrid.this_actor.sleep_until(program["start"] + program["arrivals"][i])
        for _ in before[step["name"], i]:
            gates[step["name"], i].acquire()
        if (i + 1) % step["every"] == 0:
            if "flows" in step:
                sent = []
                for k, flow in enumerate(step["flows"]):
                    near, far = pairs[f"{name}.{i}.{k}"]
                    sent.append(simgrid.Comm.sendto_async(near, far, int(flow["bytes"])))
                for comm in sent:
                    comm.wait()
            elif "engine" in step:
                engines[step["engine"]].lock()
                simgrid.this_actor.sleep_for(step["seconds"])
                engines[step["engine"]].unlock()
            else:
                simgrid.this_actor.sleep_for(step["seconds"])
            ends.setdefault(name, []).append(simgrid.Engine.clock)
        for one in done[step["name"], i]:
            gates[one].release()

    for step in steps:
        for i in range(times):
            simgrid.Actor.create(f"{program['name']}.{step['name']}.{i}", home, run, step, i)


def _before(program: dict[str, Any]) -> dict[tuple[str, int], list[tuple[str, int]]]:
    """What each item of each step waits for; items that nothing says more of come one after the other."""
    steps = program["steps"]
    followed = {name for step in steps for name in step["after"]}
    last = [step["name"] for step in steps if step["name"] not in followed]
    any_lags = any(step["lags"] for step in steps)
    found: dict[tuple[str, int], list[tuple[str, int]]] = {}
    for step in steps:
        lags = dict(step["lags"])
        if program["arrivals"] is None and not step["after"] and not lags:
            lags = {step["name"]: 1} if any_lags else dict.fromkeys(last, 1)
        for i in range(program["times"]):
            same = [(name, i) for name in step["after"]]
            found[step["name"], i] = same + [(name, i - lag) for name, lag in lags.items() if i >= lag]
    return found


def _apart(case: dict[str, Any]) -> dict[str, list[float]]:
    """The ends of a case, found in a process of its own."""
    come, go = os.pipe()
    child = os.fork()
    if not child:
        os.close(come)
        with os.fdopen(go, "w") as out:
            json.dump(ends_of(case), out)
            out.flush()
        os._exit(0)
    os.close(go)
    with os.fdopen(come) as read:
        text = read.read()
    os.waitpid(child, 0)
    return {name: sorted(float(f"{end:.9g}") for end in ends) for name, ends in json.loads(text).items()}


if __name__ == "__main__":
    json.dump([_apart(case) for case in json.load(sys.stdin)], sys.stdout)
