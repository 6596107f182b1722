"""Open runs of engines as a figure of the accuracy page: predicted over measured by engine, with the bands of releases.

``python -m tests.validation.serving.figure --write`` writes it to ``assets/pictures/accuracy-serving.svg``. The runs
are not shipped.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from designer.families.serving.engines import release
from designer.families.serving.metrics import POWER_SPREAD
from designer.families.serving.spreads import first_spread, release_spread
from designer.interchange.exporting import write_picture
from designer.report.charts.plots import picture_of
from designer.report.figure import Axis, Figure, LineSeries
from designer.workload.models import model
from designer.workload.shape import TransformerShape
from tests.validation.serving import energy, mlperf, offline, unseen
from tests.validation.serving.runs import DEVICES, Row, predicted, rows

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
    """Time per token and time to the first token [s], then throughput [1/s], log over log."""
    answers = [(row, *predicted(row)) for row in chosen]
    made: list[Figure] = []
    for title, which in (("Time per token", 2), ("Time to the first token", 1)):
        by_engine: dict[str, list[tuple[float, float, float]]] = {}
        for answer in answers:
            row, value = answer[0], answer[which]
            measured = row.tpot if which == 2 else row.ttft
            spread = _spread(row, first=which == 1)
            by_engine.setdefault(row.engine, []).append((measured, value, math.exp(spread)))
        made.append(_figure(f"{title}: {len(answers)} runs", "s", by_engine))
    made += [_throughput(), _power()]
    return made


def _spread(row: Row, *, first: bool) -> float:
    """80 % band of a row, of the first token or of the time per token: logarithm either way [1]."""
    one, shape = release(row.engine, row.version).release, model(row.model)
    assert isinstance(shape, TransformerShape)
    steps = release_spread(one, shape, row.weights, DEVICES[row.system])
    return math.hypot(steps, first_spread(one, shape, row.weights, DEVICES[row.system])) if first else steps


def _throughput() -> Figure:
    """Output tokens a second of an accelerator at most load: the other sets, all of TensorRT-LLM."""
    sets: dict[str, list[tuple[float, float, float]]] = {}
    known = release("tensorrt-llm", "1.0.0").release.step_spread
    for point, error in offline.errors(offline.points()):
        one = point.measured / point.tensor
        sets.setdefault("Llama on H100, H200", []).append((one, one * math.exp(error), math.exp(known)))
    for point, error in unseen.errors():
        one = point.measured / point.tensor / point.stages
        name = f"{'Llama' if point.model.startswith('llama') else 'mixture'} on {point.system}"
        sets.setdefault(name, []).append((one, one * math.exp(error), math.exp(unseen.band(point))))
    bands = {name: band for name, (_, _, band) in mlperf.errors().items()}
    for result in mlperf.results():
        predicted = mlperf.rate_of(result.model, result.system, result.prompt, result.output)
        band = math.exp(bands[result.model, result.system])
        sets.setdefault("MLPerf Offline", []).append((result.measured / result.accelerators, predicted, band))
    for one in unseen.GUIDE:
        band = math.exp(unseen.guide_band(one))
        sets.setdefault("DeepSeek by a guide", []).append((one.measured / 8, unseen.wide(one) / 8, band))
    return _figure(f"Throughput, TensorRT-LLM: {sum(map(len, sets.values()))} runs", "1/s", sets)


def _power() -> Figure:
    """Power of all accelerators with full batches."""
    sets: dict[str, list[tuple[float, float, float]]] = {}
    for run, error in energy.errors():
        name = "vLLM, mixtures, not fitted" if run.shape.experts else "vLLM, dense"
        sets.setdefault(name, []).append((run.power, run.power * math.exp(error), math.exp(POWER_SPREAD.value)))
    return _figure(f"Power of accelerators: {sum(map(len, sets.values()))} runs", "W", sets)


def _figure(title: str, unit: str, sets: Mapping[str, Sequence[tuple[float, float, float]]]) -> Figure:
    """Predicted over measured, with bands as factors either way, log over log."""
    lines = [
        LineSeries(
            name,
            tuple(m for m, _, _ in points),
            tuple(p for _, p, _ in points),
            tuple(p / f for _, p, f in points),
            tuple(p * f for _, p, f in points),
            "measured",
        )
        for name, points in sorted((name, sorted(of)) for name, of in sets.items())
    ]
    every = [v for line in lines for v in (*line.x, *line.y)]
    ends = (min(every), max(every))
    diagonal = LineSeries("as measured", ends, ends, role="ideal")
    return Figure(
        title, Axis("Measured", unit, log=True), Axis("Predicted, 80% band", unit, log=True), (diagonal, *lines)
    )


def main() -> None:
    """Write the figure; nothing without the runs."""
    chosen = sampled([row for row in rows() if row.version])
    if "--write" in sys.argv and chosen:
        write_picture(picture_of(figures(chosen)), FIGURE)


if __name__ == "__main__":
    main()
