"""What kernels reach of a device's data sheet: shares of peak, floors and shapes, by generation where measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from designer.sources import Constant, Status
from designer.units import Ratio, Seconds


def _law(value: float, low: float, high: float, unit: str = "1") -> Constant:
    return Constant(value, low, high, "aic-kernels", Status.DERIVED, unit, "35 thousand products on H100, bf16")


def _fitted_constant(value: float, low: float, high: float, unit: str = "1") -> Constant:
    return Constant(value, low, high, "fit-serving", Status.DERIVED, unit, "open H100 serving runs")


def _grouped_constant(value: float, low: float, high: float, unit: str = "1") -> Constant:
    return Constant(value, low, high, "blis-runs", Status.DERIVED, unit, "Mixtral 8x7B on two H100, vLLM 0.15.1")


def _table_constant(value: float, low: float, high: float, unit: str = "1", note: str = "") -> Constant:
    return Constant(value, low, high, "aic-kernels", Status.DERIVED, unit, note)


@dataclass(frozen=True, slots=True)
class Kernels:
    """Shares of the data sheet and floors.

    Parameters
    ----------
    compute, memory, floor
        Of products in 16 bit: share of peak [1], of memory bandwidth [1], least time [s].
    narrow_compute, narrow_memory, narrow_floor
        Of products in 8 or 4 bit, their scaling with them.
    expert_compute, expert_memory, expert_floor
        Of the grouped products of routed experts kept in 4 bit and multiplied in 16.
    grouped_compute, grouped_memory, grouped_floor
        Of those multiplied in the format they are kept in.
    sharpness, inner
        How abruptly compute and memory meet, and the inner length at which half the compute share is lost.
    prefill, decode, decode_floor
        Attention: share of the 16-bit peak, of memory bandwidth, and least time of a layer [s].
    elementwise
        Share of memory bandwidth of everything between the products.
    processor
        True of processors.
    """

    compute: Ratio
    memory: Ratio
    floor: Seconds
    narrow_compute: Ratio
    narrow_memory: Ratio
    narrow_floor: Seconds
    expert_compute: Ratio
    expert_memory: Ratio
    expert_floor: Seconds
    sharpness: Ratio
    inner: float
    prefill: Ratio
    decode: Ratio
    decode_floor: Seconds
    elementwise: Ratio
    grouped_compute: Ratio
    grouped_memory: Ratio
    grouped_floor: Seconds
    processor: bool = False


COMPUTE: Final = _law(0.866, 0.78, 0.94)
MEMORY: Final = _law(0.857, 0.74, 0.92)
FLOOR: Final = _law(3.7e-6, 2.6e-6, 5.3e-6, "s")
SHARPNESS: Final = _law(3.06, 2.0, 5.0)
INNER: Final = _law(119.0, 60.0, 240.0)
#: peak of one multiprocessor of the device the laws of 16 and of 8 bit were fitted on; filling and draining a tile
#: takes a time rather than a length, so where a multiprocessor is quicker, the length at which half is lost is longer
UNIT_RATE: Final = Constant(989e12 / 132, 989e12 / 132, 989e12 / 132, "aic-kernels", Status.DERIVED, "FLOP/s", "H100")
NARROW_UNIT_RATE: Final = Constant(
    1979e12 / 132, 1979e12 / 132, 1979e12 / 132, "aic-kernels", Status.DERIVED, "FLOP/s", "H100, 8 bit"
)
NARROW_COMPUTE: Final = _fitted_constant(0.554, 0.5, 0.75)
NARROW_MEMORY: Final = _fitted_constant(0.865, 0.7, 0.95)
NARROW_FLOOR: Final = _fitted_constant(5.91e-06, 4.0e-6, 1.2e-5, "s")
EXPERT_COMPUTE: Final = _fitted_constant(0.106, 0.08, 0.45)
EXPERT_MEMORY: Final = _fitted_constant(0.937, 0.65, 0.95)
EXPERT_FLOOR: Final = _fitted_constant(1.83e-05, 8e-6, 2e-5, "s")
GROUPED_COMPUTE: Final = _grouped_constant(0.4, 0.3, 0.6)
GROUPED_MEMORY: Final = _grouped_constant(0.93, 0.65, 0.95)
GROUPED_FLOOR: Final = _grouped_constant(1.2e-05, 8e-6, 2e-5, "s")
PREFILL: Final = _table_constant(
    0.57, 0.46, 0.65, note="prompts of 4,096 and more, H100 .57, H200 .56, A100 .55, L40S .46"
)
DECODE: Final = _fitted_constant(0.837, 0.69, 0.95)
DECODE_FLOOR: Final = _table_constant(1.2e-5, 1.0e-5, 1.8e-5, "s", "H100 and H200 12, L40S 11, A100 18 us")
ELEMENTWISE: Final = Constant(0.8, 0.6, 0.9, "aic-config", Status.SECONDARY, "1", "of memory bandwidth")

#: Hopper, and what nothing else is known of: the law carries to newer data-centre GPUs within some 10 %
KERNELS: Final = Kernels(
    Ratio(COMPUTE.value),
    Ratio(MEMORY.value),
    Seconds(FLOOR.value),
    Ratio(NARROW_COMPUTE.value),
    Ratio(NARROW_MEMORY.value),
    Seconds(NARROW_FLOOR.value),
    Ratio(EXPERT_COMPUTE.value),
    Ratio(EXPERT_MEMORY.value),
    Seconds(EXPERT_FLOOR.value),
    Ratio(SHARPNESS.value),
    INNER.value,
    Ratio(PREFILL.value),
    Ratio(DECODE.value),
    Seconds(DECODE_FLOOR.value),
    Ratio(ELEMENTWISE.value),
    Ratio(GROUPED_COMPUTE.value),
    Ratio(GROUPED_MEMORY.value),
    Seconds(GROUPED_FLOOR.value),
)

#: GA100: large products reach .91 of peak in the median where GH100 reaches .80; floors and memory refitted
_GA100_COMPUTE: Final = _table_constant(0.94, 0.88, 0.96, note="A100 SXM")
_GA100_MEMORY: Final = _table_constant(0.75, 0.68, 0.8, note="A100 SXM, law refitted")
_GA100_FLOOR: Final = _table_constant(5.3e-6, 3e-6, 6e-6, "s", "A100 SXM, law refitted")
_GA100_PREFILL: Final = _table_constant(0.55, 0.5, 0.6, note="A100 SXM")
_GA100_DECODE: Final = _table_constant(0.69, 0.6, 0.75, note="A100 SXM")
_GA100_DECODE_FLOOR: Final = _table_constant(1.8e-5, 1.5e-5, 2.2e-5, "s", "A100 SXM")
#: AD102: held back by its power limit; large products .62 of peak, large reads .81 of bandwidth
_AD102_COMPUTE: Final = _table_constant(0.67, 0.55, 0.8, note="L40S")
_AD102_MEMORY: Final = _table_constant(0.84, 0.78, 0.88, note="L40S")
_AD102_FLOOR: Final = _table_constant(2.2e-6, 2e-6, 3.7e-6, "s", "L40S")
_AD102_NARROW: Final = _table_constant(0.54, 0.45, 0.6, note="L40S, FP8")
_AD102_NARROW_MEMORY: Final = _table_constant(0.74, 0.65, 0.85, note="L40S, FP8")
_AD102_NARROW_FLOOR: Final = _table_constant(4.4e-6, 4e-6, 6e-6, "s", "L40S, FP8")
_AD102_PREFILL: Final = _table_constant(0.46, 0.4, 0.52, note="L40S")
_AD102_DECODE: Final = _table_constant(0.78, 0.7, 0.85, note="L40S")
_AD102_DECODE_FLOOR: Final = _table_constant(1.1e-5, 1e-5, 1.3e-5, "s", "L40S")

_AMPERE: Final = replace(
    KERNELS,
    compute=_GA100_COMPUTE.value,
    memory=_GA100_MEMORY.value,
    floor=_GA100_FLOOR.value,
    prefill=_GA100_PREFILL.value,
    decode=_GA100_DECODE.value,
    decode_floor=_GA100_DECODE_FLOOR.value,
)
_ADA: Final = replace(
    KERNELS,
    compute=_AD102_COMPUTE.value,
    memory=_AD102_MEMORY.value,
    floor=_AD102_FLOOR.value,
    narrow_compute=_AD102_NARROW.value,
    narrow_memory=_AD102_NARROW_MEMORY.value,
    narrow_floor=_AD102_NARROW_FLOOR.value,
    prefill=_AD102_PREFILL.value,
    decode=_AD102_DECODE.value,
    decode_floor=_AD102_DECODE_FLOOR.value,
)
#: by the first word of an architecture
GENERATIONS: Final = MappingProxyType({"Ampere": _AMPERE, "Ada": _ADA, "Hopper": KERNELS, "Blackwell": KERNELS})
#: architectures whose kernels were measured; others of a generation are taken to be like them
MEASURED: Final = frozenset({"Ampere GA100", "Ada AD102", "Hopper", "Hopper GH100"})


def kernels_of(architecture: str) -> tuple[Kernels, bool]:
    """What programs reach on an architecture, and whether that was measured on it."""
    found = GENERATIONS.get(architecture.split(" ")[0] if architecture else "", KERNELS)
    return found, architecture in MEASURED


#: low-power memory that a GPU shares with the processor: Llama 8B and 70B, Qwen3-VL-32B in FP8 and Llama 70B in 4 bit
#: read .60, .70, .84 and .61 of it on one GB10 under SGLang and vLLM, Qwen2.5-7B in 8 bit .80 under llama.cpp
_SHARED_MEMORY: Final = Constant(0.75, 0.6, 0.86, "gb10-decoding", Status.SECONDARY, "1", "one request at a time")
#: what its maker calls such memory
_LOW_POWER: Final = "LPDDR"


def in_memory(kernels: Kernels, memory: str) -> Kernels:
    """What programs reach next to memory of that type: no more of low-power memory than was seen of it."""
    if not memory.upper().startswith(_LOW_POWER):
        return kernels
    most = Ratio(_SHARED_MEMORY.value)
    return replace(
        kernels,
        memory=min(most, kernels.memory),
        narrow_memory=min(most, kernels.narrow_memory),
        expert_memory=min(most, kernels.expert_memory),
        grouped_memory=min(most, kernels.grouped_memory),
        decode=min(most, kernels.decode),
        elementwise=min(most, kernels.elementwise),
    )


#: compute and memory overlap wholly
_ABRUPT: Final = Constant(64.0, 64.0, 64.0, "counted-serving", Status.PRIMARY, "1")
_ALL: Final = Constant(1.0, 1.0, 1.0, "counted-serving", Status.PRIMARY, "1")


def perfect(kernels: Kernels) -> Kernels:
    """Kernels that reach all of a data sheet at once."""
    whole, none = Ratio(_ALL.value), Seconds(0.0)
    return replace(
        kernels,
        compute=whole,
        memory=whole,
        floor=none,
        narrow_compute=whole,
        narrow_memory=whole,
        narrow_floor=none,
        expert_compute=whole,
        expert_memory=whole,
        expert_floor=none,
        grouped_compute=whole,
        grouped_memory=whole,
        grouped_floor=none,
        sharpness=Ratio(_ABRUPT.value),
        inner=0.0,
        prefill=whole,
        decode=whole,
        decode_floor=none,
        elementwise=whole,
    )


#: processors: shares of the matrix and memory rates that serving reaches; a launch is a barrier of threads
_CORE_COMPUTE: Final = Constant(0.45, 0.25, 0.65, "assumed-serving", Status.ASSUMED, "1", "AMX and AVX-512 kernels")
_CORE_MEMORY: Final = Constant(0.75, 0.6, 0.85, "assumed-serving", Status.ASSUMED, "1", "of channels x transfer rate")
_CORE_FLOOR: Final = Constant(1.5e-5, 5e-6, 4e-5, "assumed-serving", Status.ASSUMED, "s", "a barrier of all threads")
_CORE_PREFILL: Final = Constant(0.3, 0.15, 0.45, "assumed-serving", Status.ASSUMED, "1")


def processor_kernels() -> Kernels:
    """What programs reach on processors."""
    share, read, least = _CORE_COMPUTE.value, _CORE_MEMORY.value, _CORE_FLOOR.value
    return replace(
        KERNELS,
        compute=share,
        memory=read,
        floor=least,
        narrow_compute=share,
        narrow_memory=read,
        narrow_floor=least,
        expert_compute=share,
        expert_memory=read,
        expert_floor=least,
        prefill=_CORE_PREFILL.value,
        decode=read,
        decode_floor=least,
        elementwise=read,
        grouped_compute=share,
        grouped_memory=read,
        grouped_floor=least,
        processor=True,
    )
