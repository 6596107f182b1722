"""The step: how its parts meet, what hides, what waits, what is refused; traffic, time to train, scaling, search."""

import dataclasses
import math
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.errors import AnalysisError
from designer.families.training.formulas.bubble import bubble_fraction
from designer.families.training.formulas.overlap import exposed_time
from designer.families.training.formulas.scaling import ScalingPoint, scaling_curve
from designer.families.training.formulas.step_composition import InputStage, StepEstimate, spread_of, widen_step
from designer.families.training.formulas.time_to_train import Validation, time_to_train
from designer.families.training.formulas.training_step import estimate_step
from designer.families.training.formulas.transformer_step import TransformerStep
from designer.formulas.communication import Kind, NoCommunication, RankGroup
from designer.formulas.layout import Layout, Recompute, Sharding
from designer.formulas.precision import precision
from designer.formulas.software import software
from designer.sources import Constant, Status
from designer.units import Bytes, BytesPerSecond, PerSecond, Ratio, Seconds, Watts
from designer.workload.models import model
from tests.nominal_network import INSIDE_LATENCY, INSIDE_SHARE, NominalNetwork
from tests.unit.formulas.machines import BF16, EXPERTS, NETWORK, ROUND, step_model
from tests.validation.training.machines import PARTS, network_of

PERFECT = NoCommunication()


def step(layout: Layout = Layout(), batch: int = 64, **kwargs) -> StepEstimate:  # noqa: B008
    return step_model().estimate(layout, batch, NETWORK.costs(layout), **kwargs)


@pytest.mark.parametrize(
    ("p", "v", "m", "share"), [(1, 1, 8, 0), (8, 1, 8, 7 / 8), (8, 3, 64, 7 / 192), (64, 1, 512, 63 / 512)]
)
def test_bubble(p: int, v: int, m: int, share: float) -> None:
    assert bubble_fraction(p, v, m) == pytest.approx(share)


def test_a_pipeline_of_nothing_is_refused() -> None:
    with pytest.raises(AnalysisError):
        bubble_fraction(0, 1, 1)


@given(traffic=st.floats(0, 100), window=st.floats(0, 100), overlap=st.floats(0, 1))
def test_exposed_traffic_lies_between_nothing_and_all(traffic: float, window: float, overlap: float) -> None:
    seen = exposed_time(Seconds(traffic), Seconds(window), Ratio(overlap))
    assert max(0.0, traffic - window) <= seen + 1e-9
    assert (1 - overlap) * traffic <= seen + 1e-9
    assert seen <= traffic


def test_the_bubble_in_a_step_is_the_formula() -> None:
    """The last of four stages has 8 of 32 layers and the head; the pipeline fills through the others, of 8 layers."""
    layout = Layout(pipeline=4, interleave=2)
    found = step_model().estimate(layout, 16, PERFECT)
    whole = step_model().estimate(Layout(), 1, PERFECT, must_fit=False).compute
    layer = (whole - found.compute / 16) / 24
    assert found.bubble == pytest.approx(8 * layer * 3 / 2)
    assert found.bubble < found.compute * 3 / (2 * 16)


def test_ideal_scaling_without_traffic_and_waiting() -> None:
    one, eight = step_model().estimate(Layout(), 64, PERFECT), step_model().estimate(Layout(data=8), 64, PERFECT)
    assert eight.compute == pytest.approx(one.compute / 8)
    assert eight.communication == 0
    assert eight.waiting == pytest.approx(
        (eight.step_time - eight.waiting) * software("transformer-engine").straggler.value * 3
    )


def test_model_flop_of_gpt_3() -> None:
    """Narayanan et al. 2021: 72 B s l h^2 (1 + s/6h + V/12lh) for a step."""
    shape, s, layers, h, v = model("gpt-175b"), 2048, 96, 12288, 51200
    found = TransformerStep(shape, PARTS["A100-80"], precision("fp16"), software("megatron-2022"), s)
    assert found.model_flop_per_token == pytest.approx(
        72 * layers * h * h * (1 + s / (6 * h) + v / (12 * layers * h)), rel=0.001
    )


def test_mfu_is_model_arithmetic_over_peak() -> None:
    found = step()
    assert found.mfu == pytest.approx(found.model_flop / (found.step_time * 100e12))
    assert 0.2 < found.mfu < 0.9


