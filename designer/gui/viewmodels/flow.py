"""The flow panel in words: the number that counts, what binds, what comes next, and the single flows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from designer.analysis.results import Bottleneck, Flow, Rows, WorkloadResult
from designer.catalog.parttype import link_kinds
from designer.errors import DesignerError
from designer.sources import Estimate
from designer.units import format_si

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
    "tpot": "Per token",
    "scaling_efficiency": "Scaling efficiency",
    "gpu_utilization": "GPU utilisation",
    "memory_per_gpu": "Memory per GPU",
    "mfu": "MFU",
    "migration_time": "Migration",
    "switchover_time": "Switch-over",
    "stun_time": "Stun",
    "transferred": "Transferred",
    "evacuation_time": "Evacuation",
    "tokens_per_second": "Tokens",
    "requests_per_second": "Requests",
    "cold_start_time": "Cold start",
    "checkpoint_time": "Checkpoint",
}
_SHARES: Final = ("scaling_efficiency", "gpu_utilization", "mfu")
_LISTED = 400
_PERCENT: Final = re.compile(r"(?<=\d)%")
#: the kind of a link as it stands at the end of what a channel is called
_KIND: Final = re.compile(r"\((\w+)(?= ×\d+\)$|\)$)")


@dataclass(frozen=True, slots=True)
class Number:
    """One metric: title, value, band and what it rests on."""

    name: str
    title: str
    text: str
    band: str
    tip: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A bottleneck in words, and the ids it is about."""

    head: str
    body: str
    ids: tuple[str, ...]
    gain: float | None = None


@dataclass(frozen=True, slots=True)
class FlowView:
    """All the panel shows."""

    title: str
    numbers: tuple[Number, ...] = ()
    binding: Sentence | None = None
    next: Sentence | None = None
    #: key and text of the single flows, spelled when looked at
    flows: Sequence[tuple[str, str]] = field(default=(), compare=False)
    trouble: str = ""


def metric_title(name: str, of_step: bool = False) -> str:
    """Name of a metric for people; in a training step the time of the communication is one among others."""
    if of_step and name == "communication_time":
        return "Communication"
    return _TITLES.get(name, name.replace("_", " ").capitalize())


def metric_text(name: str, value: float, unit: str, digits: int = 3) -> str:
    """A value of a metric for people; shares in per cent."""
    if name in _SHARES:
        return f"{value * 100:.{max(1, digits)}g} %"
    text = format_si(value, unit, digits)
    return text.removesuffix(" 1/s") + " /s" if text.endswith(" 1/s") else text


def channel_title(label: str) -> str:
    """What a channel is called, with the kind of its link as people write it."""

    def title(match: re.Match[str]) -> str:
        kind = link_kinds().get(match[1])
        return f"({kind.title if kind is not None else match[1]}"

    return _KIND.sub(title, label)


def number(name: str, estimate: Estimate, of_step: bool = False) -> Number:
    """One metric for people."""
    text = metric_text(name, estimate.value, estimate.unit)
    band = f"{metric_text(name, estimate.low, estimate.unit, 2)} – {metric_text(name, estimate.high, estimate.unit, 2)}"
    rests = ", ".join(estimate.sources[:8])
    tip = "\n".join(x for x in (f"80 % band: {band}", estimate.note, f"Rests on: {rests}" if rests else "") if x)
    return Number(name, metric_title(name, of_step), text, band if estimate.low != estimate.high else "", tip)


def flow_view(result: WorkloadResult | None, failure: DesignerError | None = None) -> FlowView:
    """What the panel shows of a result."""
    if failure is not None:
        return FlowView("The workload cannot be run", trouble=str(failure))
    if result is None:
        return FlowView("No workload yet", trouble="Add a workload to see what binds.")
    numbers = tuple(number(n, e, "step_time" in result.metrics) for n, e in result.metrics.items())
    listed = result.flows
    flows = Rows(one=lambda i: _choice(listed[i]), count=min(len(listed), _LISTED))
    return FlowView(result.title, numbers, sentence(result.binding), sentence(result.next), flows)


def _choice(flow: Flow) -> tuple[str, str]:
    return flow.id, f"{flow.source} → {flow.target}   {format_si(flow.rate, flow.unit)}"


def sentence(bottlenecks: tuple[Bottleneck, ...]) -> Sentence | None:
    """A set of bottlenecks in one sentence; ties are told as such."""
    if not bottlenecks:
        return None
    first, n = bottlenecks[0], sum(b.alike for b in bottlenecks)
    name = channel_title(first.label)
    head = name if n == 1 else f"{name} and {n - 1} alike" if n > 2 else f"{name} and one alike"
    gain = first.gain_together if first.gain_together is not None else first.gain_if_doubled
    return Sentence(head, _PERCENT.sub(" %", first.why), tuple(b.id for b in bottlenecks), gain)


def gain_text(gain: float | None, many: bool) -> str:
    """What doubling gains, in words."""
    if gain is None:
        return ""
    if gain < 1.005:
        return "doubling gains nothing"
    return f"doubling {'all of them' if many else 'it'} gains {(gain - 1) * 100:.0f} %"


def find_flow(result: WorkloadResult | None, flow_id: str) -> Flow | None:
    """The flow called so, among those listed."""
    if result is None:
        return None
    listed = result.flows
    return next((listed[i] for i in range(min(len(listed), _LISTED)) if listed[i].id == flow_id), None)
