"""Rows of a sweep in a file: written one by one, so that a stop loses none, and read again to go on.

CSV by default: settings as they were spelled, metrics in SI units with their band, what binds, why a run has no answer.
``.parquet`` holds the same table, where ``pyarrow`` is installed; while it grows, its rows are in CSV next to it.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TextIO

from designer import atomic
from designer.decisions.answers import Binding, Row, Task
from designer.errors import AnalysisError, FormatError, WriteError
from designer.plain_text import harmless, shortened
from designer.shared_files import LineFile
from designer.sources import Estimate
from designer.workload.metrics import METRICS
from designer.workload.text_files import Contents

#: columns around those of settings and metrics
_NUMBER, _BINDING, _IDS, _ERROR = "run", "bottleneck", "bottleneck_ids", "error"
_QUESTION, _CHECKSUM = "question", "checksum"
#: what a spreadsheet would take for a formula
_COMMANDS: Final = ("=", "+", "-", "@", "|", "%")
#: files of rows larger than this are refused [B]
_LARGEST: Final = 2_000_000_000


def heads(task: Task) -> list[str]:
    """The names of the columns, metrics with their unit."""
    found = [_NUMBER, *task.paths]
    for name in task.metrics:
        unit = METRICS[name].unit if name in METRICS else "1"
        found += [f"{name} [{unit}]", f"{name} low", f"{name} high"]
    return [*found, _BINDING, _IDS, _ERROR, _QUESTION, _CHECKSUM]


class _Question:
    """What the rows of a sweep answer: the same for all of them, but for files that the settings of a row name."""

    def __init__(self, task: Task) -> None:
        self._common, self._named = task.question, task.named
        self._contents = Contents()
        self._contents.digest(self._named)

    def of(self, settings: Sequence[str]) -> str:
        """The question of a row."""
        files = self._contents.digest(settings)
        return hashlib.sha256(f"{self._common}{files}".encode()).hexdigest()[:16] if files else self._common

    def changed(self, settings: Sequence[str]) -> Path | None:
        """A file that is not what it was when the question was first put."""
        return self._contents.changed((*self._named, *settings))


def to_csv(task: Task, rows: Iterable[Row]) -> str:
    """The table as text."""
    question = _Question(task)
    lines = [_cells(task, row, question) for row in sorted(rows, key=lambda row: row.number)]
    return "".join(f"{_line(cells)}\n" for cells in (heads(task), *lines))


def _line(cells: Sequence[str]) -> str:
    out = io.StringIO()
    # with both in the end of lines, cells that hold either are quoted
    csv.writer(out, lineterminator="\r\n").writerow(cells)
    return out.getvalue()[:-2]


def _checksum(cells: Sequence[str]) -> str:
    """Of all cells before it, so that a row changed by hand is not taken for an answer."""
    return hashlib.sha256("\0".join(cells).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _cells(task: Task, row: Row, question: _Question) -> list[str]:
    cells = [str(row.number), *row.settings]
    for name in task.metrics:
        found = row.metrics.get(name)
        cells += ["", "", ""] if found is None else [_number(x) for x in (found.value, found.low, found.high)]
    labels = " | ".join(b.label for b in row.binding)
    ids = " | ".join(f"{b.what}:{b.id}" for b in row.binding)
    cells += [_safe(labels), _safe(ids), _safe(row.error), question.of(row.settings)]
    return [*cells, _checksum(cells)]


def _number(value: float) -> str:
    return repr(value) if math.isfinite(value) else ""


def _safe(text: str) -> str:
    text = shortened(harmless(text).replace("\n", " ").replace("\r", " "))
    return f"'{text}" if text.startswith(_COMMANDS) else text


class RowFile:
    """The file of a sweep; holds what is done, takes what comes. Several sweeps may write one file at the same time.

    Raises
    ------
    FormatError
        If the file is there and holds something else, the rows of another question, or rows that were changed.
    WriteError
        If it cannot be written.
    """

    def __init__(self, path: Path, task: Task) -> None:
        self.path, self.task = path, task
        self.parquet = path.suffix.lower() == ".parquet"
        if self.parquet:
            _arrow(path)
        #: where rows are while they come
        self.growing = path.with_name(f"{path.name}.part.csv") if self.parquet else path
        self._question = _Question(task)
        self._lines = LineFile(self.growing, _line(heads(task)), companion=self.parquet)
        # a pipe or device takes rows and holds none
        self._device = self.growing.exists() and not self.growing.is_file()
        self.done: tuple[Row, ...] = self._read()
        self._out: TextIO | None = None

    def _read(self) -> tuple[Row, ...]:
        rows: list[Row] = []
        if self.parquet and self.path.exists():
            rows += self._parquet_rows()
        if not self._device:
            rows += self._csv_rows()
        return tuple({row.settings: row for row in rows}.values())

    def _csv_rows(self) -> list[Row]:
        text = self._lines.read(_LARGEST)
        if not text:
            try:
                if self.growing.exists() and self.growing.stat().st_size:
                    raise self._strange("it is there already and holds something else")
            except OSError:
                return []
            return []
        try:
            lines = list(csv.reader(io.StringIO(text), strict=True))
        except csv.Error as error:
            raise self._strange(f"it is no table ({error})") from None
        if lines[0] != heads(self.task):
            raise self._strange("it is there already and holds something else")
        return [self._row(cells) for cells in lines[1:]]

    def _row(self, cells: Sequence[str]) -> Row:
        names = heads(self.task)
        if len(cells) != len(names) or cells[-1] != _checksum(cells[:-1]):
            raise self._strange("it was changed by hand", f"run {cells[0][:20] if cells else ''}")
        settings = tuple(cells[1 : 1 + len(self.task.paths)])
        if cells[-2] != self._question.of(settings):
            raise self._strange("its rows are of another design, workload, model file or version")
        at = 1 + len(self.task.paths)
        metrics: dict[str, Estimate] = {}
        for name in self.task.metrics:
            if cells[at]:
                unit = METRICS[name].unit if name in METRICS else "1"
                value, low, high = (float(c or "nan") for c in cells[at : at + 3])
                metrics[name] = Estimate(value, low, high, unit)
            at += 3
        labels, ids, error = (c.removeprefix("'") for c in cells[at : at + 3])
        binding = tuple(
            Binding(id.partition(":")[0], id.partition(":")[2], label)
            for id, label in zip(ids.split(" | "), labels.split(" | "), strict=False)
            if id
        )
        return Row(int(cells[0]), settings, metrics, binding, error)

    def _strange(self, text: str, place: str | None = None) -> FormatError:
        remedy = "give another name, or take the file away first"
        return FormatError(text, file=str(self.path), place=place, remedy=remedy)

    def add(self, row: Row) -> None:
        """Write a row; from then on no stop loses it.

        Raises
        ------
        WriteError
            If the disk refuses.
        AnalysisError
            If a file that the workload reads is not what it was when the sweep began.
        """
        changed = self._question.changed(row.settings)
        if changed is not None:
            remedy = "start the sweep again with another name; rows that were written are of the file as it was"
            raise AnalysisError("it was changed while the sweep ran", file=str(changed), remedy=remedy)
        cells = _line(_cells(self.task, row, self._question))
        if not self._device:
            self._lines.append(cells)
            return
        try:
            if self._out is None:
                self._out = os.fdopen(atomic.open_device(self.growing), "w", encoding="utf-8", newline="")
                self._out.write(f"{self._lines.head}\n")
            self._out.write(f"{cells}\n")
            self._out.flush()
        except OSError as error:
            remedy = "start what reads it first; then go on"
            raise WriteError(f"cannot write: {error.strerror or error}", file=str(self.path), remedy=remedy) from None

    def close(self, rows: Sequence[Row] | None = None) -> None:
        """Close the file; with `rows` given it is put in their order, with those that others added behind them.

        Raises
        ------
        WriteError
            If it cannot be written.
        """
        if self._out is not None:
            out, self._out = self._out, None
            with contextlib.suppress(BrokenPipeError):
                out.close()
        if rows is not None and not self._device:
            self._lines.rewrite(lambda: self._in_order(rows))

    def _in_order(self, rows: Sequence[Row]) -> str | None:
        """The text of the growing file with all rows; None where they went to the Parquet file."""
        asked = {row.settings for row in rows}
        others = [row for row in self._read() if row.settings not in asked]
        every = [*rows, *(replace(row, number=len(rows) + k) for k, row in enumerate(others))]
        if not self.parquet:
            return to_csv(self.task, every)
        atomic.write(self.path, _to_parquet(self.task, every, self._question))
        return None

    def _parquet_rows(self) -> list[Row]:
        parquet: Any = import_module("pyarrow.parquet")
        try:
            table = parquet.read_table(self.path)
            content: list[Mapping[str, Any]] = table.to_pylist()
        except Exception as error:  # the library raises errors of many kinds
            raise self._strange(f"it is no Parquet file ({str(error)[:100]})") from None
        names = heads(self.task)
        if table.column_names != names:
            raise self._strange("it is there already and holds something else")
        lines = [["" if line[n] is None else _text(line[n]) for n in names] for line in content]
        return [self._row(line) for line in lines]


def _text(value: object) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def _arrow(path: Path) -> Any:
    try:
        return import_module("pyarrow")
    except ImportError:
        remedy = "install designer with the extra [parquet], or write a .csv file"
        raise FormatError("Parquet files need pyarrow", file=str(path), remedy=remedy) from None


def _to_parquet(task: Task, rows: Sequence[Row], question: _Question) -> bytes:
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    table: list[list[str]] = [_cells(task, row, question) for row in sorted(rows, key=lambda row: row.number)]
    first, last = 1 + len(task.paths), 1 + len(task.paths) + 3 * len(task.metrics)
    columns: list[Any] = []
    for at in range(len(heads(task))):
        cells = [line[at] for line in table]
        if at == 0:
            columns.append(arrow.array([int(c) for c in cells], arrow.int64()))
        elif first <= at < last:
            columns.append(arrow.array([float(c) if c else None for c in cells], arrow.float64()))
        else:
            columns.append(arrow.array(cells, arrow.string()))
    out = io.BytesIO()
    parquet.write_table(arrow.table(columns, names=heads(task)), out)
    return out.getvalue()
