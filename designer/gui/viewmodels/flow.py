"""The flow panel in words: the number that counts, what binds, what comes next, and the single flows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from designer.analysis.results import Bottleneck, Flow, Rows, WorkloadResult
from designer.catalog.parttype import link_kinds
from designer.design.document import Block
from designer.design.naming import link_title
from designer.errors import DesignerError
from designer.findings import Severity
from designer.gui.viewmodels.answer_state import AnswerState, state_of
from designer.gui.viewmodels.words import sentence_case
from designer.sources import Estimate
from designer.units import format_si
from designer.workload.metrics import is_same, tone_of

if TYPE_CHECKING:
    from designer.decisions.fitting import FittingSettings

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


@dataclass(frozen=True, slots=True)
class Sentence:
    """A bottleneck in words, and the ids it is about."""

    head: str
    body: str
    ids: tuple[str, ...]
    gain: float | None = None
    #: how many parts or links it is about; one of them may stand for all
    count: int = 1


@dataclass(frozen=True, slots=True)
class Fix:
    """A change of the workload that makes it run: what changes, and the figures with it."""

    title: str
    detail: str


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
    #: what is wrong with the answer, before any of its numbers is read
    warning: str = ""
    #: what binds as well, in another way: of a served model prompts by one thing and answers by another
    also: tuple[Sentence, ...] = ()
    state: AnswerState = AnswerState.ANSWERED
    #: head and text of the banner in front of everything else; no banner without a head
    banner: tuple[str, str] = ("", "")
    #: what would make the workload run
    fixes: tuple[Fix, ...] = ()
    #: True while such settings are searched
    searching: bool = False


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


def flow_view(
    result: WorkloadResult | None,
    failure: DesignerError | None = None,
    baseline: Mapping[str, float] | None = None,
    block: Block | None = None,
    *,
    state: AnswerState | None = None,
    title: str = "",
    doing: str = "",
    fitting: Sequence[FittingSettings] | None = (),
) -> FlowView:
    """What the panel shows of a result: what the workload is for first, each number beside that of the baseline.

    Parameters
    ----------
    block
        Parts and links are called as they are in it; without one by their paths.
    state
        State of the answer, where the caller knows it.
    title
        Title of the workload, while there is no result that has one.
    doing
        What the running analysis does.
    fitting
        Settings with which the workload fits; None while they are searched.
    """
    if state is None:
        state = state_of(result is not None or failure is not None, False, False, result, failure)
    if state is AnswerState.NONE:
        return FlowView("No workload yet", trouble="Add a workload to see what limits this design.", state=state)
    if state is AnswerState.COMPUTING:
        return FlowView(title or "Computing", trouble=doing or "Computing…", state=state)
    if state is AnswerState.REFUSED and failure is not None:
        fixes = tuple(_fix(one) for one in fitting or ())
        searching = fitting is None
        banner = ("No answer", f"{sentence_case(str(failure))}.")
        return FlowView(
            title or "The workload cannot run", state=state, banner=banner, fixes=fixes, searching=searching
        )
    if result is None:
        banner = ("Not computed", "No answer for this design yet.")
        return FlowView(title, state=AnswerState.STALE, banner=banner)
    names = ordered(result)
    known = baseline or {}
    of_step = "step_time" in result.metrics
    numbers = tuple(number(n, result.metrics[n], of_step, known.get(n), result.kind) for n in names)
    if state is AnswerState.UNFIT:
        fixes = tuple(_fix(one) for one in fitting or ())
        return FlowView(
            result.title,
            tuple(replace(one, change="", tone="") for one in numbers),
            state=state,
            banner=_unfit_banner(result),
            fixes=fixes,
            searching=fitting is None,
        )
    listed = result.flows
    flows = Rows(one=lambda i: _choice(listed[i], block), count=min(len(listed), _LISTED))
    apart = [sentence(group, block) for group in _apart(result)]
    binding, after = apart[0] if apart else None, sentence(result.next, block)
    also = tuple(one for one in apart[1:] if one is not None)
    banner = ("", "")
    if state is AnswerState.STALE:
        banner = ("Out of date", "The design changed since this answer.")
    return FlowView(
        headline(result),
        numbers,
        binding,
        after,
        flows,
        warning=_warning(result),
        also=also,
        state=state,
        banner=banner,
    )


def _unfit_banner(result: WorkloadResult) -> tuple[str, str]:
    finding, needed = result.unfit, result.metrics.get("memory_per_gpu")
    text = f"{sentence_case(finding.text)}." if finding is not None else ""
    if needed is None:
        return "Does not fit in memory", text
    has = needed.note.removeprefix("of ")
    return f"Does not fit: {metric_text('memory_per_gpu', needed.value, needed.unit)} on GPUs of {has}", text


def _fix(fitting: FittingSettings) -> Fix:
    """A change that makes a workload run, with its memory and the figure the workload is about."""
    metrics, words = fitting.result.metrics, list[str]()
    if "memory_per_gpu" in metrics:
        words.append(f"{metric_text('memory_per_gpu', metrics['memory_per_gpu'].value, 'B')} per GPU")
    first = next((name for name in ordered(fitting.result) if name != "memory_per_gpu"), None)
    if first is not None:
        shown = number(first, metrics[first])
        words.append(f"{shown.title} {shown.text}" + (f" ({shown.band})" if shown.band else ""))
    return Fix(fitting.title, " · ".join(words))


def ordered(result: WorkloadResult) -> list[str]:
    """Names of the metrics, those first that one asks for first."""
    first = _SERVED if result.kind == "inference" else _HEADLINES
    order = {name: at for at, name in enumerate(first)}
    return sorted(result.metrics, key=lambda name: order.get(name, len(order)))


def _apart(result: WorkloadResult) -> list[tuple[Bottleneck, ...]]:
    """What binds a served model, each kind of part or limit by itself; of others all of it together."""
    if result.kind != "inference":
        return [result.binding] if result.binding else []
    found: dict[str, tuple[Bottleneck, ...]] = {}
    for one in result.binding:
        key = one.label if one.what in ("part", "limit") else one.what
        found[key] = (*found.get(key, ()), one)
    return list(found.values())


def _warning(result: WorkloadResult) -> str:
    """Of a served model the error that says why a latency is missing, or too long."""
    if result.kind != "inference":
        return ""
    errors = (f for f in result.findings if f.severity is Severity.ERROR)
    return next((f"{sentence_case(f.text)}." for f in errors), "")


def headline(result: WorkloadResult) -> str:
    """What a workload is called; of a move also that it leaves machines behind, for then it has not done its work."""
    staying = result.metrics.get("machines_staying")
    if staying is None or not staying.value:
        return result.title
    count = round(staying.value)
    return f"{result.title}: {count} machine{'s stay' if count > 1 else ' stays'} behind"


def _choice(flow: Flow, block: Block | None) -> tuple[str, str]:
    ends = f"{flow.source} → {flow.target}"
    called = ends if block is None else link_title(block, ends)
    return flow.id, f"{called}   {format_si(flow.rate, flow.unit)}"


def sentence(bottlenecks: tuple[Bottleneck, ...], block: Block | None = None) -> Sentence | None:
    """A set of bottlenecks in one sentence, called as they are in `block`; ties are named as such."""
    if not bottlenecks:
        return None
    first, n = bottlenecks[0], sum(b.alike for b in bottlenecks)
    name, why = channel_title(first.label if block is None else link_title(block, first.label)), first.why
    if block is not None and (link := _LINK.fullmatch(name)) is not None:
        # what people look for is where it is: of what kind it is stands below
        name, why = link[1], f"{link[2]}, {why}"
    head = name if n == 1 else f"{name} and {n - 1} alike" if n > 2 else f"{name} and one alike"
    return Sentence(head, _PERCENT.sub(" %", why), tuple(b.id for b in bottlenecks), first.gain, n)


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
