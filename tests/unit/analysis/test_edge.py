"""Sensors, control loops, and clients behind a network."""

from __future__ import annotations

import math
from typing import Any

import pytest

import designer
from designer.design.document import Design
from designer.errors import DesignerError

GIGABIT = {"kind": "ethernet", "bandwidth_per_direction": "1 Gb/s"}
CAPTURE = 0.020
FRAME = 1920 * 1080


def cell(cameras: int = 2, **loop: Any) -> Design:
    """An edge box with cameras, a robot and users behind one switch; the workload ``loop``."""
    names = [f"cam{k}" for k in range(cameras)]
    parts = [{"id": name, "kind": "sensor", "type": "sensor/generic/camera-1080p-30"} for name in names]
    parts += [
        {"id": "sw", "kind": "switch"},
        {"id": "robot", "kind": "client", "type": "client/generic/robot"},
        {"id": "users", "kind": "client", "type": "client/generic/internet"},
    ]
    links = [{"a": name, "b": "sw", **GIGABIT} for name in (*names, "users")]
    links.append({"a": "robot", "b": "sw", "kind": "ethernet", "bandwidth_per_direction": "100 Mb/s"})
    links.append({"a": "sw", "b": "nic0", "kind": "ethernet", "bandwidth_per_direction": "10 Gb/s"})
    design = designer.edit(designer.open_design("edge-jetson-orin"), {"add": {"parts": parts, "links": links}})
    return designer.with_workload(design, "loop", "control_loop", **{"actuators": "robot", "rate": "15 1/s", **loop})


def metrics(design: Design, workload: str) -> dict[str, float]:
    return {name: m.value for name, m in designer.analyze(design, workload).workloads[0].metrics.items()}


def gigabit(design: Design) -> float:
    """What the link of a camera achieves [B/s]."""
    asked = designer.with_workload(design, "link", "transfer", **{"from": "cam0", "to": "memory"})
    return metrics(asked, "link")["rate"]


def test_frames_take_capture_and_the_time_on_their_own_link() -> None:
    design = cell()
    found = metrics(design, "loop")
    # 20 ms of capture, then 2.07 MB at some 0.94 Gb/s; the cameras do not share a link of their speed
    by_hand = CAPTURE + FRAME / gigabit(design)
    assert found["sense_time"] == pytest.approx(by_hand, rel=0.002)
    assert 0.0366 < by_hand < 0.0390
    # a field bus away: 1 ms
    rest = found["reaction_time"] - found["sense_time"] - found["decide_time"] - found["command_time"]
    assert rest == pytest.approx(1e-3, rel=1e-6)
    assert found["loops_per_second"] == pytest.approx(15)


def test_twelve_cameras_wait_for_the_link_they_share() -> None:
    few, many = metrics(cell(2), "loop"), metrics(cell(12), "loop")
    # twelve gigabits on ten: each frame takes 1.2 times as long on the way
    slower = (many["sense_time"] - CAPTURE) / (few["sense_time"] - CAPTURE)
    assert slower == pytest.approx(1.2, rel=0.03)


def test_a_stated_frame_replaces_that_of_the_sensor() -> None:
    half = metrics(cell(frame="1036800 B"), "loop")["sense_time"] - CAPTURE
    assert half == pytest.approx((metrics(cell(), "loop")["sense_time"] - CAPTURE) / 2, rel=0.01)


def test_what_limits_a_loop_is_capture_and_the_link_with_their_gains() -> None:
    found = designer.analyze(cell(), "loop").workloads[0]
    whole = found.metrics["reaction_time"].value
    gains = {one.label: one.gain for one in found.binding}
    assert gains["cam0 (capture)"] == pytest.approx(whole / (whole - CAPTURE / 2), rel=1e-6)
    frame = found.metrics["sense_time"].value - CAPTURE
    assert gains["cam0 → sw (ethernet)"] == pytest.approx(whole / (whole - frame / 2), rel=0.01)


def test_analyze_and_simulate_give_one_answer() -> None:
    design = cell()
    alone = designer.analyze(design, "loop").workloads[0].metrics
    run = designer.simulate(design, ["loop"], until=2.0).metrics["loop"]
    assert {n: m.value for n, m in run.items()} == pytest.approx({n: m.value for n, m in alone.items()}, rel=1e-6)


def test_a_loop_waits_for_a_training_on_its_accelerator() -> None:
    design = designer.with_workload(cell(), "train", "training", model="resnet-50", micro_batch=16, data=1)
    run = designer.simulate(design, ["loop", "train"], until=4.0)
    # the passes of the loop and the kernels of the training take turns: twice as long while both want it
    alone, beside = run.alone["loop"]["decide_time"], run.metrics["loop"]["decide_time"].value
    assert 1.8 * alone < beside <= 2 * alone * (1 + 1e-9)
    # what the loop takes of each second is missing to the training
    step = run.alone["train"]["step_time"]
    assert run.metrics["train"]["step_time"].value == pytest.approx(step / (1 - 15 * alone), rel=0.03)


