"""Keys and values kept beyond the GPU: how much more is found there, and how long it takes over the drawn links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from designer.engine.accelerators import number
from designer.engine.network import Network
from designer.engine.routes.selection import resolve
from designer.engine.transfers import TransferAnswer, evaluate_transfer
from designer.errors import AnalysisError, raised_as
from designer.families.serving.deployment import Load, Serving
from designer.families.serving.engine_state import Requests
from designer.families.serving.formulas.layers import prefill_area
from designer.families.serving.formulas.memory import reused
from designer.families.serving.load import Sent, offered, sent_to, sent_to_one
from designer.families.serving.placement import Placement
from designer.families.serving.traces import reuse_curve
from designer.findings import Finding, Severity
from designer.units import format_quantity
from designer.workload.program.tasks import Move

#: fetching that wants more than this of its path is cut down to it: the rest is computed again
_FULL_TOLERANCE: Final = 0.9


@dataclass(frozen=True, slots=True, eq=False)
class Tier:
    """What lies beyond the GPU.

    Parameters
    ----------
    tokens
        Whose keys and values it has room for, all replicas together.
    near, all
        Share of prompt tokens found on the GPU, and with the tier [1].
    kept
        Of what is found in the tier alone, the share that its path can bring [1].
    path
        What the links bring to every device while all fetch.
    use
        Share of that path in use [1].
    size
        Bytes that each device fetches of a mean request [B].
    fetch
        Mean time of fetching what is found there [s].
    """

    tokens: float
    near: float
    all: float
    kept: float
    path: TransferAnswer
    use: float
    size: float
    fetch: float


def sent_from(load: Load, placement: Placement, which: int, tier: Tier | None) -> Sent:
    """The requests of one replica; with a tier, how much of each is found, and how much of that is fetched."""
    count, place, room = len(placement.replicas), placement.place, placement.capacity
    if tier is None:
        return sent_to(load, count, which, place, room)
    if load.kind != "trace":
        sent = sent_to(load, count, which, place)
        far = 1 - tier.near / tier.all if tier.all > 0 else 0.0
        fetched = [int(c * far) for c in sent.requests.cached]
        return replace(sent, requests=replace(sent.requests, fetched=fetched))
    near = sent_to(load, count, which, place, room).requests
    sent = sent_to(load, count, which, place, room + int(tier.tokens / count))
    return _brought(sent, near, tier.kept)


def _brought(sent: Sent, near: Requests, kept: float) -> Sent:
    """What is found on the GPU, and of the rest the share that can be fetched."""
    requests = sent.requests
    if not requests.cached:
        return sent
    at_hand = list(near.cached) or [0] * len(requests.cached)
    fetched = [int(kept * max(0, c - n)) for c, n in zip(requests.cached, at_hand, strict=True)]
    cached = [n + f for n, f in zip(at_hand, fetched, strict=True)]
    return replace(sent, requests=replace(requests, cached=cached, fetched=fetched))


def stored(placement: Placement, asked: Serving) -> tuple[Placement, Sent, Tier | None, tuple[Finding, ...]]:
    """The load with what is found in the caches, and the deployment that fetches some of it.

    Raises
    ------
    AnalysisError
        If the tier holds nothing, or no way leads to it.
    """
    load, replicas = asked.load, len(placement.replicas)
    room = placement.capacity * replicas
    tier = _tokens(placement, asked) if asked.tiers.strip() else 0.0
    if load.kind == "trace" or not load.reuse.strip():
        near = sent_to_one(load, replicas, placement.place, placement.capacity)
        if not tier or load.kind != "trace":
            return placement, near, None, _useless(tier)
        sent = sent_to_one(load, replicas, placement.place, placement.capacity + int(tier / replicas))
        sent = _brought(sent, near.requests, 1.0)
        shares = _share(near), _share(sent)
    else:
        with raised_as(AnalysisError, f"{placement.place}.reuse"):
            curve = reuse_curve(load.reuse)
        shares = reused(curve, room), reused(curve, room + tier)
        sent = sent_to_one(replace(load, prefix=shares[1]), replicas, placement.place)
        beyond = [int(p * (shares[1] - shares[0])) for p in sent.requests.prompt]
        sent = replace(sent, requests=replace(sent.requests, fetched=beyond))
    if not tier:
        return placement, sent, None, ()
    return _with_fetching(placement, asked, sent, tier, shares)


def with_reuse(load: Load, room: float, place: str) -> Load:
    """A load with the share of its prompts that caches of `room` tokens hold, where a curve states that.

    Raises
    ------
    AnalysisError
        If the curve cannot be read.
    """
    if load.kind == "trace" or not load.reuse.strip():
        return load
    with raised_as(AnalysisError, f"{place}.reuse"):
        curve = reuse_curve(load.reuse)
    return replace(load, prefix=reused(curve, room), reuse="")


def _useless(tier: float) -> tuple[Finding, ...]:
    if not tier:
        return ()
    text = "how much more is found with more room is not said: keys and values beyond the GPU change nothing"
    return (Finding("SERVE-TIER", Severity.WARNING, text, (), "give a reuse curve, or a trace with prefixes"),)


def _share(sent: Sent) -> float:
    requests = sent.requests
    return sum(requests.cached) / sum(requests.prompt) if requests.cached else 0.0


def _tokens(placement: Placement, asked: Serving) -> float:
    """Tokens that fit in the tier [1]."""
    network, place = placement.network, f"{placement.place}.tiers"
    parts = resolve(network, asked.tiers, place)
    size = sum(_room(network, int(p)) for p in parts) * asked.tier_share
    each = placement.steps.kv.token * placement.split.tensor / placement.split.data
    if size <= 0 or each <= 0:
        raise AnalysisError(
            f"{asked.tiers!r} holds nothing", place=place, remedy="name memory, drives or storage with a capacity"
        )
    return size / each


def _room(network: Network, part: int) -> float:
    return number(network, part, "memory_capacity") or number(network, part, "capacity") or 0.0


def _with_fetching(
    placement: Placement, asked: Serving, sent: Sent, tier: float, shares: tuple[float, float]
) -> tuple[Placement, Sent, Tier, tuple[Finding, ...]]:
    network, requests = placement.network, sent.requests
    path, alone = (
        evaluate_transfer(network, fetching(placement, asked.tiers, which), placement.place)
        for which in (range(len(placement.replicas)), range(1))
    )
    rate, quickest = float(path.rate.min()), float(alone.rate.min())
    beyond = float(np.mean(requests.fetched)) if requests.fetched else 0.0
    moved = beyond * placement.steps.kv.token
    pace = offered(asked.load, requests, len(placement.replicas))
    use = pace * moved / rate
    stated: list[Finding] = []
    kept = 1.0
    if use > _FULL_TOLERANCE:
        kept = _FULL_TOLERANCE / use
        text = (
            f"the way from {asked.tiers} gives {format_quantity(rate, 'rate')} to a device, "
            f"{format_quantity(pace * moved, 'rate')} would be fetched: the rest is computed again"
        )
        stated.append(Finding("SERVE-TIER", Severity.WARNING, text, (), "widen that way, or keep less there"))
        near = [c - f for c, f in zip(requests.cached, requests.fetched, strict=True)]
        sent = _brought(sent, replace(requests, cached=near), kept)
        shares = shares[0], shares[0] + kept * (shares[1] - shares[0])
    use = min(use, _FULL_TOLERANCE)
    size = kept * moved
    # one engine fetches as quickly as its own way lets it, but for what others take of that meanwhile
    fetch = size / quickest / (1 - use)
    tokens = max(1, round(beyond * kept))
    steps = placement.steps
    computed = steps.step(tokens, prefill_area(tokens, 0.0), 0, 0, 0.0) if beyond > 0 else 0.0
    if fetch > computed > 0:
        slow, quick = format_quantity(fetch, "duration"), format_quantity(computed, "duration")
        text = f"fetching takes {slow}, computing the same again {quick}: that tier only spares the GPU work"
        stated.append(Finding("SERVE-TIER", Severity.WARNING, text, (), "use a quicker tier"))
    tiered = Tier(tier, shares[0], shares[1], kept, path, use, size, fetch)
    return replace(placement, fetch=fetch), sent, tiered, tuple(stated)


def fetching(placement: Placement, tiers: str, which: Sequence[int]) -> Move:
    """From a tier to every device of some replicas."""
    path, parts = placement.network.net.path, placement.replicas[list(which)]
    return Move(tiers, ",".join(path(int(p)) for p in np.unique(parts).tolist()), pairing="nearest")
