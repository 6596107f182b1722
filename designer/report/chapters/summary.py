"""The first page: the answer, its key figures, the drawing, what limits, what to buy first, targets and open points."""

from __future__ import annotations

from dataclasses import replace

from designer.findings import Severity
from designer.present.words import metric_title, plain
from designer.report.chapter import ChapterKind, chapter_link, text
from designer.report.comparison import answer
from designer.report.design_picture import loaded_picture
from designer.report.document import (
    Block,
    Chapter,
    Drawing,
    Item,
    Items,
    KeyFigure,
    KeyFigures,
    Paragraph,
    SideBySide,
    Table,
    Text,
    rich,
)
from designer.report.names import in_names
from designer.report.pages import (
    first_limits,
    key_figure,
    name_of,
    pages_of,
    suggested,
    titled,
)
from designer.report.subject import Context, ordered
from designer.report.verdicts import written
from designer.report.wording import continued, counted, sentence, whole_clauses

#: key figures and rows of the page
_FIGURES, _PURCHASES, _TARGETS, _RISKS = 4, 3, 8, 4


def build(context: Context) -> Chapter:
    """The chapter."""
    blocks: list[Block] = []
    own = context.settings.chosen.text
    if own:
        blocks.append(Paragraph(rich(own)))
    figures = _figures(context)
    if figures:
        blocks.append(KeyFigures(figures))
    first = context.subjects[0]
    if len(context.subjects) == 1 and first.results:
        shown = ordered(first)[0]
        blocks.append(
            Drawing(
                loaded_picture(context, first, shown),
                f"Drawing of {first.name} with the load of {shown.title} on every link",
                small=True,
            )
        )
    limits = _limits(context)
    if limits is not None:
        blocks.append(SideBySide((limits,), (_purchases(context),)))
    elif any(s.results for s in context.subjects):
        blocks.append(_purchases(context))
    targets = [t for s in context.subjects for t in s.targets]
    if targets:
        good = sum(1 for t in targets if t.verdict is not None and t.verdict.good)
        items = tuple(
            Item(
                rich(written(t.verdict)) if t.verdict else rich("not judged"),
                rich(f"{t.number} {t.title}: {continued(metric_title(t.metric))}"),
            )
            for t in targets[:_TARGETS]
        )
        blocks.append(Items("Targets", items, f"{good} of {len(targets)} met or likely", tiles=True))
    risks = _risks(context)
    if risks:
        blocks.append(Items("Risks before you order", tuple(risks[:_RISKS]), tiles=True))
    title, deck = _headline(context)
    return Chapter(
        "summary", "Decision summary", title, "What should be decided, and how safe is it?", tuple(blocks), deck
    )


def _limits(context: Context) -> Table | None:
    """What limits the first workload; nothing where several designs are compared."""
    if len(context.subjects) > 1:
        return None
    subject = context.subjects[0]
    pages = pages_of(subject, ordered(subject)[:1])
    return first_limits(pages[0], subject) if pages else None


def _headline(context: Context) -> tuple[str, Text]:
    """The answer of the first workload, or which design is better; below it what to buy and what else was asked."""
    if len(context.subjects) > 1:
        return answer(context.subjects), ()
    subject = context.subjects[0]
    results = ordered(subject)
    if not results:
        gpus, units = subject.stock.accelerators, sum(c.count for c in subject.stock.classes)
        what = counted(gpus, "GPU") if gpus else counted(units, "unit")
        return f"{what} as drawn, without a workload to judge {'it' if units == 1 else 'them'} by", ()
    pages = pages_of(subject, results)
    first = pages[0]
    title = f"{titled(first, subject)}."
    others = [f"{name_of(page, subject)}: {page.headline}" for page in pages[1:3]]
    return title.removesuffix("."), rich(" ".join(others))


def _figures(context: Context) -> tuple[KeyFigure, ...]:
    """The key figures of the first workload; of several designs the first figure of each."""
    if len(context.subjects) > 1:
        found: list[KeyFigure] = []
        for subject in context.subjects:
            for page in pages_of(subject, ordered(subject)[:1]):
                label = f"{subject.letter} · {name_of(page, subject)}"
                found += [key_figure(f, subject, page.key, label) for f in page.figures[:1]]
        return tuple(found[:_FIGURES])
    subject = context.subjects[0]
    pages = pages_of(subject, ordered(subject)[:1])
    return tuple(key_figure(f, subject, page.key) for page in pages for f in page.figures[:_FIGURES])


def _purchases(context: Context) -> Items:
    """What to change, as `suggest` finds it: first steps for the first workload, then the first one for each other."""
    items: list[Item] = []
    nothing: list[Item] = []
    several = len(context.subjects) > 1
    for subject in context.subjects:
        letter = f"{subject.letter} · " if several else ""
        for n, page in enumerate(suggested(subject, ordered(subject))):
            name = next((w.title for w in subject.results if w.id == page.key), page.key)
            steps = [one for one in page.changes if one.edit is not None]
            for step in steps[: 1 if several or n else 2]:
                outcome = ", ".join(part for part in (step.detail, step.gain, step.price) if part)
                items.append(Item(rich(letter + step.title), text(f"{name}: {outcome}")))
            if not steps:
                nothing.append(Item(rich(f"{letter}Nothing for {name}"), text(" ".join(page.remarks)), "–"))
    items = [replace(item, mark=str(n)) for n, item in enumerate(items[:_PURCHASES], start=1)]
    items = items or nothing[:1]
    if not items:
        items.append(Item(text("Nothing"), text("No change was sought."), "–"))
    return Items("What to buy first", tuple(items))


def _risks(context: Context) -> list[Item]:
    found: dict[str, Item] = {}
    for subject in context.subjects:
        letter = f" (design {subject.letter})" if len(context.subjects) > 1 else ""
        key = context.key("findings", subject)
        for finding in subject.findings:
            if finding.severity is Severity.INFO and finding.code not in ("DATA-UNSURE", "FLOW-STEADY"):
                continue
            if finding.code == "ASSERT-UNEVALUATED":
                continue
            stated = whole_clauses(plain(in_names(subject.stock, finding.text)), _RISK)
            head = _HEADS.get(
                finding.code,
                finding.remedy.split(",")[0] if finding.remedy and len(finding.remedy) < 60 else finding.code,
            )
            item = Item(rich(sentence(head) + letter), rich(sentence(stated) + ". ", *chapter_link(context, key)))
            found.setdefault("".join(s.text for s in item.head), item)
    return list(found.values())


#: most characters of a risk on the first page, where a clause ends before them
_RISK = 160
_HEADS = {
    "DATA-UNSURE": "Some speeds are not confirmed",
    "FLOW-STEADY": "Congestion is not modelled",
    "MIG-STAYS": "A machine cannot leave its host",
    "HA-SHAPE": "A host failure leaves machines without a place",
    "TRAIN-MEMORY": "Memory is short",
    "COLL-OTHER-NETWORK": "GPU traffic shares the storage network",
}

CHAPTER = ChapterKind("summary", "Decision summary", 0, of_report=build)
