"""The time of one training step, put together from computing, traffic, bubble, optimizer and input."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, cast

from designer.errors import AnalysisError
from designer.formulas.accelerator import Accelerator
from designer.formulas.calibration import share
from designer.formulas.communication import CommunicationCosts, Group, Kind
from designer.formulas.compute.convolutional_step import convolutional_time
from designer.formulas.compute.roofline import MEMORY_SHARE
from designer.formulas.compute.transformer_layer import LayerCost, head_cost, layer_cost
from designer.formulas.formula import Formula
from designer.formulas.layout import Layout, Recompute, Sharding, check_layout
from designer.formulas.memory.convolutional_memory import convolutional_memory, require_batch
from designer.formulas.memory.transformer_memory import (
    ADAPTERS,
    MemoryBreakdown,
    local_parameters,
    require_fit,
    transformer_memory,
    what_would_fit,
)
from designer.formulas.pipeline.bubble import bubble_fraction
from designer.formulas.pipeline.overlap import exposed_time
from designer.formulas.precision import Precision
from designer.formulas.shapes import ConvolutionalNumbers, TransformerNumbers, is_transformer
from designer.formulas.software import Software
from designer.sources import Constant, Status
from designer.units import Bytes, Flop, PerSecond, Ratio, Seconds

OPTIMIZER_TRAFFIC: Final = Constant(
    30.0, 26.0, 40.0, "counted-training", Status.DERIVED, "B", "Adam per parameter: gradient, copy, two moments, weight"
)
#: forward, and two backward: each matrix parameter is used three times per token, two operations each
TRAINING_PASSES: Final = Constant(3.0, 3.0, 3.0, "counted-training", Status.DERIVED)
COMMUNICATION_BAND: Final = Constant(0.30, 0.2, 0.5, "fit-training", Status.DERIVED, "1", "relative, of exposed traffic")
MODEL_BAND: Final = Constant(0.10, 0.06, 0.15, "fit-training", Status.DERIVED, "1", "residual of the open training points")


@dataclass(frozen=True, slots=True)
class InputStage:
    """How long each rank waits for its samples.

    Parameters
    ----------
    time
        Time to make the samples of one step ready, slowest rank [s].
    overlapped
        Whether they are made ready while the step before computes.
    """

    time: Seconds
    overlapped: bool = True


NO_INPUT: Final = InputStage(Seconds(0.0))


@dataclass(frozen=True, slots=True)
class StepEstimate:
    """One training step and where its time goes.

    The parts add up to `step_time`. `low` and `high` hold the step time with 80 % confidence.
    """

    step_time: Seconds
    low: Seconds
    high: Seconds
    compute: Seconds
    recompute: Seconds
    tensor_communication: Seconds
    context_communication: Seconds
    expert_communication: Seconds
    pipeline_communication: Seconds
    data_communication: Seconds
    bubble: Seconds
    optimizer: Seconds
    waiting: Seconds
    input_stall: Seconds
    samples_per_second: PerSecond
    tokens_per_second: PerSecond
    mfu: Ratio
    model_flop: Flop
    memory: MemoryBreakdown
    layout: Layout
    global_batch: int
    sources: tuple[str, ...] = field(repr=False, default=())

    @property
    def parts(self) -> Mapping[str, Seconds]:
        """The parts by name, largest first [s]."""
        names = (
            "compute", "recompute", "tensor_communication", "context_communication", "expert_communication",
            "pipeline_communication", "data_communication", "bubble", "optimizer", "waiting", "input_stall",
        )  # fmt: skip
        found = {name: cast("Seconds", getattr(self, name)) for name in names}
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    @property
    def communication(self) -> Seconds:
        """All exposed traffic [s]."""
        return Seconds(
            self.tensor_communication
            + self.context_communication
            + self.expert_communication
            + self.pipeline_communication
            + self.data_communication
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

    @property
    def total(self) -> float:
        return self.forward + self.backward + self.recompute + self.tensor + self.context + self.expert


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
            raise AnalysisError(f"a sequence of {sequence} tokens", remedy="give 1 token or more per sample")
        if shape.layers < 1:
            raise AnalysisError(f"{shape.name} has no layers", remedy="give a model with 1 layer or more")
        self.shape, self.accelerator = shape, accelerator
        self.precision, self.software = precision, software
        self.sequence, self.frozen = sequence, frozen
        self._layers: dict[tuple[object, ...], tuple[tuple[int, LayerCost], ...]] = {}
        self._heads: dict[tuple[object, ...], tuple[Seconds, Seconds]] = {}

    @property
    def model_flop_per_token(self) -> Flop:
        """Arithmetic the model needs per trained token, attention counted in full as MFU does [FLOP]."""
        shape = self.shape
        matrices = (shape.layers - shape.moe_layers) * (shape.attention_parameters + shape.dense_parameters)
        matrices += shape.moe_layers * (
            shape.attention_parameters
            + shape.moe_common_parameters
            + shape.experts_per_token * shape.expert_parameters
        )
        matrices += shape.vocabulary * shape.hidden * shape.predicted_share
        scores = shape.layers * shape.heads * (shape.head_dim + shape.value_head_dim) * self.sequence
        passes = 2 if self.frozen else TRAINING_PASSES.value
        return Flop(2 * (matrices * passes + scores * TRAINING_PASSES.value))

    def memory(self, layout: Layout, microbatches: int) -> MemoryBreakdown:
        """Memory of the fullest accelerator under a layout [B]."""
        return transformer_memory(
            self.shape, layout, self.accelerator, self.precision, self.software, self.sequence, microbatches, self.frozen
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
                self.shape, layout, self.accelerator, self.precision, self.software, self.sequence, microbatches,
                self.frozen,
            )  # fmt: skip
            require_fit(memory, options, self.shape, layout)
        return self._compose(layout, global_batch, microbatches, memory, communication, input_stage)

    def _costs(self, layout: Layout) -> tuple[tuple[int, LayerCost], ...]:
        """Layer costs with how many layers have them."""
        key = (
            layout.tensor, layout.context, layout.expert, layout.micro_batch, layout.sequence_parallel, layout.recompute,
        )  # fmt: skip
        found = self._layers.get(key)
        if found is None:
            found = tuple(
                (count, self._cost(layout, experts, windowed)) for count, experts, windowed in _kinds(self.shape) if count
            )
            self._layers[key] = found
        return found

    def _cost(self, layout: Layout, experts: bool, windowed: bool) -> LayerCost:
        return layer_cost(
            self.shape, layout, self.accelerator, self.precision, self.software, self.sequence,
            experts=experts, windowed=windowed, frozen=self.frozen,
        )  # fmt: skip

    def _head(self, layout: Layout) -> tuple[Seconds, Seconds]:
        key = (layout.tensor, layout.context, layout.micro_batch)
        found = self._heads.get(key)
        if found is None:
            found = head_cost(
                self.shape, layout, self.accelerator, self.precision, self.software, self.sequence, self.frozen
            )
            self._heads[key] = found
        return found

    def _stage(self, layout: Layout, communication: CommunicationCosts) -> _Pass:
        """The slowest stage for one microbatch."""
        sums = [0.0] * 6
        for count, cost in self._costs(layout):
            weight = count / self.shape.layers
            one = self._layer_pass(layout, cost, communication)
            for place, value in enumerate(
                (one.forward, one.backward, one.recompute, one.tensor, one.context, one.expert)
            ):
                sums[place] += weight * value
        parts = layout.pipeline * layout.interleave
        per_stage = math.ceil(self.shape.layers / parts) * layout.interleave
        left = max(0, self.shape.layers - per_stage * (layout.pipeline - 1))
        head_forward, head_backward = self._head(layout)
        last = sum(sums) * left + head_forward + head_backward
        middle = sum(sums) * per_stage
        if last >= middle:
            scaled = [value * left for value in sums]
            scaled[0] += head_forward
            scaled[1] += head_backward
            return _Pass(*scaled)
        return _Pass(*(value * per_stage for value in sums))

    def _layer_pass(self, layout: Layout, cost: LayerCost, communication: CommunicationCosts) -> _Pass:
        software = self.software
        visible = 1 - software.tensor_overlap.value
        tensor = expert = context = 0.0
        if cost.tensor_messages:
            passes = 2 + (1 if layout.recompute is Recompute.FULL else 0)
            if layout.sequence_parallel:
                one = communication.time(Kind.ALL_GATHER, Group.TENSOR, cost.tensor_bytes)
                one += communication.time(Kind.REDUCE_SCATTER, Group.TENSOR, cost.tensor_bytes)
                # the backward pass gathers the kept inputs once more
                again = communication.time(Kind.ALL_GATHER, Group.TENSOR, cost.tensor_bytes)
            else:
                one = communication.time(Kind.ALL_REDUCE, Group.TENSOR, cost.tensor_bytes)
                again = 0.0
            tensor = cost.tensor_messages * (passes * one + again) * visible
        if cost.expert_bytes:
            one = communication.time(Kind.ALL_TO_ALL, Group.EXPERT, cost.expert_bytes)
            expert = 2 * 2 * one * visible
        if cost.context_bytes:
            one = communication.time(Kind.ALL_GATHER, Group.CONTEXT, cost.context_bytes)
            context = exposed_time(one, cost.attention, Ratio(1.0))
            context += exposed_time(Seconds(2 * one), Seconds(2 * cost.attention), Ratio(1.0))
        return _Pass(cost.forward, cost.backward, cost.recompute, tensor, context, expert)

    def _data(self, layout: Layout, microbatches: int, stage: _Pass, communication: CommunicationCosts) -> float:
        """Exposed traffic among replicas in one step [s]."""
        if layout.replicas == 1:
            return 0.0
        common, routed = local_parameters(self.shape, layout)
        trained = ADAPTERS.value if self.frozen else 1
        parameters = common + routed / layout.expert
        overlap = Ratio(self.software.data_overlap.value)
        reduce_size = Bytes(trained * parameters * self.software.reduce_bytes.value)
        gather_size = Bytes(parameters * self.precision.weight_bytes.value)
        if layout.sharding is Sharding.PARAMETERS:
            gather = communication.time(Kind.ALL_GATHER, Group.DATA, gather_size)
            scatter = communication.time(Kind.REDUCE_SCATTER, Group.DATA, reduce_size)
            layers = math.ceil(self.shape.layers / layout.pipeline)
            first = 2 * gather / (layers + 1)
            forward = exposed_time(gather, Seconds(stage.forward), overlap)
            backward = exposed_time(
                Seconds(gather + scatter), Seconds(stage.backward + stage.recompute), overlap
            )
            return first + microbatches * (forward + backward)
        # An interleaved schedule finishes its chunks one after another over the last round of microbatches.
        rounds = min(microbatches, layout.pipeline) if layout.interleave > 1 else 1
        window = Seconds(rounds * (stage.backward + stage.recompute))
        ahead = Seconds(rounds * stage.forward)
        if layout.sharding is Sharding.NONE:
            traffic = communication.time(Kind.ALL_REDUCE, Group.DATA, reduce_size)
            return exposed_time(traffic, window, overlap)
        scatter = communication.time(Kind.REDUCE_SCATTER, Group.DATA, reduce_size)
        gather = communication.time(Kind.ALL_GATHER, Group.DATA, Bytes(trained * gather_size))
        return exposed_time(scatter, window, overlap) + exposed_time(gather, ahead, overlap)

    def _optimizer(self, layout: Layout) -> float:
        common, routed = local_parameters(self.shape, layout)
        trained = ADAPTERS.value if self.frozen else 1
        parameters = trained * (common + routed)
        if layout.sharding is not Sharding.NONE:
            parameters /= layout.replicas
        rate = self.accelerator.memory_bandwidth * MEMORY_SHARE.value
        return parameters * OPTIMIZER_TRAFFIC.value / rate + self.software.step_floor.value

    def _compose(
        self,
        layout: Layout,
        global_batch: int,
        microbatches: int,
        memory: MemoryBreakdown,
        communication: CommunicationCosts,
        input_stage: InputStage,
    ) -> StepEstimate:
        stage = self._stage(layout, communication)
        bubble = bubble_fraction(layout.pipeline, layout.interleave, microbatches) * microbatches * stage.total
        hops = 0.0
        if layout.pipeline > 1:
            tokens = layout.micro_batch * self.sequence / layout.context
            size = Bytes(tokens * self.shape.hidden * self.precision.activation_bytes.value / layout.tensor)
            one = communication.time(Kind.SEND, Group.PIPELINE, size)
            visible = 1 - self.software.tensor_overlap.value
            hops = 2 * one * layout.interleave * visible * (microbatches + (layout.pipeline - 1) / layout.interleave)
        parts = {
            "compute": microbatches * (stage.forward + stage.backward),
            "recompute": microbatches * stage.recompute,
            "tensor_communication": microbatches * stage.tensor,
            "context_communication": microbatches * stage.context,
            "expert_communication": microbatches * stage.expert,
            "pipeline_communication": hops,
            "data_communication": self._data(layout, microbatches, stage, communication),
            "bubble": bubble,
            "optimizer": self._optimizer(layout),
        }
        tokens = global_batch * self.sequence
        return _finish(
            parts, layout, global_batch, tokens, Flop(self.model_flop_per_token * tokens),
            self.accelerator, self.precision, self.software, memory, input_stage,
        )  # fmt: skip


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


def _finish(
    parts: Mapping[str, float],
    layout: Layout,
    global_batch: int,
    tokens: float,
    model_flop: Flop,
    accelerator: Accelerator,
    precision: Precision,
    software: Software,
    memory: MemoryBreakdown,
    input_stage: InputStage,
) -> StepEstimate:
    busy = sum(parts.values())
    waiting = busy * software.straggler.value * math.log2(layout.ranks)
    step = busy + waiting
    stall = max(0.0, input_stage.time - step) if input_stage.overlapped else input_stage.time
    total = step + stall
    low, high = _band(parts, total, accelerator, precision, software)
    peak = layout.ranks * accelerator.peak(precision.name)
    return StepEstimate(
        step_time=Seconds(total),
        low=Seconds(low),
        high=Seconds(high),
        compute=Seconds(parts["compute"]),
        recompute=Seconds(parts["recompute"]),
        tensor_communication=Seconds(parts["tensor_communication"]),
        context_communication=Seconds(parts["context_communication"]),
        expert_communication=Seconds(parts["expert_communication"]),
        pipeline_communication=Seconds(parts["pipeline_communication"]),
        data_communication=Seconds(parts["data_communication"]),
        bubble=Seconds(parts["bubble"]),
        optimizer=Seconds(parts["optimizer"]),
        waiting=Seconds(waiting),
        input_stall=Seconds(stall),
        samples_per_second=PerSecond(global_batch / total),
        tokens_per_second=PerSecond(tokens / total),
        mfu=Ratio(model_flop / (peak * total)),
        model_flop=model_flop,
        memory=memory,
        layout=layout,
        global_batch=global_batch,
        sources=_SOURCES,
    )


def _band(
    parts: Mapping[str, float], total: float, accelerator: Accelerator, precision: Precision, software: Software
) -> tuple[float, float]:
    """80 % band of the step: spread of the calibration, of exposed traffic and of the model itself, independent."""
    row = accelerator.calibration
    sustained, best = row.sustained, share(row.best, accelerator.runs_as(precision.name))
    computing = (parts["compute"] + parts["recompute"] + parts["bubble"]) / total
    traffic = sum(value for name, value in parts.items() if name.endswith("communication")) / total

    def spread(up: bool) -> float:
        def ratio(constant: Constant) -> float:
            edge = constant.low if up else constant.high
            return abs(math.log(constant.value / edge)) if edge > 0 else 0.0

        terms = (
            computing * ratio(sustained),
            computing * ratio(best),
            traffic * COMMUNICATION_BAND.value,
            MODEL_BAND.value,
        )
        return math.sqrt(sum(term * term for term in terms))

    return total * math.exp(-spread(up=False)), total * math.exp(spread(up=True))


_SOURCES: Final = (
    "megatron-2021", "megatron-sequence-2022", "roofline-2009", "zero-2020", "mamf", "memory-share", "fit-training",
    "assumed-training",
)  # fmt: skip


def convolutional_estimate(
    shape: ConvolutionalNumbers,
    accelerator: Accelerator,
    precision: Precision,
    software: Software,
    layout: Layout,
    global_batch: int,
    communication: CommunicationCosts,
    input_stage: InputStage = NO_INPUT,
    *,
    must_fit: bool = True,
) -> StepEstimate:
    """The step of a data-parallel convolutional network.

    Raises
    ------
    AnalysisError
        If the layout splits anything but the batch, or the local batch does not fit.
    """
    if layout.ranks != layout.data:
        raise AnalysisError(
            f"{shape.name} is trained data-parallel only", place="layout", remedy="set every other degree to 1"
        )
    if global_batch < layout.data:
        raise AnalysisError(
            f"a global batch of {global_batch} leaves some of {layout.data} accelerators without a sample",
            remedy=f"give {layout.data} samples or more",
        )
    local = global_batch / layout.data
    if must_fit:
        require_batch(shape, local, accelerator, precision)
    compute = convolutional_time(shape, local, accelerator, precision, software)
    size = Bytes(shape.parameters * software.reduce_bytes.value)
    traffic = communication.time(Kind.ALL_REDUCE, Group.DATA, size) if layout.data > 1 else Seconds(0.0)
    window = Seconds(compute * BACKWARD_SHARE.value)
    rate = accelerator.memory_bandwidth * MEMORY_SHARE.value
    parts = dict.fromkeys(
        ("recompute", "tensor_communication", "context_communication", "expert_communication",
         "pipeline_communication", "bubble"), 0.0,
    )  # fmt: skip
    parts |= {
        "compute": compute,
        "data_communication": exposed_time(traffic, window, Ratio(software.data_overlap.value)),
        "optimizer": shape.parameters * OPTIMIZER_TRAFFIC.value / rate,
    }
    flop = Flop(TRAINING_PASSES.value * shape.flop_forward * global_batch)
    memory = convolutional_memory(shape, local, accelerator, precision)
    return _finish(
        parts, layout, global_batch, global_batch, flop, accelerator, precision, software, memory, input_stage
    )


BACKWARD_SHARE: Final = Constant(0.6, 0.5, 0.667, "counted-training", Status.DERIVED, "1", "of a step, less the first layers")


def estimate_step(
    shape: TransformerNumbers | ConvolutionalNumbers,
    precision: Precision,
    layout: Layout,
    global_batch: int,
    accelerator: Accelerator,
    communication: CommunicationCosts,
    software: Software,
    *,
    sequence: int = 1,
    input_stage: InputStage = NO_INPUT,
    frozen: bool = False,
    must_fit: bool = True,
) -> StepEstimate:
    """The time of one training step and where it goes.

    Parameters
    ----------
    shape
        A transformer or a convolutional network.
    global_batch
        Samples per step over all replicas.
    communication
        Times of collectives, from a routed design or nominal rates.
    sequence
        Tokens computed per sample (transformers).
    input_stage
        How long samples take to arrive.
    frozen
        Only adapters are trained.
    must_fit
        Refuse what does not fit in memory.

    Raises
    ------
    AnalysisError
        If the layout, batch or memory do not go together; the message says what would.
    """
    if is_transformer(shape):
        model = TransformerStep(
            cast("TransformerNumbers", shape), accelerator, precision, software, sequence, frozen=frozen
        )
        return model.estimate(layout, global_batch, communication, input_stage, must_fit=must_fit)
    return convolutional_estimate(
        cast("ConvolutionalNumbers", shape), accelerator, precision, software, layout, global_batch, communication,
        input_stage, must_fit=must_fit,
    )  # fmt: skip


FORMULA: Final = Formula(
    "training-step", "Training step", estimate_step, _SOURCES, "synchronous training; steady state"
)
