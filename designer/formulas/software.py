"""What the training program does with the hardware: fused kernels, what it overlaps, what it wastes. Stated presets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from designer.errors import AnalysisError
from designer.sources import Constant, Status
from designer.units import Ratio

#: the program nobody stated anything of
UNKNOWN: Final = "unknown"

_NO_KERNELS: Final = Constant(0, 0, 0, "pytorch-optimizers", Status.PRIMARY, "1", "one for many tensors")
_MANY: Final = Constant(0, 0, 0, "assumed-training", Status.ASSUMED, "1", "as many as layers")


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
    pipeline_overlap
        Share of the transfers between stages that runs behind computing while an interleaved pipeline is full [1].
    expert_overlap
        Share of the traffic of experts that runs behind computing where the schedule of the pipeline lets it [1].
    pointwise, attention
        Memory passes of pointwise kernels against fully fused ones, and speed of the fused attention kernel against
        the one its generation is calibrated for [1].
    selective
        Share of a layer's products and pointwise kernels that selective recomputation runs again in addition to
        attention
        scores, and of its activations that need not be kept [1].
    optimizer, optimizer_kernels
        Memory traffic of an optimizer step per parameter: Adam in one kernel, or operation by operation [B]; and
        kernels it launches for each tensor of parameters, 0 where one kernel takes many tensors [1].
    launch
        Time one kernel adds in addition to its work: launch, ramp and tail [s].
    casts
        Share of the passes that copy values in 16 bit to 8 bit; 0 where kernels write 8 bit at once [1].
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
    buckets
        Parts that gradients are summed in, the last of them with nothing left to hide behind; 0 where there are many.
    gathers_first
        Weights that were updated in shares, those of a server, are gathered before the next forward pass starts.
    fitted_on
        Generations and number formats of the published runs its constants are fitted on.
    """

    name: str
    fused_attention: bool
    dropout: bool
    tensor_overlap: Constant
    data_overlap: Constant
    pointwise: Constant
    attention: Constant
    selective: Constant
    optimizer: Constant
    launch: Constant
    casts: Constant
    step_floor: Constant
    convolution_traffic: Constant
    layer_latency: Constant
    reduce_bytes: Constant
    straggler: Constant
    expert_overlap: Constant
    pipeline_overlap: Constant
    buckets: Constant = _MANY
    optimizer_kernels: Constant = _NO_KERNELS
    gathers_first: bool = False
    fitted_on: frozenset[tuple[str, str]] = frozenset()

    @property
    def hidden_gradients(self) -> Ratio:
        """Most of the sum of gradients that the backward pass hides: all that starts early, never the last bucket."""
        last = 1 / self.buckets.value if self.buckets.value else 0.0
        return Ratio(min(self.data_overlap.value, 1 - last))


def _fitted(value: float, low: float, high: float, note: str, unit: str = "1") -> Constant:
    return Constant(value, low, high, "fit-training", Status.DERIVED, unit, note)


def _assumed(value: float, low: float, high: float, note: str, unit: str = "1") -> Constant:
    return Constant(value, low, high, "assumed-training", Status.ASSUMED, unit, note)


def _runs(*generations: str) -> frozenset[tuple[str, str]]:
    """Pairs from texts of a generation and its number formats."""
    return frozenset((name, one) for name, *formats in (text.split() for text in generations) for one in formats)


