"""Trainings with a cadence next to other workloads, against cases worked by hand."""

from __future__ import annotations

from typing import Any

import pytest

from designer.analysis.simulation import simulate
from designer.analysis.study import analyze
from designer.analysis.study.neighbours import mean_time
from designer.design.document import Design, WorkloadSpec, replaced, with_changes
from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError
from designer.interchange.templates import open_design
from designer.units import Ratio, Seconds

#: one GPU computes for a second a step and exchanges nothing: 3,600 steps are an hour
HOUR: dict[str, Any] = {
    "model": "resnet-50",
    "precision": "fp16",
    "software": "fused",
    "micro_batch": 32,
    "measured_compute": "1 s",
    "group": "gpu0",
    "samples": 32 * 3600,
}
NIGHTLY = {**HOUR, "retrain_every": "4 h"}


def asked(specs: dict[str, tuple[str, dict[str, Any]]], which: str, design: Design | None = None) -> WorkloadResult:
    """One of some workloads of a design."""
    return analyze(with_workloads(specs, design), [which], curves=False).workloads[0]


def with_workloads(specs: dict[str, tuple[str, dict[str, Any]]], design: Design | None = None) -> Design:
    found = [WorkloadSpec(id=name, kind=kind, settings=settings) for name, (kind, settings) in specs.items()]
    design = design or open_design("hgx-h100-8")
    return with_changes(design, workloads=replaced({}, found), default_workload="")


def test_who_shares_a_gpu_a_quarter_of_the_time_keeps_seven_eighths() -> None:
    """3,600 steps of a second every 4 h are a duty of 1/4; meanwhile both take turns on the GPU, each at half speed.

    So 3/4 of the time at full pace and 1/4 at half: 7/8 of the steps, and 8/7 of the time for each in the mean.
    """
    jobs = {"main": ("training", {**HOUR, "background": "nightly"}), "nightly": ("training", NIGHTLY)}
    found, alone = asked(jobs, "main"), asked({"main": ("training", HOUR)}, "main")
    duty = asked(jobs, "nightly").metrics["retraining_share"].value
    assert duty == pytest.approx(alone.metrics["time_to_train"].value / (4 * 3600))
    assert duty == pytest.approx(0.25, rel=0.02)
    assert found.metrics["slow_down_while_retraining"].value == pytest.approx(2.0, rel=1e-6)
    left = 1 - duty + duty / 2
    for name in ("step_time", "time_to_train"):
        assert found.metrics[name].value == pytest.approx(alone.metrics[name].value / left, rel=1e-6)
    assert found.metrics["samples_per_second"].value == pytest.approx(
        alone.metrics["samples_per_second"].value * left, rel=1e-6
    )
    assert found.metrics["share_beside_retraining"].value == pytest.approx(duty)
    stated = [f.text for f in found.findings if f.code == "TRAIN-BESIDE"]
    assert len(stated) == 1
    assert "2.00 times as long meanwhile (step_time 2 s)" in stated[0]
    assert "1.14 times in the mean" in stated[0]


def test_who_shares_nothing_loses_nothing() -> None:
    """The other one computes on another GPU."""
    jobs = {
        "main": ("training", {**HOUR, "background": "nightly"}),
        "nightly": ("training", {**NIGHTLY, "group": "gpu1"}),
    }
    found, alone = asked(jobs, "main"), asked({"main": ("training", HOUR)}, "main")
    assert found.metrics["step_time"].value == pytest.approx(alone.metrics["step_time"].value, rel=1e-9)
    assert found.metrics["slow_down_while_retraining"].value == 1.0


