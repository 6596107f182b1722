"""Elastic training: workers leave and come back while a model is trained."""

import re
from collections.abc import Mapping
from typing import Any

from designer.errors import AnalysisError, UnitError
from designer.families.training.tasks import ElasticTraining
from designer.units import parse_duration
from designer.workload.job_settings import LAYOUT, MODEL, job
from designer.workload.kind import Setting, WorkloadKind, listed
from designer.workload.program import Measure, Program, Step

_CHANGE = re.compile(r"(?P<count>\d{1,7})(?:\s+at\s+(?P<time>.+))?\Z")


def changes(text: str) -> tuple[tuple[float, int], ...]:
    """Workers over time, read from such as ``8, 4 at 10 min, 8 at 30 min``.

    Raises
    ------
    AnalysisError
        If a piece cannot be read, or times do not ascend.
    """
    found: list[tuple[float, int]] = []
    for piece in listed(text):
        match = _CHANGE.match(piece)
        try:
            if match is None:
                raise UnitError(f"{piece!r} is no number of workers with a time")
            at = float(parse_duration(match["time"])) if match["time"] else 0.0
        except UnitError as error:
            raise AnalysisError(error.text, place="workers", remedy="write such as: 8, 4 at 10 min") from None
        if (found and at <= found[-1][0]) or at < 0:
            raise AnalysisError(f"{piece!r} is not after the one before", place="workers", remedy="let times ascend")
        found.append((at, int(match["count"])))
    if not found or found[0][0] > 0:
        raise AnalysisError("nobody trains at first", place="workers", remedy="begin with a number, without a time")
    return tuple(found)


def program(settings: Mapping[str, Any]) -> Program:
    """One training run as a program, from its first sample to its last."""
    task = ElasticTraining(job(settings), settings["samples"], changes(settings["workers"]), settings["rendezvous"])
    measures = (
        Measure("time_to_train", "s", "end", "train"),
        Measure("samples_per_second", "1/s", "rate", "train", settings["samples"]),
    )
    return Program("elastic", (Step("train", task),), measures=measures)


WORKLOAD = WorkloadKind(
    name="elastic",
    title="Elastic training",
    reports="training",
    metrics=("time_to_train", "samples_per_second"),
    program=program,
    help="Training whose workers leave and come back: a step is lost when some leave, and all meet again.",
    settings=(
        *MODEL,
        *LAYOUT,
        Setting("samples", "Samples", "count", 1_000_000, help="to train on"),
        Setting("workers", "Workers", "text", "8", help="accelerators over time, such as 8, 4 at 10 min, 8 at 30 min"),
        Setting("rendezvous", "Rendezvous", "duration", "30 s", help="from a change until all train again"),
    ),
)
