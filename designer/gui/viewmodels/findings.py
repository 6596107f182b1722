"""The findings panel: what a person should look at, worst first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from designer.design.document import Block
from designer.design.naming import in_names
from designer.engine.results import Analysis
from designer.errors import DesignerError
from designer.finding_codes import CODES
from designer.findings import Finding, Severity
from designer.gui.viewmodels.table import Cell, Column, Line
from designer.gui.viewmodels.words import sentence_case

if TYPE_CHECKING:
    from designer.design.document import Design
    from designer.rules.waivers import Waived

COLUMNS = (
    Column("", width=30),
    Column("Finding", width=500),
    Column("What to do", width=280, spare=True),
    Column("Code", width=180, spare=True),
)
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}
_ICON = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "info"}
_TONE = {Severity.ERROR: "bad", Severity.WARNING: "warn", Severity.INFO: "muted"}

#: of the document itself: looked for again in every state of the design, so what opening it found is out of date
_OF_DOCUMENT: Final = frozenset(code for code in CODES if code.startswith("DOC-"))


@dataclass(frozen=True, slots=True)
class Ruled:
    """What the design rules say of a design.

    Parameters
    ----------
    pages
        The page of every rule that was broken, as Markdown.
    twice
        Codes under which others state what a rule states.
    waived
        What was accepted, and by which waiver.
    """

    findings: tuple[Finding, ...] = ()
    pages: Mapping[str, str] = field(default_factory=dict[str, str])
    twice: frozenset[str] = frozenset()
    waived: tuple[Waived, ...] = ()


def ruled(design: Design) -> Ruled:
    """Ask the rules; a design that cannot be elaborated is stated by others."""
    from designer.rules.pages import markdown
    from designer.rules.rule import rules
    from designer.rules.runner import check, named_in_analysis

    try:
        report = check(design)
    except DesignerError:
        return Ruled()
    found = report.findings
    pages = {f.code: markdown(rules()[f.code]) for f in found if f.code in rules()}
    return Ruled(found, pages, frozenset(named_in_analysis()) | _OF_DOCUMENT, report.waived)


def gather(
    own: Iterable[Finding],
    analysis: Analysis | None,
    failure: DesignerError | None,
    workload: str = "",
    rules: Ruled | None = None,
) -> list[Finding]:
    """Findings of the import and the rules, of the analysis and of the shown workload, worst first, each once."""
    found: list[Finding] = []
    if failure is not None:
        where = (failure.place,) if failure.place else ()
        found.append(Finding("ANALYSIS", Severity.ERROR, failure.text, where, failure.remedy or ""))
    found += own
    if analysis is not None:
        found += analysis.findings
        for result in analysis.workloads:
            if not workload or result.id == workload:
                found += result.findings
    if rules is not None:
        found = [*(f for f in found if f.code not in rules.twice), *rules.findings]
    unique = {f.key + f.text: f for f in found}
    return sorted(unique.values(), key=lambda f: _ORDER[f.severity])


def counts(findings: Iterable[Finding]) -> dict[Severity, int]:
    """How many there are of each severity."""
    found = dict.fromkeys(_ORDER, 0)
    for finding in findings:
        found[finding.severity] += 1
    return found


def lines(findings: Sequence[Finding], block: Block | None = None) -> list[Line]:
    """Rows of the table; the key of a row is the finding itself. Members of groups are called as in `block`."""

    def named(text: str) -> str:
        return text if block is None else in_names(block, text)

    return [
        Line(
            (
                Cell("", _ORDER[f.severity], tip=str(f.severity), icon=_ICON[f.severity], tone=_TONE[f.severity]),
                Cell(named(_sentence(f)), f.text, tip=f.text),
                Cell(named(sentence_case(f.remedy)), f.remedy, tone="muted", tip=f.remedy),
                Cell(f.code, f.code, tone="muted", tip=f"{f.code}: {f.title}"),
            ),
            f,
        )
        for f in findings
    ]


def _sentence(finding: Finding) -> str:
    """Its text with a capital at the start, unless it starts with the name of a part."""
    first = finding.text.partition(" ")[0]
    named = any(str(place).rpartition("/")[2] == first for place in finding.where)
    return finding.text if named else sentence_case(finding.text)


def summary(findings: Sequence[Finding]) -> tuple[int, str]:
    """How many need attention, and a text for the button: errors and warnings count, remarks do not."""
    errors = sum(f.severity is Severity.ERROR for f in findings)
    warnings = sum(f.severity is Severity.WARNING for f in findings)
    parts = [f"{n} {word}{'s' if n != 1 else ''}" for n, word in ((errors, "error"), (warnings, "warning")) if n]
    return errors + warnings, " and ".join(parts) or "nothing to mend"
