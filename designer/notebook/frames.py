"""Every table of a design, a result, a report or the catalog as a pandas data frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from designer.analysis.simulation import Simulation
from designer.catalog.loader import Catalog
from designer.catalog.parttype import value_of
from designer.contrib.proposals.results import Proposals
from designer.decisions.answers import Row
from designer.design.document import Design
from designer.design.elaborate import elaborate
from designer.design.graph import to_networkx
from designer.engine.results import Analysis, Bottleneck, WorkloadResult
from designer.families.serving.request_log import logs_of
from designer.findings import Finding
from designer.notebook import extra
from designer.present.words import metric_title
from designer.report.document import Block, Report, SideBySide, Table, plain
from designer.report.figure import Figure
from designer.report.tables import tables_of
from designer.report.tables.table_sheet import TableSheet
from designer.sources import Estimate

if TYPE_CHECKING:
    from pandas import DataFrame

#: heads, each with the SI unit of its numbers ("" for text and counts), and rows
_Made = tuple[tuple[tuple[str, str], ...], Iterable[Sequence[Any]]]
_ESTIMATE = (("value", ""), ("low", ""), ("high", ""), ("unit", ""), ("sources", ""))
_FINDING = (("severity", ""), ("code", ""), ("text", ""), ("where", ""), ("remedy", ""))
_LIMIT = (("when", ""), ("what", ""), ("id", ""), ("label", ""), ("count", ""), ("gain", "1"), ("why", ""))
_BAND = ("value", "low", "high")


class Frames(Mapping[str, "DataFrame"]):
    """Data frames by name; each is made when it is first read.

    Numbers are in SI units; ``frame.attrs["units"]`` has the unit of each column that has one.
    """

    def __init__(self, makers: Mapping[str, Callable[[], _Made]]) -> None:
        self._makers = dict(makers)
        self._made: dict[str, DataFrame] = {}

    def __getitem__(self, name: str) -> DataFrame:
        if name not in self._made:
            self._made[name] = _frame(*self._makers[name]())
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def __repr__(self) -> str:
        return f"Frames({', '.join(self)})"


def frames(source: object) -> Frames:
    """Return the tables of an object as data frames.

    Parameters
    ----------
    source
        A design (``parts``, ``links``, ``bill``, ``power``, ``racks``, ``cables``), an analysis or a simulation
        (``metrics``, ``limits``, ``findings`` and more), a report (its tables by chapter), a figure (``data``), the
        catalog (a table for each kind of part), the rows of a sweep (``rows``), proposals (``best``) or findings
        (``findings``).

    Raises
    ------
    ExchangeError
        If pandas is not installed.
    TypeError
        If the object has no tables.
    """
    extra("pandas", "pandas", "Data frames")
    for kind, makers in _TABLES.items():
        if isinstance(source, kind):
            return Frames(makers(source))
    if isinstance(source, Sequence) and not isinstance(source, str | bytes):
        items = cast("Sequence[object]", source)
        if items and all(isinstance(item, Row) for item in items):
            return Frames({"rows": lambda: _sweep(cast("Sequence[Row]", items))})
        if all(isinstance(item, Finding) for item in items):
            return Frames({"findings": lambda: (_FINDING, _findings(cast("Sequence[Finding]", items)))})
    raise TypeError(f"{type(source).__name__} has no tables; pass a design, an analysis, a report, rows or findings")


def _frame(heads: tuple[tuple[str, str], ...], rows: Iterable[Sequence[Any]]) -> DataFrame:
    pandas = extra("pandas", "pandas", "Data frames")
    made = pandas.DataFrame(list(rows), columns=[name for name, _ in heads])
    made.attrs["units"] = {name: unit for name, unit in heads if unit}
    return made


def _design(design: Design) -> dict[str, Callable[[], _Made]]:
    def sheet(name: str) -> Callable[[], _Made]:
        return lambda: _sheet(tables_of(design)[name])

    return {
        "parts": lambda: _parts(design),
        "links": lambda: _links(design),
        **{name: sheet(name) for name in ("bill", "power", "racks", "cables")},
    }


def _sheet(sheet: TableSheet) -> _Made:
    return tuple((column.name, column.unit) for column in sheet.columns), sheet.rows


def _parts(design: Design) -> _Made:
    net = elaborate(design)
    heads = (("path", ""), ("kind", ""), ("type", ""), ("label", ""), ("parent", ""))

    def rows() -> Iterator[Sequence[Any]]:
        for n in range(net.n_parts):
            part, above = net.part(n), int(net.parent[n])
            yield net.path(n), part.kind, part.type, part.label, net.path(above) if above >= 0 else None

    return heads, rows()


def _links(design: Design) -> _Made:
    heads = (
        ("path", ""),
        ("a", ""),
        ("b", ""),
        ("kind", ""),
        ("count", ""),
        ("bandwidth_per_direction", "B/s"),
        ("capacity", "B/s"),
        ("duplex", ""),
        ("status", ""),
    )
    names = [name for name, _ in heads[3:]]
    seen: set[str] = set()

    def rows() -> Iterator[Sequence[Any]]:
        # a graph has both ways of each link
        for a, b, key, values in to_networkx(design).edges(keys=True, data=True):
            if key not in seen:
                seen.add(key)
                yield key, a, b, *(values[name] for name in names)

    return heads, rows()


def _analysis(analysis: Analysis) -> dict[str, Callable[[], _Made]]:
    def metrics() -> _Made:
        heads = (("workload", ""), ("metric", ""), ("title", ""), *_ESTIMATE)
        return heads, [
            (w.id, name, metric_title(name, w.kind), *_estimate(found))
            for w in analysis.workloads
            for name, found in w.metrics.items()
        ]

    def limits() -> _Made:
        each = (
            (w.id, *_limit(when, one))
            for w in analysis.workloads
            for when, several in (("now", w.binding), ("next", w.next))
            for one in several
        )
        return (("workload", ""), *_LIMIT), each

    def flows() -> _Made:
        heads = ("workload", "id", "source", "target", "rate", "low", "high", "unit", "bound_by", "via")
        return tuple((name, "") for name in heads), [
            (w.id, f.id, f.source, f.target, f.rate, f.low, f.high, f.unit, " ".join(f.bound_by), " ".join(f.via))
            for w in analysis.workloads
            for f in w.flows
        ]

    def links() -> _Made:
        heads = ("id", "source", "target", "kind", "capacity", "load", "utilization", "status")
        units = {"capacity": "B/s", "load": "B/s", "utilization": "1"}
        rows = ([getattr(row, name) for name in heads] for row in analysis.channels)
        return tuple((name, units.get(name, "")) for name in heads), rows

    def findings() -> _Made:
        return _FINDING, _findings([*analysis.findings, *(f for w in analysis.workloads for f in w.findings)])

    found: dict[str, Callable[[], _Made]] = {
        "metrics": metrics,
        "limits": limits,
        "flows": flows,
        "links": links,
        "findings": findings,
    }
    for workload in analysis.workloads:
        found |= _workload_frames(workload)
    return found


def _workload_frames(workload: WorkloadResult) -> dict[str, Callable[[], _Made]]:
    """Tables and curves that one workload alone has, by ``workload/name``."""

    def table(name: str) -> Callable[[], _Made]:
        own = workload.tables[name]
        return lambda: (tuple((column.name, column.unit) for column in own.columns), own.rows)

    def curves(name: str) -> Callable[[], _Made]:
        heads = tuple((head, "") for head in ("curve", "x", "y", "low", "high"))
        rows = (
            (curve.name, x, y, low, high)
            for curve in workload.curves[name]
            for x, y, low, high in zip(curve.x, curve.y, curve.low or curve.y, curve.high or curve.y, strict=True)
        )
        return lambda: (heads, rows)

    return {f"{workload.id}/{name}": table(name) for name in workload.tables} | {
        f"{workload.id}/{name}": curves(name) for name in workload.curves
    }


def _simulation(found: Simulation) -> dict[str, Callable[[], _Made]]:
    def metrics() -> _Made:
        heads = (("workload", ""), ("metric", ""), ("title", ""), *_ESTIMATE, ("alone", ""))
        return heads, [
            (workload, name, metric_title(name), *_estimate(one), found.alone.get(workload, {}).get(name))
            for workload, metrics in found.metrics.items()
            for name, one in metrics.items()
        ]

    def limits() -> _Made:
        each = (
            (workload, *_limit(when, one))
            for workload, binding in found.binding.items()
            for when, several in (("alone", binding.alone), ("together", binding.together))
            for one in several
        )
        return (("workload", ""), *_LIMIT), each

    def meetings() -> _Made:
        heads = (("workload", ""), ("by", ""), ("times", "1"), ("begin", "s"), ("seconds", "s"), ("metric", ""))
        return heads, [[getattr(one, name) for name, _ in heads] for one in found.meetings]

    def tasks() -> _Made:
        heads = (("program", ""), ("step", ""), ("number", ""), ("ready", "s"), ("began", "s"), ("ended", "s"))
        return heads, ([getattr(one, name) for name, _ in heads] for one in found.run.tasks)

    def requests() -> _Made:
        heads = (("workload", ""), ("sent", "s"), ("first", "s"), ("done", "s"), ("prompt", "1"), ("output", "1"))
        return heads, (
            (workload, *values)
            for workload, log in logs_of(found.run).items()
            if log.parts
            for values in zip(*(getattr(log.run, name) for name, _ in heads[1:]), strict=True)
        )

    return {
        "metrics": metrics,
        "limits": limits,
        "meetings": meetings,
        "tasks": tasks,
        "requests": requests,
        "findings": lambda: (_FINDING, _findings(found.findings)),
    }


def _report(report: Report) -> dict[str, Callable[[], _Made]]:
    found: dict[str, Callable[[], _Made]] = {}
    for chapter in report.chapters:
        for table in _tables_in(chapter.blocks):
            base = f"{chapter.key}/{table.title}" if table.title else chapter.key
            name, n = base, 1
            while name in found:
                name, n = f"{base} {n + 1}", n + 1
            found[name] = _text_frame(table)
    return found


def _tables_in(blocks: Sequence[Block]) -> Iterator[Table]:
    for block in blocks:
        if isinstance(block, Table):
            yield block
        elif isinstance(block, SideBySide):
            yield from _tables_in((*block.left, *block.right))


def _text_frame(table: Table) -> Callable[[], _Made]:
    """A table of texts; drawings in cells are left out, headings of groups are rows with one cell."""

    def make() -> _Made:
        width = len(table.heads)
        rows = ([plain(c) if isinstance(c, tuple) else "" for c in row.cells] for row in table.rows)
        return tuple((head.title, "") for head in table.heads), ((*row, *[""] * width)[:width] for row in rows)

    return make


def _catalog(catalog: Catalog) -> dict[str, Callable[[], _Made]]:
    def kind(name: str) -> Callable[[], _Made]:
        def make() -> _Made:
            parts = list(catalog.all(name))
            fields = list(dict.fromkeys(field for part in parts for field in part.values))
            rows: list[Sequence[Any]] = []
            for part in parts:
                cells: list[Any] = [part.id, part.title, part.vendor]
                for field in fields:
                    quantity = part.values.get(field)
                    number = value_of(name, field, quantity) if quantity is not None else None
                    cells.append(number if number is not None or quantity is None else quantity.value)
                rows.append(cells)
            return (("id", ""), ("title", ""), ("vendor", ""), *((field, "") for field in fields)), rows

        return make

    return {name: kind(name) for name in sorted({id.partition("/")[0] for id in catalog.ids()})}


def _figure(figure: Figure) -> dict[str, Callable[[], _Made]]:
    def make() -> _Made:
        heads, rows = figure.table()
        return tuple((head, "") for head in heads), rows

    return {"data": make}


def _sweep(rows: Sequence[Row]) -> _Made:
    """One row for each run: its settings, then value, low and high end of each metric."""
    settings = max(len(row.settings) for row in rows)
    metrics = list(dict.fromkeys(name for row in rows for name in row.metrics))
    units = {name: one.unit for row in rows for name, one in row.metrics.items()}
    heads = [("number", ""), *((f"setting_{n + 1}", "") for n in range(settings))]
    heads += [(name if end == "value" else f"{name}_{end}", units[name]) for name in metrics for end in _BAND]

    def cells(row: Row) -> Iterator[Any]:
        yield row.number
        yield from (_number(text) for text in row.settings)
        for name in metrics:
            found = row.metrics.get(name)
            yield from (getattr(found, end) if found is not None else None for end in _BAND)
        yield "; ".join(one.label for one in row.binding)
        yield row.error

    return (*heads, ("limits", ""), ("error", "")), [list(cells(row)) for row in rows]


def _number(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def _proposals(found: Proposals) -> dict[str, Callable[[], _Made]]:
    def best() -> _Made:
        heads = [("design", "")]
        for measure in found.measures:
            heads += [(measure.name if end == "value" else f"{measure.name}_{end}", measure.unit) for end in _BAND]
        return tuple(heads), [
            (one.title, *(getattr(one.worth.values.get(m.name), end, None) for m in found.measures for end in _BAND))
            for one in found.best
        ]

    return {"best": best}


def _estimate(found: Estimate) -> tuple[Any, ...]:
    return found.value, found.low, found.high, found.unit, " ".join(found.sources)


def _limit(when: str, one: Bottleneck) -> tuple[Any, ...]:
    return when, one.what, one.id, one.label, one.equal, one.gain, one.why


def _findings(findings: Iterable[Finding]) -> Iterator[Sequence[Any]]:
    for one in findings:
        yield str(one.severity), one.code, one.text, " ".join(one.where), one.remedy


_TABLES: Mapping[type, Callable[[Any], dict[str, Callable[[], _Made]]]] = {
    Design: _design,
    Analysis: _analysis,
    Simulation: _simulation,
    Report: _report,
    Catalog: _catalog,
    Figure: _figure,
    Proposals: _proposals,
}
