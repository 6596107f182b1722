"""How many requests a run looks at, so that its engines are as full as they get before the first that counts."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from designer.families.serving.closed_form import closed_form
from designer.families.serving.deployment import Load
from designer.families.serving.engine_state import Requests
from designer.families.serving.load import FILLING_LIMIT, offered
from designer.families.serving.placement import Placement
from designer.sources import Constant, Status

#: answers take longer the fuller an engine is, and lengths differ: it is full after the mean answer and half of that
LIVES: Final = Constant(1.5, 1.2, 2.0, "assumed-serving", Status.ASSUMED, "1", "answers that fill an engine")
#: more requests than this are not looked at for the sake of a steady window
_MOST_LIMIT: Final = 100_000


def filled(load: Load, placement: Placement, requests: Requests, replicas: int, looked: int = 1) -> Load:
    """A rate of requests of which the first tenth fills the engines: with long answers there are more of them.

    Parameters
    ----------
    requests
        Some of the load, for the lengths of the mean one.
    replicas, looked
        That share the load, and those of them whose requests are looked at.
    """
    if load.kind != "rate" or load.profile:
        return load
    together = at_once(load, placement, requests, replicas) * looked
    count = math.ceil(min(_MOST_LIMIT, FILLING_LIMIT * LIVES.value * together))
    return replace(load, count=count) if count > load.count else load


def at_once(load: Load, placement: Placement, requests: Requests, replicas: int) -> float:
    """Requests of a load that are at one of so many replicas at once in the mean, at most those it has room for."""
    rate = offered(load, requests, replicas)
    prompt = sum(requests.prompt) / len(requests.prompt)
    output = sum(requests.output) / len(requests.output)
    ttft, tpot = closed_form(placement, rate, prompt, output)
    # requests at once by Little's law, never more than there is room for
    room = min(placement.scheduling.slots, placement.capacity / (prompt + output / 2))
    return min(rate * (ttft + tpot * output), room)
