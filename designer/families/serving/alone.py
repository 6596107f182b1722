"""A served model with the devices to itself: its metrics, and what holds prompts and decoding back."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from designer.engine.network import Network
from designer.engine.results import Bottleneck, Step
from designer.engine.routes.selection import resolve
from designer.families.serving.advice import alone, drafting, more, remedy
from designer.families.serving.answers import SOURCES, Served, serve
from designer.families.serving.benchmarks import counted
from designer.families.serving.bottlenecks import bottlenecks
from designer.families.serving.deployment import Limits, Serving
from designer.families.serving.frontier import Frontier, frontier
from designer.families.serving.metrics import metrics
from designer.families.serving.network_leg import Leg, network_leg
from designer.families.serving.placement import place_deployment
from designer.families.serving.scaling import follows_load, scaled
from designer.families.serving.sharing import sharing
from designer.families.serving.split import serve_split
from designer.families.serving.starting import engine_start, start_engines, update_engines
from designer.families.serving.unused import unused
from designer.findings import Finding, Severity
from designer.sources import Constant, Estimate, Status
from designer.units import format_quantity

#: fixed part and descriptors of a hand-over were measured on one set-up [logarithm of the factor either way]
HAND_OVER_SPREAD: Final = Constant(0.35, 0.25, 0.6, "assumed-serving", Status.ASSUMED, "1")


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """The answer to a served model.

    Parameters
    ----------
    front
        Latency against load; None where it was not asked for, or where nothing is answered.
    steps
        Where the time of typical steps of prompts and of decoding goes.
    leg
        The round trip to the clients; None where none are named.
    """

    served: Served
    metrics: Mapping[str, Estimate]
    binding: tuple[Bottleneck, ...]
    next: tuple[Bottleneck, ...]
    findings: tuple[Finding, ...]
    front: Frontier | None
    steps: tuple[Step, ...]
    leg: Leg | None = None


def answered(
    network: Network,
    asked: Serving,
    place: str,
    *,
    explained: bool = True,
    banded: bool = True,
    cancelled: Callable[[], bool] | None = None,
) -> Answered:
    """Requests of a load run through the engines of a deployment.

    Parameters
    ----------
    explained
        False to leave out the frontier.
    banded
        False to leave out the runs at the ends of bands, and the frontier.

    Raises
    ------
    AnalysisError
        If the model does not fit the drawing, or a load cannot be read.
    """
    stated: tuple[Finding, ...] = ()
    limits, leg = asked.limits, leg_of(network, asked, place)
    if leg is not None:
        asked = replace(asked, limits=leg.within(limits))
    if asked.deployment.prompts:
        served = serve_split(network, asked, place, cancelled, banded=banded)
    else:
        placement = place_deployment(network, asked.deployment, place)
        if asked.beside:
            placement, stated = sharing(network, placement, asked, place)
        served = serve(placement, asked, cancelled, banded=banded)
    placement = served.placement
    engines = [placement, *([served.prompts] if served.prompts is not None else [])]
    start = start_engines(engines, asked.storage, asked.readers, place, peers=asked.peers) if asked.storage else None
    paid: Mapping[str, Estimate] = {}
    if follows_load(asked) and served.runs:
        began = start.time.value if start is not None else engine_start(asked.deployment)
        served, paid, why = scaled(served, began, cancelled)
        stated = (*stated, *why)
    found = {**metrics(served), **paid}
    if placement.guest is not None:
        found |= placement.guest.metrics()
    binding, after, steps = bottlenecks(served)
    front = frontier(served, cancelled) if served.runs and explained and banded and not paid else None
    if front is not None:
        low, high = front.around
        wide = math.exp(served.spread)
        found["knee_requests_per_second"] = Estimate(
            front.knee, low / wide, high * wide, "1/s", SOURCES, "where requests a second over mean answer time is most"
        )
    if served.pull is not None:
        time = served.pull.time
        wide = math.exp(HAND_OVER_SPREAD.value)
        found["hand_over_time"] = Estimate(time, time / wide, time * wide, "s", ("vllm-nixl",))
    if start is not None:
        found["cold_start_time"] = start.time
        if asked.update:
            most = found["most_requests_per_second"].value
            time, left = update_engines(engines, asked, most, place)
            found["rolling_update_time"], found["requests_while_updating"] = time, left
        after, stated = (*after, *start.bottlenecks), (*stated, *start.findings)
    if leg is not None:
        found = leg.added_to(found)
    running = found["requests_running"].value if "requests_running" in found else 1.0
    findings = (
        *placement.findings,
        *served.findings,
        *stated,
        *unused(asked),
        *counted(asked.load),
        *drafting(served, running),
        *_kept(served, found, limits),
        *more(served, binding),
    )
    return Answered(served, found, binding, after, findings, front, steps, leg)


def leg_of(network: Network, asked: Serving, place: str) -> Leg | None:
    """The round trip to the clients of a served model; None where none are named.

    Raises
    ------
    AnalysisError
        If they cannot reach its devices.
    """
    if not asked.origin.strip():
        return None
    parts = resolve(network, asked.deployment.prompts or asked.deployment.group, f"{place}.group")
    return network_leg(network, asked.origin, parts, asked.request, asked.reply, place)


def _kept(served: Served, found: Mapping[str, Estimate], limits: Limits) -> list[Finding]:
    """Limits that do not hold, and whether more replicas would help."""
    share = limits.percentile
    asked = (
        ("ttft", 0, f"ttft_{share}", limits.ttft, f"{share} of the first token is"),
        ("latency", 2, f"latency_{share}", limits.latency, f"{share} of the whole answer is"),
        ("tpot", 1, "tpot", limits.tpot, "a token takes"),
    )
    stated: list[Finding] = []
    for what, which, name, limit, words in asked:
        value = found.get(name)
        if limit and value is not None and value.value > limit:
            text = (
                f"{words} {format_quantity(value.value, 'duration')}, above the "
                f"{format_quantity(limit, 'duration')} asked for"
            )
            how = remedy(what, limit, alone(served)[which])
            stated.append(Finding("SERVE-LIMIT", Severity.ERROR, text, (), how))
    return stated
