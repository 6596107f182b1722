"""Decision summary: what to decide, how safe it is, what limits, what to buy first. Read in a minute."""

from __future__ import annotations

from designer.analysis.results import WorkloadResult
from designer.findings import Severity
from designer.report.cells import chapter_link, metric_title, muted, per, strong, text
from designer.report.chapter import ChapterKind
from designer.report.charts.strip import band_strip, gain_bar, margin_strip
from designer.report.comparison import answer
from designer.report.document import (
    Align,
    Beside,
    Block,
    Chapter,
    Head,
    Item,
    Items,
    KeyFigure,
    KeyFigures,
    Paragraph,
    Row,
    Table,
    Text,
    rich,
)
from designer.report.names import in_names
from designer.report.subject import Context, Subject, WhatIf, gain_if_doubled, main_metric, short
from designer.report.verdicts import written
from designer.report.wording import (
    DASH,
    continued,
    counted,
    ends,
    in_words,
    percent,
    quantity,
    sentence,
    split,
    times,
    whole_clauses,
)

#: a purchase worth naming gains at least this much
WORTH = 1.05


def build(context: Context) -> Chapter:
    """The chapter."""
    blocks: list[Block] = []
    own = context.settings.chosen.text
    if own:
        blocks.append(Paragraph(rich(own)))
    figures = _figures(context)
    if figures:
        blocks.append(KeyFigures(tuple(figures)))
    limits = _limits(context)
    purchases = _purchases(context)
    if limits is not None:
        blocks.append(Beside((limits,), (purchases,)))
    targets = [t for s in context.subjects for t in s.targets]
    if targets:
        good = sum(1 for t in targets if t.verdict is not None and t.verdict.good)
        items = tuple(
            Item(
                rich(written(t.verdict)) if t.verdict else rich("not judged"),
                rich(f"{t.number} {t.title}: {metric_title(t.metric)}"),
            )
            for t in targets[:8]
        )
        blocks.append(Items("Targets", items, f"{good} of {len(targets)} met or likely", tiles=True))
    risks = _risks(context)
    if risks:
        blocks.append(Items("Risks", tuple(risks[:4]), tiles=True))
    return Chapter(
        "summary",
        "Decision summary",
        _verdict(context),
        "What should be decided, and how safe is it?",
        tuple(blocks),
        _deck(context),
    )


def _ranked(context: Context) -> list[tuple[Subject, WhatIf]]:
    """Purchases worth naming, best first; those that end a missed target before all others."""
    found = [(s, w) for s in context.subjects for w in s.what_ifs if max(w.gain(k) for k in w.before) >= WORTH]

    def worth(one: tuple[Subject, WhatIf]) -> tuple[bool, float]:
        subject, bought = one
        missed = [k for k in bought.before if subject.missed(k) and bought.gain(k) >= WORTH]
        return bool(missed), max(
            bought.gain(k) * (1.0 if bought.before[k].kind in _GOALS else 0.6) for k in bought.before
        )

    return sorted(found, key=worth, reverse=True)


#: kinds of workload that are goals in themselves, before mere transfers
_GOALS = ("training", "inference", "migration", "serving")


def _verdict(context: Context) -> str:
    if len(context.subjects) > 1:
        return answer(context.subjects)
    targets = [t for s in context.subjects for t in s.targets if t.verdict is not None]
    missed = [t for t in targets if t.verdict is not None and not t.verdict.good]
    ranked = _ranked(context)
    goals = [(s, w) for s, w in ranked if w.best and w.before[w.best].kind in _GOALS]
    gpus = sum(s.stock.accelerators for s in context.subjects)
    units = sum(c.count for s in context.subjects for c in s.stock.classes)
    opening = f"{sentence(counted(gpus, 'GPU'))}" if gpus else f"{sentence(counted(units, 'unit'))}"
    if targets and not missed:
        return f"Build it as drawn: {in_words(len(targets), 'target is', 'targets are')} met or likely" + (
            f", and {continued(goals[0][1].what)} is the next step" if goals else ""
        )
    first = goals[0] if goals else None
    if first is not None:
        bought = first[1]
        gain = bought.gain(bought.best)
        tail = f"{bought.before[bought.best].title} gains {times(gain)}"
        miss = f"; {in_words(len(missed), 'target is', 'targets are')} missed as drawn" if missed else ""
        return f"Build it with {continued(bought.what)}: {tail}{miss}"
    slow = _slowest(context)
    if missed:
        return (
            f"{sentence(in_words(len(missed), 'target is', 'targets are'))} missed, and no faster link or store mends"
            " that"
        )
    return (
        f"{opening}: no faster link or store speeds up {slow[0]}; {slow[1]} holds it back"
        if slow
        else f"{opening} as drawn"
        if any(s.results for s in context.subjects)
        else f"{opening} as drawn, without a workload to judge {'it' if units == 1 else 'them'} by"
    )


