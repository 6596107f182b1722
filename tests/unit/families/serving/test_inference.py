"""Inference in batches and single products."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import designer
from designer.analysis.study import analyze
from designer.design.document import WorkloadSpec, with_changes
from designer.design.edits.links import RemoveLinks
from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError
from designer.families.serving import batch_work
from designer.families.serving.batch_work import run_batches
from designer.families.serving.devices import kernel_table
from designer.families.serving.formulas._device import Device
from designer.families.serving.formulas._number_format import number_format
from designer.families.serving.formulas.batch_time import batch_parts, batch_time
from designer.families.serving.formulas.single_product import single_product
from tests.asked import answered

# Vision, ranking and embedding models in batches: the queue, the scenarios, what binds.


def asked(template: str = "serving-l40s-4", **settings: object) -> WorkloadResult:
    return answered(template, "inference", settings)


def value(found: WorkloadResult, name: str) -> float:
    one = found.metrics[name]
    assert one.low <= one.value <= one.high, name
    return one.value


def test_a_batch_by_hand() -> None:
    # 8 samples of 1 GFLOP at 1 TFLOP/s are 8 ms; 1 GB of weights at 1 TB/s 1 ms; 10 launches of 5 us
    sharp = batch_time(8, 1e9, 0.0, 1e9, 10, 1e12, 1e12, 5e-6, 50.0)
    assert sharp == pytest.approx(8e-3 + 50e-6, rel=1e-6)
    # one sample: the weights bind
    assert batch_time(1, 1e8, 0.0, 1e9, 0, 1e12, 1e12, 5e-6, 50.0) == pytest.approx(1e-3, rel=1e-6)


def test_batches_of_one_are_the_lindley_recursion() -> None:
    draw = np.random.default_rng(3)
    at = np.cumsum(draw.exponential(1.0, 2000))
    found = run_batches(at, 1, 0.0, lambda n: 0.7 * n)
    wait, expected = 0.0, []
    for k in range(len(at)):
        wait = max(0.0, wait + 0.7 - (at[k] - at[k - 1])) if k else 0.0
        expected.append(wait + 0.7)
    assert np.allclose(found.latency, expected)
    # M/D/1: mean wait rho s / 2 (1 - rho)
    assert found.latency.mean() == pytest.approx(0.7 + 0.7 * 0.7 / (2 * 0.3), rel=0.2)


def test_a_batch_waits_for_others_or_for_its_delay() -> None:
    at = np.array([0.0, 0.001, 0.002, 0.5])
    found = run_batches(at, 3, 0.010, lambda n: 0.1)
    assert found.batches.tolist() == [3, 1]
    # full with the third at 2 ms; the last goes alone after its delay
    assert found.done.tolist() == pytest.approx([0.102, 0.102, 0.102, 0.61])


def test_every_sample_is_answered_once_and_none_before_it_came() -> None:
    at = np.sort(np.random.default_rng(1).random(5000))
    found = run_batches(at, 7, 1e-3, lambda n: 1e-4 * n)
    assert found.batches.sum() == len(at)
    assert (found.latency > 0).all()
    assert found.batches.max() <= 7


def test_scenarios_stand_in_their_order() -> None:
    single, multi, offline = (asked(scenario=s) for s in ("single-stream", "multi-stream", "offline"))
    assert value(single, "latency_p99") < value(multi, "latency_p99") < value(offline, "latency_p99")
    rates = [value(f, "samples_per_second") for f in (single, multi, offline)]
    assert rates == sorted(rates)
    # a stream of single samples waits for launches, a large batch for arithmetic or memory
    assert "launch" in single.binding[0].label
    assert "launches" not in offline.binding[0].label


def test_a_load_above_what_can_be_answered_has_no_latency() -> None:
    found = asked(rate="10000000 1/s")
    assert "SERVE-SATURATED" in {f.code for f in found.findings}
    assert "latency_p99" not in found.metrics


def test_more_streams_than_get_through_are_refused_and_fewer_keep_their_frames() -> None:
    held = value(asked(scenario="video", streams=4, frames="30 1/s"), "streams")
    fine = asked(scenario="video", streams=4, frames="30 1/s")
    assert value(fine, "goodput") == pytest.approx(120, rel=0.01)
    found = asked(scenario="video", streams=int(1.2 * held), frames="30 1/s")
    assert "SERVE-SATURATED" in {f.code for f in found.findings}


def test_a_narrow_way_in_binds() -> None:
    """Samples of 100 MB over PCIe 4 x16 at some 26 GB/s: 260 a second for each GPU, whatever it computes."""
    found = asked(sample="100 MB", scenario="offline")
    assert value(found, "most_samples_per_second") == pytest.approx(4 * 260, rel=0.15)
    assert "gpu" in found.binding[0].id or "pcie" in found.binding[0].label


def test_a_sample_is_sent_before_it_is_worked_on() -> None:
    """26 MB over PCIe 4 x16 at some 26 GB/s: a millisecond more until the answer, whatever is sent meanwhile."""
    small, large = (value(asked(scenario="single-stream", sample=s), "latency_p50") for s in ("1 B", "26 MB"))
    assert large - small == pytest.approx(1e-3, rel=0.1)
    # a lone sample waits for nothing, so neither does it in a server
    lone = [value(asked(rate="1 1/s", sample=s, delay="0 s"), "latency_p50") for s in ("1 B", "26 MB")]
    assert lone == pytest.approx([small, large], rel=1e-6)
    # the next batch is sent while one is worked on
    rates = [value(asked(scenario="offline", sample=s), "samples_per_second") for s in ("1 B", "100 kB")]
    assert rates[1] == pytest.approx(rates[0], rel=1e-3)


def test_processors_and_edge_boxes_answer_too() -> None:
    server = asked("serving-cpu-2s", group="cpus", precision="bf16", model="bert-large", scenario="offline", batch=8)
    edge = asked("edge-jetson-orin", scenario="offline", precision="int8")
    assert value(server, "samples_per_second") > 1
    assert value(edge, "samples_per_second") < value(asked(scenario="offline", precision="int8"), "samples_per_second")


def test_instances_of_a_gpu_serve_beside_each_other() -> None:
    whole = asked("serving-mig-farm", scenario="single-stream")
    cut = asked("serving-mig-farm", scenario="single-stream", part="1g.10gb")
    assert value(cut, "replicas") == 7 * value(whole, "replicas")
    assert value(cut, "latency_p50") > value(whole, "latency_p50")
    assert value(cut, "samples_per_second") > value(whole, "samples_per_second")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"batch": 0}, "no samples"),
        ({"count": 0}, "no sample is looked at"),
        ({"count": 10**8}, "100,000,000 samples are too many"),
        ({"sequence": 0}, "no tokens"),
        ({"model": ""}, "no model is named"),
        ({"model": "no-such"}, "no model"),
        ({"scenario": "video", "streams": 0}, "no stream"),
        ({"weights": "1 TB"}, "does not fit"),
        ({"part": "1g.10gb"}, "is not divided|no part"),
    ],
)
def test_bad_input_is_refused_in_words(changes: dict[str, object], words: str) -> None:
    with pytest.raises(AnalysisError, match=words) as stated:
        asked(**changes)
    assert stated.value.remedy


def test_samples_without_a_way_to_a_device_are_refused_in_words() -> None:
    """One of four GPUs is not joined to its host: it divided by no rate."""
    design = designer.open_design("serving-l40s-4")
    cut = RemoveLinks(("cpu0--gpu0",)).apply(design)
    settings = {"model": "resnet-50", "scenario": "offline", "batch": 32}
    spec = WorkloadSpec.model_validate({"id": "i", "kind": "inference", "settings": settings})
    with pytest.raises(AnalysisError, match="no way for samples from memory0 to gpu0"):
        designer.analyze(cut.model_copy(update={"workloads": {"i": spec}}), ["i"])


def test_only_batches_that_ran_are_timed() -> None:
    """A hundred samples a second never fill the largest batch: how long all smaller ones take is nobody's question."""
    given = {"model": "", "flop": "8 GFLOP", "weights": "50 MB", "moved": "1 B", "rate": "100 1/s"}
    stated: list[int] = []

    def timed(samples: int, *rest: Any) -> tuple[float, float, float]:
        stated.append(samples)
        return batch_parts(samples, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch_work, "batch_parts", timed)
        found = asked(scenario="server", batch=50_000, **given)
    assert value(found, "mean_batch") < 10
    assert len(set(stated)) < 100


