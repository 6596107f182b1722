"""Rows of a sweep in a file: written one by one, so that a stop loses none, and read again to go on.

CSV by default: settings as they were spelled, metrics in SI units with their band, what binds, why a run has no answer.
``.parquet`` holds the same table, where ``pyarrow`` is installed; while it grows, its rows stand in CSV beside it.
"""

from __future__ import annotations

import contextlib
import csv
import io
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TextIO

from designer import atomic
from designer.decisions.answers import Binding, Row, Task
from designer.errors import FormatError, WriteError
from designer.plain_text import harmless, shortened
from designer.sources import Estimate
from designer.workload.metrics import METRICS

#: columns around those of settings and metrics
_NUMBER, _BINDING, _IDS, _ERROR, _QUESTION = "run", "bottleneck", "bottleneck_ids", "error", "question"
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
    return [*found, _BINDING, _IDS, _ERROR, _QUESTION]


def to_csv(task: Task, rows: Iterable[Row]) -> str:
    """The table as text."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heads(task))
    question = task.question
    for row in sorted(rows, key=lambda row: row.number):
        writer.writerow(_cells(task, row, question))
    return out.getvalue()


def _cells(task: Task, row: Row, question: str) -> list[str]:
    cells = [str(row.number), *row.settings]
    for name in task.metrics:
        found = row.metrics.get(name)
        cells += ["", "", ""] if found is None else [_number(x) for x in (found.value, found.low, found.high)]
    labels = " | ".join(b.label for b in row.binding)
    ids = " | ".join(f"{b.what}:{b.id}" for b in row.binding)
    return [*cells, _safe(labels), _safe(ids), _safe(row.error), question]


def _number(value: float) -> str:
    return repr(value) if math.isfinite(value) else ""


def _safe(text: str) -> str:
    text = shortened(harmless(text).replace("\n", " ").replace("\r", " "))
    return f"'{text}" if text.startswith(_COMMANDS) else text


class RowFile:
    """The file of a sweep; holds what is done, takes what comes.

    Raises
    ------
    FormatError
        If the file is there and holds something else, or the rows of another question.
    WriteError
        If it cannot be written.
    """

    def __init__(self, path: Path, task: Task) -> None:
        self.path, self.task = path, task
        self.parquet = path.suffix.lower() == ".parquet"
        if self.parquet:
            _arrow(path)
        #: where rows stand while they come
        self.growing = path.with_name(f"{path.name}.part.csv") if self.parquet else path
        self._question = task.question
        self.done: tuple[Row, ...] = self._read()
        self._out: TextIO | None = None

    def _read(self) -> tuple[Row, ...]:
        rows: list[Row] = []
        if self.parquet and self.path.exists():
            rows += self._parquet_rows()
        if self.growing.exists():
            rows += self._csv_rows()
        return tuple({row.settings: row for row in rows}.values())

    def _csv_rows(self) -> list[Row]:
        file = self.growing
        if not file.is_file():
            # a pipe or device takes rows and holds none
            return []
        try:
            if file.stat().st_size > _LARGEST:
                raise self._strange("it is too large")
            text = file.read_text("utf-8")
        except (OSError, ValueError) as error:
            raise self._strange(f"it cannot be read ({error})") from None
        if not text:
            return []
        # a line that a kill cut in half is no line
        text = text[: text.rfind("\n") + 1]
        try:
            lines = list(csv.reader(io.StringIO(text), strict=True))
        except csv.Error as error:
            raise self._strange(f"it is no table ({error})") from None
        if not lines or lines[0] != heads(self.task):
            raise self._strange("it is there already and holds something else")
        return [row for row in (self._row(cells) for cells in lines[1:]) if row is not None]

    def _row(self, cells: Sequence[str]) -> Row | None:
        names = heads(self.task)
        if len(cells) != len(names):
            return None
        if cells[-1] != self._question:
            raise self._strange("its rows are of another design, workload or version")
        at = 1 + len(self.task.paths)
        metrics: dict[str, Estimate] = {}
        try:
            for name in self.task.metrics:
                if cells[at]:
                    unit = METRICS[name].unit if name in METRICS else "1"
                    value, low, high = (float(c or "nan") for c in cells[at : at + 3])
                    metrics[name] = Estimate(value, low, high, unit)
                at += 3
            number = int(cells[0])
        except ValueError:
            raise self._strange("its numbers were changed") from None
        labels, ids, error = (c.removeprefix("'") for c in cells[at : at + 3])
        binding = tuple(
            Binding(id.partition(":")[0], id.partition(":")[2], label)
            for id, label in zip(ids.split(" | "), labels.split(" | "), strict=False)
            if id
        )
        return Row(number, tuple(cells[1 : 1 + len(self.task.paths)]), metrics, binding, error)

    def _strange(self, text: str) -> FormatError:
        return FormatError(text, file=str(self.path), remedy="give another name, or take the file away first")

    def add(self, row: Row) -> None:
        """Write a row; from then on no stop loses it.

        Raises
        ------
        WriteError
            If the disk refuses.
        """
        try:
            if self._out is None:
                self._out = self._opened()
            csv.writer(self._out, lineterminator="\n").writerow(_cells(self.task, row, self._question))
            self._out.flush()
        except OSError as error:
            raise WriteError(
                f"cannot write: {error.strerror or error}", file=str(self.path), remedy="free some space; then go on"
            ) from None

    def _opened(self) -> TextIO:
        file = self.growing
        if not file.exists() or file.is_file():
            # begins with what is whole, in order
            atomic.write(file, to_csv(self.task, self.done).encode())
            return open(file, "a", encoding="utf-8", newline="")
        out = open(file, "w", encoding="utf-8", newline="")  # noqa: SIM115
        csv.writer(out, lineterminator="\n").writerow(heads(self.task))
        return out

    def close(self, rows: Iterable[Row] | None = None) -> None:
        """Close the file; with all `rows` given it is written once more, in order.

        Raises
        ------
        WriteError
            If it cannot be written.
        """
        if self._out is not None:
            self._out.close()
            self._out = None
        if rows is None:
            return
        if self.parquet:
            atomic.write(self.path, _to_parquet(self.task, tuple(rows), self._question))
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.growing)
        elif not self.growing.exists() or self.growing.is_file():
            atomic.write(self.growing, to_csv(self.task, rows).encode())

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
        return [row for row in map(self._row, lines) if row is not None]


def _text(value: object) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def _arrow(path: Path) -> Any:
    try:
        return import_module("pyarrow")
    except ImportError:
        remedy = "install designer with the extra [parquet], or write a .csv file"
        raise FormatError("Parquet files need pyarrow", file=str(path), remedy=remedy) from None


def _to_parquet(task: Task, rows: Sequence[Row], question: str) -> bytes:
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
