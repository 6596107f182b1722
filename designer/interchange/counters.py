"""Counters of a running machine from Prometheus, or from a recording of what it answered.

Exporters: NVIDIA DCGM (GPUs), Prometheus node exporter (NICs), treydock infiniband_exporter (adapters of hosts). Rates
are means over a window; a recording is the answers of one or more instants as JSON, to be judged again without the
server.
Sources: Prometheus HTTP API v1; dcgm-exporter default counters; node_exporter collectors infiniband and netdev.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from designer import atomic
from designer.errors import ExchangeError, FormatError

#: what a recording calls itself
FORMAT: Final = "designer-counters/1"
#: larger answers and files are refused [B], and more series
_LARGEST: Final = 64_000_000
_SERIES_LIMIT: Final = 400_000
_PATIENCE: Final = 20.0
#: more instants of one recording are refused
_INSTANTS_LIMIT: Final = 2_000
_NONE: Final = "the server has none of the counters"
#: a number of steps that is whole but for its last digits is whole
_WHOLE_TOLERANCE: Final = 1e-9
_WINDOW: Final = re.compile(r"\d{1,6}(?:ms|s|m|h|d)\Z")


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked, and what it is: traffic of NICs, or a figure of GPUs.

    Parameters
    ----------
    expression
        PromQL with ``WINDOW`` for the window of the mean.
    host, device
        Labels that name the host and the device on it.
    """

    name: str
    expression: str
    host: tuple[str, ...]
    device: str


#: names of what is compared, and who may know it
QUERIES: Final[Mapping[str, tuple[Query, ...]]] = {
    "nic_transmit": (
        Query("node", "rate(node_infiniband_port_data_transmitted_bytes_total[WINDOW])", ("instance",), "device"),
        Query("hca", "rate(infiniband_hca_port_transmit_data_bytes_total[WINDOW])", ("hca", "instance"), "device"),
        Query("net", "rate(node_network_transmit_bytes_total[WINDOW])", ("instance",), "device"),
    ),
    "nic_receive": (
        Query("node", "rate(node_infiniband_port_data_received_bytes_total[WINDOW])", ("instance",), "device"),
        Query("hca", "rate(infiniband_hca_port_receive_data_bytes_total[WINDOW])", ("hca", "instance"), "device"),
        Query("net", "rate(node_network_receive_bytes_total[WINDOW])", ("instance",), "device"),
    ),
    "gpu_tensor": (
        Query("dcgm", "avg_over_time(DCGM_FI_PROF_PIPE_TENSOR_ACTIVE[WINDOW])", ("Hostname", "instance"), "gpu"),
    ),
    "gpu_memory": (Query("dcgm", "avg_over_time(DCGM_FI_PROF_DRAM_ACTIVE[WINDOW])", ("Hostname", "instance"), "gpu"),),
    "gpu_power": (Query("dcgm", "avg_over_time(DCGM_FI_DEV_POWER_USAGE[WINDOW])", ("Hostname", "instance"), "gpu"),),
    "gpu_clock": (Query("dcgm", "avg_over_time(DCGM_FI_DEV_SM_CLOCK[WINDOW])", ("Hostname", "instance"), "gpu"),),
}


@dataclass(frozen=True, slots=True)
class Reading:
    """What is measured, on which host, of which device; rates in B/s, power in W, clocks in Hz, shares from 0 to 1."""

    name: str
    host: str
    device: str
    value: float


@dataclass(frozen=True, slots=True)
class Recording:
    """What was measured around one time [s since 1970]."""

    time: float
    window: str
    readings: tuple[Reading, ...]


