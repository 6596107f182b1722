"""What public benchmark scripts send and count, so that an answer is compared with what one of them measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from designer.families.serving.deployment import Load
from designer.findings import Finding, Severity
from designer.sources import Constant, Status
from designer.units import Ratio


def _script_constant(value: float, status: Status, script: str) -> Constant:
    return Constant(value, value, value, "benchmark-scripts", status, "1", script)


#: shortest length over the nominal one, where lengths are even between the two
_INFERENCEX: Final = _script_constant(
    0.8, Status.PRIMARY, "RANDOM_RANGE_RATIO 0.8 of its workflows, lengths from there to 1"
)
_SGLANG: Final = _script_constant(
    0.0, Status.PRIMARY, "random-range-ratio 0.0: even from 1 token to the nominal length"
)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One script, as it runs unless it is given other options.

    Parameters
    ----------
    least
        Shortest length over the nominal one; None leaves lengths as they are asked for.
    warmed
        True if it leaves the first requests of each client out of what it counts.
    kind
        The load it sends; empty for whatever is asked for.
    counted
        In words: which requests, and what its first token and time per token are.
    """

    title: str
    least: float | None
    warmed: bool
    kind: str
    counted: str


_MEAN: Final = (
    "the first token is the first message that a client gets, the time per token is the rest of an answer over its "
    "other tokens, both as means"
)
_COLD: Final = "all requests, those of the first wave, which begin together, with them"

BENCHMARKS: Final[Mapping[str, Benchmark]] = MappingProxyType(
    {
        "vllm-bench": Benchmark("vllm bench serve", 1.0, False, "", f"{_COLD}; lengths are exact; {_MEAN}"),
        "sglang-bench": Benchmark(
            "sglang.bench_serving",
            _SGLANG.value,
            False,
            "",
            f"{_COLD}; random lengths are even from 1 to the nominal one, half of it in the mean; {_MEAN}",
        ),
        "genai-perf": Benchmark("GenAI-Perf", 1.0, False, "clients", f"{_COLD}; lengths are exact; {_MEAN}"),
        "inferencex": Benchmark(
            "InferenceX",
            _INFERENCEX.value,
            False,
            "clients",
            f"{_COLD}, ten of each client, after two that warm up and end before; lengths are even from .8 to 1 of the "
            f"nominal ones; {_MEAN}",
        ),
        "mlperf": Benchmark(
            "MLPerf Inference",
            None,
            True,
            "",
            "tokens a second of all queries, sent at once (Offline), or the Poisson rate at which 99 % keep the "
            "limits of the model on the first token and the time per token (Server); lengths are those of its data set",
        ),
    }
)


def as_measured(load: Load, plain: Load, name: str) -> Load:
    """The load that a script sends for what is asked; what was set by hand stays.

    Parameters
    ----------
    plain
        The load with no setting given.
    name
        Of a script in `BENCHMARKS`; empty for none.
    """
    found = BENCHMARKS.get(name)
    if found is None:
        return load
    changes: dict[str, object] = {"measured_as": name}
    if found.kind and load.kind == plain.kind:
        changes["kind"] = found.kind
    sends = changes.get("kind", load.kind)
    if sends == "clients" and not found.warmed and load.warm_up == plain.warm_up:
        changes["warm_up"] = 0
    if found.least is not None and not load.lengths and load.kind != "trace" and load.spread == plain.spread:
        # even between the least and the nominal length: a mean, and how far from it they go
        mean = (1 + found.least) / 2
        changes["prompt"], changes["output"] = (max(1, round(n * mean)) for n in (load.prompt, load.output))
        changes["spread"] = Ratio((1 - found.least) / (1 + found.least))
    return replace(load, **changes)  # pyright: ignore[reportArgumentType]


def counted(load: Load) -> tuple[Finding, ...]:
    """What the script counts that a load is measured as; empty where none is named."""
    found = BENCHMARKS.get(load.measured_as)
    if found is None:
        return ()
    text = f"measured as {found.title}: it counts {found.counted}"
    remedy = "set waves, warm_up and spread where it was run otherwise"
    return (Finding("SERVE-COUNTED", Severity.INFO, text, (), remedy),)
