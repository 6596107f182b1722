"""Stated calibration of compute rates: one row per accelerator generation, each number with band and source.

The best matrix product is a measured share of the data-sheet peak. Training does not reach the best product: shapes
vary, clocks fall under power, operands are not zeros. `sustained` is that second factor, fitted on published training
runs (each note names the points). A generation without a row uses the typical one, whose bands are wide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from designer.sources import Constant, Status
from designer.units import Ratio


@dataclass(frozen=True, slots=True)
class Generation:
    """Shares of the data-sheet rates one generation of accelerators reaches.

    Parameters
    ----------
    best
        Best matrix product found over peak, by number format.
    sustained
        What training reaches of `best`.
    fused_attention
        Fused attention over 16-bit peak, forward and backward together.
    convolution
        Convolutions over peak, by number format.
    power
        Rated power over dense 16-bit peak of the part it is calibrated on [W/(FLOP/s)]; none where parts of all forms
        are equivalent.
    root
        Power of the limit, less what does not fall with the clock, that the clock follows [1].
    """

    best: Mapping[str, Constant]
    sustained: Constant
    fused_attention: Constant
    convolution: Mapping[str, Constant]
    power: Constant | None = None
    root: Constant | None = None


def _rated(watts: float, peak: float, part: str) -> Constant:
    value = watts / peak
    return Constant(value, value, value, "gpu-power", Status.SECONDARY, "W/(FLOP/s)", part)


def _measured(value: float, spread: float) -> Constant:
    return Constant(value, value * (1 - spread), min(1.0, value * (1 + spread)), "mamf", Status.SECONDARY)


def _assumed(value: float, low: float, high: float, note: str) -> Constant:
    return Constant(value, low, high, "assumed-training", Status.ASSUMED, note=note)


def _fitted(value: float, low: float, high: float, note: str) -> Constant:
    return Constant(value, low, high, "fit-training", Status.DERIVED, note=note)


_SPREAD: Final = Constant(0.03, 0.02, 0.05, "mamf", Status.SECONDARY, note="between samples of one part").value
_NO_PRODUCT = "no measured best product for this generation"
_WIDEST = "no measured best product; from MI300X to Gaudi 2 and TPU"
_BETWEEN = "nothing measured; between the fitted generations"
_OLD_ATTENTION = _assumed(0.40, 0.30, 0.50, "no fused attention kernel of its own")

#: a PCIe card holds lower clocks than a module of the same chip
CARD: Final = Constant(0.933, 0.85, 1.0, "mamf", Status.SECONDARY, note="A100 PCIe 252.9 against SXM 271.2 TFLOP/s")

#: share of the rated power that does not fall with the clock: leakage, memory, links
STATIC_POWER: Final = Constant(
    0.25, 0.1, 0.4, "power-scaling", Status.ASSUMED, "1", "the rest falls with the cube of the clock, voltage with it"
)

CUBE_ROOT: Final = Constant(1 / 3, 1 / 3, 0.5, "power-scaling", Status.ASSUMED, "1", "power with the cube of the clock")
FULL_CLOCK: Final = Constant(1.0, 1.0, 1.0, "power-scaling", Status.ASSUMED, "1", "nothing limits it")

_CNN_HALF: Final = _fitted(
    0.55, 0.49, 0.62, "ResNet-50 on V100, A30, A100, H100 under MXNet: 31 points, 4 % median residual"
)
_CNN_TF32: Final = _fitted(0.56, 0.45, 0.68, "ResNet-50 in TF32 on A100 and H100: 5 points, 6 % mean residual")
_CNN_SINGLE: Final = _fitted(1.0, 0.8, 1.2, "ResNet-50 in FP32 on V100; Winograd saves operations: 6 points")
_CNN_PASCAL: Final = _fitted(0.71, 0.57, 0.88, "ResNet-50 and Inception-v3 on P100: 20 points, 7 % median residual")
_CNN: Final = MappingProxyType(
    {"fp16": _CNN_HALF, "bf16": _CNN_HALF, "fp8": _CNN_HALF, "tf32": _CNN_TF32, "fp32": _CNN_SINGLE}
)
_OLD_SINGLE: Final = MappingProxyType({"fp32": _assumed(0.80, 0.60, 0.95, _NO_PRODUCT)})


_NEURON: Final = Constant(
    0.64, 0.52, 0.76, "neuron-training", Status.DERIVED, note="7B to 175B on 256 and 512 Trainium: 6 points, 4 %"
)

#: scales of blocks and the second, rotated, operand of gradients cost what wider products do not
_FOUR_BIT: Final = _assumed(0.70, 0.60, 0.90, "NVFP4, below products in 8 bit; two runs on B200 are within 5 %")


def _half(
    share: Constant, single: Constant, eight: Constant | None = None, four: Constant | None = None
) -> Mapping[str, Constant]:
    table = {"bf16": share, "fp16": share, "tf32": share, "fp32": single, "fp8": eight, "fp4": four}
    return MappingProxyType({name: one for name, one in table.items() if one is not None})


_SINGLE: Final = _assumed(0.85, 0.70, 0.95, _NO_PRODUCT)

#: nothing was fitted on chips with GDDR, which share only the architecture with the accelerators of their generation
_SMALLER_CHIP: Final = _assumed(0.90, 0.72, 1.0, "nothing measured on the chip; the large one of its generation")

GENERATIONS: Final[Mapping[str, Generation]] = MappingProxyType(
    {
        "kepler": Generation(
            _OLD_SINGLE,
            _assumed(0.85, 0.7, 1.0, _BETWEEN),
            _OLD_ATTENTION,
            MappingProxyType(
                {"fp32": _fitted(0.346, 0.28, 0.43, "ResNet-50 on K80 against its boost rate: 4 points, 5 % residual")}
            ),
        ),
        "maxwell": Generation(
            _OLD_SINGLE,
            _assumed(0.85, 0.7, 1.0, _BETWEEN),
            _OLD_ATTENTION,
            MappingProxyType({"fp32": _fitted(0.50, 0.38, 0.65, "ResNet-50 in 14 days on M40: 1 point")}),
        ),
        "pascal": Generation(
            _OLD_SINGLE,
            _assumed(0.85, 0.7, 1.0, _BETWEEN),
            _OLD_ATTENTION,
            MappingProxyType({"fp32": _CNN_PASCAL, "fp16": _CNN_PASCAL}),
        ),
        "volta": Generation(
            _half(_assumed(0.80, 0.70, 0.88, _NO_PRODUCT), _SINGLE),
            _fitted(0.87, 0.78, 1.0, "BERT-large on V100: 6 points, 4 % residual"),
            _OLD_ATTENTION,
            _CNN,
            _rated(300, 125e12, "V100 SXM2"),
        ),
        "turing": Generation(
            _half(_assumed(0.75, 0.6, 0.88, _NO_PRODUCT), _SINGLE),
            _assumed(0.80, 0.65, 0.95, _BETWEEN),
            _OLD_ATTENTION,
            _CNN,
            _rated(260, 130.5e12, "Quadro RTX 6000"),
        ),
        "ampere": Generation(
            _half(_measured(0.869, _SPREAD), _SINGLE),
            _fitted(0.97, 0.90, 1.0, "Megatron and MPT on A100 as drawn: 45 points, 3 % median residual"),
            _assumed(0.55, 0.45, 0.65, "FlashAttention-2 paper"),
            _CNN,
            _rated(400, 312e12, "A100 SXM4"),
        ),
        "ada": Generation(
            _half(_assumed(0.75, 0.6, 0.88, _NO_PRODUCT), _SINGLE, _assumed(0.70, 0.55, 0.85, _NO_PRODUCT)),
            _assumed(0.80, 0.65, 0.95, _BETWEEN),
            _assumed(0.50, 0.40, 0.60, _BETWEEN),
            _CNN,
            _rated(350, 362e12, "L40S"),
        ),
        "hopper": Generation(
            _half(_measured(0.803, _SPREAD), _SINGLE, _measured(0.709, _SPREAD)),
            _fitted(0.898, 0.80, 1.0, "MPT, Llama 3, GPT-3 and BERT on H100 and H200: 80 points, 4 % median residual"),
            _assumed(0.45, 0.33, 0.60, "FlashAttention-2 reaches 0.35, later kernels up to 0.65"),
            _CNN,
            _rated(700, 989e12, "H100 SXM5"),
        ),
        "blackwell": Generation(
            _half(_measured(0.776, _SPREAD), _SINGLE, _measured(0.763, _SPREAD), _FOUR_BIT),
            _fitted(0.817, 0.71, 0.92, "BERT, LoRA, Llama 3 on B200 to GB300: 27 points, 5 % median residual"),
            _fitted(0.53, 0.42, 0.71, "the same points; kernels alone reach 0.71 forward"),
            _CNN,
            _rated(1000, 2250e12, "B200"),
        ),
        "cdna2": Generation(
            _half(_assumed(0.767, 0.7, 0.8, "one of two dies of MI250X, ROCm 6.2"), _SINGLE),
            _assumed(0.80, 0.65, 0.95, _BETWEEN),
            _assumed(0.35, 0.25, 0.50, _BETWEEN),
            _CNN,
        ),
        "cdna3": Generation(
            _half(_measured(0.557, _SPREAD + _SPREAD), _SINGLE, _assumed(0.50, 0.40, 0.60, _NO_PRODUCT)),
            _fitted(0.848, 0.76, 0.95, "Llama 2 70B with adapters on MI300X and MI325X: 13 points, 5 % residual"),
            _assumed(0.35, 0.25, 0.50, _BETWEEN),
            _CNN,
            _rated(1000, 1307e12, "MI325X"),
            _fitted(0.75, 0.5, 0.75, "MI300X of 750 W does 0.74 of MI325X of 1000 W: pairs of four submitters"),
        ),
        "cdna4": Generation(
            _half(_measured(0.68, _SPREAD + _SPREAD), _SINGLE, _assumed(0.62, 0.50, 0.72, _NO_PRODUCT)),
            _fitted(0.947, 0.84, 1.0, "Llama 2 70B with adapters and Llama 3 8B on MI355X, MI350X: 8 points, 4 %"),
            _assumed(0.40, 0.28, 0.55, _BETWEEN),
            _CNN,
            _rated(1400, 2516.6e12, "MI355X"),
        ),
        # products in 8 bit alone reach 0.955; what training adds to them in 8 bit is in their share here
        "gaudi": Generation(
            _half(
                _measured(0.969, _SPREAD),
                _SINGLE,
                Constant(
                    0.63,
                    0.42,
                    0.80,
                    "gaudi2-training",
                    Status.DERIVED,
                    note="Llama 2 and 3.1: 5 points, 9 % median residual, one 50 % fast; their layouts are assumed",
                ),
            ),
            Constant(
                0.97, 0.80, 1.05, "databricks-gaudi2", Status.DERIVED, note="MPT-7B in BF16 on 8 Gaudi 2: 1 point"
            ),
            _assumed(0.45, 0.30, 0.60, _BETWEEN),
            _CNN,
        ),
        "neuroncore-v2": Generation(
            _half(_assumed(0.78, 0.65, 0.90, _NO_PRODUCT), _SINGLE),
            _NEURON,
            _assumed(0.45, 0.30, 0.60, _BETWEEN),
            _CNN,
        ),
        "neuroncore-v3": Generation(
            _half(_assumed(0.78, 0.56, 0.97, _NO_PRODUCT), _SINGLE, _assumed(0.72, 0.50, 0.95, _NO_PRODUCT)),
            _assumed(0.64, 0.48, 0.90, "that of Trainium"),
            _assumed(0.45, 0.30, 0.60, _BETWEEN),
            _CNN,
        ),
        # above 1: XLA fuses more of the pointwise work than the programs counted for
        "tpu": Generation(
            _half(_assumed(0.97, 0.90, 1.0, _NO_PRODUCT), _SINGLE),
            Constant(
                0.95,
                0.80,
                1.10,
                "maxtext-performance",
                Status.DERIVED,
                note="16B to 512B on v5e and v5p: 10 points, 7 % median residual; one from the other 17 %",
            ),
            _assumed(0.45, 0.30, 0.60, _BETWEEN),
            _CNN,
        ),
        "cpu": Generation(
            _half(_assumed(0.60, 0.40, 0.80, _NO_PRODUCT), _assumed(0.80, 0.60, 0.95, _NO_PRODUCT)),
            _assumed(0.80, 0.60, 0.95, _BETWEEN),
            _assumed(0.40, 0.25, 0.60, _BETWEEN),
            MappingProxyType(
                dict.fromkeys(("fp32", "bf16", "fp16", "tf32"), _assumed(0.50, 0.30, 0.70, "oneDNN class libraries"))
            ),
        ),
        "typical": Generation(
            _half(_assumed(0.78, 0.56, 0.97, _WIDEST), _SINGLE, _assumed(0.72, 0.50, 0.95, _WIDEST)),
            _assumed(0.85, 0.70, 1.0, _BETWEEN),
            _assumed(0.45, 0.30, 0.60, _BETWEEN),
            _CNN,
        ),
    }
)


#: chips that differ from the one their generation is calibrated on, by architecture in small letters
CHIPS: Final[Mapping[str, Generation]] = MappingProxyType(
    {
        **dict.fromkeys(
            ("ampere ga102", "ampere ga107"),
            replace(GENERATIONS["ampere"], sustained=_SMALLER_CHIP, power=_rated(300, 149.7e12, "A40")),
        ),
        "blackwell gb202": replace(
            GENERATIONS["blackwell"],
            sustained=_SMALLER_CHIP,
            fused_attention=GENERATIONS["ada"].fused_attention,
            power=_rated(600, 500e12, "RTX PRO 6000"),
        ),
    }
)


def generation_key(name: str) -> str:
    """The key of the calibration row that holds for a generation: its first word in small letters."""
    first = name.lower().split()[:1]
    return first[0] if first else ""


def generation(name: str) -> Generation:
    """The calibration row of a chip or its generation, the typical one if it has none.

    Examples
    --------
    >>> generation("Ampere GA100") is generation("ampere")
    True
    """
    return CHIPS.get(name.lower()) or GENERATIONS.get(generation_key(name), GENERATIONS["typical"])


def clock_share(power: Ratio, root: Constant | None = None) -> Constant:
    """Share of the full rate that a power limit leaves, the limit given as share of the rated power [1].

    Parameters
    ----------
    root
        Power of the limit that the clock follows; None for the cube root.

    Notes
    -----
    Power = static + (1 - static) clock³, or to 1 / root where voltage falls less than the clock. Below the limit at
    which rate per power is highest, static / (1 - root), the part does no worse with that clock on fewer of its units,
    so that more units never lower the rate.
    """
    if power >= 1:
        return FULL_CLOCK

    def left(static: float, root: float) -> float:
        best = min(1.0, static / (1 - root)) if root < 1 else 1.0
        clocked = max(power, best)
        return power / clocked * ((clocked - static) / (1 - static)) ** root

    follows = root or CUBE_ROOT
    return Constant(
        left(STATIC_POWER.value, follows.value),
        left(STATIC_POWER.high, follows.high),
        left(STATIC_POWER.low, follows.low),
        STATIC_POWER.source,
        STATIC_POWER.status,
    )


def share(table: Mapping[str, Constant], number_format: str) -> Constant:
    """The row of `table` for a number format; the only or last one where it has none."""
    return table.get(number_format) or tuple(table.values())[-1]
