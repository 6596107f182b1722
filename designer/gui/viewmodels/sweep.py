"""A sweep in the window: which values can be varied and over what range, and its rows as plots over one of them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final, cast

from designer.decisions.answers import Row, Task
from designer.decisions.frontier import binding_text, breaks, frontier, turns
from designer.decisions.variables import amount_of, spelled
from designer.design.address import block_at
from designer.design.document import Design
from designer.design.edit import DesignEdit
from designer.design.naming import in_names
from designer.gui.viewmodels.forms import SEVERAL, Entry, Form
from designer.interchange.overrides import overridden
from designer.present import numbers
from designer.present.answer import figure_text
from designer.present.blocks import Change
from designer.present.words import metric_title
from designer.units import DIMENSIONS
from designer.workload.kind import Setting, workload_kinds
from designer.workload.metrics import METRICS

#: what one looks at first, by kind of workload; the first three that there are
_FIRST: Final = (
    "memory_per_gpu",
    "samples_per_second",
    "tokens_per_second",
    "time_to_train",
    "step_time",
    "goodput",
    "ttft_p95",
    "tpot",
    "evacuation_time",
    "migration_time",
    "stun_time",
    "rate",
    "transfer_time",
    "bus_bandwidth",
    "communication_time",
    "checkpoint_time",
    "more_machines",
    "accelerators",
)
_THREE: Final = 3
#: the batch is what people vary first
_BATCH: Final = ("micro_batch", "global_batch", "rate", "size")
#: names of parts, wirings and the like that a path could take for something else
_HEADS: Final = frozenset({"policy", "groups", "workloads", "links", "wirings", "vms", "parts"})
#: a second value gives a line each, up to so many
LINES_LIMIT: Final = 12


@dataclass(frozen=True, slots=True)
class Varied:
    """A value that a sweep may vary: its path as ``--set`` spells it, what it is called, and what it is now.

    Parameters
    ----------
    choices
        All it can be, where that is a list.
    """

    path: str
    title: str
    now: str
    choices: tuple[str, ...] = ()


_NUMBER: Final = r"[+-]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_ALONE: Final = re.compile(rf"\s*({_NUMBER})\s*")
_RANGE: Final = re.compile(rf"\s*({_NUMBER})\s*\.\.\s*({_NUMBER})\s*(?:([*+:])\s*({_NUMBER})\s*)?")


def with_units(varied: Varied, text: str) -> str:
    """Values as typed, bare numbers with the unit that the value has now: 1..8*2 becomes 1/s..8/s*2."""
    shown = re.match(_NUMBER, varied.now)
    unit = varied.now[shown.end() :] if shown is not None else ""
    if not unit.strip():
        return text
    return "".join(piece if piece in (",", ";") else _whole(piece, unit) for piece in re.split("([,;])", text))


def _whole(piece: str, unit: str) -> str:
    if _ALONE.fullmatch(piece):
        return f"{piece.strip()}{unit}"
    found = _RANGE.fullmatch(piece)
    if found is None:
        return piece
    low, high, how, step = found.groups()
    rest = f"{how}{step}{unit if how == '+' else ''}" if how else ""
    return f"{low}{unit}..{high}{unit}{rest}"


def of_workload(design: Design, workload: str) -> tuple[Varied, ...]:
    """Every setting of a workload, the batch first, then those that a range around their value is known for."""
    spec = design.workloads.get(workload)
    kind = workload_kinds().get(spec.kind) if spec is not None else None
    if spec is None or kind is None:
        return ()
    found = [_setting(workload, s, spec.settings.get(s.name, s.default)) for s in kind.settings]
    order = {name: k for k, name in enumerate(_BATCH)}

    def rank(varied: Varied) -> tuple[int, int]:
        """The batch, numbers, lists to choose from, and what no range is known for."""
        own = order.get(varied.path.rpartition(".")[2], len(order))
        return own, 2 if not suggested(varied) else int(bool(varied.choices))

    return tuple(sorted(found, key=rank))


def _setting(workload: str, setting: Setting, value: object) -> Varied:
    choices = setting.choices or (("true", "false") if setting.dimension == "flag" else ())
    now = str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
    return Varied(f"workloads.{workload}.{setting.name}", setting.title, now, tuple(c for c in choices if c))


def of_entry(design: Design, form: Form | None, entry: Entry) -> Varied | None:
    """The value of a line of the inspector; None where no path names it."""
    if form is None or entry.make is None:
        return None
    path = _path(design, cast("tuple[Any, ...]", form.key), entry)
    if path is None:
        return None
    choices = tuple(value for value, _ in entry.choices if value)
    now = entry.spelled if entry.spelled != SEVERAL else ""
    if entry.dimension == "flag":
        choices, now = ("true", "false"), "true" if now == "yes" else "false"
    elif not choices and entry.dimension != "count" and entry.dimension not in DIMENSIONS:
        return None
    if not now and entry.value is not None and entry.dimension in DIMENSIONS:
        now = entry.text if amount_of(entry.text) is not None else ""
    return Varied(path, f"{form.title}: {entry.title}", now, choices)


def _path(design: Design, key: tuple[Any, ...], entry: Entry) -> str | None:
    if key == ("design",):
        return f"policy.{entry.name}" if entry.name in type(design.policy).model_fields else None
    if key[0] == "vms":
        name = _one_name(key[1], design.vms)
        return f"vms.{name}.{entry.name}" if name and "." not in entry.name else None
    if len(key) != _THREE:
        return None
    within, what, ids = key
    if any(member is not None for _, member in within):
        # one member of a group is not what a path names
        return None
    block = block_at(design, within)
    way = "".join(f"{group}/" for group, _ in within)
    known: Mapping[str, object] | None = getattr(block, what, None)
    name = _one_name(ids, known or {})
    if not name or what not in ("parts", "links", "wirings", "groups"):
        return None
    if what == "groups":
        return f"groups.{way}{name}" if entry.name == "replicas" else None
    if what == "parts":
        plain = name not in block.links and (way or name).partition("/")[0].partition(".")[0] not in _HEADS
        return f"{'' if plain else 'parts.'}{way}{name}.{entry.name}"
    return f"{what}.{way}{name}.{entry.name}"


def _one_name(ids: Sequence[str], known: Mapping[str, object]) -> str:
    """One name for ids: the only one, or a beginning with ``*`` that represents these and no others; else empty."""
    if len(ids) == 1:
        return ids[0]
    begin = min(ids, default="")
    while begin and not all(i.startswith(begin) for i in ids):
        begin = begin[:-1]
    pattern = f"{begin}*"
    return pattern if begin and {i for i in known if fnmatchcase(i, pattern)} == set(ids) else ""


def suggested(varied: Varied) -> str:
    """A range around what the value is now: from a quarter to four times as much; all choices where there is a list."""
    if varied.choices:
        return ", ".join(varied.choices)
    found = amount_of(varied.now)
    if found is None or found[0] <= 0:
        return ""
    digits = len(varied.now) - len(varied.now.lstrip("+-0123456789._eE"))
    number, unit = float(varied.now[:digits].replace("_", "")), varied.now[digits:].strip()
    if unit or not number.is_integer():
        return f"{spelled(number / 4, unit)}..{spelled(number * 4, unit)}*2"
    low = max(1.0, number // 4)
    return f"{spelled(low, '')}..{spelled(max(low + 1, number * 4), '')}*2"


def metrics_of(design: Design, workload: str) -> tuple[tuple[str, str, str], ...]:
    """Name, title and meaning of the answers a workload may have."""
    spec = design.workloads.get(workload)
    kind = workload_kinds().get(spec.kind) if spec is not None else None
    names = kind.metrics if kind is not None else ()
    known = spec.kind if spec is not None else ""
    return tuple((name, metric_title(name, known), METRICS[name].help) for name in names if name in METRICS)


def first_metrics(known: Sequence[str]) -> tuple[str, ...]:
    """The answers one looks at first."""
    found = [name for name in _FIRST if name in known]
    if "samples_per_second" in found and "tokens_per_second" in found:
        # which of both there is depends on the model: the other stays empty
        found.remove("tokens_per_second")
        return (*found[:_THREE], "tokens_per_second")
    return tuple(found[:_THREE]) or tuple(known[:_THREE])


@dataclass(frozen=True, slots=True)
class SweepLine:
    """A line of a plot; ``texts`` is what is read at each point."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SweepPlot:
    """One metric over the first value."""

    metric: str
    title: str
    unit: str
    lines: tuple[SweepLine, ...]


