"""What to change, and what failures cost, as rows of a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from designer.catalog.parttype import part_kinds
from designer.design.naming import in_names, part_title
from designer.gui.viewmodels.flow import channel_title
from designer.gui.viewmodels.table import Cell, Column, Line
from designer.gui.viewmodels.words import sentence_case
from designer.gui.viewmodels.workloads import choices
from designer.present.words import metric_title
from designer.units import format_si

if TYPE_CHECKING:
    from designer.decisions.failures_survey import Loss, Survey
    from designer.decisions.suggest import Step, Suggestions
    from designer.design.document import Design, Link

#: so many names a tip holds
_TOLD: Final = 12
STEP_COLUMNS: Final = (
    Column("Edits", width=420),
    Column("Gain", number=True, width=64),
    Column("Then", number=True, width=92),
    Column("Costs", width=170, spare=True),
    Column("What binds then", width=260, spare=True),
    Column("Sure", width=150, spare=True),
)
LOSS_COLUMNS: Final = (
    Column("Fails", width=90),
    Column("For example", width=240, spare=True),
    Column("Alike", number=True, width=64),
    Column("Lost", number=True, width=64),
    Column("GPUs lost", number=True, width=64, spare=True),
    Column("GPUs stranded", number=True, width=84, spare=True),
    Column("Limits broken", width=230, spare=True),
    Column("What binds then", width=230, spare=True),
)


def suggested(design: Design, workload: str, cancelled: Callable[[], bool]) -> Suggestions:
    """Suggestions for a workload of a design."""
    from designer.decisions.suggest import suggest

    return suggest(design, workload, cancelled=cancelled)


def surveyed(design: Design, workload: str, cancelled: Callable[[], bool]) -> Survey:
    """What single failures cost a workload of a design."""
    from designer.decisions.failures_survey import survive

    return survive(design, workload, cancelled=cancelled)


def step_lines(found: Suggestions, design: Design) -> list[Line]:
    """A row for each step; its key is its number."""
    return [_step(number, step, found, design) for number, step in enumerate(found.steps)]


def _step(number: int, step: Step, found: Suggestions, design: Design) -> Line:
    titles = sentence_case("; ".join(one.words for one in step.edits))
    names = [_called(design, b.label) for b in step.binding]
    binds = f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else "".join(names) or "–"
    lifted = ", ".join(_called(design, b.label) for b in step.lifted[:2]) or "–"
    cost = step.cost.text(found.currency)
    sure = "The cheapest there is" if step.exact else "The best found"
    how = f"of {step.considered} edits, {step.analysed} sets were analysed"
    return Line(
        (
            Cell(titles, number, tip=f"Lifts {lifted}"),
            Cell(f"× {step.gain:.2f}", step.gain, tone="good"),
            Cell(format_si(step.after, found.unit), step.after),
            Cell(sentence_case(cost), step.cost.ports, tip=cost),
            Cell(binds, binds, tip="\n".join(names[:_TOLD]), tone="muted"),
            Cell(sure, sure, tip=how, tone="muted"),
        ),
        number,
    )


def kind_title(kind: str) -> str:
    """What fails, for people."""
    known = part_kinds().get(kind)
    return known.title if known is not None else sentence_case(kind)


def _called(design: Design, label: str) -> str:
    """What a channel is called in the drawing."""
    return channel_title(in_names(design, label))


def loss_lines(found: Survey, design: Design) -> list[Line]:
    """A row for each class of failures that cost something; its key is the path of its example."""
    return [_loss(loss, design) for loss in found.losses if any(loss.badness)]


def _loss(loss: Loss, design: Design) -> Line:
    example, binds = _example(design, loss.path), _called(design, loss.binds)
    limits = "; ".join((*loss.limits, *(f"{m} cannot restart" for m in loss.machines)))
    tone = "bad" if loss.stops else "warn" if loss.lost else ""
    return Line(
        (
            Cell(kind_title(loss.kind), loss.kind),
            Cell(example, example, tip=loss.path),
            Cell(f"{loss.count:,}", loss.count),
            Cell("all" if loss.stops else f"{loss.lost:.1%}", loss.lost, tone=tone),
            Cell(f"{loss.gpus_lost:,}" if loss.gpus_lost else "", loss.gpus_lost),
            Cell(f"{loss.gpus_stranded:,}" if loss.gpus_stranded else "", loss.gpus_stranded),
            Cell(limits, limits, tip=limits, tone="warn" if limits else ""),
            Cell(binds, binds, tip=binds, tone="muted"),
        ),
        loss.path,
    )


def _example(design: Design, path: str) -> str:
    """What the drawing calls a part or link that fails."""
    head, slash, last = path.rpartition("/")
    ends = [f"{head}{slash}{end}" for end in last.split("--")]
    names = [part_title(design, end) for end in ends]
    # a link is called after its ends unless it was renamed
    return path if names == ends else " ↔ ".join(names)


def step_words(found: Suggestions, design: Design) -> str:
    """What stands above the steps."""
    now = f"{_workload(design, found.workload)}: {metric_title(found.metric)} {format_si(found.value, found.unit)}"
    return f"{now}. {sentence_case(_called(design, found.stuck))}." if found.stuck else now


def loss_words(found: Survey, design: Design) -> str:
    """What stands above the failures."""
    stopped = f"{found.fatal:,} stop {_workload(design, found.workload)}"
    return f"{found.failures:,} single failures: {stopped}, {found.harmless:,} cost nothing"


def added_words(before: Design, after: Design) -> str:
    """What an edit added, by name, and how many links came with it; empty where it added nothing."""
    parts = [p.label for p in after.parts.values() if p.id not in before.parts and p.parent is None]
    parts += [p.label for p in after.parts.values() if p.id not in before.parts and p.parent in before.parts]
    members = [
        f"{g.replicas - before.groups[g.id].replicas} × {g.label}"
        for g in after.groups.values()
        if g.id in before.groups and g.replicas > before.groups[g.id].replicas
    ]
    if not parts and not members:
        return ""
    cables = [x for x in after.links.values() if x.id not in before.links and _leaves(before, x)]
    with_cables = f", with {len(cables)} link{'s' if len(cables) > 1 else ''} to what was there" if cables else ""
    return f"Added {', '.join((*parts, *members)[:_TOLD])}{with_cables}"


def _leaves(before: Design, link: Link) -> bool:
    """True of a link between something new and something old."""
    old = [end in before.parts or "/" in end for end in (link.a, link.b)]
    return old[0] != old[1]


def _workload(design: Design, key: str) -> str:
    return dict(choices(design)).get(key, key)