_NONE: Final = _assumed(0.0, 0.0, 0.0, "blocking")
_FULL: Final = _assumed(1.0, 0.8, 1.2, "the calibrated kernel")
_FUSED: Final = _assumed(1.0, 0.9, 1.2, "fused as counted")
#: every second product is kept, the result of attention always
_EVERY_SECOND: Final = Constant(
    0.5, 0.35, 0.65, "torchtitan-selective", Status.SECONDARY, "1", "every second product is kept, and attention"
)
_ONE_KERNEL: Final = Constant(
    30.0, 26.0, 40.0, "counted-training", Status.DERIVED, "B", "gradient, copy, two moments, weight"
)
_BY_OPERATION: Final = Constant(
    80.0,
    30.0,
    110.0,
    "counted-training",
    Status.DERIVED,
    "B",
    "decay 8, moments 12 and 20, root and scaling 24, update 16",
)
_EACH_TENSOR: Final = Constant(
    8, 7, 12, "counted-training", Status.DERIVED, "1", "decay, two moments in three, root, scaling, division, update"
)
_OWN_KERNELS: Final = _assumed(1.0, 0.5, 1.0, "copies to 8 bit are kernels of their own")
_LAUNCH: Final = _assumed(5e-6, 3e-6, 8e-6, "per kernel", "s")
_EAGER_LAUNCH: Final = _assumed(8e-6, 5e-6, 12e-6, "per kernel", "s")
_MODERN: Final = _assumed(0.85, 0.7, 1.05, "FlashAttention-2 on A100; on H100 0.35 of peak where 0.45 is calibrated")
_HOST: Final = _assumed(5e-3, 2e-3, 10e-3, "per step", "s")
_STRAGGLER: Final = _fitted(0.004, 0.001, 0.01, "BERT-large on 1 to 256 A100: 1.1 % at 8, 5 % at 256")
_FUSED_PASSES: Final = _fitted(11.34, 10.0, 13.0, "ResNet-50 under MXNet: 31 points, 4 % median residual")
_TUNED_PASSES: Final = _fitted(17.3, 13.5, 20.0, "ResNet-50 under tuned PyTorch, A100 and V100: 4 points, 10 % spread")
_EAGER_PASSES: Final = _fitted(
    35.7, 28.0, 42.0, "ResNet-50, plain PyTorch on V100, A100, H100, Ada: 16 points, 13 % spread"
)
_HALF: Final = _assumed(2.0, 2.0, 4.0, "16-bit gradients", "B")
_SINGLE: Final = _assumed(4.0, 2.0, 4.0, "32-bit gradients", "B")
_ALL_BEHIND: Final = Constant(
    1.0, 0.8, 1.0, "deepseek-v3-2024", Status.SECONDARY, "1", "both all-to-all and pipeline traffic fully hidden"
)
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
    optimizer=_ONE_KERNEL,
    launch=_LAUNCH,
    casts=_OWN_KERNELS,
    step_floor=_HOST,
    convolution_traffic=_TUNED_PASSES,
    layer_latency=_fitted(
        490e-6, 270e-6, 850e-6, "ResNet-50 and Inception-v3 at 32 and 64 samples on P100: 20 points", "s"
    ),
    reduce_bytes=_SINGLE,
    straggler=_STRAGGLER,
    expert_overlap=_ALL_BEHIND,
    pipeline_overlap=_NONE,
    fitted_on=_runs("ampere fp16 bf16"),
)
_TUNED: Final = replace(
    _MEGATRON_2022,
    name="tuned",
    fitted_on=_runs("volta fp16 fp32", "ampere fp16 bf16 tf32", "pascal fp32", "kepler fp32"),
    data_overlap=_BEHIND,
    pointwise=_fitted(1.786, 1.4, 2.2, "BERT-large under tuned PyTorch: 19 points, 2 % median residual; MPT"),
    reduce_bytes=_HALF,
)

_TRANSFORMER_ENGINE: Final = replace(
    _MEGATRON_2022,
    name="transformer-engine",
    fitted_on=_runs("hopper fp8", "blackwell fp8", "cdna3 fp8", "cdna4 fp8"),
    fused_attention=True,
    dropout=False,
    pipeline_overlap=Constant(
        1.0, 0.5, 1.0, "megatron-schedules", Status.PRIMARY, "1", "received while another chunk computes"
    ),
    tensor_overlap=_fitted(0.621, 0.4, 0.85, "GPT-3 and Llama 3 on H100: 14 points, 6 % median residual"),
    data_overlap=_BEHIND,
    convolution_traffic=_FUSED_PASSES,
)

