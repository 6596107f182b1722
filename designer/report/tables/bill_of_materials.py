"""Bill of materials: what is ordered, how many, where the number comes from, what it draws and how high it is."""

from __future__ import annotations

from dataclasses import dataclass, replace

from designer.catalog.parttype import part_kinds
from designer.design.document import Design, Part
from designer.report.inventory import Bundle, Inventory, UnitClass, bundles, group_name, inventory
from designer.report.tables.table_sheet import Column, TableSheet, Total, Value
from designer.report.wording import line_rate, listed, quantity
from designer.sources import Status


@dataclass(frozen=True, slots=True)
class BillLine:
    """A line of the bill.

    Parameters
    ----------
    item, model, role
        What it is, what it is sold as, and what it does in the design.
    part
        Its type id, which price lists refer to.
    watts, height, weight
        Of one: rated [W], units of a rack, mass [kg]; None where not stated.
    inside
        True if it comes inside the unit above it.
    unknown
        True if it is a unit of which nothing states a power: it is in no sum.
    """

    item: str
    model: str
    role: str
    part: str
    count: int
    reason: str
    watts: float | None = None
    height: float | None = None
    weight: float | None = None
    status: Status = Status.ASSUMED
    inside: bool = False
    unknown: bool = False


def items_of(design: Design) -> list[BillLine]:
    """All lines: units with their contents, racks, then cables."""
    stock = inventory(design)
    found: list[BillLine] = []
    for unit in stock.classes:
        found += _unit(stock, unit)
    found += _racks(stock)
    found += [_cable(bundle) for bundle in bundles(stock)]
    return found


def _racks(stock: Inventory) -> list[BillLine]:
    """Racks as drawn, equal types together, each with the power shelves that its type states."""
    kinds: dict[str, list[int]] = {}
    for rack in stock.racks.tolist():
        part = stock.net.part(rack)
        kinds.setdefault(part.type or part.label, []).append(rack)
    found: list[BillLine] = []
    for members in kinds.values():
        part, n = stock.net.part(members[0]), len(members)
        found.append(_item(stock, part, n, "racks as drawn", "rack"))
        shelves = int(stock.number(part, "power_shelves") or 0)
        if shelves:
            output = stock.number(part, "power_shelf_capacity")
            model = f"Power shelf, {quantity(output, 'W')}" if output is not None else "Power shelf"
            reason = f"{n:,}\u00a0×\u00a0{shelves}" if n > 1 else f"{shelves} each"
            status = stock.status(part, "power_shelves")
            found.append(
                BillLine("Power shelf", model, "rack", "", n * shelves, reason, height=1.0, status=status, inside=True)
            )
    return found


def _unit(stock: Inventory, unit: UnitClass) -> list[BillLine]:
    role = listed(roles(stock, unit), 5)
    n = unit.count
    own = _item(stock, unit.part, n, "as drawn", role)
    silent = own.watts is None and not any(stock.number(c.part, "power_per_part") for c in unit.contents)
    lines = [replace(own, unknown=silent)]
    contents: dict[tuple[str, str], tuple[Part, int]] = {}
    for content in unit.contents:
        # parts without a type differ by name alone
        key = (content.part.kind, content.part.type or stock.title(content.part))
        part, known = contents.get(key, (content.part, 0))
        contents[key] = (part, known + content.count)
    for part, inside in contents.values():
        each = f"{n:,}\u00a0×\u00a0{inside}" if n > 1 else f"{inside} each"
        lines.append(_item(stock, part, n * inside, each, role, inside=True))
    return lines


def roles(stock: Inventory, unit: UnitClass) -> list[str]:
    """What units of a class are called in the drawing, most first; of very many only those of a sample."""
    step = max(1, unit.count // 2000)
    names = [group_name(stock, m) for m in unit.members[::step].tolist()]
    return sorted(dict.fromkeys(names), key=lambda name: -names.count(name))


def _item(stock: Inventory, part: Part, count: int, reason: str, role: str, inside: bool = False) -> BillLine:
    kind = part_kinds().get(part.kind)
    watts = next((w for name in ("power_max", "power_per_part") if (w := stock.number(part, name)) is not None), None)
    name = "power_max" if stock.number(part, "power_max") is not None else "power_per_part"
    return BillLine(
        kind.title if kind is not None else part.kind,
        stock.title(part),
        role,
        part.type,
        count,
        reason,
        watts,
        stock.number(part, "height"),
        stock.number(part, "weight"),
        stock.status(part, name) if watts is not None else Status.ASSUMED,
        inside,
    )


def _cable(bundle: Bundle) -> BillLine:
    name = {"infiniband": "InfiniBand", "ethernet": "Ethernet", "fabric": "Fabric"}.get(bundle.definition.kind, "")
    rate = line_rate(bundle.rate)
    each = f" × {bundle.each}" if bundle.each > 1 else ""
    return BillLine(
        f"{name} cable".strip(),
        f"{name} {rate}",
        bundle.name,
        f"cable/{bundle.definition.kind}/{rate}".replace("\u00a0", ""),
        bundle.cables,
        f"{len(bundle.a):,} {'link' if len(bundle.a) == 1 else 'links'}{each}",
        status=bundle.status,
    )


def _note(item: BillLine) -> str:
    return "inside" if item.inside else "power unknown" if item.unknown else ""


def sheet(design: Design) -> TableSheet:
    """The bill as a table."""
    rows: list[tuple[Value, ...]] = [
        (i.item, i.model, i.role, i.part, i.count, i.reason, i.watts, i.height, i.weight, _note(i))
        for i in items_of(design)
    ]
    columns = (
        Column("Item"),
        Column("Model"),
        Column("Role"),
        Column("Part"),
        Column("Count"),
        Column("Comes from"),
        Column("Rated, one", "W"),
        Column("Height, one", "U"),
        Column("Weight, one", "kg"),
        Column("Note"),
    )
    notes = ("Empty cells are not stated by a source.",)
    return TableSheet("Bill of materials", "Bill of materials", columns, tuple(rows), notes, _totals(rows))


def _totals(rows: list[tuple[Value, ...]]) -> tuple[Total, ...]:
    """What all units draw, take and weigh; what is inside them is in their own figures."""
    if not rows:
        return ()
    found: list[Total] = []
    for label, column, letter in (
        ("Rated, all units", 6, "G"),
        ("Height, all units", 7, "H"),
        ("Weight, all units", 8, "I"),
    ):
        value = sum(_number(row[4]) * _number(row[column]) for row in rows if row[9] != "inside")
        formula = f'SUMPRODUCT({{E}},{{{letter}}},--({{J}}<>"inside"))'
        found.append(Total(f"{label}, all units", column, formula, value))
    return tuple(found)


def _number(value: Value) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
