"""What serves: the numbers of a device's data sheet that the time of a step depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from designer.errors import AnalysisError
from designer.families.serving.formulas._kernels import KERNELS, Kernels
from designer.families.serving.formulas._number_format import NumberFormat
from designer.families.serving.formulas.kernel_table import KernelTable
from designer.units import Bytes, BytesPerSecond, FlopPerSecond, Watts

UNKNOWN_POWER: Final = Watts(0.0)


@dataclass(frozen=True, slots=True)
class Device:
    """One accelerator, a share of one, or a processor.

    Parameters
    ----------
    flops
        Dense peak rate by number format [FLOP/s].
    bandwidth, memory
        Of its own memory [B/s], and usable by a program [B].
    units
        Multiprocessors, which products are cut into tiles for.
    kernels
        What programs reach on it.
    power
        Limit [W]; 0 where unknown.
    architecture
        As its maker names it; empty where unknown.
    part
        Its type in the catalog; empty where unknown.
    table
        Measured kernel times of this GPU, or of the one nearest to it, under the engine that runs; None without.
    """

    name: str
    flops: Mapping[str, FlopPerSecond] = field(hash=False)
    bandwidth: BytesPerSecond
    memory: Bytes
    units: int
    kernels: Kernels = KERNELS
    power: Watts = UNKNOWN_POWER
    architecture: str = ""
    part: str = ""
    table: KernelTable | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        if self.bandwidth <= 0 or self.memory <= 0 or self.units < 1 or not any(v > 0 for v in self.flops.values()):
            raise AnalysisError(
                f"{self.name} has no compute rate, memory bandwidth or memory", remedy="give its type these values"
            )

    def runs_as(self, number_format: NumberFormat) -> str:
        """The peak rate that products in a format run at.

        Raises
        ------
        AnalysisError
            If it has none for it.
        """
        for name in number_format.runs:
            if self.flops.get(name, 0.0) > 0:
                return name
        raise AnalysisError(
            f"{self.name} has no rate for {number_format.name}", remedy=f"it has {', '.join(sorted(self.flops))}"
        )

    @property
    def half(self) -> FlopPerSecond:
        """Peak rate in 16 bit, which attention runs in [FLOP/s]."""
        for name in ("bf16", "fp16", "tf32", "fp32"):
            if self.flops.get(name, 0.0) > 0:
                return self.flops[name]
        return max(self.flops.values())

    def share(self, compute: float, bandwidth: float, memory: float) -> Device:
        """A slice: shares of compute and memory bandwidth [1], and its memory [B]."""
        return replace(
            self,
            name=f"slice of {self.name}",
            flops={name: rate * compute for name, rate in self.flops.items()},
            bandwidth=self.bandwidth * bandwidth,
            memory=memory,
            units=max(1, round(self.units * compute)),
            power=self.power * compute,
        )
