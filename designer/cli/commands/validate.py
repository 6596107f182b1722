"""``designer validate``: predictions against measurements."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from designer.cli.command import Command

if TYPE_CHECKING:
    from designer.analysis.validation import Outcome, Validation


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("cases", metavar="CASES", nargs="+", help="files of measurements")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def run(options: argparse.Namespace) -> int:
    """Predict every case and score it."""
    from pathlib import Path

    from designer.analysis.validation import score
    from designer.cli.output import print_json
    from designer.interchange.cases import validate_file

    found = score([outcome for name in options.cases for outcome in validate_file(Path(name))])
    if options.json:
        print_json(as_document(found))
    else:
        _print(found)
    return 1 if any(outcome.predicted is None for outcome in found.outcomes) else 0


def as_document(found: Validation) -> dict[str, Any]:
    """The JSON that scripts rely on."""
    return {
        "cases": [_outcome(outcome) for outcome in found.outcomes],
        "groups": dict(found.groups),
        "areas": dict(found.areas),
        "error": found.error,
        "band": {"coverage": found.coverage, "width": found.width, "stated": 0.8},
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    measured, predicted = outcome.measured, outcome.predicted
    return {
        "id": measured.id, "area": measured.area, "group": measured.group, "source": measured.source,
        "metric": measured.metric, "measured": measured.value, "sided": str(measured.sided),
        "predicted": predicted.value if predicted else None, "low": predicted.low if predicted else None,
        "high": predicted.high if predicted else None, "unit": predicted.unit if predicted else None,
        "error": outcome.error, "inside": outcome.inside, "problem": outcome.problem,
    }  # fmt: skip


def _print(found: Validation) -> None:
    from designer.cli.output import table
    from designer.units import format_si

    rows: list[tuple[str, ...]] = []
    for o in found.outcomes:
        p, m = o.predicted, o.measured
        if p is None:
            rows.append((m.id, m.metric, f"{m.value:.4g}", "-", "-", o.problem))
            continue
        band = f"{format_si(p.low, p.unit)} – {format_si(p.high, p.unit)}"
        rows.append(
            (m.id, m.metric, format_si(m.value, p.unit), format_si(p.value, p.unit), band, f"{o.error:.1%}")
        )  # fmt: skip
    print(table(("case", "metric", "measured", "predicted", "80 % band", "error"), rows))
    print()
    print(table(("group", "median error"), [(name, f"{value:.1%}") for name, value in found.groups.items()], (1,)))
    print()
    print(table(("area", "mean of groups"), [(name, f"{value:.1%}") for name, value in found.areas.items()], (1,)))
    if found.coverage == found.coverage:
        print(f"\nbands hold {found.coverage:.0%} of the points (80 % stated), about ±{found.width:.0%} wide")


COMMAND = Command(
    "validate",
    "Predictions beside measurements: error by group and area, and how often bands hold.",
    "designer validate my-measurements.json --json",
    add_arguments,
    run,
)
