"""Rounds of federated learning by hand, an interleaved pipeline against its formula, and how soon a run stops."""

from __future__ import annotations

import itertools
import math

import pytest

from designer.analysis.simulation import simulate
from designer.engine.clock.engine import Clock
from designer.engine.clock.jobs import job_of
from designer.engine.clock.player import play
from designer.engine.clock.work import Shape, Work
from designer.engine.costs import Prices
from designer.engine.network import build_network
from designer.errors import Cancelled
from designer.interchange.templates import open_design
from designer.workload.kind import program_of
from designer.workload.program import Compute, Move, Program, Step
from tests.unit.engine.clock.test_engine import Graph

FEDERATED = {"server": "memory0", "sites": "gpu0", "size": "1 GB", "local_time": "2 s", "rounds": 4}


def test_federated_rounds_by_hand():
    """A round is sending, training and gathering, one after the other; each of the three as long as alone, so four
    rounds take four times as long and the period is their sum."""
    design = open_design("hgx-h100-8")
    program = program_of("federated", FEDERATED, "federated")
    assert program is not None
    found = simulate(design, programs=[program], bands=False)
    alone = {
        name: simulate(design, programs=[Program("one", (Step("move", Move(a, b, 1e9)),))], bands=False).run.end
        for name, a, b in (("send", "memory0", "gpu0"), ("gather", "gpu0", "memory0"))
    }
    period = alone["send"] + 2.0 + alone["gather"]
    metrics = found.metrics["federated"]
    assert metrics["round_time"].value == pytest.approx(period, rel=1e-9)
    assert metrics["time_to_train"].value == pytest.approx(4 * period, rel=1e-9)
    assert metrics["transfer_time"].value == pytest.approx(alone["gather"], rel=1e-9)


@pytest.mark.parametrize(("p", "m", "v"), [(4, 8, 2), (2, 4, 3), (4, 4, 4)])
def test_interleaved_pipeline_bubble(p: int, m: int, v: int):
    """Each device holds v chunks of the layers, and m is a multiple of p: forwards go in groups of p micro-batches
    through chunk after chunk. The first result needs p − 1 chunk times before the last device begins, then each device
    is busy without a gap: the bubble of a pass is (p − 1) chunk times of m·v, which is (p − 1)/(v·m)."""
    works: list[Work] = []
    after: list[list[int]] = []
    index: dict[tuple[int, int, int], int] = {}
    order = [(g, c, k) for g in range(m // p) for c in range(v) for k in range(p)]
    for place, (g, c, k) in enumerate(order):
        for device in range(p):
            micro = g * p + k
            index[device, c, micro] = len(works)
            # the order on a device is that of the schedule
            works.append(Work(1.0 / v, Shape(cap=1.0, engine=device), priority=place))
            before = (device - 1, c, micro) if device else (p - 1, c - 1, micro)
            after.append([index[before]] if before in index else [])
    clock = Clock([1.0] * p, dict.fromkeys(range(p), 1))
    clock.add(Graph(works, after))
    end = clock.run()
    assert end / m - 1 == pytest.approx((p - 1) / (v * m), rel=1e-9)


def test_a_run_stops_in_its_midst():
    """A run without an end, stopped after it was asked some dozen times: often, and long before it could end."""
    endless = Program("endless", (Step("compute", Compute("gpu0", seconds=1e-4)),), math.inf)
    asked = itertools.count()
    with pytest.raises(Cancelled):
        simulate(
            open_design("hgx-h100-8"),
            programs=[endless],
            until=1e9,
            bands=False,
            cancelled=lambda: next(asked) >= 50,
        )
    assert next(asked) == 51


def test_a_run_that_is_cut_short_says_how_far_it_came():
    """A second of computing again and again, for a hundred events: some hundred seconds, not 10⁹."""
    table = Prices(build_network(open_design("hgx-h100-8")))
    endless = Program("endless", (Step("compute", Compute("gpu0", seconds=1.0)),), math.inf)
    for until in (1e9, math.inf):
        run = play(table, [job_of(endless)], until=until, most_events=100)
        assert 90 < run.end < 110
        assert not run.done
        assert [f.code for f in run.findings] == ["CLOCK-LONG"]
        assert run.busy(next(iter(run.table.slots))) == pytest.approx(1.0, abs=0.02)
