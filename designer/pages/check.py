"""The page of a check: how many rules hold, and what those that do not say."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from designer.design.document import Design
from designer.design.naming import in_names
from designer.findings import Finding, Severity
from designer.present import numbers
from designer.present.blocks import Change, Page, State, Tone
from designer.present.words import plain, sentence

_WORDS = {Severity.ERROR: "Error", Severity.WARNING: "Warning", Severity.INFO: "Remark"}
#: findings with a text of their own
_SHOWN = 6


def page_of_check(
    design: Design,
    findings: Sequence[Finding],
    rules: int,
    profile: str,
    file: str = "DESIGN",
    waived: int = 0,
    named: Callable[[str], str] | None = None,
) -> Page:
    """The page of findings of design rules.

    Parameters
    ----------
    rules
        How many rules of the profile were checked.
    named
        Puts names in the place of the paths in a finding; without it members of groups and ends of links alone.
    """
    order = list(Severity)
    ranked = sorted(findings, key=lambda f: order.index(f.severity))
    errors, warnings, infos = (sum(f.severity is s for f in findings) for s in order)
    counts = [
        numbers.counted(n, word) for n, word in ((errors, "error"), (warnings, "warning"), (infos, "remark")) if n
    ]
    checked = f"{numbers.counted(rules, 'rule')} of the {profile} profile"
    if not counts:
        head = f"No errors and no warnings: {checked} hold."
    else:
        listed = f"{', '.join(counts[:-1])} and {counts[-1]}" if len(counts) > 1 else counts[0]
        head = f"{listed} in {checked}."
    rows = tuple(
        (
            f"{_WORDS[f.severity]} {f.code}",
            sentence(plain(named(f.text) if named is not None else in_names(design, f.text)))
            + (f" {sentence(plain(f.remedy))}" if f.remedy else ""),
        )
        for f in ranked[:_SHOWN]
    )
    changes: list[Change] = []
    if ranked:
        code = ranked[0].code
        changes.append(Change("Why, and what to do", command=("check", file, "--rule", code), tone=Tone.PLAIN))
    if not errors:
        changes.append(Change("What limits", command=("analyze", file), tone=Tone.PLAIN))
    accepted = (f"{numbers.counted(waived, 'finding is', 'findings are')} accepted by waivers.",) if waived else ()
    return Page(
        design.title or design.name,
        State.MISSED if errors else State.ANSWERED,
        head,
        summary=rows,
        changes=tuple(changes),
        remarks=accepted,
        more="All findings with their places" if len(ranked) > _SHOWN else "",
        chip="",
    )