def test_samples_are_read_where_they_are_and_the_way_there_is_shown() -> None:
    """One drive of a published server: 2.35 GB/s of 130 kB pictures are 17,950 a second; about 17,000 were measured.

    Training's forward pass reads the same way; the drive binds, and every channel on the way is loaded.
    """
    design = designer.open_design("hpe-apollo-6500-parallel-storage")
    settings = {"model": "googlenet", "scenario": "offline", "batch": 256, "dataset": "imagenet-1k", "decode": "gpu"}
    spec = WorkloadSpec(id="w", kind="inference", settings={**settings, "source": "nvme0"})
    design = with_changes(design, workloads={**design.workloads, "w": spec})
    found, forward = (analyze(design, [name], curves=False).workloads[0] for name in ("w", "googlenet-local-drive"))
    most = found.metrics["most_samples_per_second"]
    assert most.value == pytest.approx(forward.metrics["samples_per_second"].value, rel=0.01)
    assert 16_000 < most.low < 17_950 < most.high < 20_000
    assert "nvme0" in found.binding[0].id
    assert len(list(found.flows)) == 8
    loads = analyze(design, ["w"], curves=False).loads["w"]
    # 2.35 GB/s leave the drive
    assert loads.load.max() == pytest.approx(2.35e9, rel=0.03)


