"""Waivers: findings that were looked at and accepted, by whom, why and until when."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from designer.design.document import Design, Waiver
from designer.findings import Finding, Severity


@dataclass(frozen=True, slots=True)
class Waived:
    """A finding and the waiver that covers it."""

    finding: Finding
    waiver: Waiver


def covers(waiver: Waiver, finding: Finding) -> bool:
    """True if a waiver is about a finding: the same code, and the same places or, without any, every place."""
    return waiver.code == finding.code and (not waiver.where or set(waiver.where) == set(finding.where))


def expired(waiver: Waiver, today: date) -> bool:
    """True if a waiver holds no longer; the day it names is its last."""
    return waiver.expires is not None and date.fromisoformat(waiver.expires) < today


def apart(design: Design, findings: Iterable[Finding], today: date) -> tuple[list[Finding], list[Waived]]:
    """The findings that remain, and those a waiver covers; one that ran out is a finding of its own."""
    stand: list[Finding] = []
    waived: list[Waived] = []
    for finding in findings:
        waiver = next((w for w in design.waivers.values() if covers(w, finding) and not expired(w, today)), None)
        if waiver is None:
            stand.append(finding)
        else:
            waived.append(Waived(finding, waiver))
    for waiver in design.waivers.values():
        if expired(waiver, today):
            text = f"the waiver {waiver.id!r} of {waiver.code} by {waiver.author} ran out on {waiver.expires}"
            stand.append(
                Finding("WAIVER-EXPIRED", Severity.WARNING, text, (waiver.id,), "mend the finding, or waive it again")
            )
    return stand, waived
