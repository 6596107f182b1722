"""What a day of a served model costs at prices of the reader, and what is answered for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from designer.families.serving.deployment import Serving
from designer.sources import Constant, Estimate, Status

_HOURS: Final = Constant(24.0, 24.0, 24.0, "counted-serving", Status.PRIMARY, "1", "of a day")
_DAY: Final = Constant(86400.0, 86400.0, 86400.0, "counted-serving", Status.PRIMARY, "s")
_KWH: Final = Constant(3.6e6, 3.6e6, 3.6e6, "counted-serving", Status.PRIMARY, "J", "a kilowatt-hour")


def money(asked: Serving, found: Mapping[str, Estimate]) -> Mapping[str, Estimate]:
    """Cost of a day like the load, and requests answered within limits for one unit of the currency.

    Parameters
    ----------
    found
        The metrics of the deployment under its load; where replicas follow it, with the hours that are paid for.

    Notes
    -----
    Accelerators are paid for while they are started or run, all day where they do not follow the load, and for the
    energy that they draw meanwhile; where nothing says what they draw, the note says so. Sums have no unit: they are in
    the currency of the prices.
    """
    prices = asked.accelerator_price, asked.energy_price
    answered = found.get("goodput", found.get("requests_per_second"))
    if not any(prices) or answered is None or "ttft" not in found:
        return {}
    hours = found["accelerator_hours"].value if "accelerator_hours" in found else None
    paid = (found["accelerators"].value * _HOURS.value if hours is None else hours) * prices[0]
    power = found.get("power")
    note = "in the currency of the prices"
    ends = [paid, paid, paid]
    if prices[1] and power is not None:
        drawn = (power.value, power.low, power.high)
        ends = [paid + watts * _DAY.value / _KWH.value * prices[1] for watts in drawn]
    elif prices[1]:
        note += ", without energy: what the accelerators draw is not known"
    sources = power.sources if power is not None and prices[1] else ()
    day = Estimate(ends[0], ends[1], ends[2], "1", sources, note)
    if not day.low > 0:
        return {"cost_per_day": day}
    for_it = [rate * _DAY.value for rate in (answered.value, answered.low, answered.high)]
    worth = Estimate(
        for_it[0] / day.value, for_it[1] / day.high, for_it[2] / day.low, "1", (*answered.sources, *sources), note
    )
    return {"cost_per_day": day, "requests_per_money": worth}