_EIGHT_BIT_ATTENTION: Final = replace(
    _TRANSFORMER_ENGINE,
    name="transformer-engine-fp8-attention",
    attention=Constant(
        1.5, 1.2, 1.8, "flash-attention-3", Status.SECONDARY, "1", "forward 1.2 against 0.74 PFLOP/s on H100"
    ),
)
_FIRST_ON_BLACKWELL: Final = replace(
    _EIGHT_BIT_ATTENTION,
    attention=_fitted(0.769, 0.5, 1.0, "Llama 2 70B with adapters on B200, MLPerf v5.0: 3 points, 1 %"),
)

_EARLY_ATTENTION: Final = _fitted(
    0.45, 0.37, 0.8, "MPT on A100 and H100, sequences of 2048 to 32768; a kernel of early 2023"
)
_FSDP: Final = replace(
    _TUNED,
    name="fsdp",
    fitted_on=_runs("ampere bf16 fp16", "hopper bf16 fp16"),
    fused_attention=True,
    dropout=False,
    # gathers take memory bandwidth and multiprocessors from the computing they hide behind
    data_overlap=_fitted(0.317, 0.15, 0.55, "MPT 125M to 70B on A100 and H100: 55 points, 3 % median residual"),
    selective=_EVERY_SECOND,
    attention=_EARLY_ATTENTION,
)

#: nobody stated how this program works: its bands hold what the others do, fused or not, overlapped or not
_UNKNOWN: Final = replace(
    _TUNED,
    name=UNKNOWN,
    fused_attention=True,
    dropout=False,
    tensor_overlap=_assumed(0.3, 0.0, 0.75, "between blocking and the most that is known"),
    data_overlap=_assumed(0.5, 0.0, 1.0, "between blocking and all hidden"),
    pipeline_overlap=_assumed(0.5, 0.0, 1.0, "between blocking and all hidden"),
    pointwise=_assumed(1.8, 1.0, 4.0, "between fused by hand and operation by operation"),
    attention=_assumed(0.6, 0.15, 1.2, "between scores kept in memory and the calibrated kernel"),
    optimizer=_assumed(40.0, 26.0, 110.0, "between one kernel and operation by operation", "B"),
    launch=_assumed(6e-6, 3e-6, 30e-6, "per kernel, its ramp and tail with it", "s"),
    casts=_assumed(1.0, 0.0, 1.0, "between kernels of their own and none"),
    convolution_traffic=_assumed(18.0, 10.0, 42.0, "between the best and the plainest that is known"),
    reduce_bytes=_assumed(2.8, 2.0, 4.0, "16-bit or 32-bit gradients", "B"),
    fitted_on=_runs(),
)

#: programs of MLPerf, replayed as one graph; LAMB in shares, whose weights are gathered before the next forward pass
_FUSED_2023: Final = replace(
    _TUNED,
    name="fused",
    fitted_on=_runs("volta fp16 fp32", "ampere fp16 bf16 tf32", "hopper fp16 bf16 fp8", "blackwell fp8"),
    fused_attention=True,
    pointwise=_FUSED,
    launch=_fitted(11.3e-6, 6e-6, 18e-6, "BERT-large, MLPerf: 39 points; launch, ramp and tail", "s"),
    casts=_assumed(0.2, 0.0, 0.5, "norms and GELU write 8 bit themselves"),
    layer_latency=_assumed(
        66e-6,
        50e-6,
        240e-6,
        "the joint fit gives 59, with which published rates of small batches fall out of their limits",
        "s",
    ),
    step_floor=_assumed(2e-3, 1e-3, 4e-3, "graph launch", "s"),
    convolution_traffic=_FUSED_PASSES,
    buckets=Constant(5, 5, 5, "mlperf-bert", Status.SECONDARY),
    gathers_first=True,
)

