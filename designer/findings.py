"""Findings: what a person should look at in a design or an imported file.

One type for importers, upgrades, rules and studies, so one panel and one list show them all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from designer.finding_codes import CODES


class Severity(StrEnum):
    """How bad it is."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class FindingKind:
    """What a code represents: a title, and how severe its findings may be, the most usual first."""

    title: str
    severities: tuple[Severity, ...]


_KINDS: Final = {
    code: FindingKind(listed.title, tuple(Severity(each) for each in listed.severities))
    for code, listed in CODES.items()
}
#: every code a finding may have, with its title; those of rules once their files are loaded
KINDS: Final[Mapping[str, FindingKind]] = MappingProxyType(_KINDS)


def register(code: str, title: str, severities: tuple[Severity, ...]) -> None:
    """Let findings have another code, as each rule does; the same words twice change nothing.

    Raises
    ------
    ValueError
        If the code represents something else already.
    """
    new = FindingKind(title, severities)
    if _KINDS.setdefault(code, new) != new:
        raise ValueError(f"the finding code {code!r} means {_KINDS[code].title!r} already")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing worth a look.

    Parameters
    ----------
    code
        Stable name such as ``IMP-ASSUMED-PCIE``, one of `KINDS`; with `where` it makes the key a waiver refers to.
    where
        Ids of the parts, links or channels it is about.
    remedy
        What to do about it.

    Raises
    ------
    ValueError
        If the code is not registered, or not with this severity.
    """

    code: str
    severity: Severity
    text: str
    where: tuple[str, ...] = ()
    remedy: str = ""

    def __post_init__(self) -> None:
        kind = _KINDS.get(self.code)
        if kind is None or self.severity not in kind.severities:
            what = "code" if kind is None else f"severity {self.severity!r} of the code"
            raise ValueError(f"the {what} {self.code!r} is not registered in designer/finding_codes.py")

    @property
    def title(self) -> str:
        """What the code represents."""
        return _KINDS[self.code].title

    @property
    def key(self) -> str:
        """Stable identity, for waivers."""
        return f"{self.code}:{','.join(sorted(self.where))}"
