"""Reads the table of ``nvidia-smi topo -m`` in all the forms it is pasted in.

Names and cells are recognised by what they are, not by column: blanks, TABs, indents, underlines and prompts around the
table differ from paste to paste. What does not come out square and symmetric is refused, never shifted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from designer.errors import ExchangeError

MAX_DEVICES: Final = 256
MAX_LINES: Final = 20_000
MAX_LINE: Final = 64 * 1024
#: cells of other tables that have the same shape
_OTHER_CELLS: Final = frozenset({"OK", "CNS", "GNS", "TNS", "NS", "DR", "U", "NSUPP"})
_ESCAPES: Final = re.compile(
    r"\x1b\[[0-?]{0,32}[ -/]{0,8}[@-~]|\x1b\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)|"
    r"\x1b[()*+][0-9A-Za-z]|\x1b[@-Z\\^_=>78]|\x9b[0-?]{0,32}[@-~]"
)
_BLANKS: Final = dict.fromkeys(map(ord, "\u00a0\u2002\u2003\u2007\u2009\u202f\u3000\u2502\u2503|"), " ")
_HIDDEN: Final = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u202a\u202b\u202c\u202d\u202e"))
_CELL: Final = re.compile(r"(?:X|NV[1-9][0-9]{0,2}|PIX|PXB|PHB|NODE|SYS|SOC)\Z", re.ASCII)
_GLUED_CELLS: Final = re.compile(r"(?:X|NV[0-9]{1,2}|PIX|PXB|PHB|NODE|SYS|SOC){2,}\Z", re.ASCII)
_GPU: Final = re.compile(r"GPU[0-9]{1,4}\Z", re.ASCII)
_GLUED_NAMES: Final = re.compile(r"GPU[0-9]{1,4}|NIC[0-9]{1,4}|mlx[0-9]_[0-9]{1,3}", re.ASCII)
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.:+-]{0,63}\Z", re.ASCII)
_CPU_LIST: Final = re.compile(r"[0-9]{1,6}(?:-[0-9]{1,6})?(?:,[0-9]{1,6}(?:-[0-9]{1,6})?)*\Z", re.ASCII)
_LEGEND: Final = re.compile(r"\s*(NIC[0-9]{1,4})\s*[:=]\s*([A-Za-z0-9_.:+-]{1,64})\s*\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One device: its cells and what is behind them; empty where the table does not say."""

    name: str
    cells: tuple[str, ...]
    line: int
    cpus: str = ""
    numa: str = ""
    gpu_numa: str = ""


@dataclass(frozen=True, slots=True)
class Matrix:
    """The whole table: rows in order, which is also the order of the columns, and real names of NICs."""

    rows: tuple[MatrixRow, ...]
    legend: dict[str, str]
    old: bool

    @property
    def gpus(self) -> tuple[int, ...]:
        """Positions of the GPUs."""
        return tuple(i for i, row in enumerate(self.rows) if _GPU.match(row.name))

    @property
    def nics(self) -> tuple[int, ...]:
        """Positions of the other devices."""
        return tuple(i for i, row in enumerate(self.rows) if not _GPU.match(row.name))

    def cell(self, a: int, b: int) -> str:
        """How two devices are joined; SOC of old drivers reads as SYS."""
        text = self.rows[a].cells[b]
        return "SYS" if text == "SOC" else text


@dataclass(frozen=True, slots=True)
class _Header:
    names: tuple[str, ...]
    #: offsets of the columns behind the cells in the header line, by name
    columns: tuple[tuple[str, int], ...]
    line: int


def clean(text: str) -> list[str]:
    """Lines without escape sequences, invisible characters and odd blanks."""
    text = _ESCAPES.sub("", text.translate(_HIDDEN))
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n").replace("\v", "\n")
    return text.translate(_BLANKS).split("\n")


