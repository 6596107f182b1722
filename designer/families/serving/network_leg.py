"""The network between clients and a served model: what a round trip adds to latencies, and what requests load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.engine.network import Network
from designer.engine.network.capacities import band_of
from designer.engine.results import ChannelLoads
from designer.engine.routes.selection import resolve
from designer.engine.transfers import TransferAnswer, evaluate_transfer, refuse_lost
from designer.families.serving.deployment import Limits
from designer.families.serving.request_log import seen_later
from designer.sources import Estimate
from designer.workload.program.tasks import Move

Int = npt.NDArray[np.int64]

#: a limit of 0 would be none [s]
_LEAST_LIMIT: Final = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Leg:
    """A round trip between clients and devices.

    Parameters
    ----------
    time
        From sending a request until its answer is there, the time of the model aside; of the farthest client [s].
    request, reply
        Sizes of the messages [B].
    """

    time: Estimate
    there: TransferAnswer
    back: TransferAnswer
    request: float
    reply: float

    def added_to(self, metrics: Mapping[str, Estimate]) -> dict[str, Estimate]:
        """Return metrics as clients see them, with the round trip itself as ``network_time``."""
        seen = {
            name: replace(
                one,
                value=one.value + self.time.value,
                low=one.low + self.time.low,
                high=one.high + self.time.high,
                sources=tuple(sorted({*one.sources, *self.time.sources})),
            )
            for name, one in metrics.items()
            if seen_later(name)
        }
        return {**metrics, **seen, "network_time": self.time}

    def brings(self, size: float) -> tuple[float, float, float]:
        """Return the time of so much from the slowest client while all send, latencies aside: value, low, high [s]."""
        value, low, high = (size / float(row.min()) for row in (self.there.rate, self.there.high, self.there.low))
        return value, low, high

    def within(self, limits: Limits) -> Limits:
        """Return the limits of the engine for limits at the client; one that the network uses up is next to 0."""

        def left(limit: float) -> float:
            return max(_LEAST_LIMIT, limit - self.time.value) if limit else 0.0

        return replace(limits, ttft=left(limits.ttft), latency=left(limits.latency))

    def loads(self, network: Network, rate: float) -> ChannelLoads:
        """Return what requests and replies put on channels at a rate of requests [1/s]."""

        def made() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
            n = 2 * network.net.n_links
            load, busy = np.zeros(n), np.zeros(n)
            for answer, size in ((self.there, self.request), (self.back, self.reply)):
                each = answer.loaded(rate * size / answer.traffic.n_flows)
                load += each.load
                busy += each.utilization
            return load, np.minimum(busy, 1.0)

        return ChannelLoads.made(made)


def network_leg(network: Network, origin: str, parts: Int, request: float, reply: float, place: str) -> Leg | None:
    """The round trip from clients to the first of some devices; None where no clients are named.

    A sensor captures once and gets no answer: its leg ends at the device.

    Parameters
    ----------
    origin
        Selector of the clients.
    request, reply
        Sizes of the messages [B].

    Raises
    ------
    AnalysisError
        If the selector names no part, or a client cannot reach the device.
    """
    if not origin.strip():
        return None
    clients = resolve(network, origin, f"{place}.origin")
    device = network.net.path(int(parts[0]))
    path = ",".join(network.net.path(part) for part in clients.tolist())
    there = evaluate_transfer(network, Move(path, device, pairing="all"), place)
    back = evaluate_transfer(network, Move(device, path, pairing="all"), place)
    answered = ~np.isin(clients, network.parts_of_kind("sensor"))
    reply = reply if answered.any() else 0.0
    ends = np.zeros((len(("value", "low", "high")), len(clients)))
    for answer, size, what, ways in ((there, request, "requests", 1.0), (back, reply, "answers", answered)):
        refuse_lost(network, answer, what, place)
        rates = np.stack([answer.rate, answer.high, answer.low])
        late = np.stack([answer.each(row) for row in answer.rates.latency])
        ends += ways * (late + size / rates)
    stated = [band_of(network.design, network.net.part(part), "access_latency") for part in clients.tolist()]
    away = np.array([one or (0.0, 0.0, 0.0) for one in stated]).T
    ends += (1 + answered) * away
    farthest = int(np.argmax(ends[0]))
    quantity = network.design.quantity(network.net.part(int(clients[farthest])), "access_latency")
    sources = {*there.sources, *back.sources, *([quantity.source] if quantity is not None else [])}
    value, low, high = ends[:, farthest].tolist()
    time = Estimate(value, low, high, "s", tuple(sorted(sources)), f"from {network.net.path(int(clients[farthest]))}")
    return Leg(time, there, back, request, reply)


def together(one: ChannelLoads, other: ChannelLoads) -> ChannelLoads:
    """Return the sum of two loads; no channel is busy for more than all of the time."""
    return ChannelLoads.made(
        lambda: (one.load + other.load, np.minimum(one.utilization + other.utilization, 1.0)),
    )
