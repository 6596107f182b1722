"""Schedules of a pipeline other than one forward, one backward; cases worked by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from designer.errors import AnalysisError
from designer.families.training.formulas.bubble import scheduled_bubble
from designer.families.training.formulas.step_composition import StepEstimate
from designer.families.training.formulas.transformer_step import TransformerStep
from designer.formulas.accelerator import Accelerator
from designer.formulas.communication import Kind, RankGroup
from designer.formulas.layout import Layout, Schedule, Sharding, check_layout
from designer.formulas.precision import precision
from designer.formulas.software import software
from designer.units import Bytes, BytesPerSecond, FlopPerSecond, Seconds
from designer.workload.models import model
from designer.workload.shape import TransformerShape

H800 = Accelerator(
    "H800",
    {"bf16": FlopPerSecond(989e12), "fp8": FlopPerSecond(1979e12)},
    BytesPerSecond(3.35e12),
    Bytes(85.5e9),
    "hopper",
    "module",
)
LAYOUT = Layout(1, 16, 128, expert=64, sharding=Sharding.OPTIMIZER)


class Recorded:
    """A network where all traffic takes as long; keeps what experts are sent."""

    def __init__(self, seconds: float, servers: int) -> None:
        self.seconds, self.count = seconds, servers
        self.sizes: list[float] = []

    def time(self, kind: Kind, group: RankGroup, size: Bytes) -> Seconds:
        if group is not RankGroup.EXPERT:
            return Seconds(0.0)
        assert kind is Kind.ALL_TO_ALL
        self.sizes.append(float(size))
        return Seconds(self.seconds)

    def servers(self, group: RankGroup) -> int:
        return self.count


def trainer() -> TransformerStep:
    shape = model("deepseek-v3")
    assert isinstance(shape, TransformerShape)
    return TransformerStep(shape, H800, precision("fp8"), software("transformer-engine"), 4096)


def step(schedule: Schedule, network: Recorded) -> StepEstimate:
    return trainer().estimate(replace(LAYOUT, schedule=schedule), 15360, network, must_fit=False)


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [(Schedule.ONE_ONE, 7 * 9.0), (Schedule.ZERO_BUBBLE, 7 * 4.0), (Schedule.DUAL_PIPE, 3 * (8.0 + 6.0 - 7.5))],
)
def test_bubbles(schedule: Schedule, expected: float) -> None:
    """Eight stages, forward 3 s, backward 6 s of which 2.5 s make gradients of weights, both together 8 s."""
    found = scheduled_bubble(schedule, 8, Seconds(3.0), Seconds(6.0), Seconds(2.5), Seconds(8.0))
    assert found == pytest.approx(expected)


def test_a_token_is_sent_once_to_a_server() -> None:
    """4,096 tokens of 7,168 values: to 8 experts in 16 bit, or to 4 servers, in 8 bit on the way out."""
    plain, both = Recorded(0.0, 8), Recorded(0.0, 8)
    step(Schedule.ONE_ONE, plain)
    step(Schedule.DUAL_PIPE, both)
    assert set(plain.sizes) == {4096 * 8 * 7168 * 2.0}
    assert sorted(set(both.sizes)) == [4096 * 4 * 7168 * 1.0, 4096 * 4 * 7168 * 2.0]


def test_a_token_goes_to_as_many_servers_as_its_experts_are_in() -> None:
    """Without groups, of 8 experts on 8 servers 8 (1 - (7/8)^8) = 5.25 servers; inside a server all 8 are sent."""
    shape = trainer().shape
    assert isinstance(shape, TransformerShape)
    for servers, copies in ((8, 8 * (1 - (7 / 8) ** 8)), (1, 8.0)):
        network = Recorded(0.0, servers)
        one = TransformerStep(replace(shape, token_groups=0), H800, precision("fp8"), software("fsdp"), 4096)
        one.estimate(replace(LAYOUT, schedule=Schedule.DUAL_PIPE), 15360, network, must_fit=False)
        assert max(network.sizes) == pytest.approx(4096 * copies * 7168 * 2)


def test_traffic_of_experts_hides_behind_computing() -> None:
    """Four layers a stage, four messages each of 1 ms: 16 ms a microbatch show, or none while 112 of 132 units work."""
    shown, hidden = step(Schedule.ONE_ONE, Recorded(1e-3, 8)), step(Schedule.DUAL_PIPE, Recorded(1e-3, 8))
    assert shown.expert_communication == pytest.approx(120 * 4 * 58 / 61 * 4e-3)
    assert hidden.expert_communication == 0
    assert hidden.compute == pytest.approx(shown.compute * 132 / 112)
    # what takes longer than computing does shows
    longer = step(Schedule.DUAL_PIPE, Recorded(1.0, 8))
    assert longer.compute + longer.expert_communication == pytest.approx(120 * 4 * 58 / 61 * 4.0)


def test_both_ends_hold_two_stages_and_one_more_microbatch() -> None:
    one, two = (step(s, Recorded(0.0, 8)).memory for s in (Schedule.ONE_ONE, Schedule.DUAL_PIPE))
    assert two.weights == pytest.approx(2 * one.weights)
    assert two.gradients == pytest.approx(2 * one.gradients)
    assert two.optimizer == pytest.approx(one.optimizer)
    assert two.activations == pytest.approx(one.activations * 17 / 16)


@pytest.mark.parametrize(
    ("layout", "said"),
    [
        (Layout(1, 1, 64, schedule=Schedule.ZERO_BUBBLE), "needs a pipeline of 2 or more"),
        (Layout(1, 4, 16, interleave=2, schedule=Schedule.DUAL_PIPE), "not interleaved"),
        (Layout(1, 3, 16, schedule=Schedule.DUAL_PIPE), "3 stages from both ends"),
    ],
)
def test_what_a_schedule_needs(layout: Layout, said: str) -> None:
    with pytest.raises(AnalysisError, match=said):
        check_layout(layout, trainer().shape, 4096)


def test_microbatches_divide_over_both_ends() -> None:
    with pytest.raises(AnalysisError, match="3 microbatches do not divide over both ends"):
        replace(LAYOUT, schedule=Schedule.DUAL_PIPE).microbatches(3 * 128)