def parse_matrix(text: str, file: str) -> Matrix:
    """The matrix in `text`.

    Raises
    ------
    ExchangeError
        If there is none, there are several, or it is not square, complete and symmetric.
    """
    lines = clean(text)
    if len(lines) > MAX_LINES or max(map(len, lines)) > MAX_LINE:
        raise ExchangeError("it is far larger than such a table", file=file, remedy="give only the table")
    header = _find_header(lines, file)
    rows: list[MatrixRow] = []
    for number, line in enumerate(lines[header.line :], start=header.line + 1):
        if _names_of(line) is not None:
            raise ExchangeError(
                "a second table begins", file=file, place=f"line {number}", remedy="save each table to its own file"
            )
        row = _row(line, number, header, file)
        if row is not None:
            rows.append(row)
    _check(rows, header, file)
    legend = {m[1]: m[2] for m in map(_LEGEND.match, lines) if m}
    old = any("SOC" in row.cells for row in rows) or any(re.match(r"\s*SOC\s*=", line) for line in lines)
    return Matrix(tuple(rows), legend, old)


def _names_of(line: str) -> tuple[list[str], int] | None:
    """Device names of a header line and where they end, or None when it is no header."""
    cut = re.search(r"\bCPU\b|\bNUMA\b|\bGPU\s+NUMA\b", line)
    end = cut.start() if cut else len(line)
    names: list[str] = []
    for word in line[:end].split():
        glued = _GLUED_NAMES.findall(word)
        if len(glued) > 1 and "".join(glued) == word:
            names += glued
        elif _NAME.match(word) and not _CELL.match(word):
            names.append(word)
        else:
            return None
    if not names or not _GPU.match(names[0]):
        return None
    return (names, end) if len(names) > 1 or cut is not None else None


def _find_header(lines: Sequence[str], file: str) -> _Header:
    for number, line in enumerate(lines):
        found = _names_of(line)
        if found is None:
            continue
        names, end = found
        columns = tuple(
            (title, match.start())
            for title, pattern in (
                ("cpus", r"CPU\s+Affinity"),
                ("numa", r"NUMA\s+Affinity"),
                ("gpu_numa", r"GPU\s+NUMA\s+ID"),
            )
            if (match := re.search(pattern, line[end:]))
        )
        if len(names) > MAX_DEVICES:
            raise ExchangeError(f"it names more than {MAX_DEVICES} devices", file=file, place=f"line {number + 1}")
        if len(set(names)) < len(names):
            twice = next(n for n in names if names.count(n) > 1)
            times = "twice" if names.count(twice) == 2 else f"{names.count(twice)} times"
            raise ExchangeError(
                f"the header names {twice} {times}",
                file=file,
                place=f"line {number + 1}",
                remedy="paste the table again",
            )
        return _Header(tuple(names), columns, number + 1)
    raise ExchangeError(
        "there is no header with GPU0 in it",
        file=file,
        remedy="save the whole output: nvidia-smi topo -m > topo.txt",
    )


def _row(line: str, number: int, header: _Header, file: str) -> MatrixRow | None:
    """The row in `line`, or None when it is something else."""
    words = line.split()
    if len(words) < 2 or words[0] not in header.names:
        _refuse_continuation(words, number, file)
        return None
    if not (_CELL.match(words[1]) or words[1] in _OTHER_CELLS or _GLUED_CELLS.match(words[1]) or len(words) > 2):
        return None
    if words[1] in (":", "=") or words[0].endswith(":"):
        return None
    count = len(header.names)
    fields = [f.strip() for f in line.strip(" ").split("\t")]
    if fields and not fields[0]:
        fields = fields[1:]
    by_tabs = len(fields) > count and all(_CELL.match(f) for f in fields[1 : count + 1])
    cells = fields[1 : count + 1] if by_tabs else words[1 : count + 1]
    _check_cells(words[0], cells, words, count, number, file)
    if by_tabs:
        cpus, numa, gpu_numa = _behind_tabs(fields[count + 1 :])
    else:
        cpus, numa, gpu_numa = _behind_blanks(line, words[count + 1 :], header)
    return MatrixRow(words[0], tuple(cells), number, cpus, numa, gpu_numa)


def _refuse_continuation(words: Sequence[str], number: int, file: str) -> None:
    """A line of cells without a name is the rest of a wrapped row."""
    if words and all(_CELL.match(w) for w in words) and words != ["X"]:
        raise ExchangeError(
            "cells without a device name: a wrapped line",
            file=file,
            place=f"line {number}",
            remedy="save the table to a file instead of copying it from a narrow terminal",
        )


