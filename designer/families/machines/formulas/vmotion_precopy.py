"""vMotion: iterative pre-copy with stun during page send, thresholds as ESXi ships them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

from designer.families.machines.formulas._esxi import (
    BANDWIDTH_SPREAD,
    DIRTY_SPREAD,
    MINIMUM_PROGRESS,
    RESUME_TIME,
    SDPS_DELAY,
    SDPS_TARGET,
    SETUP_TIME,
    SWITCHOVER_GOAL,
)
from designer.families.machines.formulas._precopy import (
    Dirtying,
    DirtyRule,
    Outcome,
    Rounds,
    Verdict,
    curve,
    iterate,
    not_negative,
    positive,
    slowed,
)
from designer.formulas.formula import Formula
from designer.sources import Estimate
from designer.units import Bytes, BytesPerSecond, Seconds

SOURCES: Final = ("esxi-advanced-settings", "broadcom-kb-321009", "clark-2005", "akoush-2010", "migration-assumed")


@dataclass(frozen=True, slots=True)
class _Case:
    """One corner of the band: what the network, the guest and the host do."""

    bandwidth: float
    dirty_rate: float
    setup: float
    resume: float


@dataclass(frozen=True, slots=True)
class _Done:
    rounds: Rounds
    total: float
    downtime: float


def vmotion_precopy(
    memory: Bytes,
    bandwidth: BytesPerSecond,
    dirty_rate: BytesPerSecond = BytesPerSecond(0.0),
    *,
    working_set: Bytes | None = None,
    checkpoint: Bytes = Bytes(0.0),
    sdps: bool = True,
    sdps_delay: Seconds = Seconds(SDPS_DELAY.value),
    switchover_goal: Seconds = Seconds(SWITCHOVER_GOAL.value),
    setup_time: Seconds | None = None,
) -> Outcome:
    """Times [s], bytes [B], verdict and curve of one vMotion over a given bandwidth.

    Parameters
    ----------
    memory
        Touched guest memory [B]; all of it for a virtual machine with GPUs, whose memory is reserved.
    bandwidth
        What the routed network gives this migration [B/s].
    dirty_rate
        Memory written per second while the guest runs freely [B/s].
    working_set
        What can be dirty at most [B]; all of the memory if not given.
    checkpoint
        Checkpoint sent while the guest is paused [B], virtual GPUs aside.
    sdps, sdps_delay
        Whether stun during page send is on, and the time it waits [s].
    switchover_goal
        The rest must fit into this time [s].
    setup_time
        Admission, trace installation and clean-up [s]; assumed if not given.

    Raises
    ------
    AnalysisError
        If a size or rate is negative, or memory or bandwidth is zero.

    Notes
    -----
    Pass i sends V_i in T_i = V_i / B and leaves V_(i+1) = min(W, D·s·T_i). It ends when V_i / B is within the goal.
    A pass that does not send 130 % of what is dirtied slows the guest, after the delay, to B / 5. Crossing that
    threshold is a real step: a link just fast enough to avoid it takes longer than one that is slightly slower,
    because the guest is left alone.

    Sources
    -------
    ESXi advanced settings; Clark 2005; Akoush 2010.
    """
    positive(memory, "memory")
    positive(bandwidth, "bandwidth")
    not_negative(dirty_rate, "dirty_rate")
    most_dirty = memory if working_set is None else min(memory, not_negative(working_set, "working_set"))
    positive(switchover_goal, "switchover_goal")
    not_negative(sdps_delay, "sdps_delay")
    not_negative(checkpoint, "checkpoint")
    setup = SETUP_TIME if setup_time is None else None
    fixed = not_negative(setup_time, "setup_time") if setup_time is not None else 0.0

    def run(case: _Case) -> _Done:
        rule = _dirty_rule(case, most_dirty, sdps_delay if sdps else None)
        rounds = iterate(memory, case.bandwidth, most_dirty, switchover_goal * case.bandwidth, rule)
        if not rounds.converged:
            return _Done(rounds, math.inf, math.inf)
        downtime = (rounds.left + checkpoint) / case.bandwidth + case.resume
        return _Done(rounds, case.setup + rounds.duration + downtime, downtime)

    # What the last of several passes leaves depends on details: anything up to the goal.
    nothing = checkpoint / (bandwidth * BANDWIDTH_SPREAD.high) + RESUME_TIME.low
    anything = switchover_goal + checkpoint / (bandwidth * BANDWIDTH_SPREAD.low) + RESUME_TIME.high
    setups = (setup.value, setup.low, setup.high) if setup else (fixed, fixed, fixed)
    nominal = run(_Case(bandwidth, dirty_rate, setups[0], RESUME_TIME.value))
    low = run(_Case(bandwidth * BANDWIDTH_SPREAD.high, dirty_rate * DIRTY_SPREAD.low, setups[1], RESUME_TIME.low))
    high = run(_Case(bandwidth * BANDWIDTH_SPREAD.low, dirty_rate * DIRTY_SPREAD.high, setups[2], RESUME_TIME.high))
    longest = switchover_goal + checkpoint / bandwidth + RESUME_TIME.value
    done = _outcome(nominal, (low, high), setup.value if setup else fixed, checkpoint, longest)
    if not nominal.rounds.converged or len(nominal.rounds.rounds) == 1:
        return done
    pause = done.downtime
    return replace(
        done, downtime=Estimate(pause.value, min(pause.low, nothing), max(pause.high, anything), "s", pause.sources)
    )


def _dirty_rule(case: _Case, most_dirty: float, delay: float | None) -> DirtyRule:
    """What the guest dirties in a pass, slowed by stun during page send after a delay [s]; None if that is off."""

    def rule(index: int, start: float, duration: float, sent: float) -> Dirtying:
        free = case.dirty_rate * duration
        if delay is None or min(most_dirty, free) * MINIMUM_PROGRESS.value <= sent:
            return Dirtying(free, 1.0, final=delay is None or start + duration > delay)
        waiting = min(duration, max(0.0, delay - start))
        slow = min(case.dirty_rate, case.bandwidth / SDPS_TARGET.value)
        kept = slow / case.dirty_rate if waiting < duration else 1.0
        amount = case.dirty_rate * waiting + slow * (duration - waiting)
        return Dirtying(amount, kept, final=start + duration > delay)

    return rule


def _outcome(
    nominal: _Done, others: tuple[_Done, _Done], setup: float, checkpoint: float, longest_downtime: float
) -> Outcome:
    cases = (nominal, *others)
    lost = slowed(nominal.rounds)
    verdict, reason = _verdict(nominal.rounds, lost)
    time, remaining = curve(nominal.rounds, setup, nominal.total)
    return Outcome(
        verdict=verdict,
        reason=reason,
        rounds=nominal.rounds.rounds,
        total_time=Estimate.over([case.total for case in cases], "s", SOURCES),
        precopy_time=Estimate.over(
            [case.rounds.duration if case.rounds.converged else math.inf for case in cases], "s", SOURCES
        ),
        downtime=Estimate.over([case.downtime for case in cases], "s", SOURCES),
        longest_downtime=longest_downtime,
        transferred=Estimate.over([_total_sent(case.rounds, checkpoint) for case in cases], "B", SOURCES),
        slowdown=Estimate.over([slowed(case.rounds) for case in cases], "1", SOURCES),
        time=time,
        remaining=remaining,
        sources=SOURCES,
    )


def _total_sent(rounds: Rounds, checkpoint: float) -> float:
    return rounds.sent + rounds.left + checkpoint if rounds.converged else math.inf


def _verdict(rounds: Rounds, lost: float) -> tuple[Verdict, str]:
    if not rounds.converged:
        return Verdict.NEVER, "a pass leaves as much memory dirty as it sent, and nothing slows the guest down"
    passes = f"after {len(rounds.rounds)} passes the rest fits into the switch-over time"
    if lost > 0:
        return (
            Verdict.SLOWED,
            f"passes sent less than 130 % of what was dirtied, so stun during page send (SDPS) "
            f"took {lost:.0%} of the guest's writing; {passes}",
        )
    return Verdict.CONVERGES, passes


FORMULA: Final = Formula(
    name="vmotion-precopy",
    title="vMotion pre-copy with stun during page send",
    function=vmotion_precopy,
    sources=SOURCES,
    valid_when="constant bandwidth and dirty rate, ESXi 5 and newer at default settings",
)
