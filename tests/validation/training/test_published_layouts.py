"""Large published runs in the layout their papers state, drawn as clusters; none of them was fitted to."""

from __future__ import annotations

import math

import pytest
from pydantic import JsonValue

import designer
from designer.design.document import Design, WorkloadSpec, with_changes
from designer.engine.network import build_network
from designer.families.training.preparation import prepare
from designer.interchange.changes import apply_changes
from designer.interchange.templates import open_design
from designer.workload.job_settings import job

#: Llama 3.1 405B, table 4 of the paper: TP 8, PP 16, one sample per microbatch, 16 M tokens per step, no recomputation
LLAMA: dict[str, JsonValue] = {
    "model": "llama-3-405b",
    "software": "fsdp-compiled",
    "sequence": 8192,
    "global_batch": 2048,
    "tensor": 8,
    "pipeline": 16,
    "interleave": 8,
    "sequence_parallel": True,
    "sharding": "gradients",
    "recompute": "none",
}
#: DeepSeek-V3, sections 3 and 4.2 of its report: a program of its own, so an unknown one
DEEPSEEK: dict[str, JsonValue] = {
    "model": "deepseek-v3",
    "software": "unknown",
    "precision": "fp8",
    "sequence": 4096,
    "global_batch": 15360,
    "pipeline": 16,
    "data": 128,
    "expert": 64,
    "sharding": "optimizer",
    "recompute": "pointwise",
    "schedule": "dual-pipe",
}
H800 = {"parts": {"*gpu*": {"type": "gpu/nvidia/h800-sxm5"}}}
#: GPU hours for 14.8 T tokens, and with the longer context and what came after
PRETRAINING, WHOLE = 2.664e6, 2.788e6


def cluster(settings: dict[str, JsonValue]) -> Design:
    """A cluster of 16,384 H100 that trains."""
    design = open_design("cluster-16384")
    return with_changes(design, workloads={"run": WorkloadSpec(id="run", kind="training", settings=settings)})


@pytest.mark.parametrize(("data", "published"), [(64, 0.43), (128, 0.41)])
def test_llama_405b(data: int, published: float) -> None:
    """MFU of 43 % on 8,192 accelerators and 41 % on 16,384, within a tenth; it fits in memory."""
    found = designer.analyze(cluster({**LLAMA, "data": data}), ["run"]).workloads[0]
    assert found.metrics["mfu"].value == pytest.approx(published, rel=0.1)
    assert found.metrics["mfu"].low <= published <= found.metrics["mfu"].high
    assert not [f for f in found.findings if f.code == "TRAIN-MEMORY"]


def test_deepseek_v3() -> None:
    """Hours of 2,048 H800 for 14.8 T tokens, within a fifth of either count; its traffic alone doubles them."""
    design = apply_changes(cluster(DEEPSEEK), H800, "deepseek-v3-2024")
    found = designer.analyze(design, ["run"]).workloads[0]
    rate = found.metrics["tokens_per_second"]
    hours = 14.8e12 / rate.value * 2048 / 3600
    assert hours == pytest.approx(PRETRAINING, rel=0.2)
    assert hours == pytest.approx(WHOLE, rel=0.2)
    assert 14.8e12 / rate.high < PRETRAINING / 2048 * 3600 < 14.8e12 / rate.low
    plain = apply_changes(cluster({**DEEPSEEK, "schedule": "1f1b"}), H800, "deepseek-v3-2024")
    assert designer.analyze(plain, ["run"]).workloads[0].metrics["tokens_per_second"].value < 0.7 * rate.value


#: Megatron Bridge, docs/performance-summary.md at 00b7660b: container 25.11, 8 bit, sequences of 8192
BRIDGE: dict[str, JsonValue] = {
    "software": "transformer-engine",
    "release": "25.11",
    "precision": "fp8",
    "sequence": 8192,
    "sharding": "optimizer",
    "recompute": "none",
}
#: torchtitan, benchmarks/llama3_h100_202412_torchtitan.md: H100 of 500 W with 96 GB at 2.4 TB/s
TITAN: dict[str, JsonValue] = {
    "software": "fsdp-compiled",
    "release": "2024-12",
    "precision": "bf16",
    "sequence": 8192,
    "sharding": "parameters",
    "recompute": "selective",
    "model": "llama-3-8b",
    "micro_batch": 2,
}
SMALL = {"model": "llama-3-8b", "global_batch": 128}
LARGE = {"model": "llama-3-405b", "tensor": 4, "sequence_parallel": True}
#: racks of 72 of which 64 are used, so that groups of experts stay inside
EXPERTS = {"model": "deepseek-v3", "sequence": 4096, "global_batch": 4096, "group": "racks[0-3]/trays[0-15]/gpu*"}
HALF_POWER = {
    "parts": {"*gpu*": {"memory_bandwidth": "2.4 TB/s", "memory_capacity": "96 GB", "power_per_part": "500 W"}}
}
RACKS = "cluster-gb200-6912"
#: name: template, its changes, settings, published tokens per second and accelerator, how far off a prediction is
WIDELY_READ: dict[str, tuple[str, dict[str, JsonValue], dict[str, JsonValue], float, float]] = {
    "8B, 8 H100": ("hgx-h100-8", {}, {**BRIDGE, **SMALL, "sharding": "parameters"}, 14451, -0.07),
    "8B, 8 B200": ("hgx-b200-8", {}, {**BRIDGE, **SMALL, "micro_batch": 2}, 30624, 0.01),
    "8B, 8 GB200": ("gb200-nvl72", {}, {**BRIDGE, **SMALL, "micro_batch": 2, "data": 8}, 31508, 0.06),
    "405B, 128 B200": (
        "hgx-b200-8",
        {"servers": 16},
        {**BRIDGE, **LARGE, "global_batch": 64, "pipeline": 8, "context": 2, "interleave": 8},
        661,
        -0.02,
    ),
    "405B, 256 GB200": (
        RACKS,
        {},
        {**BRIDGE, **LARGE, "global_batch": 1536, "pipeline": 16, "data": 4, "interleave": 4},
        813,
        -0.02,
    ),
    "DeepSeek-V3, 256 GB200": (
        RACKS,
        {},
        {**BRIDGE, **EXPERTS, "pipeline": 8, "data": 32, "expert": 32, "interleave": 4},
        4018,
        -0.02,
    ),
    "8B, 8 H100, torchtitan": ("hgx-h100-8", HALF_POWER, {**TITAN, "global_batch": 16}, 6667, 0.12),
    "8B, 128 H100, torchtitan": (
        "hgx-h100-8",
        {**HALF_POWER, "servers": 16},
        {**TITAN, "global_batch": 256},
        6514,
        0.13,
    ),
}


@pytest.mark.parametrize("name", WIDELY_READ)
def test_widely_read_rates(name: str) -> None:
    """Tokens per second and accelerator that vendors publish, inside their bands; nothing is fitted on them."""
    template, changes, settings, published, off = WIDELY_READ[name]
    design = open_design(template)
    network = build_network(apply_changes(design, changes, "published") if changes else design)
    plan = prepare(network, job(settings), "run")
    step = plan.estimate(plan.ranks.costs(plan.layout))
    rate = step.tokens_per_second / plan.layout.ranks
    assert math.log(rate / published) == pytest.approx(off, abs=0.02)
    assert rate * step.step_time / step.high <= published <= rate * step.step_time / step.low
