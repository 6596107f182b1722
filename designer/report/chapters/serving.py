"""Serving: what each deployment takes, how long requests wait, what it costs in energy, and what limits it."""

from __future__ import annotations

from collections.abc import Sequence

from designer.engine.results import WorkloadResult
from designer.present import numbers
from designer.report.chapter import ChapterKind, muted, strong, text
from designer.report.document import Align, Cell, Chapter, Head, Row, Table
from designer.report.pages import answer_chapter
from designer.report.subject import Context, Subject, is_served
from designer.report.wording import DASH

_QUESTION = "What load can it take, and how long does one wait?"
_FIGURES = (
    "serving-frontier",
    "serving-drafts",
    "serving-ttft",
    "serving-itl",
    "serving-kv",
    "serving-queue",
    "serving-replicas",
)
_MORE = (
    "ttft_p50",
    "tokens_per_second",
    "goodput",
    "accelerators",
    "energy_per_token",
    "energy_per_million_requests",
    "accelerator_hours",
    "cost_per_day",
    "requests_per_money",
    "cold_start_time",
)
_MILLION = 1e6
#: joules of a kilowatt-hour
_KWH = 3.6e6


def build(context: Context, subject: Subject) -> Chapter | None:
    """The chapter; None where nothing is served."""
    served = sorted((w for w in subject.results if is_served(w)), key=_share, reverse=True)
    energy = _energy(context, served)
    then = [energy] if energy is not None else []
    return answer_chapter(
        context, subject, "serving", "Serving", _QUESTION, served, figures=_FIGURES, more=_MORE, then=then
    )


def _share(w: WorkloadResult) -> float:
    """Load as a share of the most it can take; 0 where that is not known."""
    most = w.metrics.get("most_requests_per_second")
    return w.metrics["requests_per_second"].value / most.value if most is not None and most.value > 0 else 0.0


def _energy(context: Context, served: Sequence[WorkloadResult]) -> Table | None:
    """Energy, its price and its carbon of a million tokens and requests; nothing without the reader's own inputs."""
    inputs = context.settings.chosen.energy
    if not served or (inputs.price is None and inputs.carbon is None):
        return None
    pue = inputs.pue or 1.0
    rows: list[Row] = []
    for w in served:
        rows.append(Row((strong(w.title),), "group"))
        for title, name, count in (
            ("A million output tokens", "energy_per_token", _MILLION),
            ("A million requests", "energy_per_million_requests", 1.0),
        ):
            e = w.metrics.get(name)
            if e is None:
                continue
            hours = [v * count * pue / _KWH for v in (e.value, e.low, e.high)]
            cells: list[Cell] = [text(title), text(numbers.digits(hours[0]), "strong")]
            cells.append(muted(DASH.join(map(numbers.digits, hours[1:]))))
            cells.append(text(numbers.digits(hours[0] * inputs.price) if inputs.price is not None else "–"))
            cells.append(text(numbers.digits(hours[0] * inputs.carbon / 1000) if inputs.carbon is not None else "–"))
            rows.append(Row(tuple(cells)))
    r = Align.RIGHT
    heads = (
        Head("Energy, accelerators alone"),
        Head("kWh", r),
        Head("80% band", r),
        Head(inputs.currency, r),
        Head("carbon, kg", r),
    )
    said = f"PUE {pue:g}" + (f", {inputs.source}" if inputs.source else ", source not given")
    return Table("What it costs in energy", heads, tuple(rows), said)


CHAPTER = ChapterKind("serving", "Serving", 45, of_design=build)
