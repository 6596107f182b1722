"""Power over a run of servers and racks, by hand and against a published node."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import designer
from designer.design.document import Design
from designer.formulas.power.server_power import AROUND, IDLE
from designer.report.figures.power_step import job_load
from designer.report.run_power import UnitPower
from tests.cli.calling import call

SERVER = "hgx-h100-8"
#: of an accelerator of 700 W, and of what is around it [W]
LIMIT = 700.0


def drawn(design: Design, *workloads: str, until: float, **more: object) -> tuple[UnitPower, ...]:
    run = designer.simulate(design, list(workloads), until=until, bands=False, **more)  # pyright: ignore[reportArgumentType]
    return designer.run_power(design, run)


def test_a_server_that_computes_nothing_draws_idle_accelerators_and_what_is_around_them() -> None:
    every, server = drawn(designer.open_design(SERVER), "h2d", until=1.0)
    assert every.mean.value == pytest.approx(8 * (IDLE.value * LIMIT + AROUND.value))
    assert server.swing == 0
    assert server.rises == 0


def test_a_training_swings_between_the_two_levels_of_its_step() -> None:
    """8 x (high + 325 W) while it computes, 8 x (280 + 325 W) while it communicates, once a step."""
    design = designer.open_design(SERVER)
    result = designer.analyze(design, "llama-2-7b-fsdp").workloads[0]
    load = job_load(design, result)
    assert load is not None
    _, server = drawn(design, "llama-2-7b-fsdp", until=10.0)
    step = result.metrics["step_time"].value
    assert server.peak.value == pytest.approx(8 * (load.one.high + AROUND.value))
    # the first samples are read before
    levels = np.unique(np.round(server.watts[0][1:]))
    assert levels.tolist() == pytest.approx([8 * (0.4 * LIMIT + AROUND.value), server.peak.value], rel=1e-3)
    assert server.rises == pytest.approx(10 / step, abs=2)
    assert server.mean.value == pytest.approx(load.around + 8 * load.one.mean, rel=0.01)


def test_smoothing_keeps_the_load_up() -> None:
    design = designer.open_design(SERVER)
    smooth = designer.edit(design, {"parts": {"gpu*": {"power_floor": "0.9"}}})
    plain, kept = (drawn(each, "llama-2-7b-fsdp", until=5.0)[0] for each in (design, smooth))
    assert kept.swing == pytest.approx(8 * 0.1 * LIMIT, rel=0.01)
    assert kept.mean.value > plain.mean.value
    assert kept.peak.value == pytest.approx(plain.peak.value)


def test_a_cap_lowers_the_peak_and_the_steps_follow() -> None:
    design = designer.open_design(SERVER)
    capped = designer.edit(design, {"parts": {"gpu*": {"power_cap": "500 W"}}})
    free, held = (drawn(each, "llama-2-7b-fsdp", until=10.0)[0] for each in (design, capped))
    assert held.peak.value == pytest.approx(8 * (500 + AROUND.value))
    assert held.rises < free.rises


def test_a_published_node_lies_in_the_band() -> None:
    """8 x H100 in training drew 8.4 kW at most, of 10.2 kW rated; a batch of 4,096 images draws more than one of 512,
    by 1 kW in the mean (arXiv 2412.08602)."""
    design = designer.open_design(SERVER)
    peak = drawn(
        designer.with_workload(
            design, "l", "training", model="llama-2-13b", micro_batch=1, data=8, sharding="parameters"
        ),
        "l",
        until=10.0,
    )[0].peak
    assert peak.low < 8400 < peak.high
    assert peak.value == pytest.approx(8400, rel=0.05)
    small, large = (
        drawn(
            designer.with_workload(design, "r", "training", model="resnet-50", micro_batch=n, data=8), "r", until=5.0
        )[0].mean
        for n in (64, 512)
    )
    assert 200 < large.value - small.value < 1500
    assert large.high - small.low > 1000


def test_racks_are_the_sum_of_their_servers_against_their_shelves() -> None:
    design = designer.open_design("gb200-nvl72")
    train = {"model": "llama-2-7b", "micro_batch": 1, "sharding": "parameters"}
    design = designer.with_workload(design, "t", "training", **train)
    every, rack, *rest = drawn(design, "t", until=2.0)
    feeds, servers = ([one for one in rest if one.kind == kind] for kind in ("feed", "server"))
    assert (rack.kind, len(servers)) == ("rack", 18)
    assert rack.peak.value == pytest.approx(every.peak.value)
    assert rack.peak.value == pytest.approx(sum(server.peak.value for server in servers))
    # eight shelves of 33 kW
    assert rack.feeds == pytest.approx(264e3)
    assert rack.peak.high < rack.feeds
    # two feeds share the rack, and each alone would carry 132 kW
    assert [one.peak.value for one in feeds] == pytest.approx([rack.peak.value / 2] * 2)
    assert {one.feeds for one in feeds} == {132e3}


def test_feeds_carry_their_own_units_and_a_share_of_the_others() -> None:
    """Of four hosts with two A100 of 300 W each, one on feed A and three on both: 2.5 and 1.5 of a host that idles."""
    plain = designer.open_design("vsphere-cluster-4")
    units = {f"hosts[{k}]/server": {"unit": 1 + 2 * k, **({"feed": "A"} if not k else {})} for k in range(4)}
    racks = {"r1": {"id": "r1", "name": "R1", "power": "8 kW", "units": units}}
    design = Design.model_validate({**plain.model_dump(mode="json"), "racks": racks})
    found = {one.name: one for one in drawn(design, "h2d", until=1.0)}
    host = 2 * (IDLE.value * 300 + AROUND.value)
    assert found["R1"].mean.value == pytest.approx(4 * host)
    assert found["R1, feed A"].mean.value == pytest.approx(2.5 * host)
    assert found["R1, feed B"].mean.value == pytest.approx(1.5 * host)
    assert {found[name].feeds for name in ("R1", "R1, feed A", "R1, feed B")} == {8e3}


def test_streams_draw_more_than_idle_for_the_time_they_compute() -> None:
    """Two L4 of 72 W: idle at a quarter, and at work for a small part of the time."""
    server = drawn(designer.open_design("edge-robot-cell"), "arm", until=2.0)[1]
    idle = 2 * (0.25 * 72 + AROUND.value)
    assert idle < server.mean.value < idle + 0.1 * 72
    assert server.peak.value == pytest.approx(idle + (72 * (1 + (411 + 55.5) / 700) / 2 - 0.25 * 72), rel=1e-3)


def test_the_command_prints_power_and_writes_it_in_the_trace(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    trace = tmp_path / "t.json"
    asked = ("simulate", SERVER, "--workload", "llama-2-7b-fsdp", "--until", "2 s", "--no-bands", "--power")
    found = call(capsys, *asked, "--trace", str(trace), "--json")
    power = json.loads(found.out)["power"]
    assert power[0]["peak"]["value"] == pytest.approx(8200, rel=0.01)
    counters = [e for e in json.loads(trace.read_text())["traceEvents"] if e["name"] == "power of all servers"]
    assert max(e["args"]["watts"] for e in counters) == pytest.approx(power[0]["peak"]["value"])
    assert "power" in call(capsys, *asked).out
