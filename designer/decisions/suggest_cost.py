"""What an edit costs: money where the user's price list has it, else ports and watts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from designer.units import format_quantity


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of an edit.

    Parameters
    ----------
    unpriced
        How many purchases the price list does not hold: of two edits the one with fewer is cheaper.
    money
        By the price list.
    ports
        Slots, ports and cable ends that are touched.
    watts
        Additional power [W].
    """

    unpriced: int = 0
    money: float = 0.0
    ports: int = 0
    watts: float = 0.0

    @classmethod
    def of(cls, listed: Mapping[str, float] | None, money: float | None, ports: int, watts: float = 0.0) -> Cost:
        """The cost of a purchase; `money` is None where the list does not hold it."""
        if listed is None:
            return cls(0, 0.0, ports, watts)
        return cls(int(money is None), money or 0.0, ports, watts)

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.unpriced + other.unpriced,
            self.money + other.money,
            self.ports + other.ports,
            self.watts + other.watts,
        )

    @property
    def key(self) -> tuple[int, float, int, float]:
        """What costs are compared by, the first that differs: holes in the list, money, ports, watts."""
        return (self.unpriced, round(self.money, 6), self.ports, round(self.watts, 6))

    def text(self, currency: str = "") -> str:
        """For people."""
        words: list[str] = []
        if self.money:
            words.append(f"{self.money:,.0f} {currency}".rstrip())
        if self.unpriced:
            words.append(f"{self.unpriced} not in the price list")
        if self.ports:
            words.append(f"{self.ports:,} slots or ports" if self.ports != 1 else "1 slot or port")
        if self.watts:
            words.append(format_quantity(self.watts, "power"))
        return ", ".join(words) or "nothing to buy"
