"""How a model is spread over accelerators: degrees, sharding, recompute, and whether they can go together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

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
    SELECTIVE = "selective"  #: the attention scores only
    FULL = "full"  #: every layer from its input


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

    @property
    def ranks(self) -> int:
        """Accelerators used."""
        return self.tensor * self.context * self.data * self.pipeline

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
        return global_batch // at_once

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
        return " ".join(parts)


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
    stages = layout.pipeline * layout.interleave
    if stages > shape.layers:
        raise _refuse(
            f"{stages} pipeline stages for {shape.layers} layers of {shape.name}", "use fewer stages or interleaves"
        )
    if layout.interleave > 1 and layout.pipeline == 1:
        raise _refuse("an interleaved schedule needs a pipeline of 2 or more", "set interleave to 1")
    if layout.expert > 1:
        if not shape.experts:
            raise _refuse(f"{shape.name} has no experts to spread", "set the expert degree to 1")
        if shape.experts % layout.expert or layout.replicas % layout.expert:
            raise _refuse(
                f"an expert degree of {layout.expert} does not divide both the {shape.experts} experts and the "
                f"{layout.replicas} ranks of data and context parallelism",
                f"choose a divisor of {math.gcd(shape.experts, layout.replicas)}",
            )