_FUSED_2022: Final = replace(
    _FUSED_2023,
    name="fused-2022",
    # the kernel that the early one grew from
    attention=_EARLY_ATTENTION,
    data_overlap=Constant(
        0.0, 0.0, 0.8, "mlperf-bert", Status.SECONDARY, "1", "gradients summed after the backward pass"
    ),
    buckets=_MANY,
)

SOFTWARE: Final[Mapping[str, Software]] = MappingProxyType(
    {
        row.name: row
        for row in (
            _MEGATRON_2022,
            _TRANSFORMER_ENGINE,
            _EIGHT_BIT_ATTENTION,
            _FSDP,
            _FUSED_2023,
            _FUSED_2022,
            replace(
                _FSDP,
                name="fsdp-compiled",
                fitted_on=_runs(),
                pointwise=_assumed(1.3, 1.0, 1.9, "fused by a compiler as the MLPerf programs are by hand"),
                attention=_MODERN,
            ),
            replace(
                _FSDP,
                name="fsdp-eager",
                fitted_on=_runs(),
                pointwise=_assumed(
                    3.2, 2.4, 4.0, "root-mean-square norms, rotation and gates counted kernel by kernel"
                ),
                attention=_MODERN,
                optimizer=_BY_OPERATION,
                launch=_EAGER_LAUNCH,
            ),
            _TUNED,
            _UNKNOWN,
            replace(
                _TUNED,
                name="eager",
                fitted_on=_runs("volta fp16", "ampere fp16 tf32 bf16", "ada fp16", "hopper fp16 tf32 bf16"),
                pointwise=_fitted(1.466, 1.1, 2.0, "BERT-large fine-tuning on A100, H100, V100: 15 points, 6 % median"),
                optimizer=_BY_OPERATION,
                launch=_EAGER_LAUNCH,
                convolution_traffic=_EAGER_PASSES,
            ),
        )
    }
)


def _dated(value: float, low: float, high: float, note: str) -> Constant:
    return Constant(value, low, high, "training-releases", Status.SECONDARY, "1", note)


_LOOPS: Final = {"optimizer": _BY_OPERATION, "optimizer_kernels": _EACH_TENSOR}
_BEFORE_CUDNN: Final = replace(
    _TRANSFORMER_ENGINE,
    attention=_dated(0.78, 0.6, 1.0, "FlashAttention-2, 0.35 of the peak of H100 where 0.45 is calibrated"),
)
_BEFORE_OVERLAP: Final = replace(_TRANSFORMER_ENGINE, tensor_overlap=_NONE)


@dataclass(frozen=True, slots=True)
class _Dated:
    """What a program does up to a month.

    Parameters
    ----------
    until
        The last year and month; empty for all later ones.
    generation
        The generation of accelerators that its kernels were new on; empty where it is any.
    """

    until: str
    row: Software
    generation: str = ""


