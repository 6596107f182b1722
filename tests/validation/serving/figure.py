"""Open runs of engines as a figure of the accuracy page: predicted over measured by engine, with the bands of releases.

``python -m tests.validation.serving.figure --write`` writes it to ``assets/pictures/accuracy-serving.svg``. The runs
are not shipped.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path

from designer.families.serving.engines import release
from designer.interchange.exporting import write_picture
from designer.report.charts.plots import picture_of
from designer.report.figure import Axis, Figure, LineSeries
from tests.validation.serving.runs import Row, predicted, rows

FIGURE = Path(__file__).resolve().parents[3] / "assets" / "pictures" / "accuracy-serving.svg"
#: rows of a group that are drawn, spread over its loads
_SAMPLE = 24


def sampled(chosen: Sequence[Row]) -> list[Row]:
    """Up to so many rows of each group, from the smallest load to the largest."""
    picked: list[Row] = []
    for name in dict.fromkeys(row.group for row in chosen):
        mine = sorted((row for row in chosen if row.group == name), key=lambda r: (r.clients, r.prompt, r.output))
        picked += mine[:: max(1, len(mine) // _SAMPLE)]
    return picked


def figures(chosen: Sequence[Row]) -> list[Figure]:
    """Time per token and time to the first token [s], log over log."""
    answers = [(row, *predicted(row)) for row in chosen]
    made: list[Figure] = []
    for title, which in (("Time per token", 2), ("Time to the first token", 1)):
        by_engine: dict[str, list[tuple[float, float, float]]] = {}
        for answer in answers:
            row, value = answer[0], answer[which]
            one = release(row.engine, row.version).release
            spread = one.step_spread if which == 2 else one.first_spread
            measured = row.tpot if which == 2 else row.ttft
            by_engine.setdefault(row.engine, []).append((measured, value, math.exp(spread)))
        lines = [
            LineSeries(
                engine,
                tuple(m for m, _, _ in points),
                tuple(p for _, p, _ in points),
                tuple(p / f for _, p, f in points),
                tuple(p * f for _, p, f in points),
                "measured",
            )
            for engine, points in sorted((name, sorted(of)) for name, of in by_engine.items())
        ]
        every = [v for line in lines for v in (*line.x, *line.y)]
        ends = (min(every), max(every))
        diagonal = LineSeries("as measured", ends, ends, role="ideal")
        axes = Axis("Measured", "s", log=True), Axis("Predicted, 80% band", "s", log=True)
        made.append(Figure(f"{title}: {len(answers)} runs", *axes, (diagonal, *lines)))
    return made


def main() -> None:
    """Write the figure; nothing without the runs."""
    chosen = sampled([row for row in rows() if row.version])
    if "--write" in sys.argv and chosen:
        write_picture(picture_of(figures(chosen)), FIGURE)


if __name__ == "__main__":
    main()
