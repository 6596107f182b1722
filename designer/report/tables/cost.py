"""Cost: from the user's own price list alone; what it does not hold is listed, never guessed."""

from __future__ import annotations

import csv
import datetime
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass

from designer.decisions.suggest_candidates import Prices
from designer.design.document import Design
from designer.errors import FormatError
from designer.report.tables.bill_of_materials import BillLine, items_of
from designer.report.tables.order import Media, OrderLine, order
from designer.report.tables.table_sheet import Column, TableSheet, Total, Value
from designer.workload.text_files import csv_errors

#: heads of a price list; those behind ``part`` and ``price`` may be missing
HEADS = ("part", "currency", "price", "date", "valid_until", "lead_time")
_MOST = 100_000
#: in the id of a type that is no product
_ANY = "/generic/"
#: begins the id of a cable known by kind and rate alone
_CABLE = "cable/"


@dataclass(frozen=True, slots=True)
class Price:
    """What one of a part costs, with the day it was given and the last day it holds."""

    part: str
    currency: str
    price: float
    date: str = ""
    valid_until: str = ""
    lead_time: str = ""


def read_prices(text: str, file: str = "") -> Mapping[str, Price]:
    """A price list from CSV: part (its id or its model as the bill writes it), currency, price, date, validity.

    Raises
    ------
    FormatError
        If heads are missing, or a price is no number.
    ExchangeError
        If it is no CSV.
    """
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
    with csv_errors(lambda: reader.reader.line_num, file):
        return _prices(reader, file)


def _prices(reader: csv.DictReader[str], file: str) -> Mapping[str, Price]:
    heads = {(name or "").strip().lower(): name for name in reader.fieldnames or ()}
    missing = [name for name in ("part", "currency", "price") if name not in heads]
    if missing:
        raise FormatError(
            f"the price list has no column {missing[0]!r}",
            file=file,
            place="line 1",
            remedy=f"its first line names the columns: {', '.join(HEADS)}",
        )
    found: dict[str, Price] = {}
    for number, row in enumerate(reader, start=2):
        if number > _MOST:
            raise FormatError(f"the price list has more than {_MOST:,} lines", file=file, remedy="keep what is ordered")
        stated = {name: (row.get(heads[name]) or "").strip() if name in heads else "" for name in HEADS}
        if not stated["part"]:
            continue
        try:
            price = float(stated["price"].replace(",", ""))
        except ValueError:
            price = float("nan")
        if not 0 <= price < 1e12:
            raise FormatError(
                f"{stated['price'][:40]!r} is no price",
                file=file,
                place=f"line {number}",
                remedy="write a number, as 1234.50",
            )
        if not stated["currency"]:
            raise FormatError("a price has no currency", file=file, place=f"line {number}", remedy="write one, as USD")
        found[stated["part"].lower()] = Price(
            stated["part"],
            stated["currency"].upper(),
            price,
            stated["date"],
            stated["valid_until"],
            stated["lead_time"],
        )
    return found


@dataclass(frozen=True, slots=True)
class Priced:
    """A line of the bill with its price; None where the list has none.

    Parameters
    ----------
    within
        True if the price of the unit above it pays for it.
    """

    item: BillLine
    price: Price | None
    expired: bool = False
    within: bool = False

    @property
    def missing(self) -> bool:
        """True if nothing in the list pays for it."""
        return self.price is None and not self.within

    @property
    def sum(self) -> float:
        """Price of all of them."""
        return self.price.price * self.item.count if self.price is not None else 0.0


