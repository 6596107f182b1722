"""Pipelines whose virtual stages hold the embedding and the head; cases worked by hand."""

from __future__ import annotations

import pytest

from designer.errors import AnalysisError
from designer.families.training.formulas.transformer_memory import MemoryBreakdown, transformer_memory
from designer.families.training.formulas.transformer_step import TransformerStep
from designer.formulas.accelerator import Accelerator
from designer.formulas.communication import Kind, NoCommunication, RankGroup
from designer.formulas.layout import Layout, Recompute, Sharding, check_layout, stage_layers
from designer.formulas.precision import precision
from designer.formulas.software import software
from designer.units import Bytes, BytesPerSecond, FlopPerSecond, Seconds
from designer.workload.models import model
from designer.workload.shape import TransformerShape

H100 = Accelerator("H100", {"bf16": FlopPerSecond(989e12)}, BytesPerSecond(3.35e12), Bytes(85.5e9), "hopper", "module")
LLAMA = model("llama-3-405b")
#: tables 4 of the Llama 3 paper: 8,192 accelerators
PUBLISHED = Layout(8, 16, 64, interleave=8, sequence_parallel=True, sharding=Sharding.GRADIENTS)


def memory(layout: Layout, microbatches: int, name: str = "llama-3-405b") -> MemoryBreakdown:
    shape = model(name)
    assert isinstance(shape, TransformerShape)
    program = software("fsdp-compiled")
    return transformer_memory(shape, layout, H100, precision("bf16"), program, 8192, microbatches)


@pytest.mark.parametrize(
    ("layers", "layout", "expected"),
    [
        (126, PUBLISHED, (7, 7, 8)),
        (126, Layout(8, 16, 64), (7, 7, 8)),
        (96, Layout(8, 8, 1, interleave=3), (12, 12, 12)),
        (61, Layout(1, 16), (4, 1, 4)),
        (126, Layout(8, 1, 64), (126, 126, 126)),
    ],
)
def test_layers_of_stages(layers: int, layout: Layout, expected: tuple[int, int, int]) -> None:
    assert stage_layers(layers, layout) == expected


def test_stages_beyond_layers_and_ends_are_refused() -> None:
    assert isinstance(LLAMA, TransformerShape)
    check_layout(PUBLISHED, LLAMA, 8192)
    with pytest.raises(AnalysisError, match="144 pipeline stages for 126 layers") as refused:
        check_layout(Layout(8, 16, 64, interleave=9), LLAMA, 8192)
    assert "128 stages hold the embedding and the head" in (refused.value.remedy or "")


def test_activations_of_an_interleaved_schedule() -> None:
    """Rank 1 starts 2 · 14 + 7 · 16 + 1 = 141 of its parts of one layer first; a layer keeps 65 KB of every token.

    Hidden 16,384, of which 4 are kept, and 2 · (128 + 8) · 128 + 3 · 53,248 in the products; all over 8 ranks, 2 B.
    """
    kept = (4 * 16384 + 2 * 136 * 128 + 3 * 53248) / 8 * 2
    assert memory(PUBLISHED, 32).activations == pytest.approx(141 * kept * 8192 * 1.05)
    # with 16 microbatches no more than 16 of each layer are there to be kept
    assert memory(PUBLISHED, 16).activations == pytest.approx(128 * kept * 8192 * 1.05)


def test_weights_of_the_fullest_stage() -> None:
    """Eight layers of 3.19 G parameters over 8 ranks are more than seven and an embedding of 2.1 G."""
    layer = 16384 * (2 * 16384 + 2 * 1024) + 3 * 16384 * 53248
    assert memory(PUBLISHED, 16).weights == pytest.approx(8 * layer / 8 * 2, rel=1e-4)
    # over 64 replicas all of the gradients are a 64th
    assert memory(PUBLISHED, 16).gradients == pytest.approx(8 * layer / 8 * 4 / 64, rel=1e-4)


def test_a_run_that_was_made_may_fit() -> None:
    """16 microbatches fit, 32 with little fragmentation: 88.6 GB against 84.8 of 85.5 GB."""
    assert memory(PUBLISHED, 16).fits
    tight = memory(PUBLISHED, 32)
    assert not tight.fits
    assert tight.may_fit
    assert tight.least == pytest.approx(tight.total - tight.activations * (1 - 1.02 / 1.05) - 1.5e9)
    assert not memory(Layout(8, 16, 64, interleave=8, sequence_parallel=True, sharding=Sharding.OPTIMIZER), 32).may_fit


def test_norms_and_activation_functions_made_again_keep_what_they_read() -> None:
    """Of 4 hidden widths 2, of 3 inner widths 2."""
    again = Layout(8, 16, 64, interleave=8, sequence_parallel=True, recompute=Recompute.POINTWISE)
    kept = (2 * 16384 + 2 * 136 * 128 + 2 * 53248) / 8 * 2
    assert memory(again, 16).activations == pytest.approx(128 * kept * 8192 * 1.05)


@pytest.mark.parametrize("stages", [4, 8, 16])
def test_one_microbatch_passes_every_layer_once(stages: int) -> None:
    """With one microbatch nothing overlaps: stages together take what one accelerator takes for all layers."""
    shape = model("gpt-22b")
    assert isinstance(shape, TransformerShape)
    trainer = TransformerStep(shape, H100, precision("bf16"), software("megatron-2022"), 2048)
    whole, split = (
        trainer.estimate(Layout(8, count, 1), 1, NoCommunication(), must_fit=False) for count in (1, stages)
    )
    assert split.compute + split.bubble == pytest.approx(float(whole.compute), rel=1e-9)


class _OneMillisecond(NoCommunication):
    """Transfers between stages take 1 ms, all others nothing."""

    def time(self, kind: Kind, group: RankGroup, size: Bytes) -> Seconds:
        del kind, size
        return Seconds(1e-3 if group is RankGroup.PIPELINE else 0.0)


@pytest.mark.parametrize(
    ("program", "microbatches", "hops"),
    [
        # 12 virtual stages of the 8 microbatches that fill and drain, and 7 hops to the last stage, both ways
        ("transformer-engine", 128, 2 * (12 * 8 + 7)),
        ("transformer-engine", 8, 2 * (12 * 8 + 7)),
        # nothing hides: all 128 show
        ("megatron-2022", 128, 2 * (12 * 128 + 7)),
    ],
)
def test_transfers_of_a_full_interleaved_pipeline_hide(program: str, microbatches: int, hops: int) -> None:
    """GPT-3 as 8 stages of 12 parts each."""
    layout = Layout(4, 8, 1, interleave=12, sequence_parallel=True)
    step = TransformerStep(model("gpt-175b"), H100, precision("bf16"), software(program), 2048)
    found = step.estimate(layout, microbatches, _OneMillisecond(), must_fit=False)
    assert found.pipeline_communication == pytest.approx(hops * 1e-3)
