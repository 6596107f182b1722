"""Compute formulas: rooflines, products, layers, convolutional networks and the accelerators they run on."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import designer
from designer.design.document import WorkloadSpec
from designer.engine.accelerators import accelerator_of
from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError
from designer.families.training.formulas.step_composition import spread_of
from designer.formulas.accelerator import Accelerator
from designer.formulas.calibration import GENERATIONS, generation, share
from designer.formulas.compute.convolutional_forward import (
    ForwardRates,
    ForwardWork,
    forward_parts,
    forward_spread,
    forward_time,
    forward_work,
)
from designer.formulas.compute.convolutional_step import convolutional_time, sample_time
from designer.formulas.compute.gemm import INNER_HALF, gemm_time, matrix_rate, whole_waves
from designer.formulas.compute.roofline import MEMORY_SHARE, roofline_time
from designer.formulas.compute.transformer_layer import layer_cost
from designer.formulas.compute.winograd import winograd
from designer.formulas.layout import Layout, Recompute
from designer.formulas.precision import PRECISIONS, precision
from designer.formulas.software import SOFTWARE, check_format, recognised, releases, software
from designer.sources import Constant, Status
from designer.units import Bytes, BytesPerSecond, Flop, FlopPerSecond, Ratio, Seconds, Watts
from designer.workload.models import model
from designer.workload.shape import ConvolutionalShape
from tests.unit.formulas.machines import BF16, EXPERTS, ROUND, SMALL
from tests.validation.training.drawn_cases import network_of
from tests.validation.training.machines import PARTS

# Compute formulas: rooflines, products, layers, convolutional networks and the accelerators they run on.

NOW = Seconds(0.0)


def test_roofline_turns_at_its_ridge() -> None:
    rate, memory = FlopPerSecond(100.0), BytesPerSecond(10.0)
    assert roofline_time(Flop(200.0), Bytes(1.0), rate, memory, NOW) == 2.0
    assert roofline_time(Flop(1.0), Bytes(85.0), rate, memory, NOW) == pytest.approx(10.0)
    assert roofline_time(Flop(0.0), Bytes(0.0), rate, memory, Seconds(3.0)) == 3.0
    assert MEMORY_SHARE.low == 0.8
    assert MEMORY_SHARE.high == 0.9


@pytest.mark.parametrize(
    ("part", "number_format", "published"),
    [("A100-80", "bf16", 271.2), ("A100-PCIE", "bf16", 252.9), ("H100", "bf16", 794.5), ("H100", "fp8", 1402.6)],
)
def test_best_product_as_measured(part: str, number_format: str, published: float) -> None:
    """Best matrix product found on each part, without what training loses of it [TFLOP/s]."""
    found = PARTS[part]
    row = found.calibration
    card = 0.933 if found.is_card else 1
    assert found.peak(number_format) * share(row.best, number_format).value * card / 1e12 == pytest.approx(
        published, rel=0.005
    )
    assert matrix_rate(found, number_format, 1e9) <= published * 1e12 * 1.001


@given(
    rows=st.integers(1, 10**5),
    inner=st.integers(1, 10**5),
    columns=st.integers(1, 10**5),
    times=st.integers(2, 5),
)
def test_a_larger_product_takes_longer_but_no_more_than_in_proportion(
    rows: int, inner: int, columns: int, times: int
) -> None:
    one = gemm_time(rows, inner, columns, ROUND, "bf16", 2, 2, NOW)
    more = gemm_time(rows * times, inner, columns, ROUND, "bf16", 2, 2, NOW)
    assert one < more <= one * times * (1 + 1e-9)
    assert one >= 2 * rows * inner * columns / ROUND.peak("bf16")


def test_a_narrower_format_is_used_only_where_the_part_has_it() -> None:
    assert ROUND.runs_as("fp8") == "bf16"
    assert ROUND.peak("tf32") == 10e12
    with pytest.raises(AnalysisError, match="no rate for int4"):
        ROUND.peak("int4")


def test_a_processor_computes_too() -> None:
    """Slower than the GPU of its time by about the ratio of peaks, not refused."""
    processor = Accelerator(
        "64 cores",
        {"fp32": FlopPerSecond(5e12), "bf16": FlopPerSecond(10e12)},
        BytesPerSecond(300e9),
        Bytes(512e9),
        "cpu",
    )
    shape = model("resnet-50")
    slow = convolutional_time(shape, 32, processor, precision("fp32"), software("tuned"))
    fast = convolutional_time(shape, 32, PARTS["V100-16"], precision("fp32"), software("tuned"))
    assert 2 < slow / fast < 10
    bound = processor.memory_bandwidth / PARTS["A100-80"].memory_bandwidth
    assert bound == pytest.approx(0.147, rel=0.01)


def test_a_slice_has_its_share() -> None:
    half = ROUND.slice(Ratio(0.5), Ratio(0.25), Bytes(20e9))
    assert (half.peak("bf16"), half.memory_bandwidth, half.memory_capacity) == (50e12, 0.25e12, 20e9)
    assert half.calibration == ROUND.calibration
    with pytest.raises(AnalysisError, match="share"):
        ROUND.slice(Ratio(0.0), Ratio(1.0), Bytes(1.0))


@pytest.mark.parametrize(
    ("flops", "rate", "memory"),
    [({}, 1.0, 1.0), ({"bf16": 0.0}, 1.0, 1.0), ({"bf16": 1.0}, 0.0, 1.0), ({"bf16": 1.0}, 1.0, 0.0)],
)
def test_an_accelerator_without_a_rate_is_refused(flops: dict[str, float], rate: float, memory: float) -> None:
    with pytest.raises(AnalysisError):
        Accelerator("none", {k: FlopPerSecond(v) for k, v in flops.items()}, BytesPerSecond(rate), Bytes(memory))


def test_unknown_generations_take_the_typical_row() -> None:
    assert generation("zeppelin") is generation("") is GENERATIONS["typical"]
    assert generation("Hopper GH100") is GENERATIONS["hopper"]
    widths = {name: row.sustained.high / row.sustained.low for name, row in GENERATIONS.items()}
    assert widths["typical"] > widths["ampere"]


def layer(layout: Layout = Layout(), shape=SMALL, program: str = "megatron-2022", **kwargs):  # noqa: B008
    return layer_cost(shape, layout, ROUND, BF16, software(program), 1024, **kwargs)


def test_layer_arithmetic_by_hand() -> None:
    """24 T h^2 + 4 T s h with four matrices: 12 h^2 parameters, and scores in full without a fused kernel."""
    tokens, h = 1024, 1024
    assert layer().flop == pytest.approx(24 * tokens * h * h + 4 * tokens * tokens * h * 0.5, rel=0.002)


def test_backward_is_about_twice_forward() -> None:
    cost = layer()
    assert 1.7 < cost.backward / cost.forward < 2.3
    assert cost.recompute == 0.0
    assert layer(Layout(recompute=Recompute.FULL)).recompute == cost.forward
    assert 0 < layer(Layout(recompute=Recompute.SELECTIVE)).recompute < cost.forward
    assert layer(Layout(recompute=Recompute.SELECTIVE), program="transformer-engine").recompute == 0.0


def test_frozen_weights_have_no_gradient() -> None:
    assert 0.5 * layer().backward < layer(frozen=True).backward < 0.9 * layer().backward


def test_adapters_beside_frozen_weights_cost_memory_passes() -> None:
    """Forward: two inputs of 3.5 passes and outputs of 9 over the hidden state in 16 bit, and 12 kernels."""
    added = layer(frozen=True, program="transformer-engine").forward - layer(program="transformer-engine").forward
    passes = 16 * 1024 * SMALL.hidden * 2 / (ROUND.memory_bandwidth * MEMORY_SHARE.value)
    assert added == pytest.approx(passes + 12 * software("transformer-engine").launch.value)


def test_selective_recomputation_runs_half_of_a_fused_layer_again() -> None:
    kept, chosen = layer(program="fsdp"), layer(Layout(recompute=Recompute.SELECTIVE), program="fsdp")
    assert chosen.recompute == pytest.approx(0.5 * (kept.forward - kept.attention))
    assert chosen.forward == kept.forward


@pytest.mark.parametrize(("watts", "clock"), [(700, 1.0), (900, 1.0), (500, 0.852), (350, 0.693), (100, 0.2096)])
def test_a_power_limit_lowers_the_clock_by_the_cube_root(watts: float, clock: float) -> None:
    """A quarter of 700 W is static; the rest falls with the cube of the clock.

    At 3/8 of the power a watt does most: clock (1/6)^(1/3) = 0.550. Less power feeds fewer units at that clock: of
    1/7 of the power (1/7) / (3/8) x 0.550 = 0.2096.
    """
    limited = dataclasses.replace(PARTS["H100"], power=Watts(watts))
    assert limited.clock("bf16").value == pytest.approx(clock, abs=0.001)
    assert limited.clock("bf16").low <= limited.clock("bf16").value <= limited.clock("bf16").high
    full = matrix_rate(PARTS["H100"], "bf16", 1e12)
    assert matrix_rate(limited, "bf16", 1e12) == pytest.approx(full * clock, rel=0.002)


@pytest.mark.parametrize(
    ("watts", "peak", "generation", "clock"),
    [(750, 1307e12, "CDNA3", 0.75), (1000, 1307e12, "CDNA3", 1.0), (1000, 2306.9e12, "CDNA4", 0.8903)],
)
def test_clocks_of_parts_that_share_a_chip(watts: float, peak: float, generation: str, clock: float) -> None:
    """MI300X has 3/4 of the power of MI325X, and does 3/4: its voltage hardly falls with the clock.

    MI350X has 1000 W for 2,307 TFLOP/s where MI355X has 1400 W for 2,517: 0.779 of it, (0.529 / 0.75)^(1/3) = 0.890.
    """
    rates = {"bf16": FlopPerSecond(peak), "fp8": FlopPerSecond(2 * peak)}
    part = dataclasses.replace(PARTS["H100"], generation=generation, power=Watts(watts), flops=rates)
    for number_format in rates:
        assert part.clock(number_format).value == pytest.approx(clock, abs=1e-3)


@pytest.mark.parametrize(
    ("part", "clock"), [("a10", 0.782), ("a40", 1.0), ("rtx3090", 1.0), ("l4", 0.786), ("l40s", 1.0), ("rtx4090", 1.0)]
)
def test_cards_of_one_chip_keep_the_clock_their_power_allows(part: str, clock: float) -> None:
    """A10 has 150 W for 125 TFLOP/s where A40 has 300 W for 149.7: .599 of it, ((.599 - .25) / .75)^(1/3) = .775.

    L4 has 72 W for 121 TFLOP/s where L40S has 350 W for 362: .615, (.365 / .75)^(1/3) = .787. GeForce cards accumulate
    in 32 bit at half the rate, 71 and 165.2 TFLOP/s, which draws less than the limit.
    """
    drawn = network_of(("dgx-a100", f"gpu/nvidia/{part}"), 1)
    found = accelerator_of(drawn, np.array([drawn.net.index_of("gpu0")]), "card")[0]
    assert found.clock("bf16").value == pytest.approx(clock, abs=0.01)


def test_kernels_that_write_8_bit_take_few_passes_for_it() -> None:
    """One layer of 1,024 tokens: with copies 2 elements of 2 B for 2 h, h + 4 h over the memory bandwidth, twice."""
    eight = precision("fp8")
    quick = dataclasses.replace(ROUND, flops={**ROUND.flops, "fp8": FlopPerSecond(2 * ROUND.peak("bf16"))})
    own, fused = (
        layer_cost(SMALL, Layout(), quick, eight, software(name), 1024).pointwise
        - layer_cost(SMALL, Layout(), quick, BF16, software(name), 1024).pointwise
        for name in ("transformer-engine", "fused")
    )
    copied = 2 * 2 * 1024 * (2 * SMALL.hidden + SMALL.hidden + SMALL.ffn) * 2
    assert own == pytest.approx(copied / (ROUND.memory_bandwidth * MEMORY_SHARE.value))
    row = software("fused")
    assert row.casts.value < 0.5
    assert fused == pytest.approx(own * row.casts.value * row.pointwise.value)


def test_products_in_4_bit_leave_some_layers_in_16_bit() -> None:
    """85 % of a product at the rate of 4 bit, 15 % at that of 16 bit; without 4 bit it runs in 8."""
    four, wide = precision("nvfp4"), precision("bf16")
    rates = {"bf16": FlopPerSecond(1e15), "fp8": FlopPerSecond(2e15), "fp4": FlopPerSecond(4e15)}
    part = dataclasses.replace(PARTS["H100"], generation="Blackwell", flops=rates, power=Watts(0), units=0)
    quick, slow = (matrix_rate(part, name, 4096) for name in ("nvfp4", "bf16"))
    # 0.70 of 4 bit and 0.776 of 16 bit, both sustained by the same share
    assert quick / slow == pytest.approx(4 * 0.70 / 0.776)
    program = dataclasses.replace(software("fused"), launch=Constant(0.0, 0.0, 0.0, "counted-training", Status.DERIVED))
    mixed, plain = (layer_cost(SMALL, Layout(), part, one, program, 16384) for one in (four, wide))
    products = [c.forward + c.backward - c.scores - c.pointwise for c in (mixed, plain)]
    assert products[0] / products[1] == pytest.approx(0.85 * slow / quick + 0.15, rel=0.02)
    assert PARTS["H100"].runs_as("nvfp4") == "fp8"
    assert part.runs_as("nvfp4") == "fp4"


def test_more_units_at_the_same_power_never_lower_the_rate() -> None:
    """Twice the peak has half the power for each operation: clock (1/3)^(1/3) = 0.693, 1.387 times the rate.

    From 2.67 times the peak on, more units stay off: 2.67 x 0.550 = 1.467 times the rate.
    """
    expected = {1.0: 1.0, 2.0: 1.387, 8 / 3: 1.467, 3.5: 1.467, 4.0: 1.467, 8.0: 1.467}
    rates: list[float] = []
    for factor, gained in expected.items():
        wider = dataclasses.replace(PARTS["H100"], flops={"bf16": FlopPerSecond(PARTS["H100"].peak("bf16") * factor)})
        long = matrix_rate(wider, "bf16", 1e12) / matrix_rate(PARTS["H100"], "bf16", 1e12)
        assert long == pytest.approx(gained, rel=1e-3)
        rates.append(matrix_rate(wider, "bf16", 1024))
    assert rates == pytest.approx(sorted(rates))


def test_a_card_has_less_power_for_each_operation_than_the_module() -> None:
    """A100: 300 W against 400 W at the same peak rate; H100: 350 W at 756 TFLOP/s against 700 W at 989."""
    assert PARTS["A100-PCIE"].clock("bf16").value == pytest.approx(0.874, abs=0.001)
    assert PARTS["H100-PCIE"].clock("bf16").value == pytest.approx(0.813, abs=0.001)
    assert PARTS["A100-80"].clock("bf16").value == PARTS["H100"].clock("bf16").value == 1.0


def test_compilers_fuse_and_eager_programs_do_not() -> None:
    eager, fused = (layer(shape=model("llama-2-7b"), program=name) for name in ("fsdp-eager", "fsdp-compiled"))
    assert eager.pointwise > 2 * fused.pointwise
    assert eager.scores == pytest.approx(fused.scores, rel=0.05)


def test_every_expert_casts_a_copy_of_its_tokens() -> None:
    """Two experts for each token: one more copy of the hidden state cast, forward and backward."""
    eight = precision("fp8")
    program = software("transformer-engine")
    one = dataclasses.replace(EXPERTS, experts_per_token=1, expert_ffn=2 * EXPERTS.expert_ffn)
    hopper = PARTS["H100"]
    two_cost, one_cost = (layer_cost(s, Layout(), hopper, eight, program, 1024, experts=True) for s in (EXPERTS, one))
    cast = 2 * 2 * 1024 * EXPERTS.hidden * 2 / (hopper.memory_bandwidth * MEMORY_SHARE.value)
    assert two_cost.pointwise - one_cost.pointwise == pytest.approx(cast)


def test_tensor_parallel_splits_products_but_adds_messages() -> None:
    whole, halved = layer(), layer(Layout(tensor=2))
    assert whole.tensor_messages == 0
    assert halved.tensor_messages == 2
    assert halved.tensor_bytes == 1024 * 1024 * 2
    assert 0.45 < halved.forward / whole.forward < 0.75
    assert layer(Layout(tensor=2, sequence_parallel=True)).forward < halved.forward


def test_context_parallel_halves_the_tokens() -> None:
    whole, halved = layer(), layer(Layout(context=2))
    assert halved.flop == pytest.approx(whole.flop / 2, rel=0.01)
    assert halved.context_bytes == 1024 * 2 * 1024 * 2


def test_experts_cost_what_tokens_use() -> None:
    alone = layer(shape=EXPERTS, experts=True)
    spread = layer(Layout(expert=4, data=4), shape=EXPERTS, experts=True)
    assert alone.expert_bytes == 0
    assert spread.expert_bytes == 1024 * 2 * 1024 * 2
    assert spread.flop == alone.flop


def test_tensor_parallel_splits_experts_too() -> None:
    """Bound by memory, so that time goes with the bytes of the weights."""
    many = dataclasses.replace(EXPERTS, experts=64, expert_ffn=16384)
    whole, halved = (layer(Layout(tensor=t), shape=many, experts=True) for t in (1, 2))
    assert 0.48 < halved.forward / whole.forward < 0.56


def test_a_window_saves_attention() -> None:
    shape = dataclasses.replace(SMALL, window=128, windowed_layers=8)
    assert layer(shape=shape, windowed=True).forward < layer(shape=shape).forward


@given(micro=st.integers(1, 16), program=st.sampled_from(sorted(SOFTWARE)))
def test_layer_time_grows_with_the_microbatch(micro: int, program: str) -> None:
    small, large = (
        layer(Layout(micro_batch=micro), program=program),
        layer(Layout(micro_batch=micro + 1), program=program),
    )
    assert small.forward < large.forward < small.forward * (micro + 1) / micro * 1.01


def test_convolutional_time_is_a_line() -> None:
    shape, part = model("resnet-50"), PARTS["A100-80"]
    fp16, fused = precision("fp16"), software("fused")
    times = [convolutional_time(shape, batch, part, fp16, fused) for batch in (0, 100, 200)]
    assert times[0] > 0
    assert times[2] - times[1] == pytest.approx(times[1] - times[0])
    assert times[1] - times[0] == pytest.approx(100 * sample_time(shape, part, fp16, fused))


def test_local_batch_and_throughput_of_resnet_50() -> None:
    """Published: 3399, 2620 and 2307 images/s per A100 as the local batch falls from 408 to 51 to 35."""
    shape, part = model("resnet-50"), PARTS["A100-80"]
    rates = [b / convolutional_time(shape, b, part, precision("fp16"), software("fused")) for b in (408, 51, 35)]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] == pytest.approx(3399, rel=0.05)
    assert rates[1] == pytest.approx(2620, rel=0.10)
    assert rates[2] == pytest.approx(2307, rel=0.12)


@pytest.mark.parametrize(
    ("named", "preset"),
    [
        ("MxNet NVIDIA Release 23.09", "fused"),
        ("MXNet NVIDIA Release 22.04", "fused"),
        ("MLPerf, PyTorch NVIDIA Release 22.04", "fused-2022"),
        ("MLPerf, PyTorch NVIDIA Release 23.09", "fused"),
        ("NeMo 24.04", "transformer-engine"),
        ("Composer/llm-foundry, FSDP", "fsdp"),
        ("torchtitan, torch.compile", "fsdp-compiled"),
        ("torchtitan", "fsdp"),
        ("PyTorch", "eager"),
    ],
)
def test_software_is_recognised_by_name(named: str, preset: str) -> None:
    assert recognised(named) is SOFTWARE[preset]


@pytest.mark.parametrize("release", ["2022", "22.04", "2022-12", "2022.12"])
def test_a_program_of_2022_sums_gradients_after_the_backward_pass(release: str) -> None:
    assert software("fused", release) is SOFTWARE["fused-2022"]
    assert software("fused", "2023-01") is software("fused", "24.09") is SOFTWARE["fused"]


def test_kernels_are_of_their_time_on_a_new_generation() -> None:
    """Attention in 8 bit on Blackwell: 0.769 of the calibrated kernel until June 2025, 1.5 later; on Hopper always."""
    name = "transformer-engine-fp8-attention"
    early, late = (software(name, release, "blackwell").attention.value for release in ("25.04", "25.09"))
    assert (early, late) == (0.769, 1.5)
    assert software(name, "25.04", "hopper") is SOFTWARE[name]


def test_an_unknown_release_may_be_any_that_ran_on_the_generation() -> None:
    """MLPerf programs without fused attention (2020) and of 2022 ran on A100; H100 of 2022-09 saw the last."""
    assert [one.fused_attention for one in releases("fused", "ampere")] == [False, True]
    assert releases("fused", "hopper") == (SOFTWARE["fused-2022"],)
    assert releases("fused", "blackwell") == ()
    assert [one.attention.value for one in releases("fsdp", "blackwell")] == [0.85]


def test_attention_of_pytorch_doubled_in_2024() -> None:
    """Release 2.2 of 2024-01: 0.45 of the calibrated kernel before, twice as much is .9, .85 is there."""
    for name in ("fsdp", "fsdp-compiled", "fsdp-eager", "tuned"):
        assert software(name, "2023-12").attention.value == 0.45
        assert software(name, "24.01").attention.value == 0.85
    assert not software("fsdp", "2022").fused_attention
    assert not software("unknown", "2022-04").fused_attention


@pytest.mark.parametrize(
    ("name", "release"),
    [("transformer-engine", "22.08"), ("megatron-2022", "2024"), ("fused-2022", "23.01"), ("fsdp-compiled", "2023-02")],
)
def test_a_program_that_had_no_release_then_is_refused(name: str, release: str) -> None:
    with pytest.raises(AnalysisError, match="no release of 20") as caught:
        software(name, release)
    assert caught.value.place == "release"


def test_number_formats_have_a_first_month() -> None:
    check_format("nvfp4", "2025-10")
    check_format("nvfp4", "")
    with pytest.raises(AnalysisError, match="the first did in 2025-09"):
        check_format("nvfp4", "25.04")


@pytest.mark.parametrize("release", ["yesterday", "1.2", "99"])
def test_a_release_that_is_no_date_is_refused(release: str) -> None:
    with pytest.raises(AnalysisError, match="no release of a program") as caught:
        software("fused", release)
    assert "24.09" in caught.value.remedy


@pytest.mark.parametrize("name", ["DeepSpeed", "Megatron-DeepSpeed", "PyTorch with DeepSpeed ZeRO-3", "our own", ""])
def test_a_program_that_is_not_known_is_not_taken_for_another(name: str) -> None:
    """DeepSpeed passed for a program without fused attention, Megatron-DeepSpeed for transformer-engine."""
    unknown = recognised(name) or software("unknown")
    assert unknown.name == "unknown"
    for known in SOFTWARE.values():
        for field in ("pointwise", "data_overlap", "optimizer", "launch", "casts", "convolution_traffic"):
            wide, narrow = getattr(unknown, field), getattr(known, field)
            assert wide.low <= narrow.value <= wide.high, (known.name, field)


def test_a_program_nobody_has_is_refused() -> None:
    with pytest.raises(AnalysisError, match="training program"):
        software("something of my own")


def test_number_formats() -> None:
    assert {name: row.weight_bytes.value for name, row in PRECISIONS.items()} == {
        "fp32": 4,
        "tf32": 4,
        "fp16": 2,
        "bf16": 2,
        "fp8": 2,
        "nvfp4": 2,
    }
    with pytest.raises(AnalysisError, match="int4"):
        precision("int4")


def test_a_product_takes_whole_waves_of_tiles() -> None:
    """By hand: 1,024 x 1,024 is 64 tiles of 128: on 132 units less than one wave; 4,096 rows are 256 tiles, 2 waves."""
    assert whole_waves(1024, 1024, 132) == pytest.approx(math.sqrt(132 / 64))
    assert whole_waves(4096, 1024, 132) == pytest.approx(math.sqrt(2 * 132 / 256))
    assert whole_waves(1024, 1024, 0) == 1


def test_filling_a_tile_takes_a_time_not_a_length() -> None:
    """By hand, A100 to H100 in 8 bit: 1979/132 against 312/108 TFLOP/s of a unit, 5.19 times the length."""
    a100, h100 = (
        matrix_rate(PARTS[name], one, 1e12) / matrix_rate(PARTS[name], one, 1024) - 1
        for name, one in (("A100-80", "bf16"), ("H100", "fp8"))
    )
    assert a100 == pytest.approx(INNER_HALF.value / 1024, rel=1e-6)
    assert h100 / a100 == pytest.approx((1979 / 132) / (312 / 108), rel=1e-3)


# Forward pass of convolutional networks: by hand, against published runs, and the same through both workloads.

V100 = ForwardRates(FlopPerSecond(125e12), BytesPerSecond(900e9), "fp16", "volta")


A100 = ForwardRates(FlopPerSecond(312e12), BytesPerSecond(2039e9), "fp16", "ampere")


T4 = ForwardRates(FlopPerSecond(65e12), BytesPerSecond(320e9), "fp16", "turing", card=True)


#: images/s of ResNet-50 v1.5 in 16 bit: NVIDIA Deep Learning Examples 729963dd, MXNet and PyTorch
PUBLISHED = [
    (V100, 32, 2902),
    (V100, 64, 2984),
    (V100, 128, 3362),
    (V100, 256, 3382),
    (A100, 32, 6808),
    (A100, 128, 8018),
    (A100, 256, 7910),
    (T4, 32, 1473),
    (T4, 128, 1555),
    (T4, 256, 1198),
]


def _shape(name: str) -> ConvolutionalShape:
    shape = model(name)
    assert isinstance(shape, ConvolutionalShape)
    return shape


def _work(name: str, rates: ForwardRates) -> ForwardWork:
    return forward_work(_shape(name), rates, Bytes(2.0))


def test_a_pass_by_hand() -> None:
    """10 layers of 22 us; 8 GFLOP at .55 of 100 TFLOP/s; 90 MB of values and 10 MB of weights at .85 of 1 TB/s."""
    rates = ForwardRates(FlopPerSecond(100e12), BytesPerSecond(1e12), "fp16", "volta")
    work = ForwardWork(10, Flop(1e9), Bytes(11.25e6), Bytes(10e6))
    by_hand = 10 * 22e-6 + 8e9 / 55e12 + 100e6 / 0.85e12
    assert forward_time(work, 8, rates) == pytest.approx(by_hand, rel=1e-12)
    assert forward_parts(work, 8, rates) == pytest.approx((10 * 22e-6, 8e9 / 55e12, 100e6 / 0.85e12), rel=1e-12)


def test_a_pass_of_resnet_50_by_hand() -> None:
    """11.11 M values of 2 bytes, six passes: 133.3 MB a sample; 25.6 M weights once."""
    work = _work("resnet-50", V100)
    assert work.moved == pytest.approx(133.3e6, rel=1e-3)
    time = 54 * 22e-6 + 128 * (8.18e9 / (0.55 * 125e12) + 133.32e6 / 765e9) + 51.1e6 / 765e9
    assert forward_time(work, 128, V100) == pytest.approx(time, rel=1e-3)


@pytest.mark.parametrize(("rates", "batch", "published"), PUBLISHED)
def test_published_runs_of_resnet_50(rates: ForwardRates, batch: int, published: float) -> None:
    work = _work("resnet-50", rates)
    time = forward_time(work, batch, rates)
    assert batch / time == pytest.approx(published, rel=0.16)
    spread = spread_of(forward_spread(work, batch, rates))
    assert math.exp(-spread.shorter) < batch / published / time < math.exp(spread.longer)


def test_networks_in_8_bit_are_compiled() -> None:
    narrow = ForwardRates(FlopPerSecond(624e12), A100.bandwidth, "int8", "ampere")
    assert narrow.compiled
    assert not A100.compiled
    assert narrow.passes.value < A100.passes.value
    wide, small = (forward_time(_work("resnet-50", r), 128, r) for r in (A100, narrow))
    assert small < wide


def _asked(kind: str, template: str, **settings: object) -> WorkloadResult:
    design = designer.open_design(template)
    spec = WorkloadSpec.model_validate({"id": "one", "kind": kind, "settings": settings})
    return designer.analyze(design.model_copy(update={"workloads": {"one": spec}}), ["one"]).workloads[0]


@pytest.mark.parametrize("template", ["hpe-apollo-6500-parallel-storage", "hgx-a100-8", "serving-l40s-4"])
@pytest.mark.parametrize("network", ["resnet-50", "googlenet"])
def test_inference_and_training_run_the_same_forward_pass(template: str, network: str) -> None:
    common = {"model": network, "precision": "fp16"}
    served = _asked("inference", template, scenario="offline", batch=64, **common)
    trained = _asked("training", template, forward_only=True, micro_batch=64, source="", dataset="", **common)
    one, other = served.metrics["most_samples_per_second"], trained.metrics["samples_per_second"]
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high), rel=1e-9)
    assert served.binding[0].what == trained.binding[0].what


def test_the_band_holds_the_published_machine() -> None:
    """Eight V100 infer just under 42,000 images/s with GoogLeNet; neither batch nor number format is published."""
    found = _asked(
        "inference", "hpe-apollo-6500-parallel-storage", model="googlenet", scenario="offline", batch=256
    ).metrics["most_samples_per_second"]
    assert found.low < 42_000 < found.high


#: ms of a batch of 16 in FP32 on GTX TITAN X and GTX 1080 with cuDNN 5: github.com/jcjohnson/cnn-benchmarks@0367b1f
CLASSIC = {
    "vgg-16": (76.15, 66.56),
    "vgg-19": (93.83, 80.39),
    "resnet-18": (16.97, 14.69),
    "resnet-50": (56.42, 50.67),
    "resnet-152": (125.69, 109.93),
}


TITAN_X = ForwardRates(FlopPerSecond(6.6e12), BytesPerSecond(336e9), "fp32", "maxwell", card=True)


GTX_1080 = ForwardRates(FlopPerSecond(8.87e12), BytesPerSecond(320e9), "fp32", "pascal", card=True)


@pytest.mark.parametrize("network", sorted(CLASSIC))
def test_networks_of_3x3_convolutions_gain_by_winograd(network: str) -> None:
    for rates, published in zip((TITAN_X, GTX_1080), CLASSIC[network], strict=True):
        work = forward_work(_shape(network), rates, Bytes(4.0))
        time = forward_time(work, 16, rates)
        # worst: ResNet-18 on GTX 1080, 1.50 times too fast; without the gain VGG on TITAN X is 2.3 times too slow
        assert abs(math.log(time / published * 1e3)) < math.log(1.55)
        spread = spread_of(forward_spread(work, 16, rates))
        assert math.exp(-spread.shorter) < published / 1e3 / time < math.exp(spread.longer)


def test_winograd_by_hand() -> None:
    """All 3x3: 1 / 2.6 of the multiplications, over 1 - .41 (1 - 1 / 2.6) = .7477 of ResNet-50: .5144."""
    vgg = replace(_shape("vgg-19"), spatial=Ratio(1.0))
    assert winograd(vgg, "fp32") == pytest.approx(0.5144, rel=1e-3)
    assert winograd(_shape("resnet-50"), "fp32") == pytest.approx(1.0)
    # tensor cores multiply without it
    assert winograd(vgg, "fp16") == 1.0


@pytest.mark.parametrize("part", ["A100-80", "H100"])
def test_frozen_normalisations_and_matching_by_hand(part: str) -> None:
    """Half of 11.34 passes over 11.11 M values of 2 B less, and a millisecond that no accelerator shortens."""
    network, fused, device = _shape("resnet-50"), software("fused"), PARTS[part]
    other = replace(network, passes=Ratio(0.5), matching=Seconds(1e-3))
    spared = (
        network.activations * fused.convolution_traffic.value / 2 * 2 / (device.memory_bandwidth * MEMORY_SHARE.value)
    )
    one, two = (sample_time(shape, device, precision("fp16"), fused) for shape in (network, other))
    assert two - one == pytest.approx(1e-3 - spared)
