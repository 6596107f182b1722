"""Files of requests: Mooncake JSONL, Azure and BurstGPT CSV; and shipped distributions of lengths."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NoReturn, cast

from designer.errors import ExchangeError, UnitError
from designer.resources import assets
from designer.units import parse
from designer.workload.text_files import csv_errors, read_file

#: traces of months are some hundred megabytes
LARGEST_FILE: Final = 2**30
#: longest prompt or answer that is not a mistake [tokens]
LONGEST: Final = 10**8
#: tokens of a block of Mooncake's hashes; the files do not say it, their documentation does
MOONCAKE_BLOCK: Final = 512
#: with so many gaps of nothing, times were recorded in windows
_WINDOWED_SHARE: Final = 0.5
_AZURE: Final = ("TIMESTAMP", "ContextTokens", "GeneratedTokens")
#: BurstGPT, README of HPMLL/BurstGPT: seconds from midnight of the first day; failed requests have no response tokens
_BURSTGPT: Final = ("Timestamp", "Request tokens", "Response tokens")


@dataclass(frozen=True, slots=True)
class Trace:
    """Requests in the order of their times.

    Parameters
    ----------
    at
        Seconds from the first.
    blocks
        Hashes of each prompt's blocks, each representing all tokens up to its end; empty where the file has none.
    block
        Tokens of a block.
    notes
        What was done to the file's times and lines, in words.
    """

    name: str
    at: Sequence[float]
    prompt: Sequence[int]
    output: Sequence[int]
    blocks: Sequence[Sequence[int]] = ()
    block: int = MOONCAKE_BLOCK
    notes: tuple[str, ...] = ()


def read_trace(path: Path) -> Trace:
    """The requests of a file.

    Raises
    ------
    ExchangeError
        Naming the file, the line, what is wrong and what to do.
    """
    return read_file(
        path,
        lambda text: parse_trace(text, path.stem),
        "a trace",
        largest=LARGEST_FILE,
        missing="give the path of a Mooncake JSONL, Azure CSV or BurstGPT CSV",
        too_large="cut it to the hours of interest",
    )


def parse_trace(text: str, name: str = "trace") -> Trace:
    """The requests of a text in one of the formats.

    Raises
    ------
    ExchangeError
        If it is in none of them, a line lacks a value or has an impossible one, or no request is left.
    """
    head = text.lstrip()[:1]
    if head == "{":
        found = _mooncake(text)
    elif head and "," in text.splitlines()[0]:
        found = _table(text)
    else:
        raise ExchangeError(
            "neither JSON lines nor a CSV with a header",
            place="line 1",
            remedy="give Mooncake JSONL (timestamp, input_length, output_length), Azure CSV or BurstGPT CSV",
        )
    return _sort_trace(name, *found)


_Rows = tuple[list[float], list[int], list[int], list[Sequence[int]], int]


def _fail(line: int, text: str, remedy: str) -> NoReturn:
    raise ExchangeError(text, place=f"line {line}", remedy=remedy)


def _tokens(value: object, name: str, line: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        _fail(line, f"{name} is {str(value)[:40]!r}, not a number", "correct the line or take it out")
    if value < 0 or value > LONGEST:
        _fail(line, f"{name} is {value:g}", f"give 0 to {LONGEST:,} tokens")
    return int(value)


def _mooncake(text: str) -> _Rows:
    at: list[float] = []
    prompt: list[int] = []
    output: list[int] = []
    blocks: list[Sequence[int]] = []
    empty = 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row: object = json.loads(line)
        except (ValueError, RecursionError):
            _fail(number, "not a JSON object", "one object a line")
        if not isinstance(row, dict):
            _fail(number, "not a JSON object", "one object a line")
        values = cast("dict[str, object]", row)
        for name in ("timestamp", "input_length", "output_length"):
            if values.get(name) is None:
                _fail(number, f"{name} is missing", "every line needs timestamp, input_length and output_length")
        when = values["timestamp"]
        if isinstance(when, bool) or not isinstance(when, int | float) or not math.isfinite(when):
            _fail(number, f"timestamp is {str(when)[:40]!r}, not a number", "give milliseconds from the start")
        sizes = (
            _tokens(values["input_length"], "input_length", number),
            _tokens(values["output_length"], "output_length", number),
        )
        if not all(sizes):
            empty += 1
            continue
        at.append(float(when) / 1e3)
        prompt.append(sizes[0])
        output.append(sizes[1])
        ids = values.get("hash_ids")
        blocks.append(_hashes(ids, number))
    return at, prompt, output, blocks, empty


def _hashes(ids: object, line: int) -> Sequence[int]:
    if ids is None:
        return ()
    if not isinstance(ids, list) or not all(isinstance(i, int) for i in cast("list[object]", ids)):
        _fail(line, "hash_ids is not a list of whole numbers", "give the list or leave hash_ids out")
    return tuple(cast("list[int]", ids))


def _table(text: str) -> _Rows:
    rows = csv.reader(io.StringIO(text))
    with csv_errors(lambda: rows.line_num):
        return _table_rows(rows)


def _table_rows(rows: Iterator[list[str]]) -> _Rows:
    at: list[float] = []
    prompt: list[int] = []
    output: list[int] = []
    empty = 0
    header = [name.strip() for name in next(rows)]
    burst = _BURSTGPT[1] in header or _BURSTGPT[2] in header
    columns, read = (_BURSTGPT, _seconds) if burst else (_AZURE, _moment)
    missing = [name for name in columns if name not in header]
    if missing:
        _fail(1, f"no column {missing[0]}", f"the header must have {', '.join(columns)}")
    when, context, generated = (header.index(name) for name in columns)
    for number, row in enumerate(rows, 2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) < len(header) or not all(row[k].strip() for k in (when, context, generated)):
            _fail(number, "a value is missing", f"every line needs {', '.join(columns)}")
        moment = read(row[when].strip(), number)
        try:
            sizes = (int(row[context]), int(row[generated]))
        except ValueError:
            _fail(number, "a count of tokens is not a whole number", "correct the line or take it out")
        sizes = (_tokens(sizes[0], columns[1], number), _tokens(sizes[1], columns[2], number))
        if not all(sizes):
            empty += 1
            continue
        at.append(moment)
        prompt.append(sizes[0])
        output.append(sizes[1])
    return at, prompt, output, [], empty


def _seconds(text: str, line: int) -> float:
    """Seconds from midnight of the first day."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        _fail(line, f"{text[:40]!r} is no time", "write it in seconds from midnight of the first day")
    return found


