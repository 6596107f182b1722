"""Metrics in words and numbers, and the single flows of an answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from designer.catalog.parttype import link_kinds
from designer.design.document import Block
from designer.design.naming import link_title
from designer.engine.results import Flow, Rows, WorkloadResult
from designer.pages.workload import family_of
from designer.present import numbers
from designer.present.answer import figure_text
from designer.present.words import metric_title
from designer.sources import Estimate
from designer.units import format_si

_LISTED = 400
#: the kind of a link at the end of the name of a channel
_KIND: Final = re.compile(r"(?<=[^\s(] )\((\w+)(?= ×\d+\)|\))")


@dataclass(frozen=True, slots=True)
class Number:
    """One metric: title, value, band and what it rests on."""

    name: str
    title: str
    text: str
    band: str
    tip: str


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


def number(name: str, estimate: Estimate, kind: str = "") -> Number:
    """One metric for people."""
    text, band = figure_text(name, estimate.value, estimate.unit), numbers.band(estimate)
    rests = ", ".join(estimate.sources[:8])
    tip = "\n".join(x for x in (f"80% band: {band}" if band else "", estimate.note, f"Rests on: {rests}") if x)
    return Number(name, metric_title(name, kind), text, band, tip)


def ordered(result: WorkloadResult) -> list[str]:
    """Names of the metrics, those first that one asks for first."""
    first = family_of("", result.kind).figures
    if result.kind == "inference":
        # what users of a served model feel comes before what it gives
        first = ("ttft", "tpot", "tokens_per_second", *first)
    order = {name: at for at, name in reversed(list(enumerate(first)))}
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