@pytest.mark.parametrize(
    ("time", "overlapped", "stall"), [(0.0, True, 0.0), (1e-3, True, 0.0), (100.0, True, None), (1.0, False, 1.0)]
)
def test_input_hides_or_comes_on_top(time: float, overlapped: bool, stall: float | None) -> None:
    without = step()
    found = step(input_stage=InputStage(Seconds(time), overlapped))
    expected = time - without.step_time if stall is None else stall
    assert found.input_stall == pytest.approx(expected)
    assert found.step_time == pytest.approx(without.step_time + expected)


def test_sharding_everything_talks_more() -> None:
    plain = step(Layout(data=8, micro_batch=4))
    sharded = step(Layout(data=8, micro_batch=4, sharding=Sharding.PARAMETERS))
    assert sharded.data_communication > plain.data_communication
    assert sharded.optimizer < plain.optimizer


def test_sharding_gradients_scatters_every_microbatch() -> None:
    once = step(Layout(data=8, micro_batch=1, sharding=Sharding.OPTIMIZER))
    often = step(Layout(data=8, micro_batch=1, sharding=Sharding.GRADIENTS))
    assert often.data_communication > 2 * once.data_communication


def test_full_recomputation_costs_a_forward_pass() -> None:
    found = step(Layout(recompute=Recompute.FULL))
    assert 0.2 < found.recompute / found.compute < 0.45


def test_experts_talk_when_spread() -> None:
    trainer = step_model(EXPERTS)
    alone, spread = Layout(data=8), Layout(data=8, expert=8)
    assert trainer.estimate(alone, 64, NETWORK.costs(alone)).expert_communication == 0
    assert trainer.estimate(spread, 64, NETWORK.costs(spread)).expert_communication > 0


def test_a_slow_network_shows_as_traffic_not_as_computing() -> None:
    layout = Layout(tensor=8, data=2)
    slow = NominalNetwork(8, BytesPerSecond(1e9), BytesPerSecond(1e8))
    quick, late = step(layout), step_model().estimate(layout, 64, slow.costs(layout))
    assert late.compute == quick.compute
    assert late.communication > 5 * quick.communication


def test_bands_are_wider_where_a_program_was_never_seen() -> None:
    """The same numbers, stated of a generation, a program or a format that no fitted run has."""

    def width(program: str, number_format: str, generation: str) -> float:
        part = dataclasses.replace(PARTS["H100"], generation=generation)
        found = estimate_step(
            model("llama-2-7b"),
            precision(number_format),
            Layout(),
            8,
            part,
            PERFECT,
            software(program),
            sequence=4096,
            must_fit=False,
        )
        return math.log(found.high / found.low) / 2

    seen = width("transformer-engine", "fp8", "Hopper GH100")
    assert width("transformer-engine", "bf16", "Hopper GH100") > seen
    assert width("fsdp-compiled", "fp8", "Hopper GH100") > seen
    assert width("transformer-engine", "fp8", "Ada AD102") > seen
    assert 0.08 < seen < 0.2


def test_a_power_limit_costs_products_and_widens_the_band() -> None:
    def run(watts: float) -> StepEstimate:
        part = dataclasses.replace(PARTS["H100"], power=Watts(watts))
        return estimate_step(
            model("llama-2-7b"),
            precision("bf16"),
            Layout(),
            8,
            part,
            PERFECT,
            software("fsdp"),
            sequence=4096,
            must_fit=False,
        )

    whole, limited = run(700), run(500)
    assert 1.05 < limited.step_time / whole.step_time < 1 / 0.852
    assert limited.high / limited.low > whole.high / whole.low


def test_sending_tokens_to_experts_is_seen_in_full() -> None:
    """A token waits to be sent before its expert starts, however much traffic the program hides."""
    spread = Layout(data=8, expert=8)
    found = step_model(EXPERTS).estimate(spread, 64, NETWORK.costs(spread))
    tokens = 1024 * EXPERTS.experts_per_token * EXPERTS.hidden * 2
    one = NETWORK.costs(spread).time(Kind.ALL_TO_ALL, RankGroup.EXPERT, Bytes(tokens))
    assert found.expert_communication == pytest.approx(8 * 4 * one * EXPERTS.moe_layers)


