"""What is wanted of a design: a workload that has to run, within limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from designer.design.document import Design, WorkloadSpec
from designer.errors import FormatError
from designer.report.tables.cost import Price
from designer.spelling import near
from designer.workload.kind import workload_kinds

MONEY: Final = "money"
POWER: Final = "power_rated"
RACKS: Final = "racks"
#: network ports taken, which represent money where no prices are known
PORTS: Final = "ports"
#: share of the requests that keep all limits of a serving goal
KEPT_SHARE: Final = "requests_within_limits"
GOALS: Final[Mapping[str, str]] = {"train": "training", "serve": "serving", "evacuate": "evacuation"}


@dataclass(frozen=True)
class Wanted:
    """A goal with its limits.

    Parameters
    ----------
    goal
        The workload that has to run.
    limits
        The most, or the least where more is better, of its metrics, in SI units.
    budget
        In the currency of the prices.
    power
        Of all units together, rated [W].
    racks, rack_power, rack_height
        How many, what one feeds [W] and holds [1].
    unpriced
        True to count what the price list does not hold as nothing.
    sure
        True if limits have to hold at the far end of the 80 % bands.
    given
        Values to choose from, by the name of the choice.
    """

    goal: WorkloadSpec
    limits: Mapping[str, float] = field(default_factory=dict[str, float])
    prices: Mapping[str, Price] | None = None
    budget: float | None = None
    power: float | None = None
    racks: int | None = None
    rack_power: float | None = None
    rack_height: float | None = None
    unpriced: bool = False
    sure: bool = False
    base: Design | None = None
    given: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    @property
    def currency(self) -> str:
        """Of the prices; empty without any."""
        return next(iter(self.prices.values())).currency if self.prices else ""


def known_metric(kind: str, name: str) -> str:
    """The name of a metric that workloads of a kind tell.

    Raises
    ------
    FormatError
        If they state none of that name.
    """
    names = workload_kinds()[kind].metrics
    if name in names:
        return name
    raise FormatError(f"{kind} has no {name!r}", place="--limit", remedy=f"use {', '.join(near(name, names) or names)}")
