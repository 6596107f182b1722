"""Moving units between racks: why one cannot stand somewhere, where the next place is, and the edit that puts it there.

Moving the first unit of a proposal accepts the whole proposal: its racks become elevations of the design.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from designer.design.document import Design, Elevation, RackPlace
from designer.design.edit import Edit, changed
from designer.design.edits.parts import SetParent
from designer.design.edits.racks import SetRacks
from designer.design.edits.together import Together
from designer.design.ids import Numberer
from designer.report.inventory import Inventory, inventory
from designer.report.tables.racks import Placed, Plan, Rack
from designer.report.wording import quantity
from designer.units import format_quantity


def placed(plan: Plan, member: int) -> Placed:
    """The unit of a part number.

    Raises
    ------
    KeyError
        If it is in no rack.
    """
    for unit in plan.racks[plan.of_unit[member]].units:
        if unit.part == member:
            return unit
    raise KeyError(member)


def why_not(design: Design, plan: Plan, member: int, to: int, at: int) -> str:
    """Why a unit cannot stand in rack number `to` with its lowest rack unit at `at`; empty if it can."""
    unit, rack, old = placed(plan, member), plan.racks[to], plan.of_unit[member]
    if at < 1:
        return "below the lowest rack unit"
    if at - 1 + unit.height > rack.height:
        return f"beyond the height of the rack: it would reach unit {at - 1 + unit.height:g} of {rack.height:g}"
    other = next((u for u in rack.units if u.part != member and at < u.top and u.at < at + unit.height), None)
    fixture = next((f for f in rack.fixed if at < f.top and f.at < at + unit.height), None)
    if fixture is not None:
        return f"occupied: {fixture.name.lower()} in unit {fixture.at:g}"
    if other is not None:
        units = f"unit {other.at:g}" if other.height <= 1 else f"units {other.at:g} to {other.top - 1:g}"
        return f"occupied: {other.name} takes {units}"
    if to == old:
        return ""
    stock = inventory(design)
    around = int(stock.rack[member])
    if around >= 0 and not _is_movable(stock, member, around, rack):
        if max(member, around) >= stock.net.own_parts:
            return f"{plan.racks[old].name} is one of a group, whose racks hold the same: ungroup them to move it"
        return f"it is drawn inside {plan.racks[old].name}: move it there in the drawing"
    draw = rack.watts + (unit.watts or 0.0)
    if rack.power and draw > rack.power:
        return f"over its power: {quantity(draw, 'W')} rated, the rack feeds {quantity(rack.power, 'W')}"
    held = sum(u.weight or 0.0 for u in rack.units) + (unit.weight or 0.0)
    if rack.carries and held > rack.carries:
        return (
            f"over its weight: {format_quantity(held, 'mass')} in it, the rack carries"
            f" {format_quantity(rack.carries, 'mass')}"
        )
    return ""


def _is_movable(stock: Inventory, member: int, around: int, to: Rack) -> bool:
    """A part of the outermost block may change from rack to rack, both drawn next to it; members of groups may not."""
    own = stock.net.own_parts
    return member < own and around < own and 0 <= to.drawn < own


def next_place(design: Design, plan: Plan, member: int, by: int) -> int | None:
    """The next rack unit up (`by` 1) or down (−1) where a unit may stand in its rack; None where there is none."""
    rack, at = plan.racks[plan.of_unit[member]], int(placed(plan, member).at)
    while True:
        at += by
        if at < 1 or at > rack.height:
            return None
        if not why_not(design, plan, member, plan.of_unit[member], at):
            return at


def nearest_place(design: Design, plan: Plan, member: int, to: int) -> tuple[int, str]:
    """The place in a rack nearest to the height a unit has now, or 0 and why there is none."""
    wish = int(placed(plan, member).at)
    reason = ""
    for at in sorted(range(1, int(plan.racks[to].height) + 1), key=lambda u: (abs(u - wish), u)):
        found = why_not(design, plan, member, to, at)
        if not found:
            return at, ""
        # what holds anywhere in the rack says more than that one place is taken
        reason = found if not reason or reason.startswith(("occupied", "beyond")) else reason
    return 0, "no room: nothing high enough is free" if reason.startswith(("occupied", "beyond")) else reason


def move(
    design: Design, plan: Plan, member: int, to: int, at: int, feed: str | None = None, gesture: Hashable | None = None
) -> Edit:
    """The edit that puts a unit into rack number `to`, its lowest rack unit at `at`, on a feed if one is named."""
    stock, unit, old = inventory(design), placed(plan, member), plan.of_unit[member]
    place = RackPlace.model_validate({"unit": at, "feed": unit.feed if feed is None else feed})
    path = stock.net.path(member)
    new = {n: _without_unit(e, path) for n, e in _elevations(design, plan, {old, to}).items()}
    new[to] = new[to].model_copy(update={"units": {**new[to].units, path: place}})
    title = f"Move {unit.name} to {plan.racks[to].name}, unit {at}" if feed is None else f"Feed of {unit.name}"
    racks = SetRacks(tuple(e for n, e in new.items() if _says(design, e, n, plan)), title, gesture=gesture)
    around = int(stock.rack[member])
    if around >= 0 and old != to:
        parent = SetParent((path,), stock.net.path(plan.racks[to].drawn))
        return Together((parent, racks), title, gesture=gesture)
    return racks


def _says(design: Design, elevation: Elevation, number: int, plan: Plan) -> bool:
    """False if an elevation says nothing that the drawing does not."""
    return bool(elevation.id in design.racks or elevation.units or plan.racks[number].drawn < 0)


def _without_unit(elevation: Elevation, path: str) -> Elevation:
    if path not in elevation.units:
        return elevation
    return elevation.model_copy(update={"units": {p: at for p, at in elevation.units.items() if p != path}})


def _elevations(design: Design, plan: Plan, wanted: Iterable[int]) -> dict[int, Elevation]:
    """Elevations of some racks, and of all that are proposed, by their numbers."""
    stock = inventory(design)
    ids = Numberer(design.racks)
    chosen = set(wanted) | {n for n, rack in enumerate(plan.racks) if rack.proposed}
    found: dict[int, Elevation] = {}
    for n in sorted(chosen):
        rack = plan.racks[n]
        if rack.key:
            found[n] = design.racks[rack.key]
        elif rack.drawn >= 0:
            found[n] = Elevation(id=ids.take("rack1"), part=stock.net.path(rack.drawn))
        else:
            units = {stock.net.path(u.part): RackPlace(unit=int(u.at)) for u in rack.units}
            found[n] = Elevation(
                id=ids.take("rack1"),
                name=rack.name,
                height=int(rack.height),
                power=format_quantity(rack.power, "power") if rack.power else None,
                units=units,
            )
    return found


def limits(design: Design, plan: Plan, number: int, changes: dict[str, object]) -> Edit:
    """The edit that changes name, height, power, feeds or weight of a rack that is not drawn.

    Raises
    ------
    DocumentError
        If a value cannot be.
    """
    every = _elevations(design, plan, {number})
    every[number] = changed(every[number], changes, f"racks.{every[number].id}")
    what = " and ".join(changes).replace("_", " ")
    return SetRacks(tuple(every.values()), f"Change {what} of {plan.racks[number].name}")


def new_rack(design: Design, plan: Plan, like: int) -> Edit:
    """The edit that adds an empty rack with the limits of another one."""
    every = _elevations(design, plan, ())
    rack = plan.racks[like]
    taken = {*design.racks, *(e.id for e in every.values())}
    names = {r.name for r in plan.racks}
    name = Numberer(names).take(f"Rack {len(plan.racks) + 1}")
    fresh = Elevation(
        id=Numberer(taken).take(f"rack{len(plan.racks) + 1}"),
        name=name,
        height=int(rack.height),
        power=format_quantity(rack.power, "power") if rack.power else None,
        feeds=rack.feeds,
        weight_capacity=format_quantity(rack.carries, "mass") if rack.carries else None,
    )
    return SetRacks((*every.values(), fresh), f"Add {name}")