def test_what_is_sent_loads_the_channels_as_far_as_it_is_asked_for() -> None:
    """1,000 pictures of 150,528 B a second over eight GPUs: 125 each, 18.8 MB/s into every one of them."""
    design = designer.open_design("hgx-h100-8")
    spec = WorkloadSpec(id="w", kind="inference", settings={"rate": "1000 1/s"})
    answer = analyze(with_changes(design, workloads={"w": spec}), ["w"], curves=False)
    load = answer.loads["w"].load
    assert load.max() >= 125 * 150_528 * (1 - 1e-6)
    assert load[load > 0].min() == pytest.approx(125 * 150_528, rel=1e-6)
    found = answer.workloads[0]
    assert len(list(found.flows)) == 8
    # 25.6 million weights of 2 B and the values of 32 pictures; 0.3 ms of a core for each batch of 32
    assert found.metrics["memory_per_gpu"].low > 51e6
    assert found.metrics["input_cores"].value == pytest.approx(1000 / 32 * 300e-6)


# Matrix products as workloads: by hand, at measured shapes, and what holds them back.


def products_asked(template: str, **settings: object) -> WorkloadResult:
    design = designer.open_design(template)
    spec = WorkloadSpec(id="w", kind="product", settings=settings)
    return designer.analyze(with_changes(design, workloads=[spec]), ["w"]).workloads[0]


H100 = Device("H100", {"bf16": 989e12, "fp16": 989e12}, 3.35e12, 80e9, 132, architecture="Hopper GH100")


def test_a_large_product_by_hand() -> None:
    """H100, 8192 x 8192 x 8192 in bf16: 64 x 64 tiles of 128 x 128 on 132 multiprocessors are 31.03 waves, 32 whole.

    2 x 8192 x 8192 x (8192 + 119) FLOP x sqrt(32 / 31.03) at .866 of 989 TFLOP/s are 1.322 ms; memory takes
    3 x 8192 x 8192 x 2 B at .857 of 3.35 TB/s, .14 ms; a kernel 3.7 us at least:
    1.322 (1 + (.14 / 1.322)^3.06)^(1 / 3.06) + .0037 = 1.326 ms, 829 TFLOP/s, by the law. Measured are 1.542 ms, 713.
    """
    compute = 2 * 8192**2 * (8192 + 119) * math.sqrt(32 / (4096 / 132)) / (0.866 * 989e12)
    memory = 3 * 8192**2 * 2 / (0.857 * 3.35e12)
    by_hand = 3.7e-6 + compute * (1 + (memory / compute) ** 3.06) ** (1 / 3.06)
    assert single_product(8192, 8192, 8192, number_format("bf16"), H100).seconds == pytest.approx(by_hand, rel=2e-3)
    found = products_asked("hgx-h100-8", m=8192, n=8192, k=8192)
    time, rate = found.metrics["product_time"], found.metrics["product_rate"]
    assert time.value == pytest.approx(1.542e-3, rel=2e-3)
    assert rate.value == pytest.approx(2 * 8192**3 / time.value)
    assert time.low < time.value < time.high
    assert rate.low == pytest.approx(2 * 8192**3 / time.high)
    assert found.binding[0].what == "compute"