def _lettered(context: Context, subject: Subject, told: str) -> str:
    return f"{subject.letter} · {told}" if len(context.subjects) > 1 else told


def _slowest(context: Context) -> tuple[str, str] | None:
    """The first workload that is a goal, and what holds it back; where none is, the one that gains least."""
    bound = [w for s in context.subjects for w in s.results if w.binding]
    goals = [w for w in bound if w.kind in _GOALS]
    if not goals:
        lifted = {k for s in context.subjects for b in s.what_ifs for k in b.before if b.gain(k) >= WORTH}
        goals = [w for w in bound if w.id not in lifted]
    return next(((w.title, short(w.binding[0])) for w in goals), None)


def _deck(context: Context) -> Text:
    parts: list[str] = []
    for subject in context.subjects:
        waits = [w for w in subject.of_kind("training") if _stall(w) > 0.05]
        runs = [w for w in subject.of_kind("training") if _stall(w) <= 0.05]
        if runs:
            best = max(runs, key=lambda w: w.metrics["mfu"].value if "mfu" in w.metrics else 0)
            mfu = best.metrics.get("mfu")
            parts.append(
                f"{_lettered(context, subject, best.title)} keeps its GPUs computing"
                f"{f' at {percent(mfu.value)} MFU' if mfu else ''}."
            )
        parts += [
            f"{_lettered(context, subject, w.title)} waits for samples {percent(_stall(w))} of each step."
            for w in waits[:2]
        ]
        for w in subject.of_kind("migration")[:1]:
            time = w.metrics.get("evacuation_time") or w.metrics.get("migration_time")
            staying = w.metrics.get("machines_staying")
            if time is not None:
                rest = (
                    f"; {in_words(int(staying.value), 'machine')} cannot leave"
                    if staying is not None and staying.value
                    else ""
                )
                parts.append(f"{_lettered(context, subject, w.title)} takes {quantity(time.value, 's')}{rest}.")
    useless = [w for s in context.subjects for w in s.what_ifs if max(w.gain(k) for k in w.before) < 1.02]
    if useless:
        parts.append(f"{useless[0].what} would help nothing.")
    return rich(" ".join(parts[:4]))


def _stall(result: WorkloadResult) -> float:
    stall, step = result.metrics.get("input_stall"), result.metrics.get("step_time")
    return stall.value / step.value if stall is not None and step is not None and step.value > 0 else 0.0


def _figures(context: Context) -> list[KeyFigure]:
    found: list[tuple[int, KeyFigure]] = []
    for subject in context.subjects:
        shown = 0
        ordered = sorted(subject.results, key=lambda w: (w.kind not in _GOALS, w.kind == "collective"))
        for w in ordered:
            metric = main_metric(w)
            estimate = w.metrics.get(metric)
            if estimate is None or estimate.value == 0:
                continue
            what = per(w, metric)
            number, unit = split(estimate.value, estimate.unit, what)
            target = next((t for t in subject.targets if t.workload == w.id and t.metric == metric and t.verdict), None)
            if target is not None and target.verdict is not None:
                strip = margin_strip(estimate, target.comparison, target.value, target.verdict, named=True)
                verdict: Text = rich(written(target.verdict))
            else:
                strip, verdict = band_strip(estimate), muted(metric_title(metric))
            told = f"80 % band {DASH.join(ends(estimate, what))}" if estimate.low < estimate.high else "exact"
            found.append(
                (
                    shown,
                    KeyFigure(
                        _lettered(context, subject, w.title),
                        number,
                        unit,
                        told.replace("80 %", "80\u00a0%"),
                        strip,
                        verdict,
                    ),
                )
            )
            shown += 1
    found.sort(key=lambda one: one[0])
    return [figure for _, figure in found[:4]]


