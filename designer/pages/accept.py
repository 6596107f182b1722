"""The page of an acceptance: the tests of a built machine, or what their results mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from designer.decisions.acceptance import Expected, Judged
from designer.design.document import Design
from designer.design.naming import part_title
from designer.present import numbers
from designer.present.blocks import Change, Column, Page, State, Table, Tone
from designer.present.words import continued, opened
from designer.units import write

if TYPE_CHECKING:
    from designer.decisions.acceptance_causes import Cause


def page_of_tests(rows: Sequence[Expected], design: Design, file: str = "DESIGN") -> Page:
    """The page of tests to run; those that expect the same are one row."""
    sorts: dict[tuple[str, str], list[Expected]] = {}
    for row in rows:
        sorts.setdefault((row.trial.sort, f"{row.estimate.value:.4g} {row.trial.size}"), []).append(row)
    heads = (
        Column("Test"),
        Column("Of"),
        Column("Times", True),
        Column("Expected", True),
        Column("80% band", True),
        Column("Not below", True),
    )
    table = tuple(
        (
            sort,
            _subject_text(same[0], design),
            f"{len(same):,}",
            numbers.shown(same[0].estimate.value, same[0].estimate.unit),
            numbers.band(same[0].estimate),
            numbers.shown(same[0].limit, same[0].estimate.unit),
        )
        for (sort, _), same in sorts.items()
    )
    return Page(
        f"Acceptance of {design.title or design.name}",
        State.ANSWERED,
        f"{numbers.counted(len(rows), 'test')} in {numbers.counted(len(sorts), 'group')}. "
        "Run each three times on the idle machine and keep the best.",
        table=Table("", heads, table),
        changes=(Change("Paste outputs to judge", command=("accept", file, "--results", "-"), tone=Tone.PLAIN),),
        more="Every test with its command",
    )


def page_of_results(judged: Sequence[Judged], causes: Sequence[Cause], design: Design, file: str = "DESIGN") -> Page:
    """The page of what results mean."""
    failed = [j for j in judged if not j.passed]
    cause = next((c for c in causes if not c.sound), None)
    if failed:
        head = f"{len(failed):,} of {numbers.counted(len(judged), 'result')} "
        head += "is below its limit." if len(failed) == 1 else "are below their limits."
        if cause is not None and cause.faults:
            head += f" {opened(cause.faults[0].title)} explains them best ({numbers.percent(cause.probability)})."
    else:
        head = f"All {numbers.counted(len(judged), 'result')} reach their limits."
    heads = (Column("Test"), Column("Of"), Column("Measured", True), Column("Expected", True), Column("Share", True))
    table = tuple(
        (
            j.expected.trial.sort,
            _subject_text(j.expected, design),
            numbers.shown(j.measured, j.expected.estimate.unit),
            numbers.shown(j.expected.estimate.value, j.expected.estimate.unit),
            numbers.percent(j.share),
        )
        for j in sorted(judged, key=lambda j: (j.passed, j.share))
    )
    changes = [
        Change(opened(continued(c.faults[0].title)), c.faults[0].remedy, tone=Tone.PLAIN)
        for c in causes
        if not c.sound and c.faults and c.probability >= 0.01
    ]
    return Page(
        f"Results of {design.title or design.name}",
        State.MISSED if failed else State.MET,
        head,
        table=Table("The lowest", heads, table),
        changes_title="What to look at",
        changes=tuple(changes[:3]),
        more="All results, and everything that would explain them",
        key=file,
    )


def _subject_text(row: Expected, design: Design) -> str:
    parts = row.trial.parts
    first = part_title(design, parts[0]) if parts else ""
    about = first if len(parts) < 2 else f"{first} … {part_title(design, parts[-1])}"
    return f"{about}, {write(row.trial.size, 'size')}" if row.trial.size else about
