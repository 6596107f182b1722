"""Lists of jobs as clusters recorded them: Philly's JSON, and CSV of Helios and Acme.

Formats as their repositories describe them: msr-fiddle/philly-traces (``cluster_job_log``),
S-Lab-System-Group/HeliosData (``cluster_log.csv``), InternLM/AcmeTrace (``trace_seren.csv``, ``trace_kalos.csv``).
"""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NoReturn, cast

from designer.errors import ExchangeError
from designer.workload.text_files import csv_errors, read_file

#: logs of months are some hundred megabytes
LARGEST_FILE: Final = 2**30
#: more accelerators than any job had
MOST_GPUS: Final = 10**6
_COLUMNS: Final = ("job_id", "gpu_num", "submit_time")
_NOTHING: Final = ("", "none", "nan", "nat", "null", "unknown")


@dataclass(frozen=True, slots=True)
class ListedJob:
    """One job that asked for accelerators.

    Parameters
    ----------
    at
        When it was submitted, from the first of the list [s].
    gpus, servers
        How many it had, on how many servers.
    seconds
        How long it ran, all its attempts together [s].
    waited
        How long it waited where it ran; None where that was not recorded [s].
    """

    id: str
    at: float
    gpus: int
    servers: int
    seconds: float
    waited: float | None


@dataclass(frozen=True, slots=True)
class JobList:
    """Jobs in the order in which they were submitted.

    Parameters
    ----------
    format
        ``Philly``, ``Helios`` or ``Acme``.
    left_out
        How many lines describe no job that can be run again, by why.
    """

    name: str
    format: str
    jobs: tuple[ListedJob, ...]
    left_out: Mapping[str, int]


_Row = tuple[str, datetime, int, int, float, float | None]


def read_jobs(path: Path) -> JobList:
    """The jobs of a file.

    Raises
    ------
    ExchangeError
        Naming the file, the line, what is wrong and what to do.
    """
    return read_file(
        path,
        lambda text: parse_jobs(text, path.name),
        "a job list",
        largest=LARGEST_FILE,
        missing="give a job list of Philly, Helios or Acme",
        too_large="cut it to the days of interest",
    )


def parse_jobs(text: str, name: str = "jobs") -> JobList:
    """The jobs of a text in one of the formats.

    Raises
    ------
    ExchangeError
        If it is in none of them, a line has an impossible value, or no job is left.
    """
    left_out: Counter[str] = Counter()
    if text.lstrip()[:1] in ("[", "{"):
        kind, rows = "Philly", _philly(text, left_out)
    else:
        kind, rows = _table(text, left_out)
    if not rows:
        why = "; ".join(f"{count} {what}" for what, count in left_out.items()) or "it is empty"
        raise ExchangeError(f"no job that ran on accelerators: {why}", remedy="give a list with such jobs")
    rows.sort(key=lambda row: row[1])
    first = rows[0][1]
    jobs = tuple(
        ListedJob(job, (at - first).total_seconds(), gpus, servers, seconds, waited)
        for job, at, gpus, servers, seconds, waited in rows
    )
    return JobList(name, kind, jobs, dict(left_out))


def _fail(line: int, text: str, remedy: str = "correct the line or take it out") -> NoReturn:
    raise ExchangeError(text, place=f"line {line}", remedy=remedy)


def _instant(text: str, name: str, line: int) -> datetime | None:
    """A time; None where the log has none."""
    if text.strip().lower() in _NOTHING:
        return None
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        _fail(line, f"{name} is {text[:40]!r}, not a time such as 2020-06-09 18:41:01")
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _count(text: str, name: str, line: int) -> int:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value.is_integer() or not 0 <= value <= MOST_GPUS:
        _fail(line, f"{name} is {text[:40]!r}, not a count from 0 to {MOST_GPUS:,}")
    return int(value)


def _table(text: str, left_out: Counter[str]) -> tuple[str, list[_Row]]:
    """Rows of Helios and Acme, which share most columns."""
    lines = csv.reader(text.splitlines())
    with csv_errors(lambda: lines.line_num):
        header = [name.strip() for name in next(lines, [])]
        missing = [name for name in _COLUMNS if name not in header]
        if missing or not {"duration", "end_time"} & set(header):
            _fail(
                1,
                f"no column {', '.join(missing) or 'duration'}",
                "give a job list of Philly (JSON), or of Helios or Acme (CSV with its header)",
            )
        kind = "Acme" if "gpu_time" in header else "Helios"
        rows: list[_Row] = []
        for fields in lines:
            number = lines.line_num
            if not any(field.strip() for field in fields):
                continue
            if len(fields) != len(header):
                _fail(number, f"{len(fields)} values in {len(header)} columns")
            found = _read_job(dict(zip(header, fields, strict=True)), number, left_out)
            if found is not None:
                rows.append(found)
    return kind, rows


