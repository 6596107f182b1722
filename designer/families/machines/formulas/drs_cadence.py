"""DRS: how soon a load is noticed, and how many moves fit into its rhythm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from designer.errors import AnalysisError
from designer.families.machines.formulas._precopy import at_least_one, not_negative, positive
from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import Bytes, Seconds

SOURCES: Final = ("denneman-2021-drs", "denneman-2012-vmotion")
_KEY: Final = "denneman-2021-drs"


PERIOD: Final = Constant(60.0, 60.0, 60.0, _KEY, Status.SECONDARY, "s", "DRS runs every minute since 7.0")
#: demand looked back at by machines over 4 GB and by smaller ones, thresholds 1 to 3, 4 and 5
LARGE_CALM: Final = Constant(2400, 2400, 2400, _KEY, Status.SECONDARY, "s", "40 min")
LARGE_BRISK: Final = Constant(1200, 1200, 1200, _KEY, Status.SECONDARY, "s", "20 min")
LARGE_EAGER: Final = Constant(600, 600, 600, _KEY, Status.SECONDARY, "s", "10 min")
SMALL_CALM: Final = Constant(900, 900, 900, _KEY, Status.SECONDARY, "s", "15 min")
SMALL_BRISK: Final = Constant(600, 600, 600, _KEY, Status.SECONDARY, "s", "10 min")
SMALL_EAGER: Final = Constant(300, 300, 300, _KEY, Status.SECONDARY, "s", "5 min")
LOOK_BACK_LARGE: Final = (LARGE_CALM, LARGE_CALM, LARGE_CALM, LARGE_BRISK, LARGE_EAGER)
LOOK_BACK_SMALL: Final = (SMALL_CALM, SMALL_CALM, SMALL_CALM, SMALL_BRISK, SMALL_EAGER)
LARGE_MACHINE: Final = Constant(4e9, 4e9, 4e9, _KEY, Status.SECONDARY, "B", "border between the two look-backs")
LOADED: Final = Constant(
    0.5, 0.5, 0.5, _KEY, Status.SECONDARY, "1", "share of load above which a host counts as less efficient"
)
LOADED_EAGER: Final = Constant(0.3, 0.3, 0.3, _KEY, Status.SECONDARY, "1", "the same at thresholds 4 and 5")
EAGER_FROM: Final = Constant(4, 4, 4, _KEY, Status.SECONDARY, "1", "threshold")
MOST_EAGER: Final = Constant(5, 5, 5, _KEY, Status.SECONDARY, "1", "threshold")


@dataclass(frozen=True, slots=True)
class DrsCadence:
    """What DRS does at a threshold.

    Parameters
    ----------
    look_back
        Demand it averages over [s].
    loaded_above
        Load share above which it looks for a better host [1].
    moves_per_period, rebalance_time
        Moves that fit into one period; time until `moves` moves are done [s].
    balances
        True if it moves for balance at all: not at threshold 1, and never machines with virtual GPUs.
    """

    look_back: float
    loaded_above: float
    moves_per_period: int
    rebalance_time: float
    balances: bool
    reason: str


def drs_cadence(
    threshold: int,
    moves: int,
    migration_time: Seconds,
    *,
    concurrency: int = 1,
    machine_memory: Bytes = Bytes(LARGE_MACHINE.value),
    has_vgpu: bool = False,
    period: Seconds = Seconds(PERIOD.value),
) -> DrsCadence:
    """Time DRS needs to make `moves` moves of balance [s], because it plans no more than fit into a period.

    Parameters
    ----------
    threshold
        Migration threshold, 1 (conservative) to 5 (aggressive).
    moves, migration_time
        Moves needed, and the time of one [s].
    concurrency
        Moves at the same time over the cluster.
    machine_memory
        Memory of the machines [B].

    Raises
    ------
    AnalysisError
        If the threshold is not 1–5, or a time or count is out of range.

    Sources
    -------
    Post of 2021-10-22 (period, look-back, load); post of 2011-07-18 (moves fitted into a period).
    """
    if not 1 <= threshold <= MOST_EAGER.value:
        raise AnalysisError(f"DRS threshold {threshold}", remedy="choose 1 to 5")
    not_negative(moves, "moves")
    positive(migration_time, "migration_time")
    at_least_one(concurrency, "concurrency")
    positive(period, "period")
    table = LOOK_BACK_LARGE if positive(machine_memory, "machine_memory") > LARGE_MACHINE.value else LOOK_BACK_SMALL
    eager = threshold >= EAGER_FROM.value
    fitting = max(1, math.floor(period / migration_time) * concurrency)
    batch = period if migration_time <= period else math.ceil(migration_time / period) * period
    rebalance = math.ceil(moves / fitting) * batch
    balances, reason = True, "moves for balance, weighed against the cost of each move"
    if has_vgpu:
        balances, reason = False, "machines with virtual GPUs are placed at power-on and never moved for balance"
    elif threshold == 1:
        balances, reason = False, "threshold 1 makes mandatory moves only: maintenance, failures, rules"
    return DrsCadence(
        table[threshold - 1].value,
        (LOADED_EAGER if eager else LOADED).value,
        fitting,
        rebalance if balances else math.inf,
        balances,
        reason,
    )


FORMULA: Final = Formula(
    name="drs-cadence",
    title="Rhythm of DRS",
    function=drs_cadence,
    sources=SOURCES,
    valid_when="vSphere 7.0 and newer; older releases with a period of 300 s",
)
