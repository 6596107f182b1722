"""Accepting findings in the window: what can be waived, the waiver a form describes, and the list of waivers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from types import MappingProxyType
from typing import Final

from pydantic import ValidationError

from designer.design.document import Design, Waiver
from designer.design.ids import next_id
from designer.errors import DocumentError
from designer.findings import Finding
from designer.gui.viewmodels.table import Cell, Column, Line
from designer.rules.rule import rules
from designer.rules.waivers import Waived, expired

COLUMNS: Final = (
    Column("Rule", width=90),
    Column("State", width=130),
    Column("Why it is accepted", width=320),
    Column("Who", width=130, spare=True),
    Column("Last day", width=100, spare=True),
    Column("Where", width=240, spare=True),
)
#: how long a waiver may hold, as a form offers it [days]
SPANS: Final[Mapping[str, int | None]] = MappingProxyType(
    {"for 3 months": 91, "for a month": 30, "for a year": 365, "for good": None}
)


def can_waive(finding: Finding) -> bool:
    """True if a finding is one of a design rule; other findings cannot be waived."""
    return finding.code in rules()


def last_day(days: int | None, today: date) -> str:
    """The last day of a span, as a waiver gives it; empty for good."""
    return "" if days is None else (today + timedelta(days=days)).isoformat()


def last_author(design: Design) -> str:
    """Who waived last: the usual one to waive again."""
    return next((w.author for w in reversed(list(design.waivers.values()))), "")


def waiver_of(
    design: Design, finding: Finding, everywhere: bool, reason: str, author: str, expires: str, today: date
) -> Waiver:
    """The waiver that a form describes.

    Raises
    ------
    DocumentError
        If something is missing or makes no sense.
    """
    if not reason.strip():
        raise DocumentError("why it is accepted is missing", remedy="a reviewer will ask: write it down")
    if not author.strip():
        raise DocumentError("who accepts it is missing", remedy="enter a name")
    try:
        made = Waiver(
            id=next_id(design.waivers, finding.code.lower()),
            code=finding.code,
            where=() if everywhere else tuple(str(place) for place in finding.where),
            reason=reason.strip(),
            author=author.strip(),
            expires=expires.strip() or None,
        )
    except ValidationError as problem:
        first = problem.errors()[0]
        field = str(first["loc"][0]) if first["loc"] else ""
        if field == "expires":
            raise DocumentError(f"{expires!r} is no day", remedy="write it as 2027-01-31, or leave it empty") from None
        if field == "where":
            remedy = "waive the rule everywhere"
            raise DocumentError("its place is no part of the design", remedy=remedy) from None
        raise DocumentError(first["msg"], remedy="correct it") from None
    if expired(made, today):
        raise DocumentError(f"{expires} is past", remedy="choose a later day, or leave it empty")
    return made


def lines(design: Design, waived: tuple[Waived, ...], today: date) -> list[Line]:
    """Rows of the list of waivers; the key of a row is the waiver's id."""
    covered: dict[str, int] = {}
    for found in waived:
        covered[found.waiver.id] = covered.get(found.waiver.id, 0) + 1
    rows: list[Line] = []
    for waiver in design.waivers.values():
        if expired(waiver, today):
            state, tone = "has run out", "warn"
        elif count := covered.get(waiver.id):
            state, tone = f"covers {count} finding{'s' if count > 1 else ''}", "good"
        else:
            state, tone = "covers nothing now", "muted"
        where = ", ".join(waiver.where) or "everywhere"
        rows.append(
            Line(
                (
                    Cell(waiver.code, waiver.code),
                    Cell(state, state, tone=tone),
                    Cell(waiver.reason, waiver.reason, tip=waiver.reason),
                    Cell(waiver.author, waiver.author, tip=waiver.author),
                    Cell(waiver.expires or "for good", waiver.expires or "9999", tone=tone if tone == "warn" else ""),
                    Cell(where, where, tone="muted", tip=where),
                ),
                waiver.id,
            )
        )
    return rows
