"""Racks: positions of units, how high and heavy it is, and whether a rack feeds it."""

from __future__ import annotations

from designer.report.chapter import ChapterKind, muted, strong, text
from designer.report.charts.elevation import elevation
from designer.report.document import Align, Block, Chapter, Drawing, Follows, Head, Row, Table, rich
from designer.report.subject import Context, Subject
from designer.report.tables.racks import EMPTY, FOOTPRINT, Plan, Rack, kinds_of_racks
from designer.report.tables.supply import WARMING, Supply, supplies
from designer.report.wording import counted, listed, percent, quantity


def build(context: Context, subject: Subject) -> Chapter | None:
    """The chapter; None where nothing is in racks."""
    plan, stock = subject.plan, subject.stock
    if not plan.racks:
        return None
    kinds = sorted(kinds_of_racks(plan, stock), key=lambda one: -one[1])
    blocks: list[Block] = [
        Drawing(
            elevation(kinds),
            f"Elevation of each kind of rack, {counted(len(plan.racks), 'rack')} together",
            "Elevation",
            "one rack of each kind",
            rich("Dashed: the height is not stated by a source and assumed."),
        )
    ]
    blocks.append(_space(kinds))
    heavy = _weights(kinds)
    if heavy is not None:
        blocks.append(heavy)
    fed = supplies(subject.design)
    if fed:
        blocks.append(_supply(fed))
    return Chapter(
        context.key("racks", subject),
        "Racks",
        _title(plan),
        "Where does it sit?",
        (*blocks, _next_steps(subject, fed)),
        muted(
            "As drawn."
            if plan.drawn
            else "No positions are drawn: servers fill racks, network and storage are in the middle of the row."
        ),
        context.lettered(subject),
    )


def _space(kinds: list[tuple[Rack, int]]) -> Table:
    """Units used, power and feeds of each kind of rack."""
    rows: list[Row] = []
    for rack, equal in kinds[:10]:
        share = rack.watts / rack.power if rack.power else 0.0
        rows.append(
            Row(
                (
                    strong(rack.name),
                    text(f"{equal:,}"),
                    text(f"{rack.used:g} of {rack.height:g}"),
                    text(quantity(rack.watts, "W") if rack.watts else "–"),
                    text(quantity(rack.power, "W") if rack.power else "–"),
                    text(percent(share) if rack.power and rack.watts else "–", "alarm" if share > 1 else ""),
                )
            )
        )
    r = Align.RIGHT
    heads = (
        Head("Rack"),
        Head("Count", r),
        Head("Units used", r),
        Head("Rated", r),
        Head("Feeds", r),
        Head("Filled", r),
    )
    return Table("Space and power of each kind", heads, tuple(rows))


def _next_steps(subject: Subject, fed: list[Supply]) -> Follows:
    """What to change about racks that are overloaded, and what is still to be asked."""
    plan, stock = subject.plan, subject.stock
    over = [k for k in plan.racks if k.power and k.watts > k.power]
    follows = []
    if over:
        follows.append(
            rich(
                f"{counted(len(over), 'rack')} would need more power than the rack feeds: spread the units or raise the"
                " feed."
            )
        )
    if not plan.drawn:
        follows.append(
            rich(
                "These positions are a proposal by height and rated power; draw racks in the design, or set their"
                " height and power in the settings of the report, to replace it."
            )
        )
    follows += [rich(f"{s.rack.name} {problem}.") for s in fed for problem in s.problems()]
    nameless = list(dict.fromkeys(stock.title(u.part) for u in stock.classes if stock.number(u.part, "weight") is None))
    if nameless:
        follows.append(
            rich(
                f"{listed(nameless)} {'states' if len(nameless) == 1 else 'state'} no weight and"
                f" {'is' if len(nameless) == 1 else 'are'} in no sum: ask the vendor before you ask about the floor."
            )
        )
    crushed = [k for k in plan.racks if k.carries and k.weight - (k.empty or 0.0) > k.carries]
    if crushed:
        follows.append(
            rich(f"{counted(len(crushed), 'rack')} would hold more than the rack carries: spread the units.")
        )
    tallest = _fullest(plan)
    follows.append(rich(f"The fullest rack keeps {tallest.height - tallest.used:g} units free."))
    return Follows(tuple(follows))