def _read_job(cells: Mapping[str, str], line: int, left_out: Counter[str]) -> _Row | None:
    def cell(name: str) -> str:
        return cells.get(name, "")

    gpus = _count(cell("gpu_num"), "gpu_num", line)
    if not gpus:
        left_out["used no accelerator"] += 1
        return None
    submitted, start, end = (_instant(cell(name), name, line) for name in ("submit_time", "start_time", "end_time"))
    if submitted is None:
        _fail(line, "submit_time is empty")
    text = cell("duration").strip()
    if text.lower() not in _NOTHING:
        try:
            seconds = float(text)
        except ValueError:
            _fail(line, f"duration is {text[:40]!r}, not a number of seconds")
    elif start is not None and end is not None:
        seconds = (end - start).total_seconds()
    else:
        left_out["never ran, or still did when the log ended"] += 1
        return None
    if not 0 <= seconds < math.inf:
        _fail(line, f"it ran for {seconds:g} s")
    if start is not None and start < submitted:
        _fail(line, f"it starts at {start} and is submitted at {submitted}")
    waited = (start - submitted).total_seconds() if start is not None else None
    servers = _count(cell("node_num") or "1", "node_num", line) or 1
    return cell("job_id"), submitted, gpus, servers, seconds, waited


def _philly(text: str, left_out: Counter[str]) -> list[_Row]:
    try:
        entries: object = json.loads(text)
    except json.JSONDecodeError as error:
        _fail(error.lineno, f"not JSON: {error.msg}", "give the file as it was published")
    rows: list[_Row] = []
    for number, entry in enumerate(cast("list[object]", entries) if isinstance(entries, list) else [entries], 1):
        job = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
        try:
            found = _attempts(job, left_out)
        except (KeyError, TypeError, AttributeError) as error:
            line = _line_of(text, job, number)
            _fail(line, f"job {number} lacks {error}", "give jobs with jobid, submitted_time and attempts")
        except ExchangeError as error:
            _fail(_line_of(text, job, number), f"job {number}: {error.text}")
        if found is not None:
            rows.append(found)
    return rows


def _line_of(text: str, job: Mapping[str, Any], number: int) -> int:
    """The line of a job in a JSON text; that of the text's beginning where it has no name."""
    at = text.find(json.dumps(job["jobid"])) if isinstance(job.get("jobid"), str) else -1
    if at < 0:
        # entries without a name are counted by where objects open
        for _ in range(number):
            at = text.find("{", at + 1)
    return text.count("\n", 0, max(at, 0)) + 1


def _attempts(job: Mapping[str, Any], left_out: Counter[str]) -> _Row | None:
    """A job by its attempts: their times added up, accelerators and servers of the widest."""
    name, submitted = str(job["jobid"]), _instant(str(job["submitted_time"]), "submitted_time", 1)
    if submitted is None:
        raise ExchangeError("submitted_time is empty")
    seconds, widest, servers = 0.0, 0, 1
    first: datetime | None = None
    attempts = cast("Sequence[Mapping[str, Any]]", job["attempts"])
    for attempt in attempts:
        start = _instant(str(attempt["start_time"]), "start_time", 1)
        end = _instant(str(attempt["end_time"]), "end_time", 1)
        if start is None or end is None:
            continue
        if end < start:
            raise ExchangeError(f"an attempt ends at {end}, before it starts")
        detail = cast("Sequence[Mapping[str, Any]]", attempt["detail"])
        gpus = sum(len(one["gpus"]) for one in detail)
        seconds += (end - start).total_seconds()
        if gpus > widest:
            widest, servers = gpus, sum(1 for one in detail if one["gpus"])
        first = start if first is None else min(first, start)
    if first is None:
        left_out["never ran, or still did when the log ended"] += 1
        return None
    if not widest:
        left_out["used no accelerator"] += 1
        return None
    # clocks of schedulers and servers may differ by a little
    return name, submitted, widest, servers, seconds, max(0.0, (first - submitted).total_seconds())
