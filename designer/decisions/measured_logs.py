"""What logs of test programs and of trainings measured: nccl-tests, nvbandwidth, bandwidthTest, fio and trainers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from designer.errors import ExchangeError
from designer.workload import nccl_tests

LARGEST_TEXT: Final = 64_000_000
#: lines of Megatron-LM, records of MLPerf, and rates that other trainers print, by what they count
_ITERATION: Final = re.compile(r"elapsed time per iteration \(ms\):\s*([\d.]+).*?global batch size:\s*(\d+)")
_RECORD: Final = re.compile(r":::MLLOG\s+(\{.*\})")
_PRINTED: Final = re.compile(
    r"(sample|sequence|image|token)s?(?:_per_second|_per_sec|/s(?:ec)?| per second)['\"]?"
    r"\s*[:=]?\s*([\d.]+(?:e[+-]?\d+)?)",
    re.IGNORECASE,
)
_LAUNCHED: Final = re.compile(r"nThread\s+(\d+)\s+nGpus\s+(\d+).*?(?:graph:\s*(\d+)|$)", re.MULTILINE)
_MATRIX: Final = re.compile(
    r"memcpy CE (?:CPU\(row\) (?P<to>->|<-) GPU\(column\))[^\n]*\n(?P<body>.*?)(?:\n\s*\n|\Z)", re.DOTALL
)
_CUDA_SAMPLE: Final = re.compile(
    r"(?P<from>Host|Device) to (?P<to>Host|Device) Bandwidth.*?Bandwidth\((?P<unit>[MG])B/s\)\s*\n\s*"
    r"(?P<rows>(?:\d+\s+[\d.]+\s*\n?)+)",
    re.DOTALL,
)
TO_GPU, FROM_GPU = "host to GPU", "GPU to host"
#: what trainings count, by the metric that estimates it
TRAINED: Final = {"training sample": "samples_per_second", "training token": "tokens_per_second"}
_SAMPLES, _TOKENS = TRAINED


@dataclass(frozen=True, slots=True)
class Log:
    """What a log measured.

    Parameters
    ----------
    what
        A collective, ``host to GPU``, ``GPU to host``, ``drive``, or samples or tokens of a training.
    points
        Rate by message size [B/s by B], of trainings [1/s]; size 0 where the tool states none.
    ranks
        Ranks that took part; 0 where the log does not list them.
    launch
        Who started the kernels, as the setting of collectives; ``eager`` where the log does not say.
    """

    tool: str
    what: str
    points: Mapping[int, float]
    ranks: int = 0
    launch: str = "eager"

    @property
    def unit(self) -> str:
        """Unit of the rates."""
        return "1/s" if self.what in TRAINED else "B/s"


def read_log(text: str, name: str = "") -> Log:
    """What a log of nccl-tests, nvbandwidth, bandwidthTest, fio or a training measured.

    Raises
    ------
    ExchangeError
        If it holds no result of these tools.
    """
    if len(text) > LARGEST_TEXT:
        raise ExchangeError("too long for the log of a test", file=name, remedy="give the output of one run")
    for read in (_nccl, _nvbandwidth, _cuda_sample, _training, _fio):
        found = read(text)
        if found is not None:
            return found
    raise ExchangeError(
        "no result of nccl-tests, nvbandwidth, bandwidthTest, fio or a training in it",
        file=name,
        remedy="give what the tool prints, with its headings; of fio with --output-format=json; of a training its"
        " steps as Megatron-LM or MLPerf log them, or a line such as samples_per_second: 120",
    )


def _nccl(text: str) -> Log | None:
    rows = {size: bus for size, bus in nccl_tests.bus_bandwidths(text) if size > 0 and 0 < bus < math.inf}
    if not rows:
        return None
    return Log("nccl-tests", nccl_tests.collective(text), rows, nccl_tests.ranks(text), _launched(text))


def _launched(text: str) -> str:
    """Who started the kernels: `-G` replays a graph, `-g` lets one thread serve several GPUs."""
    head = _LAUNCHED.search(text)
    if head is None:
        return "eager"
    if int(head[3] or 0):
        return "graph"
    return "one-process" if int(head[2]) > 1 else "eager"


def _nvbandwidth(text: str) -> Log | None:
    for match in _MATRIX.finditer(text):
        cells = (c for row in match["body"].splitlines()[1:] for c in row.split()[1:])
        rates = [float(c) * 1e9 for c in cells if re.fullmatch(r"\d+(\.\d+)?", c)]
        if rates and min(rates) > 0:
            return Log("nvbandwidth", TO_GPU if match["to"] == "->" else FROM_GPU, {0: median(rates)})
    return None


def _cuda_sample(text: str) -> Log | None:
    for match in _CUDA_SAMPLE.finditer(text):
        if match["from"] == match["to"]:
            continue
        unit = 1e9 if match["unit"] == "G" else 1e6
        pairs = [row.split() for row in match["rows"].splitlines() if row.strip()]
        rows = {int(size): float(rate) * unit for size, rate in pairs if float(rate) > 0}
        if rows:
            return Log("bandwidthTest", TO_GPU if match["from"] == "Host" else FROM_GPU, rows)
    return None


def _fio(text: str) -> Log | None:
    try:
        jobs = json.loads(text[text.index("{") :])["jobs"]
        reads = [float(job["read"]["bw_bytes"]) for job in jobs if job["read"].get("bw_bytes")]
    except (ValueError, KeyError, TypeError, RecursionError, AttributeError):
        return None
    return Log("fio", "drive", {0: sum(reads)}) if reads and 0 < sum(reads) < math.inf else None


def _training(text: str) -> Log | None:
    """Median rate of a training without its first step."""
    steps = [(float(batch), float(ms) / 1e3) for ms, batch in _ITERATION.findall(text)]
    if steps:
        rates = [batch / seconds for batch, seconds in steps if seconds > 0]
        return _trained("Megatron-LM", _SAMPLES, rates)
    records = _records(text)
    if records:
        stated = [value for key, value in records if key == "tracked_stats"]
        rates = [float(value["throughput"]) for value in stated if "throughput" in value]
        times = [float(value["train_step_time"]) for value in stated if "train_step_time" in value]
        batch = next((float(value[""]) for key, value in records if key == "global_batch_size"), 0.0)
        return _trained("MLPerf", _SAMPLES, [batch / t for t in times if t > 0] if times and batch else rates)
    printed = [(name.lower() == "token", float(value)) for name, value in _PRINTED.findall(text)]
    of_samples = [value for is_token, value in printed if not is_token]
    return _trained("training", _SAMPLES, of_samples) or _trained("training", _TOKENS, [value for _, value in printed])


def _trained(tool: str, what: str, rates: list[float]) -> Log | None:
    rate = median(rates[1:] or rates) if rates else 0.0
    return Log(tool, what, {0: rate}) if 0 < rate < math.inf else None


def _records(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Key and values of records; a plain value has the empty name."""
    found: list[tuple[str, dict[str, Any]]] = []
    for line in _RECORD.findall(text):
        try:
            record = json.loads(line)
            value = record["value"]
            found.append((str(record["key"]), value if isinstance(value, dict) else {"": value}))
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
    return found
