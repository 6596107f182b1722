"""What benchmarks of serving engines print: vLLM, SGLang and TensorRT-LLM scripts, AIPerf, GenAI-Perf, GuideLLM.

Each run is read as what was asked, clients or a rate and lengths, and what it took. Formats were read from the
projects' documentation and repositories, 2026-11-24.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, cast

from designer.errors import ExchangeError

_FIELD: Final = re.compile(r"^(?:#\s*)?([A-Z][\w /().,\-]*?):\s+([\d.]+|inf|None)\s*$", re.MULTILINE)
_BLOCK: Final = "Serving Benchmark Result"
_MILLI: Final = 1e-3


@dataclass(frozen=True, slots=True)
class ServingRun:
    """One run of a benchmark.

    Parameters
    ----------
    clients, rate
        Requests at once, and requests a second; one of them is 0.
    prompt, output
        Mean lengths [tokens].
    first, each
        Time to the first token and per further token [s]; medians where `median`, else means.
    """

    clients: int
    rate: float
    prompt: float
    output: float
    first: float
    each: float
    median: bool


def read_runs(text: str) -> tuple[ServingRun, ...]:
    """All runs of an output.

    Raises
    ------
    ExchangeError
        If it is of no known format, or a run does not say what was asked of the server.
    """
    found = [run for reader in (_blocks, _documents) for run in reader(text)]
    if not found:
        raise ExchangeError(
            "no serving benchmark",
            remedy="give the result of `vllm bench serve`, `sglang.bench_serving`, AIPerf, GenAI-Perf or GuideLLM",
        )
    return tuple(found)


def _blocks(text: str) -> Sequence[ServingRun]:
    """The table that scripts of vLLM, SGLang and TensorRT-LLM print; what was asked is before it or in it."""
    pieces = re.split(rf"=+ *{_BLOCK} *=+", text)
    found: list[ServingRun] = []
    for before, block in pairwise(pieces):
        asked = {name.casefold(): value for name, value in _FIELD.findall(before[-2000:])}
        fields = asked | {name.casefold(): value for name, value in _FIELD.findall(block.split("=====")[0])}

        def number(*names: str, of: Mapping[str, str] = fields) -> float:
            return next((float(of[n]) for n in names if of.get(n, "None") != "None"), 0.0)

        done = number("successful requests")
        found.append(
            _run(
                number("maximum request concurrency", "max request concurrency", "max reqeuest concurrency"),
                number("traffic request rate", "request rate configured (rps)"),
                number("total input tokens") / done if done else 0.0,
                number("total generated tokens") / done if done else 0.0,
                (number("median ttft (ms)"), number("median tpot (ms)")),
                (number("mean ttft (ms)"), number("mean tpot (ms)")),
            )
        )
    return found


def _documents(text: str) -> Sequence[ServingRun]:
    """JSON, whole or a document a line."""
    try:
        documents = [json.loads(text)]
    except (ValueError, RecursionError):
        try:
            documents = [json.loads(line) for line in text.splitlines() if line.strip().startswith("{")]
        except (ValueError, RecursionError):
            return ()
    found: list[ServingRun] = []
    for document in documents:
        for one in document if isinstance(document, list) else [document]:
            if isinstance(one, dict):
                each = cast("dict[str, Any]", one)
                reader = next((read for key, read in _READERS.items() if key in each), None)
                if reader is not None:
                    found += reader(each)
    return found


def _script(result: Mapping[str, Any]) -> Sequence[ServingRun]:
    """The result file of the scripts of vLLM and SGLang."""
    done = _number(result.get("completed"))
    tokens = _number(result.get("total_input_tokens")), _number(result.get("total_output_tokens"))
    means = _number(result.get("mean_ttft_ms")), _number(result.get("mean_tpot_ms"))
    medians = _number(result.get("median_ttft_ms")), _number(result.get("median_tpot_ms"))
    clients, rate = _number(result.get("max_concurrency")), _number(result.get("request_rate"))
    prompt, output = (total / done if done else 0.0 for total in tokens)
    return [_run(clients, rate, prompt, output, medians, means)]


def _profile(result: Mapping[str, Any]) -> Sequence[ServingRun]:
    """``profile_export_aiperf.json`` and ``profile_export_genai_perf.json``."""

    def metric(name: str, end: str) -> float:
        found = result.get(name)
        if not isinstance(found, dict):
            return 0.0
        one = cast("dict[str, Any]", found)
        return _number(one.get(end)) * {"ms": 1.0, "us": 1e-3, "ns": 1e-6, "sec": 1e3, "s": 1e3}.get(
            str(one.get("unit")), 1.0
        )

    given = result.get("input_config")
    config: dict[str, Any] = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    load = _first_of(config, "loadgen", "perf_analyzer", "stimulus") or config
    stimulus = load.get("stimulus")
    load = cast("dict[str, Any]", stimulus) if isinstance(stimulus, dict) else load
    medians = metric("time_to_first_token", "p50"), metric("inter_token_latency", "p50")
    means = metric("time_to_first_token", "avg"), metric("inter_token_latency", "avg")
    prompt, output = metric("input_sequence_length", "avg"), metric("output_sequence_length", "avg")
    return [_run(_number(load.get("concurrency")), _number(load.get("request_rate")), prompt, output, medians, means)]


def _guidellm(result: Mapping[str, Any]) -> Sequence[ServingRun]:
    """``benchmarks.json`` of GuideLLM: a run for each load; its time between tokens leaves the first out."""
    found: list[ServingRun] = []
    every = result.get("benchmarks")
    for one in cast("list[Any]", every) if isinstance(every, list) else []:
        if not isinstance(one, dict):
            continue
        each = cast("dict[str, Any]", one)
        metrics = _first_of(each, "metrics")
        settings = _first_of(each, "config", "args")
        strategy = _first_of(settings, "strategy")

        def value(name: str, end: str, of: Mapping[str, Any] = metrics) -> float:
            given = _first_of(of, name)
            return _number((_first_of(given, "successful") or given).get(end))

        kind = str(strategy.get("type_", ""))
        clients = 1.0 if kind == "synchronous" else _number(strategy.get("streams"))
        rate = 0.0 if clients else _number(strategy.get("rate"))
        if kind == "throughput" and not clients:
            clients = value("request_concurrency", "mean")
        medians = value("time_to_first_token_ms", "median"), value("inter_token_latency_ms", "median")
        means = value("time_to_first_token_ms", "mean"), value("inter_token_latency_ms", "mean")
        lengths = value("prompt_token_count", "mean"), value("output_token_count", "mean")
        found.append(_run(clients, rate, *lengths, medians, means))
    return found


_READERS: Final[Mapping[str, Callable[[Mapping[str, Any]], Sequence[ServingRun]]]] = {
    "mean_ttft_ms": _script,
    "time_to_first_token": _profile,
    "benchmarks": _guidellm,
}


def _first_of(given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The first of some fields that is an object; empty without one."""
    for name in names:
        found = given.get(name)
        if isinstance(found, list) and found:
            found = cast("list[Any]", found)[0]
        if isinstance(found, dict):
            return cast("dict[str, Any]", found)
    return {}