def ask(url: str, window: str = "5m", at: float | None = None) -> Recording:
    """Ask a Prometheus server.

    Parameters
    ----------
    at
        Time of the end of the window [s since 1970]; now where it is not given.

    Raises
    ------
    ExchangeError
        If the server does not answer, or answers with an error or none of the counters.
    """
    if not _WINDOW.match(window):
        raise ExchangeError(f"{window[:40]!r} is no window", place="--window", remedy="write 30s, 5m or 1h")
    found: list[Reading] = []
    time = at
    for name, queries in QUERIES.items():
        for query in queries:
            rows = _vector(url, query.expression.replace("WINDOW", window), at)
            own = [r for row in rows if (r := _reading(name, query, row)) is not None]
            found += own
            time = time or next((float(row["value"][0]) for row in rows), None)
            if own:
                break
    if not found:
        raise ExchangeError(_NONE, file=url, remedy="let it scrape dcgm-exporter and node_exporter")
    return Recording(time or 0.0, window, tuple(found))


def ask_over(url: str, window: str, span: float, step: float, at: float | None = None) -> tuple[Recording, ...]:
    """Ask a Prometheus server for the instants of a span, the earliest first.

    Parameters
    ----------
    span, step
        How far back from `at`, and time between two instants [s].
    at
        The last instant [s since 1970]; now where it is not given.

    Raises
    ------
    ExchangeError
        As `ask`, or if these are no instants, or too many.
    """
    if not (0 < step <= span < math.inf and span / step < _INSTANTS_LIMIT):
        raise ExchangeError(
            f"{span:g} s in steps of {step:g} s", place="--step", remedy=f"give 2 to {_INSTANTS_LIMIT:,} instants"
        )
    last = ask(url, window, at)
    count = int(span / step + _WHOLE_TOLERANCE)
    found: list[Recording] = []
    for k in range(count, 0, -1):
        try:
            found.append(ask(url, window, last.time - k * step))
        except ExchangeError as error:
            # the machine was not yet measured then
            if error.text != _NONE:
                raise
    return (*found, last)