def test_adapters_train_faster_than_everything() -> None:
    kwargs = {"sequence": 1024, "must_fit": False}
    parts = (model("llama-2-7b"), BF16, Layout(), 64, ROUND, PERFECT, software("transformer-engine"))
    assert estimate_step(*parts, frozen=True, **kwargs).step_time < 0.8 * estimate_step(*parts, **kwargs).step_time


def test_estimates_say_where_they_rest() -> None:
    assert {"megatron-2021", "fit-training", "mamf"} <= set(step().sources)


@pytest.mark.parametrize("sequence", [0, -1])
def test_an_empty_sequence_is_refused(sequence: int) -> None:
    with pytest.raises(AnalysisError, match="sequence"):
        step_model(sequence=sequence)


def test_bad_batches_are_refused() -> None:
    with pytest.raises(AnalysisError, match="does not divide"):
        step(Layout(data=8), batch=60)
    with pytest.raises(AnalysisError, match="holds nothing"):
        step(batch=0)
    shape, fp16, fused = model("resnet-50"), precision("fp16"), software("fused")
    with pytest.raises(AnalysisError, match="without a sample"):
        estimate_step(shape, fp16, Layout(data=8), 4, PARTS["H100"], PERFECT, fused)
    with pytest.raises(AnalysisError, match="data-parallel only"):
        estimate_step(shape, fp16, Layout(tensor=2), 64, PARTS["H100"], PERFECT, fused)
    with pytest.raises(AnalysisError, match="fewer samples"):
        estimate_step(shape, fp16, Layout(), 100_000, PARTS["H100"], PERFECT, fused)


def test_spread_of_a_time_that_falls_and_one_that_rises() -> None:
    constant = Constant(1.0, 0.5, 4.0, "s", Status.DERIVED)
    falls, rises = spread_of([(1, constant)]), spread_of([(-1, constant)])
    assert falls.shorter == pytest.approx(math.log(4))
    assert falls.longer == pytest.approx(math.log(2))
    assert (rises.shorter, rises.longer) == (falls.longer, falls.shorter)


def test_ring_inside_a_server_by_hand() -> None:
    costs = NETWORK.costs(Layout(tensor=8))
    size = Bytes(1e9)
    rate = 100e9 * INSIDE_SHARE.value
    one = 7 / 8 * 1e9 / rate + 6 * INSIDE_LATENCY.value
    assert costs.time(Kind.ALL_GATHER, RankGroup.TENSOR, size) == pytest.approx(one)
    assert costs.time(Kind.ALL_REDUCE, RankGroup.TENSOR, size) == pytest.approx(2 * one)


@pytest.mark.parametrize("kind", list(Kind))
def test_one_rank_talks_to_nobody(kind: Kind) -> None:
    assert NETWORK.costs(Layout()).time(kind, RankGroup.DATA, Bytes(1e9)) == 0
    assert NETWORK.costs(Layout(data=2)).time(kind, RankGroup.DATA, Bytes(0.0)) == 0


@given(kind=st.sampled_from(list(Kind)), data=st.sampled_from([2, 4, 8, 16, 64]), size=st.floats(1e3, 1e10))
def test_collectives_grow_with_size_and_leave_the_server_at_a_price(kind: Kind, data: int, size: float) -> None:
    costs = NETWORK.costs(Layout(data=data))
    assert costs.time(kind, RankGroup.DATA, Bytes(size)) < costs.time(kind, RankGroup.DATA, Bytes(2 * size))
    near, far = NETWORK.costs(Layout(data=8)), NETWORK.costs(Layout(tensor=8, data=8))
    assert near.time(kind, RankGroup.DATA, Bytes(size)) < far.time(kind, RankGroup.DATA, Bytes(size))


def test_a_group_without_links_is_refused() -> None:
    alone = NominalNetwork(8, BytesPerSecond(100e9), BytesPerSecond(0.0))
    with pytest.raises(AnalysisError, match="no link"):
        alone.costs(Layout(data=16)).time(Kind.ALL_REDUCE, RankGroup.DATA, Bytes(1.0))