def test_a_stream_keeps_what_the_clock_leaves_it() -> None:
    """A stream over the NICs next to a retraining that exchanges gradients over them.

    While it runs the stream has what the clock gives it over whole steps; with a duty d the mean is
    (1 − d)·alone + d·meanwhile.
    """
    design = open_design("su-h100-32")
    group = "servers[0]/gpu*, servers[1]/gpu*"
    nightly = {
        "model": "llama-2-7b",
        "software": "fsdp",
        "sharding": "parameters",
        "micro_batch": 1,
        "group": group,
        "samples": 10_000,
        "retrain_every": "1 h",
    }
    stream = {"from": "servers[0]/gpu*", "to": "servers[1]/gpu*", "pairing": "pairs", "beside": "nightly"}
    jobs = {"stream": ("transfer", stream), "nightly": ("training", nightly)}
    found = asked(jobs, "stream", design)
    alone = asked({"stream": ("transfer", {**stream, "beside": ""})}, "stream", design).metrics["rate"].value
    duty = asked(jobs, "nightly", design).metrics["retraining_share"].value
    run = simulate(with_workloads(jobs, design), ["nightly"], until=1.0, bands=False)
    step = run.metrics["nightly"]["step_time"].value
    both = simulate(with_workloads(jobs, design), ["stream", "nightly"], until=200 * step, bands=False)
    during = both.metrics["stream"]["rate"].value
    assert during < alone * 0.999
    assert found.metrics["rate"].value == pytest.approx((1 - duty) * alone + duty * during, rel=0.02)
    assert found.metrics["rate"].low <= found.metrics["rate"].value <= found.metrics["rate"].high
    # the exchange of Llama 2 7B hides less since FSDP overlaps 0.32 of it: a longer step leaves the stream more
    assert "(rate 308 GB/s)" in next(f.text for f in found.findings if f.code == "TRAIN-BESIDE")
    assert during == pytest.approx(309e9, rel=0.02)


def test_what_cannot_be_counted_is_refused() -> None:
    steady = {key: value for key, value in HOUR.items() if key != "retrain_every"}
    jobs = {"move": ("transfer", {"beside": "main"}), "main": ("training", steady)}
    with pytest.raises(AnalysisError, match="no training with a cadence") as refused:
        asked(jobs, "move")
    assert refused.value.place == "workloads.move.beside"


#: one copy of an 8B model on half of a GPU's memory, two requests a second
SERVED: dict[str, Any] = {
    "model": "llama-3-8b",
    "tensor": 1,
    "replicas": 1,
    "group": "gpu0",
    "rate": "2 1/s",
    "memory_share": 0.5,
}


def test_a_served_model_keeps_seven_eighths_of_what_it_could_answer() -> None:
    """Both take turns on the GPU for a quarter of the time, each at half speed then: 3/4 + 1/4 · 1/2 of the requests.

    A mean is that of 3/4 of the requests as alone and 1/4 as meanwhile; a token then takes about twice as long, a
    little more where more requests are under way: at least 3/4 + 1/4 · 2 times in the mean. The tail is of those
    meanwhile, the middle of those alone.
    """
    jobs = {"chat": ("serving", {**SERVED, "beside": "nightly"}), "nightly": ("training", NIGHTLY)}
    found, alone = asked(jobs, "chat").metrics, asked({"chat": ("serving", SERVED)}, "chat").metrics
    duty = found["share_beside_retraining"].value
    assert duty == pytest.approx(0.25, rel=0.02)
    assert found["slow_down_while_retraining"].value == pytest.approx(2.0, rel=0.02)
    most = "most_requests_per_second"
    assert found[most].value == pytest.approx(alone[most].value * (1 - duty + duty / 2), rel=0.01)
    assert 1.2 < found["tpot"].value / alone["tpot"].value < 1.4
    assert found["itl_p50"].value == pytest.approx(alone["itl_p50"].value, rel=0.05)
    assert 1.9 < found["itl_p95"].value / alone["itl_p95"].value < 2.5
    for name, m in found.items():
        assert m.low <= m.value <= m.high, name
    # as many arrive, and the memory of more is full
    assert found["requests_per_second"] == alone["requests_per_second"]
    assert found["requests_running"].value == pytest.approx(
        alone["requests_running"].value * found["latency_p50"].value / alone["latency_p50"].value, rel=0.25
    )
    assert alone["kv_use"].value < found["kv_use"].value <= 1


