"""Predictions against published measurements that are shipped as records: how wrong the program was, and on what.

The records are worked out again from the drawn cases by ``python -m tests.validation.records --write``; nothing in them
is typed by hand but the measured values and their sources.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, cast

from designer import resources
from designer.formulas.scoring import Scored, Sided, band_score, macro_mean, point_error

FILE: Final = "validation/records.json"


@dataclass(frozen=True, slots=True)
class Record:
    """One measurement next to what was predicted for it, in SI units.

    Parameters
    ----------
    area
        Collectives, transfers, training, storage or migration.
    group
        Points of one publication or machine.
    design
        The template that was drawn for it; ``kind`` is that of the workload.
    accelerators
        Types of the accelerators in it.
    """

    id: str
    area: str
    group: str
    source: str
    design: str
    kind: str
    metric: str
    unit: str
    measured: float
    predicted: float
    low: float
    high: float
    sided: Sided
    accelerators: tuple[str, ...]

    @property
    def scored(self) -> Scored:
        """For scores."""
        return Scored(self.group, self.predicted, self.measured, self.low, self.high, self.sided)

    @property
    def error(self) -> float:
        """How far off the prediction was: |ln(predicted ÷ measured)|; 0 on the right side of a bound [1]."""
        return point_error(self.scored)

    @property
    def inside(self) -> bool | None:
        """Whether the measurement lies in the band; None for bounds."""
        return self.low <= self.measured <= self.high if self.sided is Sided.BOTH else None


@dataclass(frozen=True, slots=True)
class Score:
    """How wrong predictions were.

    Parameters
    ----------
    error
        Median in a group, mean over groups [1].
    worst
        Of a single point [1].
    coverage
        Share of measurements inside the 80% bands; NaN where all are bounds [1].
    """

    points: int
    groups: int
    error: float
    worst: float
    coverage: float


@cache
def records() -> tuple[Record, ...]:
    """All records that are shipped."""
    text = (resources.assets() / FILE).read_text("utf-8")
    rows = cast("list[dict[str, Any]]", json.loads(text)["records"])
    return tuple(_record(row) for row in rows)


def _record(row: dict[str, Any]) -> Record:
    known = {**row, "sided": Sided(row["sided"]), "accelerators": tuple(row["accelerators"])}
    return Record(**cast("Any", known))


def score(chosen: Iterable[Record]) -> Score | None:
    """The score of some records; None of none."""
    found = list(chosen)
    if not found:
        return None
    points = [record.scored for record in found]
    two_sided = [point for point in points if point.sided is Sided.BOTH]
    coverage = band_score(two_sided).coverage if two_sided else math.nan
    groups = len({record.group for record in found})
    return Score(len(found), groups, macro_mean(points), max(record.error for record in found), coverage)


def areas() -> tuple[str, ...]:
    """Areas in the order of their names."""
    return tuple(sorted({record.area for record in records()}))


def nearest(kinds: Iterable[str], accelerators: Iterable[str], most: int) -> Sequence[Record]:
    """Records of workloads of these kinds, those on the same accelerators first, the worst predicted first of either.

    Records on other accelerators stand in for kinds alone that nobody measured on these.
    """
    wanted, here = set(kinds), set(accelerators)
    found = [record for record in records() if record.kind in wanted]
    same = {record.id: bool(here & set(record.accelerators)) for record in found}
    known = {record.kind for record in found if same[record.id]}
    near = [record for record in found if same[record.id] or record.kind not in known]
    return sorted(near, key=lambda r: (not same[r.id], -r.error, r.id))[:most]
