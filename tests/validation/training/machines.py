"""Nominal rates of the machines in the published training runs (data sheets)."""

from __future__ import annotations

from designer.formulas.accelerator import Accelerator
from designer.units import Bytes, BytesPerSecond, FlopPerSecond, Watts
from tests.nominal_network import NominalNetwork

T, G = 1e12, 1e9


def part(
    name: str,
    generation: str,
    form: str,
    memory: float,
    rate: float,
    fp32: float,
    half: float = 0.0,
    *,
    tf32: float = 0.0,
    fp8: float = 0.0,
    watts: float = 0.0,
    units: int = 0,
) -> Accelerator:
    """An accelerator from data-sheet numbers in TFLOP/s, GB/s, GB and W."""
    rates = {"fp32": fp32, "fp16": half, "bf16": half if generation not in ("volta", "pascal") else 0.0}
    rates |= {"tf32": tf32, "fp8": fp8}
    flops = {key: FlopPerSecond(value * T) for key, value in rates.items() if value}
    return Accelerator(name, flops, BytesPerSecond(rate * G), Bytes(memory * G), generation, form, Watts(watts), units)


PARTS = {
    "K80": part("K80 (one of two)", "kepler", "card", 12, 240, 4.37),
    "M40": part("M40", "maxwell", "card", 24, 288, 6.8),
    "M60": part("M60 (one of two)", "maxwell", "card", 8, 160, 4.8),
    "P100": part("P100-SXM2", "pascal", "module", 16, 732, 10.6, 21.2),
    "V100-PCIE": part("V100-PCIe", "volta", "card", 16, 900, 14.0, 112, watts=250, units=80),
    "V100-16": part("V100-SXM2-16GB", "volta", "module", 17.2, 900, 15.7, 125, watts=300, units=80),
    "V100-32": part("V100-SXM2-32GB", "volta", "module", 34.4, 900, 15.7, 125, watts=300, units=80),
    "V100-SXM3": part("V100-SXM3-32GB", "volta", "module", 34.4, 980, 16.4, 131, units=80),
    "A30": part("A30", "ampere", "card", 25, 933, 10.3, 165, tf32=82, watts=165, units=56),
    "A100-40": part("A100-SXM4-40GB", "ampere", "module", 42.9, 1555, 19.5, 312, tf32=156, watts=400, units=108),
    "A100-80": part("A100-SXM4-80GB", "ampere", "module", 85.9, 2039, 19.5, 312, tf32=156, watts=400, units=108),
    "A100-PCIE": part("A100-PCIe-80GB", "ampere", "card", 85.9, 1935, 19.5, 312, tf32=156, watts=300, units=108),
    "RTX6000ADA": part("RTX 6000 Ada", "ada", "card", 51.5, 960, 91.1, 364, tf32=182, fp8=728, units=142),
    "H100": part("H100-SXM5", "hopper", "module", 85.9, 3350, 67, 989, tf32=494.5, fp8=1979, watts=700, units=132),
    "H100-PCIE": part("H100-PCIe", "hopper", "card", 85.9, 2000, 51.2, 756, tf32=378, fp8=1513, watts=350, units=114),
}


def part_of(text: str) -> Accelerator:
    """The part a run's free text names."""
    upper = text.upper().replace("_", "-").replace(" ", "-")
    if "RTX" in upper:
        return PARTS["RTX6000ADA"]
    if "H100" in upper:
        return PARTS["H100-PCIE" if "PCIE" in upper else "H100"]
    if "A100" in upper:
        if "PCIE" in upper:
            return PARTS["A100-PCIE"]
        return PARTS["A100-40" if "40GB" in upper else "A100-80"]
    if "V100" in upper:
        if "SXM3" in upper:
            return PARTS["V100-SXM3"]
        return PARTS["V100-32" if "32GB" in upper else "V100-16"]
    return next(PARTS[key] for key in ("P100", "A30", "K80", "M40", "M60") if key in upper)


#: nominal rate of one accelerator inside its server, and its share of the server's NICs [B/s]
INSIDE = {
    "A100-SXM4-40GB": 300 * G,
    "A100-SXM4-80GB": 300 * G,
    "H100-SXM5": 450 * G,
    "V100-SXM2-16GB": 75 * G,
    "V100-SXM2-32GB": 75 * G,
    "V100-SXM3-32GB": 150 * G,
    "P100-SXM2": 40 * G,
    "A30": 100 * G,
    "A100-PCIe-80GB": 25 * G,
    "H100-PCIe": 50 * G,
    "RTX 6000 Ada": 20 * G,
}
OUTSIDE = {
    "A100-SXM4-40GB": 25 * G,
    "A100-SXM4-80GB": 25 * G,
    "H100-SXM5": 50 * G,
    "V100-SXM3-32GB": 6.25 * G,
}


def network_of(part_used: Accelerator, per_server: int) -> NominalNetwork:
    """A uniform cluster of that part."""
    return NominalNetwork(
        per_server,
        BytesPerSecond(INSIDE.get(part_used.name, 10 * G)),
        BytesPerSecond(OUTSIDE.get(part_used.name, 1.25 * G)),
    )