def test_clients_that_wait_longer_ask_less_and_fewer_keep_their_limit() -> None:
    """Closed loops answer in inverse proportion to a latency twice as long for a quarter of the time; whoever waits
    60 ms at most for the first token is served as before while nothing is trained, and by half as many meanwhile."""
    clients = {**SERVED, "load": "clients", "clients": 8, "ttft_limit": "60 ms"}
    jobs = {"chat": ("serving", {**clients, "beside": "nightly"}), "nightly": ("training", NIGHTLY)}
    found, alone = asked(jobs, "chat").metrics, asked({"chat": ("serving", clients)}, "chat").metrics
    duty = found["share_beside_retraining"].value
    for name in ("requests_per_second", "tokens_per_second"):
        assert found[name].value == pytest.approx(alone[name].value * (1 - duty + duty / 2), rel=0.03), name
    assert found["requests_running"] == alone["requests_running"]
    assert (1 - duty) * 0.95 < found["goodput"].value / alone["goodput"].value < 0.95


def test_what_is_asked_above_what_is_left_meanwhile_has_no_latency() -> None:
    """14 requests a second of 17.5 alone, 8.8 meanwhile: the rest waits when the hour is over."""
    chat = {**SERVED, "rate": "14 1/s", "beside": "nightly"}
    found = asked({"chat": ("serving", chat), "nightly": ("training", NIGHTLY)}, "chat")
    stated = next(f for f in found.findings if f.code == "SERVE-SATURATED")
    metrics = found.metrics
    left = (1 - metrics["share_beside_retraining"].value / 2) * 2
    waiting = (metrics["requests_per_second"].value - metrics["most_requests_per_second"].value / left) * 3600
    number = float(stated.text.split(" wait after")[0].split()[-1].replace(",", ""))
    assert number == pytest.approx(waiting, rel=0.03)
    assert not {"ttft", "tpot", "ttft_p95", "itl_p95", "latency_p99"} & set(metrics)


def test_a_served_model_on_another_gpu_loses_nothing() -> None:
    jobs = {
        "chat": ("serving", {**SERVED, "beside": "nightly"}),
        "nightly": ("training", {**NIGHTLY, "group": "gpu1"}),
    }
    found, alone = asked(jobs, "chat").metrics, asked({"chat": ("serving", SERVED)}, "chat").metrics
    assert {name: m for name, m in found.items() if "retraining" not in name} == dict(alone)
    assert found["slow_down_while_retraining"].value == 1.0


def on_one_network() -> Design:
    """The shipped cluster where training and migrations have the same NICs."""
    design = open_design("vsphere-cluster-4")
    group = design.groups["hosts"]
    parts = {k: p for k, p in group.content.parts.items() if k not in ("nic0", "storage_nic0")}
    links = {k: x for k, x in group.content.links.items() if not {x.a, x.b} & {"nic0", "storage_nic0"}}
    content = with_changes(group.content, parts=parts, links=links)
    return with_changes(
        design,
        groups=replaced(design.groups, [with_changes(group, content=content)]),
        wirings={"vmotion_network": design.wirings["vmotion_network"]},
    )


SPREAD = {**HOUR, "group": "hosts[0]/gpu*, hosts[1]/gpu*", "measured_compute": "10 ms", "samples": 1_000_000}
MOVE = {"vms": "web0", "to": "hosts[1]/server"}


