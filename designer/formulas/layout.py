"""How a model is spread over accelerators: degrees, sharding, recompute, and whether they can go together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from designer.errors import AnalysisError
from designer.formulas.shapes import TransformerNumbers


class Sharding(StrEnum):
    """What the ranks of the data-parallel group split among them instead of each keeping a copy."""

    NONE = "none"
    OPTIMIZER = "optimizer"  #: ZeRO-1, the distributed optimizer
    GRADIENTS = "gradients"  #: ZeRO-2
    PARAMETERS = "parameters"  #: ZeRO-3, FSDP full shard


class Recompute(StrEnum):
    """Which activations are computed again in the backward pass instead of being kept."""

    NONE = "none"
    POINTWISE = "pointwise"  #: results of norms, of activation functions and of products that widen latents
    SELECTIVE = "selective"  #: the attention scores only
    FULL = "full"  #: every layer from its input


class Schedule(StrEnum):
    """In which order stages of a pipeline run the passes of its microbatches."""

    ONE_ONE = "1f1b"  #: one forward, one backward, interleaved or not
    ZERO_BUBBLE = "zero-bubble"  #: ZB1P: gradients of weights fill what the pipeline leaves empty
    DUAL_PIPE = "dual-pipe"  #: from both ends at once, traffic of experts behind the passes of another microbatch


#: what training programs offer as a rule: searches try these
COMMON: Final = (Recompute.NONE, Recompute.SELECTIVE, Recompute.FULL)


@dataclass(frozen=True, slots=True)
class Layout:
    """Degrees of parallelism and the choices that go with them.

    Ranks are laid out tensor first, then context, then data, then pipeline, so tensor groups are the closest together;
    expert groups are taken out of the context and data ranks, as Megatron does.
    """

    tensor: int = 1
    pipeline: int = 1
    data: int = 1
    context: int = 1
    expert: int = 1
    interleave: int = 1
    micro_batch: int = 1
    sequence_parallel: bool = False
    sharding: Sharding = Sharding.NONE
    recompute: Recompute = Recompute.NONE
    schedule: Schedule = Schedule.ONE_ONE

    @property
    def virtual_stages(self) -> int:
        """Parts the layers are cut into: `interleave` for each stage of the pipeline."""
        return self.pipeline * self.interleave

    @property
    def ranks(self) -> int:
        """Accelerators used."""
        return self.tensor * self.context * self.data * self.pipeline

    @property
    def copies(self) -> int:
        """Ranks of a pipeline that hold the same stage: both ends of one that runs from both."""
        return 2 if self.schedule is Schedule.DUAL_PIPE else 1

    @property
    def replicas(self) -> int:
        """Ranks over which gradients are summed: data times context."""
        return self.data * self.context

    def microbatches(self, global_batch: int) -> int:
        """Microbatches each pipeline runs in a step.

        Raises
        ------
        AnalysisError
            If the global batch is not a multiple of the samples that run at once.
        """
        at_once = self.data * self.micro_batch
        if global_batch < 1:
            raise AnalysisError(
                f"a batch of {global_batch} samples holds nothing",
                place="global_batch",
                remedy="give a batch of 1 or more",
            )
        if global_batch % at_once:
            raise AnalysisError(
                f"a global batch of {global_batch} does not divide over {self.data} data-parallel ranks "
                f"with microbatches of {self.micro_batch}",
                place="global_batch",
                remedy=f"take a multiple of {at_once}, for example {max(1, round(global_batch / at_once)) * at_once}",
            )
        found = global_batch // at_once
        if self.copies > 1 and found % self.copies:
            raise AnalysisError(
                f"{found} microbatches do not divide over both ends of a pipeline",
                place="global_batch",
                remedy=f"take a multiple of {self.copies * at_once}",
            )
        return found

    def describe(self) -> str:
        """Short text, such as ``TP8 PP16 DP8 v3 mb1 selective``."""
        parts = [f"TP{self.tensor}", f"PP{self.pipeline}", f"DP{self.data}"]
        parts += [f"CP{self.context}"] if self.context > 1 else []
        parts += [f"EP{self.expert}"] if self.expert > 1 else []
        parts += [f"v{self.interleave}"] if self.interleave > 1 else []
        parts += [f"mb{self.micro_batch}"]
        parts += ["SP"] if self.sequence_parallel else []
        parts += [f"shard-{self.sharding}"] if self.sharding is not Sharding.NONE else []
        parts += [f"recompute-{self.recompute}"] if self.recompute is not Recompute.NONE else []
        parts += [str(self.schedule)] if self.schedule is not Schedule.ONE_ONE else []
        return " ".join(parts)


class StageLayers(NamedTuple):
    """Layers on the first stage of a pipeline, on the last, and on each of the others."""

    first: int
    last: int
    middle: int

    @property
    def most(self) -> int:
        """Layers of the fullest stage."""
        return max(self)


#: the embedding and the head, where each takes the place of a layer
ENDS: Final = 2


def ends_hold_layers(layers: int, layout: Layout) -> bool:
    """True if the embedding and the head each take the place of a layer."""
    parts = layout.virtual_stages
    return layout.pipeline > 1 and layers % parts > 0 and (layers + ENDS) % parts == 0


def stage_layers(layers: int, layout: Layout) -> StageLayers:
    """How the layers of a model are spread over the stages of a pipeline.

    Where layers do not divide evenly and two more would, the embedding and the head take the place of a layer each,
    as in Llama 3.1 405B (126 layers in 128 virtual stages) and by Megatron's options that account for them. Otherwise
    all stages but the last have the same number, rounded up.
    """
    parts = layout.virtual_stages
    if layout.pipeline == 1:
        return StageLayers(layers, layers, layers)
    if ends_hold_layers(layers, layout):
        each = (layers + ENDS) // layout.pipeline
        return StageLayers(each - 1, each - 1, each if layout.pipeline > ENDS else each - 1)
    each = math.ceil(layers / parts) * layout.interleave
    return StageLayers(each, max(0, layers - each * (layout.pipeline - 1)), each)


def _refuse(text: str, remedy: str) -> AnalysisError:
    return AnalysisError(text, place="layout", remedy=remedy)


def check_layout(layout: Layout, shape: TransformerNumbers, sequence: int, accelerators: int | None = None) -> None:
    """Refuse a layout that cannot split this model evenly.

    Raises
    ------
    AnalysisError
        Naming the degree and the size it does not divide.
    """
    for name in ("tensor", "pipeline", "data", "context", "expert", "interleave", "micro_batch"):
        degree = getattr(layout, name)
        if degree < 1:
            raise _refuse(f"{name} is {degree}", "every degree is 1 or more")
    if accelerators is not None and layout.ranks != accelerators:
        raise _refuse(
            f"{layout.describe()} uses {layout.ranks} accelerators, {accelerators} are given",
            "make tensor x context x data x pipeline equal the number of accelerators",
        )
    for name, degree, size in (
        ("attention heads", layout.tensor, shape.heads),
        ("feed-forward columns", layout.tensor, max(shape.ffn, shape.expert_ffn)),
        ("tokens of a sequence", layout.context * (layout.tensor if layout.sequence_parallel else 1), sequence),
    ):
        if size % degree:
            raise _refuse(
                f"{size} {name} of {shape.name} do not divide by {degree}", "choose a degree that divides them"
            )
    stages = layout.virtual_stages
    if stages > shape.layers and stages != shape.layers + ENDS:
        raise _refuse(
            f"{stages} pipeline stages for {shape.layers} layers of {shape.name}",
            f"use fewer stages or interleaves; {shape.layers + ENDS} stages hold the embedding and the head as well",
        )
    _check_schedule(layout)
    if layout.expert > 1:
        if not shape.experts:
            raise _refuse(f"{shape.name} has no experts to spread", "set the expert degree to 1")
        if shape.experts % layout.expert or layout.replicas % layout.expert:
            raise _refuse(
                f"an expert degree of {layout.expert} does not divide both the {shape.experts} experts and the "
                f"{layout.replicas} ranks of data and context parallelism",
                f"choose a divisor of {math.gcd(shape.experts, layout.replicas)}",
            )


def _check_schedule(layout: Layout) -> None:
    if layout.interleave > 1 and layout.pipeline == 1:
        raise _refuse("an interleaved schedule needs a pipeline of 2 or more", "set interleave to 1")
    if layout.schedule is not Schedule.ONE_ONE and (layout.interleave > 1 or layout.pipeline == 1):
        raise _refuse(
            f"a {layout.schedule} schedule needs a pipeline of 2 or more, not interleaved", "set the schedule to 1f1b"
        )
    if layout.schedule is Schedule.DUAL_PIPE and layout.pipeline % 2:
        raise _refuse(f"a pipeline of {layout.pipeline} stages from both ends", "use an even number of stages")
