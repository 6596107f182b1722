"""Access latencies that parts state: capture of sensors, networks to clients that are not drawn."""

from __future__ import annotations

from dataclasses import replace

from designer.engine.account.expression import Term
from designer.engine.costs.pricing import Cost, CostKind, Prices, alone
from designer.engine.network.capacities import band_of
from designer.engine.results import Bottleneck
from designer.engine.routes.selection import resolve
from designer.families.control.tasks import Access


def price(prices: Prices, task: Access, place: str) -> Cost:
    """The longest of all parts; no time where none states one.

    Raises
    ------
    AnalysisError
        If the selector names no part.
    """
    network = prices.network
    parts = resolve(network, task.where, place).tolist()
    bands = [band_of(network.design, network.net.part(part), "access_latency") or (0.0, 0.0, 0.0) for part in parts]
    seconds, low, high = (max(each) for each in zip(*bands, strict=True))
    if not seconds:
        return alone(0.0)
    part = parts[max(range(len(parts)), key=lambda k: bands[k][0])]
    name = f"access:{task.where}"
    quantity = network.design.quantity(network.net.part(part), "access_latency")
    sources = (quantity.source,) if quantity is not None else ()
    held = Bottleneck("part", network.net.path(part), f"{network.net.part(part).label} ({task.what})", "")
    found = alone(seconds, low=low / seconds, high=high / seconds, group=name, sources=sources)
    return replace(found, time=Term(held, seconds, name))


COST = CostKind(Access, price)
