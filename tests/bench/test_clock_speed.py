"""Speed of the clock: a step of one server, ten minutes of a cluster with all that goes on in it, many events."""

from __future__ import annotations

import itertools
import math
import random
import time
from dataclasses import replace
from typing import Any

import pytest

from designer.analysis.simulation import simulate
from designer.engine.clock.engine import Clock
from designer.engine.clock.jobs import Job, job_of
from designer.engine.clock.player import play
from designer.engine.clock.work import Shape, Work
from designer.engine.costs import Prices
from designer.engine.network import build_network
from designer.errors import Cancelled
from designer.interchange.templates import open_design
from designer.workload.kind import program_of
from designer.workload.program import Delay, Move, Program, Step
from tests.bench.ratios import TURNS, Against, against, heap_of
from tests.precopy import Precopy

#: against a heap of 10,000 events, of 100,000 the last: a training step of one server, ten minutes of 256 GPUs, and
#: 100,000 events on 64 hosts; 30 ms, 2 s and 10 s are aimed at
STEP, CLUSTER, EVENTS = 0.75, 88, 85
#: against a heap of 400,000 events: from the word to stop to the end, and between two looks for it; a fifth of a second
STOP = 1.0


def test_a_training_step_of_one_server(benchmark: Any) -> None:
    design = open_design("hgx-h100-8")
    spec = design.workloads["llama-2-7b-fsdp"]
    program = program_of(spec.kind, spec.settings, "train")
    assert program is not None
    prices, jobs = Prices(build_network(design)), [job_of(replace(program, times=1))]
    play(prices, jobs)
    benchmark(lambda: play(prices, jobs))
    assert against(benchmark, lambda: play(prices, jobs), heap_of(10_000)) <= STEP


def test_ten_minutes_of_a_cluster_that_trains_reads_writes_and_migrates(benchmark: Any) -> None:
    design = open_design("su-h100-32")
    network = build_network(design)
    settings = {
        **design.workloads["llama-2-7b-fsdp"].settings,
        "dataset": "imagenet-1k",
        "checkpoint_every": 20,
        "snapshot": True,
    }
    program = program_of("training", settings, "train")
    assert program is not None
    memories = [network.net.path(int(part)) for part in network.parts_of_kind("memory")]
    way, prices = Move(memories[0], memories[-1], 1.0), Prices(network)
    jobs = [job_of(program), Job("guest", lambda: Precopy(way, 64e9, 1e9, 0.3e9), 60.0)]

    def run() -> None:
        assert play(prices, jobs, until=600.0).end == 600.0

    run()
    benchmark.pedantic(run, rounds=1)
    assert against(benchmark, run, heap_of(10_000), turns=3) <= CLUSTER


def test_a_run_without_an_end_stops_at_once(benchmark: Any) -> None:
    design = open_design("hgx-h100-8")
    program = Program("busy", (Step("a", Delay(1e-6)), Step("b", Delay(1e-6), ("a",))), math.inf)
    times = Against(heap_of(400_000))
    for _ in range(TURNS):
        asked = time.process_time() + 0.2
        looks: list[float] = []

        def cancelled(asked: float = asked, looks: list[float] = looks) -> bool:
            looks.append(time.process_time())
            return looks[-1] >= asked

        with pytest.raises(Cancelled):
            simulate(design, programs=[program], until=1e9, bands=False, cancelled=cancelled)
        looks.append(time.process_time())
        times.add(max(after - before for before, after in itertools.pairwise(looks)))
    times.note(benchmark)
    benchmark.pedantic(heap_of(10), rounds=1)
    assert times.ratio <= STOP


class Turns:
    """Compute, copy, exchange, in turn."""

    def __init__(self, shapes: list[Shape], steps: int, drawn: random.Random) -> None:
        self.shapes, self.left, self.drawn = shapes, 3 * steps, drawn

    def start(self, now: float) -> list[Work]:
        if not self.left:
            return []
        self.left -= 1
        turn = -(self.left + 1) % 3
        amount = self.drawn.uniform(0.9, 1.1) if turn == 0 else self.drawn.uniform(5, 15)
        return [Work(amount, self.shapes[turn])]

    def finished(self, work: Work, now: float) -> list[Work]:
        return self.start(now)


def test_a_hundred_thousand_events_on_64_hosts(benchmark: Any) -> None:
    hosts, steps = 64, 520
    capacity = [1.0] * hosts + [50.0] * hosts + [25.0] * hosts + [100.0] * (hosts // 8)

    def run() -> None:
        drawn = random.Random(5)
        clock = Clock(capacity, dict.fromkeys(range(hosts), 1))
        for h in range(hosts):
            link, port, leaf = hosts + h, 2 * hosts + h, 3 * hosts + h // 8
            shapes = [Shape(cap=1.0, engine=h), Shape([(link, 1.0)]), Shape([(port, 1.0), (leaf, 1.0)])]
            clock.add(Turns(shapes, steps, drawn))
        clock.run()
        assert clock.events > 99_000

    benchmark.pedantic(lambda: None, rounds=1)
    assert against(benchmark, run, heap_of(100_000), turns=1) <= EVENTS