def _fullest(plan: Plan) -> Rack:
    return max(plan.racks, key=lambda k: k.used)


def _title(plan: Plan) -> str:
    """How many devices are in how many racks, and how full the fullest is."""
    tallest = _fullest(plan)
    units = sum(len(k.units) for k in plan.racks)
    title = f"{counted(units, 'device')} {'is' if units == 1 else 'are'} in {counted(len(plan.racks), 'rack')}"
    filled = f"{tallest.used:g} of {'its ' if len(plan.racks) == 1 else ''}{tallest.height:g} units"
    title += (
        f" and {'takes' if units == 1 else 'take'} {filled}"
        if len(plan.racks) == 1
        else (f", the fullest with {filled}")
    )
    return title + ("" if plan.drawn else ", as proposed")


def _supply(fed: list[Supply]) -> Table:
    """Power shelves, busbar, and heat into liquid and air of each kind of rack."""
    rows = [
        Row(
            (
                strong(s.rack.name),
                text(f"{s.shelves}" if s.shelves else "–"),
                text(f"{quantity(s.load, 'W')} of {quantity(s.half_lost, 'W')}" if s.half_lost else "–"),
                text(quantity(s.loss, "W") if s.shelves else "–"),
                text(
                    f"{quantity(s.busbar, 'W')} of {quantity(s.busbar_limit, 'W')}"
                    if s.busbar is not None and s.busbar_limit
                    else "–"
                ),
                text(f"{quantity(s.liquid, 'W')}, {percent(s.liquid_share)}", "alarm" if s.problems() else "strong"),
                text(quantity(s.air, "W")),
                text(f"{s.flow:,.0f}\u00a0L/min" if s.liquid else "–"),
            )
        )
        for s in fed[:10]
    ]
    r = Align.RIGHT
    heads = (
        Head("Rack"),
        Head("Shelves", r),
        Head("Load, of half of them", r),
        Head("Loss", r),
        Head("Busbar at most", r),
        Head("Into liquid", r),
        Head("Into air", r),
        Head("Coolant", r),
    )
    note = rich(f"Rated power. Coolant warmed by {WARMING.value:g} K, assumed. Shelves share the load equally.")
    return Table("Supply and cooling", heads, tuple(rows), "", note)


def _weights(kinds: list[tuple[Rack, int]]) -> Table | None:
    """Weight of each kind of rack, a unit of height, and what the floor bears; None where no unit states its own."""
    shown = [(rack, equal) for rack, equal in kinds[:10] if rack.unweighed < len(rack.units)]
    if not shown:
        return None
    rows: list[Row] = []
    for rack, equal in shown:
        units = rack.weight - (rack.empty if rack.empty is not None else EMPTY.value)
        known = sum(u.height for u in rack.units if u.weight is not None)
        missing = f"{rack.unweighed} of {len(rack.units)}" if rack.unweighed else "none"
        rows.append(
            Row(
                (
                    strong(rack.name),
                    text(f"{equal:,}"),
                    text(quantity(units, "kg")),
                    text(f"{units / known:,.1f}\u00a0kg"),
                    text(quantity(rack.weight, "kg"), "strong"),
                    text(f"{rack.floor_load:,.1f}\u00a0kN/m²"),
                    text(missing, "alarm" if rack.unweighed else ""),
                )
            )
        )
    heads = (
        Head("Rack"),
        Head("Count", Align.RIGHT),
        Head("Units", Align.RIGHT),
        Head("A unit of height", Align.RIGHT),
        Head("With the rack", Align.RIGHT),
        Head("On the floor", Align.RIGHT),
        Head("Without a weight", Align.RIGHT),
    )
    note = (
        f"Floor: {FOOTPRINT.value:g} m² a rack, assumed; a rack that does not say weighs {EMPTY.value:.0f} kg, assumed."
    )
    return Table("Weight", heads, tuple(rows), "cables and feeds aside", rich(note))


CHAPTER = ChapterKind("racks", "Racks", 120, of_design=build)
