"""How long a failure holds work up: until it is noticed, until traffic finds another way, until work goes on.

What the model says, in order of time:

1. A part or link fails. Traffic over it is paused.
2. Switches and hosts send plain flows (copies, reads, migrations) another way after :data:`REROUTE`. What was under way
   goes on from there; where no way is left the flow stops.
3. A collective holds on to its connections. Its transport repeats what is lost for :data:`TRANSPORT_TIMEOUT`, and all
   ranks wait. If the part is back before that, the collective goes on as if nothing had been.
4. After that it is aborted on all ranks. It is made again on what is left after :data:`RECONNECT`; a training restarts
   cold (its setting ``cold_start``), reads its last checkpoint and does again what came after it.
5. Until the part is repaired, :data:`REPAIR`, the work goes on in the best way that is left.
"""

from __future__ import annotations

from typing import Final

from designer.formulas.formula import Formula
from designer.sources import Constant, Estimate, Status
from designer.units import Seconds, parse_duration

_HOUR: Final = float(parse_duration("1 h"))
#: the timeout of InfiniBand is this, doubled as often as NCCL_IB_TIMEOUT says [s]
_TICK: Final = Constant(4.096e-6, 4.096e-6, 4.096e-6, "nccl-environment", Status.PRIMARY, "s").value
#: repeats before a connection is given up
_REPEATS: Final = Constant(7.0, 7.0, 7.0, "nccl-environment", Status.PRIMARY).value

#: 4.096 µs × 2^20 × 7; 18 was the default before release 2.23, many sites set 22
TRANSPORT_TIMEOUT: Final = Constant(
    _TICK * 2**20 * _REPEATS,
    _TICK * 2**18 * _REPEATS,
    _TICK * 2**22 * _REPEATS,
    "nccl-environment",
    Status.PRIMARY,
    "s",
    "NCCL_IB_TIMEOUT=20, NCCL_IB_RETRY_CNT=7",
)
REROUTE: Final = Constant(
    1.0,
    0.05,
    10.0,
    "assumed-failures",
    Status.ASSUMED,
    "s",
    "ECMP drops a next hop in tens of ms, a subnet manager sweeps",
)
RECONNECT: Final = Constant(
    10.0, 2.0, 60.0, "assumed-failures", Status.ASSUMED, "s", "processes end, start and make their communicators"
)
REPAIR: Final = Constant(
    24 * _HOUR,
    4 * _HOUR,
    72 * _HOUR,
    "assumed-failures",
    Status.ASSUMED,
    "s",
    "a spare is on site, or comes the next day",
)


def outage(collective: bool, restart: Seconds = Seconds(0.0)) -> Estimate:
    """From a failure until work goes on: rerouted, or aborted and made again after `restart` [s].

    Parameters
    ----------
    collective
        Whether ranks wait for each other over connections of their own, as in training.
    restart
        From the abort until work goes on; 0 for :data:`RECONNECT` [s].

    Notes
    -----
    By hand: a flow, 1 s; a collective, 30.06 + 10 = 40.06 s; a training that starts in 10 min, 630.06 s.
    """
    if not collective:
        return Estimate(REROUTE.value, REROUTE.low, REROUTE.high, "s", (REROUTE.source,))
    first, again = TRANSPORT_TIMEOUT, RECONNECT
    sources = tuple(sorted({first.source, again.source}))
    if restart > 0:
        return Estimate(first.value + restart, first.low + restart, first.high + restart, "s", sources)
    return Estimate(first.value + again.value, first.low + again.low, first.high + again.high, "s", sources)


FORMULA: Final = Formula(
    name="outage",
    title="How long a failure holds work up",
    function=outage,
    sources=("nccl-environment", "assumed-failures"),
    valid_when="collectives over InfiniBand or RoCE that do not change NICs while they run",
)
