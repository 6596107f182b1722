"""Failures: what each single one costs, worst first."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from designer.decisions.failures import FEED
from designer.decisions.failures_survey import EXPLAINED_LIMIT, Loss, survive, workload_of
from designer.errors import AnalysisError
from designer.finding_codes import CODES
from designer.report.cells import muted, strong, text
from designer.report.chapter import ChapterKind
from designer.report.document import Align, Chapter, Follows, Head, Row, Table, Text, rich
from designer.report.inventory import Inventory
from designer.report.names import in_names, part_name
from designer.report.subject import Context, Subject, in_short
from designer.report.wording import continued, counted, in_words, listed, percent, quantity, sentence

_MOST = 16
#: failures whose names differ by a number read alike
_NUMBER = re.compile(r"\d+")
#: what an analysis says that finds nothing of what it was told to use
_NAMES_NONE = "names no part"
_GONE = "nothing is left of what it reads or uses"


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
    kinds = _kinds(subject.stock, costly)
    aside = f"the worst {_MOST} of {len(kinds)} kinds" if len(kinds) > _MOST else "worst first"
    workload = next((w.title for w in subject.results if w.id == found.workload), found.workload)
    stopping = in_words(found.fatal, "stops", "stop") if found.fatal else "none stops"
    title = (
        f"Of {counted(found.failures, 'single failure')} {stopping}"
        f" {continued(workload)}; {in_words(found.harmless, 'costs', 'cost')} nothing"
    )
    blocks = (Table("Single failures", heads, tuple(_row(x) for x in kinds[:_MOST]), aside), Follows(_follows(kinds)))
    value = quantity(found.value, found.unit)
    return Chapter(
        context.key("failures", subject),
        "Failures",
        title,
        "What does each single failure cost?",
        blocks,
        rich(
            f"Every server, switch, GPU, NIC, store, drive and one link of every bundle is taken away in turn and"
            f" {continued(workload)} analysed again; without a failure it reaches {value}. What fails alike is counted"
            " together. A device whose way to its processors is gone counts as stranded."
        ),
        context.lettered(subject),
    )


@dataclass(frozen=True, slots=True)
class _Kind:
    """Failures that read alike: what fails, how many, what they cost, what holds the workload back then."""

    name: str
    count: int
    worst: Loss
    told: str


def _kinds(stock: Inventory, costly: list[Loss]) -> list[_Kind]:
    """Failures of one kind that cost the same, once."""
    found: dict[tuple[object, ...], _Kind] = {}
    for loss in costly:
        limits = [CODES[m].title if m in CODES else m for m in loss.limits]
        restart = [f"{stock.design.vms[m].label if m in stock.design.vms else m} cannot restart" for m in loss.machines]
        stopped = _GONE if _NAMES_NONE in loss.binds else in_names(stock, loss.binds)
        binds = stopped if loss.stops else in_short(loss.binds)
        told = "; ".join(x for x in (binds, listed([*limits, *restart])) if x)
        name = _named(stock, loss)
        lost = f"{loss.lost:.3f}"
        key = (loss.kind, _NUMBER.sub("#", name), lost, loss.gpus_lost, loss.gpus_stranded, told)
        known = found.get(key)
        found[key] = (
            _Kind(name, loss.count, loss, told) if known is None else replace(known, count=known.count + loss.count)
        )
    return list(found.values())


def _named(stock: Inventory, loss: Loss) -> str:
    """What fails, by the names in the drawing: ``link CPU 0 – Memory 0``."""
    net = stock.net
    if loss.kind == "link":
        link = next((k for k in loss.members.tolist() if net.link_path(k) == loss.path), int(loss.members[0]))
        return f"link {part_name(stock, int(net.link_a[link]))} – {part_name(stock, int(net.link_b[link]))}"
    name = part_name(stock, net.index_of(loss.path))
    return f"feed of {name}" if loss.kind == FEED else name


def _row(kind: _Kind) -> Row:
    loss = kind.worst
    # accelerators are stranded or limits broken, while the workload loses nothing
    lost = "stops" if loss.stops else percent(loss.lost, 1) if loss.lost > 1e-6 else "–"
    return Row(
        (
            strong(sentence(kind.name)),
            text(counted(kind.count)),
            text(lost, "alarm" if loss.stops else ""),
            text(counted(loss.gpus_lost) if loss.gpus_lost else "–"),
            text(counted(loss.gpus_stranded) if loss.gpus_stranded else "–"),
            muted(kind.told or "–"),
        )
    )


def _follows(costly: list[_Kind]) -> tuple[Text, ...]:
    if not costly:
        return (rich("No single failure costs anything."),)
    worst = costly[0]
    lost = "everything stops." if worst.worst.stops else f"{percent(worst.worst.lost)} are lost."
    first = f"The worst is to lose {worst.name}: {lost}"
    others = [x for x in costly if x.worst.stops and x.worst.kind != "server"]
    if others:
        names = listed(list(dict.fromkeys(x.name for x in others)))
        return (rich(first), rich(f"{sentence(names)}: give each a second way, or keep a spare beside it."))
    return (rich(first),)


CHAPTER = ChapterKind("failures", "Failures", 145, of_design=build)
