"""What computes: a GPU, a slice of one, or a CPU, as the rates a roofline needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from designer.errors import AnalysisError
from designer.formulas.calibration import CARD, FULL_CLOCK, Generation, clock_share, generation
from designer.sources import Constant
from designer.units import Bytes, BytesPerSecond, FlopPerSecond, Ratio, Watts

NO_LIMIT: Final = Watts(0.0)


@dataclass(frozen=True, slots=True)
class Accelerator:
    """Nominal rates of one accelerator.

    Parameters
    ----------
    name
        For people.
    flops
        Dense peak rate by number format: ``fp32``, ``tf32``, ``fp16``, ``bf16``, ``fp8`` [FLOP/s].
    memory_bandwidth
        Nominal, of its own memory [B/s].
    memory_capacity
        Usable for a program [B].
    generation
        Whose calibration applies, by the first word: ``Volta``, ``Ampere GA100``, ``cpu``; others use the typical one.
    form
        ``card`` or a text beginning with ``PCIe`` is a card, which holds lower clocks under load; else a module.
    power
        Power it may draw, its limit where it has one [W]; 0 for what parts of its form usually may.
    units
        Multiprocessors, over which products are cut into tiles; 0 where unknown: products then fill whole waves.
    """

    name: str
    flops: Mapping[str, FlopPerSecond] = field(hash=False)
    memory_bandwidth: BytesPerSecond
    memory_capacity: Bytes
    generation: str = "unknown"
    form: str = "module"
    power: Watts = NO_LIMIT
    units: int = 0

    def __post_init__(self) -> None:
        if self.memory_bandwidth <= 0 or self.memory_capacity <= 0 or not any(rate > 0 for rate in self.flops.values()):
            raise AnalysisError(
                f"{self.name} has no compute rate, memory bandwidth or memory",
                remedy="give the accelerator type positive values for all three",
            )

    def peak(self, number_format: str) -> FlopPerSecond:
        """Dense peak rate in a number format, or in the nearest wider one the part has [FLOP/s].

        Raises
        ------
        AnalysisError
            If it has none of them.
        """
        for candidate in _WIDER.get(number_format, (number_format,)):
            rate = self.flops.get(candidate, 0.0)
            if rate > 0:
                return FlopPerSecond(rate)
        raise AnalysisError(
            f"{self.name} has no rate for {number_format}",
            remedy=f"use one of {', '.join(sorted(self.flops))}",
        )

    def runs_as(self, number_format: str) -> str:
        """The number format that work given in `number_format` runs in on this part."""
        for candidate in _WIDER.get(number_format, (number_format,)):
            if self.flops.get(candidate, 0.0) > 0:
                return candidate
        return number_format

    @property
    def is_card(self) -> bool:
        """True if it is a PCIe card."""
        return self.form.lower().startswith(("card", "pcie"))

    def clock(self, number_format: str) -> Constant:
        """Share of the clock its calibration holds for that products in a format keep within its power limit [1].

        Notes
        -----
        The rated power is that of 16-bit products. Others draw it at the rate their width allows: a product of twice
        the width takes as much energy as two. Units of formats that are not in use draw none.
        """
        rated, runs_as = self.calibration.power, self.runs_as(number_format)
        if rated is None or self.power <= 0 or runs_as not in _HALVES:
            return CARD if self.is_card else FULL_CLOCK
        limit = Ratio(self.power / (self.flops[runs_as] * _HALVES[runs_as] * rated.value))
        return clock_share(limit, self.calibration.root)

    @property
    def calibration(self) -> Generation:
        """The shares of peak its generation reaches."""
        return generation(self.generation)

    def slice(self, compute: Ratio, memory_bandwidth: Ratio, memory: Bytes) -> Accelerator:
        """A MIG slice, a time-sliced share or a limit in cores: the given shares of this part."""
        for share in (compute, memory_bandwidth):
            if not 0 < share <= 1:
                raise AnalysisError(f"a share of {share} of {self.name}", remedy="give a share above 0, up to 1")
        return replace(
            self,
            name=f"slice of {self.name}",
            flops={key: FlopPerSecond(rate * compute) for key, rate in self.flops.items()},
            memory_bandwidth=BytesPerSecond(self.memory_bandwidth * memory_bandwidth),
            memory_capacity=memory,
            # its neighbours draw the rest, so the clock stays that of the whole part
            power=Watts(self.power * compute),
            units=max(1, round(self.units * compute)) if self.units else 0,
        )


#: what data sheets call the rate of a number format, where they do not call it by that
RATES: Final = {"nvfp4": "fp4"}
#: 16-bit products that draw as much power as one of a format
_HALVES: Final = {"fp4": 0.5 * 0.5, "fp8": 0.5, "fp16": 1.0, "bf16": 1.0, "tf32": 2.0, "fp32": 2.0}
_WIDER = {
    "nvfp4": ("fp4", "fp8", "bf16", "fp16", "tf32", "fp32"),
    "fp8": ("fp8", "bf16", "fp16", "tf32", "fp32"),
    "bf16": ("bf16", "fp16", "tf32", "fp32"),
    "fp16": ("fp16", "bf16", "tf32", "fp32"),
    "tf32": ("tf32", "fp32"),
    "fp32": ("fp32",),
}
