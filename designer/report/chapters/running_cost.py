"""Running cost: what a token, a step, a request costs at the reader's own rent, prices and tariff."""

from __future__ import annotations

from typing import Final

from designer.report.chapter import ChapterKind, muted, strong, text
from designer.report.document import Align, Block, Chapter, Follows, Head, Row, Table, rich
from designer.report.inventory import inventory
from designer.report.running_cost import Hourly, asked, hourly, rent, units
from designer.report.subject import Context, Subject
from designer.report.tables.cost import priced
from designer.report.tables.power import draws, total
from designer.report.wording import DASH, listed

_R: Final = Align.RIGHT
_KNOWN: Final = ("rent", "hardware", "energy")


def build(context: Context, subject: Subject) -> Chapter | None:
    """The chapter; None where the reader gave neither rent, nor years of use, nor a tariff."""
    settings = context.settings
    if not asked(settings.chosen):
        return None
    rows: list[Row] = []
    hours: list[Row] = []
    assumed: list[str] = []
    lead = ""
    for result in subject.results:
        costs = hourly(subject.design, settings, result, context.date)
        made = [(cost, unit) for cost in costs for unit in units(result, cost)]
        if not made:
            continue
        name = result.title.split(",")[0]
        hours += [_hour(name, cost) for cost in costs]
        assumed += [word for cost in costs for word in cost.assumed]
        rows.append(Row((strong(name),), "group"))
        for _, unit in made:
            cost = unit.cost
            low, high = _money(cost.low), _money(cost.high)
            ends = muted("" if low == high else f"{low}{DASH}{high}")
            rows.append(Row((text(unit.name), text(_money(cost.value), "strong"), ends, text(cost.unit))))
            lead = (
                lead or f"{unit.name[:1].upper()}{unit.name[1:]} of {name} costs {_money(cost.value)}\u00a0{cost.unit}"
            )
    follows = [rich(words) for words in _left_out(context, subject, assumed)]
    if not rows and (not subject.results or rent(subject.design, settings.chosen.cost)):
        return None
    if not rows:
        lead = "No cost follows from what was given"
    heads = (Head("What"), Head("Cost", _R), Head("80% band", _R), Head("Currency"))
    blocks: list[Block] = [Table("What one costs", heads, tuple(rows))] if rows else []
    heads = (Head("While this runs"), *(Head(name.capitalize(), _R) for name in _KNOWN), Head("An hour", _R), Head(""))
    if hours:
        blocks.append(Table("An hour", heads, tuple(hours)))
    blocks.append(_inputs(context))
    return Chapter(
        context.key("running-cost", subject),
        "Running cost",
        lead,
        "What does a token or a step cost?",
        (*blocks, Follows(tuple(follows))),
        rich(
            "Every price is yours, and the whole design is paid for while one workload runs. Bands: of the rate"
            " and of the power; nothing is converted between currencies."
        ),
        context.lettered(subject),
    )


def _left_out(context: Context, subject: Subject, assumed: list[str]) -> list[str]:
    """What was assumed, and what is in no sum, in sentences."""
    settings, design = context.settings, subject.design
    chosen, found = settings.chosen, list[str]()
    if assumed:
        found.append(f"Assumed, as it was not given: {listed(list(dict.fromkeys(assumed)))}.")
    rented = rent(design, chosen.cost)
    if chosen.cost.rent is not None and not inventory(design).accelerators:
        found.append("The design has no accelerators to rent: give server_rent, the rent of one server for an hour.")
    if not rented and (settings.prices is None or chosen.cost.years is None):
        found.append("Only energy is in it: for the hardware give a rent, or a price list and the years of use.")
    elif not rented and settings.prices is not None:
        lines = priced(design, settings.prices, context.date)
        missing = list(dict.fromkeys(line.item.model for line in lines if line.missing))
        if missing:
            found.append(f"The price list holds no price of {listed(missing, 6)}: they are in no sum.")
        within = list(dict.fromkeys(line.item.model for line in lines if line.within))
        if within:
            found.append(f"The price of the unit pays for {listed(within, 6)}.")
    if chosen.energy.price is None and not (rented and chosen.cost.energy_in_rent):
        found.append("No tariff was given: energy is in none of these sums.")
    elif chosen.energy.price is not None and (not rented or not chosen.cost.energy_in_rent):
        loads = [total(draws(design, result))[1] for result in subject.results]
        if any(load is None for load in loads):
            found.append("The power of some workloads is not known: their energy is in no sum.")
    found.append("People, building, network outside and licences are in none of these sums.")
    return found


def _hour(name: str, cost: Hourly) -> Row:
    pieces = (text(_money(cost.pieces[k])) if k in cost.pieces else muted("–") for k in _KNOWN)
    return Row((strong(name), *pieces, text(_money(cost.value), "strong"), text(cost.currency)))


def _inputs(context: Context) -> Table:
    """What was given, and what was not."""
    chosen = context.settings.chosen
    cost, tariff = chosen.cost, chosen.energy
    given = (
        ("Rent of an accelerator, an hour", cost.rent, cost.currency),
        ("Rent of a server, an hour", cost.server_rent, cost.currency),
        ("Years of use", cost.years, ""),
        ("Share of the time in use", cost.busy, ""),
        ("One kWh", tariff.price, tariff.currency),
        ("PUE", tariff.pue, ""),
    )
    rows = tuple(
        Row((strong(name), text(f"{value:g}\u00a0{unit}".strip()) if value is not None else muted("not given")))
        for name, value, unit in given
    )
    source = "; ".join(dict.fromkeys(word for word in (cost.source, tariff.source) if word)) or "source not given"
    return Table("Inputs", (Head("What"), Head("Given", _R)), rows, source)


def _money(value: float) -> str:
    """Three digits, without an exponent where one can read it."""
    if value == 0 or 1e-4 <= value < 1e3:
        return f"{value:,.3g}"
    return f"{value:,.0f}" if 1e3 <= value < 1e15 else f"{value:.2e}"


CHAPTER = ChapterKind("running-cost", "Running cost", 142, of_design=build)
