"""Cost: the bill priced from the user's own list; what the list does not hold is named."""

from __future__ import annotations

from designer.report.chapter import ChapterKind, muted, strong, text
from designer.report.document import Align, Chapter, Follows, Head, Row, Table, rich
from designer.report.subject import Context, Subject
from designer.report.tables.cost import priced, totals
from designer.report.wording import counted, in_words, listed, sentence


def build(context: Context, subject: Subject) -> Chapter | None:
    """The chapter; None without a price list."""
    prices = context.settings.prices
    if prices is None:
        return None
    lines = priced(subject.design, prices, context.date)
    sums = totals(lines)
    rows: list[Row] = []
    for line in lines:
        if line.price is None:
            continue
        p = line.price
        until = p.valid_until or "–"
        rows.append(
            Row(
                (
                    strong(line.item.model),
                    text(f"{line.item.count:,}"),
                    text(f"{p.price:,.2f}"),
                    text(f"{line.sum:,.2f}"),
                    text(p.currency),
                    text(until, "alarm" if line.expired else "muted"),
                    muted(p.lead_time or "–"),
                )
            )
        )
    for currency, value in sums.items():
        rows.append(Row((strong("Sum"), (), (), text(f"{value:,.2f}"), text(currency), (), ()), "total"))
    r = Align.RIGHT
    heads = (
        Head("Item"),
        Head("Count", r),
        Head("Price, one", r),
        Head("Sum", r),
        Head("Currency"),
        Head("Valid until"),
        Head("Lead time"),
    )
    missing = list(dict.fromkeys(line.item.model for line in lines if line.missing))
    blocks = []
    if rows:
        blocks.append(Table("Priced", heads, tuple(rows)))
    if missing:
        cells = tuple(Row((text(name), muted("no price in the list"))) for name in missing[:30])
        blocks.append(Table("Not priced", (Head("Item"), Head("Why")), cells))
    whole = " and ".join(f"{value:,.0f}\u00a0{currency}" for currency, value in sums.items()) or "Nothing"
    expired = [line for line in lines if line.expired]
    follows = []
    within = list(dict.fromkeys(line.item.model for line in lines if line.within))
    if within:
        follows.append(rich(f"The price of the unit pays for what is inside: {listed(within, 6)}."))
    if missing:
        follows.append(rich(f"Ask for prices of {listed(missing, 4)}: they are in no sum."))
    if expired:
        follows.append(
            rich(f"{sentence(in_words(len(expired), 'price is', 'prices are'))} no longer valid: ask again.")
        )
    if not missing and not expired:
        follows.append(rich("Every line of the bill has a valid price."))
    title = f"{whole} for what the price list holds"
    title += (
        f"; {counted(len(missing), 'line')} of the bill {'has' if len(missing) == 1 else 'have'} no price"
        if missing
        else "; every line has a price"
    )
    return Chapter(
        context.key("cost", subject),
        "Cost",
        title,
        "What does it cost, as far as that is known?",
        (*blocks, Follows(tuple(follows))),
        rich(
            "Prices are those of the list that was given, in its currencies; nothing is converted and nothing guessed."
        ),
        context.lettered(subject),
    )


CHAPTER = ChapterKind("cost", "Cost", 140, of_design=build)
