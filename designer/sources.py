"""Where numbers come from. Every catalog value and every constant in a formula points to a source.

Standard library only, so that formulas can use it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
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


#: half the width of an 80 % band of a normal distribution, in standard deviations
EIGHTY: Final = Constant(1.2816, 1.2816, 1.2816, "counted-serving", Status.PRIMARY, "1", "of a normal distribution")


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

    @classmethod
    def exact(cls, value: float, unit: str, sources: tuple[str, ...] = (), note: str = "") -> Estimate:
        """A value that is counted or asked for: its band has no width."""
        return cls(value, value, value, unit, sources, note)

    @classmethod
    def relative(
        cls, value: float, low: float, high: float, unit: str, sources: tuple[str, ...] = (), note: str = ""
    ) -> Estimate:
        """A value whose band is given relative to it [1]."""
        return cls(value, value * low, value * high, unit, sources, note)

    @classmethod
    def over(cls, values: Sequence[float], unit: str, sources: tuple[str, ...] = (), note: str = "") -> Estimate:
        """The first of several values; the smallest and the largest of all are its band."""
        return cls(values[0], min(values), max(values), unit, sources, note)

    @classmethod
    def total(cls, parts: Sequence[Estimate], sources: tuple[str, ...] = ()) -> Estimate:
        """Parts added up, all at one end of their bands at once; with the sources of the first if none are given."""
        low, high = sum(part.low for part in parts), sum(part.high for part in parts)
        return cls(sum(part.value for part in parts), low, high, parts[0].unit, sources or parts[0].sources)

    def scaled(self, factor: float) -> Estimate:
        """So many times as much, the band with it."""
        return replace(self, value=self.value * factor, low=self.low * factor, high=self.high * factor)
