"""Failures: what each single one costs, worst first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from designer.analysis.study.survival import EXPLAINED_LIMIT
from designer.decisions.failures import FEED
from designer.decisions.failures_survey import Loss, Survey, survive
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
    surveys: list[Survey] = []
    for workload in subject.design.workloads:
        try:
            surveys.append(survive(subject.design, workload))
        except AnalysisError:
            # it does not run without a failure either, which its own findings say
            continue
    if not surveys:
        return None
    titles = {w.id: w.title for w in subject.results}
    several = len(surveys) > 1
    everything = _failures(subject.stock, surveys, titles)
    kinds = _alike([x for x in everything if x.costs])
    r = Align.RIGHT
    heads = (
        Head("Fails"),
        Head("Alike", r),
        Head("Throughput lost", r),
        *((Head("Of"),) if several else ()),
        Head("GPUs lost", r),
        Head("GPUs stranded", r),
        Head("What holds it back then, and limits broken"),
    )
    aside = f"the worst {_MOST} of {len(kinds)} kinds" if len(kinds) > _MOST else "worst first"
    fatal = sum(x.count for x in everything if x.worst.stops)
    harmless = sum(x.count for x in everything if not x.costs)
    what = "a workload" if several else continued(titles.get(surveys[0].workload, surveys[0].workload))
    stopping = in_words(fatal, "stops", "stop") if fatal else "none stops"
    title = (
        f"Of {counted(surveys[0].failures, 'single failure')} {stopping} {what};"
        f" {in_words(harmless, 'costs', 'cost')} nothing"
    )
    rows = tuple(_row(x, several) for x in kinds[:_MOST])
    blocks = (Table("Single failures", heads, rows, aside), Follows(_follows(kinds)))
    return Chapter(
        context.key("failures", subject),
        "Failures",
        title,
        "What does each single failure cost?",
        blocks,
        rich(
            "Every server, switch, GPU, NIC, store, drive and one link of every bundle is taken away in turn and"
            f" {_analysed(surveys, titles)} What fails alike is counted together. A device whose way to its processors"
            " is gone counts as stranded."
        ),
        context.lettered(subject),
    )


def _analysed(surveys: list[Survey], titles: Mapping[str, str]) -> str:
    """Which workloads are analysed again, as the end of a sentence."""
    if len(surveys) == 1:
        one = surveys[0]
        value = quantity(one.value, one.unit)
        return (
            f"{continued(titles.get(one.workload, one.workload))} analysed again; without a failure it reaches {value}."
        )
    return f"each of {len(surveys)} workloads is analysed again; what the one loses that loses most is listed."


@dataclass(frozen=True, slots=True)
class _Kind:
    """Failures that read alike.

    Parameters
    ----------
    name, count
        What fails, and how many.
    worst, workload
        What it costs the workload that loses most, and the title of that workload.
    others
        How many more workloads lose something.
    why
        What holds that workload back then.
    """

    name: str
    count: int
    worst: Loss
    workload: str
    others: int
    why: str

    @property
    def costs(self) -> bool:
        """True if any workload loses something."""
        return any(self.worst.badness)


def _failures(stock: Inventory, surveys: list[Survey], titles: Mapping[str, str]) -> list[_Kind]:
    """Failures that cost every workload the same, once, worst first."""
    of: dict[tuple[str, int], list[Loss]] = {}
    for survey in surveys:
        for loss in survey.losses:
            for member in loss.members.tolist():
                of.setdefault((loss.kind, member), []).append(loss)
    groups: dict[tuple[int, ...], list[tuple[str, int]]] = {}
    for failure, losses in of.items():
        groups.setdefault(tuple(map(id, losses)), []).append(failure)
    found: list[_Kind] = []
    for failures in groups.values():
        losses = of[failures[0]]
        k = max(range(len(losses)), key=lambda i: losses[i].badness)
        worst = losses[k]
        others = sum(any(x.badness) for x in losses) - any(worst.badness)
        # where one workload judges, the failure that was worked out stands for all
        number = _number_of(stock, worst) if len(surveys) == 1 else failures[0][1]
        title = titles.get(surveys[k].workload, surveys[k].workload)
        name = _named(stock, worst.kind, number)
        found.append(_Kind(name, len(failures), worst, title, others, _consequences(stock, worst)))
    return sorted(found, key=lambda x: tuple(-b for b in x.worst.badness))


def _alike(costly: list[_Kind]) -> list[_Kind]:
    """Failures whose rows differ by a number in a name, once."""
    found: dict[tuple[object, ...], _Kind] = {}
    for one in costly:
        worst = one.worst
        key = (
            *(worst.kind, _NUMBER.sub("#", one.name), f"{worst.lost:.3f}", worst.gpus_lost, worst.gpus_stranded),
            *(one.workload, one.others, one.why),
        )
        known = found.get(key)
        found[key] = one if known is None else replace(known, count=known.count + one.count)
    return list(found.values())


def _consequences(stock: Inventory, loss: Loss) -> str:
    """What holds a workload back after a failure, limits that no longer hold and machines without a place."""
    limits = [CODES[m].title if m in CODES else m for m in loss.limits]
    restart = [f"{stock.design.vms[m].label if m in stock.design.vms else m} cannot restart" for m in loss.machines]
    stopped = _GONE if _NAMES_NONE in loss.binds else in_names(stock, loss.binds)
    binds = stopped if loss.stops else in_short(loss.binds)
    return "; ".join(x for x in (binds, listed([*limits, *restart])) if x)


def _number_of(stock: Inventory, loss: Loss) -> int:
    """The part or link that a loss names."""
    if loss.kind != "link":
        return stock.net.index_of(loss.path)
    net = stock.net
    return next((k for k in loss.members.tolist() if net.link_path(k) == loss.path), int(loss.members[0]))


def _named(stock: Inventory, kind: str, number: int) -> str:
    """What fails, by the names in the drawing: ``link CPU 0 – Memory 0``."""
    net = stock.net
    if kind == "link":
        return f"link {part_name(stock, int(net.link_a[number]))} – {part_name(stock, int(net.link_b[number]))}"
    name = part_name(stock, number)
    return f"feed of {name}" if kind == FEED else name


def _row(kind: _Kind, several: bool) -> Row:
    loss = kind.worst
    # accelerators are stranded or limits broken, while the workload loses nothing
    lost = "stops" if loss.stops else percent(loss.lost, 1) if loss.lost > 1e-6 else "–"
    of = f"{kind.workload}, {in_words(kind.others, 'other', 'others')} less" if kind.others else kind.workload
    return Row(
        (
            strong(sentence(kind.name)),
            text(counted(kind.count)),
            text(lost, "alarm" if loss.stops else ""),
            *((text(of),) if several else ()),
            text(counted(loss.gpus_lost) if loss.gpus_lost else "–"),
            text(counted(loss.gpus_stranded) if loss.gpus_stranded else "–"),
            muted(kind.why or "–"),
        )
    )


def _follows(costly: list[_Kind]) -> tuple[Text, ...]:
    if not costly:
        return (rich("No single failure costs anything."),)
    worst = costly[0]
    lost = f"{continued(worst.workload)} stops." if worst.worst.stops else f"{percent(worst.worst.lost)} are lost."
    first = f"The worst is to lose {worst.name}: {lost}"
    others = [x for x in costly if x.worst.stops and x.worst.kind != "server"]
    if others:
        names = listed(list(dict.fromkeys(x.name for x in others)))
        return (rich(first), rich(f"{sentence(names)}: give each a second way, or keep a spare beside it."))
    return (rich(first),)


CHAPTER = ChapterKind("failures", "Failures", 145, of_design=build)