def _check_cells(name: str, cells: Sequence[str], words: Sequence[str], count: int, number: int, file: str) -> None:
    place = f"line {number}, row {name}"
    for cell in cells:
        if _CELL.match(cell):
            continue
        if cell in _OTHER_CELLS:
            raise ExchangeError(
                "this is `nvidia-smi topo -p2p`: what GPUs may do with each other, not how they are joined",
                file=file,
                place=place,
                remedy="use nvidia-smi topo -m",
            )
        if _GLUED_CELLS.match(cell):
            raise ExchangeError(
                f"the cells {cell[:20]!r} are glued together",
                file=file,
                place=place,
                remedy="save the table to a file instead of copying it from a narrow terminal",
            )
        text = f"{cell[:20]!r} is not a connection" if cell else "a cell is empty"
        short = sum(1 for word in words[1:] if _CELL.match(word))
        if short < count and (not cell or _CPU_LIST.match(cell) or cell == "N/A"):
            text = f"it has {short} cells, the header names {count} devices"
        raise ExchangeError(text, file=file, place=place, remedy="paste the whole table, rows unbroken")
    if len(cells) < count:
        raise ExchangeError(
            f"it has {len(cells)} cells, the header names {count} devices",
            file=file,
            place=place,
            remedy="paste the whole table, rows unbroken",
        )


def _behind_tabs(fields: Sequence[str]) -> tuple[str, str, str]:
    cpus = fields[0] if fields else ""
    numa = fields[1] if len(fields) > 1 else ""
    last = next((f for f in reversed(fields[2:]) if f), "")
    return _list_or_empty(cpus), _list_or_empty(numa), _list_or_empty(last)


def _behind_blanks(line: str, words: Sequence[str], header: _Header) -> tuple[str, str, str]:
    joined: list[str] = []
    for word in words:
        if joined and joined[-1].endswith(","):
            joined[-1] += word
        else:
            joined.append(word)
    titles = [title for title, _ in header.columns] or ["cpus", "numa", "gpu_numa"]
    found: dict[str, str] = dict.fromkeys(("cpus", "numa", "gpu_numa"), "")
    if len(joined) == 1 and len(titles) > 1 and re.fullmatch(r"[0-9]{1,3}", joined[0], re.ASCII):
        titles = ["numa"]
    elif len(joined) < len(titles) and len(titles) == 3:
        # The last column is printed always, the CPU list may be empty.
        titles = ["numa", "gpu_numa"] if not re.search(r"[-,]", joined[0] if joined else "-") else titles
    for title, word in zip(titles, joined, strict=False):
        found[title] = _list_or_empty(word)
    return found["cpus"], found["numa"], found["gpu_numa"]


def _list_or_empty(text: str) -> str:
    text = text.replace(" ", "")
    return text if _CPU_LIST.match(text) else ""


def _check(rows: Sequence[MatrixRow], header: _Header, file: str) -> None:
    names = tuple(row.name for row in rows)
    if names != header.names:
        missing = [n for n in header.names if n not in names]
        if missing:
            text = f"rows are missing: {', '.join(missing[:5])}" + (" …" if len(missing) > 5 else "")
        else:
            text = "the rows do not come in the order of the columns, or one comes twice"
        raise ExchangeError(
            text, file=file, place=f"line {header.line}", remedy="paste the whole table, header and all rows"
        )
    for i, row in enumerate(rows):
        place = f"line {row.line}, row {row.name}"
        if row.cells[i] != "X":
            raise ExchangeError(
                f"the cell of {row.name} with itself is {row.cells[i]}, not X",
                file=file,
                place=place,
                remedy="a cell is missing or doubled in this row",
            )
        for j in range(i):
            if row.cells[j] != rows[j].cells[i] or row.cells[j] == "X":
                raise ExchangeError(
                    f"{row.name} to {names[j]} says {row.cells[j]}, {names[j]} to {row.name} says {rows[j].cells[i]}",
                    file=file,
                    place=place,
                    remedy="a cell is missing or doubled in one of the two rows",
                )