def test_a_product_in_tf32_by_hand() -> None:
    """H100, 8192 x 8192 x 8192: as in 16 bit, at 494.5 TFLOP/s 2.644 ms, and 2.65 ms with the kernel: 415 TFLOP/s.

    In fp32, outside tensor cores, it takes 67 TFLOP/s at the most; V100 runs tf32 as fp32.
    """
    tf32 = products_asked("hgx-h100-8", m=8192, n=8192, k=8192, precision="tf32").metrics["product_rate"]
    assert tf32.value == pytest.approx(415e12, rel=0.005)
    assert tf32.high == pytest.approx(494.5e12)
    fp32 = products_asked("hgx-h100-8", m=8192, n=8192, k=8192, precision="fp32").metrics["product_rate"]
    assert fp32.value < fp32.high <= 67e12 * 1.001
    old = [products_asked("dgx1-v100", precision=one).metrics["product_time"].value for one in ("tf32", "fp32")]
    assert old[0] == old[1]


def test_a_product_in_nvfp4_is_what_was_measured_or_runs_in_16_bit() -> None:
    """B200 has kernels of its own, below 9 PFLOP/s even at the end of the band; H100 multiplies in 16 bit."""
    table = kernel_table("gpu/nvidia/b200", "Blackwell", 8e12, "vllm")
    assert table is not None
    measured, at = table.products["nvfp4"].at(4096, 4096, 4096)
    assert at == (4096, 4096, 4096)
    found = products_asked("dgx-b200", m=4096, n=4096, k=4096, precision="nvfp4").metrics
    assert found["product_time"].value == pytest.approx(measured, rel=1e-6)
    assert found["product_rate"].high <= 9e15 * 1.001
    wide = [products_asked("hgx-h100-8", precision=one).metrics["product_rate"].value for one in ("nvfp4", "bf16")]
    assert wide[0] == pytest.approx(wide[1], rel=0.2)


def test_one_row_waits_for_the_weights_by_hand() -> None:
    """8192 x 8192 weights of 2 B at .857 of 3.35 TB/s: 46.8 us, and 3.7 us of the kernel; measured are 48.6 us."""
    law = single_product(1, 8192, 8192, number_format("bf16"), H100).seconds
    assert law == pytest.approx(46.8e-6 + 3.7e-6, rel=0.01)
    found = products_asked("hgx-h100-8", m=1, n=8192, k=8192)
    assert found.metrics["product_time"].value == pytest.approx(48.6e-6, rel=0.01)
    assert "memory" in found.binding[0].label


def test_a_measured_shape_takes_what_was_measured() -> None:
    """B200: the table has 8,192 rows; its time at the shape is the answer."""
    table = kernel_table("gpu/nvidia/b200", "Blackwell", 8e12, "vllm")
    assert table is not None
    measured, at = table.products["bf16"].at(4096, 4096, 4096)
    assert at == (4096, 4096, 4096)
    found = products_asked("dgx-b200", m=4096, n=4096, k=4096)
    assert found.metrics["product_time"].value == pytest.approx(measured, rel=1e-6)


def test_half_the_bytes_take_less_and_every_length_more() -> None:
    shape = {"m": 4096, "n": 4096, "k": 4096}
    whole = products_asked("hgx-h100-8", **shape).metrics["product_time"].value
    assert products_asked("hgx-h100-8", **shape, precision="fp8").metrics["product_time"].value < whole
    for name in shape:
        assert products_asked("hgx-h100-8", **{**shape, name: 8192}).metrics["product_time"].value > whole


@pytest.mark.parametrize("name", ["m", "n", "k"])
def test_nothing_to_multiply_is_refused_at_its_place(name: str) -> None:
    with pytest.raises(AnalysisError, match="no rows, columns or length") as refused:
        products_asked("hgx-h100-8", **{name: 0})
    assert refused.value.place == f"workloads.w.{name}"


def test_what_cannot_compute_is_refused() -> None:
    with pytest.raises(AnalysisError, match=r"cannot serve|names no part"):
        products_asked("serving-cpu-2s", group="memory")
