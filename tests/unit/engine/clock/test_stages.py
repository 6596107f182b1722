"""A replica of stages on the clock: heads are joined inside each stage, values handed on over its devices' own NICs."""

from __future__ import annotations

import re
from typing import Any

import pytest

import designer
from designer.engine.clock.jobs import job_of
from designer.engine.clock.player import play
from designer.engine.costs import Prices
from designer.engine.costs.pricing import Priced
from designer.engine.network import build_network
from designer.families.serving.costs.serve import _replica
from designer.families.serving.deployment import Serving
from designer.families.serving.placement import Placement, place_deployment
from designer.families.serving.replica import Metered
from designer.workload.kind import program_of
from designer.workload.program.tasks import Task
from tests.asked import serving_asked

TWO_RACKS = "serving-split-2-racks"
#: four devices of each of two servers: a stage each
HALVES = ",".join(f"answers[{server}]/gpu{gpu}" for server in (0, 1) for gpu in range(4))
STAGES = {"model": "llama-3-70b", "weights": "fp8", "group": HALVES, "tensor": 4, "pipeline": 2}
ASKED: dict[str, Any] = {**STAGES, "engine": "vllm", "release": "0.12.0", "rate": "2 1/s", "output": 64, "count": 100}


def placed(**changes: object) -> Placement:
    network = build_network(designer.open_design(TWO_RACKS))
    asked = serving_asked({**ASKED, **changes}, "s")
    assert isinstance(asked, Serving)
    return place_deployment(network, asked.deployment, "s")


def links(placement: Placement, task: Task | None) -> str:
    """Links that a task uses, one a line."""
    assert isinstance(task, Priced)
    network = placement.network
    used = [int(r) for r in task.cost.resource if r < network.n_link_resources]
    return "\n".join(network.channel_label(network.resource_channel(r)) for r in used)


def test_only_the_nics_of_the_devices_of_each_stage_are_taken_and_only_to_hand_values_on() -> None:
    """GPUs 0 to 3 of each server: their heads go over NVSwitch, their values over NICs 0 to 3 of the eight."""
    placement = placed()
    tasks = _replica(Prices(placement.network), placement, 0, 0.1, "s")
    joined, sent = links(placement, tasks.join), links(placement, tasks.exchange)
    assert "nvlink" in joined
    assert "nic" not in joined
    assert set(re.findall(r"nic(\d)", sent)) == {"0", "1", "2", "3"}
    assert "nvlink" not in sent


def test_one_group_over_both_servers_has_nothing_to_hand_on() -> None:
    placement = placed(tensor=8, pipeline=1)
    tasks = _replica(Prices(placement.network), placement, 0, 0.1, "s")
    assert tasks.exchange is None
    assert "nic" in links(placement, tasks.join)


def test_what_a_step_hands_on_by_hand() -> None:
    """16 requests in two batches: 8 x 8,192 values of 2 B, 131 KB, pass from stage to stage once a step.

    At 50 GB/s that is 2.6 us, and the way takes some 20 us more; the two all-reduces of each of 80 layers take a
    millisecond and more, so of a step the NICs are busy with less than a hundredth.
    """
    steps = Metered(placed())
    turn = [0.0, steps.decode(16), 0.0, 1.0, 16.0, 0.0, 0.0]
    heads, handed = steps.joined(turn)
    assert 131e3 / 50e9 < handed < 60e-6
    assert heads > 8e-4
    whole = heads + handed
    alone, _ = Metered(placed(tensor=8, pipeline=1)).joined(turn)
    assert whole < alone / 3, "a ring over both servers in every layer takes far longer"


@pytest.mark.parametrize("pipeline", [1, 2])
def test_parts_of_every_window_are_the_whole_of_its_steps(pipeline: int) -> None:
    settings = {**ASKED, "tensor": 8 // pipeline, "pipeline": pipeline}
    program = program_of("serving", settings, "s")
    assert program is not None
    run = play(Prices(build_network(designer.open_design(TWO_RACKS))), [job_of(program)], until=15.0)
    inner = [t for t in run.tasks if t.parent >= 0 and t.done]
    spent = {what: sum(t.time for t in inner if t.step.endswith(what)) for what in ("computes", "joins", "exchanges")}
    turns = run.requests["serving"].run.turns
    busy = float((turns[:, 3] * turns[:, 1] + turns[:, 2] * turns[:, 3] * (turns[:, 3] - 1) / 2).sum())
    assert sum(spent.values()) == pytest.approx(busy, rel=0.05)
    assert (spent["exchanges"] > 0) == (pipeline > 1)
    assert spent["exchanges"] < 0.02 * busy
