"""Memory of training: by hand, against the papers, by layout, and refusals that say what would fit."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.errors import AnalysisError
from designer.families.training.formulas.convolutional_memory import convolutional_memory, largest_batch, require_batch
from designer.families.training.formulas.transformer_memory import layer_activations, transformer_memory, what_would_fit
from designer.formulas.layout import Layout, Recompute, Sharding, check_layout
from designer.formulas.precision import precision
from designer.formulas.software import software
from designer.workload.models import model
from tests.unit.formulas.machines import BF16, EXPERTS, NETWORK, ROUND, SMALL, step_model
from tests.validation.training.machines import PARTS

MEGATRON = software("megatron-2022")


def memory(layout: Layout, shape=SMALL, microbatches: int = 8, program=MEGATRON, frozen: bool = False):
    return transformer_memory(shape, layout, ROUND, BF16, program, 1024, microbatches, frozen)


def test_weights_gradients_optimizer_by_hand() -> None:
    found = memory(Layout())
    assert found.weights == 2 * SMALL.parameters - 2 * 1024  # the last norm is left out
    assert found.gradients == 2 * found.weights
    assert found.optimizer == 6 * found.weights


@pytest.mark.parametrize(
    ("sharding", "weights", "gradients", "optimizer"),
    [
        (Sharding.NONE, 1, 1, 1),
        (Sharding.OPTIMIZER, 1, 1, 4),
        (Sharding.GRADIENTS, 1, 4, 4),
        (Sharding.PARAMETERS, 4, 4, 4),
    ],
)
def test_sharding_divides_what_it_says(sharding: Sharding, weights: int, gradients: int, optimizer: int) -> None:
    """ZeRO stages 0 to 3 over four replicas."""
    one, four = memory(Layout()), memory(Layout(data=4, sharding=sharding))
    assert four.weights == pytest.approx(one.weights / weights)
    assert four.gradients == pytest.approx(one.gradients / gradients)
    assert four.optimizer == pytest.approx(one.optimizer / optimizer)


def test_zero_paper_figure_1() -> None:
    """7.5 billion parameters over 64 ranks: 120, 31.4, 16.6 and 1.9 GB without activations, gradients in 16 bit."""
    published = {Sharding.NONE: 120, Sharding.OPTIMIZER: 31.4, Sharding.GRADIENTS: 16.6, Sharding.PARAMETERS: 1.9}
    for sharding, gigabytes in published.items():
        parts = transformer_memory(
            model("gpt3-6.7b"), Layout(data=64, sharding=sharding), ROUND, BF16, MEGATRON, 1024, 1
        )
        scale = 7.5e9 / model("gpt3-6.7b").parameters
        state = (parts.weights + parts.gradients / 2 + parts.optimizer) * scale / 1e9
        assert state == pytest.approx(gigabytes, rel=0.02)


def test_activations_of_korthikanti() -> None:
    """sbh(34 + 5as/h) bytes a layer for GPT-3 without recomputation; 34 sbh with the scores recomputed."""
    shape = model("gpt-175b")
    s, h, a = 2048, 12288, 96
    fp16 = precision("fp16")
    full = layer_activations(shape, Layout(), fp16, MEGATRON, s)
    assert full == pytest.approx(h * (34 + 5 * a * s / h), rel=0.001)
    selective = layer_activations(shape, Layout(recompute=Recompute.SELECTIVE), fp16, MEGATRON, s)
    assert selective == pytest.approx(34 * h, rel=0.001)
    tensor = layer_activations(shape, Layout(tensor=8), fp16, MEGATRON, s)
    assert tensor == pytest.approx(h * (10 + 24 / 8 + 5 * a * s / (h * 8)), rel=0.001)
    sequence = layer_activations(shape, Layout(tensor=8, sequence_parallel=True), fp16, MEGATRON, s)
    assert sequence == pytest.approx(full / 8)


def test_a_gated_layer_keeps_one_product_more() -> None:
    bf16, layout = precision("bf16"), Layout(recompute=Recompute.SELECTIVE)
    plain = layer_activations(SMALL, layout, bf16, MEGATRON, 1024)
    gated = layer_activations(replace(SMALL, gated=True), layout, bf16, MEGATRON, 1024)
    assert gated - plain == SMALL.ffn * bf16.activation_bytes.value


def test_a_pipeline_keeps_as_many_microbatches_as_it_has_stages() -> None:
    """First stage: p microbatches of L/p layers, the same as all layers of one; interleaving keeps more."""
    whole = memory(Layout(recompute=Recompute.SELECTIVE), microbatches=8)
    staged = memory(Layout(pipeline=4, recompute=Recompute.SELECTIVE), microbatches=8)
    woven = memory(Layout(pipeline=4, interleave=2, recompute=Recompute.SELECTIVE), microbatches=8)
    assert staged.activations < whole.activations  # the logits are at the other end
    assert woven.activations == pytest.approx(staged.activations * (1 + 3 / 8))
    assert memory(Layout(pipeline=4), microbatches=1).activations < staged.activations * 2


def test_experts_are_spread() -> None:
    together, spread = memory(Layout(data=8), EXPERTS), memory(Layout(data=8, expert=8), EXPERTS)
    assert spread.weights < together.weights / 2
    assert spread.gathered == 0


def test_eight_bit_products_keep_their_inputs_in_eight_bit() -> None:
    """Of 10h + 24h/t of fused programs, inputs of products are h + h (two norms), h and 4h: a byte each, not two."""
    program = software("transformer-engine")
    wide, narrow = (layer_activations(SMALL, Layout(), precision(f), program, 1024) for f in ("bf16", "fp8"))
    assert wide - narrow == pytest.approx((2 * SMALL.hidden + SMALL.ffn) * 1.0)


def test_frozen_products_keep_no_inputs_and_their_weights_as_they_multiply() -> None:
    eight = precision("fp8")
    run = [
        transformer_memory(SMALL, Layout(), ROUND, eight, software("transformer-engine"), 1024, 1, frozen)
        for frozen in (False, True)
    ]
    assert run[1].weights == run[0].weights / 2
    assert run[1].activations < run[0].activations


def test_recomputed_layers_keep_their_input_in_parts_where_sequences_are_split() -> None:
    full = {"recompute": Recompute.FULL, "tensor": 8}
    whole, parts = memory(Layout(**full)), memory(Layout(**full, sequence_parallel=True))
    kept = SMALL.layers * SMALL.hidden * 2 * 1024
    assert whole.activations - parts.activations >= kept * 7 / 8


def test_selective_recomputation_of_fused_programs_keeps_half() -> None:
    fsdp = software("fsdp")
    all_kept = layer_activations(SMALL, Layout(), BF16, fsdp, 1024)
    chosen = layer_activations(SMALL, Layout(recompute=Recompute.SELECTIVE), BF16, fsdp, 1024)
    assert chosen == pytest.approx(all_kept * (1 - fsdp.selective.value))


def test_adapters_need_little_beside_weights() -> None:
    found = memory(Layout(), frozen=True)
    assert found.gradients + found.optimizer < 0.05 * found.weights


def test_the_published_megatron_layouts_fit_their_accelerators() -> None:
    """Every layout of table 5 ran on 80 GB."""
    fp16 = precision("fp16")
    runs = (("gpt-22b", 1, 1, 1), ("gpt-175b", 8, 3, 64), ("gpt-530b", 35, 3, 280), ("gpt-1t", 64, 1, 512))
    for name, pipeline, interleave, batch in runs:
        layout = Layout(
            tensor=8,
            pipeline=pipeline,
            interleave=interleave,
            micro_batch=4 if name == "gpt-22b" else 1,
            sequence_parallel=True,
            recompute=Recompute.SELECTIVE,
        )
        found = transformer_memory(model(name), layout, PARTS["A100-80"], fp16, MEGATRON, 2048, batch)
        assert found.fits, name
        assert found.total > 0.5 * found.capacity


def test_what_does_not_fit_is_refused_with_what_would() -> None:
    big = step_model(model("llama-2-13b"), 4096)
    layout = Layout(data=8)
    with pytest.raises(AnalysisError) as refused:
        big.estimate(layout, 8, NETWORK.costs(layout))
    message = str(refused.value)
    assert "Llama 2 13B" in message
    assert "optimizer" in message
    assert "shard" in str(refused.value.remedy)


def test_what_would_fit_fits() -> None:
    shape, layout = model("llama-2-13b"), Layout(data=8)
    options = what_would_fit(shape, layout, ROUND, BF16, MEGATRON, 4096, 1)
    assert options
    for option in options:
        assert transformer_memory(shape, option, ROUND, BF16, MEGATRON, 4096, 1).fits
        assert option.ranks == layout.ranks


def test_a_model_too_large_for_the_accelerators_says_how_many_would_do() -> None:
    huge = step_model(model("gpt-1t"), 2048)
    with pytest.raises(AnalysisError) as refused:
        huge.estimate(Layout(), 1, NETWORK.costs(Layout()))
    remedy = refused.value.remedy or ""
    assert remedy.startswith("spread the model over ")
    many = what_would_fit(model("gpt-1t"), Layout(), ROUND, BF16, MEGATRON, 2048, 1)[0]
    assert f" {many.ranks} " in remedy
    assert transformer_memory(model("gpt-1t"), many, ROUND, BF16, MEGATRON, 2048, 1).fits


def test_a_sequence_no_number_of_accelerators_holds_is_reported() -> None:
    with pytest.raises(AnalysisError) as refused:
        step_model(model("llama-2-13b"), 10**9).estimate(Layout(), 1, NETWORK.costs(Layout()))
    assert "shorter sequences" in (refused.value.remedy or "")


@pytest.mark.parametrize(
    ("layout", "word"),
    [
        (Layout(tensor=3), "heads"),
        (Layout(tensor=0), "tensor"),
        (Layout(pipeline=16), "stages"),
        (Layout(pipeline=1, interleave=2), "interleaved"),
        (Layout(context=3), "sequence"),
        (Layout(expert=2, data=2), "experts"),
        (Layout(micro_batch=0), "micro_batch"),
    ],
)
def test_layouts_that_do_not_divide_are_refused(layout: Layout, word: str) -> None:
    with pytest.raises(AnalysisError) as refused:
        check_layout(layout, SMALL, 1024)
    assert word in str(refused.value)
    assert refused.value.remedy


def test_a_layout_must_use_the_accelerators_given() -> None:
    with pytest.raises(AnalysisError, match="16 are given"):
        check_layout(Layout(tensor=2, data=4), SMALL, 1024, accelerators=16)
    check_layout(Layout(tensor=2, data=8), SMALL, 1024, accelerators=16)
    with pytest.raises(AnalysisError, match="does not divide both"):
        check_layout(Layout(data=4, expert=8), EXPERTS, 1024)


def test_batches_must_divide() -> None:
    assert Layout(data=4, micro_batch=2).microbatches(32) == 4
    with pytest.raises(AnalysisError, match="does not divide"):
        Layout(data=4, micro_batch=2).microbatches(12)
    with pytest.raises(AnalysisError, match="holds nothing"):
        Layout().microbatches(0)


@given(
    tensor=st.sampled_from([1, 2, 4, 8]),
    pipeline=st.sampled_from([1, 2, 4]),
    data=st.sampled_from([1, 2, 8]),
    sharding=st.sampled_from(list(Sharding)),
    recompute=st.sampled_from(list(Recompute)),
    micro=st.sampled_from([1, 4]),
)
def test_more_of_anything_that_splits_never_needs_more(
    tensor: int, pipeline: int, data: int, sharding: Sharding, recompute: Recompute, micro: int
) -> None:
    layout = Layout(tensor, pipeline, data, micro_batch=micro, sharding=sharding, recompute=recompute)
    base = memory(layout, microbatches=8)
    assert base.total > 0
    wider = memory(Layout(tensor * 2, pipeline, data, micro_batch=micro, sharding=sharding, recompute=recompute))
    assert wider.total <= base.total
    full = memory(Layout(tensor, pipeline, data, micro_batch=micro, sharding=sharding, recompute=Recompute.FULL))
    assert full.activations <= base.activations * 1.0001
    if sharding is not Sharding.NONE:
        more = memory(Layout(tensor, pipeline, data * 2, micro_batch=micro, sharding=sharding, recompute=recompute))
        assert more.total <= base.total * 1.0001


def test_largest_batch_of_a_convolutional_network() -> None:
    shape, fp16 = model("resnet-50"), precision("fp16")
    part = PARTS["A100-40"]
    most = largest_batch(shape, part, fp16)
    assert 256 < most < 1024
    assert convolutional_memory(shape, most, part, fp16).fits
    assert not convolutional_memory(shape, most + 1, part, fp16).fits
    require_batch(shape, most, part, fp16)
    with pytest.raises(AnalysisError, match=f"use {most} or fewer"):
        require_batch(shape, most + 1, part, fp16)