def _number(value: object) -> float:
    """A number, or a text of one; 0 for none."""
    try:
        found = float(value) if isinstance(value, int | float | str) else 0.0
    except ValueError:
        return 0.0
    return 0.0 if math.isnan(found) else found


def _run(
    clients: float,
    rate: float,
    prompt: float,
    output: float,
    medians: tuple[float, float],
    means: tuple[float, float],
) -> ServingRun:
    """One run of what a tool says; times in milliseconds.

    Raises
    ------
    ExchangeError
        If something that was asked or took time is missing.
    """
    median = min(medians) > 0
    first, each = medians if median else means
    rate = 0.0 if math.isinf(rate) or clients else rate
    for name, value, remedy in (
        ("clients or rate", clients or rate, "run the benchmark with a largest concurrency or a finite request rate"),
        ("input tokens", prompt, "give the whole output"),
        ("output tokens", output, "give the whole output"),
        ("time to first token", first, "run the benchmark with streaming"),
        ("time per token", each, "run the benchmark with streaming, and more than one token of output"),
    ):
        if not 0 < value < math.inf:
            raise ExchangeError(f"a serving benchmark that does not say its {name}", remedy=remedy)
    return ServingRun(round(clients), rate, prompt, output, first * _MILLI, each * _MILLI, median)