@dataclass(frozen=True, slots=True)
class SweepView:
    """All plots of a sweep.

    Parameters
    ----------
    unit
        SI unit of the values on the x axis, empty for plain numbers and names.
    places
        The values as they were spelled, the place of each; by name where they are no numbers (`named`).
    line_title
        What distinguishes the lines, where there are several.
    marks
        Where the bottleneck changes, and to what.
    missing
        How many runs have no answer, and why the first has none.
    """

    title: str
    x_title: str
    unit: str
    places: tuple[tuple[float, str], ...]
    named: bool
    plots: tuple[SweepPlot, ...]
    marks: tuple[tuple[float, str], ...]
    line_title: str = ""
    missing: str = ""


def view(task: Task, rows: Sequence[Row], titles: Sequence[str]) -> SweepView:
    """The plots of what has come so far; `titles` are those of the paths."""
    rows = sorted(rows, key=lambda row: row.number)
    places, unit, named = _places([row.settings[0] for row in rows])
    kind = task.design.workloads[task.workload].kind
    plots: list[SweepPlot] = []
    for metric in task.metrics:
        if any(metric in row.metrics for row in rows):
            lines = tuple(_lines(task, rows, metric, places, titles))
            plots.append(SweepPlot(metric, metric_title(metric, kind), METRICS[metric].unit, lines))
    marks = [
        ((places[t.before.settings[0]] + places[t.after.settings[0]]) / 2, _limit(task, t.after))
        for t in turns(rows, task.paths)
        if t.path == task.paths[0]
    ]
    failed = [row for row in rows if row.error]
    missing = f"{len(failed)} of {len(rows)} runs have no answer: {failed[0].error}" if failed else ""
    where = tuple(sorted((at, text) for text, at in places.items()))
    stated = tuple(dict.fromkeys(marks))
    return SweepView(task.title, titles[0], unit, where, named, tuple(plots), stated, ", ".join(titles[1:]), missing)


