"""Measurements next to their predictions, as rows and in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from designer.decisions.validation import Outcome, Validation
from designer.gui.viewmodels.flow import band_digits
from designer.gui.viewmodels.table import Cell, Column, Line, sentence_case
from designer.present.words import metric_title
from designer.units import format_si
from designer.workload.metrics import METRICS

COLUMNS: Final = (
    Column("Measurement", width=230),
    Column("Metric", width=130, spare=True),
    Column("Measured", number=True, width=96),
    Column("Predicted", number=True, width=96),
    Column("80% band", width=150, spare=True),
    Column("Error", number=True, width=74),
    Column("", width=90, spare=True),
)
#: errors above this are marked
_LARGE: Final = 0.2


def lines(found: Validation) -> list[Line]:
    """One row for each measurement, the worst first; those without a prediction say why."""
    return [_line(o) for o in sorted(found.outcomes, key=lambda o: -o.error)]


def _line(outcome: Outcome) -> Line:
    stated, predicted = outcome.measured, outcome.predicted
    unit = predicted.unit if predicted is not None else METRICS[stated.metric].unit
    bound = {"lower": "≥ ", "upper": "≤ "}.get(stated.sided, "")
    metric = metric_title(stated.metric) + (" per GPU" if stated.per_accelerator else "")
    about = "\n".join(x for x in (stated.id, stated.source, stated.place, outcome.problem) if x)
    head = (
        Cell(stated.id, stated.id, tip=about),
        Cell(metric, metric, tone="muted", tip=stated.metric),
        Cell(bound + format_si(stated.value, unit), stated.value),
    )
    if predicted is None:
        text = sentence_case(outcome.problem)
        return Line((*head, Cell("–"), Cell(text, tone="bad", tip=text), Cell("–", 1e9), Cell("")), stated.id)
    low, high = (format_si(end, unit, band_digits(predicted)) for end in (predicted.low, predicted.high))
    band = f"{low} – {high}"
    inside = {True: "in the band", False: "outside", None: ""}[outcome.inside]
    return Line(
        (
            *head,
            Cell(format_si(predicted.value, unit), predicted.value),
            Cell(band, predicted.low, tone="muted", tip=band),
            Cell(f"{outcome.error * 100:.1f}%", outcome.error, tone="warn" if outcome.error > _LARGE else ""),
            Cell(inside, inside, tone="good" if outcome.inside else "bad" if outcome.inside is False else ""),
        ),
        stated.id,
    )


def headline(found: Validation, wrong: Sequence[str] = ()) -> str:
    """What the whole comes to, in a sentence or two."""
    scored = sum(o.predicted is not None for o in found.outcomes)
    missed = len(found.outcomes) - scored
    if not found.outcomes:
        said = "No measurement could be read."
    elif not scored:
        said = "None of them could be predicted."
    else:
        holds = f", bands hold {found.coverage * 100:.0f}% of them" if found.coverage == found.coverage else ""
        points = f"{scored} measurement{'s' if scored != 1 else ''}"
        said = f"{points}, error {found.error * 100:.1f}% (median in a group, mean over groups){holds}."
    left = [f"{missed} could not be predicted"] if missed and scored else []
    left += [f"{len(wrong)} could not be read"] if wrong else []
    return said + (f" {' and '.join(left)}." if left else "")