def test_more_turns_than_can_be_done_are_said_to_pile_up() -> None:
    found = designer.analyze(cell(model="", flop="20 TFLOP", weights="1 GB", rate="30 1/s"), "loop").workloads[0]
    assert "CLOCK-SATURATED" in {f.code for f in found.findings}
    assert found.metrics["loops_per_second"].value < 15


def test_turns_apart_are_settled_as_the_clock_finds_them() -> None:
    """At 20 a second the slow end of the band overlaps, so the clock runs; at 15 it does not. The values agree."""
    slow, fast = (designer.analyze(cell(rate=rate), "loop").workloads[0].metrics for rate in ("15 1/s", "20 1/s"))
    for name in ("reaction_time", "sense_time", "decide_time"):
        assert (slow[name].value, slow[name].low) == pytest.approx((fast[name].value, fast[name].low), rel=1e-6)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"rate": "0 1/s"}, "never turns"),
        ({"model": ""}, "no model is named"),
        ({"sensors": "lidar*"}, "lidar"),
        ({"sensors": "gpu0"}, "states no size of a frame"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], text: str) -> None:
    with pytest.raises(DesignerError, match=text):
        designer.analyze(cell(**settings), "loop")


def test_a_robot_model_turns_as_often_as_published() -> None:
    """OpenVLA, 7 billion parameters: about 6 actions of 7 tokens a second on an RTX 4090 in bf16 (arXiv 2406.09246)."""
    design = designer.edit(cell(1), {"parts": {"gpu0": {"type": "gpu/nvidia/rtx4090"}}})
    asked = {"model": "llama-2-7b", "precision": "bf16", "sequence": 280, "tokens": 7, "rate": "3 1/s"}
    loop = designer.with_workload(design, "vla", "control_loop", **asked)
    decide = designer.analyze(loop, "vla").workloads[0].metrics["decide_time"]
    assert 1 / decide.high < 6 < 1 / decide.low
    assert 1 / decide.value == pytest.approx(6, rel=0.15)


# ---- clients


def served(origin: str, **more: Any) -> Design:
    asked = {"scenario": "server", "rate": "100 1/s", "count": 400, "origin": origin, **more}
    return designer.with_workload(cell(), "v", "inference", **asked)


def test_the_network_is_in_the_latency_of_inference() -> None:
    far, near = metrics(served("users"), "v"), metrics(served("robot", rate="20 1/s"), "v")
    # twice 25 ms and a little for links and the answer; twice 1 ms and 1 kB at 100 Mb/s
    assert far["network_time"] == pytest.approx(0.050, rel=0.01)
    assert near["network_time"] == pytest.approx(0.002 + 1000 / 12.5e6, rel=0.05)
    server = metrics(served(""), "v")
    assert "network_time" not in server
    # a sample of 150,528 B comes over the gigabit link of the users
    by_hand = server["latency_p50"] + far["network_time"] + 150_528 / gigabit(cell())
    assert far["latency_p50"] == pytest.approx(by_hand, rel=0.01)


def test_the_band_holds_what_is_not_known_of_the_network() -> None:
    found = designer.analyze(served("users"), "v").workloads[0].metrics
    trip = found["network_time"]
    assert (trip.low, trip.high) == (pytest.approx(0.020, rel=0.01), pytest.approx(0.150, rel=0.01))
    assert found["latency_p99"].high - found["latency_p99"].value > trip.high - trip.value


def test_clients_and_server_give_one_answer_in_a_simulation() -> None:
    design = served("users")
    alone, run = metrics(design, "v"), designer.simulate(design, ["v"]).metrics["v"]
    for name in ("latency_p50", "latency_p99"):
        assert run[name].value == pytest.approx(alone[name], rel=1e-6)


def watched(cameras: int, **more: Any) -> Design:
    asked = {"scenario": "video", "streams": cameras, "frames": "30 1/s", "batch": 1, "delay": "0 s", "origin": "cam*"}
    return designer.with_workload(cell(cameras), "v", "inference", **asked, **more)


