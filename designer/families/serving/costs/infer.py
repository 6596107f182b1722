"""Inference in batches: instances on the devices of a group, which are sent samples and compute batches of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from designer.engine.costs.move import flows_of
from designer.engine.costs.pricing import CostKind, Expansion, Priced, Prices, Settled, alone, on_engines
from designer.engine.network import Network
from designer.engine.transfers import evaluate_transfer
from designer.errors import AnalysisError
from designer.families.serving.batches import SOURCES, Placed, answered_in_batches, place_instances, widths_of
from designer.families.serving.clocked_batches import Batches, Instance
from designer.families.serving.inference import Inference
from designer.families.serving.tasks import Infer
from designer.workload.program.tasks import Move, Task


def price(prices: Prices, task: Infer, place: str) -> Expansion:
    """The instances of a model.

    Raises
    ------
    AnalysisError
        If the model does not fit, or what holds its samples cannot be reached.
    """
    placed = place_instances(prices.network, task.asked, place)
    pace = placed.cut.each / placed.path.rates[0] if placed.path is not None else 0.0
    sends = [_sent(prices, placed, part, place) for part in placed.parts.tolist()]
    instances = [
        Instance(_computes(prices, placed, part, f"{place} {k}"), send, pace)
        for k in range(placed.cut.each)
        for part, send in zip(placed.parts.tolist(), sends, strict=True)
    ]
    held = dict.fromkeys(placed.parts.tolist(), placed.work.weights * placed.cut.each)

    leg = placed.leg

    def make() -> Batches:
        made = Batches(task.asked, instances, placed.timed, placed.typical)
        made.leg = leg.time if leg is not None else None
        return made

    settle = partial(_settle, prices.network, task.asked, place)
    return Expansion(make, tuple(make().tasks), placed.findings, held, settle=settle)


def _settle(
    network: Network, asked: Inference, place: str, explained: bool, cancelled: Callable[[], bool] | None
) -> Settled:
    """Instances that have all to themselves need no clock: the queue of one is their run."""
    found = answered_in_batches(network, asked, place, cancelled=cancelled)
    return Settled(found.metrics, found.binding, found.next, found.findings)


def _computes(prices: Prices, placed: Placed, part: int, name: str) -> Priced:
    """A second of computing on a device, or on the part of it that an instance has."""
    cut, turns = placed.cut, dict[int, float]()
    if cut.turns > 1:
        engine, turns = -1, {prices.table.turns(part): 1.0}
    elif cut.each > 1:
        engine = prices.table.engine([part], name)
    else:
        engines, taken = on_engines(prices, [part], None)
        engine, turns = int(engines[0]), {resource: 1.0 for _, resource in taken}
    _, low, high = widths_of(placed.work)(placed.typical)
    return Priced(alone(1.0, uses=turns, engine=engine, low=low, high=high, group="inference", sources=SOURCES))


def _sent(prices: Prices, placed: Placed, part: int, place: str) -> Task | None:
    """One sample brought to a device; None where nothing is sent."""
    path, asked = placed.path, placed.asked
    if path is None:
        return None
    source = asked.origin or asked.input.source.strip() or ("storage" if asked.input.dataset.strip() else "memory")
    target = prices.network.net.path(part)
    answer = evaluate_transfer(prices.network, Move(source, target, pairing="nearest"), place)
    alive = answer.rate > 0
    if not alive.any():
        raise AnalysisError("samples cannot reach it", place=place, remedy=f"link {source} and {target}")
    share = answer.rate[alive] / float(answer.rate[alive].sum())
    return Priced(flows_of(prices, answer, np.asarray(path.size * share), f"samples:{source}"))


COST = CostKind(Infer, price)
