"""The pydantic base of every document class, and field types that keep spelled text and check it at the door."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from designer.sources import Status
from designer.units import parse


class Frozen(BaseModel):
    """Immutable, and unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings", validate_default=False)


@lru_cache(maxsize=65536)
def amount(text: str, dimension: str) -> float:
    """The SI value of spelled text; kept, because the same few spellings are read over and over."""
    return parse(text, dimension)


def _quantity_text(dimension: str) -> AfterValidator:
    def check(text: str) -> str:
        amount(text, dimension)
        return text

    return AfterValidator(check)


def _positive(dimension: str) -> AfterValidator:
    def check(text: str) -> str:
        if amount(text, dimension) <= 0:
            raise ValueError(f"{text!r} must be greater than zero")
        return text

    return AfterValidator(check)


def _not_negative(dimension: str) -> AfterValidator:
    def check(text: str) -> str:
        if amount(text, dimension) < 0:
            raise ValueError(f"{text!r} must not be negative")
        return text

    return AfterValidator(check)


def _share_text(dimension: str) -> AfterValidator:
    def check(text: str) -> str:
        if not 0 <= amount(text, dimension) <= 1:
            raise ValueError(f"{text!r} must lie between 0 and 1")
        return text

    return AfterValidator(check)


#: data rate as text, ``"400 Gb/s"``, greater than zero
DataRate = Annotated[str, _positive("rate")]
#: amount of data as text, ``"80 GiB"``
DataSize = Annotated[str, _quantity_text("size")]
#: data rate as text that may be zero, ``"0 B/s"``
DataRateOrZero = Annotated[str, _not_negative("rate")]
#: amount of data as text, greater than zero
SomeData = Annotated[str, _positive("size")]
#: duration as text, greater than zero
SomeTime = Annotated[str, _positive("duration")]
#: power and mass as text, greater than zero
SomePower = Annotated[str, _positive("power")]
SomeMass = Annotated[str, _positive("mass")]
#: a share of a whole as text, ``"0.4"`` or ``"40 %"``
Share = Annotated[str, _share_text("ratio")]
#: events per second as text, ``"25000 1/s"``, zero or more
Frequency = Annotated[str, _not_negative("frequency")]


class Quantity(Frozen):
    """A value as it was written, with where it comes from and how sure it is.

    ``value`` is spelled text for quantities (``"80 GiB"``), an integer for counts, plain text for names.
    ``low`` and ``high`` give the band in the same spelling where it is known.
    """

    value: str | int | bool
    source: str = ""
    status: Status = Status.SECONDARY
    low: str | int | None = None
    high: str | int | None = None
    note: str = ""

    def si(self, dimension: str) -> float:
        """The value in SI units of `dimension`; counts and flags as numbers."""
        if isinstance(self.value, str):
            return amount(self.value, dimension)
        return float(self.value)
