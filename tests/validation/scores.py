"""The table of scores in `docs/accuracy.md`; ``python -m tests.validation.scores`` prints it, ``--write`` updates it.

*Left out* comes from fits repeated without the group that is then predicted: those of training are kept with its
cases, those of collectives stated in their README; all else is computed here from the cases.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from designer.decisions.validation import Validation
from designer.formulas.scoring import Scored, band_score, macro_mean
from tests.validation.collectives import test_collective_cases as collectives
from tests.validation.drawn import of
from tests.validation.migration import left_out as migration_left_out
from tests.validation.migration import test_migration_cases as migration
from tests.validation.storage import left_out as storage_left_out
from tests.validation.storage import test_storage_runs as storage
from tests.validation.training import drawn_cases
from tests.validation.training import left_out as training_left_out
from tests.validation.training import test_training_runs as training
from tests.validation.transfers import left_out as transfers_left_out
from tests.validation.transfers import test_transfer_cases as transfers

PAGE = Path(__file__).resolve().parents[2] / "docs" / "accuracy.md"
HEAD = (
    "| area | points | in sample | left out | target | 80 % bands hold | drawn | error | bands |\n"
    "|---|---|---|---|---|---|---|---|---|\n"
)
#: error of groups left out of a fit that takes hours
LEFT_OUT: Mapping[str, str] = {"collectives": "4.9 %"}
#: errors by group where leaving it out is quick
WORKED_OUT: Mapping[str, Callable[[], Mapping[str, float]]] = {
    "transfers": transfers_left_out.errors,
    "storage feed": storage_left_out.errors,
    "migration": migration_left_out.errors,
}
#: the error aimed at on machines never seen
TARGETS: Mapping[str, str] = {
    "collectives": "6 %",
    "transfers": "10 %",
    "training step": "10 %",
    "storage feed": "12 %",
    "migration": "12 %",
}
#: folder of the cases drawn as templates
DRAWN: Mapping[str, str] = {"training step": "training", "storage feed": "storage"}


class Area(NamedTuple):
    """Points of an area, and those of them that have a band of their own."""

    points: list[Scored]
    banded: list[Scored]


def areas() -> Mapping[str, Area]:
    """Every area with its points."""
    found = {
        "collectives": [point for _, point in collectives.POINTS],
        "transfers": [transfers.scored(case) for case in transfers.CASES],
        "training step": [point for _, point in training.POINTS],
        "storage feed": [point for _, point in storage.POINTS],
        "migration": [migration.scored(case) for case in migration.CASES],
    }
    return {name: Area(points, storage.BINDING if name == "storage feed" else points) for name, points in found.items()}


def drawn(area: str) -> Validation:
    """The cases of an area that are drawn as templates, predicted the whole way."""
    return of(DRAWN.get(area, area))


def _left_out(area: str) -> str:
    if area == "training step":
        return f"{training_left_out.error() * 100:.1f} %"
    return LEFT_OUT[area] if area in LEFT_OUT else f"{mean(WORKED_OUT[area]().values()) * 100:.0f} %"


def table() -> str:
    """The table as Markdown."""
    rows: list[str] = []
    for name, area in areas().items():
        whole = drawn(name)
        count, off, held = len(whole.outcomes), whole.error, whole.coverage
        if name == "training step":
            every = [point for _, point in drawn_cases.points()]
            count, off, held = len(every), macro_mean(every), band_score(every).coverage
        rows.append(
            f"| {name} | {len(area.points)} | {macro_mean(area.points) * 100:.1f} % | {_left_out(name)} "
            f"| {TARGETS[name]} | {band_score(area.banded).coverage * 100:.0f} % | {count} "
            f"| {off * 100:.1f} % | {held * 100:.0f} % |\n"
        )
    return HEAD + "".join(rows)


def shown(text: str) -> str:
    """The table in the text of a page."""
    start = text.index(HEAD)
    return text[start : text.index("\n\n", start) + 1]


if __name__ == "__main__":
    if "--write" in sys.argv:
        before = PAGE.read_text("utf-8")
        PAGE.write_text(before.replace(shown(before), table()), "utf-8")
    sys.stdout.write(table())
