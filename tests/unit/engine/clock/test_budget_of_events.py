"""A run asked to go on for years ends, says how far it came, and its bands are of what was looked at."""

from __future__ import annotations

from typing import Any

import pytest

from designer.analysis import simulation
from designer.engine.clock.run import Run
from designer.interchange.templates import open_design


def asked(monkeypatch: pytest.MonkeyPatch, until: float, bands: bool = True) -> tuple[simulation.Simulation, list[Run]]:
    """A training of one server with a small budget of events, and all runs it took."""
    runs: list[Run] = []
    play = simulation.play

    def counted(*given: Any, **named: Any) -> Run:
        runs.append(play(*given, **named))
        return runs[-1]

    monkeypatch.setattr(simulation, "EVENTS_LIMIT", 4_200)
    monkeypatch.setattr(simulation, "_PROBE_LIMIT", 200)
    monkeypatch.setattr(simulation, "play", counted)
    return simulation.simulate(open_design("hgx-h100-8"), "resnet-50", until=until, bands=bands), runs


def test_years_end_after_a_budget_that_all_runs_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two edges of the step, three of what loading rests on, and the run: 4,200 events ÷ 6 runs are 700 each."""
    found, runs = asked(monkeypatch, 1e8)
    assert len(runs) == 1 + 6
    assert 700 <= found.run.events < 720
    assert sum(run.events for run in runs) < 2 * 4_200
    stated = [f for f in found.findings if f.code == "CLOCK-LONG"]
    assert len(stated) == 1
    assert "6 such runs" in stated[0].text
    assert "--no-bands" in stated[0].remedy
    # each edge is of the time that was looked at, so bands hold their values
    assert {run.end for run in runs[1:]} == {found.run.end}
    step = found.metrics["resnet-50"]["step_time"]
    assert 0 < step.low < step.value < step.high


def test_without_bands_one_run_has_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    found, runs = asked(monkeypatch, 1e8, bands=False)
    assert len(runs) == 2
    assert 4_200 <= found.run.events < 4_220
    assert [f.remedy for f in found.findings if f.code == "CLOCK-LONG"] == ["simulate a shorter time"]


def test_what_ends_within_its_budget_is_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = asked(monkeypatch, 1.0)
    assert found.run.end == 1.0
    assert not found.run.cut
    assert not [f for f in found.findings if f.code == "CLOCK-LONG"]
