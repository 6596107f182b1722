"""What the training program does with the hardware: fused kernels, what it overlaps, what it wastes. Stated presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from designer.errors import AnalysisError
from designer.sources import Constant, Status


@dataclass(frozen=True, slots=True)
class Software:
    """A class of training programs.

    Parameters
    ----------
    fused_attention
        Attention scores never reach memory.
    dropout
        Hidden states and scores pass through dropout.
    tensor_overlap, data_overlap
        Share of the tensor- and data-parallel traffic that runs behind matrix products [1].
    pointwise, attention
        Memory passes of pointwise kernels against fully fused ones, and speed of the fused attention kernel against
        the one its generation is calibrated for [1].
    selective
        Share of a layer's products and pointwise kernels that selective recomputation runs again besides attention
        scores, and of its activations that need not be kept [1].
    launch
        Time one kernel adds besides its work: launch, ramp and tail [s].
    step_floor
        Time a step takes however small its batch: host, under-filled kernels, optimizer launches [s].
    convolution_traffic
        Memory passes over the activations of a convolutional network per training step, 16 bit [1].
    layer_latency
        Time the kernels of one convolutional layer take in a training step however little they compute [s].
    reduce_bytes
        Bytes per gradient sent to the other replicas [B].
    straggler
        Share of the step lost per doubling of the ranks that wait for each other [1].
    """

    name: str
    fused_attention: bool
    dropout: bool
    tensor_overlap: Constant
    data_overlap: Constant
    pointwise: Constant
    attention: Constant
    selective: Constant
    launch: Constant
    step_floor: Constant
    convolution_traffic: Constant
    layer_latency: Constant
    reduce_bytes: Constant
    straggler: Constant


def _fitted(value: float, low: float, high: float, note: str, unit: str = "1") -> Constant:
    return Constant(value, low, high, "fit-training", Status.DERIVED, unit, note)


def _assumed(value: float, low: float, high: float, note: str, unit: str = "1") -> Constant:
    return Constant(value, low, high, "assumed-training", Status.ASSUMED, unit, note)


_NONE: Final = _assumed(0.0, 0.0, 0.0, "blocking")
_FULL: Final = _assumed(1.0, 0.8, 1.2, "the calibrated kernel")
_FUSED: Final = _assumed(1.0, 0.9, 1.2, "fused as counted")
#: every second product is kept, the result of attention always
_EVERY_SECOND: Final = Constant(
    0.5, 0.35, 0.65, "torchtitan-selective", Status.SECONDARY, "1", "every second product is kept, and attention"
)
_LAUNCH: Final = _assumed(5e-6, 3e-6, 8e-6, "per kernel", "s")
_EAGER_LAUNCH: Final = _assumed(8e-6, 5e-6, 12e-6, "per kernel", "s")
_MODERN: Final = _assumed(0.9, 0.7, 1.05, "FlashAttention-2 on A100; on H100 0.35 of peak where 0.45 is calibrated")
_HOST: Final = _assumed(5e-3, 2e-3, 10e-3, "per step", "s")
_STRAGGLER: Final = _fitted(0.004, 0.001, 0.01, "BERT-large on 1 to 256 A100: 1.1 % at 8, 5 % at 256")
_FUSED_PASSES: Final = _fitted(11.6, 10.0, 13.0, "ResNet-50 under MXNet: 31 points, 4 % median residual")
_TUNED_PASSES: Final = _fitted(16.0, 13.0, 20.0, "ResNet-50 under tuned PyTorch, A100 and V100: 4 points, 10 % spread")
_EAGER_PASSES: Final = _fitted(
    35.0, 28.0, 41.0, "ResNet-50, plain PyTorch on V100, A100, H100, Ada: 16 points, 13 % spread"
)
_HALF: Final = _assumed(2.0, 2.0, 4.0, "16-bit gradients", "B")
_SINGLE: Final = _assumed(4.0, 2.0, 4.0, "32-bit gradients", "B")
_BEHIND: Final = _assumed(0.8, 0.5, 1.0, "buckets behind the backward pass")

_MEGATRON_2022: Final = Software(
    "megatron-2022",
    fused_attention=False,
    dropout=True,
    tensor_overlap=_NONE,
    data_overlap=_NONE,
    pointwise=_FUSED,
    attention=_FULL,
    selective=_NONE,
    launch=_LAUNCH,
    step_floor=_HOST,
    convolution_traffic=_TUNED_PASSES,
    layer_latency=_fitted(
        420e-6, 200e-6, 700e-6, "ResNet-50 and Inception-v3 at 32 and 64 samples on P100: 20 points", "s"
    ),
    reduce_bytes=_SINGLE,
    straggler=_STRAGGLER,
)
_TUNED: Final = replace(
    _MEGATRON_2022,
    name="tuned",
    data_overlap=_BEHIND,
    pointwise=_fitted(1.9, 1.5, 2.3, "BERT-large under tuned PyTorch: 19 points, 1 % median residual"),
    reduce_bytes=_HALF,
)

_FSDP: Final = replace(
    _TUNED,
    name="fsdp",
    fused_attention=True,
    dropout=False,
    # gathers take memory bandwidth and multiprocessors from the computing they hide behind
    data_overlap=_fitted(0.4, 0.25, 0.6, "MPT 125M to 70B on A100 and H100: 55 points, 3 % median residual"),
    pointwise=_fitted(2.1, 1.7, 2.4, "the same runs"),
    selective=_EVERY_SECOND,
    attention=_fitted(0.54, 0.45, 0.8, "the same runs, sequences of 2048 to 32768; a kernel of early 2023"),
)

SOFTWARE: Final[Mapping[str, Software]] = MappingProxyType(
    {
        row.name: row
        for row in (
            _MEGATRON_2022,
            replace(
                _MEGATRON_2022,
                name="transformer-engine",
                fused_attention=True,
                dropout=False,
                tensor_overlap=_fitted(0.6, 0.3, 0.8, "GPT-3 and Llama 3 on H100: 14 points, 6 % median residual"),
                data_overlap=_BEHIND,
                convolution_traffic=_FUSED_PASSES,
            ),
            _FSDP,
            replace(
                _TUNED,
                name="fused",
                fused_attention=True,
                pointwise=_fitted(1.3, 1.0, 1.9, "BERT-large, MLPerf on A100 and H100: 10 points, 14 % spread"),
                layer_latency=_fitted(
                    68e-6, 50e-6, 240e-6, "ResNet-50 at 16 to 65 samples each on V100, A100, H100: 9 points", "s"
                ),
                step_floor=_assumed(2e-3, 1e-3, 4e-3, "graph launch", "s"),
                convolution_traffic=_FUSED_PASSES,
            ),
            replace(
                _FSDP,
                name="fsdp-compiled",
                pointwise=_assumed(1.3, 1.0, 1.9, "fused by a compiler as the MLPerf programs are by hand"),
                attention=_MODERN,
            ),
            replace(
                _FSDP,
                name="fsdp-eager",
                pointwise=_assumed(
                    3.2, 2.4, 4.0, "root-mean-square norms, rotation and gates counted kernel by kernel"
                ),
                attention=_MODERN,
                launch=_EAGER_LAUNCH,
            ),
            _TUNED,
            replace(
                _TUNED,
                name="eager",
                pointwise=_fitted(1.7, 1.3, 2.1, "BERT-large fine-tuning on A100, H100, V100: 15 points, 6 % median"),
                launch=_EAGER_LAUNCH,
                convolution_traffic=_EAGER_PASSES,
            ),
        )
    }
)


def software(name: str) -> Software:
    """The class of training programs called `name`.

    Raises
    ------
    AnalysisError
        If there is none.
    """
    found = SOFTWARE.get(name)
    if found is None:
        raise AnalysisError(f"{name!r} is no known training program", remedy=f"use one of {', '.join(SOFTWARE)}")
    return found


#: what people write for their framework, longest hint first
_HINTS: Final = (
    ("transformer engine", "transformer-engine"),
    ("nemo", "transformer-engine"),
    ("megatron", "transformer-engine"),
    ("foundry", "fsdp"),
    ("fsdp", "fsdp"),
    ("torchtitan", "fsdp"),
    ("mxnet", "fused"),
    ("mlperf", "fused"),
    ("deepspeed", "tuned"),
    ("ngc", "tuned"),
    ("dali", "tuned"),
    ("pytorch", "eager"),
    ("tensorflow", "tuned"),
)


def software_for(framework: str, *, fused_attention: bool | None = None) -> Software:
    """The preset closest to the framework a person names; ``tuned`` when nothing is recognised.

    `fused_attention` false turns a Megatron run into the one of 2022, before fused attention.
    """
    text = framework.lower()
    for hint, name in _HINTS:
        if hint in text:
            if fused_attention is False and name == "transformer-engine":
                return SOFTWARE["megatron-2022"]
            return SOFTWARE[name]
    return SOFTWARE["tuned"]
