"""Metrics in words and numbers, and the single flows of an answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from designer.analysis.results import Flow, Rows, WorkloadResult
from designer.catalog.parttype import link_kinds
from designer.design.document import Block
from designer.design.naming import link_title
from designer.sources import Estimate
from designer.units import format_si
from designer.workload.metrics import is_same, tone_of

if TYPE_CHECKING:
    pass

_TITLES: Final = {
    "rate": "Total rate",
    "data_rate_per_gpu": "Slowest GPU",
    "transfer_time": "Transfer time",
    "communication_time": "Time",
    "bus_bandwidth": "Bus bandwidth",
    "algorithm_bandwidth": "Algorithm bandwidth",
    "step_time": "Step",
    "compute_time": "Compute",
    "input_time": "Input",
    "samples_per_second": "Samples",
    "epoch_time": "Epoch",
    "time_to_train": "Time to train",
    "speedup": "Speed-up",
    "ttft": "First token",
    "ttft_p50": "First token, p50",
    "ttft_p95": "First token, p95",
    "ttft_p99": "First token, p99",
    "tpot": "Per token",
    "itl_p50": "Between tokens, p50",
    "itl_p95": "Between tokens, p95",
    "itl_p99": "Between tokens, p99",
    "latency_p50": "Answer, p50",
    "latency_p90": "Answer, p90",
    "latency_p95": "Answer, p95",
    "latency_p99": "Answer, p99",
    "most_requests_per_second": "Most requests",
    "knee_requests_per_second": "Knee",
    "goodput": "Within limits",
    "kv_use": "Cache used",
    "kv_capacity": "Cache, tokens",
    "prefix_hits": "Prefix found",
    "hand_over_time": "Hand-over",
    "energy_per_million_requests": "Energy, million requests",
    "scaling_efficiency": "Scaling efficiency",
    "gpu_utilization": "GPU utilisation",
    "memory_per_gpu": "Memory per GPU",
    "mfu": "MFU",
    "migration_time": "Migration",
    "least_time_possible": "Least to these hosts",
    "switchover_time": "Switch-over",
    "stun_time": "Stun",
    "transferred": "Transferred",
    "evacuation_time": "Evacuation",
    "tokens_per_second": "Tokens",
    "requests_per_second": "Requests",
    "cold_start_time": "Cold start",
    "checkpoint_time": "Checkpoint",
}
#: what workloads are run for comes first, then what it costs
_HEADLINES: Final = (
    "machines_staying",
    "evacuation_time",
    "migration_time",
    "stun_time",
    "time_to_train",
    "tokens_per_second",
    "goodput",
    "requests_per_second",
    "ttft",
    "tpot",
    "mfu",
    "memory_per_gpu",
    "samples_per_second",
    "bus_bandwidth",
    "communication_time",
    "data_rate_per_gpu",
    "rate",
    "transfer_time",
    "step_time",
    "gpu_utilization",
)
#: of a served model: what its users feel, what it gives, and what it could
_SERVED: Final = (
    "ttft",
    "tpot",
    "tokens_per_second",
    "knee_requests_per_second",
    "ttft_p95",
    "latency_p95",
    "requests_per_second",
    "most_requests_per_second",
    "goodput",
    "accelerators",
    "replicas",
    "kv_use",
    "power",
    "energy_per_token",
    "hand_over_time",
    "cold_start_time",
)
_SHARES: Final = ("scaling_efficiency", "gpu_utilization", "mfu", "kv_use", "prefix_hits")
_LISTED = 400
_PERCENT: Final = re.compile(r"(?<=\d)%")
#: the kind of a link as it stands at the end of what a channel is called
_KIND: Final = re.compile(r"(?<=[^\s(] )\((\w+)(?= ×\d+\)|\))")
_LINK: Final = re.compile(r"(.+ [→↔] .+) \(([^()]+)\)")


@dataclass(frozen=True, slots=True)
class Number:
    """One metric: title, value, band and what it rests on.

    Parameters
    ----------
    change
        What it was in the baseline, and by how much that changed; empty where it did not.
    tone
        ``good`` or ``bad``, for the change.
    """

    name: str
    title: str
    text: str
    band: str
    tip: str
    change: str = ""
    tone: str = ""


#: abbreviations in names of metrics, as the field writes them
_SPELLED: Final = MappingProxyType(
    {"gpu": "GPU", "gpus": "GPUs", "cpu": "CPU", "kv": "KV", "nic": "NIC", "vm": "VM", "ttft": "TTFT", "tpot": "TPOT"}
)


def metric_title(name: str, of_step: bool = False) -> str:
    """Name of a metric for people; in a training step the time of the communication is one among others."""
    if of_step and name == "communication_time":
        return "Communication"
    words = name.replace("_", " ").capitalize().split()
    return _TITLES.get(name) or " ".join(_SPELLED.get(word.casefold(), word) for word in words)


def metric_text(name: str, value: float, unit: str, digits: int = 3) -> str:
    """A value of a metric for people; shares in per cent."""
    if name in _SHARES:
        return f"{value * 100:.{max(1, digits)}g} %"
    text = format_si(value, unit, digits)
    return text.removesuffix(" 1/s") + " /s" if text.endswith(" 1/s") else text


def band_digits(estimate: Estimate) -> int:
    """How many digits the ends of a band are shown with: two, unless rounding would put the value outside."""
    low, high = (float(f"{end:.2g}") for end in (estimate.low, estimate.high))
    return 2 if low <= estimate.value <= high and low < high else 3


def channel_title(label: str) -> str:
    """What a channel is called, with the kind of its link as people write it."""

    def title(match: re.Match[str]) -> str:
        kind = link_kinds().get(match[1])
        return f"({kind.title if kind is not None else match[1]}"

    return _KIND.sub(title, label)


def change_of(name: str, before: float | None, estimate: Estimate, kind: str = "") -> tuple[str, str]:
    """What a metric was before, in words, and whether the change is ``good`` or ``bad``; empty for none."""
    after = estimate.value
    if before is None or is_same(before, after):
        return "", ""
    was = f"was {metric_text(name, before, estimate.unit)}"
    if before:
        share = (after / before - 1) * 100
        was += f", {share:+.0f} %" if abs(share) >= 1 else f", {share:+.1f} %"
    return was.replace("-", "−"), tone_of(name, before, after, kind)


def number(name: str, estimate: Estimate, of_step: bool = False, before: float | None = None, kind: str = "") -> Number:
    """One metric for people."""
    change, tone = change_of(name, before, estimate, kind)
    text = metric_text(name, estimate.value, estimate.unit)
    low, high = (metric_text(name, end, estimate.unit, band_digits(estimate)) for end in (estimate.low, estimate.high))
    band = f"{low} – {high}"
    rests = ", ".join(estimate.sources[:8])
    tip = "\n".join(x for x in (f"80 % band: {band}", estimate.note, f"Rests on: {rests}" if rests else "") if x)
    shown = band if low != high else ""
    return Number(name, metric_title(name, of_step), text, shown, tip, change, tone)


def ordered(result: WorkloadResult) -> list[str]:
    """Names of the metrics, those first that one asks for first."""
    first = _SERVED if result.kind == "inference" else _HEADLINES
    order = {name: at for at, name in enumerate(first)}
    return sorted(result.metrics, key=lambda name: order.get(name, len(order)))


def flow_choices(result: WorkloadResult | None, block: Block) -> Sequence[tuple[str, str]]:
    """Key and text of the single flows of a result, spelled when looked at."""
    if result is None or result.unfit is not None:
        return ()
    listed = result.flows
    return Rows(one=lambda i: _choice(listed[i], block), count=min(len(listed), _LISTED))


def _choice(flow: Flow, block: Block | None) -> tuple[str, str]:
    ends = f"{flow.source} → {flow.target}"
    called = ends if block is None else link_title(block, ends)
    return flow.id, f"{called}   {format_si(flow.rate, flow.unit)}"


def find_flow(result: WorkloadResult | None, flow_id: str) -> Flow | None:
    """The flow called so, among those listed."""
    if result is None:
        return None
    listed = result.flows
    return next((listed[i] for i in range(min(len(listed), _LISTED)) if listed[i].id == flow_id), None)
