"""Frames of a run against the run itself, and against cases worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from designer.analysis.simulation import Simulation, simulate
from designer.analysis.simulation.rerouting import Failure
from designer.engine.clock.frames import Frames
from designer.interchange.templates import open_design
from designer.workload.program import Compute, Delay, Move, Program, Step
from tests.moments import utilization


@pytest.fixture(scope="module")
def busy() -> Simulation:
    """Training with reading, and a link that fails on the way."""
    return simulate(
        open_design("hgx-h100-8"),
        ["resnet-50", "storage-to-gpus"],
        until=3.0,
        failures=[Failure("psw0", 1.5, 0.5)],
        bands=False,
    )


def test_frames_tell_what_the_run_tells(busy: Simulation):
    run, frames = busy.run, Frames(busy.run)
    rng = np.random.default_rng(3)
    for time in (0.0, run.end, *rng.uniform(0, run.end, 40)):
        assert np.allclose(frames.at(time), run.load_at(time)[frames.resources], rtol=1e-9, atol=1.0)
        load, share = frames.channels(time)
        assert np.allclose(share, run._channels(utilization(run, time)), atol=1e-9)
        assert (load >= 0).all()
    for _ in range(40):
        begin, end = sorted(rng.uniform(0, run.end, 2))
        mean = run.mean_load(begin, end)[frames.resources]
        assert np.allclose(frames.mean(begin, end), mean, rtol=1e-6, atol=1e-6 * mean.max())


def test_few_kept_instants_tell_the_same(busy: Simulation, monkeypatch: pytest.MonkeyPatch):
    """A long run keeps some instants only: what is between is added up."""
    monkeypatch.setattr("designer.engine.clock.frames._CHANGES_LIMIT", 3)
    short, whole = Frames(busy.run), busy.run
    for time in np.linspace(0, whole.end, 60):
        assert np.allclose(short.at(time), whole.load_at(time)[short.resources], rtol=1e-9, atol=1.0)


def test_the_ruler_is_the_fullest_of_all(busy: Simulation):
    frames = Frames(busy.run)
    share, which = frames.fullest(0.0, busy.run.end, 16)
    width = busy.run.end / 16
    for k in range(16):
        mean = frames.mean(k * width, (k + 1) * width)
        shared = [r for r, e in zip(frames.resources, frames._engine, strict=True) if not e]
        full = {int(r): mean[list(frames.resources).index(r)] / busy.run.table.capacity[int(r)] for r in shared}
        assert share[k] == pytest.approx(min(1.0, max(full.values())), rel=1e-6)
        assert which[k] in shared


def test_a_move_by_hand():
    """10 GB from a drive: nothing for 2 s, then all of it is left and drains evenly until none is."""
    program = Program("copy", (Step("wait", Delay(2.0)), Step("move", Move("nvme0", "gpu0", 10e9), after=("wait",))))
    found = simulate(open_design("hgx-h100-8"), programs=[program], bands=False)
    frames = Frames(found.run)
    times, left = frames.left("copy")
    end = found.run.end
    assert np.interp(1.9, times, left) == 0
    assert left.max() == pytest.approx(10e9, rel=1e-9)
    latency_free = (2.0 + end) / 2
    assert np.interp(latency_free, times, left) == pytest.approx(5e9, rel=1e-3)
    assert left[-1] == 0
    # at any instant it moves, something binds it, and the channel it binds is full
    held = frames.held(latency_free)
    assert held
    assert held[0].tasks
    _, share = frames.channels(latency_free)
    assert share.max() == pytest.approx(1.0, rel=1e-6)


def test_busy_share_by_hand():
    """One GPU of those in the run computes 1 s of 4: of a run of two GPUs with 1 s and 4 s, 5/8 of the time is busy."""
    one = Program("one", (Step("compute", Compute("gpu0", seconds=1.0)),))
    four = Program("four", (Step("compute", Compute("gpu1", seconds=4.0)),))
    frames = Frames(simulate(open_design("hgx-h100-8"), programs=[one, four], bands=False).run)
    assert frames.busy(0.5) == pytest.approx(1.0)
    assert frames.busy(2.0) == pytest.approx(0.5)
    assert frames.busy(4.0, span=4.0) == pytest.approx(5 / 8)
    parts, share = frames.parts(2.0)
    net = frames.run.table.network.net
    stated = {net.path(int(p)): s for p, s in zip(parts, share, strict=True)}
    assert stated == {"gpu0": 0.0, "gpu1": 1.0}