def priced(
    design: Design,
    prices: Mapping[str, Price],
    today: datetime.date | None = None,
    media: Media = "any",
    spares: float | None = None,
) -> list[Priced]:
    """The bill with prices.

    Notes
    -----
    The price of a product, such as a DGX H100, pays for what is inside. That of a server of no product pays for what
    is inside and has no price of its own in the list. Cables have one price by kind and rate, or are priced as
    ordered: modules, and cables by part number, or by medium, rate and length, spares included.
    """
    found: list[Priced] = []
    covered = product = False
    for item in items_of(design):
        price = prices.get(item.part.lower()) or prices.get(item.model.lower()) if item.part or item.model else None
        if not item.inside:
            covered, product = price is not None, bool(item.part) and _ANY not in item.part
        elif covered and (product or price is None):
            found.append(Priced(item, None, within=True))
            continue
        found.append(Priced(item, price, _is_expired(price, today)))
    cables = [line for line in found if line.item.part.startswith(_CABLE)]
    if any(line.price is None for line in cables):
        found = [line for line in found if line not in cables]
        found += [_ordered_lines(line, prices, today) for line in order(design, media, spares)]
    return found


def _ordered_lines(line: OrderLine, prices: Mapping[str, Price], today: datetime.date | None) -> Priced:
    price = next((p for name in line.prices if (p := prices.get(name.lower())) is not None), None)
    model = line.title if math.isnan(line.length) else f"{line.title}, {line.length:g}\u00a0m"
    reason = f"{line.links:,} links and {line.spares:,} spares"
    part = line.part or line.prices[0]
    item = BillLine(line.item, model, line.role, part, line.count + line.spares, reason, line.watts)
    return Priced(item, price, _is_expired(price, today))


def _is_expired(price: Price | None, today: datetime.date | None) -> bool:
    if price is None or today is None or not price.valid_until:
        return False
    try:
        return datetime.date.fromisoformat(price.valid_until) < today
    except ValueError:
        return False


def totals(lines: list[Priced]) -> dict[str, float]:
    """Sums by currency; nothing is converted."""
    found: dict[str, float] = {}
    for line in lines:
        if line.price is not None:
            found[line.price.currency] = found.get(line.price.currency, 0.0) + line.sum
    return found


def one_currency(prices: Mapping[str, Price] | None, file: str | None = None) -> Prices:
    """A price list as searches use it.

    Raises
    ------
    FormatError
        If its prices are in several currencies, which cannot be added.
    """
    currencies = sorted({p.currency for p in (prices or {}).values()})
    if len(currencies) > 1:
        raise FormatError(
            f"prices in {' and '.join(currencies)} cannot be added", file=file, remedy="give all in one currency"
        )
    if prices is None:
        return Prices()
    return Prices({name: p.price for name, p in prices.items()}, currencies[0] if currencies else "")


def sheet(
    design: Design,
    prices: Mapping[str, Price],
    today: datetime.date | None = None,
    media: Media = "any",
    spares: float | None = None,
) -> TableSheet:
    """The table of prices."""
    rows: list[tuple[Value, ...]] = []
    for line in priced(design, prices, today, media, spares):
        p = line.price
        note = (
            "in the price of the unit"
            if line.within
            else "no price in the list"
            if p is None
            else "no longer valid"
            if line.expired
            else ""
        )
        rows.append(
            (
                line.item.item,
                line.item.model,
                line.item.part,
                line.item.count,
                p.price if p else None,
                line.sum if p else None,
                p.currency if p else None,
                p.date if p else None,
                p.valid_until if p else None,
                p.lead_time if p else None,
                note,
            )
        )
    columns = (
        Column("Item"),
        Column("Model"),
        Column("Part"),
        Column("Count"),
        Column("Price, one"),
        Column("Sum"),
        Column("Currency"),
        Column("Date"),
        Column("Valid until"),
        Column("Lead time"),
        Column("Note"),
    )
    return TableSheet("Cost", "Cost", columns, tuple(rows), totals=_totals(rows))


def _totals(rows: list[tuple[Value, ...]]) -> tuple[Total, ...]:
    """A total for each currency; nothing is converted."""
    sums: dict[str, float] = {}
    for row in rows:
        if isinstance(row[6], str) and isinstance(row[5], int | float):
            sums[row[6]] = sums.get(row[6], 0.0) + row[5]
    plain = {currency: value for currency, value in sums.items() if currency.isalnum()}
    return tuple(Total(f"Total, {c}", 5, f'SUMIF({{G}},"{c}",{{F}})', value) for c, value in plain.items())
