"""Findings: what a person should look at in a design or an imported file.

One type for importers, upgrades, rules and studies, so one panel and one list show them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad it is."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing worth a look.

    Parameters
    ----------
    code
        Stable name such as ``IMP-ASSUMED``; with `where` it makes the key a waiver refers to.
    where
        Ids of the parts, links or channels it is about.
    remedy
        What to do about it.
    """

    code: str
    severity: Severity
    text: str
    where: tuple[str, ...] = ()
    remedy: str = ""

    @property
    def key(self) -> str:
        """Stable identity, for waivers."""
        return f"{self.code}:{','.join(sorted(self.where))}"
