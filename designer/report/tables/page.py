"""The page of a bill of materials."""

from __future__ import annotations

from collections.abc import Mapping

from designer.design.document import Design
from designer.present import numbers
from designer.present.blocks import Change, Column, Figure, Page, State, Table, Tone
from designer.report.tables.bill_of_materials import items_of
from designer.report.tables.order import order
from designer.report.tables.power import draws, total


def page(design: Design, file: str = "DESIGN", sums: Mapping[str, float] | None = None) -> Page:
    """The bill as a page: what is ordered, what comes inside it, and what all of it draws.

    Parameters
    ----------
    file
        How commands name the design.
    sums
        What the price list comes to, by currency.
    """
    items = items_of(design)
    ordered = [i for i in items if not i.inside]
    units = [i for i in ordered if not i.part.startswith("cable/")]
    cables = sum(i.count for i in ordered) - sum(i.count for i in units)
    watts, _, unknown = total(draws(design, None))
    height = sum(i.count * i.height for i in units if i.height is not None)
    count = sum(i.count for i in units)
    what = [numbers.counted(n, one) for n, one in ((count, "unit"), (cables, "cable")) if n]
    head = f"{' and '.join(what) or 'Nothing'} {'are' if count + cables > 1 else 'is'} ordered."
    figures = [
        Figure("", "Rated power", *numbers.split(watts, "W"), note="at most, of the units"),
        Figure("", "Height", numbers.given(height), "U", note="of the units"),
    ]
    figures += [
        Figure("", "Cost", f"{total:,.0f}", currency, note="of what the list prices")
        for currency, total in (sums or {}).items()
    ]
    modules = [line for line in order(design) if line.item == "Transceiver"]
    if modules:
        draw = sum(line.count * (line.watts or 0.0) for line in modules)
        note = f"drawing {numbers.shown(draw, 'W')}, part of what their units draw" if draw else "for the cables"
        figures.append(Figure("", "Transceivers", f"{sum(line.count for line in modules):,}", note=note))
    rows = [
        (
            f"{i.count:,}",
            f"  {i.model}" if i.inside else i.model,
            i.role if not i.inside else "",
            numbers.shown(i.watts, "W") if i.watts is not None else "",
        )
        for i in items
    ]
    heads = (Column("Count", True), Column("Item"), Column("Role"), Column("Rated, one", True))
    remarks = (f"No source states the power of {', '.join(unknown[:3])}.",) if unknown else ()
    changes = (
        Change("Cables and transceivers", command=("bom", file, "--table", "cabling"), tone=Tone.PLAIN),
        Change("As a workbook", command=("bom", file, "-o", "bom.xlsx"), tone=Tone.PLAIN),
        Change("With cost and power", command=("report", file, "-o", "report.html"), tone=Tone.PLAIN),
    )
    return Page(
        f"Bill of materials of {design.title or design.name}",
        State.ANSWERED,
        head,
        tuple(f for f in figures if f.value != "0"),
        table=Table("", heads, tuple(rows)),
        changes=changes,
        remarks=remarks,
        more="Every line, with part ids",
    )
