"""The findings panel: what a person should look at, worst first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from designer.catalog.loader import load_catalog
from designer.catalog.parttype import part_kinds
from designer.design.address import block_at
from designer.design.document import Block, Design, Part
from designer.design.edit import Edit
from designer.design.edits.links import ChangeLinks
from designer.design.edits.parts import ChangeParts, SetType
from designer.design.edits.properties import SetPolicy
from designer.design.edits.waivers import RemoveWaivers
from designer.design.edits.wirings import ChangeWirings
from designer.design.edits.workloads import ChangeWorkload
from designer.design.naming import in_names
from designer.design.peers import faster_twin, speed_text
from designer.engine.results import Analysis
from designer.errors import DesignerError
from designer.finding_codes import CODES
from designer.findings import Finding, Severity
from designer.gui.viewmodels.places import Picked, picked_of
from designer.gui.viewmodels.table import Cell, Column, Line, sentence_case
from designer.rules import runner
from designer.rules.pages import markdown
from designer.rules.rule import rules
from designer.rules.runner import check, named_in_analysis

if TYPE_CHECKING:
    from designer.decisions.fitting import FittingSettings
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


# Findings that can be mended by one edit, which they name themselves: nothing is guessed.


@dataclass(frozen=True, slots=True)
class Fix:
    """What a button says, and the edit it makes."""

    title: str
    edit: Edit


def fix_of(design: Design, finding: Finding, workload: str = "", fitting: Sequence[FittingSettings] = ()) -> Fix | None:
    """The edit that mends a finding of a design, or of the shown workload; None where a person has to decide.

    Parameters
    ----------
    fitting
        Settings with which the shown workload fits, the best first.
    """
    if finding.code in ("TRAIN-MEMORY", "ANALYSIS") and fitting:
        return Fix(fitting[0].title, fitting[0].edit)
    find = _FIXES.get(finding.code)
    if find is not None:
        return find(design, finding, workload)

    try:
        offered = runner.fix_of(design, finding)
    except DesignerError:
        return None
    return Fix(offered.title, offered.edit) if offered is not None else None


def is_mended(design: Design, finding: Finding) -> bool:
    """True if a finding of an import no longer holds in the design; only findings that one edit corrects are tested."""
    return finding.code == "LINK-DEGRADED" and fix_of(design, finding) is None


def _picked(design: Design, finding: Finding, *whats: str) -> Picked | None:
    for place in finding.where:
        found = picked_of(design, place)
        if found is not None and found[1].what in whats:
            return found
    return None


def _part(design: Design, finding: Finding) -> tuple[Picked, Part] | None:
    picked = _picked(design, finding, "parts")
    return None if picked is None else (picked, block_at(design, picked[0]).parts[picked[1].id])


def _as_its_twin(design: Design, finding: Finding, _workload: str) -> Fix | None:
    """A link slower than that of an equal part: drawn as fast as the other one, to see what mending it gains."""
    picked = _picked(design, finding, "links", "wirings")
    twin = faster_twin(design, finding.where[-1]) if picked is not None and finding.where else None
    if picked is None or twin is None:
        return None
    within, ref = picked
    names = ("generation", "lanes", "bandwidth_per_direction", "count")
    changes: Mapping[str, object] = {name: getattr(twin, name) for name in names}
    edit = ChangeLinks if ref.what == "links" else ChangeWirings
    return Fix(f"Draw it as its twin: {speed_text(twin)}", edit((ref.id,), changes, within=within))


def _without_strange_values(design: Design, finding: Finding, _workload: str) -> Fix | None:
    found = _part(design, finding)
    kind = part_kinds().get(found[1].kind) if found is not None else None
    if found is None or kind is None:
        return None
    (within, ref), part = found
    kept = {name: value for name, value in part.overrides.items() if kind.field(name) is not None}
    if len(kept) == len(part.overrides):
        return None
    strange = ", ".join(sorted(set(part.overrides) - set(kept)))
    return Fix(f"Remove {strange}", ChangeParts((ref.id,), {"overrides": kept}, within=within))


def _type_of_catalog(design: Design, finding: Finding, _workload: str) -> Fix | None:
    found = _part(design, finding)
    if found is None:
        return None
    (within, ref), part = found
    catalog = load_catalog()
    if not part.type or part.type in design.part_types or part.type not in catalog:
        return None
    known = catalog.get(part.type)
    if known.kind != part.kind:
        return None
    return Fix(
        f"Take {known.title} from the catalog", SetType((ref.id,), part.type, known, known.sources, within=within)
    )


def _all_accelerators(design: Design, _finding: Finding, workload: str) -> Fix | None:
    spec = design.workloads.get(workload)
    if spec is None or not spec.settings.get("data"):
        return None
    rest = {name: value for name, value in spec.settings.items() if name != "data"}
    return Fix("Use all accelerators", ChangeWorkload(workload, {"settings": rest}))


def _hashed(design: Design, _finding: Finding, _workload: str) -> Fix | None:
    return Fix("Hash flows by the policy", SetPolicy({"ecmp": "hash"})) if design.policy.ecmp != "hash" else None


def _waiver_gone(design: Design, finding: Finding, _workload: str) -> Fix | None:
    """A waiver that ran out is deleted; its finding is then shown again."""
    ids = tuple(str(place) for place in finding.where if str(place) in design.waivers)
    return Fix("Delete the waiver", RemoveWaivers(ids)) if ids else None


_FIXES: Final[Mapping[str, Callable[[Design, Finding, str], Fix | None]]] = {
    "LINK-DEGRADED": _as_its_twin,
    "DOC-VALUE": _without_strange_values,
    "DOC-TYPE": _type_of_catalog,
    "TRAIN-IDLE": _all_accelerators,
    "FLOW-HASHED": _hashed,
    "WAIVER-EXPIRED": _waiver_gone,
}
