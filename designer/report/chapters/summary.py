"""The first page: the answer, its key figures, the drawing, what limits, what to buy first, targets and open points."""

from __future__ import annotations

from designer.analysis.results import WorkloadResult
from designer.findings import Severity
from designer.present.words import metric_title, plain
from designer.report.cells import chapter_link, text
from designer.report.chapter import ChapterKind
from designer.report.comparison import answer
from designer.report.design_picture import loaded_picture
from designer.report.document import (
    Beside,
    Block,
    Chapter,
    Drawing,
    Item,
    Items,
    KeyFigure,
    KeyFigures,
    Paragraph,
    Table,
    Text,
    rich,
)
from designer.report.names import in_names
from designer.report.pages import (
    WORTH,
    bought,
    first_limits,
    key_figure,
    name_of,
    pages_of,
    purchase_sentence,
    titled,
)
from designer.report.subject import Context, Subject, WhatIf
from designer.report.verdicts import written
from designer.report.wording import continued, counted, sentence, times, whole_clauses

#: kinds of workload that are goals in themselves, before mere transfers
_GOALS = ("inference", "training", "migration", "serving")
#: key figures and rows of the page
_FIGURES, _PURCHASES, _TARGETS, _RISKS = 4, 2, 8, 4


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
        shown = _ordered(first)[0]
        blocks.append(
            Drawing(
                loaded_picture(context, first, shown),
                f"Drawing of {first.name} with the load of {shown.title} on every link",
                small=True,
            )
        )
    limits = _limits(context)
    if limits is not None:
        blocks.append(Beside((limits,), (_purchases(context),)))
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
    pages = pages_of(subject, _ordered(subject)[:1])
    return first_limits(pages[0], subject) if pages else None


def _ordered(subject: Subject) -> list[WorkloadResult]:
    """Its workloads, those first that are goals and miss a target, then goals, then the one the design opens with."""
    order = {kind: at for at, kind in enumerate(_GOALS)}
    opens = subject.design.default_workload

    def rank(w: WorkloadResult) -> tuple[bool, bool, int, bool]:
        return (w.kind not in order, not subject.missed(w.id), order.get(w.kind, len(order)), w.id != opens)

    return sorted(subject.results, key=rank)


def _headline(context: Context) -> tuple[str, Text]:
    """The answer of the first workload, or which design is better; below it what to buy and what else was asked."""
    if len(context.subjects) > 1:
        return answer(context.subjects), ()
    subject = context.subjects[0]
    ordered = _ordered(subject)
    if not ordered:
        gpus, units = subject.stock.accelerators, sum(c.count for c in subject.stock.classes)
        what = counted(gpus, "GPU") if gpus else counted(units, "unit")
        return f"{what} as drawn, without a workload to judge {'it' if units == 1 else 'them'} by", ()
    pages = pages_of(subject, ordered)
    first = pages[0]
    title = f"{titled(first, subject)}."
    offers = [(page, w) for page in pages if (w := bought(subject, page.key)) is not None]
    goals = {w.id for w in ordered if w.kind in _GOALS}
    if any(page.key in goals or page is first for page, _ in offers):
        best, purchase = max(offers, key=lambda one: (one[0] is first, one[0].key in goals, one[1].gain(one[0].key)))
        title += f" {purchase.what} gains {'it' if best is first else name_of(best, subject)} "
        title += f"{times(purchase.gain(best.key))}."
    others = [f"{name_of(page, subject)}: {page.headline}" for page in pages[1:3]]
    return title.removesuffix("."), rich(" ".join(others))


def _figures(context: Context) -> tuple[KeyFigure, ...]:
    """The key figures of the first workload; of several designs the first figure of each."""
    if len(context.subjects) > 1:
        found: list[KeyFigure] = []
        for subject in context.subjects:
            for page in pages_of(subject, _ordered(subject)[:1]):
                label = f"{subject.letter} · {name_of(page, subject)}"
                found += [key_figure(f, subject, page.key, label) for f in page.figures[:1]]
        return tuple(found[:_FIGURES])
    subject = context.subjects[0]
    pages = pages_of(subject, _ordered(subject)[:1])
    return tuple(key_figure(f, subject, page.key) for page in pages for f in page.figures[:_FIGURES])


def _purchases(context: Context) -> Items:
    """What was tried and is worth buying, best first, and one thing that is not."""
    items: list[Item] = []
    for subject in context.subjects:
        for tried in sorted(subject.what_ifs, key=lambda w: _rank(subject, w)):
            if tried.gain(tried.best) < WORTH:
                continue
            (page,) = pages_of(subject, [tried.before[tried.best]])
            letter = f"{subject.letter} · " if len(context.subjects) > 1 else ""
            head, _, rest = purchase_sentence(page, subject, tried).partition(" gains ")
            told = f"{name_of(page, subject)} gains {rest}."
            items.append(Item(rich(letter + head), rich(told), str(len(items) + 1)))
    items = items[:_PURCHASES]
    useless = [w for s in context.subjects for w in s.what_ifs if max(w.gain(k) for k in w.before) < WORTH]
    items += [Item(rich(f"Not: {continued(w.what)}"), text("No workload gains 5% or more."), "×") for w in useless[:1]]
    if not items:
        items.append(Item(text("Nothing"), text("No faster link or store helps these workloads."), "–"))
    return Items("What to buy first", tuple(items))


def _rank(subject: Subject, tried: WhatIf) -> tuple[bool, bool, float]:
    """Purchases that end a missed target first, then those for a goal, then by gain."""
    best = tried.best
    return not subject.missed(best), tried.before[best].kind not in _GOALS, -tried.gain(best)


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
            told = whole_clauses(plain(in_names(subject.stock, finding.text)), _RISK)
            head = _HEADS.get(
                finding.code,
                finding.remedy.split(",")[0] if finding.remedy and len(finding.remedy) < 60 else finding.code,
            )
            item = Item(rich(sentence(head) + letter), rich(sentence(told) + ". ", *chapter_link(context, key)))
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
