"""The records of measurements that are shipped: ``python -m tests.validation.records --write`` makes them.

Every case that is drawn as a template is predicted the whole way; what comes out stands in ``assets/validation``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from designer.catalog.parttype import Capability
from designer.decisions.validation import Outcome
from designer.design.document import Design
from designer.engine.network import build_network
from tests.validation.drawn import predictions

HERE = Path(__file__).parent
FILE = HERE.parents[1] / "assets" / "validation" / "records.json"
AREAS = ("collectives", "migration", "storage", "training", "transfers")


def outcomes() -> list[tuple[str, Design, Outcome]]:
    """Every drawn case with its area, its design and its prediction."""
    return [(area, design, outcome) for area in AREAS for design, outcome in predictions(area)]


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def rows(found: list[tuple[str, Design, Outcome]]) -> list[dict[str, Any]]:
    """The records as they are written."""
    made: list[dict[str, Any]] = []
    for area, design, outcome in found:
        measured, predicted = outcome.measured, outcome.predicted
        if predicted is None:
            continue
        network = build_network(design)
        computes = network.has(Capability.ACCELERATE)
        types = sorted({network.net.part(n).type for n in computes.nonzero()[0].tolist()})
        made.append(
            {
                "id": measured.id,
                "area": area,
                "group": measured.group,
                "source": measured.source,
                "design": design.name,
                "kind": measured.workload.kind,
                "metric": measured.metric,
                "unit": predicted.unit,
                "measured": _rounded(measured.value),
                "predicted": _rounded(predicted.value),
                "low": _rounded(predicted.low),
                "high": _rounded(predicted.high),
                "sided": str(measured.sided),
                "accelerators": types,
            }
        )
    return made


def text(found: list[dict[str, Any]]) -> str:
    """The file: a record a line."""
    lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in found)
    return f'{{\n "format": "designer-validation", "version": 1,\n "records": [\n{lines}\n ]\n}}\n'


if __name__ == "__main__":
    made = rows(outcomes())
    if "--write" in sys.argv:
        FILE.parent.mkdir(exist_ok=True)
        FILE.write_text(text(made), "utf-8")
    stale = json.loads(FILE.read_text("utf-8"))["records"] != made
    sys.stdout.write(f"{len(made)} records{', the file is older' if stale else ''}\n")
