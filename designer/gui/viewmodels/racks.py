"""What the racks dialog says of a rack and a unit, and the edits its fields make. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

from designer.design.document import Design
from designer.design.edit import Edit
from designer.design.edits.parts import SetValue
from designer.design.edits.racks import RemoveRacks
from designer.design.selectors import parse_selector
from designer.errors import DocumentError, UnitError
from designer.fields import Quantity
from designer.report.inventory import inventory
from designer.report.rack_moves import limits
from designer.report.tables.racks import Placed, Plan, Rack, feeds_of
from designer.report.wording import percent, quantity
from designer.sources import Status
from designer.units import format_quantity, parse

#: fields of an elevation as values of a rack that is drawn
_VALUES = {"power": "power_capacity", "weight_capacity": "weight_capacity", "height": "height", "feeds": "feeds"}
_DIMENSIONS = {"power": "power", "weight_capacity": "mass"}


@dataclass(frozen=True, slots=True)
class Shown:
    """The fields of a rack as text, and what its feeds carry."""

    name: str
    height: int
    power: str
    weight: str
    loads: str


def shown(rack: Rack) -> Shown:
    """What the fields of a rack say."""
    lines = [f"{rack.used:g} of {rack.height:g} U taken"]
    for feed in feeds_of(rack):
        limit = f" of {quantity(feed.limit, 'W')}, {percent(feed.one_lost / feed.limit)}" if feed.limit else ""
        case = "; with another lost " if rack.feeds > 1 else ""
        worst = f"{case}{quantity(feed.one_lost, 'W')}{limit}" if case else limit
        lines.append(f"Feed {feed.name}: {quantity(feed.all_there, 'W')}{worst}")
    held = sum(u.weight or 0.0 for u in rack.units)
    if held:
        carries = f" of {format_quantity(rack.carries, 'mass')}" if rack.carries else ""
        unknown = sum(u.weight is None for u in rack.units)
        without = f", {unknown} units without a weight" if unknown > 1 else ", one unit without a weight"
        lines.append(f"Holds {format_quantity(held, 'mass')}{carries}{without if unknown else ''}")
    return Shown(
        rack.name,
        int(rack.height),
        format_quantity(rack.power, "power") if rack.power else "",
        format_quantity(rack.carries, "mass") if rack.carries else "",
        "\n".join(lines),
    )


def kind_of_rack(plan: Plan, number: int) -> str:
    """Whether a rack is drawn, given or proposed, as a heading."""
    if not plan.racks:
        return "No racks: nothing is in one"
    rack = plan.racks[number]
    return "Rack, as drawn" if rack.drawn >= 0 else "Rack" if rack.key else "Rack, as proposed"


def facts(unit: Placed) -> str:
    """Height, power and weight of a unit in one line."""
    stated = [f"{unit.height:g} U" if unit.height_known else f"{unit.height:g} U, assumed"]
    stated.append(f"{quantity(unit.watts, 'W')} rated" if unit.watts is not None else "power not stated")
    stated.append(format_quantity(unit.weight, "mass") if unit.weight is not None else "weight not stated")
    return " · ".join(stated)


def feed_choices(rack: Rack) -> list[tuple[str, str]]:
    """Title and key of each feed a unit may hang on."""
    names = "ABCD"[: rack.feeds]
    return [("shared by all feeds", ""), *((f"{name} alone", name) for name in names if rack.feeds > 1)]


def limited(design: Design, plan: Plan, number: int, name: str, value: str | int) -> Edit | None:
    """The edit that gives a rack another name or limit; None where it says what it said.

    Raises
    ------
    DocumentError
        If the value cannot be.
    """
    rack = plan.racks[number]
    now = shown(rack)
    before = {
        "name": now.name,
        "height": now.height,
        "power": now.power,
        "feeds": rack.feeds,
        "weight_capacity": now.weight,
    }[name]
    stated = value.strip() if isinstance(value, str) else value
    if stated == before or (name == "name" and not stated):
        return None
    if name in _DIMENSIONS and stated:
        _positive(str(stated), _DIMENSIONS[name], rack.name)
    if name == "height":
        top = max((u.top - 1 for u in rack.units), default=0.0)
        if isinstance(stated, int) and stated < top:
            raise DocumentError(f"{rack.name} is filled up to unit {top:g}", remedy="move what is above first")
    if rack.drawn < 0:
        return limits(design, plan, number, {name: stated or None})
    path = inventory(design).net.path(rack.drawn)
    steps = parse_selector(path).steps
    # a rack of a group is like the others of it
    within = tuple((step.group, None) for step in steps)
    quantity_ = Quantity(value=stated, source="assumed", status=Status.ASSUMED) if stated else None
    return SetValue((path.rpartition("/")[2],), _VALUES[name], quantity_, within=within)


def _positive(text: str, dimension: str, name: str) -> None:
    try:
        wrong = parse(text, dimension) <= 0
    except UnitError as error:
        raise DocumentError(f"{name}: {error}", remedy="write a number and a unit") from None
    if wrong:
        raise DocumentError(f"{name}: {text!r} must be greater than zero", remedy="write a larger one")


def removed(rack: Rack) -> Edit:
    """The edit that takes a rack away."""
    return RemoveRacks((rack.key,))
