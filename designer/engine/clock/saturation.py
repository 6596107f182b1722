"""Work that piles up without end: arrivals faster than what they need can be done."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from designer.engine.clock.jobs import Job
from designer.engine.costs import Expansion, Prices
from designer.findings import Finding, Severity


def saturations(prices: Prices, jobs: Sequence[Job]) -> list[Finding]:
    """Arrivals faster than what they need can be done, with the rate at which that begins."""
    found: list[Finding] = []
    table = prices.table
    for job in jobs:
        program = job.program
        if program is None or program.arrivals is None or program.arrivals.shape == "trace":
            continue
        need = np.zeros(len(table.capacity))
        for step in program.steps:
            unit, times = prices.unit(step.task)
            price = prices.price(unit, job.place)
            if isinstance(price, Expansion) or not np.isfinite(price.amount).all():
                continue
            amount = price.amount * times * program.batch / step.every
            np.add.at(need, price.resource, np.repeat(amount, np.diff(price.ptr)) * price.usage)
            held = price.engine >= 0
            np.add.at(need, price.engine[held], amount[held] / price.cap[held])
        room = table.capacity.all
        room[list(table.slots)] = list(table.slots.values())
        used = need > 0
        if not used.any():
            continue
        rates = room[used] / need[used]
        worst = int(np.flatnonzero(used)[int(np.argmin(rates))])
        most = float(rates.min())
        if program.arrivals.rate > most:
            text = (
                f"{program.arrivals.rate:.4g} items of {job.name} a second arrive, {table.id(worst)} does {most:.4g}, "
                "so they pile up without end"
            )
            remedy = f"let fewer than {most:.4g} a second arrive, or widen it"
            found.append(Finding("CLOCK-SATURATED", Severity.ERROR, text, (table.id(worst),), remedy))
    return found
