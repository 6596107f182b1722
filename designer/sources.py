"""Where numbers come from. Every catalog value and every constant in a formula points to a source.

Standard library only, so that formulas can use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


class Status(StrEnum):
    """How sure a value is, best first."""

    PRIMARY = "primary"  #: vendor document, vendor source code, or dump of a real machine
    SECONDARY = "secondary"  #: third-party page or repository
    DERIVED = "derived"  #: arithmetic on values that have a source
    UNVERIFIED = "unverified"  #: general knowledge, not found in a source
    ASSUMED = "assumed"  #: chosen by us so that something can be computed; shown as such

    @property
    def is_sure(self) -> bool:
        """True if the value can be trusted without a warning."""
        return self not in (Status.UNVERIFIED, Status.ASSUMED)


#: order from best to worst, for "as sure as its weakest input"
STATUS_RANK: Final = {status: rank for rank, status in enumerate(Status)}


def weakest(*statuses: Status) -> Status:
    """The least sure of the given statuses."""
    return max(statuses, key=STATUS_RANK.__getitem__)


@dataclass(frozen=True, slots=True)
class Source:
    """A document, page, dump or stated assumption that a number was read from."""

    key: str
    title: str
    status: Status = Status.SECONDARY
    publisher: str = ""
    locator: str = ""
    url: str = ""
    accessed: str = ""


@dataclass(frozen=True, slots=True)
class Constant:
    """A number in a formula, with its band, source and how sure it is. SI units.

    Parameters
    ----------
    value, low, high
        The value and the band it is believed to lie in with 80 % confidence, SI.
    source
        Key of the source in ``assets/sources/``.
    unit
        SI unit, ``"1"`` for a ratio.
    """

    value: float
    low: float
    high: float
    source: str
    status: Status
    unit: str = "1"
    note: str = ""

    def __post_init__(self) -> None:
        if not self.low <= self.value <= self.high:
            raise AssertionError(f"constant {self.value} lies outside its band {self.low}–{self.high}")

    def __float__(self) -> float:
        return self.value


@dataclass(frozen=True, slots=True)
class Estimate:
    """A computed number with its 80 % band and the keys of the sources it rests on. SI units."""

    value: float
    low: float
    high: float
    unit: str
    sources: tuple[str, ...] = ()
    note: str = ""
    details: Mapping[str, float] = field(default_factory=dict[str, float])
