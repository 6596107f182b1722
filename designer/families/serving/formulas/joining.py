"""What joins the devices of a replica: collectives of every layer over the links between them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from designer.families.serving.formulas.experts import INSIDE_SHARE, NETWORK_SHARE, START
from designer.families.serving.formulas.small_all_reduce import EAGER, small_all_reduce
from designer.families.serving.formulas.step_time import Joining, Joins, Sending, Split, no_joining, no_sending
from designer.formulas.collectives import CollectiveKind, CollectiveSituation
from designer.formulas.collectives.collective_time import collective_time
from designer.formulas.formula import Formula
from designer.units import Bytes, BytesPerSecond, Seconds

#: ranks that the small all-reduce of engines was measured with at most
RANKS_LIMIT: Final = 8
#: collectives of each join, by the situation they run in: of those that share heads, and of all
REDUCES, EXCHANGES, HOPS = (
    (0, ("all-reduce",)),
    (1, ("all-gather", "reduce-scatter")),
    (1, ("send-recv",)),
)


def joins_over(situations: Sequence[CollectiveSituation], split: Split, graph: bool) -> Joins:
    """Times of joining over the drawn links.

    Parameters
    ----------
    situations
        Of the devices that share heads, of all of a replica, and of all where each sends to every other; none for one
        device.
    graph
        False where every kernel is launched by itself.
    """
    if not situations:
        return Joins()
    near = near_enough(situations[0], split)

    def one(join: tuple[int, tuple[str, ...]]) -> Joining:
        which, kinds = join
        asked = [
            replace(situations[which], kind=CollectiveKind(kind), in_network_reduction=False)
            for kind in (kinds if which < len(situations) else ())
        ]

        def time(size: Bytes) -> Seconds:
            return Seconds(sum(collective_time(replace(s, message=size)).time for s in asked))

        return time

    plain = one(REDUCES)

    def reduce(size: Bytes) -> Seconds:
        joined = plain(size)
        if near:
            joined = min(joined, small_all_reduce(split.tensor, size, BytesPerSecond(situations[0].intra_bandwidth)))
        # outside a graph either kernel is launched by itself
        return joined if graph else Seconds(joined + EAGER.value)

    sending = situations[-1]

    def dispatch(inside: Bytes, between: Bytes) -> Seconds:
        near_rate, far_rate = sending_rates(sending)
        return Seconds(START.value + max(inside / near_rate, between / far_rate))

    return gridded_joins(split, reduce, one(EXCHANGES), one(HOPS), dispatch, sending.servers)


def sending_rates(situation: CollectiveSituation) -> tuple[float, float]:
    """What a device sends to its peers in the server, and over the network, while all send to all [B/s]."""
    inside = situation.direct_bandwidth or situation.intra_bandwidth or math.inf
    if situation.servers < 2:
        return INSIDE_SHARE.value * inside, math.inf
    between = NETWORK_SHARE.value * situation.inter_bandwidth
    if situation.host_bandwidth:
        between = min(between, situation.host_bandwidth)
    return INSIDE_SHARE.value * inside, between / situation.ranks_per_server


def near_enough(situation: CollectiveSituation, split: Split) -> bool:
    """Whether an engine's own all-reduce for small messages serves the devices that share heads."""
    return situation.servers == 1 and situation.intra_path.is_nvlink and split.tensor <= RANKS_LIMIT


def gridded_joins(
    split: Split,
    reduce: Joining,
    exchange: Joining,
    hop: Joining,
    dispatch: Sending,
    servers: int,
    between: Callable[[Any, Any, float], Any] = lambda low, high, share: low + (high - low) * share,
) -> Joins:
    """Joins that a split has; collectives are worked out for powers of two and evenly between them."""
    return Joins(
        _on_grid(reduce, between) if split.tensor > 1 else no_joining,
        _on_grid(exchange, between) if split.data > 1 else no_joining,
        _on_grid(hop, between) if split.pipeline > 1 else no_joining,
        dispatch if split.sends_tokens else no_sending,
        servers,
    )


def _on_grid(exact: Joining, between: Callable[[Any, Any, float], Any]) -> Joining:
    known: dict[int, Any] = {}

    def at(power: int) -> Any:
        found = known.get(power)
        if found is None:
            found = known[power] = exact(Bytes(2.0**power))
        return found

    def time(size: Bytes) -> Any:
        if size <= 1:
            return at(0)
        power = math.frexp(size)[1] - 1
        return between(at(power), at(power + 1), size / 2.0**power - 1)

    return time


FORMULA: Final = Formula(
    "joining",
    "Joining the devices of a replica",
    joins_over,
    ("aic-kernels", "nccl-tuning", "deepep-v1"),
    "collectives of the library, dispatch and combine of experts, an engine's all-reduce of 2 to 8 ranks",
)
