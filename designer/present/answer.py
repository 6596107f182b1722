"""A computed answer as pages see it: its metrics as figures, its targets, what limits it, its commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Protocol

from designer.catalog.sources import load_sources
from designer.design.document import Design, WorkloadSpec
from designer.design.naming import in_names, part_title
from designer.engine.results import Step, WorkloadResult
from designer.engine.results import Table as ResultTable
from designer.present import numbers
from designer.present.blocks import Column, Figure, Share, Source, Stack, Table, Tone
from designer.present.limits import limiting, named, tied
from designer.present.targets import Target, Verdict, judge, targets_of
from designer.present.words import COUNTS, SHARES, counted_by, metric_title, plain
from designer.sources import Estimate


class Fitting(Protocol):
    """Settings with which a workload fits: title, the settings that change, an edit to them, the answer with them."""

    @property
    def title(self) -> str:
        """What changes, for people."""
        ...

    @property
    def changes(self) -> Mapping[str, Any]:
        """Settings that differ from those the workload has."""
        ...

    @property
    def edit(self) -> Any:
        """The edit that makes the change."""
        ...

    @property
    def result(self) -> WorkloadResult:
        """The answer with these settings."""
        ...


@dataclass(frozen=True, eq=False)
class Answer:
    """The result of one workload with all that its page needs.

    Parameters
    ----------
    file
        How commands name the design.
    fitting
        Settings with which a workload fits that does not.
    """

    result: WorkloadResult
    design: Design
    file: str = "DESIGN"
    fitting: tuple[Fitting, ...] = ()

    @cached_property
    def spec(self) -> WorkloadSpec | None:
        """The workload in the design."""
        return self.design.workloads.get(self.result.id)

    @cached_property
    def targets(self) -> dict[str, Target]:
        """Targets by metric."""
        units = {name: m.unit for name, m in self.result.metrics.items()}
        return targets_of(self.design, self.result.id, units)

    @cached_property
    def limiting(self) -> str:
        """What limits, as a sentence."""
        return limiting(self.result, self.design)

    def metric(self, name: str) -> Estimate | None:
        """An estimate, None where the answer has none of that name."""
        return self.result.metrics.get(name)

    def value(self, name: str) -> float:
        """The value of a metric, 0 where there is none."""
        found = self.metric(name)
        return found.value if found is not None else 0.0

    def setting(self, name: str) -> str:
        """A setting of the workload as text, empty where it is not set."""
        value = self.spec.settings.get(name) if self.spec is not None else None
        return value if isinstance(value, str) else ""

    def text(self, name: str) -> str:
        """A metric with its unit."""
        found = self.result.metrics[name]
        return figure_text(name, found.value, found.unit, self.what(name))

    def what(self, name: str) -> str:
        """What a metric per second counts."""
        return counted_by(name, self.spec)

    def named(self, text: str) -> str:
        """A text with paths in it as the drawing names them."""
        return plain(in_names(self.design, text))

    def command(self, verb: str, *more: str) -> tuple[str, ...]:
        """Arguments of a command about this workload."""
        return (verb, self.file, "--workload", self.result.id, *more)

    def figure(self, name: str, note: str = "") -> Figure | None:
        """A metric as a figure with its target."""
        found = self.metric(name)
        if found is None:
            return None
        return make_figure(
            name, found, self.what(name), note or self.named(found.note), self.targets.get(name), self.result.kind
        )

    def figures(self, names: tuple[str, ...], most: int = 6) -> tuple[Figure, ...]:
        """The first of some metrics that the answer has; of two that read the same, the first."""
        found: list[Figure] = []
        for name in names:
            one = self.figure(name, self.notes.get(name, ""))
            if one is not None and not any(f.title == one.title for f in found):
                found.append(one)
        return tuple(found[:most])

    @cached_property
    def notes(self) -> dict[str, str]:
        """Short notes in place of those of the engine, by metric; a blank leaves a note out."""
        blank = ("ttft_p95", "tpot", "latency_p95", "requests_per_second", "most_requests_per_second", "step_time")
        return dict.fromkeys(blank, " ") | {
            "tpot": "mean",
            "samples_per_second": " ",
            "memory_per_gpu": self._memory_note,
            "power": "GPUs only",
            "bus_bandwidth": "as nccl-tests prints it",
            "algorithm_bandwidth": "size over time",
            "data_rate_per_gpu": " ",
            "evacuation_time": " ",
            "kv_use": "most at any time",
            "ettr": "mean of long runs with failures",
        }

    @property
    def _memory_note(self) -> str:
        found = self.metric("memory_per_gpu")
        has = found.details.get("capacity") if found is not None else None
        return f"of {numbers.shown(has, 'B', exact=True)}" if has else "reserved at start-up"


def figure_text(name: str, value: float, unit: str, what: str = "") -> str:
    """A value of a metric with its unit."""
    number, name_of_unit = figure_split(name, value, unit, what)
    return f"{number} {name_of_unit}" if name_of_unit else number


def figure_split(name: str, value: float, unit: str, what: str = "", like: float | None = None) -> tuple[str, str]:
    """Number and unit of a metric: shares in per cent, counts without a fraction."""
    if name in SHARES:
        return numbers.share(value), ""
    if name in COUNTS:
        # a share of a CPU core is not none
        return numbers.given(round(value)) if abs(value) >= 1 else numbers.digits(value, 2), ""
    if unit == "1" and name == "speedup":
        return f"{numbers.digits(value)}×", ""
    return numbers.split(value, unit, what, like=like, exact=name in ("transferred",) and value == 0)


def make_figure(
    name: str, found: Estimate, what: str = "", note: str = "", target: Target | None = None, kind: str = ""
) -> Figure:
    """An estimate as a figure.

    Parameters
    ----------
    what
        What is counted, where the unit is 1/s.
    kind
        Kind of the result that reports it.
    """
    value, unit = figure_split(name, found.value, found.unit, what)
    ends = [figure_split(name, end, found.unit, what, found.value)[0] for end in (found.low, found.high)]
    if name in SHARES:
        ends = [ends[0].removesuffix("%"), ends[1].removesuffix("%")]
    join = " – " if any(" " in end for end in ends) else "–"
    band = "" if ends[0] == ends[1] else join.join(ends)
    stated, verdict, tone, bound = "", "", Tone.PLAIN, None
    if target is not None:
        found_verdict = judge(found, target.comparison, target.value)
        number, unit_of_target = numbers.split(target.value, found.unit, what, exact=True, like=found.value)
        text = number if found.unit == "1/s" or not unit_of_target else f"{number} {unit_of_target}"
        sign = {">=": "at least ", "<=": "at most "}.get(target.comparison, "") if target.word == "target" else ""
        stated = f"{target.word}: {sign}{text}"
        verdict, tone, bound = str(found_verdict), found_verdict.tone, target.value
    elif name == "memory_per_gpu" and "capacity" in found.details:
        bound = found.details["capacity"]
        verdict, tone = ("fits", Tone.GOOD) if found.value <= bound else ("too much", Tone.BAD)
    return Figure(
        name,
        metric_title(name, kind),
        value,
        unit,
        band,
        note.strip(),
        stated,
        verdict,
        tone,
        found.low,
        found.value,
        found.high,
        bound,
        found.sources,
    )


def verdicts(answer: Answer) -> list[Verdict]:
    """Verdicts on all targets of an answer."""
    return [
        judge(found, target.comparison, target.value)
        for name, target in answer.targets.items()
        if (found := answer.metric(name)) is not None
    ]


def shares_of(parts: list[tuple[str, float]], total: float, unit: str, first: str = "") -> tuple[Share, ...]:
    """Parts of a whole, the largest first; what is left is ``other``; `first` names the one that limits."""
    left = total - sum(amount for _, amount in parts)
    ordered = sorted((p for p in parts if p[1] > 0), key=lambda part: -part[1])
    if left > 0.005 * total:
        ordered.append(("Other", left))
    return tuple(
        Share(title, numbers.shown(amount, unit), amount / total if total > 0 else 0.0, title == first)
        for title, amount in ordered
    )


def all_figures(answer: Answer) -> Table:
    """Every metric with band and note."""
    rows: list[tuple[str, ...]] = []
    for name, found in answer.result.metrics.items():
        one = make_figure(name, found, answer.what(name), answer.named(found.note), None, answer.result.kind)
        rows.append((one.title, one.text, one.band, one.note))
    return Table(
        "All figures", (Column("Figure"), Column("Value", True), Column("80% band", True), Column("Note")), tuple(rows)
    )


def result_table(table: ResultTable, answer: Answer) -> Table | None:
    """A table of the engine in texts; empty columns are left out. None without rows."""
    kept = [i for i in range(len(table.columns)) if any(row[i] is not None for row in table.rows)]
    if not table.rows or not kept:
        return None
    columns = tuple(Column(words_of(table.columns[i].name), bool(table.columns[i].unit)) for i in kept)
    rows: list[tuple[str, ...]] = []
    for row in table.rows:
        cells: list[str] = []
        for i in kept:
            cell, unit = row[i], table.columns[i].unit
            if cell is None:
                cells.append("")
            elif isinstance(cell, str):
                cells.append(part_title(answer.design, cell) if "/" in cell or "[" in cell else cell)
            else:
                cells.append(numbers.shown(cell, unit or "1", exact=unit in ("", "1")))
        rows.append(tuple(cells))
    return Table(table.title, columns, tuple(rows))


def words_of(name: str) -> str:
    """The head of a column with a large first letter, unless it is a name."""
    return name[:1].upper() + name[1:] if name[1:] == name[1:].lower() else name


def sources_of(answer: Answer) -> tuple[Source, ...]:
    """The sources of all metrics with their titles, numbered by how many figures rest on them."""
    used: dict[str, int] = {}
    for found in answer.result.metrics.values():
        for key in found.sources:
            used[key] = used.get(key, 0) + 1
    known = load_sources()
    rows: list[Source] = []
    for n, key in enumerate(sorted(used, key=lambda k: (-used[k], k)), start=1):
        own = answer.design.sources.get(key)
        title = known[key].title if key in known else own.title if own is not None else key
        rows.append(Source(n, key, title))
    return tuple(rows)


# Steps with what they consist of, as stacks of a page.

#: parts of a step that are less than its last digit are left out [1]
_DIGIT: Final = 5e-4


def stack_of(answer: Answer, step: Step, title: str) -> Stack:
    """A step with what it consists of; links of one kind are one part, and so is what is tied."""
    parts: dict[str, float] = {}
    for spent in step.parts:
        name = tied(named(spent.held, answer.design))
        parts[name] = parts.get(name, 0.0) + spent.seconds
    limiting = [one for one in (*answer.result.binding, *answer.result.next) if one.phase in (step.phase, "")]
    first = tied(named(limiting[:1], answer.design))
    if first not in parts:
        # what limits is tied with something else, or is no part of a step
        first = max(parts, key=parts.__getitem__)
    shown = [(name, amount) for name, amount in parts.items() if amount >= _DIGIT * step.seconds]
    shares = shares_of(shown, step.seconds, "s", first)
    return Stack(title, numbers.shown(step.seconds, "s"), shares)