#: what programs did, the earliest first; the row of SOFTWARE holds for months after the last
_DATED: Final[Mapping[str, tuple[_Dated, ...]]] = MappingProxyType(
    {
        "fused": (
            _Dated("2020-12", replace(_FUSED_2022, fused_attention=False)),
            _Dated("2022-12", _FUSED_2022),
        ),
        "transformer-engine": (
            _Dated("2023-02", replace(_BEFORE_OVERLAP, fused_attention=False)),
            _Dated("2023-04", replace(_BEFORE_CUDNN, tensor_overlap=_NONE), "hopper"),
            _Dated("2023-04", _BEFORE_OVERLAP),
            _Dated("2023-12", _BEFORE_CUDNN, "hopper"),
        ),
        _EIGHT_BIT_ATTENTION.name: (_Dated("2025-06", _FIRST_ON_BLACKWELL, "blackwell"),),
        "fsdp": (
            _Dated("2023-02", replace(_FSDP, fused_attention=False)),
            # PyTorch 2.2 of January 2024 doubled the speed of scaled_dot_product_attention
            _Dated("2023-12", _FSDP),
            _Dated("", replace(_FSDP, attention=_MODERN, fitted_on=_runs())),
        ),
        "fsdp-compiled": (_Dated("2023-12", replace(SOFTWARE["fsdp-compiled"], attention=_FSDP.attention)),),
        "fsdp-eager": (
            _Dated("2023-02", replace(SOFTWARE["fsdp-eager"], fused_attention=False, **_LOOPS)),
            _Dated("2023-12", replace(SOFTWARE["fsdp-eager"], attention=_FSDP.attention)),
        ),
        "tuned": (
            # scaled_dot_product_attention of PyTorch 2.0
            _Dated("2023-02", _TUNED),
            _Dated("2023-12", replace(_TUNED, fused_attention=True, attention=_FSDP.attention, fitted_on=_runs())),
            _Dated("", replace(_TUNED, fused_attention=True, attention=_MODERN, fitted_on=_runs())),
        ),
        # FlashAttention was published in 2022-05
        UNKNOWN: (_Dated("2022-04", replace(_UNKNOWN, fused_attention=False)),),
        "eager": (_Dated("2023-02", replace(SOFTWARE["eager"], **_LOOPS)),),
    }
)
#: the first and the last month of a program; empty where it is still released
_SPANS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "transformer-engine": ("2022-09", ""),
        _EIGHT_BIT_ATTENTION.name: ("2024-04", ""),
        "megatron-2022": ("2021-04", "2023-12"),
        "fused-2022": ("", "2022-12"),
        "fsdp": ("2022-03", ""),
        "fsdp-eager": ("2022-03", ""),
        "fsdp-compiled": ("2023-03", ""),
    }
)
#: the first month that programs trained in a number format
_FORMATS: Final[Mapping[str, str]] = MappingProxyType({"tf32": "2020-05", "fp8": "2022-09", "nvfp4": "2025-09"})
#: the month in which accelerators of a generation were there: no earlier release ran on them
_GENERATIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ampere": "2020-05",
        "ada": "2022-09",
        "hopper": "2022-09",
        "blackwell": "2024-11",
        "cdna2": "2021-11",
        "cdna3": "2023-12",
        "cdna4": "2025-06",
    }
)
#: 2022, 2022-04 or 2022.04, or a container release of NVIDIA: 22.04
_MONTH: Final = re.compile(r"\b(?:20(\d\d)(?:[-./](0[1-9]|1[0-2]))?(?!\d)|(\d\d)\.(0[1-9]|1[0-2])\b)")
_LAST_MONTH: Final = "12"


def _month(text: str) -> str | None:
    """The year and month a text names, the last month where it names a year; None where it names none."""
    found = _MONTH.search(text)
    if found is None:
        return None
    return f"20{found[1] or found[3]}-{found[2] or found[4] or _LAST_MONTH}"


def software(name: str, release: str = "", generation: str = "") -> Software:
    """The class of training programs called `name`, as of a release on a generation of accelerators.

    Parameters
    ----------
    release
        Year, year and month, or container release: ``2024``, ``2024-09``, ``24.09``. Empty where unknown: the row that
        published runs are fitted with; `releases` has the others.

    Raises
    ------
    AnalysisError
        If there is none of that name, the release is no date, or the program had no release then.
    """
    found = SOFTWARE.get(name)
    if found is None:
        raise AnalysisError(f"{name!r} is no known training program", remedy=f"use one of {', '.join(SOFTWARE)}")
    month = _month(release)
    if month is None:
        if release.strip():
            raise AnalysisError(
                f"{release[:40]!r} is no release of a program",
                place="release",
                remedy="give a year, a month or a container release: 2024, 2024-09, 24.09",
            )
        return found
    first, last = _SPANS.get(name, ("", ""))
    if month < first or month > (last or month):
        span = f"from {first}" if not last else f"until {last}" if not first else f"from {first} to {last}"
        raise AnalysisError(
            f"{name} has no release of {month}: it was released {span}",
            place="release",
            remedy="give another release, or another training program",
        )
    dated = (one for one in _DATED.get(name, ()) if one.generation in ("", generation))
    return next((one.row for one in dated if not one.until or month <= one.until), found)


