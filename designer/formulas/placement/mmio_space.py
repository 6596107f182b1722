"""Address space a virtual machine needs for the memory of its GPUs: the 64-bit MMIO setting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from designer.errors import AnalysisError
from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import parse_size

SOURCES: Final = ("denneman-2023-gpu-setup", "nvidia-aie-user-guide")
_KEY: Final = "denneman-2023-gpu-setup"

GIB: Final = parse_size("1 GiB")
LEAST: Final = Constant(
    64 * GIB, 64 * GIB, 64 * GIB, _KEY, Status.DERIVED, "B", "of each GPU; needed for the row of 16 GB boards"
)


def mmio_space(framebuffers: Sequence[float]) -> float:
    """Setting ``pciPassthru.64bitMMIOSizeGB`` of a machine with these GPUs [B].

    Parameters
    ----------
    framebuffers
        Memory of each GPU, all of it whatever the profile [B].

    Raises
    ------
    AnalysisError
        If there is no GPU, or one without memory.

    Notes
    -----
    Sum of max(64 GiB, 2 × next power of two), rounded up to a power of two.

    Sources
    -------
    Post of 2023-05-30; NVIDIA AI Enterprise user guide.
    """
    if not framebuffers or min(framebuffers) <= 0:
        raise AnalysisError("a GPU without memory has no address space", place="framebuffers", remedy="give its memory")
    return _power(sum(max(LEAST.value, 2 * _power(each)) for each in framebuffers))


def _power(size: float) -> float:
    """The next power of two [B], in whole GiB; what a data sheet rounds up to GB is no more than that many GiB."""
    found = GIB
    while found < size:
        found *= 2
    return found


FORMULA: Final = Formula(
    name="mmio-space",
    title="64-bit MMIO space of a virtual machine with GPUs",
    function=mmio_space,
    sources=SOURCES,
    valid_when="GPUs with large BARs, EFI firmware; a larger value costs a few tens of MB",
)
