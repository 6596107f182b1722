"""Failures: what each single one costs, worst first."""

from __future__ import annotations

from designer.decisions.failures_survey import EXPLAINED_LIMIT, Loss, survive, workload_of
from designer.errors import AnalysisError
from designer.report.cells import muted, strong, text
from designer.report.chapter import ChapterKind
from designer.report.document import Align, Chapter, Follows, Head, Row, Table, Text, rich
from designer.report.subject import Context, Subject
from designer.report.wording import counted, listed, percent, quantity, sentence

_MOST = 16


def build(context: Context, subject: Subject) -> Chapter | None:
    """The chapter; None where nothing runs, or the design is so large that a report should not wait for it."""
    if subject.network.net.n_parts > EXPLAINED_LIMIT or not subject.design.workloads:
        return None
    try:
        found = survive(subject.design, workload_of(subject.design).id)
    except AnalysisError:
        return None
    costly = [x for x in found.losses if any(x.badness)]
    r = Align.RIGHT
    heads = (
        Head("Fails"),
        Head("Alike", r),
        Head("Throughput lost", r),
        Head("GPUs lost", r),
        Head("GPUs stranded", r),
        Head("What holds it back then, and limits broken"),
    )
    aside = f"the worst {_MOST} of {len(costly)} kinds" if len(costly) > _MOST else "worst first"
    title = (
        f"Of {counted(found.failures, 'single failure')} {counted(found.fatal)} stop"
        f" {found.workload}, {counted(found.harmless)} cost nothing"
    )
    blocks = (Table("Single failures", heads, tuple(_row(x) for x in costly[:_MOST]), aside), Follows(_follows(costly)))
    value = quantity(found.value, found.unit)
    return Chapter(
        context.key("failures", subject),
        "Failures",
        title,
        "What does each single failure cost?",
        blocks,
        rich(
            f"Every server, switch, GPU, NIC, store, drive and one link of every bundle is taken away in turn and"
            f" {found.workload} analysed again; without a failure it reaches {value}. What fails alike is counted"
            " together. A device whose way to its processors is gone counts as stranded."
        ),
        context.lettered(subject),
    )


def _row(loss: Loss) -> Row:
    lost = "stops" if loss.stops else percent(loss.lost, 1)
    told = listed([*loss.limits, *(f"{m} cannot restart" for m in loss.machines)])
    return Row(
        (
            strong(f"{loss.kind.replace('_', ' ')} {loss.path}"),
            text(counted(loss.count)),
            text(lost, "alarm" if loss.stops else ""),
            text(counted(loss.gpus_lost) if loss.gpus_lost else "–"),
            text(counted(loss.gpus_stranded) if loss.gpus_stranded else "–"),
            muted("; ".join(x for x in (loss.binds, told) if x) or "–"),
        )
    )


def _follows(costly: list[Loss]) -> tuple[Text, ...]:
    if not costly:
        return (rich("No single failure costs anything."),)
    worst = costly[0]
    what = f"{worst.kind.replace('_', ' ')} {worst.path}"
    first = f"The worst is the {what}: " + ("everything stops." if worst.stops else f"{percent(worst.lost)} are lost.")
    others = [x for x in costly if x.stops and x.kind != "server"]
    if others:
        names = listed(list(dict.fromkeys(f"{x.kind.replace('_', ' ')} {x.path}" for x in others)))
        return (rich(first), rich(f"{sentence(names)}: give each a second way, or keep a spare beside it."))
    return (rich(first),)


CHAPTER = ChapterKind("failures", "Failures", 145, of_design=build)
