"""vMotion: cores reserved and cores used, with and without encryption."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from designer.families.machines.formulas._esxi import CPU_LEAST, CPU_PER_GIGABIT, GIGABIT
from designer.families.machines.formulas._precopy import not_negative, positive
from designer.formulas.formula import Formula
from designer.sources import Constant, Estimate, Status
from designer.units import BytesPerSecond

SOURCES: Final = ("esxi-advanced-settings", "denneman-2012-vmotion", "denneman-2018-encrypted-vmotion")
_CHART: Final = "denneman-2018-encrypted-vmotion"


#: cores per 10 Gb/s; the low end is the through-origin slope of the chart, read off at 10–40 Gb/s
SOURCE_PLAIN: Final = Constant(0.64, 0.37, 0.70, _CHART, Status.SECONDARY, "1", "source, no encryption")
SOURCE_ENCRYPTED: Final = Constant(1.66, 1.13, 1.75, _CHART, Status.SECONDARY, "1", "source, encrypted")
DESTINATION_PLAIN: Final = Constant(1.31, 1.15, 1.40, _CHART, Status.SECONDARY, "1", "destination, no encryption")
DESTINATION_ENCRYPTED: Final = Constant(1.67, 1.55, 1.75, _CHART, Status.SECONDARY, "1", "destination, encrypted")
CHART_STEP: Final = Constant(
    10 * GIGABIT, 10 * GIGABIT, 10 * GIGABIT, _CHART, Status.SECONDARY, "B/s", "step of the chart"
)


@dataclass(frozen=True, slots=True)
class VmotionCpu:
    """Cores reserved per host, and cores busy on the source and the destination at the given rate [cores]."""

    reserved: float
    source: Estimate
    destination: Estimate


def vmotion_cpu(nic_line_rates: Sequence[float], bandwidth: BytesPerSecond, *, encrypted: bool = False) -> VmotionCpu:
    """Cores a vMotion needs [cores]: a reservation from the NIC speeds, a use from the rate.

    Parameters
    ----------
    nic_line_rates
        Line rates of the vMotion NICs of a host [B/s].
    bandwidth
        Payload rate of all its vMotions together [B/s].
    encrypted
        True if the stream is encrypted (needs AES instructions on both hosts).

    Raises
    ------
    AnalysisError
        If a rate is negative, or a line rate is zero.

    Notes
    -----
    The reservation is max(30 %, 10 % per Gb/s) of one core, once per host. Use grows linearly with the rate;
    the planning slope never lies below the chart.

    Sources
    -------
    ESXi advanced settings; chart of the 6.5 paper reproduced in 2018.
    """
    line = sum(positive(rate, "nic_line_rate") for rate in nic_line_rates)
    not_negative(bandwidth, "bandwidth")
    reserved = max(CPU_LEAST.value, CPU_PER_GIGABIT.value * line / GIGABIT)
    steps = bandwidth / CHART_STEP.value

    def use(slope: Constant) -> Estimate:
        return Estimate(slope.value * steps, slope.low * steps, slope.high * steps, "1", SOURCES)

    if encrypted:
        return VmotionCpu(reserved, use(SOURCE_ENCRYPTED), use(DESTINATION_ENCRYPTED))
    return VmotionCpu(reserved, use(SOURCE_PLAIN), use(DESTINATION_PLAIN))


FORMULA: Final = Formula(
    name="vmotion-cpu",
    title="Cores a vMotion reserves and uses",
    function=vmotion_cpu,
    sources=SOURCES,
    valid_when="10 to 40 Gb/s measured on Xeons of 2016; linear beyond",
)