def _limits(context: Context) -> Table | None:
    rows: list[tuple[float, Row]] = []
    for subject in context.subjects:
        for w in subject.results:
            gain = gain_if_doubled(w)
            if not w.binding or gain is None:
                continue
            missed = subject.missed(w.id)
            label = text(short(w.binding[0]), "alarm" if missed else "")
            rows.append(
                (
                    gain,
                    Row(
                        (
                            text(_lettered(context, subject, w.title)),
                            label,
                            strong(times(gain)),
                            gain_bar(gain - 1, missed),
                        )
                    ),
                )
            )
    if not rows:
        return None
    rows.sort(key=lambda one: -one[0])
    heads = (Head("Workload"), Head("What binds"), Head("If doubled", Align.RIGHT), Head(""))
    return Table(
        "What limits each workload",
        heads,
        tuple(row for _, row in rows[:7]),
        note=rich(
            "Red: a target is missed through this limit. Grey: the machine is used as intended. Doubled is the capacity"
            " alone of all that ties there, for the slowest of several flows; a purchase may bring more or less."
        ),
    )


def _purchases(context: Context) -> Items:
    items: list[Item] = []
    ranked = _ranked(context)
    for n, (subject, bought) in enumerate(ranked[:3], start=1):
        name = bought.best
        before, after = bought.before[name], bought.after[name]
        metric = main_metric(before)
        one, other = before.metrics[metric], after.metrics[metric]
        what = per(before, metric)
        then = f" Then {short(after.binding[0])} binds." if after.binding else ""
        head = _lettered(context, subject, f"{bought.what}, {bought.detail}")
        told = (
            f"{before.title}: {quantity(one.value, one.unit, what)} → {quantity(other.value, other.unit, what)}"
            f" ({DASH.join(ends(other, what))}), {times(bought.gain(name))}.{then}"
        )
        items.append(Item(rich(head), rich(told), str(n)))
    useless = [w for s in context.subjects for w in s.what_ifs if max(w.gain(k) for k in w.before) < WORTH]
    for bought in useless[:1]:
        gain = max(bought.gain(k) for k in bought.before)
        brings = (
            f"Brings {bought.before[bought.best].title} {percent(gain - 1, 1)}, the others less."
            if gain > 1.0005
            else "No workload gains."
        )
        items.append(Item(rich(f"Not: {continued(bought.what)}"), rich(brings), "×"))
    if not items:
        items.append(
            Item(rich("Nothing"), rich("No link or store of the drawing is worth widening for these workloads."), "–")
        )
    return Items("What to buy first", tuple(items))


def _risks(context: Context) -> list[Item]:
    found: list[Item] = []
    for subject in context.subjects:
        letter = f" (design {subject.letter})" if len(context.subjects) > 1 else ""
        key = context.key("findings", subject)
        for finding in subject.findings:
            if finding.severity is Severity.INFO and finding.code not in ("DATA-UNSURE", "FLOW-STEADY"):
                continue
            if finding.code == "ASSERT-UNEVALUATED":
                continue
            told = in_names(subject.stock, finding.text)
            told = whole_clauses(told, _RISK)
            head = _HEADS.get(
                finding.code,
                finding.remedy.split(",")[0] if finding.remedy and len(finding.remedy) < 60 else finding.code,
            )
            found.append(Item(rich(sentence(head) + letter), rich(sentence(told) + ". ", *chapter_link(context, key))))
    unique: dict[str, Item] = {}
    for item in found:
        unique.setdefault("".join(s.text for s in item.head), item)
    return list(unique.values())


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
