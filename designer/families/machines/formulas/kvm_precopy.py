"""KVM: pre-copy until the rest fits the downtime limit, with auto-converge or post-copy as a way out."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

from designer.families.machines.formulas._precopy import (
    Dirtying,
    DirtyRule,
    Outcome,
    Round,
    Rounds,
    Verdict,
    curve,
    iterate,
    not_negative,
    positive,
    slowed,
)
from designer.families.machines.formulas._qemu import (
    BANDWIDTH_SPREAD,
    DIRTIED_ONCE,
    DIRTY_SPREAD,
    DOWNTIME_LIMIT,
    HYPER_V_PASSES,
    SETUP,
    SWITCHOVER,
    THROTTLE_INCREMENT,
    THROTTLE_INITIAL,
    THROTTLE_MOST,
    THROTTLE_TRIGGER,
    UNPRODUCTIVE,
    XEN_PASSES,
    XEN_REST,
    ZERO_SCAN,
)
from designer.families.machines.formulas.kvm_bandwidth import Monitor
from designer.formulas.formula import Formula
from designer.sources import Constant, Estimate, Status
from designer.units import Bytes, BytesPerSecond, Seconds

SOURCES: Final = (
    "qemu-migration-defaults",
    "qemu-switchover-bandwidth",
    "clark-2005",
    "akoush-2010",
    "hines-2009",
    "migration-calibration",
    "migration-assumed",
)

#: of the memory of a guest, where nobody says how much of it is not zero
FILLED_SHARE: Final = Constant(
    1.0, 0.3, 1.0, "migration-assumed", Status.ASSUMED, note="a guest may never have written most of its memory"
)


@dataclass(frozen=True, slots=True)
class Stop:
    """When a monitor stops the guest.

    Parameters
    ----------
    passes
        Passes after which it does whatever is left; None for no such limit.
    rest
        What may be left [B]; None for what the downtime limit allows.
    """

    passes: int | None = None
    rest: float | None = None


STOPS: Final = {
    Monitor.QEMU: Stop(),
    Monitor.CLOUD_HYPERVISOR: Stop(),
    Monitor.XEN: Stop(int(XEN_PASSES.value), XEN_REST.value),
    Monitor.HYPER_V: Stop(int(HYPER_V_PASSES.value)),
}


@dataclass(frozen=True, slots=True)
class _Done:
    rounds: Rounds
    total: float
    downtime: float
    post_copied: float
    passes_time: float


@dataclass(frozen=True, slots=True)
class _Guest:
    """What is to be moved, with its dirty behaviour [B, B/s]."""

    filled: float
    memory: float
    dirty_rate: float
    working_set: float
    vfio_state: float


def kvm_precopy(
    memory: Bytes,
    bandwidth: BytesPerSecond,
    dirty_rate: BytesPerSecond = BytesPerSecond(0.0),
    *,
    filled: Bytes | Estimate | None = None,
    working_set: Bytes | None = None,
    link_bandwidth: BytesPerSecond | None = None,
    scan_bandwidth: BytesPerSecond | Estimate = BytesPerSecond(ZERO_SCAN.value),
    downtime_limit: Seconds = Seconds(DOWNTIME_LIMIT.value),
    auto_converge: bool = False,
    post_copy: bool = False,
    stop: Stop = STOPS[Monitor.QEMU],
    vfio_state: Bytes = Bytes(0.0),
    vfio_downtime: Seconds = Seconds(0.0),
    setup_time: Seconds | Estimate | None = None,
    bandwidth_band: Estimate | None = None,
) -> Outcome:
    """Times [s], bytes [B], verdict and curve of one KVM migration; never converging is an answer.

    Parameters
    ----------
    memory, filled
        Guest memory, and the part of it that is not zero [B], with a band if it is not known; all of it if not given.
    bandwidth
        Guest memory carried per second (`KvmBandwidth.guest`) [B/s].
    link_bandwidth
        Bytes on the network per second, less than `bandwidth` with compression; the hypervisor measures this one and
        multiplies it with the downtime limit [B/s].
    scan_bandwidth
        Guest memory searched for zero pages per second [B/s]; with the band of `ZERO_SCAN` if it has none.
    dirty_rate, working_set
        Written per second [B/s], and what can be dirty at most [B].
    downtime_limit
        Longest pause aimed at [s].
    auto_converge
        Slow the guest by 20 %, then 10 % more, after every second pass that dirties more than half of what it sends.
    post_copy
        Start the guest at the destination after the first pass if the rest does not fit, and fetch pages on demand.
    stop
        When the monitor stops the guest; QEMU looks at the downtime limit alone.
    vfio_state, vfio_downtime
        State of assigned devices that is sent in the pause [B], and what the pause needs for them in addition to [s].
    setup_time
        Before the first page is sent [s]; assumed if not given.
    bandwidth_band
        Guest memory per second with its band (`KvmBandwidth.guest`), whose high end is what link, channels and
        compression can do at best: no time is shorter than that allows [B/s].

    Raises
    ------
    AnalysisError
        If a size or rate is negative, or memory, bandwidth or limit is zero.

    Notes
    -----
    The band of the pause is wide on purpose. The hypervisor looks at what is left within a pass and estimates its
    bandwidth from what it just sent, which zero pages distort: anything up to the limit may be left. And an idle guest
    writes the same pages again, so less may be left than its dirty rate says.

    Sources
    -------
    QEMU migration defaults; Clark 2005; Akoush 2010; Hines 2009 (post-copy).
    """
    positive(memory, "memory")
    positive(bandwidth, "bandwidth")
    positive(downtime_limit, "downtime_limit")
    scans = _ends(scan_bandwidth, "scan_bandwidth", ZERO_SCAN.low / ZERO_SCAN.value, ZERO_SCAN.high / ZERO_SCAN.value)
    not_negative(dirty_rate, "dirty_rate")
    least, used, full = (min(memory, each) for each in _ends(memory if filled is None else filled, "filled"))
    most = used if working_set is None else min(memory, not_negative(working_set, "working_set"))
    link_rate = bandwidth if link_bandwidth is None else min(bandwidth, positive(link_bandwidth, "link_bandwidth"))
    not_negative(vfio_downtime, "vfio_downtime")
    stated: tuple[float, float, float] | None = None
    if isinstance(setup_time, Estimate):
        stated = setup_time.low, setup_time.value, setup_time.high
    elif setup_time is not None:
        stated = setup_time, setup_time, setup_time
    for each in stated or ():
        not_negative(each, "setup_time")
    slowest, fastest = BANDWIDTH_SPREAD.low, BANDWIDTH_SPREAD.high
    if bandwidth_band is not None:
        slowest = min(slowest, bandwidth_band.low / bandwidth)
        fastest = max(1.0, bandwidth_band.high / bandwidth)
    device = not_negative(vfio_state, "vfio_state")

    def run(filled: float, speed: float, scan: float, dirty: float, setup: float, pause: float) -> _Done:
        guest = _Guest(filled, memory, dirty_rate, min(most, filled) if working_set is None else most, device)
        rate, threshold = bandwidth * speed, link_rate * speed * downtime_limit
        # The pause also carries the devices: what they need of the limit is not left for memory.
        room = max(0.0, threshold - guest.vfio_state) if stop.rest is None else stop.rest
        rule = _throttle(dirty_rate * dirty) if auto_converge else _free(dirty_rate * dirty)
        rounds = _first_pass_scanned(guest, rate, scan, room, rule, stop.passes)
        fixed = pause + vfio_downtime + guest.vfio_state / (link_rate * speed)
        passes = setup + rounds.duration
        if rounds.converged:
            downtime = rounds.left / rate + fixed
            return _Done(rounds, passes + downtime, downtime, 0.0, rounds.duration)
        if post_copy:
            first = rounds.rounds[0]
            return _Done(
                Rounds((first,), first.dirtied, converged=True),
                setup + first.duration + fixed + first.dirtied / rate,
                fixed,
                first.dirtied,
                first.duration,
            )
        return _Done(rounds, math.inf, math.inf, 0.0, math.inf)

    shortest, setup, longest = stated or (SETUP.low, SETUP.value, SETUP.high)
    slow_scan, scan, fast_scan = scans
    nominal = run(used, 1.0, scan, 1.0, setup, SWITCHOVER.value)
    low = run(least, fastest, fast_scan, DIRTY_SPREAD.low, shortest, SWITCHOVER.low)
    high = run(full, slowest, slow_scan, DIRTY_SPREAD.high, longest, SWITCHOVER.high)
    limit = downtime_limit * link_rate / bandwidth + SWITCHOVER.value + vfio_downtime
    done = _outcome((nominal, low, high), setup, bandwidth / link_rate, device, limit)
    if not nominal.rounds.converged or nominal.post_copied:
        return done
    # The rest is looked at while a pass is under way, so as much of that pass as fits the limit may be unsent, too.
    # Of a guest with zero pages those come last in the published runs: they are only looked at.
    unsent = max(0.0, link_rate * downtime_limit - device)
    rate = min(bandwidth, scan) if used == memory else scan
    most_left = SWITCHOVER.high + vfio_downtime + device / link_rate + unsent / rate
    again = 0.0
    if working_set is None and low.rounds.converged and not low.post_copied:
        again = (1 - DIRTIED_ONCE.low) * low.rounds.left / (bandwidth * fastest)
    pause = done.downtime
    band_of_pause = Estimate(pause.value, pause.low - again, max(pause.high, most_left), "s", pause.sources)
    return replace(done, downtime=band_of_pause)


def _ends(figure: float | Estimate, name: str, low: float = 1.0, high: float = 1.0) -> tuple[float, float, float]:
    """Low end, value and high end; of a plain figure by two factors."""
    if isinstance(figure, Estimate):
        return positive(figure.low, name), positive(figure.value, name), positive(figure.high, name)
    return positive(figure, name) * low, figure, figure * high


def _first_pass_scanned(
    guest: _Guest, rate: float, scan: float, room: float, rule: DirtyRule, most_passes: int | None
) -> Rounds:
    """As `iterate`, with a first pass that lasts at least as long as looking at all memory."""
    looking = guest.memory / scan
    if looking <= guest.filled / rate:
        return iterate(guest.filled, rate, guest.working_set, room, rule, most_passes)
    dirtying = rule(0, 0.0, looking, guest.filled)
    dirtied = min(guest.working_set, dirtying.amount)
    first = Round(0.0, looking, guest.filled, dirtied, dirtying.kept)
    if dirtied <= room or most_passes == 1:
        return Rounds((first,), dirtied, converged=True)

    def later(index: int, start: float, duration: float, sent: float) -> Dirtying:
        return rule(index + 1, start + looking, duration, sent)

    rest = iterate(dirtied, rate, guest.working_set, room, later, most_passes - 1 if most_passes is not None else None)
    shifted = tuple(
        Round(each.start + looking, each.duration, each.sent, each.dirtied, each.kept) for each in rest.rounds
    )
    return Rounds((first, *shifted), rest.left, rest.converged)


def _free(dirty_rate: float) -> DirtyRule:
    def rule(index: int, start: float, duration: float, sent: float) -> Dirtying:
        return Dirtying(dirty_rate * duration, 1.0, final=True)

    return rule


def _throttle(dirty_rate: float) -> DirtyRule:
    """Auto-converge as a rule with a memory: it moves one step every second unproductive pass."""
    cut = 0.0
    unproductive = 0

    def rule(index: int, start: float, duration: float, sent: float) -> Dirtying:
        nonlocal cut, unproductive
        amount = dirty_rate * (1 - cut) * duration
        answer = Dirtying(amount, 1 - cut, final=cut >= THROTTLE_MOST.value)
        if amount > THROTTLE_TRIGGER.value * sent:
            unproductive += 1
            if unproductive >= UNPRODUCTIVE.value:
                unproductive = 0
                cut = min(THROTTLE_MOST.value, cut + THROTTLE_INCREMENT.value) if cut else THROTTLE_INITIAL.value
        return answer

    return rule


def _outcome(
    cases: tuple[_Done, _Done, _Done], setup: float, squeeze: float, vfio_state: float, longest_downtime: float
) -> Outcome:
    nominal = cases[0]
    lost, slowed_time = slowed(nominal.rounds)
    end = nominal.total
    time, remaining = curve(nominal.rounds, setup, end)
    verdict, reason = _verdict(nominal, lost, longest_downtime)
    return Outcome(
        verdict=verdict,
        reason=reason,
        rounds=nominal.rounds.rounds,
        total_time=Estimate.over([case.total for case in cases], "s", SOURCES),
        precopy_time=Estimate.over([case.passes_time for case in cases], "s", SOURCES),
        downtime=Estimate.over([case.downtime for case in cases], "s", SOURCES),
        longest_downtime=longest_downtime,
        transferred=Estimate.over(
            [
                (case.rounds.sent + case.rounds.left) / squeeze + vfio_state if case.rounds.converged else math.inf
                for case in cases
            ],
            "B",
            SOURCES,
        ),
        slowdown=Estimate.over([slowed(case.rounds)[0] for case in cases], "1", SOURCES),
        slowed_time=slowed_time,
        time=time,
        remaining=remaining,
        sources=SOURCES,
    )


def _verdict(done: _Done, lost: float, longest_downtime: float) -> tuple[Verdict, str]:
    if done.post_copied:
        return Verdict.POST_COPY, "the rest did not fit the downtime limit and is fetched on demand at the destination"
    if not done.rounds.converged:
        return (
            Verdict.NEVER,
            "the guest dirties memory as fast as it is sent; allow throttling, post-copy or a longer pause",
        )
    passes = f"after {len(done.rounds.rounds)} passes the rest fits the downtime limit"
    if done.downtime > longest_downtime:
        passes = f"after {len(done.rounds.rounds)} passes the guest is stopped and the rest is sent"
    if lost > 0:
        return Verdict.SLOWED, f"auto-converge took {lost:.0%} of the guest's CPU; {passes}"
    return Verdict.CONVERGES, passes


FORMULA: Final = Formula(
    name="kvm-precopy",
    title="KVM pre-copy, auto-converge and post-copy",
    function=kvm_precopy,
    sources=SOURCES,
    valid_when="constant bandwidth and dirty rate; QEMU 2.5 and newer, other monitors with their own limits",
)