def test_a_migration_that_begins_at_any_moment() -> None:
    """It takes seconds, a retraining many minutes: it meets all of one or nothing, so its mean is
    (1 − d)·alone + d·meanwhile; meanwhile is what it takes next to a training without a pause."""
    design = on_one_network()
    steady = {key: value for key, value in SPREAD.items() if key != "retrain_every"}
    night = {**SPREAD, "retrain_every": "4 h"}
    jobs = {"move": ("vmotion", {**MOVE, "background": "night"}), "night": ("training", night)}
    found = asked(jobs, "move", design)
    always = asked({"move": ("vmotion", {**MOVE, "background": "x"}), "x": ("training", steady)}, "move", design)
    alone = asked({"move": ("vmotion", MOVE)}, "move", design)
    duty = asked(jobs, "night", design).metrics["retraining_share"].value
    usual, meanwhile = alone.metrics["migration_time"].value, always.metrics["migration_time"].value
    assert meanwhile > 1.3 * usual
    mean = (1 - duty) * usual + duty * meanwhile
    assert found.metrics["migration_time"].value == pytest.approx(mean, rel=0.01)
    assert found.metrics["slow_down_while_retraining"].value == pytest.approx(meanwhile / usual, rel=1e-9)
    assert found.metrics["share_beside_retraining"].value == pytest.approx(duty)
    stated = next(f.text for f in found.findings if f.code == "TRAIN-BESIDE")
    assert f"{meanwhile / usual:.2f} times as long meanwhile" in stated
    assert f"{found.metrics['migration_time'].value / usual:.2f} times in the mean" in stated
    band, usual_band = found.metrics["migration_time"], alone.metrics["migration_time"]
    share = asked(jobs, "night", design).metrics["retraining_share"]
    least, most = (1 + end * (meanwhile / usual - 1) for end in (share.low, share.high))
    assert band.low == pytest.approx(usual_band.low * least, rel=0.01)
    assert band.high == pytest.approx(usual_band.high * most, rel=0.01)


def test_a_migration_as_long_as_a_cadence_keeps_a_share_of_its_pace() -> None:
    """Every minute a training runs for half of it, and a migration takes over a minute: not one mean of both ends."""
    design = on_one_network()
    often = {**SPREAD, "samples": 35_000, "retrain_every": "60 s"}
    jobs = {"move": ("vmotion", {**MOVE, "background": "often"}), "often": ("training", often)}
    found = asked(jobs, "move", design).metrics
    usual = asked({"move": ("vmotion", MOVE)}, "move", design).metrics["migration_time"].value
    duty, slower = (found[name].value for name in ("share_beside_retraining", "slow_down_while_retraining"))
    assert 0.1 < duty < 0.9
    mean = mean_time(Seconds(usual), Ratio(slower), Seconds(60 * duty), Seconds(60.0))
    assert found["migration_time"].value == pytest.approx(mean, rel=1e-6)
    assert abs(mean - usual * (1 + duty * (slower - 1))) > 0.03 * usual


@pytest.mark.parametrize("samples", [100, 400])
def test_inference_takes_of_a_migration_what_its_samples_take_of_the_network(samples: int) -> None:
    """A picture of 131 kB from host 0 to a GPU of host 1: 400 a second are 52 MB/s of the 1.175 GB/s of a migration."""
    inference = {
        "group": "hosts[1]/gpu0",
        "source": "hosts[0]/memory0",
        "dataset": "imagenet-1k",
        "rate": f"{samples} 1/s",
    }
    jobs = {"move": ("vmotion", {**MOVE, "background": "x"}), "x": ("inference", inference)}
    found = asked(jobs, "move", on_one_network()).metrics["migration_time"].value
    alone = asked({"move": ("vmotion", MOVE)}, "move", on_one_network()).metrics
    left = 1 - samples * 130.6e3 / alone["rate"].value
    assert found == pytest.approx(alone["migration_time"].value / left, rel=0.005)


@pytest.mark.parametrize(
    ("work", "slower", "busy", "every", "mean"),
    [
        # a second against hours: a quarter of all beginnings meet a retraining, and take 3 s
        (1.0, 3.0, 3600.0, 4 * 3600.0, 0.75 * 1 + 0.25 * 3),
        # 10 periods of 500 + 500/2 s of work: 10 periods, whenever it begins
        (7500.0, 2.0, 500.0, 1000.0, 10_000.0),
        # busy all the time, and never
        (5.0, 2.0, 1000.0, 1000.0, 10.0),
        (5.0, 2.0, 0.0, 1000.0, 5.0),
    ],
)
def test_the_mean_time_of_what_begins_at_any_moment(
    work: float, slower: float, busy: float, every: float, mean: float
) -> None:
    found = mean_time(Seconds(work), Ratio(slower), Seconds(busy), Seconds(every))
    assert found == pytest.approx(mean, rel=1e-3)