def test_a_stream_is_seen_after_capture_and_the_way_of_its_own_frame() -> None:
    """20 ms of capture, then 2,073,600 B over the camera's own gigabit link, then the model; no answer goes back."""
    found = metrics(watched(4), "v")
    assert found["network_time"] == pytest.approx(CAPTURE, rel=0.001)
    near = metrics(watched(4, sample="1 B"), "v")
    # with a sample of next to nothing only capture and model are left
    assert found["latency_p50"] - near["latency_p50"] == pytest.approx(FRAME / gigabit(cell()), rel=0.02)
    # a camera more is no sooner and no later while their common link has room
    assert metrics(watched(8), "v")["latency_p50"] == pytest.approx(found["latency_p50"], rel=0.02)
    # twelve gigabits at once on ten: a frame takes 1.2 times as long, and waits for frames of other cameras
    way = (metrics(watched(12), "v")["latency_p50"] - near["latency_p50"]) * gigabit(cell()) / FRAME
    assert 1.2 * 0.99 < way < 1.5


def test_streams_alone_are_the_same_on_the_clock() -> None:
    design = watched(4)
    alone, run = metrics(design, "v"), designer.simulate(design, ["v"], until=10.0).metrics["v"]
    assert run["latency_p50"].value == pytest.approx(alone["latency_p50"], rel=0.01)
    assert run["samples_per_second"].value == pytest.approx(120, rel=0.01)


def test_streams_must_keep_up_with_their_frames_and_not_with_the_capture() -> None:
    """38 ms until a frame is there and 33 ms between two: frames get through all the same; 30 ms in all are missed."""
    assert metrics(watched(4), "v")["goodput"] == pytest.approx(120)
    assert metrics(watched(4, limit="30 ms"), "v")["goodput"] == 0


def test_a_cell_with_cameras_trains_beside_its_streams() -> None:
    """The template: on a GPU of its own the training costs the streams nothing, on theirs each pass takes twice as long
    and the step gets longer by what the streams compute."""
    design = designer.open_design("edge-robot-cell")
    apart = designer.simulate(design, ["arm", "line", "retrain"], until=4.0, bands=False)
    shared = designer.simulate(design, ["arm", "line", "retrain-both"], until=4.0, bands=False)
    for name, metric in (("arm", "decide_time"), ("line", "latency_p50")):
        assert apart.metrics[name][metric].value == pytest.approx(apart.alone[name][metric], rel=0.01)
    passes = shared.metrics["arm"]["decide_time"].value / shared.alone["arm"]["decide_time"]
    assert passes == pytest.approx(2.0, rel=0.05)
    assert 1.03 < shared.slow_down["retrain-both"] < 1.15
    # 50 ms for a turn of the lidar, two frames of 2.07 MB on their own links beside it, one cycle of the field bus
    reaction = apart.metrics["arm"]
    rest = sum(reaction[name].value for name in ("sense_time", "decide_time", "command_time"))
    assert reaction["reaction_time"].value == pytest.approx(rest + 1e-3, rel=1e-3)
    assert reaction["sense_time"].value == pytest.approx(0.050 + FRAME / gigabit(cell()), rel=0.01)


def test_limits_count_at_the_client() -> None:
    """An engine that answers in 6 ms misses 40 ms for users who are 50 ms away."""
    kept, missed = (designer.analyze(served(o, limit="40 ms"), "v").workloads[0] for o in ("", "users"))
    assert kept.metrics["goodput"].value == pytest.approx(100)
    assert missed.metrics["goodput"].value == 0
    assert any(f.code == "SERVE-LIMIT" for f in missed.findings)


def test_first_tokens_and_answers_of_a_language_model_come_later_and_tokens_do_not() -> None:
    asked = {"model": "llama-3.1-8b", "weights": "int4", "rate": "0.05 1/s", "count": 200}
    here, there = (
        metrics(designer.with_workload(cell(), "chat", "serving", origin=o, **asked), "chat") for o in ("", "users")
    )
    trip = there["network_time"]
    # 8 kB there and 1 kB back over links of a gigabit: some 77 us, and twice 25 ms
    assert trip == pytest.approx(0.050 + 9000 / gigabit(cell()), abs=3e-5)
    for name in ("ttft", "ttft_p95", "latency_p50"):
        assert there[name] - here[name] == pytest.approx(trip, rel=1e-9)
    assert math.isclose(there["tpot"], here["tpot"])


def test_requests_load_the_links_of_clients() -> None:
    found = designer.analyze(
        designer.with_workload(
            cell(), "chat", "serving", origin="users", model="llama-3.1-8b", weights="int4", rate="0.05 1/s", count=200
        ),
        "chat",
    )
    load = next(row.load for row in found.channels if row.source == "users")
    assert load == pytest.approx(0.05 * 8000, rel=0.05)


def test_samples_come_from_clients_or_storage_not_both() -> None:
    with pytest.raises(DesignerError, match="samples come from clients and are read"):
        designer.analyze(served("users", source="nvme0"), "v")
