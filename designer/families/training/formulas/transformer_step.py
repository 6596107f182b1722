"""A training step of a transformer under one layout."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

from designer.errors import AnalysisError
from designer.families.training.formulas.bubble import bubble_fraction, scheduled_bubble
from designer.families.training.formulas.overlap import exposed_time
from designer.families.training.formulas.step_composition import (
    NO_INPUT,
    InputStage,
    StepEstimate,
    StepFrame,
    compose_step,
    seen,
    spread_of,
)
from designer.families.training.formulas.transformer_memory import (
    ADAPTERS,
    MemoryBreakdown,
    local_parameters,
    require_fit,
    transformer_memory,
    what_would_fit,
)
from designer.formulas.accelerator import Accelerator
from designer.formulas.calibration import share
from designer.formulas.communication import CommunicationCosts, Kind, RankGroup
from designer.formulas.compute.roofline import MEMORY_SHARE
from designer.formulas.compute.transformer_layer import LayerCost, head_cost, layer_cost
from designer.formulas.formula import Formula
from designer.formulas.layout import Layout, Recompute, Schedule, Sharding, check_layout, stage_layers
from designer.formulas.precision import Precision
from designer.formulas.shapes import TransformerNumbers
from designer.formulas.software import Software
from designer.sources import Constant, Status
from designer.units import Bytes, Flop, FlopPerSecond, Ratio, Seconds

#: forward, and two backward: each matrix parameter is used three times per token, two operations each
TRAINING_PASSES: Final = Constant(3.0, 3.0, 3.0, "counted-training", Status.DERIVED)
ATTENTION_TENSORS: Final = Constant(
    4.0, 2.0, 4.0, "counted-training", Status.DERIVED, "1", "queries, keys, values, output; two where the first are one"
)
#: widens the band alone: no published run with experts is among those fitted
EXPERTS_PACE: Final = Constant(
    1.0, 0.65, 1.05, "assumed-training", Status.ASSUMED, "1", "uneven rows of grouped products, routing on the host"
)
#: while traffic of experts runs behind computing: multiprocessors that send and receive
EXPERT_UNITS: Final = Constant(
    20 / 132, 0.1, 0.2, "deepseek-v3-2024", Status.PRIMARY, "1", "20 multiprocessors of 132 on H800"
)
#: widens the band alone: releases of the programs for adapters differ
ADAPTERS_PACE: Final = Constant(
    1.0, 0.80, 1.05, "fit-training", Status.DERIVED, "1", "low: runs on 64 and 1024 accelerators over their estimates"
)


@dataclass(frozen=True, slots=True)
class _Pass:
    """One microbatch through one stage: time by part, forward and backward together [s]."""

    forward: float
    backward: float
    recompute: float
    tensor: float
    context: float
    expert: float
    #: of `backward`, gradients of weights
    weights: float

    @property
    def traffic(self) -> float:
        return self.tensor + self.context + self.expert

    @property
    def total(self) -> float:
        return self.forward + self.backward + self.recompute + self.traffic

    def times(self, count: float) -> _Pass:
        """So many of it one after another."""
        return _Pass(*(count * value for value in self.values))

    @property
    def values(self) -> tuple[float, ...]:
        """The parts in their order."""
        return self.forward, self.backward, self.recompute, self.tensor, self.context, self.expert, self.weights


class TransformerStep:
    """Step times of one transformer on one kind of accelerator; keeps layer costs, so many layouts are cheap."""

    def __init__(
        self,
        shape: TransformerNumbers,
        accelerator: Accelerator,
        precision: Precision,
        software: Software,
        sequence: int,
        *,
        frozen: bool = False,
    ) -> None:
        if sequence < 1:
            raise AnalysisError(
                f"a sequence of {sequence} tokens", place="sequence", remedy="give 1 token or more per sample"
            )
        if shape.layers < 1:
            raise AnalysisError(f"{shape.name} has no layers", remedy="give a model with 1 layer or more")
        self.shape, self.accelerator = shape, accelerator
        self.precision, self.software = precision, software
        self.sequence, self.frozen = sequence, frozen
        self._layers: dict[tuple[object, ...], tuple[tuple[float, LayerCost], ...]] = {}
        self._heads: dict[tuple[object, ...], tuple[Seconds, Seconds]] = {}

    @property
    def model_flop_per_token(self) -> Flop:
        """Arithmetic the model needs per trained token, attention counted in full as MFU does [FLOP]."""
        shape = self.shape
        matrices = (shape.layers - shape.moe_layers) * (shape.attention_parameters + shape.dense_parameters)
        matrices += shape.moe_layers * (
            shape.attention_parameters + shape.moe_common_parameters + shape.experts_per_token * shape.expert_parameters
        )
        matrices += shape.vocabulary * shape.hidden * shape.predicted_share
        scores = shape.layers * shape.heads * (shape.head_dim + shape.value_head_dim) * self.sequence
        passes = 2 if self.frozen else TRAINING_PASSES.value
        return Flop(2 * (matrices * passes + scores * TRAINING_PASSES.value))

    def memory(self, layout: Layout, microbatches: int) -> MemoryBreakdown:
        """Memory of the fullest accelerator under a layout [B]."""
        return transformer_memory(
            self.shape,
            layout,
            self.accelerator,
            self.precision,
            self.software,
            self.sequence,
            microbatches,
            self.frozen,
        )

    def estimate(
        self,
        layout: Layout,
        global_batch: int,
        communication: CommunicationCosts,
        input_stage: InputStage = NO_INPUT,
        *,
        must_fit: bool = True,
    ) -> StepEstimate:
        """The step under one layout.

        Raises
        ------
        AnalysisError
            If the layout does not divide the model or batch, or does not fit in memory.
        """
        check_layout(layout, self.shape, self.sequence)
        microbatches = layout.microbatches(global_batch)
        memory = self.memory(layout, microbatches)
        if must_fit and not memory.fits:
            options = what_would_fit(
                self.shape,
                layout,
                self.accelerator,
                self.precision,
                self.software,
                self.sequence,
                microbatches,
                self.frozen,
            )
            require_fit(memory, options, self.shape, layout)
        return self._compose(layout, global_batch, microbatches, memory, communication, input_stage)

    def _costs(self, layout: Layout) -> tuple[tuple[float, LayerCost], ...]:
        """Layer costs with how many layers have them."""
        key = (
            layout.tensor,
            layout.context,
            layout.expert,
            layout.micro_batch,
            layout.sequence_parallel,
            layout.recompute,
        )
        found = self._layers.get(key)
        if found is None:
            found = tuple(
                (count, self._cost(layout, experts, windowed))
                for count, experts, windowed in _kinds(self.shape)
                if count
            )
            self._layers[key] = found
        return found

    def _cost(self, layout: Layout, experts: bool, windowed: bool) -> LayerCost:
        return layer_cost(
            self.shape,
            layout,
            self.accelerator,
            self.precision,
            self.software,
            self.sequence,
            experts=experts,
            windowed=windowed,
            frozen=self.frozen,
        )

    def _head(self, layout: Layout) -> tuple[Seconds, Seconds]:
        key = (layout.tensor, layout.context, layout.micro_batch)
        found = self._heads.get(key)
        if found is None:
            found = head_cost(
                self.shape, layout, self.accelerator, self.precision, self.software, self.sequence, self.frozen
            )
            self._heads[key] = found
        return found

    def _stages(self, layout: Layout, communication: CommunicationCosts) -> tuple[_Pass, _Pass]:
        """The slowest stage for one microbatch, and the mean of the others."""
        layers = [
            self._layer_pass(layout, cost, communication).times(count / self.shape.layers)
            for count, cost in self._costs(layout)
        ]
        mean = _Pass(*(sum(values) for values in zip(*(one.values for one in layers), strict=True)))
        spread = stage_layers(self.shape.layers, layout)
        per_stage, left = spread.middle, spread.last
        head_forward, head_backward = self._head(layout)
        last = mean.times(left)
        last = replace(last, forward=last.forward + head_forward, backward=last.backward + head_backward)
        middle = mean.times(per_stage)
        if last.total < middle.total:
            return middle, middle if layout.pipeline == 1 else self._mean_of_other_stages(layout.pipeline, middle, last)
        return last, middle

    @staticmethod
    def _mean_of_other_stages(stages: int, middle: _Pass, last: _Pass) -> _Pass:
        """The mean of a last stage and all middle ones but the one that is waited for."""
        share = 1 / (stages - 1)
        return _Pass(*(share * one + (1 - share) * many for one, many in zip(last.values, middle.values, strict=True)))

    def _layer_pass(self, layout: Layout, cost: LayerCost, communication: CommunicationCosts) -> _Pass:
        software = self.software
        visible = 1 - software.tensor_overlap.value
        tensor = expert = context = 0.0
        if cost.tensor_messages:
            passes = 2 + (1 if layout.recompute is Recompute.FULL else 0)
            if layout.sequence_parallel:
                one = communication.time(Kind.ALL_GATHER, RankGroup.TENSOR, cost.tensor_bytes)
                one += communication.time(Kind.REDUCE_SCATTER, RankGroup.TENSOR, cost.tensor_bytes)
                # the backward pass gathers the kept inputs once more
                again = communication.time(Kind.ALL_GATHER, RankGroup.TENSOR, cost.tensor_bytes)
            else:
                one = communication.time(Kind.ALL_REDUCE, RankGroup.TENSOR, cost.tensor_bytes)
                again = 0.0
            tensor = cost.tensor_messages * (passes * one + again) * visible
        if cost.expert_bytes:
            # a token is sent before its expert starts, and comes back after it ends
            out, back = self._expert_bytes(layout, cost.expert_bytes, communication.servers(RankGroup.EXPERT))
            one = communication.time(Kind.ALL_TO_ALL, RankGroup.EXPERT, out)
            expert = 2 * (one + communication.time(Kind.ALL_TO_ALL, RankGroup.EXPERT, back))
        if cost.context_bytes:
            one = communication.time(Kind.ALL_GATHER, RankGroup.CONTEXT, cost.context_bytes)
            context = exposed_time(one, cost.attention, Ratio(1.0))
            context += exposed_time(Seconds(2 * one), Seconds(2 * cost.attention), Ratio(1.0))
        return _Pass(cost.forward, cost.backward, cost.recompute, tensor, context, expert, cost.weights)

    def _expert_bytes(self, layout: Layout, whole: Bytes, servers: int) -> tuple[Bytes, Bytes]:
        """What a rank sends to experts and back [B].

        Programs that run a pipeline from both ends send a token once to every server and pass it on there, out in the
        format of products (DeepSeek-V3 2024, sections 3.2.2 and 3.3.3).
        """
        if layout.schedule is not Schedule.DUAL_PIPE:
            return whole, whole
        out = self.precision.matrix_bytes.value / self.precision.activation_bytes.value
        once = 1.0
        if servers > 1:
            experts = self.shape.experts_per_token
            reached = servers * (1 - (1 - 1 / servers) ** experts)
            once = min(reached, self.shape.token_groups or reached) / experts
        return Bytes(whole * out * once), Bytes(whole * once)

    def _data(self, layout: Layout, microbatches: int, stage: _Pass, communication: CommunicationCosts) -> float:
        """Exposed traffic among replicas in one step [s]."""
        if layout.replicas == 1:
            return 0.0
        common, routed = local_parameters(self.shape, layout)
        trained = ADAPTERS.value if self.frozen else 1
        parameters = common + routed
        overlap = self.software.hidden_gradients
        ahead_share = Ratio(0.0) if self.software.gathers_first else overlap
        reduce_size = Bytes(trained * parameters * self.software.reduce_bytes.value)
        gather_size = Bytes(parameters * self.precision.weight_bytes.value)
        if layout.sharding is Sharding.PARAMETERS:
            gather = communication.time(Kind.ALL_GATHER, RankGroup.DATA, gather_size)
            scatter = communication.time(Kind.REDUCE_SCATTER, RankGroup.DATA, reduce_size)
            layers = stage_layers(self.shape.layers, layout).most
            first = 2 * gather / (layers + 1)
            forward = exposed_time(gather, Seconds(stage.forward), overlap)
            backward = exposed_time(Seconds(gather + scatter), Seconds(stage.backward + stage.recompute), overlap)
            return first + microbatches * (forward + backward)
        # An interleaved schedule finishes its chunks one after another over the last round of microbatches.
        rounds = min(microbatches, layout.pipeline) if layout.interleave > 1 else 1
        window = Seconds(rounds * (stage.backward + stage.recompute))
        ahead = Seconds(rounds * stage.forward)
        if layout.sharding is Sharding.NONE and not self.software.gathers_first:
            traffic = communication.time(Kind.ALL_REDUCE, RankGroup.DATA, reduce_size)
            return exposed_time(traffic, window, overlap)
        scatter = communication.time(Kind.REDUCE_SCATTER, RankGroup.DATA, reduce_size)
        gather = communication.time(Kind.ALL_GATHER, RankGroup.DATA, Bytes(trained * gather_size))
        if self.software.gathers_first:
            # shares are those of a server, sums over servers an all-reduce: as long as one over all ranks in two halves
            both = communication.time(Kind.ALL_REDUCE, RankGroup.DATA, reduce_size)
            scatter, gather = (Seconds(min(whole, both / 2)) for whole in (scatter, gather))
        if layout.sharding is Sharding.GRADIENTS:
            # Only a part of the sums is kept, so every microbatch is scattered; of an interleaved schedule, every
            # round, in which a virtual stage runs a microbatch for each stage one after another.
            scatters = math.ceil(microbatches / rounds)
            return scatters * exposed_time(scatter, window, overlap) + exposed_time(gather, ahead, ahead_share)
        return exposed_time(scatter, window, overlap) + exposed_time(gather, ahead, ahead_share)

    def _optimizer(self, layout: Layout) -> float:
        common, routed = local_parameters(self.shape, layout)
        trained = ADAPTERS.value if self.frozen else 1
        parameters = trained * (common + routed)
        if layout.sharding is not Sharding.NONE or self.software.gathers_first:
            parameters /= layout.replicas * layout.copies
        rate = self.accelerator.memory_bandwidth * MEMORY_SHARE.value
        kernels = self.software.optimizer_kernels.value * self._tensors(layout)
        floor = self.software.step_floor.value + kernels * self.software.launch.value
        return parameters * self.software.optimizer.value / rate + floor

    def _tensors(self, layout: Layout) -> float:
        """Tensors that the optimizer of a rank updates: of each layer its matrices, biases and norms, or its share."""
        shape = self.shape
        if layout.sharding is not Sharding.NONE:
            return shape.layers / layout.pipeline
        biased = 2 if shape.biases else 1
        attention = ATTENTION_TENSORS.value * biased + 2 * shape.norm_vectors
        feeds = shape.layers - shape.moe_layers + shape.moe_layers * max(1.0, shape.experts / layout.expert)
        return (shape.layers * attention + feeds * (2 + shape.gated) * biased) / layout.pipeline

    def _compose(
        self,
        layout: Layout,
        global_batch: int,
        microbatches: int,
        memory: MemoryBreakdown,
        communication: CommunicationCosts,
        input_stage: InputStage,
    ) -> StepEstimate:
        stage, others = self._stages(layout, communication)
        stage, alone = self._overlapped_microbatch(layout, stage), stage
        if layout.schedule is Schedule.ONE_ONE:
            # a pipeline fills and drains at the pace of its other stages
            bubble = bubble_fraction(layout.pipeline, layout.interleave, microbatches) * microbatches * others.total
        else:
            bubble = self._bubble(layout, alone, stage)
        parts = {
            "compute": microbatches * (stage.forward + stage.backward),
            "recompute": microbatches * stage.recompute,
            "tensor_communication": microbatches * stage.tensor,
            "context_communication": microbatches * stage.context,
            "expert_communication": microbatches * stage.expert,
            "pipeline_communication": self._hops(layout, microbatches, communication),
            "data_communication": self._data(layout, microbatches, stage, communication),
            "bubble": bubble,
            "optimizer": self._optimizer(layout),
        }
        tokens = global_batch * self.sequence
        name = self.precision.name
        frame = StepFrame(
            layout,
            global_batch,
            tokens,
            Flop(self.model_flop_per_token * tokens),
            FlopPerSecond(layout.ranks * self.accelerator.peak(name)),
            Ratio(self.software.straggler.value),
            memory,
            seen(self.software, self.accelerator, self.precision),
        )
        return compose_step(parts, frame, spread_of(self._doubts(layout)), input_stage)

    def _hops(self, layout: Layout, microbatches: int, communication: CommunicationCosts) -> float:
        """Exposed traffic between the stages of a pipeline in one step [s].

        Notes
        -----
        A chunk that arrives while another one computes is hidden: of an interleaved pipeline all but those of the
        first ``pipeline`` microbatches, which fill it and drain it.
        """
        if layout.pipeline == 1:
            return 0.0
        tokens = layout.micro_batch * self.sequence / layout.context
        size = Bytes(tokens * self.shape.hidden * self.precision.activation_bytes.value / layout.tensor)
        one = communication.time(Kind.SEND, RankGroup.PIPELINE, size)
        full = max(0, microbatches - layout.pipeline) if layout.interleave > 1 else 0
        seen = microbatches - full * self.software.pipeline_overlap.value
        hops = 2 * one * (layout.interleave * seen + layout.pipeline - 1)
        return hops * (1 - self.software.expert_overlap.value) if layout.schedule is Schedule.DUAL_PIPE else hops

    def _overlapped_microbatch(self, layout: Layout, stage: _Pass) -> _Pass:
        """One microbatch through the slowest stage where the passes of another one hide the traffic of experts."""
        if layout.schedule is not Schedule.DUAL_PIPE or not stage.expert:
            return stage
        slower = stage.times(1 / (1 - EXPERT_UNITS.value))
        work = Seconds(slower.total - slower.expert)
        return replace(
            slower, expert=exposed_time(Seconds(stage.expert), work, Ratio(self.software.expert_overlap.value))
        )

    @staticmethod
    def _bubble(layout: Layout, alone: _Pass, both: _Pass) -> float:
        """Idle time of schedules that make gradients of weights when nothing else can be done [s]."""
        # of all traffic that is not hidden, half belongs to the forward pass
        forward = alone.forward + alone.traffic / 2
        backward = alone.backward + alone.recompute + alone.traffic / 2
        return scheduled_bubble(
            layout.schedule,
            layout.pipeline,
            Seconds(forward),
            Seconds(backward),
            Seconds(alone.weights),
            Seconds(both.total),
        )

    def _doubts(self, layout: Layout) -> list[tuple[float, Constant]]:
        """Constants that computing rests on, with the share of it that each decides."""
        row, software = self.accelerator.calibration, self.software
        costs = self._costs(layout)
        whole = sum(count * (cost.forward + cost.backward) for count, cost in costs) + sum(self._head(layout))
        scores = sum(count * cost.scores for count, cost in costs) / whole
        passes = sum(count * cost.pointwise for count, cost in costs) / whole
        products = 1 - passes - (scores if software.fused_attention else 0.0)
        terms = [
            (products, row.sustained),
            (products, share(row.best, self.accelerator.runs_as(self.precision.name))),
            (products, self.accelerator.clock(self.precision.name)),
            (-passes, software.pointwise),
        ]
        if software.fused_attention:
            terms += [(scores, row.fused_attention), (scores, software.attention)]
        if self.frozen:
            terms.append((1, ADAPTERS_PACE))
        if self.shape.moe_layers:
            terms.append((self.shape.moe_layers / self.shape.layers, EXPERTS_PACE))
        return terms


def _kinds(shape: TransformerNumbers) -> tuple[tuple[float, bool, bool], ...]:
    """Layers by whether they have experts and a window; windows are spread evenly over both."""
    dense = shape.layers - shape.moe_layers
    windowed = shape.windowed_layers / shape.layers
    return (
        (dense * (1 - windowed), False, False),
        (dense * windowed, False, True),
        (shape.moe_layers * (1 - windowed), True, False),
        (shape.moe_layers * windowed, True, True),
    )


def transformer_step(
    shape: TransformerNumbers,
    precision: Precision,
    layout: Layout,
    global_batch: int,
    accelerator: Accelerator,
    communication: CommunicationCosts,
    software: Software,
    sequence: int,
) -> StepEstimate:
    """The step of one transformer under one layout; see ``TransformerStep`` for many layouts."""
    return TransformerStep(shape, accelerator, precision, software, sequence).estimate(
        layout, global_batch, communication
    )


FORMULA: Final = Formula(
    "transformer-step",
    "Transformer training step",
    transformer_step,
    ("megatron-2021", "megatron-sequence-2022", "zero-2020", "fit-training", "deepseek-v3-2024"),
    "one-forward-one-backward, zero-bubble and two-ended schedules; steady state",
)