def _places(settings: Sequence[str]) -> tuple[dict[str, float], str, bool]:
    """Position of each value on the x axis, the unit there, and whether values are names instead of numbers."""
    different = list(dict.fromkeys(settings))
    amounts = [amount_of(text) for text in different]
    units = {a[1] for a in amounts if a is not None}
    if None in amounts or len(units) > 1:
        return {text: float(k) for k, text in enumerate(different)}, "", True
    known = cast("list[tuple[float, str]]", amounts)
    return {text: a[0] for text, a in zip(different, known, strict=True)}, units.pop() if units else "", False


def _lines(
    task: Task, rows: Sequence[Row], metric: str, places: Mapping[str, float], titles: Sequence[str]
) -> Iterator[SweepLine]:
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if metric in row.metrics:
            groups.setdefault(row.settings[1:], []).append(row)
    for others, group in list(groups.items())[:LINES_LIMIT]:
        group.sort(key=lambda row: places[row.settings[0]])
        found = [row.metrics[metric] for row in group]
        yield SweepLine(
            ", ".join(others),
            tuple(places[row.settings[0]] for row in group),
            tuple(m.value for m in found),
            tuple(m.low for m in found),
            tuple(m.high for m in found),
            tuple(_message(task, row, titles) for row in group),
        )


def _message(task: Task, row: Row, titles: Sequence[str]) -> str:
    said = [f"{title}: {value}" for title, value in zip(titles, row.settings, strict=True)]
    for name, m in row.metrics.items():
        band = f"{figure_text(name, m.low, m.unit)} – {figure_text(name, m.high, m.unit)}"
        said.append(f"{metric_title(name)}: {figure_text(name, m.value, m.unit)} (80% band {band})")
    if row.binding:
        said.append(f"limited by {_limit(task, row)}")
    return "\n".join(said)


def _limit(task: Task, row: Row) -> str:
    """What limits a run, called as in the drawing."""
    return in_names(task.design, binding_text(row.binding))


def command_line(file: str, workload: str, variables: Sequence[tuple[str, str]], metrics: Sequence[str]) -> str:
    """The same sweep on a command line."""
    pieces = ["designer", "sweep", shlex.quote(file), "--workload", shlex.quote(workload)]
    for path, values in variables:
        pieces += ["--vary", shlex.quote(f"{path}={values.strip()}")]
    for name in metrics:
        pieces += ["--metric", name]
    return " ".join([*pieces, "-o", "sweep.csv"])


# Going along the answers of a sweep: run by run or along the frontier, and where the bottleneck changes.

_TWO = 2


@dataclass(frozen=True, slots=True)
class Along:
    """The way a slider takes.

    Parameters
    ----------
    rows
        In the order of the slider.
    breaks
        Numbers of the rows at which the bottleneck is another than before.
    """

    rows: tuple[Row, ...] = ()
    breaks: tuple[int, ...] = ()


@dataclass(frozen=True)
class TakeValues(DesignEdit):
    """Set the values of a run of a sweep, by their paths."""

    paths: tuple[str, ...]
    values: tuple[str, ...]

    @property
    def label(self) -> str:
        return f"Take {', '.join(self.values)} from the sweep"

    def apply(self, design: Design) -> Design:
        return overridden(design, [f"{path}={value}" for path, value in zip(self.paths, self.values, strict=True)])


def has_frontier(task: Task) -> bool:
    """True if there are two answers to weigh against each other."""
    return len(task.metrics) >= _TWO


def along(task: Task, rows: Sequence[Row], only_frontier: bool) -> Along:
    """The way along all answered runs in the order asked, or along the frontier of the first two answers, from the
    best of the first to the best of the second.
    """
    known = sorted((row for row in rows if row.metrics), key=lambda row: row.number)
    if only_frontier and has_frontier(task):
        first, second = task.metrics[:_TWO]
        known = list(frontier(known, first, second, task.design.workloads[task.workload].kind))
    return Along(tuple(known), breaks(known))


def run_change(task: Task, row: Row, titles: Sequence[str]) -> Change:
    """A run as a change: the values that vary, the answers with their bands, and what limits; its edit takes them."""
    rows: list[tuple[str, str]] = []
    for name in task.metrics:
        if name in row.metrics:
            found = row.metrics[name]
            band = numbers.band(found)
            text = figure_text(name, found.value, found.unit)
            rows.append((metric_title(name), f"{text} ({band})" if band else text))
    values = ", ".join(f"{title} {value}" for title, value in zip(titles, row.settings, strict=True))
    limited = f"Limited by {_limit(task, row)}" if row.binding else ""
    return Change(values, limited, rows=tuple(rows), edit=TakeValues(task.paths, row.settings))