def releases(name: str, generation: str = "") -> tuple[Software, ...]:
    """What a program whose release is unknown may be instead, on a generation of accelerators."""
    since = _GENERATIONS.get(generation, "")
    rows = _DATED.get(name, ())
    return tuple(
        one.row for one in rows if one.generation in ("", generation) and (not one.until or one.until >= since)
    )


def check_format(number_format: str, release: str) -> None:
    """Refuse a number format that no program of a release trained in.

    Raises
    ------
    AnalysisError
        If the first program that did is later.
    """
    first, month = _FORMATS.get(number_format, ""), _month(release)
    if month is not None and month < first:
        raise AnalysisError(
            f"no program of {month} trained in {number_format}: the first did in {first}",
            place="release",
            remedy="give a later release, or a wider number format",
        )


#: how an optimizer walks over its tensors: what `optimizer` and `optimizer_kernels` become
_OPTIMIZERS: Final[Mapping[str, Mapping[str, Constant]]] = MappingProxyType(
    {
        "program": {},
        "fused": {"optimizer": _ONE_KERNEL, "optimizer_kernels": _NO_KERNELS},
        "foreach": {"optimizer": _BY_OPERATION, "optimizer_kernels": _NO_KERNELS},
        "for-loop": {"optimizer": _BY_OPERATION, "optimizer_kernels": _EACH_TENSOR},
    }
)


def with_optimizer(row: Software, name: str) -> Software:
    """A program with another optimizer step: ``fused``, ``foreach``, ``for-loop``; ``program`` for its own.

    Raises
    ------
    AnalysisError
        If there is no such step.
    """
    if name not in _OPTIMIZERS:
        raise AnalysisError(
            f"{name[:40]!r} is no optimizer step", place="optimizer", remedy=f"use one of {', '.join(_OPTIMIZERS)}"
        )
    return replace(row, **_OPTIMIZERS[name])


#: what people write for their framework, the clearest hint first
_HINTS: Final = (
    # known by name, but no published run says what it does: also where it drives another, as Megatron-DeepSpeed
    ("deepspeed", UNKNOWN),
    ("colossal", UNKNOWN),
    ("torch.compile", "fsdp-compiled"),
    ("maxtext", "fsdp-compiled"),
    ("jax", "fsdp-compiled"),
    ("nanotron", "fsdp-eager"),
    ("transformer engine", "transformer-engine"),
    ("nemo", "transformer-engine"),
    ("megatron", "transformer-engine"),
    ("foundry", "fsdp"),
    ("fsdp", "fsdp"),
    ("torchtitan", "fsdp"),
    ("mxnet", "fused"),
    ("mlperf", "fused"),
    ("ngc", "tuned"),
    ("dali", "tuned"),
    ("pytorch", "eager"),
    ("tensorflow", "tuned"),
)


def recognised(framework: str) -> Software | None:
    """The preset closest to the framework a person names, of its year; None when nothing is recognised.

    Examples
    --------
    >>> recognised("MLPerf BERT, PyTorch NVIDIA Release 22.04").name
    'fused-2022'
    >>> recognised("MLPerf BERT, PyTorch NVIDIA Release 23.09").name
    'fused'
    """
    text = framework.lower()
    found = next((SOFTWARE[name] for hint, name in _HINTS if hint in text), None)
    month = _month(text)
    # image programs under MXNet overlapped then as they do now
    if found is None or month is None or "mxnet" in text:
        return found
    try:
        return software(found.name, text)
    except AnalysisError:
        # the date is not that of the program
        return found
