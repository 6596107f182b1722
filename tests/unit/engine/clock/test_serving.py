"""Serving on the clock: alone as the scheduler says, next to others slower, stopped while its machine is stunned."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import designer
from designer.analysis.simulation import Simulation, simulate
from designer.design.document import Design, WorkloadSpec
from designer.engine.clock.interruptions import was_paused
from designer.engine.clock.jobs import NO_CHANGES, Changes, job_of
from designer.engine.clock.player import play
from designer.engine.clock.run import Run
from designer.engine.costs import Prices
from designer.engine.network import build_network
from designer.engine.transfers import evaluate_transfer
from designer.errors import AnalysisError
from designer.families.serving.deployment import Serving
from designer.families.serving.engine_state import Book, Requests
from designer.families.serving.load import sent_to_one
from designer.families.serving.placement import Placement, place_deployment
from designer.families.serving.records import ServingRun
from designer.families.serving.scheduler import run_requests
from designer.families.serving.split import place_split
from designer.workload.kind import program_of
from designer.workload.program import Move
from tests.asked import serving_asked

BASE: Mapping[str, Any] = {
    "model": "llama-3-8b",
    "release": "0.12.0",
    "tensor": 2,
    "prompt": 1000,
    "output": 128,
    "count": 200,
    "rate": "8 1/s",
}
IN_VM: Mapping[str, Any] = {
    **BASE,
    "weights": "int8",
    "tensor": 1,
    "group": "hosts[2]/gpu0",
    "machines": "infer1",
    "rate": "2 1/s",
}


def with_workloads(template: str, **workloads: tuple[str, Mapping[str, Any]]) -> Design:
    design = designer.open_design(template)
    specs = {name: WorkloadSpec(id=name, kind=kind, settings=dict(s)) for name, (kind, s) in workloads.items()}
    return design.model_copy(update={"workloads": {**design.workloads, **specs}})


def placed(design: Design, settings: Mapping[str, Any]) -> tuple[Placement, Serving]:
    asked = serving_asked(settings, "s")
    assert isinstance(asked, Serving)
    return place_deployment(build_network(design), asked.deployment, "s"), asked


def trace(path: Path, *rows: tuple[float, int, int]) -> str:
    lines = [
        json.dumps({"timestamp": round(at * 1000), "input_length": p, "output_length": o, "hash_ids": []})
        for at, p, o in rows
    ]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def alone(design: Design, settings: Mapping[str, Any], until: float) -> Run:
    program = program_of("serving", settings, "s")
    assert program is not None
    return play(Prices(build_network(design)), [job_of(program)], until=until)


def simulated(design: Design, *names: str, until: float, **starts: float) -> Simulation:
    return simulate(design, list(names), until=until, starts=starts, bands=False)


def test_alone_every_request_is_answered_when_the_scheduler_says() -> None:
    """Four replicas; the first gets what the analysis sends to one. Nothing is in its way: equal to rounding."""
    design = designer.open_design("hgx-h100-8")
    settings = {**BASE, "rate": "12 1/s"}
    placement, asked = placed(design, settings)
    sent = sent_to_one(asked.load, len(placement.replicas), "s", placement.capacity)
    path = placement.release.overheads.path
    exact = run_requests(placement.timed, sent.requests, placement.scheduling, placement.capacity, path)
    run = alone(design, settings, 90.0)
    assert len(placement.replicas) == 4
    mine = run.requests["serving"].parts[0][0]
    n = len(exact.sent) - 20  # the last ones meet later requests here
    assert np.nanmax(np.abs(mine.first[:n] - exact.first[:n])) < 1e-9
    assert np.nanmax(np.abs(mine.done[:n] - exact.done[:n])) < 1e-9


def test_alone_it_agrees_with_the_analysis() -> None:
    design = with_workloads("hgx-h100-8", s=("serving", BASE))
    found = simulate(design, ["s"], until=120.0)
    closed = designer.analyze(design, ["s"]).workloads[0].metrics
    for name in ("ttft_p50", "itl_p50", "tpot", "ttft"):
        stated, other = found.metrics["s"][name], closed[name]
        assert stated.low <= stated.value <= stated.high
        assert stated.value == pytest.approx(other.value, rel=0.06), name
    assert found.metrics["s"]["requests_per_second"].value == pytest.approx(8.0, rel=0.1)


def test_one_request_by_hand(tmp_path: Path) -> None:
    """One request: its way to the queue, one step with its 1,000 tokens, then 127 steps of decoding.

    A step of decoding takes A + B c with c cached tokens: 1,000 in the first, one more in each that follows, so 127
    steps take 127 (A + 1,000 B) + B (0 + 1 + … + 126).
    """
    design = designer.open_design("hgx-h100-8")
    settings = {**BASE, "load": "trace", "trace": trace(tmp_path / "one.jsonl", (0.0, 1000, 128)), "rate": "0 1/s"}
    settings["group"] = "gpu0,gpu1"
    placement, _ = placed(design, settings)
    steps = placement.steps
    prompt = steps.step(1000, 1000 * 500, 1, 0, 0.0)
    decode, slope = steps.decode(1), steps.context()
    run = alone(design, settings, 60.0).requests["serving"].run
    first = placement.release.overheads.path + prompt
    assert run.first[0] == pytest.approx(first, rel=1e-9)
    assert run.done[0] == pytest.approx(first + 127 * (decode + 1000 * slope) + slope * 126 * 127 / 2, rel=1e-9)


def test_what_is_computed_and_joined_is_the_whole_of_every_step() -> None:
    """Two devices join their results in every layer: part of each window is no computing, and both make up the run."""
    design = designer.open_design("hgx-h100-8")
    run = alone(design, {**BASE, "group": "gpu0,gpu1"}, 20.0)
    inner = [t for t in run.tasks if t.parent >= 0 and t.done]
    spent = {what: sum(t.time for t in inner if t.step.endswith(what)) for what in ("computes", "joins")}
    turns = run.requests["serving"].run.turns
    busy = float((turns[:, 3] * turns[:, 1] + turns[:, 2] * turns[:, 3] * (turns[:, 3] - 1) / 2).sum())
    assert 0.02 < spent["joins"] / busy < 0.5
    assert sum(spent.values()) == pytest.approx(busy, rel=0.05)


def test_training_beside_slows_answers_and_is_slowed_by_them() -> None:
    """Both compute on the same GPUs, in turn: neither is as fast as alone, and memory for both is not there."""
    design = with_workloads("hgx-h100-8", s=("serving", {**BASE, "tensor": 8}))
    found = simulated(design, "s", "llama-2-7b-fsdp", until=30.0)
    assert found.slow_down["s"] > 1.2
    assert found.slow_down["llama-2-7b-fsdp"] > 1.05
    feels = found.felt[0]
    assert (feels.workload, feels.by) == ("s", "llama-2-7b-fsdp")
    assert feels.during["itl_p95"] > feels.without["itl_p95"]
    assert {m.metric for m in found.meetings} >= {"itl_p95", "ttft_p95"}
    assert "CLOCK-MEMORY" in {f.code for f in found.findings}


def test_a_stun_is_one_long_gap_for_everybody_who_is_being_answered(tmp_path: Path) -> None:
    """A request that arrives 5 s before the stun ends waits those 5 s, then is answered as alone.

    One that is being answered when the machine is paused has all of the stun between two of its tokens.
    """
    empty = with_workloads("vsphere-cluster-4", s=("serving", IN_VM), mv=("vmotion", {"vms": "infer1"}))
    tasks = simulated(empty, "s", "mv", until=120.0, mv=10.0).run.tasks
    stun = next(t.began for t in tasks if t.step == "stun infer1")
    again = next(t.ended for t in tasks if t.step == "again infer1")
    assert 10 < again - stun < 20
    early = round(stun - 1.0, 3)
    rows = ((0.0, 500, 10), (early, 500, 400), (round(again - 5.0, 3), 500, 10))
    settings = {**IN_VM, "load": "trace", "trace": trace(tmp_path / "t.jsonl", *rows), "rate": "0 1/s"}
    design = with_workloads("vsphere-cluster-4", s=("serving", settings), mv=("vmotion", {"vms": "infer1"}))
    found = simulated(design, "s", "mv", until=200.0, mv=10.0)
    log = found.run.requests["s"].run
    ttft, usual = log.first - log.sent, 0.045
    assert ttft[0] < 2 * usual
    assert ttft[2] == pytest.approx(again - rows[2][0], abs=0.1)
    single = alone(empty, settings, 200.0).requests["serving"].run
    # all pages it writes are tracked meanwhile, which takes 4 % of what is left before the stun
    late = (log.done[1] - log.sent[1]) - (single.done[1] - single.sent[1])
    assert late == pytest.approx(again - stun, abs=0.2)
    gaps, weights = log.gaps()
    assert weights[gaps > 10].sum() == 1
    assert gaps.max() == pytest.approx(again - stun, abs=0.1)


def test_what_comes_while_a_machine_stands_still_is_seen_when_it_runs_again(tmp_path: Path) -> None:
    """Two requests come seconds apart to an empty engine that is paused: one step reads both as soon as it runs.

    A third one has come before and has its answer read out: the step that were paused goes on, and the next one reads
    the prompt that came meanwhile.
    """
    empty = with_workloads("vsphere-cluster-4", s=("serving", IN_VM), mv=("vmotion", {"vms": "infer1"}))
    tasks = simulated(empty, "s", "mv", until=120.0, mv=10.0).run.tasks
    stun = next(t.began for t in tasks if t.step == "stun infer1")
    again = next(t.ended for t in tasks if t.step == "again infer1")
    placement, _ = placed(empty, IN_VM)

    def answers(name: str, *rows: tuple[float, int, int]) -> ServingRun:
        settings = {**IN_VM, "load": "trace", "trace": trace(tmp_path / name, *rows), "rate": "0 1/s"}
        design = with_workloads("vsphere-cluster-4", s=("serving", settings), mv=("vmotion", {"vms": "infer1"}))
        return simulated(design, "s", "mv", until=200.0, mv=10.0).run.requests["s"].run

    log = answers("idle.jsonl", (0.0, 500, 10), (round(stun + 1, 3), 500, 10), (round(stun + 4.3, 3), 300, 10))
    both = placement.timed.step(800, 500 * 250 + 300 * 150, 2, 0, 0.0)
    assert log.first[1:] == pytest.approx([again + both] * 2, abs=1e-6)

    log = answers("busy.jsonl", (0.0, 500, 10), (round(stun - 1, 3), 500, 400), (round(stun + 3, 3), 300, 10))
    ends = log.turns[:, 0] + log.turns[:, 3] * log.turns[:, 1]
    waited = int(np.argmax(log.turns[:, 1]))
    assert log.turns[waited, 1] > again - stun
    assert 0 < ends[waited] - again < 0.05
    # one decodes next to it, with its prompt and what it has said so far
    said = int(log.turns[: waited + 1, 3][log.turns[: waited + 1, 0] > stun - 2].sum())
    step = placement.timed.step(300, 300 * 150, 1, 1, 500 + said - 1)
    assert log.first[2] == pytest.approx(ends[waited] + step, abs=1e-3 * step)


def test_stretching_by_hand() -> None:
    """Ten steps of 0.1 s from 1 s on, twice as slow, with a pause of 5 s at 2 s.

    At 2 s five steps of 0.2 s are over, so the sixth takes 5.2 s and four of 0.2 s follow: all ends at 1 + 2 + 5 = 8 s.
    """
    book = Book(Requests([10], [10], [0.5]), 0.0)
    book.stated.extend((1.0, 0.1, 0.0, 10.0, 1.0, 10.0, 0.0))
    book.first[0], book.done[0] = 1.45, 2.0
    book.touched.append(0)
    book.stretch(1.0, 2.0, 0, [(2.0, 5.0)])
    assert book.first[0] == pytest.approx(1.9)
    assert book.done[0] == pytest.approx(8.0)
    rows = np.array(book.stated).reshape(-1, 7)
    assert rows[:, 3].tolist() == [5, 1, 4]
    assert rows[:, 1] == pytest.approx([0.2, 5.2, 0.2])
    assert rows[:, 0] == pytest.approx([1.0, 2.0, 7.2])


def test_pauses_of_several_machines_are_one() -> None:
    """Either of two machines is paused from 1 s to 4 s; the third is none of ours."""
    events = [(1.0, 7, 0.0), (2.0, 8, 0.0), (3.0, 7, 1.0), (3.5, 9, 0.0), (4.0, 8, 1.0), (5.0, 7, 0.9), (6.0, 7, 0.0)]
    assert was_paused(events, (7, 8)) == [(1.0, 4.0), (6.0, np.inf)]


def test_a_cold_start_takes_what_the_analysis_says() -> None:
    """Weights over the drawn path, then the engine: the first answer waits for both."""
    settings = {**BASE, "storage": "storage", "readers": 8, "count": 50, "rate": "2 1/s"}
    design = with_workloads("hgx-h100-8", cold=("serving", {**settings, "cold": True}), warm=("serving", settings))
    answer = simulated(design, "cold", until=120.0)
    cold = answer.run
    start = designer.analyze(design, ["warm"]).workloads[0].metrics["cold_start_time"].value
    ready = next(t.ended for t in cold.tasks if t.step == "engine start")
    assert ready == pytest.approx(start, rel=0.02)
    run = cold.requests["cold"].run
    assert np.nanmin(run.first) >= ready
    (stated,) = [f.text for f in answer.findings if f.code == "CLOCK-COLD"]
    assert stated.startswith(f"cold answers from {ready:.3g} s on")
    assert not [f for f in simulated(design, "warm", until=5.0).findings if f.code == "CLOCK-COLD"]


def test_more_than_can_be_answered_is_told_and_no_latency() -> None:
    design = with_workloads("hgx-h100-8", s=("serving", {**BASE, "rate": "4000 1/s", "count": 300}))
    found = simulated(design, "s", until=0.5)
    stated = next(f for f in found.findings if f.code == "SERVE-SATURATED")
    assert "at most" in stated.text
    assert not [name for name in found.metrics["s"] if name.startswith(("ttft", "itl"))]


def test_a_cold_start_from_nowhere_is_refused() -> None:
    design = with_workloads("hgx-h100-8", s=("serving", {**BASE, "cold": True}))
    with pytest.raises(AnalysisError, match="cold start from nowhere"):
        simulated(design, "s", until=1.0)


def test_the_same_seed_gives_the_same_run() -> None:
    design = with_workloads("hgx-h100-8", s=("serving", BASE))
    first, second = (simulated(design, "s", "h2d", until=20.0).metrics["s"] for _ in range(2))
    assert {k: m.value for k, m in first.items()} == {k: m.value for k, m in second.items()}


SPLIT: Mapping[str, Any] = {
    "model": "llama-3-70b",
    "weights": "fp8",
    "release": "0.12.0",
    "group": "answers[*]/gpu*",
    "prompt_group": "prompts[*]/gpu*",
    "tensor": 8,
    "prompt_tensor": 4,
    "rate": "12 1/s",
    "prompt": 2000,
    "output": 256,
    "count": 400,
}


def test_a_hand_over_by_hand(tmp_path: Path) -> None:
    """One request: its way, one step with its prompt, the hand-over as alone, one step for the last token again.

    80 layers x 2 x 2,000 tokens in blocks of 16, cut in two by unequal widths: 40,000 pieces of 2.5 us, 100 ms, next to
    the fixed 95 ms and the bytes.
    """
    settings = {**SPLIT, "load": "trace", "trace": trace(tmp_path / "one.jsonl", (0.0, 2000, 2)), "rate": "0 1/s"}
    design = designer.open_design("serving-split-2-racks")
    asked = serving_asked(settings, "s")
    assert isinstance(asked, Serving)
    answers, prompts = place_split(build_network(design), asked, "s")
    run = alone(design, settings, 30.0)
    pull = next(t for t in run.tasks if t.step.startswith("pull"))
    reading = prompts.release.overheads.path + prompts.steps.step(2000, 2000 * 1000, 1, 0, 0.0)
    pieces = 80 * 2 * 2000 / answers.scheduling.block * 2
    assert pull.ready == pytest.approx(reading + 0.095 + pieces * 2.5e-6, rel=1e-9)
    paths = [",".join(answers.network.net.path(int(p)) for p in one.replicas[0]) for one in (prompts, answers)]
    equal = evaluate_transfer(answers.network, Move(paths[0], paths[1], pairing="striped"), "s")
    per_device = np.bincount(equal.traffic.target, equal.rate)[answers.replicas[0]].min()
    moved = answers.steps.kv.held(2000.0) / per_device
    assert pull.time == pytest.approx(moved, rel=1e-2)
    last = answers.steps.step(1, 1999 + 0.5, 1, 0, 0.0)
    assert run.requests["serving"].run.first[0] == pytest.approx(pull.ended + last, rel=1e-6)


@pytest.mark.parametrize("by", ["whole", "chunks", "layers"])
def test_bytes_sent_while_a_prompt_is_read_cross_the_links_as_well(by: str, tmp_path: Path) -> None:
    """One prompt: nothing, or all but the last of 80 layers, is sent while it is read; all bytes are sent in all.

    Of a prompt read in one step chunks are the whole. Bytes take less than reading, so of layers one is left.
    """
    rows = (0.0, 2000, 2)
    settings = {**SPLIT, "load": "trace", "trace": trace(tmp_path / "one.jsonl", rows), "rate": "0 1/s"}
    design = designer.open_design("serving-split-2-racks")
    whole = next(t for t in alone(design, settings, 30.0).tasks if t.step.startswith("pull"))
    run = alone(design, {**settings, "hand_over": by}, 30.0)
    pull = next(t for t in run.tasks if t.step.startswith("pull"))
    early = [t for t in run.tasks if t.step.startswith("early")]
    assert pull.ready == pytest.approx(whole.ready, rel=1e-9)
    left = 1 / 80 if by == "layers" else 1.0
    # but for the latency of the way
    assert pull.time == pytest.approx(left * whole.time, abs=1e-5)
    assert sum(t.time for t in early) == pytest.approx((1 - left) * whole.time, abs=1e-5)
    assert all(t.ended <= pull.ready for t in early)


def test_hand_overs_by_layers_lengthen_a_copy_as_much_as_whole_ones() -> None:
    """The same bytes cross the links that a copy needs, whenever they do."""
    links = {"from": "prompts[*]/gpu*", "to": "answers[*]/gpu*", "pairing": "striped"}
    rates: list[float] = []
    for by in ("whole", "layers"):
        settings = {**SPLIT, "hand_over": by}
        design = with_workloads("serving-split-2-racks", s=("serving", settings), copy=("transfer", links))
        rates.append(simulated(design, "s", "copy", until=20.0).metrics["copy"]["rate"].value)
    assert rates[1] == pytest.approx(rates[0], rel=0.01)


def test_replicas_that_follow_the_load_do_so_beside_others(tmp_path: Path) -> None:
    """A load that rises once needs the second of two replicas; next to a copy it starts as in the analysis."""
    at = [float(t) for t in range(0, 120, 2)] + [120 + t / 7 for t in range(420)]
    name = trace(tmp_path / "rise.jsonl", *((round(t, 3), 3000, 256) for t in at))
    given = {"model": "llama-3-70b", "weights": "fp8", "release": "0.12.0", "tensor": 4, "load": "trace"}
    other = {"from": "nvme0", "to": "memory0", "size": "1 GB"}
    seen: list[float] = []
    for scaling in (True, False):
        settings = {**given, "rate": "0 1/s", "trace": name, "scaling": scaling}
        design = with_workloads("hgx-h100-8", s=("serving", settings), copy=("transfer", other))
        found = simulated(design, "s", "copy", until=400.0)
        closed = designer.analyze(design, ["s"]).workloads[0].metrics
        seen.append(found.metrics["s"]["ttft_p95"].value)
        assert seen[-1] == pytest.approx(closed["ttft_p95"].value, rel=0.02)
    assert seen[0] > 1.5 * seen[1]


def test_split_it_agrees_with_the_analysis_and_a_backup_lengthens_hand_overs() -> None:
    design = with_workloads(
        "serving-split-2-racks",
        s=("serving", SPLIT),
        copy=("transfer", {"from": "prompts[*]/gpu*", "to": "answers[*]/gpu*", "pairing": "striped"}),
    )
    found = simulated(design, "s", "copy", until=40.0)
    closed = designer.analyze(design, ["s"]).workloads[0].metrics
    for name, near in (("ttft_p50", 0.08), ("itl_p50", 0.02), ("tpot", 0.03)):
        assert found.alone["s"][name] == pytest.approx(closed[name].value, rel=near), name
    pulls = [t.time for t in found.run.tasks if t.step.startswith("pull") and t.done]
    assert len(pulls) == pytest.approx(40 * 12, rel=0.15)
    assert found.metrics["s"]["ttft_p50"].value > found.alone["s"]["ttft_p50"]


def test_split_clients_on_the_clock_agree_with_the_analysis() -> None:
    """24 clients next to a copy between servers that the model leaves alone."""
    design = with_workloads(
        "serving-split-2-racks",
        s=("serving", {**SPLIT, "load": "clients", "clients": 24}),
        copy=("transfer", {"from": "prompts[*]/gpu*", "to": "answers[*]/gpu*", "pairing": "striped"}),
    )
    found = simulated(design, "s", "copy", until=40.0)
    closed = designer.analyze(design, ["s"]).workloads[0].metrics
    for name, near in (("ttft_p50", 0.08), ("itl_p50", 0.02), ("tpot", 0.03)):
        assert found.alone["s"][name] == pytest.approx(closed[name].value, rel=near), name
    rate = found.alone["s"]["requests_per_second"]
    assert rate == pytest.approx(closed["requests_per_second"].value, rel=0.08)
    # slower hand-overs make clients wait, who then ask for less
    assert found.metrics["s"]["ttft_p50"].value > found.alone["s"]["ttft_p50"]
    assert found.metrics["s"]["requests_per_second"].value < rate


def test_a_split_model_starts_cold_as_the_analysis_says() -> None:
    """Both kinds of engines load: four servers from one storage, then the engines' own start, then the first answer.

    Of the 70 GB of fp8 weights each server has a copy: engines of eight fill theirs, two of four share one.
    """
    settings = {**SPLIT, "storage": "storage", "readers": 400, "rate": "2 1/s", "count": 50}
    design = with_workloads(
        "serving-split-2-racks", cold=("serving", {**settings, "cold": True}), warm=("serving", settings)
    )
    run = simulated(design, "cold", until=120.0).run
    start = designer.analyze(design, ["warm"]).workloads[0].metrics["cold_start_time"].value
    ready = next(t.ended for t in run.tasks if t.step == "engine start")
    assert ready == pytest.approx(start, rel=0.02)
    # by hand: 72.7 GB to each of four servers, two links of 43.5 GB/s out of the storage, 35 s for the engine
    read = next(t for t in run.tasks if t.step == "read weights")
    assert read.time == pytest.approx(4 * 72.7e9 / 87e9, rel=0.01)
    assert ready == pytest.approx(4 * 72.7e9 / 87e9 + 35, rel=0.01)
    first = run.requests["cold"].run.first
    assert np.nanmin(first) > ready


def test_a_copy_from_the_same_storage_slows_the_loading_of_a_split_model() -> None:
    """A stream without end to the two servers for prompts: each mounts the storage at 25 GB/s, half of it for weights.

    12.5 GB/s are less than a sixth of the 87 GB/s out of the storage, so those two servers are the last to be done.
    """
    settings = {**SPLIT, "storage": "storage", "readers": 400, "rate": "2 1/s", "count": 50, "cold": True}
    copy = {"from": "storage", "to": "prompts[*]/memory0"}
    design = with_workloads("serving-split-2-racks", cold=("serving", settings), copy=("transfer", copy))
    tasks = simulated(design, "cold", "copy", until=60.0).run.tasks
    read = next(t for t in tasks if t.step == "read weights")
    assert read.time == pytest.approx(72.7e9 / 12.5e9, rel=0.01)


TIERED: Mapping[str, Any] = {
    "model": "llama-3-70b",
    "weights": "fp8",
    "release": "0.12.0",
    "tensor": 4,
    "group": "gpu0,gpu1,gpu2,gpu3",
    "tiers": "memory",
    "reuse": "1M:10 %, 10M:40 %, 100M:60 %",
    "prompt": 4000,
    "output": 20,
    "spread": "0 %",
    "count": 60,
    "rate": "0.5 1/s",
    "variation": 0,
}


def test_fetching_from_host_memory_by_hand() -> None:
    """Requests 2 s apart meet nobody: each waits for what is fetched, then for the step with the rest of its prompt.

    A token is 80 layers x 2 x 8 heads x 128 x 2 B = 327,680 B, a quarter of it on each of four devices; each has its
    own way from memory, of 55.5 GB/s.
    """
    design = with_workloads("serving-h100-8", s=("serving", TIERED))
    placement, _ = placed(design, TIERED)
    metrics = designer.analyze(design, ["s"]).workloads[0].metrics
    found = simulated(design, "s", until=30.0)
    fetches = [t for t in found.run.tasks if t.step == "replica 1 fetches" and t.done]
    hits = metrics["prefix_hits"].value
    tokens = round(fetches[0].time * 55.5e9 / (327_680 / 4))
    assert fetches[0].time == pytest.approx(metrics["fetch_time"].value, rel=0.03)
    assert 0 < tokens < 4000 * hits
    new = 4000 - int(4000 * hits)
    step = placement.steps.step(new, new * (4000 - new / 2), 1, 0, 0.0)
    log = found.run.requests["s"].run
    served = np.isfinite(log.first)
    ttft = (log.first - log.sent)[served]
    assert ttft == pytest.approx(placement.release.overheads.path + fetches[0].time + step, rel=1e-4)
    assert ttft.mean() == pytest.approx(metrics["ttft"].value, rel=0.01)


def test_fetches_and_a_copy_share_the_way_from_memory() -> None:
    """A copy without end from memory to the same four GPUs halves the way: fetching takes twice as long."""
    copy = {"from": "memory0", "to": "gpu0,gpu1,gpu2,gpu3", "pairing": "nearest"}
    design = with_workloads("serving-h100-8", s=("serving", TIERED), copy=("transfer", copy))
    both, alone_ = (
        [t.time for t in simulated(design, *names, until=30.0).run.tasks if t.step.endswith("fetches") and t.done]
        for names in (("s", "copy"), ("s",))
    )
    assert len(both) == len(alone_)
    assert np.array(both) == pytest.approx(2 * np.array(alone_), rel=0.02)


def test_clients_fetch_when_they_ask() -> None:
    """Two clients: each asks again with its answer, so requests a second are clients over the whole time of one."""
    settings = {**TIERED, "load": "clients", "clients": 2, "waves": 20, "warm_up": 1}
    design = with_workloads("serving-h100-8", s=("serving", settings))
    run = simulated(design, "s", until=20.0).run.requests["s"].run
    done = np.isfinite(run.done)
    mean = float((run.done - run.sent)[done].mean())
    assert done.sum() / 20.0 == pytest.approx(2 / mean, rel=0.05)


def test_steps_that_all_take_longer_are_looked_at_no_more_often() -> None:
    """Once it is known that steps take 1.2 times as long, windows are as long as alone, and answers come as late.

    Of two devices every step is computing or joining, both 1.2 times as long: so is the time between tokens.
    """
    design = designer.open_design("hgx-h100-8")
    program = program_of("serving", BASE, "s")
    assert program is not None
    plain, slow = (
        play(Prices(build_network(design)), [job_of(program)], until=40.0, changes=changes)
        for changes in (NO_CHANGES, Changes(slower={"serving": 1.2}))
    )
    assert slow.events < 1.2 * plain.events
    gaps = [run.requests["serving"].readings.values["itl_p50"] for run in (plain, slow)]
    assert gaps[1] == pytest.approx(1.2 * gaps[0], rel=0.02)


def test_a_run_shorter_than_its_load_tells_what_it_has_seen() -> None:
    """Of 8 requests a second 20 s have 160; a tenth of those fills the engines, not a tenth of 5,000."""
    design = with_workloads("hgx-h100-8", s=("serving", {**BASE, "count": 5000}))
    found = simulated(design, "s", until=20.0)
    assert found.metrics["s"]["ttft_p50"].value > 0
    assert "CLOCK-SHORT" not in {f.code for f in found.findings}
    log = found.run.requests["s"]
    assert log.first == sum(len(run.sent) // 10 for run, _ in log.parts)


#: prompts are read in infer1, answers said in infer0, each on a part of an A100 of its own host
SPLIT_IN_VMS: Mapping[str, Any] = {
    **IN_VM,
    "group": "hosts[0]/gpu1",
    "prompt_group": "hosts[2]/gpu0",
    "machines": "infer0, infer1",
}


def split_beside_a_stun(who: str, tmp_path: Path) -> tuple[ServingRun, ServingRun, float, float, Run]:
    """Requests to a split model of which one machine moves: as they are, as they are alone, and the stun.

    One long before, one that is being answered when the machine is paused, one that is sent a second later.
    """
    empty = with_workloads("vsphere-cluster-4", s=("serving", SPLIT_IN_VMS), mv=("vmotion", {"vms": who}))
    tasks = simulated(empty, "s", "mv", until=120.0, mv=10.0).run.tasks
    stun = next(t.began for t in tasks if t.step == f"stun {who}")
    again = next(t.ended for t in tasks if t.step == f"again {who}")
    rows = ((0.0, 500, 10), (round(stun - 1.0, 3), 500, 400), (round(stun + 1.0, 3), 500, 10))
    settings = {**SPLIT_IN_VMS, "load": "trace", "trace": trace(tmp_path / "t.jsonl", *rows), "rate": "0 1/s"}
    design = with_workloads("vsphere-cluster-4", s=("serving", settings), mv=("vmotion", {"vms": who}))
    run = simulated(design, "s", "mv", until=200.0, mv=10.0).run
    single = alone(empty, settings, 200.0).requests["serving"].run
    return run.requests["s"].run, single, stun, again, run


def test_while_the_machine_that_answers_stands_still_prompts_are_read_and_nothing_is_handed_over(
    tmp_path: Path,
) -> None:
    """The answer under way has one gap, the whole stun. The prompt sent meanwhile is read at once, next door.

    Its keys and values are pulled by the engine that answers, so that begins when its machine runs again: the first
    token comes the time of a hand-over and of one step after that, as after the reading of a prompt alone.
    """
    log, single, stun, again, run = split_beside_a_stun("infer0", tmp_path)
    gaps, weights = log.gaps()
    assert weights[gaps > 10].sum() == 1
    assert gaps.max() == pytest.approx(again - stun, abs=0.1)
    pull = next(t for t in run.tasks if t.step.startswith("pull") and t.number == 2 and not t.step.endswith("pauses"))
    # what comes before the bytes, 95 ms and its pieces, is not over while the machine is paused either
    read = next(t.ready for t in run.tasks if t.step.endswith("pauses") and t.number == 2 and "pull" in t.step)
    assert log.sent[2] < read < log.sent[2] + 0.1
    assert pull.ready > again + 0.095
    alone_after_reading = (single.first[2] - single.sent[2]) - (read - log.sent[2])
    assert log.first[2] - again == pytest.approx(alone_after_reading, abs=0.03)
    assert (log.done[0], log.first[0]) == pytest.approx((single.done[0], single.first[0]), abs=1e-6)


def test_while_the_machine_that_reads_stands_still_answers_go_on(tmp_path: Path) -> None:
    """The answer under way has no gap. The prompt sent meanwhile is read when its machine runs again.

    It has been on its way to the queue since, and nobody is answered any more: the first token comes as much later than
    that as the very first one came, on empty engines, less that way.
    """
    log, single, stun, again, _ = split_beside_a_stun("infer1", tmp_path)
    gaps, _ = log.gaps()
    assert gaps.max() < 0.1
    # read before the stun while its pages are tracked, 4 % slower; answered at full speed next door
    assert log.done[1] - log.sent[1] == pytest.approx(single.done[1] - single.sent[1], abs=0.05)
    design = with_workloads("vsphere-cluster-4", s=("serving", SPLIT_IN_VMS))
    asked = serving_asked(SPLIT_IN_VMS, "s")
    assert isinstance(asked, Serving)
    _, prompts = place_split(build_network(design), asked, "s")
    path = prompts.release.overheads.path
    assert log.first[2] - again == pytest.approx(single.first[0] - single.sent[0] - path, abs=1e-3)
    assert stun < log.sent[2] < again
