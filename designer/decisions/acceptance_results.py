"""Outputs of nccl-tests, nvbandwidth, BabelStream, fio, ib_write_bw and gpu-burn as results of trials."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from designer.decisions.acceptance import TWO_HOSTS, Machine, Trial, between, collective, sheet
from designer.errors import FormatError
from designer.workload.nccl_tests import COLLECTIVES
from designer.workload.nccl_tests import ranks as ranks_of

#: larger texts are no output of a test [characters]
_MOST: Final = 20_000_000
#: what the tools mean by their units [B/s]
_PREFIXES: Final = ("", "k", "M", "G", "T")
_BYTES: Final = {f"{sign}B": 1000.0**k for k, sign in enumerate(_PREFIXES)}
_SORTS: Final = {
    "host_to_device_memcpy_ce": "h2d",
    "host_to_device_memcpy_sm": "h2d",
    "device_to_host_memcpy_ce": "d2h",
    "device_to_host_memcpy_sm": "d2h",
    "device_to_device_memcpy_read_ce": "d2d",
    "device_to_device_memcpy_write_ce": "d2d",
}
_COLLECTIVE = re.compile("|".join(COLLECTIVES))
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\Z")
_FIO_JOB = re.compile(r"^(\S+): \(g(?:roupid)?=", re.MULTILINE)
_FIO_READ = re.compile(r"READ: bw=[\d.]+\w+/s \(([\d.]+)(\w?B)/s\)")
_BURN = re.compile(r"\(([\d.]+) Gflop/s\)")
_TRIAD = re.compile(r"^Triad\s+(\d+(?:\.\d+)?)\s", re.MULTILINE)
_TOGETHER = re.compile(r"^SUM host_to_all_memcpy_ce (\d+(?:\.\d+)?)", re.MULTILINE)
_SERVED = re.compile(
    r"^[ \t│|]*request throughput \((?:req/s|req/sec|per sec|requests/sec)\)[ \t]*[:│|]"
    r"[ \t]*(\d[\d,]*(?:\.\d+)?)(?=[ \t\r]*(?:[│|]|$))",
    re.MULTILINE | re.IGNORECASE,
)
_FAILED = re.compile(r"^Failed requests:\s+(\d+)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Reading:
    """A measured rate of a trial, in SI units, and where it stood."""

    trial: Trial
    value: float
    place: str


def read(text: str, machine: Machine, name: str = "") -> list[Reading]:
    """The results in the output of a test; one text may hold several tools.

    Raises
    ------
    FormatError
        If nothing in it is a result of a known tool.
    """
    if len(text) > _MOST:
        raise FormatError("too long for the output of a test", file=name, remedy="give the output of one run")
    found = [
        *_nccl(text, machine, name),
        *_nvbandwidth(text, machine, name),
        *_fio(text, machine, name),
        *_ib_write(text, machine, name),
        *_burn(text, machine, name),
        *_triad(text, machine, name),
    ]
    if not found:
        raise FormatError(
            "no result of nccl-tests, nvbandwidth, BabelStream, fio, ib_write_bw or gpu-burn in it",
            file=name,
            remedy="paste what the tool prints, with its headings",
        )
    return found


def served_rate(text: str, name: str = "") -> float:
    """Requests a second that a benchmark of a served model states [1/s].

    Sources: printed results in the repositories and documentation of ``vllm bench serve``, ``sglang.bench_serving``,
    ``trtllm-bench`` and ``genai-perf`` (read 2026-11-28).

    Raises
    ------
    FormatError
        If no such rate is in it, or requests failed.
    """
    rates = [float(m.replace(",", "")) for m in _SERVED.findall(text[-_MOST:])]
    failed = next((int(m) for m in reversed(_FAILED.findall(text[-_MOST:]))), 0)
    if not rates or not _positive(rates[-1]):
        raise FormatError(
            "no request rate of vllm bench serve, sglang.bench_serving, trtllm-bench or genai-perf in it",
            file=name,
            remedy="give what the benchmark prints, with its result block",
        )
    if failed:
        raise FormatError(
            f"{failed:,} requests failed", file=name, remedy="see the log of the engine, and run it again"
        )
    return rates[-1]


def _positive(value: float) -> bool:
    return 0 < value < 1e18


def _nccl(text: str, machine: Machine, name: str) -> Iterator[Reading]:
    if "busbw" not in text:
        return
    stated = _COLLECTIVE.search(text) or _COLLECTIVE.search(name)
    what = stated[0] if stated else "all_reduce"
    ranks = ranks_of(text) or len(machine.gpus)
    for number, line in enumerate(text.splitlines(), start=1):
        cells = line.split()
        if len(cells) < 8 or line.lstrip().startswith("#") or not cells[0].isdigit() or not cells[1].isdigit():
            continue
        # behind size, count and type are the operation and the root where the collective has them
        rest = [c for c in cells[2:] if _NUMBER.match(c)]
        rest = rest[1:] if len(cells) in (13, 12) and len(rest) % 4 == 1 else rest
        if len(rest) < 3 or int(cells[0]) <= 0 or not _positive(float(rest[2])):
            continue
        both = ranks == len(machine.gpus) + len(machine.peers) > len(machine.gpus) and f"{what}_net" in TWO_HOSTS
        trial = collective(machine, what, min(ranks, len(machine.gpus)), int(cells[0]))
        trial = between(machine, what, f"{what}_net", int(cells[0])) if both else trial
        yield Reading(trial, float(rest[2]) * 1e9, f"{name}:{number}")


def _nvbandwidth(text: str, machine: Machine, name: str) -> Iterator[Reading]:
    sort, columns = "", list[int]()
    trials = {t.id: t for t in sheet(machine)}
    whole = next((t for t in trials.values() if t.sort == "h2d_all"), None)
    for match in _TOGETHER.finditer(text):
        if whole is not None and _positive(float(match[1])):
            yield Reading(whole, float(match[1]) * 1e9, name)
    for number, line in enumerate(text.splitlines(), start=1):
        running = re.match(r"\s*Running (\w+)", line)
        if running:
            sort, columns = _SORTS.get(running[1], ""), []
            continue
        cells = line.split()
        if not sort or not cells:
            continue
        if all(c.isdigit() for c in cells):
            columns = [int(c) for c in cells]
            continue
        if not columns or not cells[0].isdigit() or len(cells) != len(columns) + 1:
            continue
        row = int(cells[0])
        for column, cell in zip(columns, cells[1:], strict=True):
            if not _NUMBER.match(cell) or not _positive(float(cell)) or max(row, column) >= len(machine.gpus):
                continue
            about = machine.gpus[column] if sort != "d2d" else f"{machine.gpus[row]},{machine.gpus[column]}"
            trial = trials.get(f"{sort}:{about}")
            if trial is not None:
                yield Reading(trial, float(cell) * 1e9, f"{name}:{number}")


def _fio(text: str, machine: Machine, name: str) -> Iterator[Reading]:
    jobs = [m[1] for m in _FIO_JOB.finditer(text)]
    drives = {d.rpartition("/")[2]: d for d in (*machine.drives, *machine.stores)}
    trials = {t.parts[0]: t for t in sheet(machine) if t.sort in ("fio", "store")}
    known = [drives[j] for j in dict.fromkeys(jobs) if j in drives]
    for drive, match in zip(known, _FIO_READ.finditer(text), strict=False):
        value = float(match[1]) * _BYTES.get(match[2], 0.0)
        if _positive(value):
            yield Reading(trials[drive], value, name)


def _ib_write(text: str, machine: Machine, name: str) -> Iterator[Reading]:
    if "BW average" not in text:
        return
    trials = [t for t in sheet(machine) if t.sort == "ib"]
    by_device: dict[str, Trial] = {}
    for trial in trials:
        part = machine.network.net.part(machine.network.net.index_of(trial.parts[0]))
        for known in (part.attributes.get("vendor_name", ""), part.id):
            by_device.setdefault(known, trial)
    device, unit = "", 0.0
    for number, line in enumerate(text.splitlines(), start=1):
        stated = re.search(r"Device\s*:\s*(\S+)", line) or re.search(r"ib_write_bw .*-d (\S+)", line)
        if stated:
            device = stated[1]
        heading = re.search(r"BW average\[(\w+)/sec\]", line)
        if heading:
            unit = {"Gb": 1e9 / 8, "MB": 2.0**20, "MiB": 2.0**20}.get(heading[1], 0.0)
            continue
        cells = line.split()
        if unit and len(cells) >= 4 and all(_NUMBER.match(c) for c in cells[:4]) and device in by_device:
            value = float(cells[3]) * unit
            if _positive(value):
                yield Reading(by_device[device], value, f"{name}:{number}")


def _triad(text: str, machine: Machine, name: str) -> Iterator[Reading]:
    """Triads of BabelStream, one output after the other for the accelerators in turn, from the device that is named."""
    stated = re.search(r"cuda-stream .*--device (\d+)", text)
    trials = [t for t in sheet(machine) if t.sort == "hbm"][int(stated[1]) if stated else 0 :]
    for trial, match in zip(trials, _TRIAD.finditer(text), strict=False):
        if _positive(float(match[1])):
            yield Reading(trial, float(match[1]) * 1e6, name)


def _burn(text: str, machine: Machine, name: str) -> Iterator[Reading]:
    last = [line for line in text.replace("\r", "\n").splitlines() if _BURN.search(line)][-1:]
    trials = {t.parts[0]: t for t in sheet(machine) if t.sort == "gemm"}
    stated = re.search(r"gpu_burn .*-i (\d+)", text)
    for line in last:
        for k, cell in enumerate(_BURN.findall(line), start=int(stated[1]) if stated else 0):
            if k < len(machine.gpus) and _positive(float(cell)):
                yield Reading(trials[machine.gpus[k]], float(cell) * 1e9, name)