def test_time_to_train_by_hand() -> None:
    found = time_to_train(
        Seconds(0.5),
        100,
        10_000,
        validation=Validation(300, 2_000, Ratio(0.5)),
        checkpoint_stall=Seconds(2.0),
        checkpoint_every=25,
        startup=Seconds(10.0),
    )
    assert (found.steps, found.phases) == (100, 5)
    assert found.training == 50
    assert found.validation == 5 * 3 * 0.25
    assert found.checkpoints == 4 * 2
    assert found.total == 50 + 3.75 + 8 + 10


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((0.0, 1, 1), {}),
        ((1.0, 0, 1), {}),
        ((1.0, 1, 0), {}),
        ((1.0, 1, 1), {"checkpoint_every": -1}),
        ((1.0, 1, 1), {"validation": Validation(0, 1)}),
        ((1.0, 1, 1), {"validation": Validation(1, 0)}),
    ],
)
def test_a_run_of_nothing_is_refused(args: tuple[float, int, float], kwargs: dict[str, object]) -> None:
    with pytest.raises(AnalysisError):
        time_to_train(*args, **kwargs)  # type: ignore[arg-type]


def curve(part: str, per_server: int, counts: list[int]):
    network = network_of(PARTS[part], per_server)

    def at(count: int) -> StepEstimate:
        layout = Layout(data=count)
        return estimate_step(
            model("resnet-50"),
            precision("fp16"),
            layout,
            64 * count,
            PARTS[part],
            network.costs(layout),
            software("tuned"),
        )

    return scaling_curve(counts, at)


def test_scaling_names_what_is_lost() -> None:
    points = curve("V100-16", 8, [1, 2, 4, 8, 16, 32])
    assert points[0].efficiency == 1
    assert points[0].main_cause == "none"
    assert [p.efficiency for p in points] == sorted((p.efficiency for p in points), reverse=True)
    for point in points:
        assert sum(point.losses.values()) == pytest.approx(1 - point.efficiency)
        assert point.speedup == pytest.approx(point.efficiency * point.accelerators)
    assert points[-1].main_cause == "data_communication"
    with pytest.raises(AnalysisError):
        scaling_curve([4, 2], lambda count: step())


def test_a_gain_that_cancels_a_loss_leaves_the_speedup_unsure() -> None:
    # base 100 ms; at 8: 12 of its 100 are lost to traffic, 12 spared: efficiency 1, and a quarter of 0.24 unsure.
    losses = MappingProxyType({"traffic": Ratio(0.12), "recompute": Ratio(-0.12)})
    low, high = ScalingPoint(8, PerSecond(8.0), Ratio(8.0), Ratio(1.0), losses).spread(Ratio(0.25))
    assert low == pytest.approx(1 / math.exp(0.06))
    assert high == pytest.approx(math.exp(0.06)), "without the loss it could be 1 / (1 - 0.12) = 1.136 at most"
    # Nothing but a loss of a tenth: it cannot do better than perfect scaling, 1 / 0.9 of what it does.
    lost = ScalingPoint(8, PerSecond(7.2), Ratio(7.2), Ratio(0.9), MappingProxyType({"traffic": Ratio(0.1)}))
    assert lost.spread(Ratio(2.0)) == pytest.approx((1 / math.exp(0.2), 1 / 0.9))


@given(
    tensor=st.sampled_from([1, 2, 8]),
    pipeline=st.sampled_from([1, 2, 8]),
    data=st.sampled_from([1, 2, 16]),
    micro=st.sampled_from([1, 4]),
    sharding=st.sampled_from(list(Sharding)),
    recompute=st.sampled_from(list(Recompute)),
)
def test_any_layout_keeps_the_books(
    tensor: int, pipeline: int, data: int, micro: int, sharding: Sharding, recompute: Recompute
) -> None:
    layout = Layout(tensor, pipeline, data, micro_batch=micro, sharding=sharding, recompute=recompute)
    found = step_model().estimate(layout, 128, NETWORK.costs(layout), must_fit=False)
    assert sum(found.parts.values()) == pytest.approx(found.step_time)
    assert all(value >= 0 for value in found.parts.values())
    assert 0 < found.mfu < 1
    assert found.low < found.step_time < found.high
    quick = step_model().estimate(layout, 128, PERFECT, must_fit=False)
    assert quick.step_time <= found.step_time


