"""Validation: how wrong predictions were on machines and workloads like these, and what was never measured.

Predictions against published measurements that are shipped as records: how wrong the program was, and on what.

The records are worked out again from the drawn cases by ``python -m tests.validation.records --write``; nothing in them
is typed by hand but the measured values and their sources.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, cast

from designer import resources
from designer.catalog.parttype import Capability, part_kinds
from designer.formulas.scoring import Scored, Sided, band_score, macro_mean, point_error
from designer.report.chapter import ChapterKind, metric_title, muted, strong, text
from designer.report.document import Align, Block, Chapter, Follows, Head, Row, Table, Text, rich
from designer.report.subject import Context, Subject
from designer.report.wording import DASH, counted, in_words, listed, percent, quantity, sentence
from designer.sources import Estimate
from designer.workload.kind import workload_kinds

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


#: nearest measurements that are shown
_SHOWN: Final = 10
_R: Final = Align.RIGHT


def build(context: Context, subject: Subject) -> Chapter | None:
    """The chapter; None for a design without workloads."""
    if not subject.results:
        return None
    here = _accelerators(subject)
    used = Counter(subject.design.workloads[result.id].kind for result in subject.results)
    kinds = list(used)
    like = [record for record in records() if record.kind in kinds]
    same = [record for record in like if here & set(record.accelerators)]
    unmeasured = [kind for kind in kinds if not any(record.kind == kind for record in like)]
    blocks: list[Block] = [_by_kind(used, here)]
    near = nearest(kinds, here, _SHOWN)
    if near:
        blocks.append(_nearest_group(near, here))
    blocks.append(_by_area())
    follows: list[Text] = []
    if unmeasured:
        names = listed([_group_name(kind).lower() for kind in unmeasured])
        follows.append(
            rich(f"No measurement of {names} is among the records: measure before you rely on those figures.")
        )
    # an accelerator without a part type has no name to look for
    stranger = sorted(here - {""} - {name for record in records() for name in record.accelerators})
    if stranger:
        names = listed([_title(subject, name) for name in stranger])
        follows.append(rich(f"Nothing among the records was measured on {names}."))
    elsewhere = [kind for kind in kinds if kind not in unmeasured and not any(r.kind == kind for r in same)]
    if same and elsewhere:
        names = listed([_group_name(kind).lower() for kind in elsewhere])
        follows.append(
            rich(f"Nobody among the records measured {names} on these accelerators: other machines stand in.")
        )
    missed = [record for record in same if record.inside is False]
    if missed:
        follows.append(
            rich(
                f"{sentence(in_words(len(missed), 'measurement'))} on these accelerators"
                f" {'lies' if len(missed) == 1 else 'lie'} outside the 80% band: two in ten are expected to."
            )
        )
    follows.append(
        rich("Power, cost and weight rest on data sheets and your inputs; none of these scores is about them.")
    )
    chosen, whose = (same, "these accelerators") if same else (like, "other accelerators")
    found = score(chosen)
    if found is None:
        title = "Nothing that this design runs is among the measurements"
    else:
        title = f"On {counted(found.points, 'measurement')} of such work on {whose} predictions are"
        title += f" {percent(found.error, 1)} off"
        title += f"; {_count_inside_bands(found, chosen)}"
    return Chapter(
        context.key("validation", subject),
        "Validation",
        title,
        "How wrong were predictions where somebody measured?",
        (*blocks, Follows(tuple(follows))),
        rich(
            "Each record is a published measurement next to the prediction for a design drawn like it. Off:"
            " |ln(predicted ÷ measured)|, the median of a publication or machine, then the mean over those. Many of the"
            " points were used to fit constants: on machines never seen errors are larger."
        ),
        context.lettered(subject),
    )


def _count_inside_bands(found: Score, chosen: Sequence[Record]) -> str:
    """How many lie in their bands, of those that can: a limit has no band to lie in."""
    banded = [record.inside for record in chosen if record.inside is not None]
    limits = found.points - len(banded)
    if not banded:
        return "all are limits, with no band to lie in"
    aside = f", {in_words(limits, 'is a limit', 'are limits')}" if limits else ""
    if len(banded) == 1:
        which = "it" if found.points == 1 else "one with a band"
        return f"{which} lies {'in' if banded[0] else 'outside'} its band{aside}"
    return f"{sum(banded):,} of {len(banded):,} lie in their bands{aside}"


def _accelerators(subject: Subject) -> set[str]:
    kinds = part_kinds()
    return {
        c.part.type
        for unit in subject.stock.classes
        for c in unit.contents
        if (k := kinds.get(c.part.kind)) is not None and Capability.ACCELERATE in k.capabilities
    }


def _title(subject: Subject, type_id: str) -> str:
    found = subject.design.part_types.get(type_id)
    return found.title if found is not None else type_id


def _group_name(kind: str) -> str:
    found = workload_kinds().get(kind)
    return found.title if found is not None else kind


def _cells(found: Score | None) -> tuple[Text, Text, Text, Text]:
    if found is None:
        return text("none", "alarm"), (), (), ()
    coverage = percent(found.coverage) if not math.isnan(found.coverage) else "–"
    return text(f"{found.points:,}"), text(percent(found.error, 1)), text(coverage), muted(percent(found.worst))


def _by_kind(used: Mapping[str, int], here: set[str]) -> Table:
    """What this design runs: on all machines, and on those with its accelerators."""
    rows: list[Row] = []
    for kind, count in used.items():
        like = [record for record in records() if record.kind == kind]
        same = [record for record in like if here & set(record.accelerators)]
        rows.append(
            Row((strong(_group_name(kind)), text(f"{count:,}"), muted("these accelerators"), *_cells(score(same))))
        )
        rows.append(Row(((), (), muted("any accelerators"), *_cells(score(like)))))
    heads = (
        Head("Workload"),
        Head("In this design", _R),
        Head("Measured on"),
        Head("Points", _R),
        Head("Off", _R),
        Head("In their 80% band", _R),
        Head("Worst", _R),
    )
    return Table("What this design runs, where it was measured", heads, tuple(rows))


def _nearest_group(found: Sequence[Record], here: set[str]) -> Table:
    rows: list[Row] = []
    own = sum(bool(here & set(record.accelerators)) for record in found)
    for number, record in enumerate(found):
        if number in (0, own) and 0 < own < len(found):
            rows.append(
                Row((strong("Its accelerators" if number < own else "Others, where nobody measured its own"),), "group")
            )
        estimate = Estimate(record.predicted, record.low, record.high, record.unit)
        inside = record.inside
        verdict = muted("a limit") if inside is None else text("yes") if inside else text("no", "alarm")
        rows.append(
            Row(
                (
                    strong(record.design),
                    muted(_group_name(record.kind)),
                    text(metric_title(record.metric)),
                    text(quantity(record.measured, record.unit)),
                    text(quantity(record.predicted, record.unit)),
                    muted(f"{quantity(estimate.low, record.unit)}{DASH}{quantity(estimate.high, record.unit)}"),
                    verdict,
                )
            )
        )
    heads = (
        Head("Drawn as"),
        Head("Workload"),
        Head("Figure"),
        Head("Measured", _R),
        Head("Predicted", _R),
        Head("80% band", _R),
        Head("In it"),
    )
    whose = "with others" if not own else "with its accelerators" if own == len(found) else ""
    return Table("The nearest measurements, worst predicted first", heads, tuple(rows), whose, small=True)


def _by_area() -> Table:
    rows = [
        Row((strong(area.capitalize()), text(f"{s.groups:,}"), *_cells(s)))
        for area in areas()
        if (s := score(record for record in records() if record.area == area)) is not None
    ]
    whole = score(records())
    if whole is not None:
        rows.append(Row((strong("All"), text(f"{whole.groups:,}"), *_cells(whole)), "total"))
    heads = (
        Head("Area"),
        Head("Publications and machines", _R),
        Head("Points", _R),
        Head("Off", _R),
        Head("In their 80% band", _R),
        Head("Worst", _R),
    )
    return Table("All measurements by area", heads, tuple(rows), "whatever the machine")


CHAPTER = ChapterKind("validation", "Validation", 880, of_design=build)
