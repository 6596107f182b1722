"""The table of scores in the README: ``python -m tests.validation.scores`` prints it, ``--write`` puts it there.

*Left out* comes from fits repeated without the group that is then predicted, which take hours and are told in the
README of each area; all else is worked out here from the cases.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from designer.formulas.scoring import Scored, band_score, macro_mean
from tests.validation.collectives import test_collective_cases as collectives
from tests.validation.migration import test_migration_cases as migration
from tests.validation.storage import test_storage_runs as storage
from tests.validation.training import test_training_runs as training
from tests.validation.transfers import test_transfer_cases as transfers

README = Path(__file__).resolve().parents[2] / "README.md"
HEAD = "| area | points | in sample | left out | 80 % bands hold |\n|---|---|---|---|---|\n"
#: error of groups left out of the fit, where one was made
LEFT_OUT: Mapping[str, str] = {"collectives": "4.5 %", "training step": "9.5 %", "storage feed": "18 %"}


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


def table() -> str:
    """The table as Markdown."""
    rows = [
        f"| {name} | {len(area.points)} | {macro_mean(area.points) * 100:.1f} % | {LEFT_OUT.get(name, '–')} "
        f"| {band_score(area.banded).coverage * 100:.0f} % |\n"
        for name, area in areas().items()
    ]
    return HEAD + "".join(rows)


def shown(text: str) -> str:
    """The table as it stands in a README."""
    start = text.index(HEAD)
    return text[start : text.index("\n\n", start) + 1]


if __name__ == "__main__":
    if "--write" in sys.argv:
        before = README.read_text("utf-8")
        README.write_text(before.replace(shown(before), table()), "utf-8")
    sys.stdout.write(table())
