"""From designs to a report: analyse, try purchases out, ask every chapter, number what there is."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from designer.analysis.study import analyze
from designer.decisions.comparing import compare
from designer.decisions.suggest import suggest
from designer.design.document import Design
from designer.errors import Cancelled, DesignerError, ReportError, raised_in
from designer.findings import Finding
from designer.progress import Cancel, Progress
from designer.report.chapter import chapter_kinds
from designer.report.document import Chapter, Report
from designer.report.inventory import inventory
from designer.report.settings import Settings
from designer.report.subject import Context, Subject, ordered, written_date
from designer.report.tables.cost import one_currency
from designer.report.tables.revisions import Since
from designer.report.wording import counted, in_words, listed

#: designs with more accelerators than this are analysed without sweeps, and changes are sought for one workload alone
LARGE: Final = 600
#: workloads that changes are sought for
_SUGGESTED: Final = 3


@dataclass(frozen=True, slots=True)
class Given:
    """A design to report on: where it is from, and the findings of reading it."""

    design: Design
    file: str = ""
    findings: tuple[Finding, ...] = ()


def compose_report(
    given: Sequence[Given | Design] | Given | Design,
    settings: Settings | None = None,
    *,
    previous: Given | Design | None = None,
    date: datetime.date | None = None,
    version: str = "",
    progress: Progress | None = None,
    cancelled: Cancel | None = None,
) -> Report:
    """The report on one design or several, as data.

    Parameters
    ----------
    previous
        The revision before of the first design; the report says what changed and why each figure moved.

    Raises
    ------
    ReportError
        If there is no design, or chapters are chosen that do not exist.
    Cancelled
        If `cancelled` says so.
    """
    given = [given] if isinstance(given, Given | Design) else given
    if not given:
        raise ReportError("there is no design to report on", remedy="name a design file or a template")
    settings = settings or Settings()
    kinds = chapter_kinds()
    unknown = [name for name in settings.chosen.chapters if name not in kinds]
    if unknown:
        raise ReportError(f"there is no chapter {unknown[0]!r}", remedy=f"use some of {', '.join(kinds)}")
    tell = progress or _silent
    stop = cancelled or (lambda: False)
    subjects: list[Subject] = []
    for n, one in enumerate(given):
        one = one if isinstance(one, Given) else Given(one)
        begin, room = 0.7 * n / len(given), 0.7 / len(given)
        subjects.append(_study(one, chr(65 + n % 26), settings, _part(tell, begin, room), stop))
    day = date or settings.chosen.date or datetime.date.today()
    context = Context(subjects, settings, day, version, since=_changes_since(previous, subjects[0], stop))
    wanted = sorted(kinds.values(), key=lambda k: k.order)
    if settings.chosen.chapters:
        wanted = [k for k in wanted if k.name in settings.chosen.chapters or k.name == "summary"]
    chapters: list[tuple[int, int, Chapter]] = []
    # the summary refers to the others, so it is written last and comes first
    for n, kind in enumerate(sorted(wanted, key=lambda k: k.name == "summary")):
        if stop():
            raise Cancelled("stopped")
        tell(0.7 + 0.2 * n / len(wanted), kind.title)
        if kind.of_report is not None:
            made = kind.of_report(context)
            if made is not None:
                chapters.append((kind.order, 0, made))
        for k, subject in enumerate(subjects if kind.of_design is not None else ()):
            assert kind.of_design is not None
            made = kind.of_design(context, subject)
            if made is not None:
                chapters.append((kind.order, k, made))
        for number, (_, _, chapter) in enumerate(sorted(chapters, key=lambda c: c[:2]), start=1):
            context.numbers[chapter.key] = number
    ordered = [chapter for _, _, chapter in sorted(chapters, key=lambda c: c[:2])]
    first = subjects[0]
    chosen = settings.chosen
    title = chosen.title or (first.name if len(subjects) == 1 else _comparison_title(subjects))
    return Report(
        title,
        chosen.subtitle or first.design.intent if len(subjects) == 1 else chosen.subtitle,
        _facts(context),
        tuple(ordered),
        f"Figures are estimates with 80% bands, {written_date(day)}",
        day.isoformat(),
        chosen.language,
        settings.logo,
        context.colours,
    )


def _changes_since(previous: Given | Design | None, subject: Subject, stop: Callable[[], bool]) -> Since | None:
    if previous is None:
        return None
    before = previous if isinstance(previous, Given) else Given(previous)
    # the design of the report has been analysed: what cannot be is the one before
    with raised_in(file=before.file):
        return Since(before.design, compare(before.design, subject.design, cancelled=stop), before.file)


def _silent(share: float, text: str) -> None:
    """Progress that is not reported."""


def _study(one: Given, letter: str, settings: Settings, tell: Progress, stop: Callable[[], bool]) -> Subject:
    size = inventory(one.design).accelerators
    analysis = analyze(
        one.design, file=one.file or None, curves=size <= LARGE, progress=_part(tell, 0.0, 0.6), cancelled=stop
    )
    subject = Subject(letter, one.design, analysis, settings, one.file, one.findings)
    asked = ordered(subject)[: _SUGGESTED if size <= LARGE else 1]
    prices = one_currency(settings.prices)
    for n, workload in enumerate(asked):
        step = _part(tell, 0.6 + 0.4 * n / len(asked), 0.4 / len(asked))
        try:
            found = suggest(one.design, workload.id, prices=prices, progress=step, cancelled=stop)
        except Cancelled:
            raise
        except DesignerError:
            continue
        subject.suggestions[workload.id] = found
    return subject


def _part(tell: Progress, begin: float, room: float) -> Progress:
    return lambda share, text: tell(begin + room * share, text)


def _comparison_title(subjects: Sequence[Subject]) -> str:
    names = list(dict.fromkeys(s.name for s in subjects))
    return f"{listed(names, 2)}: {in_words(len(subjects), 'design', 'designs')} compared"


def _facts(context: Context) -> tuple[tuple[str, str], ...]:
    facts = [("Computed", f"{written_date(context.date)}{', ' + context.version if context.version else ''}")]
    chosen = context.settings.chosen
    block = (("Customer", chosen.customer), ("Project", chosen.project), ("Revision", chosen.revision))
    facts += [*((k, v) for k, v in (*block, ("Author", chosen.author), ("Approved", chosen.approved)) if v)]
    for subject in context.subjects:
        head = f"Design {subject.letter}" if len(context.subjects) > 1 else "Design"
        equal = sum(s.design.name == subject.design.name for s in context.subjects) > 1
        facts.append(
            (head, subject.file.replace("\\", "/").split("/")[-1] if equal and subject.file else subject.design.name)
        )
    workloads = sum(len(s.results) for s in context.subjects)
    figures = sum(len(w.metrics) for s in context.subjects for w in s.results)
    basis = f"{counted(workloads, 'workload')}, {counted(figures, 'figure')}" if workloads else "the drawing alone"
    facts.append(("Basis", basis))
    return tuple(facts)