def test_gradients_in_buckets_and_weights_gathered_first_by_hand() -> None:
    """BERT on 4,096 A100 with 4 samples: half of an all-reduce is seen last, of the other a fifth or what hides not.

    In 2022 gradients were summed after the backward pass, so all of the all-reduce is seen.
    """
    shape, layout = model("bert-large"), Layout(data=4096, micro_batch=4)
    costs = network_of(PARTS["A100-80"], 8).costs(layout)
    whole = costs.time(Kind.ALL_REDUCE, RankGroup.DATA, Bytes(shape.parameters * 2))
    seen: dict[str, float] = {}
    for name in ("fused", "fused-2022"):
        found = estimate_step(
            shape, precision("fp16"), layout, 16384, PARTS["A100-80"], costs, software(name), sequence=256
        )
        seen[name] = found.data_communication / whole
    assert seen["fused-2022"] == pytest.approx(1, rel=0.02)
    assert seen["fused"] == pytest.approx(1 / 2 + 1 / 5 / 2, rel=0.02)


def test_what_a_step_may_take_instead_widens_its_band_in_squares() -> None:
    """By hand, with a tenth of what others take: ln 1.2 .18232 and ln 13 .25649 make .31469, ln .9 -.10536 and ln 1/8
    -.20794 make -.23311.
    """
    before = dataclasses.replace(step(), step_time=Seconds(1.0), low=Seconds(0.9), high=Seconds(1.2))
    after = widen_step(before, [13.0, 0.125])
    assert (after.low, after.step_time, after.high) == pytest.approx((0.7921, 1.0, 1.3698), abs=1e-4)
    assert widen_step(before, [1.0]).high == pytest.approx(before.high)


def test_tensor_parallel_traffic_hides_since_2023() -> None:
    """By hand: programs hide .621 of it since 2023-05, so before that 1 / .379 of it shows."""
    times = [
        estimate_step(
            model("llama-2-7b"),
            BF16,
            Layout(tensor=8),
            8,
            PARTS["H100"],
            NETWORK.costs(Layout(tensor=8)),
            software("transformer-engine", release, "hopper"),
            sequence=4096,
        ).tensor_communication
        for release in ("2023-04", "2023-05")
    ]
    assert times[0] / times[1] == pytest.approx(1 / (1 - 0.621))


def test_flux_computes_57_layers_and_keeps_all_parameters() -> None:
    """By hand: 6 x 57 x (12 x 3072^2 + attention of 512 tokens) x 512; 11.89 G weights in two bytes are 23.8 GB."""
    found = estimate_step(
        model("flux-1-schnell"),
        BF16,
        Layout(),
        1,
        PARTS["H100"],
        PERFECT,
        software("transformer-engine"),
        sequence=512,
        must_fit=False,
    )
    assert found.model_flop == pytest.approx(6 * 57 * (12 * 3072**2 + 2 * 512 * 3072) * 512, rel=0.001)
    assert found.memory.weights == pytest.approx(2 * 11_891_178_560, rel=0.001)


class _Far(NoCommunication):
    """Ranks of two servers with 1e10 B/s each; nothing but all-to-alls takes time."""

    def time(self, kind: Kind, group: RankGroup, size: Bytes) -> Seconds:
        return Seconds(size / 1e10 if kind is Kind.ALL_TO_ALL else 0.0)

    def servers(self, group: RankGroup) -> int:
        return 2


def test_half_of_the_features_of_another_server_shows() -> None:
    """By hand: 2048 seeds of 915 nodes of 1024 bytes are 1.919 GB, 191.9 ms at 1e10 B/s, half of it behind the batch
    before, which computes for longer; on one server nothing is fetched from another.
    """
    asked = model("rgat"), precision("fp16"), Layout(data=16), 16 * 2048, PARTS["H100"]
    far, near = (estimate_step(*asked, links, software("fused"), must_fit=False) for links in (_Far(), PERFECT))
    assert near.compute > 0.5 * 0.1919
    assert far.data_communication == pytest.approx(0.5 * 2048 * 915 * 1024 / 1e10)
    assert near.data_communication == 0.0
