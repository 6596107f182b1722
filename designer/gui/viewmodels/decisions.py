"""What to change, and what failures cost, as rows of a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from designer.catalog.parttype import part_kinds
from designer.gui.viewmodels.table import Cell, Column, Line
from designer.gui.viewmodels.words import sentence_case
from designer.units import format_si

if TYPE_CHECKING:
    from designer.decisions.failures_survey import Loss, Survey
    from designer.decisions.suggest import Step, Suggestions
    from designer.design.document import Design

#: so many names a tip holds
_TOLD: Final = 12
STEP_COLUMNS: Final = (
    Column("Edits", width=420),
    Column("Gain", number=True, width=64),
    Column("Then", number=True, width=92),
    Column("Costs", width=170),
    Column("What binds then", width=260),
    Column("Sure", width=150),
)
LOSS_COLUMNS: Final = (
    Column("Fails", width=90),
    Column("For example", width=240),
    Column("Alike", number=True, width=64),
    Column("Lost", number=True, width=64),
    Column("GPUs lost", number=True, width=64),
    Column("GPUs stranded", number=True, width=84),
    Column("Limits broken", width=230),
    Column("What binds then", width=230),
)


def suggested(design: Design, workload: str, cancelled: Callable[[], bool]) -> Suggestions:
    """Suggestions for a workload of a design."""
    from designer.decisions.suggest import suggest

    return suggest(design, workload, cancelled=cancelled)


def surveyed(design: Design, workload: str, cancelled: Callable[[], bool]) -> Survey:
    """What single failures cost a workload of a design."""
    from designer.decisions.failures_survey import survive

    return survive(design, workload, cancelled=cancelled)


def step_lines(found: Suggestions) -> list[Line]:
    """A row for each step; its key is its number."""
    return [_step(number, step, found) for number, step in enumerate(found.steps)]


def _step(number: int, step: Step, found: Suggestions) -> Line:
    titles = sentence_case("; ".join(one.title for one in step.edits))
    names = [b.label for b in step.binding]
    binds = f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else "".join(names) or "–"
    lifted = ", ".join(b.label for b in step.lifted[:2]) or "–"
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


def loss_lines(found: Survey) -> list[Line]:
    """A row for each class of failures that cost something; its key is the path of its example."""
    return [_loss(loss) for loss in found.losses if any(loss.badness)]


def _loss(loss: Loss) -> Line:
    limits = "; ".join((*loss.limits, *(f"{m} cannot restart" for m in loss.machines)))
    tone = "bad" if loss.stops else "warn" if loss.lost else ""
    return Line(
        (
            Cell(kind_title(loss.kind), loss.kind),
            Cell(loss.path, loss.path, tip=loss.path),
            Cell(f"{loss.count:,}", loss.count),
            Cell("all" if loss.stops else f"{loss.lost:.1%}", loss.lost, tone=tone),
            Cell(f"{loss.gpus_lost:,}" if loss.gpus_lost else "", loss.gpus_lost),
            Cell(f"{loss.gpus_stranded:,}" if loss.gpus_stranded else "", loss.gpus_stranded),
            Cell(limits, limits, tip=limits, tone="warn" if limits else ""),
            Cell(loss.binds, loss.binds, tip=loss.binds, tone="muted"),
        ),
        loss.path,
    )


def step_words(found: Suggestions) -> str:
    """What stands above the steps."""
    now = f"{found.workload}: {found.metric.replace('_', ' ')} {format_si(found.value, found.unit)}"
    return f"{now}. {sentence_case(found.stuck)}." if found.stuck else now


def loss_words(found: Survey) -> str:
    """What stands above the failures."""
    return f"{found.failures:,} single failures: {found.fatal:,} stop {found.workload}, {found.harmless:,} cost nothing"