def _moment(text: str, line: int) -> float:
    """Seconds since an epoch of a time with up to nine decimals, with or without a zone."""
    stem, dot, rest = text.partition(".")
    digits = len(rest) - len(rest.lstrip("0123456789"))
    fraction, zone = rest[:digits], rest[digits:]
    try:
        whole = datetime.fromisoformat(stem + zone)
        part = float(f"0.{fraction}") if dot else 0.0
    except ValueError:
        _fail(line, f"{text[:40]!r} is no time", "write it as 2023-11-16 18:17:03.9799600")
    return (whole - datetime(2000, 1, 1, tzinfo=whole.tzinfo)).total_seconds() + part


def _sort_trace(
    name: str, at: list[float], prompt: list[int], output: list[int], blocks: list[Sequence[int]], empty: int
) -> Trace:
    if not at:
        raise ExchangeError("no request", remedy="give a trace with requests that have a prompt and an output")
    notes: list[str] = []
    if empty:
        notes.append(f"{empty} requests without a prompt or an output were left out")
    order = sorted(range(len(at)), key=at.__getitem__)
    if order != list(range(len(at))):
        notes.append("the times were not in order: sorted")
    begin = at[order[0]]
    times = [at[k] - begin for k in order]
    times, window = _spread(times)
    if window:
        notes.append(f"times were recorded in windows of {window:g} s: requests are spread evenly inside them")
    longest = max((b - a for a, b in pairwise(times)), default=0.0)
    mean = times[-1] / max(1, len(times) - 1)
    if longest > 100 * mean and longest > 1:
        notes.append(f"nothing arrives for {longest:.3g} s, {longest / mean:.3g} times the mean gap")
    hashed = [blocks[k] for k in order] if any(blocks) else []
    return Trace(
        name, times, [prompt[k] for k in order], [output[k] for k in order], hashed, MOONCAKE_BLOCK, tuple(notes)
    )