def test_the_mean_time_equals_many_beginnings() -> None:
    """Work of 30 s at a third of the pace in 40 s of every 100 s, stepped through from 1,000 beginnings."""

    def takes(begin: float) -> float:
        at, left = begin, 30.0
        while left > 1e-12:
            inside = at % 100.0
            end = (40.0 if inside < 40.0 - 1e-9 else 100.0) - inside
            pace = 1 / 3 if inside < 40.0 - 1e-9 else 1.0
            step = min(end, left / pace)
            at, left = at + step, left - step * pace
        return at - begin

    found = mean_time(Seconds(30.0), Ratio(3.0), Seconds(40.0), Seconds(100.0))
    assert found == pytest.approx(sum(takes(k / 10 + 0.05) for k in range(1000)) / 1000, rel=1e-4)


def test_what_a_retraining_puts_on_links_counts_for_its_share_of_the_time() -> None:
    """A stream between two servers, and a retraining over four: links of the other two carry d of the retraining."""
    design = open_design("su-h100-32")
    nightly = {
        "model": "llama-2-7b",
        "software": "fsdp",
        "sharding": "parameters",
        "micro_batch": 1,
        "group": "servers[0]/gpu*, servers[1]/gpu*, servers[2]/gpu*, servers[3]/gpu*",
        "samples": 10_000,
        "retrain_every": "1 h",
    }
    stream = {"from": "servers[0]/gpu*", "to": "servers[1]/gpu*", "pairing": "pairs", "beside": "nightly"}
    jobs = {"stream": ("transfer", stream), "nightly": ("training", nightly)}
    found = analyze(with_workloads(jobs, design), curves=False)
    alone = analyze(with_workloads({"stream": ("transfer", {**stream, "beside": ""})}, design), curves=False)
    duty = found.workloads[1].metrics["retraining_share"].value
    mine, its, both = alone.loads["stream"], found.loads["nightly"], found.loads["stream"]
    elsewhere = (its.utilization > 0) & (mine.utilization == 0)
    assert elsewhere.sum() > 10
    assert both.load[elsewhere] == pytest.approx(duty * its.load[elsewhere])
    assert both.utilization[elsewhere] == pytest.approx(duty * its.utilization[elsewhere])
    assert (both.utilization >= mine.utilization - 1e-12).all()
    assert both.utilization.max() <= 1.0
    nothing = (its.utilization == 0) & (mine.utilization == 0)
    assert not both.utilization[nothing].any()


def test_on_the_clock_a_retraining_begins_when_it_is_due() -> None:
    """Three steps of a second every 10 s, on the GPU of another training: both at half speed for 6 s, then 4 s alone.

    So the other one does 3 + 4 steps in each 10 s, and the retraining's steps end at 2, 4, 6 and 12, 14, 16 s.
    """
    night = {**HOUR, "samples": 32 * 3, "retrain_every": "10 s"}
    jobs = {"main": ("training", {**HOUR, "background": "night"}), "night": ("training", night)}
    run = simulate(with_workloads(jobs), ["main"], until=40.0, bands=False).run
    step = asked({"main": ("training", HOUR)}, "main").metrics["step_time"].value
    assert step == pytest.approx(1.0, rel=0.02)
    ends = run.ends("night", "step")
    begins = [t for t in (0, 10, 20, 30) for _ in range(3)]
    assert len(ends) == 12
    # the first step may find the other one at work
    for k, (end, begin) in enumerate(zip(ends, begins, strict=True)):
        assert end == pytest.approx(begin + 2 * (k % 3 + 1) * step, abs=1.1 * step)
    assert len(run.ends("main", "step")) == pytest.approx(28 / step, abs=1)


def test_on_the_clock_one_that_is_not_done_when_the_next_is_due_goes_on() -> None:
    """Five steps of a second every 3 s, for 20 s: no pause."""
    night = {**HOUR, "samples": 32 * 5, "retrain_every": "3 s"}
    run = simulate(with_workloads({"night": ("training", night)}), ["night"], until=20.0, bands=False).run
    ends = run.ends("night", "step")
    assert ends == pytest.approx([ends[0] * (k + 1) for k in range(len(ends))])
    assert len(ends) >= 18
