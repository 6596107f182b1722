"""Number formats of served weights and of cached keys and values: bytes per element, and the peak rate that counts."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from designer.errors import AnalysisError
from designer.sources import Constant, Status


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """How weights are kept and multiplied.

    Parameters
    ----------
    size
        Bytes per weight, block scales included [B].
    runs
        Keys of peak rates it may run at, the first that a device has counts.
    dense
        Format of attention and shared projections where only the experts are stored in this one; empty: the same.
    """

    name: str
    size: Constant
    runs: tuple[str, ...]
    dense: str = ""

    @property
    def kernels(self) -> str:
        """Format whose kernels multiply it: experts stored in one run the same ones whatever attention is stored in."""
        return self.name.partition("-experts")[0]

    @property
    def narrow(self) -> bool:
        """True if products run with their own scales, so with the floors of such kernels."""
        return self.runs[0] in ("fp8", "int8", "fp4")


def _stored_size(value: float) -> Constant:
    return Constant(value, value, value, "ieee-754", Status.PRIMARY, "B")


def _blocks(value: float, low: float, high: float) -> Constant:
    return Constant(value, low, high, "ocp-mx", Status.PRIMARY, "B", "elements and one scale of 8 bit for each block")


FORMATS: Final = MappingProxyType(
    {
        "fp32": NumberFormat("fp32", _stored_size(4.0), ("fp32",)),
        "tf32": NumberFormat("tf32", _stored_size(4.0), ("tf32", "fp32")),
        "bf16": NumberFormat("bf16", _stored_size(2.0), ("bf16", "fp16", "tf32", "fp32")),
        "fp16": NumberFormat("fp16", _stored_size(2.0), ("fp16", "bf16", "tf32", "fp32")),
        "fp8": NumberFormat("fp8", _stored_size(1.0), ("fp8", "bf16", "fp16", "fp32")),
        "int8": NumberFormat("int8", _stored_size(1.0), ("int8", "fp16", "bf16", "fp32")),
        "nvfp4": NumberFormat("nvfp4", _blocks(0.5625, 0.53125, 0.5625), ("fp4", "bf16", "fp16", "fp32")),
        "nvfp4-experts": NumberFormat(
            "nvfp4-experts", _blocks(0.5625, 0.53125, 0.5625), ("fp4", "bf16", "fp16", "fp32"), "bf16"
        ),
        "nvfp4-experts-fp8": NumberFormat(
            "nvfp4-experts-fp8", _blocks(0.5625, 0.53125, 0.5625), ("fp4", "bf16", "fp16", "fp32"), "fp8"
        ),
        "fp8-experts": NumberFormat("fp8-experts", _stored_size(1.0), ("fp8", "bf16", "fp16", "fp32"), "bf16"),
        "mxfp4": NumberFormat("mxfp4", _blocks(0.53125, 0.53125, 0.5625), ("fp4", "bf16", "fp16", "fp32"), "bf16"),
        "int4": NumberFormat("int4", _blocks(0.53125, 0.5, 0.5625), ("fp16", "bf16", "fp32")),
    }
)
#: what keys and values may be kept in
CACHE_FORMATS: Final = ("bf16", "fp16", "fp8", "int8")


def number_format(name: str) -> NumberFormat:
    """The format called `name`.

    Raises
    ------
    AnalysisError
        If there is none.
    """
    found = FORMATS.get(name)
    if found is None:
        raise AnalysisError(f"{name!r} is no number format of weights", remedy=f"use one of {', '.join(FORMATS)}")
    return found