def _spread(times: list[float]) -> tuple[list[float], float]:
    """Times that were recorded in windows, spread inside them; and the window [s], 0 where there is none."""
    gaps = [b - a for a, b in pairwise(times)]
    positive = sorted(gap for gap in gaps if gap > 0)
    if not positive or 1 - len(positive) / len(gaps) < _WINDOWED_SHARE:
        return times, 0.0
    window = positive[len(positive) // 2]
    found: list[float] = []
    k = 0
    while k < len(times):
        end = k
        while end < len(times) and times[end] == times[k]:
            end += 1
        found += [times[k] + window * (j + 0.5) / (end - k) for j in range(end - k)]
        k = end
    found.sort()
    return found, window


@dataclass(frozen=True, slots=True)
class Lengths:
    """A joint distribution of prompt and output lengths, and how requests of its trace came.

    Parameters
    ----------
    prompt_edges, output_edges
        Bin i holds edges[i] <= tokens < edges[i+1].
    buckets
        Requests, mean prompt and mean output of each pair of bins, prompts first.
    variation
        Coefficient of variation of the gaps between arrivals [1].
    """

    name: str
    source: str
    licence: str
    prompt_edges: tuple[int, ...]
    output_edges: tuple[int, ...]
    buckets: tuple[tuple[float, float, float], ...]
    variation: float
    rate: float

    def draw(
        self, count: int, uniform: Callable[[], float], choose: Callable[[Sequence[float], int], Sequence[int]]
    ) -> tuple[list[int], list[int]]:
        """Lengths of `count` requests, from even numbers and from picks by weight.

        Notes
        -----
        Inside a bin a length is low + (high - 1 - low) u^(1/f - 1), which has the bin's mean.
        """
        width = len(self.output_edges) - 1
        prompt: list[int] = []
        output: list[int] = []
        for bucket in choose([b[0] for b in self.buckets], count):
            _, one, other = self.buckets[bucket]
            prompt.append(_is_inside(self.prompt_edges, bucket // width, one, uniform()))
            output.append(_is_inside(self.output_edges, bucket % width, other, uniform()))
        return prompt, output

    @property
    def means(self) -> tuple[float, float]:
        """Mean prompt and mean output [tokens]."""
        total = sum(b[0] for b in self.buckets)
        return sum(b[0] * b[1] for b in self.buckets) / total, sum(b[0] * b[2] for b in self.buckets) / total


def _is_inside(edges: tuple[int, ...], place: int, mean: float, u: float) -> int:
    low, high = edges[place], edges[place + 1] - 1
    if high <= low:
        return low
    share = min(max((mean - low) / (high - low), 0.0), 1.0)
    if share <= 0:
        return low
    return round(low + (high - low) * u ** (1 / share - 1))


@lru_cache(maxsize=16)
def lengths(name: str) -> Lengths:
    """A shipped distribution.

    Raises
    ------
    ExchangeError
        If there is none of that name.
    """
    path = assets() / "serving" / "loads" / f"{name}.json"
    if not name or not path.is_file():
        known = sorted(p.stem for p in path.parent.glob("*.json"))
        raise ExchangeError(f"there are no lengths {name!r}", remedy=f"choose one of {', '.join(known)}")
    data = cast("Mapping[str, Any]", json.loads(path.read_text(encoding="utf-8")))
    table = cast("Mapping[str, Any]", data["histogram"])
    return Lengths(
        name,
        data["source"],
        data["licence"],
        tuple(table["input_edges"]),
        tuple(table["output_edges"]),
        tuple((b[0], b[1], b[2]) for b in table["buckets"]),
        data["gaps"]["cv"],
        data["rate_per_s"],
    )


def reuse_curve(text: str) -> tuple[tuple[float, float], ...]:
    """Share of prompt tokens found by room in tokens: ``5M:22 %, 50M:36 %``, or the name of shipped lengths.

    Raises
    ------
    ExchangeError
        If it is neither.
    """
    name = text.strip()
    if ":" not in name:
        path = assets() / "serving" / "loads" / f"{name}.json"
        known = json.loads(path.read_text(encoding="utf-8")).get("prefix") if path.is_file() else None
        if not known:
            raise ExchangeError(f"{name!r} has no reuse of prefixes", remedy="write pairs such as 5M:22 %, 50M:36 %")
        block = known["block_tokens"]
        return tuple((int(k) * block, float(v)) for k, v in known["lru_hit_tokens_by_capacity_blocks"].items())
    pairs: list[tuple[float, float]] = []
    for piece in name.split(","):
        room, _, share = piece.partition(":")
        try:
            pairs.append((_parse_count(room.strip()), float(parse(share.strip(), "ratio"))))
        except (ValueError, UnitError):
            raise ExchangeError(f"{piece.strip()!r} is no room and share", remedy="such as 5M:22 %") from None
    pairs.sort()
    rising = all(a[1] <= b[1] for a, b in pairwise(pairs))
    if not rising or pairs[0][0] <= 0 or not all(0 <= share < 1 for _, share in pairs):
        raise ExchangeError(f"{name!r} does not rise from 0 to below 1", remedy="such as 5M:22 %, 50M:36 %")
    return tuple(pairs)


def _parse_count(text: str) -> float:
    """A count with k, M or G after it."""
    factor = {"k": 1e3, "M": 1e6, "G": 1e9}.get(text[-1:], 0.0)
    return float(text[:-1]) * factor if factor else float(text)
