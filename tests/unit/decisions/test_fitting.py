"""Settings that make a workload fit really do, by arithmetic and by the engine."""

from __future__ import annotations

import pytest

import designer
from designer.decisions.fitting import fitting_settings
from designer.errors import AnalysisError
from designer.interchange.overrides import overridden

#: parameters of Llama 2 7B, and bytes of each: bf16 weights, fp32 gradients, fp32 copy and two moments
PARAMETERS = 6.738e9
WEIGHTS, GRADIENTS, OPTIMIZER = 2, 4, 12
GPUS = 8


def test_sharding_the_optimizer_of_llama_7b_fits_on_eight_h100() -> None:
    design = overridden(designer.open_design("hgx-h100-8"), ["workloads.llama-2-7b-fsdp.sharding=none"])
    result = designer.analyze(design, ["llama-2-7b-fsdp"], curves=False).workloads[0]
    assert result.unfit is not None
    whole = PARAMETERS * (WEIGHTS + GRADIENTS + OPTIMIZER)
    assert result.metrics["memory_per_gpu"].value > whole == pytest.approx(121.3e9, rel=1e-3)
    found = fitting_settings(design, "llama-2-7b-fsdp")
    by_title = {one.title: one for one in found}
    sharded = by_title["Shard the optimizer (ZeRO-1)"]
    # seven eighths of the 80.9 GB of optimizer state are held by the other seven GPUs
    saved = PARAMETERS * OPTIMIZER * (GPUS - 1) / GPUS
    held = result.metrics["memory_per_gpu"].value - saved
    assert sharded.result.metrics["memory_per_gpu"].value == pytest.approx(held, rel=0.01)
    for one in found:
        applied = one.edit.apply(design)
        again = designer.analyze(applied, ["llama-2-7b-fsdp"], curves=False).workloads[0]
        assert again.unfit is None
        assert again.metrics["memory_per_gpu"].value < 85.5e9
        assert again.metrics["step_time"].value == one.result.metrics["step_time"].value
    rates = [one.result.metrics["tokens_per_second"].value for one in found]
    assert rates == sorted(rates, reverse=True)


def test_a_batch_of_pictures_is_halved_until_it_fits() -> None:
    design = overridden(designer.open_design("hgx-h100-8"), ["workloads.resnet-50.micro_batch=4096"])
    found = fitting_settings(design, "resnet-50")
    assert [one.changes for one in found] == [{"micro_batch": 1024}]
    assert found[0].title == "Micro-batch 1024"


def test_a_served_model_is_spread_before_its_weights_are_narrowed() -> None:
    design = overridden(designer.open_design("serving-h100-8"), ["workloads.chat-70b.tensor=1"])
    first = fitting_settings(design, "chat-70b")[0]
    # 72.7 GB of fp8 weights leave no room on one GPU of 85.5 GB at a share of 0.9, half of them do
    assert dict(first.changes) == {"tensor": 2, "replicas": 0}


def test_a_workload_that_fits_is_not_refused_and_one_that_is_not_there_is() -> None:
    design = designer.open_design("hgx-h100-8")
    assert designer.analyze(design, ["llama-2-7b-fsdp"], curves=False).workloads[0].unfit is None
    with pytest.raises(AnalysisError, match="no workload 'x'"):
        fitting_settings(design, "x")