def _vector(url: str, expression: str, at: float | None) -> list[dict[str, Any]]:
    from urllib.error import URLError
    from urllib.parse import urlencode, urlsplit
    from urllib.request import Request, urlopen

    if urlsplit(url).scheme not in ("http", "https"):
        raise ExchangeError(f"{url[:60]!r} is no address of a server", remedy="write http://prometheus:9090")
    asked = {"query": expression} if at is None else {"query": expression, "time": f"{at:.3f}"}
    request = Request(f"{url.rstrip('/')}/api/v1/query?{urlencode(asked)}", headers={"Accept": "application/json"})
    try:
        with urlopen(request, timeout=_PATIENCE) as answer:
            data = answer.read(_LARGEST + 1)
    except (URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise ExchangeError(f"it does not answer: {reason}", file=url, remedy="check the address") from None
    if len(data) > _LARGEST:
        raise ExchangeError("its answer is too large", file=url, remedy="ask a server with fewer hosts")
    return _result(data, url)


def _result(data: bytes, file: str) -> list[dict[str, Any]]:
    try:
        content = json.loads(data)
    except ValueError:
        raise ExchangeError("its answer is no JSON", file=file, remedy="check that it is a Prometheus server") from None
    stated = cast("dict[str, Any]", content) if isinstance(content, dict) else {}
    if stated.get("status") != "success":
        raise ExchangeError(
            f"it answers: {str(stated.get('error', 'no result'))[:200]}", file=file, remedy="see its log"
        )
    rows = cast("dict[str, Any]", stated.get("data") or {}).get("result")
    return [row for row in rows if isinstance(row, dict)][:_SERIES_LIMIT] if isinstance(rows, list) else []


def _reading(name: str, query: Query, row: dict[str, Any]) -> Reading | None:
    labels, value = row.get("metric"), row.get("value")
    if not isinstance(labels, dict) or not isinstance(value, list) or len(cast("list[Any]", value)) != 2:
        return None
    stated = cast("dict[str, str]", labels)
    host = next((str(stated[label]) for label in query.host if stated.get(label)), "")
    device = str(stated.get(query.device, ""))
    try:
        number = float(cast("list[Any]", value)[1])
    except (TypeError, ValueError):
        return None
    if not host or not device or not math.isfinite(number) or number < 0:
        return None
    # DCGM states clocks in MHz
    return Reading(name, _bare(host), device, number * 1e6 if name == "gpu_clock" else number)


def _bare(host: str) -> str:
    """A host without the port of its exporter and without its domain; addresses stay whole."""
    name = re.sub(r":\d+\Z", "", host)
    return name if re.fullmatch(r"[\d.]+|.*:.*", name) else name.split(".")[0]


def load(path: Path, at: float | None = None) -> Recording:
    """The last instant of a recording, or the one nearest to a time [s since 1970].

    Raises
    ------
    FormatError
        As `load_all`.
    """
    found = load_all(path)
    return found[-1] if at is None else min(found, key=lambda one: abs(one.time - at))


def load_all(path: Path) -> tuple[Recording, ...]:
    """The instants of a recording, the earliest first.

    Raises
    ------
    FormatError
        If it cannot be read or is no recording.
    """
    try:
        content = json.loads(atomic.read(path, _LARGEST))
    except (OSError, ValueError) as error:
        raise FormatError(f"cannot be read: {error}", file=str(path), remedy="record one with --save") from None
    stated = cast("dict[str, Any]", content) if isinstance(content, dict) else {}
    if stated.get("format") != FORMAT:
        raise FormatError("this is no recording of counters", file=str(path), remedy="record one with --save")
    window, instants = str(stated.get("window", "")), stated.get("instants")
    if not isinstance(instants, list):
        return (_instant(stated, window, "", path),)
    each = [one for one in cast("list[Any]", instants)[:_INSTANTS_LIMIT] if isinstance(one, dict)]
    found = [_instant(one, window, f"instants[{k}].", path) for k, one in enumerate(each)]
    if not found:
        raise FormatError("it has no instants", file=str(path), place="instants", remedy="record it again")
    return tuple(sorted(found, key=lambda one: one.time))


def _instant(stated: Mapping[str, Any], window: str, where: str, path: Path) -> Recording:
    found: list[Reading] = []
    rows = stated.get("readings")
    for k, row in enumerate(cast("list[Any]", rows) if isinstance(rows, list) else []):
        try:
            name, host, device, value = cast("list[Any]", row)
            number = float(value)
        except (TypeError, ValueError):
            place = f"{where}readings[{k}]"
            raise FormatError("is no reading", file=str(path), place=place, remedy="record it again") from None
        if str(name) not in QUERIES or not math.isfinite(number) or number < 0:
            why = f"{str(name)[:40]!r}, {value!r} is no counter"
            raise FormatError(why, file=str(path), place=f"{where}readings[{k}]", remedy="record it again")
        found.append(Reading(str(name), str(host), str(device), number))
    time = stated.get("time")
    return Recording(float(time) if isinstance(time, int | float) else 0.0, window, tuple(found))


def read_hosts(path: Path) -> dict[str, str]:
    """Names of nodes in a design by their names in the counters, from a file with a line a node: both names.

    Raises
    ------
    FormatError
        If the file cannot be read, or a line has not two names.
    """
    try:
        lines = atomic.read(path, _LARGEST).decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"cannot be read: {error}", file=str(path), remedy="name a text file") from None
    found: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if not words:
            continue
        if len(words) != 2:
            raise FormatError(
                "two names are needed", file=str(path), place=f"line {number}", remedy="write: servers-0 host17"
            )
        found[words[1]] = words[0]
    return found


def dumps(*recordings: Recording) -> str:
    """Instants as the text of a recording's file."""
    if len(recordings) == 1:
        head = json.dumps({"format": FORMAT, "window": recordings[0].window})[:-1]
        return f"{head}, {_text(recordings[0])}}}\n"
    head = json.dumps({"format": FORMAT, "window": recordings[-1].window})[:-1]
    each = ",\n".join(f"{{{_text(one)}}}" for one in recordings)
    return f'{head}, "instants": [\n{each}\n]}}\n'


def _text(recording: Recording) -> str:
    rows = ",\n ".join(json.dumps([r.name, r.host, r.device, r.value]) for r in recording.readings)
    return f'"time": {json.dumps(recording.time)}, "readings": [\n {rows}\n]'
