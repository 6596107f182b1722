"""What feeds and cools each kind of rack: power shelves and their loss, busbar, heat into liquid and into air."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from designer.design.document import Design
from designer.report.inventory import Inventory, inventory
from designer.report.tables.racks import Rack, kinds_of_racks, plan_of
from designer.report.tables.table_sheet import Column, TableSheet, Value
from designer.sources import Constant, Status

#: coolant that takes a heat: water with a quarter of propylene glycol, warmed by 10 K [J/(kg K), kg/L, K]
HEAT_CAPACITY: Final = Constant(3900.0, 3850.0, 4186.0, "assumed-cooling", Status.ASSUMED, "J/(kg K)")
DENSITY: Final = Constant(1.02, 0.99, 1.03, "assumed-cooling", Status.ASSUMED, "kg/L")
WARMING: Final = Constant(10.0, 8.0, 15.0, "assumed-cooling", Status.ASSUMED, "K", "coolant out less coolant in")


@dataclass(frozen=True, slots=True)
class Supply:
    """Power and cooling of one rack, by rated power; None where a type does not state what it takes.

    Parameters
    ----------
    load
        Rated power of what is in it [W].
    shelves, capacity
        Power shelves, and their output together [W].
    loss
        Input of the shelves less their output at this load [W].
    half_lost
        Output while half of the shelves are lost [W].
    busbar, busbar_limit
        The most that passes one point of the busbar, shelves sharing the load equally, and what it may carry [W].
    liquid, liquid_limit
        Heat into liquid, and what the rack's liquid cooling takes [W].
    air
        Heat into the air of the room, loss of the shelves included [W].
    unsplit
        Units that draw power and do not state how they are cooled: they count as air cooled.
    """

    rack: Rack
    equal: int
    load: float
    shelves: int
    capacity: float | None
    loss: float
    half_lost: float | None
    busbar: float | None
    busbar_limit: float | None
    liquid: float
    liquid_limit: float | None
    air: float
    unsplit: int

    @property
    def input(self) -> float:
        """At the input of the shelves [W]."""
        return self.load + self.loss

    @property
    def liquid_share(self) -> float:
        """Share of all heat that goes into liquid."""
        return self.liquid / self.input if self.input else 0.0

    @property
    def flow(self) -> float:
        """Coolant that takes the heat into liquid [L/min]."""
        return self.liquid / (HEAT_CAPACITY.value * DENSITY.value * WARMING.value) * 60

    def problems(self) -> tuple[str, ...]:
        """What its supply or cooling cannot carry, in the words of a sentence."""
        found: list[str] = []
        if self.capacity is not None and self.load > self.capacity:
            found.append("needs more than its power shelves give")
        elif self.half_lost is not None and self.load > self.half_lost:
            found.append("needs more than half of its power shelves give: none of its two feeds may be lost")
        if self.busbar is not None and self.busbar_limit is not None and self.busbar > self.busbar_limit:
            found.append("loads its busbar beyond its rating")
        if self.liquid_limit is not None and self.liquid > self.liquid_limit:
            found.append("puts more heat into liquid than its liquid cooling takes")
        return tuple(found)


def supplies(design: Design) -> list[Supply]:
    """Each kind of rack that states power shelves or has liquid-cooled units, most frequent first."""
    stock = inventory(design)
    kinds = sorted(kinds_of_racks(plan_of(design), stock), key=lambda one: -one[1])
    return [s for rack, equal in kinds if (s := _supply(stock, rack, equal)).shelves or s.liquid]


def _supply(stock: Inventory, rack: Rack, equal: int) -> Supply:
    part = stock.net.part(rack.drawn) if rack.drawn >= 0 else None
    stated = {
        name: stock.number(part, name) if part is not None else None
        for name in (
            "power_shelves",
            "power_shelf_capacity",
            "power_shelf_efficiency",
            "busbar_capacity",
            "liquid_capacity",
        )
    }
    load = rack.watts
    shelves, one = int(stated["power_shelves"] or 0), stated["power_shelf_capacity"]
    capacity = shelves * one if shelves and one is not None else None
    liquid, unsplit = 0.0, 0
    for unit in rack.units:
        share = stock.number(stock.net.part(unit.part), "liquid_share")
        liquid += (share or 0.0) * (unit.watts or 0.0)
        unsplit += share is None and bool(unit.watts)
    efficiency = stated["power_shelf_efficiency"]
    loss = load * (1 / efficiency - 1) if shelves and efficiency else 0.0
    return Supply(
        rack,
        equal,
        load,
        shelves,
        capacity,
        loss,
        capacity / 2 if capacity is not None and shelves > 1 else None,
        _busbar(rack, load),
        stated["busbar_capacity"],
        liquid,
        stated["liquid_capacity"],
        load - liquid + loss,
        unsplit,
    )


def _busbar(rack: Rack, load: float) -> float | None:
    """The most that passes a point of the busbar: what shelves below feed in less what units below draw [W]."""
    shelves = [f for f in rack.fixed if f.name == "Power shelf"]
    if not shelves:
        return None
    steps = [(f.at, load / len(shelves)) for f in shelves] + [(u.at, -(u.watts or 0.0)) for u in rack.units]
    most = passing = 0.0
    for _, step in sorted(steps):
        passing += step
        most = max(most, abs(passing))
    return most


def sheet(design: Design) -> TableSheet:
    """Supply and cooling of each kind of rack."""
    rows: list[tuple[Value, ...]] = [
        (
            s.rack.name,
            s.equal,
            s.load,
            s.shelves,
            s.capacity,
            s.half_lost,
            s.loss,
            s.input,
            s.busbar,
            s.busbar_limit,
            s.liquid,
            s.liquid_limit,
            s.air,
            s.flow,
            "; ".join(s.problems()),
        )
        for s in supplies(design)
    ]
    columns = (
        Column("Rack"),
        Column("Equal racks"),
        Column("Rated load", "W"),
        Column("Power shelves"),
        Column("Shelves give", "W"),
        Column("With half of them", "W"),
        Column("Conversion loss", "W"),
        Column("Input", "W"),
        Column("Busbar, at most", "W"),
        Column("Busbar carries", "W"),
        Column("Heat into liquid", "W"),
        Column("Liquid cooling takes", "W"),
        Column("Heat into air", "W"),
        Column("Coolant", "L/min"),
        Column("Problem"),
    )
    notes = (
        f"Coolant warmed by {WARMING.value:g} K, assumed. Units that do not state how they are cooled count as air"
        " cooled. Shelves share the load equally.",
    )
    return TableSheet("Supply", "Supply and cooling of racks", columns, tuple(rows), notes)
