"""An IOMMU that translates every block instead of passing it through."""

from designer.decisions.fault import Effect, slower
from designer.decisions.faults._shares import KERNEL

FAULT = slower(
    "IOMMU translating",
    "the IOMMU translates every block",
    "boot with iommu=pt",
    Effect(("fio", "store"), KERNEL),
)
