"""What serving puts on the links in the mean: joining devices, handing keys and values over, fetching them."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from designer.engine.results import ChannelLoads, Flow, Rows
from designer.families.collective.evaluation import flows_of, loads_of
from designer.families.serving.answers import Served
from designer.families.serving.bottlenecks import Phase, placed_phases
from designer.families.serving.formulas.speculation import accepted
from designer.families.serving.placement import Placement

Float = npt.NDArray[np.float64]

#: activations are joined in 16 bit
_HALF_SIZE: Final = 2.0
#: a dense layer is joined after attention and after feed-forward
_JOINS_LIMIT: Final = 2


def traffic(served: Served, rate: float) -> tuple[ChannelLoads, Rows[Flow], int]:
    """Loads at a rate of requests of the whole deployment [1/s], the flows behind them, and how many those are.

    A collective puts the same bytes on its links however quickly it is over, so the mean is what it loads them with
    while it runs, times how long it runs, times how often.
    """
    groups = [one.group for one in _placements(served) if one.group is not None]
    moved = [pull for pull in (served.pull, served.tier) if pull is not None]
    paths = [served.pull.together] if served.pull is not None else []
    paths += [served.tier.path] if served.tier is not None else []
    loads = ChannelLoads.made(lambda: _loads(served, rate))
    if not groups and not moved:
        return loads, Rows(lambda: ()), 0
    count = sum(group.n_legs for group in groups)
    count += sum(len(path.flows) for path in paths)

    def flows() -> tuple[Flow, ...]:
        found: list[Flow] = [flow for path in paths for flow in path.flows]
        for placement, phase in placed_phases(served):
            if placement.group is not None:
                size = max(1.0, _tokens(phase) * placement.shape.hidden * _HALF_SIZE)
                group = placement.peers or placement.group
                found += flows_of(group, group.time("all-reduce", size))
        return tuple(found)

    return loads, Rows(flows), count


def _placements(served: Served) -> list[Placement]:
    return [served.placement, *([served.prompts] if served.prompts is not None else [])]


def _tokens(phase: Phase) -> int:
    return phase.tokens or phase.requests


def _loads(served: Served, rate: float) -> tuple[Float, Float]:
    n = 2 * served.placement.network.net.n_links
    load, busy = np.zeros(n), np.zeros(n)
    for placement, phase in placed_phases(served):
        for each, times in _joined(served, placement, phase, rate):
            load += times * each.load
            busy += times * each.utilization
    for each in _carried(served, rate):
        load += each.load
        busy += each.utilization
    return load, np.minimum(busy, 1.0)


def _joined(served: Served, placement: Placement, phase: Phase, rate: float) -> list[tuple[ChannelLoads, float]]:
    """Loads while each kind of joining runs, and the share of time in which it does [1]."""
    group, split, shape = placement.group, placement.split, placement.shape
    if group is None:
        return []
    requests, tokens = served.sent.requests, _tokens(phase)
    each = float(np.mean(requests.output))
    if phase.tokens:
        each = float(np.mean(requests.prompt)) - (float(np.mean(requests.cached)) if requests.cached else 0.0)
    elif placement.deployment.drafts:
        # drafted tokens are computed as well, those that are kept and those that are not
        drafts = placement.deployment.drafts
        each *= (drafts + 1) / accepted(placement.curve, drafts)
    steps = rate / len(placement.replicas) * each / tokens
    size = tokens / split.data / split.pipeline * shape.hidden * _HALF_SIZE
    together = size * split.data
    kinds: list[tuple[str, float, float]] = []
    if split.tensor > 1:
        kinds.append(("all-reduce", size, shape.layers * (_JOINS_LIMIT if split.data == 1 else 1)))
    if split.data > 1:
        kinds += [(name, together, shape.layers) for name in ("all-gather", "reduce-scatter")]
    if split.pipeline > 1:
        kinds.append(("send-recv", size, split.pipeline))
    found: list[tuple[ChannelLoads, float]] = []
    for name, much, count in kinds:
        one = (placement.peers or group) if name == "all-reduce" else group
        time = one.time(name, max(1.0, much))
        found.append((loads_of(one, time), steps * count * time.time))
    return found


def _carried(served: Served, rate: float) -> list[ChannelLoads]:
    """Keys and values: every device of an engine takes its part of each request that comes to it."""
    replicas = len(served.placement.replicas)
    found: list[ChannelLoads] = []
    if served.pull is not None:
        found.append(served.pull.together.loaded(rate / replicas * served.pull.size))
    if served.tier is not None:
        found.append(served.tier.path.loaded(rate / replicas * served.tier.size))
    return found
