"""Training on drawn designs: parts add up, what binds is what helps, and wrong jobs are refused in words."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.analysis.study import analyze, run_workload
from designer.design.document import Design, WorkloadSpec, with_changes
from designer.engine.network import build_network
from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError, Cancelled
from designer.families.training.preparation import prepare
from designer.findings import Severity
from designer.formulas.software import software
from designer.interchange.changes import apply_changes
from designer.interchange.templates import open_design
from designer.workload.job_settings import job

LLAMA = {"model": "llama-2-7b", "sharding": "parameters"}
RESNET = {
    "model": "resnet-50",
    "precision": "fp16",
    "software": "fused",
    "micro_batch": 64,
    "dataset": "imagenet-1k",
    "source": "drives",
    "decode": "gpu",
}


@cache
def opened(template: str) -> Design:
    return open_design(template)


def run(design: Design, kind: str = "training", curves: bool = False, **settings: Any) -> WorkloadResult:
    return run_workload(build_network(design), WorkloadSpec(id="w", kind=kind, settings=settings), curves)[0]


def value(result: WorkloadResult, name: str) -> float:
    return result.metrics[name].value


def test_metrics_have_bands_and_sources() -> None:
    result = run(
        opened("hgx-h100-8"), **RESNET, epochs=90, validate_every=1, checkpoint_every=500, checkpoint_to="drives"
    )
    wanted = {
        "step_time",
        "compute_time",
        "input_time",
        "communication_time",
        "samples_per_second",
        "epoch_time",
        "time_to_train",
        "speedup",
        "scaling_efficiency",
        "gpu_utilization",
        "memory_per_gpu",
        "mfu",
        "data_rate_per_gpu",
        "training_rate_per_gpu",
        "checkpoint_time",
    }
    assert wanted <= set(result.metrics)
    for name, metric in result.metrics.items():
        assert metric.low <= metric.value <= metric.high, name
        assert metric.sources, name
    assert result.binding
    assert value(result, "time_to_train") > 90 * value(result, "epoch_time")


def test_curves_have_their_stable_names_and_add_up() -> None:
    result = run(opened("hgx-h100-8"), curves=True, **RESNET)
    assert {"step-timeline", "scaling", "memory", "roofline", "flow-stages"} <= set(result.curves)
    timeline = result.curves["step-timeline"]
    assert sum(c.y[0] for c in timeline) == pytest.approx(value(result, "step_time"))
    assert timeline[0].x[0] == 0
    memory = sum(c.y[0] for c in result.curves["memory"] if c.name != "capacity")
    assert memory == pytest.approx(value(result, "memory_per_gpu"))
    scaling = {c.name: c for c in result.curves["scaling"]}
    assert scaling["speedup"].x == (1.0, 2.0, 4.0, 8.0)
    losses = sum(c.y[-1] for name, c in scaling.items() if name.startswith("loss:"))
    assert losses >= 1 - scaling["scaling_efficiency"].y[-1] - 1e-9


def test_loading_that_is_too_slow_binds_and_the_compute_otherwise() -> None:
    slow = run(opened("hpe-apollo-6500-nfs"), **{**RESNET, "model": "resnet-18", "source": "storage"})
    fast = run(opened("hgx-h100-8"), **LLAMA)
    assert value(slow, "data_rate_per_gpu") < value(slow, "training_rate_per_gpu")
    assert {b.what for b in slow.binding} == {"limit"}
    assert "NFS" in slow.binding[0].label
    assert fast.binding[0].what == "compute"
    assert (fast.binding[0].gain_if_doubled or 0) > 1.2


def test_processors_that_decode_bind() -> None:
    result = run(opened("hgx-h100-8"), **{**RESNET, "decode": "cpu", "workers": 2})
    assert "workers" in result.binding[0].label
    more = run(opened("hgx-h100-8"), **{**RESNET, "decode": "cpu", "workers": 4})
    assert value(more, "samples_per_second") == pytest.approx(2 * value(result, "samples_per_second"), rel=0.01)


def test_no_batches_ahead_adds_loading_and_computing() -> None:
    hidden = run(opened("hgx-h100-8"), **{**RESNET, "prefetch": 2})
    serial = run(opened("hgx-h100-8"), **{**RESNET, "prefetch": 0})
    assert value(serial, "step_time") > value(hidden, "step_time")
    assert value(serial, "step_time") == pytest.approx(
        value(serial, "input_time") + value(hidden, "step_time"), rel=0.02
    )


def test_page_cache_and_background_move_the_loading_rate_the_right_way() -> None:
    design = opened("hpe-apollo-6500-nfs")
    settings = {**RESNET, "source": "storage"}
    plain = value(run(design, **settings), "data_rate_per_gpu")
    assert value(run(design, **settings, cached="50 %"), "data_rate_per_gpu") == pytest.approx(2 * plain, rel=0.01)
    shared = value(run(design, **settings, background="storage-to-gpus"), "data_rate_per_gpu")
    assert shared == pytest.approx(plain / 2, rel=0.01)


def test_a_broken_link_makes_traffic_slower() -> None:
    design = opened("hgx-h100-8")
    links = [with_changes(x, count=1) if x.id.startswith("gpu3--nvsw") else x for x in design.links.values()]
    whole = run(design, **LLAMA)
    broken = run(with_changes(design, links=links), **LLAMA)
    assert value(broken, "communication_time") > 1.5 * value(whole, "communication_time")


def test_groups_that_share_nics_get_less_than_one_alone() -> None:
    """Eight groups of one GPU on each of two servers, all over the one NIC of their server."""
    from designer.engine.routes.selection import resolve
    from designer.families.collective.communicator import make_communicator, make_concurrent

    network = build_network(opened("sm-4029gp-trt-pair"))
    ranks = resolve(network, "gpus", "t")
    groups = ranks.reshape(2, 8).T
    alone = make_communicator(network, groups[0], "t").time("all-reduce", 1e9).time
    together = max(c.time("all-reduce", 1e9).time for c in make_concurrent(network, groups, "t"))
    # the groups on the far socket set the pace
    assert 6 * alone < together < 12 * alone


def test_parameter_servers_cost_more_than_a_ring_over_nvlink() -> None:
    settings = {**RESNET, "dataset": "", "software": "megatron-2022"}
    ring = run(opened("hgx-h100-8"), **settings)
    servers = run(opened("hgx-h100-8"), **settings, exchange="parameter-server")
    assert value(servers, "communication_time") > value(ring, "communication_time")


def test_a_model_that_does_not_fit_is_a_finding_that_says_what_would() -> None:
    result = run(opened("hgx-h100-8"), model="llama-2-7b", sharding="none", recompute="none")
    (found,) = [f for f in result.findings if f.code == "TRAIN-MEMORY"]
    assert found.severity is Severity.ERROR
    assert "would fit" in found.remedy
    assert value(result, "memory_per_gpu") > 85e9
    huge = run(opened("m40-server"), model="gpt-1t", precision="fp32")
    assert any("spread the model" in f.remedy for f in huge.findings)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"tensor": 3}, "do not divide"),
        ({"tensor": 0}, "do not divide"),
        ({"global_batch": 7}, "does not divide"),
        ({"micro_batch": 0}, "no samples"),
        ({"model": "no-such-model"}, "no model"),
        ({"model": '{"model_type": "strange"}'}, "no number of layers"),
        ({"model": "missing/config.json"}, "not a file"),
        ({"dataset": "nothing"}, "no dataset"),
        ({"dataset": "c4-en", "source": "gpu0"}, "keeps no data"),
        ({"dataset": "c4-en", "source": "drives", "workers": 0, "decode_rate": "1 1/s"}, "no worker"),
        ({"group": "nowhere*"}, "nowhere"),
        ({"group": "nic0"}, "cannot train"),
        ({"data": 16}, "needs 16 accelerators"),
        ({"sequence": 0}, "0 tokens"),
        ({"expert": 2}, "no experts"),
        ({"pipeline": 8, "interleave": 8}, "stages"),
        ({"dataset": "c4-en", "source": "drives", "background": "all-reduce"}, "no transfer"),
        ({"online": True}, "without samples arriving"),
        ({"exchange": "parameter-server"}, "parameter servers"),
        ({"forward_only": True}, "convolutional"),
        ({"recompute": "some"}, "is not one of"),
        ({"learning_rate": 1}, "no setting"),
    ],
)
def test_wrong_jobs_are_refused_in_words(settings: dict[str, Any], text: str) -> None:
    with pytest.raises(AnalysisError, match=text) as caught:
        run(opened("hgx-h100-8"), **{**LLAMA, **settings})
    assert caught.value.remedy


@given(
    tensor=st.sampled_from([1, 2, 4, 8]),
    micro=st.integers(1, 4),
    batches=st.integers(1, 4),
    sharding=st.sampled_from(["none", "optimizer", "gradients", "parameters"]),
)
def test_parts_of_any_step_add_up(tensor: int, micro: int, batches: int, sharding: str) -> None:
    data = 8 // tensor
    result = run(
        opened("hgx-h100-8"),
        curves=True,
        model="mpt-1b",
        tensor=tensor,
        micro_batch=micro,
        sharding=sharding,
        global_batch=data * micro * batches,
        sequence=2048,
    )
    step = value(result, "step_time")
    assert sum(c.y[0] for c in result.curves["step-timeline"]) == pytest.approx(step)
    assert value(result, "samples_per_second") * step == pytest.approx(data * micro * batches)
    assert 0 < value(result, "mfu") < 1
    assert 0 < value(result, "gpu_utilization") <= 1
    for bottleneck in (*result.binding, *result.next):
        assert max(bottleneck.gain_if_doubled or 1, bottleneck.gain_together or 1) <= 2 + 1e-9


def test_online_learning_is_no_faster_than_samples_arrive() -> None:
    result = run(opened("hgx-h100-8"), **LLAMA, online=True, arrival_rate="2 1/s")
    assert value(result, "samples_per_second") == 2


def test_processors_train_too() -> None:
    processor = run(opened("hgx-h100-8"), model="resnet-18", group="cpu0", precision="fp32", software="tuned")
    gpu = run(opened("hgx-h100-8"), model="resnet-18", group="gpu0", precision="fp32", software="tuned")
    assert value(gpu, "samples_per_second") > value(processor, "samples_per_second") > 0


def test_the_layout_search_finds_nothing_worse_than_a_plain_layout() -> None:
    settings = {"model": "mpt-7b", "global_batch": 64, "sequence": 2048}
    best = run(opened("hgx-h100-8"), "layout_search", **settings, curves=True)
    plain = run(opened("hgx-h100-8"), **settings, sharding="parameters")
    assert value(best, "step_time") <= value(plain, "step_time")
    assert value(best, "fitting") <= value(best, "candidates")
    assert list(best.curves["layouts"][0].y) == sorted(best.curves["layouts"][0].y)


def test_a_search_can_be_watched_and_stopped() -> None:
    spec = WorkloadSpec(id="s", kind="layout_search", settings={"model": "mpt-7b", "global_batch": 64})
    design = with_changes(opened("hgx-h100-8"), workloads=[spec], default_workload="s")
    seen: list[float] = []
    analyze(design, progress=lambda share, _: seen.append(share), curves=False)
    assert len(seen) > 3
    assert seen == sorted(seen)
    with pytest.raises(Cancelled):
        analyze(design, cancelled=lambda: len(seen) > 0, curves=False)


def test_a_sweep_takes_rounds_and_shares_storage() -> None:
    settings = {**RESNET, "model": "resnet-18", "source": "storage", "epochs": 1, "accelerators_per_trial": 1}
    design = opened("hpe-apollo-6500-nfs")
    few = run(design, "hyperparameter_sweep", **settings, trials=8)
    many = run(design, "hyperparameter_sweep", **settings, trials=16)
    assert value(many, "time_to_train") == pytest.approx(2 * value(few, "time_to_train"))
    one = run(design, "hyperparameter_sweep", **settings, trials=1)
    assert value(one, "trial_time") < value(few, "trial_time")


def test_checkpoints_take_the_drawn_way() -> None:
    result = run(opened("hpe-apollo-6500-nfs"), "checkpointing", model="llama-2-7b", every="1 s")
    size = value(result, "checkpoint_size")
    assert value(result, "checkpoint_time") == pytest.approx(size / value(result, "rate"))
    assert any(f.code == "CKPT-TOO-OFTEN" for f in result.findings)
    hidden = run(opened("hpe-apollo-6500-nfs"), "checkpointing", model="llama-2-7b", snapshot=True)
    assert value(hidden, "checkpoint_stall") < value(result, "checkpoint_stall")


def test_storage_sizing_asks_what_mlperf_storage_asks() -> None:
    result = run(opened("su-h100-32"), "storage_sizing", benchmark="unet3d")
    cosmo = run(opened("su-h100-32"), "storage_sizing", benchmark="unet3d", emulated="a100")
    assert value(cosmo, "accelerators") > value(result, "accelerators") > 0
    assert value(result, "gpu_utilization") >= 0.9
    assert result.binding


def test_storage_sizing_keeps_the_utilisation_of_the_benchmark_unless_reported() -> None:
    """A valid CosmoFlow run keeps 70 %, the others 90 %."""
    most = {
        kept: value(run(opened("su-h100-32"), "storage_sizing", benchmark="cosmoflow", **stated), "accelerators")
        for kept, stated in (("rule", {}), ("70 %", {"threshold": "0.7"}), ("90 %", {"threshold": "0.9"}))
    }
    assert most["rule"] == most["70 %"] > most["90 %"]


def test_links_clip_the_drives_of_a_host_but_their_data_sheets_do_not() -> None:
    """The page cache and reading ahead pass 10 GB/s of a drive; four lanes of the third generation do not carry it."""
    counts: list[float] = []
    for generation in (5, 3):
        change = {
            "remove": ["gpu*", "nvme1", "nvme2", "nvme3", "nic1"],
            "parts": {"nvme0": {"read_bandwidth": "10 GB/s"}},
            "links": {"cpu*--nvme0": {"generation": generation}},
        }
        design = apply_changes(opened("dell-r750xa"), change, "changes")
        result = run(design, "storage_sizing", benchmark="unet3d", emulated="a100", source="nvme0", client="local")
        counts.append(value(result, "accelerators"))
        assert result.metrics["accelerators"].low <= counts[-1] <= result.metrics["accelerators"].high
    # 10 GB/s × 1.15 ÷ (0.9 × 1.61); 3.94 GB/s raw, of which storage gets 87 %
    assert counts == [7, 2]


def test_the_best_rank_order_decides_which_dimension_spans_servers() -> None:
    job = {
        "model": "gpt2",
        "pipeline": 2,
        "global_batch": 8192,
        "sequence": 1024,
        "precision": "fp16",
        "software": "megatron-2022",
        "dataset": "",
    }
    design = opened("sm-4029gp-trt-pair")
    drawn, best = (value(run(design, placement=how, **job), "step_time") for how in ("drawn", "best"))
    # stages next to each other inside a server, so that only gradients, once a step, go over the slow network
    assert best < 0.5 * drawn


@pytest.mark.parametrize(
    "job", [{"tensor": 2}, {"tensor": 2, "pipeline": 2}, {"context": 4}, {"tensor": 4, "context": 2}]
)
def test_the_best_rank_order_is_never_worse_than_the_drawn_one(job: dict[str, Any]) -> None:
    job = {**job, "model": "mixtral-8x7b", "dataset": "", "software": "transformer-engine"}
    for template in ("sm-4029gp-trt-pair", "hgx-a100-16"):
        drawn, best = (value(run(opened(template), placement=how, **job), "step_time") for how in ("drawn", "best"))
        assert best <= drawn


def test_a_scaling_note_names_the_cause_and_a_base_that_could_not_hold_the_model() -> None:
    sharded = run(opened("hgx-h100-8"), model="llama-2-7b", sharding="parameters", dataset="")
    assert "too few to hold the model" in sharded.metrics["scaling_efficiency"].note
    slow = run(
        opened("sm-4029gp-trt-pair"), model="resnet-50", precision="fp32", software="eager", micro_batch=32, dataset=""
    )
    note = slow.metrics["scaling_efficiency"].note
    assert "too few" not in note
    assert "traffic between replicas" in note


def test_trials_whose_ranks_lie_worse_decide_a_sweep() -> None:
    job = {"model": "resnet-50", "precision": "fp16", "software": "fused", "micro_batch": 32, "dataset": ""}
    sweep = {**job, "accelerators_per_trial": 3}
    design = opened("sm-4029gp-trt-pair")
    one, five = (run(design, "hyperparameter_sweep", trials=n, **sweep) for n in (1, 5))
    # the third trial runs from one server to the other
    assert value(five, "communication_time") > 2 * value(one, "communication_time")


def test_retraining_that_piles_up_is_reported() -> None:
    design = opened("hgx-h100-8")
    whole = value(run(design, **RESNET), "time_to_train")
    for every, stated in ((2 * whole, False), (whole / 2, True)):
        result = run(design, **RESNET, retrain_every=f"{every} s")
        assert value(result, "retraining_share") == pytest.approx(whole / every)
        assert ("TRAIN-CADENCE" in {f.code for f in result.findings}) is stated


def test_samples_that_arrive_slowly_are_what_binds_online_learning() -> None:
    design = opened("hgx-h100-8")
    slow, fast = (run(design, **RESNET, online=True, arrival_rate=rate) for rate in ("1000 1/s", "1000000000 1/s"))
    assert [b.id for b in slow.binding] == ["arrivals"]
    assert "arrivals" not in {b.id for b in fast.binding}


@pytest.mark.parametrize("batch", [1, 4, 32])
def test_small_batches_take_more_cores_to_hand_over(batch: int) -> None:
    """300 us of a core for each batch, whatever its size; GPUDirect takes none for the bytes themselves."""
    found = run(opened("hgx-h100-8"), "data_loading", source="drives", decode="gpu", batch=batch)
    batches = value(found, "samples_per_second") / batch
    assert value(found, "input_cores") == pytest.approx(300e-6 * batches)
    assert found.metrics["input_cores"].low < value(found, "input_cores") < found.metrics["input_cores"].high


def test_cores_receive_what_training_takes() -> None:
    """A step of 32 images takes 1 s: one batch a second and accelerator costs 300 us of a core each, 2.4 ms for eight.

    The drives could bring hundreds of batches a second, which nobody receives.
    """
    slow = run(
        opened("hgx-h100-8"),
        **{**RESNET, "source": "drives", "decode": "gpu", "micro_batch": 32},
        measured_compute="1 s",
    )
    pace = value(slow, "samples_per_second") / 32
    assert pace == pytest.approx(8, rel=0.05)
    assert value(slow, "input_cores") == pytest.approx(300e-6 * pace, rel=1e-6)
    # where reading binds, all that can come is received
    design = opened("hpe-apollo-6500-nfs")
    asked = {"dataset": "imagenet-1k", "source": "storage", "decode": "gpu"}
    bound = run(design, **{**RESNET, **asked, "micro_batch": 256}, measured_compute="1 ms")
    full = run(design, "data_loading", **asked, batch=256)
    assert value(bound, "input_cores") == pytest.approx(value(full, "input_cores"), rel=0.02)


def test_waiting_for_samples_is_as_sure_as_input_and_computing() -> None:
    """One behind the other, and independent: neither 0 at one end nor all of the input at the other."""
    asked = {**RESNET, "source": "storage", "measured_compute": "20 ms", "decode": "gpu", "micro_batch": 256}
    found = run(opened("hpe-apollo-6500-nfs"), **asked)
    stall, step, input_ = (found.metrics[name] for name in ("input_stall", "step_time", "input_time"))
    assert stall.value > 0.5 * step.value
    assert 0.8 * stall.value < stall.low < stall.value < stall.high < 1.2 * stall.value
    # what it takes beyond computing: the input is off by this much, computing by the rest
    computing = input_.value - stall.value
    assert computing == pytest.approx(0.02, rel=0.2)
    assert stall.low >= input_.low - 2 * computing
    assert stall.high <= input_.high


def test_where_cores_decode_the_band_is_that_of_what_a_core_decodes() -> None:
    """60 MB/s a core, 30 to 120: half as much and twice as much; given for a worker, it is as sure as any limit."""
    asked = {"source": "drives", "decode": "cpu", "workers": 1}
    found = run(opened("hgx-h100-8"), "data_loading", **asked).metrics["samples_per_second"]
    assert found.low == pytest.approx(found.value / 2, rel=0.01)
    assert found.high == pytest.approx(found.value * 2, rel=0.01)
    known = run(opened("hgx-h100-8"), "data_loading", **asked, decode_rate="100 1/s").metrics["samples_per_second"]
    assert known.value == pytest.approx(800)
    assert known.low == pytest.approx(0.95 * 800, rel=0.01)


@pytest.mark.parametrize("kind", ["training", "checkpointing", "hyperparameter_sweep", "workflow"])
def test_a_workload_as_it_is_offered_fits(kind: str) -> None:
    """Llama 2 7B by 18 B a weight is 121 GB: cut in eight what 85.5 GB cannot hold, and it says which."""
    result = run(opened("hgx-h100-8"), kind)
    codes = {f.code for f in result.findings}
    assert "TRAIN-MEMORY" not in codes
    assert ("TRAIN-CHOSEN" in codes) == (kind != "hyperparameter_sweep")


def test_no_more_is_sharded_than_has_to_be() -> None:
    """Optimizer alone: weights 13.5 GB, gradients and activations stay whole; as fast as if it had been named."""
    chosen = run(opened("hgx-h100-8"), model="llama-2-7b")
    named = run(opened("hgx-h100-8"), model="llama-2-7b", sharding="optimizer", recompute="none")
    assert value(chosen, "step_time") == value(named, "step_time")
    (stated,) = [f for f in chosen.findings if f.code == "TRAIN-CHOSEN"]
    assert "sharding optimizer" in stated.text
    # what fits as it is stays as it is
    small = run(opened("hgx-h100-8"), model="gpt2-xl")
    assert "TRAIN-CHOSEN" not in {f.code for f in small.findings}


@pytest.mark.parametrize("template", ["cluster-16384", "cluster-98304"])
def test_the_largest_templates_train_something_of_their_size(template: str) -> None:
    """70 B weights, 15 T tokens: 6.3e24 FLOP, at 280 to 360 TFLOP/s of each GPU weeks on 16,384, days on 98,304."""
    result = analyze(opened(template), ["llama-3-70b"], curves=False).workloads[0]
    gpus = int(template.rpartition("-")[2])
    work = 6 * 70.6e9 * 15e12
    assert value(result, "time_to_train") > work / (gpus * 989e12)
    assert 1 < value(result, "time_to_train") / 86400 < 30
    assert not {"TRAIN-MEMORY", "TRAIN-BATCH"} & {f.code for f in result.findings}


def test_utilization_is_as_unsure_as_computing_where_a_step_waits_for_its_input() -> None:
    """Computing takes 38 of 68.5 ms, 33 to 44 of them within its band: the same step holds more or less of it."""
    found = analyze(opened("su-h100-32"), ["resnet-50"], curves=False).workloads[0].metrics
    share, step, computing = found["gpu_utilization"], found["step_time"].value, found["compute_time"]
    assert found["input_stall"].value > 0
    assert share.value == pytest.approx(computing.value / step)
    assert share.low == pytest.approx(computing.low / step, rel=0.01)
    assert share.high == pytest.approx(computing.high / step, rel=0.01)


def test_utilization_of_a_busy_step_counts_computing_and_traffic_apart() -> None:
    """By hand: 392 of 465 ms compute. 333 next to 73 is .819, 448 next to 73 .859; 73 ± 30 % leaves .804 and .884. In
    squares -.0415 and +.044, of which other releases of the program are the last .0005.
    """
    found = analyze(opened("hgx-h100-8"), ["llama-2-7b-fsdp"], curves=False).workloads[0].metrics["gpu_utilization"]
    assert found.value == pytest.approx(0.841, abs=0.001)
    assert (found.low, found.high) == pytest.approx((0.7995, 0.885), abs=0.003)


def test_a_release_picks_the_kernels_of_its_time_and_an_unknown_one_widens_the_band() -> None:
    """Attention in 8 bit on B200 at 0.71 and at 1.5 of the calibrated kernel: the step of April is the longer one."""
    asked = {"model": "llama-2-70b", "adapters": True, "sequence": 8192, "precision": "fp8"}
    asked |= {"software": "transformer-engine-fp8-attention"}
    design = opened("hgx-b200-8")
    early, late, unknown = (run(design, **asked, release=one).metrics["step_time"] for one in ("25.04", "2025-10", ""))
    assert 1.05 < early.value / late.value < 1.4
    assert unknown.value == late.value
    assert unknown.high > late.high
    hopper = [run(opened("hgx-h100-8"), **asked, tensor=4, release=one).metrics["step_time"] for one in ("25.04", "")]
    assert hopper[0] == hopper[1]
    with pytest.raises(AnalysisError, match="no release") as caught:
        run(design, **asked, release="soon")
    assert caught.value.place.endswith("release")


def test_diffusion_and_detection_are_counted_and_not_fitted() -> None:
    """MLPerf v4.1 to v5.1, several submitters: 1155 and 2472 samples a second on 8 H200, 2158 and 3871 on 8 B200.

    R-GAT has one fitted number. RetinaNet on 8 H200 by hand: 32 images take 79 ms of arithmetic, 17 of memory (.55 of
    31), 7.3 in 111 layers and 12.8 of matching.
    """
    gpus = {"hgx-h100-8": "gpu/nvidia/h200-sxm", "hgx-b200-8": "gpu/nvidia/b200"}
    published = {
        ("stable-diffusion-2", "hgx-h100-8"): (1155, 0.03),
        ("stable-diffusion-2", "hgx-b200-8"): (2158, 0.03),
        ("retinanet", "hgx-h100-8"): (2472, 0.07),
        ("retinanet", "hgx-b200-8"): (3871, 0.08),
        ("rgat", "hgx-b200-8"): (312266, 0.05),
    }
    for (model, template), (rate, within) in published.items():
        design = apply_changes(opened(template), {"parts": {"*gpu*": {"type": gpus[template]}}}, "mlperf-training")
        asked = {
            "model": model,
            "software": "fused",
            "precision": "fp16",
            "global_batch": 32768 if model == "rgat" else 256,
        }
        found = run(design, **asked).metrics["samples_per_second"]
        assert found.value == pytest.approx(rate, rel=within)
        assert found.low < rate < found.high


def test_optimizer_kernels_by_hand() -> None:
    """BERT-large on one A100, counted: 30 B or 80 B a parameter, and 8 kernels for each of 24 x 16 tensors.

    A layer has four products of attention and two of the feed-forward part, each with biases, and two norms of two
    vectors: 4 x 2 + 2 x 2 + 2 x 2 = 16. ResNet-50 has 54 layers of three.
    """
    asked = {"model": "bert-large", "software": "eager", "sequence": 384, "precision": "fp16", "group": "gpu0"}
    asked |= {"micro_batch": 16, "sharding": "none"}
    design = opened("dgx-a100")

    def optimizer(**settings: Any) -> float:
        network = build_network(design)
        plan = prepare(network, job({**asked, **settings}), "run")
        return float(plan.estimate(plan.ranks.costs(plan.layout)).optimizer)

    own, fused, foreach, loop = (optimizer(optimizer=one) for one in ("program", "fused", "foreach", "for-loop"))
    row = software("eager")
    floor = row.step_floor.value
    assert own == foreach
    assert (foreach - floor) / (fused - floor) == pytest.approx(80 / 30)
    assert loop - foreach == pytest.approx(8 * 24 * 16 * row.launch.value)
    cnn = {"model": "resnet-50", "micro_batch": 64}
    assert optimizer(**cnn, optimizer="for-loop") - optimizer(**cnn, optimizer="foreach") == pytest.approx(
        8 * 54 * 3 * row.launch.value
    )
    shared = {"sharding": "parameters", "group": "gpus", "micro_batch": 1}
    assert optimizer(**shared, optimizer="for-loop") - optimizer(**shared, optimizer="foreach") == pytest.approx(
        8 * 24 * row.launch.value
    )
