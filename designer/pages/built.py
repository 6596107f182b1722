"""The page of a fabric as built: what differs from its drawing, and what that costs the workloads."""

from __future__ import annotations

from collections.abc import Sequence

from designer.decisions.as_built import Comparison
from designer.decisions.fabric_matching import How
from designer.decisions.worth_of_differences import Cost
from designer.design.document import Design
from designer.findings import Finding, Severity
from designer.present import numbers
from designer.present.blocks import Change, Column, Page, State, Table, Tone
from designer.present.words import metric_title
from designer.units import format_si

#: what is wrong, by the code of its finding
_TITLES = {
    "BUILT-ABSENT": "Absent",
    "BUILT-UNPLANNED": "Not drawn",
    "BUILT-MISWIRED": "Moved",
    "BUILT-MISSING": "Missing",
    "BUILT-EXTRA": "Extra",
    "BUILT-DEGRADED": "Slow",
    "BUILT-BY-CABLES": "Matched by cables",
    "BUILT-GUESSED": "Guessed",
    "BUILT-OTHER-NETWORK": "Not compared",
}
_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def page_of_built(
    found: Comparison, costs: Sequence[Cost], unpriced: str, design: Design, file: str = "DESIGN", dump: str = "DUMP"
) -> Page:
    """The page of what `compare_built` found, what is wrong first."""
    rows = sorted(found.findings, key=lambda f: _RANK[f.severity])
    wrong = [f for f in rows if f.severity is not Severity.INFO]
    table = Table(
        "What differs",
        (Column("What"), Column("Where"), Column("What to do")),
        tuple((_TITLES.get(f.code, f.code), f.text, f.remedy) for f in rows),
        frozenset(n for n, f in enumerate(rows) if f.severity is Severity.ERROR),
        tuple(f.where for f in rows),
    )
    remarks = [f"{numbers.counted(found.matched, 'node')} matched: {_match_text(found)}."]
    if unpriced:
        remarks.append(f"Not priced on workloads: {unpriced}.")
    draw = ("compare-built", file, dump, "-o", "built.design.json")
    changes = (Change("Draw it as built", command=draw, tone=Tone.PLAIN),) if costs else ()
    return Page(
        f"{design.title or design.name}, as built",
        State.MISSED if wrong else State.MET,
        _headline(found, costs, wrong),
        summary=tuple((cost.title, _cost(cost)) for cost in costs),
        table=table if rows else None,
        changes=changes,
        remarks=tuple(remarks),
        more="All differences",
        chip="Not as drawn" if wrong else "As drawn",
        key=file,
    )


def _headline(found: Comparison, costs: Sequence[Cost], wrong: Sequence[Finding]) -> str:
    cables = numbers.counted(found.cables_as_designed, "cable")
    if not wrong:
        return f"All {cables} are as drawn."
    moved, extra = len(found.differences.moved), sum(found.differences.extra.values())
    counts = (
        (found.cables_missing - moved, "is missing", "are missing"),
        (moved, "leads elsewhere", "lead elsewhere"),
        (sum(n for n, _ in found.differences.slow.values()), "is slow", "are slow"),
    )
    stated = ", ".join(f"{n:,} {one if n == 1 else more}" for n, one, more in counts if n > 0)
    strays = f"{extra:,} {'is' if extra == 1 else 'are'} not drawn" if extra else ""
    if stated or strays:
        head = f"Of {cables} {stated or 'none is missing'}{f'; {strays}' if strays else ''}."
    else:
        head = "Nodes of the drawing or of the dump have no counterpart."
    worst = min(costs, key=lambda cost: cost.share, default=None)
    if worst is not None and worst.after is None:
        head += f" {worst.title} cannot run as built."
    elif worst is not None:
        lost = 1 - worst.share
        head += f" {worst.title} loses {numbers.percent(lost)}." if lost > 0 else " No workload loses anything."
    return head


def _match_text(found: Comparison) -> str:
    match = found.differences.match
    words = {How.NAME: "by name", How.CABLES: "by cables", How.EQUIVALENT: "among equals", How.GUESS: "guessed"}
    return ", ".join(f"{match.count(how):,} {word}" for how, word in words.items() if match.count(how))


def _cost(cost: Cost) -> str:
    """What a workload does as designed and as built."""
    before = format_si(cost.before.value, cost.before.unit)
    if cost.after is None:
        return f"{metric_title(cost.metric)} {before} as designed; it cannot run as built: {cost.why}"
    after = format_si(cost.after.value, cost.before.unit)
    return f"{metric_title(cost.metric)} {before} as designed, {after} as built ({numbers.percent(cost.share)})"
