"""Large published runs in the layout their papers state, drawn as clusters; none of them was fitted to."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

import designer
from designer.design.document import Design, WorkloadSpec, with_changes
from designer.interchange.changes import apply_changes
from designer.interchange.templates import open_design

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
