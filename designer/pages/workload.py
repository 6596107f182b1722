"""The page of one workload: state, headline, figures, where the time goes, what limits, what to change."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from designer.decisions.suggest import Suggestions
from designer.design.document import Design
from designer.design.naming import in_names
from designer.engine.results import WorkloadResult
from designer.errors import DesignerError
from designer.findings import Finding, Severity
from designer.pages.suggest import change_that_helps
from designer.present import numbers, other
from designer.present.answer import Answer, Fitting, all_figures, result_table, sources_of, verdicts
from designer.present.blocks import Change, Chart, Column, Page, State, Table, Tone
from designer.present.changes import fixes, together
from designer.present.family import Family
from designer.present.limits import limits_of, named, with_gains
from designer.present.words import continued, opened, plain, sentence
from designer.registry import rooms

#: most figures, limits and remarks of a page
_FIGURES = 6
_REMARKS = 2


@cache
def _families() -> Mapping[str, Family]:
    every = rooms("designer.families", "page", "FAMILY", Family, name="kinds").values()
    return {kind: family for family in (*every, other.FAMILY) for kind in family.kinds}


def family_of(workload: str, result: str) -> Family:
    """The family of a kind of workload, else of a kind of result."""
    known = _families()
    return known.get(workload) or known.get(result) or other.FAMILY


def page_of(
    result: WorkloadResult,
    design: Design,
    file: str = "DESIGN",
    *,
    fitting: tuple[Fitting, ...] = (),
    findings: tuple[Finding, ...] = (),
    helps: Suggestions | None = None,
) -> Page:
    """The page of a computed answer.

    Parameters
    ----------
    file
        How commands name the design: a file or the id of a template.
    fitting
        Settings with which a workload fits that does not.
    findings
        Findings about the design that concern the answer, in addition to its own.
    helps
        The change that helps, where one was searched; without a search the page offers one.
    """
    answer = Answer(result, design, file, fitting)
    family = family_of(answer.spec.kind if answer.spec is not None else "", result.kind)
    state, chip = _state(answer, family)
    valid = state is not State.UNFIT
    head = family.headline(answer)
    limiting = answer.limiting if valid else ""
    figures = answer.figures(family.figures, _FIGURES)
    if not valid:
        figures = tuple(f for f in figures if f.name == "memory_per_gpu") or figures[:1]
    title, stacks = family.where(answer)
    changes = (*together(answer), *_with_found(family.changes(answer), helps, answer)) if valid else fixes(answer)
    every = (*(f for f in result.findings if f is not result.unfit), *findings)
    return Page(
        subject=f"{answer.named(result.title)}, on {design.title or design.name}",
        state=state,
        headline=f"{head} {limiting}".strip(),
        figures=figures,
        where_title=title,
        where=stacks,
        limits=limits_of(result, design) if valid else (),
        changes_title="What to do next" if valid else "What to change",
        changes=changes,
        remarks=remarks(every, design),
        details=_details(answer),
        sources=sources_of(answer),
        more=_details_title(len(result.metrics), len(figures)),
        chip=chip,
        key=result.id,
    )


def _with_found(changes: tuple[Change, ...], helps: Suggestions | None, answer: Answer) -> tuple[Change, ...]:
    """Changes with what a search found in place of the offer of that search."""
    if helps is None:
        return changes
    found = change_that_helps(helps, answer.design, answer.file)
    return tuple(found if one.command[:1] == ("suggest",) else one for one in changes)


def overview(pages: Sequence[Page], design: Design, file: str = "DESIGN") -> Page:
    """The page of a design: the headline of each of its workloads, first of those that need attention."""
    if not pages:
        return Page(
            design.title or design.name,
            State.NONE,
            "The design has no workload.",
            changes=(
                Change("What can be asked, with an example", command=("workloads", "transfer"), tone=Tone.PLAIN),
                Change("Ask it", command=("analyze", file, "--workload-file", "mine.json"), tone=Tone.PLAIN),
            ),
        )
    worst = min(pages, key=lambda page: _ORDER.index(page.state))
    done = sum(page.state in (State.ANSWERED, State.MET) for page in pages)
    count = numbers.counted(len(pages), "workload")
    if done == len(pages):
        head = f"{count.capitalize()}; each runs, and meets its targets where it has some."
    else:
        head = f"{numbers.counted(len(pages) - done, 'workload')} of {len(pages)} need attention."
        head = (
            head.replace("1 workload of", "One workload of", 1).replace("need", "needs", 1)
            if len(pages) - done == 1
            else head
        )
    name = f", on {design.title or design.name}"
    # a terminal has room for the first few only
    ordered = sorted(pages, key=lambda page: page.state in (State.ANSWERED, State.MET))
    rows = tuple((page.subject.removesuffix(name), f"{page.headline} {_outlook(page)}".strip()) for page in ordered)
    return Page(
        design.title or design.name,
        worst.state,
        head,
        summary=rows,
        changes=(Change("One of them", command=("analyze", file, "--workload", worst.key), tone=Tone.PLAIN),),
        remarks=tuple(dict.fromkeys(r for page in pages for r in page.remarks if "remark" not in r))[:_REMARKS],
        details=tuple(detail for page in pages for detail in page.details),
        more="All figures, links and sources",
    )


def _outlook(page: Page) -> str:
    """How sure an answer is, what doubling its limit gains, and what limits next."""
    known = [f for f in page.figures if f.band]
    sure = next((f for f in known if f.text in page.headline), known[0] if known else None)
    gain = next((one.gain for one in page.limits if one.now and one.gain), "")
    then = next((continued(one.title) for one in page.limits if not one.now), "")
    words = [f"Twice as fast: {gain}" if gain else "", f"then {then}" if then else ""]
    return " ".join(
        text
        for text in (
            f"80% band {sure.band}{f' {sure.unit}' if sure.unit else ''}." if sure is not None else "",
            f"{opened(', '.join(word for word in words if word))}." if any(words) else "",
        )
        if text
    )


#: states of answers, those first that need attention
_ORDER = (State.REFUSED, State.UNFIT, State.MISSED, State.PARTLY, State.ANSWERED, State.MET)


def _details_title(count: int, shown: int) -> str:
    return "Links, tables and sources" if count <= shown else f"All {count} figures, links and sources"


def refused(title: str, design: Design, error: DesignerError, fitting: tuple[Fitting, ...] = ()) -> Page:
    """The page of a workload that has no answer: the reason, and what would give one."""
    changes = tuple(Change(one.title, edit=one.edit) for one in fitting)
    if error.remedy:
        changes = (Change(opened(error.remedy)), *changes)
    return Page(
        subject=f"{title}, on {design.title or design.name}",
        state=State.REFUSED,
        headline=sentence(error.text),
        changes_title="What to change",
        changes=changes,
    )


def _state(answer: Answer, family: Family) -> tuple[State, str]:
    if answer.result.unfit is not None:
        return State.UNFIT, ""
    own, chip = family.state(answer)
    judged = verdicts(answer)
    if any(not verdict.good for verdict in judged):
        return State.MISSED, ""
    if own is not None:
        return own, chip
    return (State.MET, "") if judged else (State.ANSWERED, "")


def remarks(findings: tuple[Finding, ...], design: Design, most: int = _REMARKS) -> tuple[str, ...]:
    """Errors and warnings in a sentence each, the worst first; all that is not shown is counted."""
    order = list(Severity)
    ranked = sorted(dict.fromkeys((f.severity, f.text) for f in findings), key=lambda one: order.index(one[0]))
    shown = [
        sentence(plain(_machines(in_names(design, text), design)))
        for severity, text in ranked
        if severity is not Severity.INFO
    ][:most]
    if len(ranked) > len(shown):
        left = len(ranked) - len(shown)
        shown.append(f"{numbers.counted(left, 'more remark' if shown else 'remark')}.")
    return tuple(shown)


def _machines(text: str, design: Design) -> str:
    """A text with ids of virtual machines by their names."""
    for vm in design.vms.values():
        if vm.id in text and vm.label != vm.id:
            text = re.sub(rf"(?<![\w/\[-]){re.escape(vm.id)}(?![\w/\[-])", vm.label, text)
    return text


def _details(answer: Answer) -> tuple[Table | Chart, ...]:
    found: list[Table | Chart] = [all_figures(answer)]
    rows: list[tuple[str, ...]] = []
    for when, bottlenecks in (("now", answer.result.binding), ("then", answer.result.next)):
        for one in with_gains(named(bottlenecks, answer.design)):
            gain = numbers.gain(one.gain) if one.gain is not None else ""
            rows.append((one.phase or when, one.title, one.detail, gain, one.why))
    if rows:
        heads = (Column(""), Column("What limits"), Column("How many"), Column("Twice as fast", True), Column("Why"))
        found.append(Table("What limits it", heads, tuple(rows)))
    for table in answer.result.tables.values():
        one = result_table(table, answer)
        if one is not None:
            found.append(one)
    found += [Chart(key, curves) for key, curves in answer.result.curves.items()]
    return tuple(found)
