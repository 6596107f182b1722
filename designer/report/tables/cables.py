"""Cable schedule: every cable with both ends, its label and its length from the positions of racks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from designer.design.document import Design
from designer.report.inventory import Bundle, Inventory, bundles, inventory, unit_name
from designer.report.tables.racks import Plan, plan_of
from designer.report.tables.table_sheet import Column, TableSheet, Value
from designer.report.wording import line_rate

#: lengths cables are sold in [m]
LENGTHS: Final = (0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100)
#: most cables written to a file
MOST: Final = 200_000
#: how long copper reaches, by the rate of one cable in Gb/s at most [m]
_COPPER: Final = ((100.0, 3.0), (200.0, 3.0), (400.0, 2.5), (800.0, 2.0), (1600.0, 1.5))


@dataclass(frozen=True, slots=True)
class Cable:
    """One cable: its label, both ends as unit and port, where they are placed, and its length [m]."""

    label: str
    a: str
    a_port: str
    b: str
    b_port: str
    a_rack: str
    b_rack: str
    length: float
    kind: str


def length_of(plan: Plan, stock: Inventory, a: int, b: int) -> float:
    """The length to order for a cable between two parts [m]; not a number where one has no place."""
    exact = plan.length(int(stock.unit[a]), int(stock.unit[b]))
    if math.isnan(exact):
        return exact
    return next((float(v) for v in LENGTHS if v >= exact), math.ceil(exact / 10) * 10.0)


def medium(rate: float, length: float) -> str:
    """What a cable of this rate [B/s] and length [m] is made of."""
    if math.isnan(length):
        return ""
    reach = next((m for gb, m in _COPPER if rate * 8e-9 <= gb * 1.001), 1.0)
    return "copper" if length <= reach else "optical"


def cables(design: Design, plan: Plan | None = None) -> Iterator[tuple[Bundle, Cable]]:
    """All cables, bundle by bundle."""
    stock, plan = inventory(design), plan or plan_of(design)
    used: dict[int, int] = {}
    for letter, bundle in enumerate(bundles(stock)):
        number = 0
        for a, b in zip(bundle.a.tolist(), bundle.b.tolist(), strict=True):
            length = length_of(plan, stock, a, b)
            for _ in range(bundle.each):
                number += 1
                ports = []
                for end in (a, b):
                    used[end] = used.get(end, 0) + 1
                    ports.append(used[end])
                yield (
                    bundle,
                    Cable(
                        f"{chr(65 + letter % 26)}{number:04d}",
                        unit_name(stock, a),
                        _port(stock, a, ports[0]),
                        unit_name(stock, b),
                        _port(stock, b, ports[1]),
                        _rack(plan, stock, a),
                        _rack(plan, stock, b),
                        length,
                        f"{bundle.definition.kind} {line_rate(bundle.rate)} {medium(bundle.rate, length)}".strip(),
                    ),
                )


def _port(stock: Inventory, part: int, number: int) -> str:
    """The port an end plugs into: the card's name inside a server, else the number of the port."""
    if int(stock.unit[part]) != part:
        label = stock.net.part(part).label
        return label if number == 1 else f"{label} · {number}"
    return f"port {number}"


def _rack(plan: Plan, stock: Inventory, part: int) -> str:
    k = plan.of_unit.get(int(stock.unit[part]))
    return plan.racks[k].name if k is not None else ""


def sheet(design: Design) -> TableSheet:
    """The whole schedule."""
    rows: list[tuple[Value, ...]] = [
        (
            c.label,
            c.a,
            c.a_port,
            c.a_rack,
            c.b,
            c.b_port,
            c.b_rack,
            None if math.isnan(c.length) else c.length,
            c.kind.replace("\u00a0", " "),
        )
        for _, c in islice(cables(design), MOST)
    ]
    columns = (
        Column("Label"),
        Column("A end"),
        Column("A port"),
        Column("A rack"),
        Column("Z end"),
        Column("Z port"),
        Column("Z rack"),
        Column("Length", "m"),
        Column("Type"),
    )
    plan = plan_of(design)
    notes = () if plan.drawn else ("Lengths follow from proposed rack positions: no racks are drawn.",)
    return TableSheet("Cables", "Cable schedule", columns, tuple(rows), notes)
