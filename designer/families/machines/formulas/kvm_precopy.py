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
    "qemu-dirty-limit",
    "clark-2005",
    "akoush-2010",
    "hines-2009",
    "migration-calibration",
    "migration-assumed",
)

HANDED_OVER_SOURCES: Final = ("same-host-migration", "migration-calibration", "migration-assumed")

#: of the memory of a guest, where nobody says how much of it is not zero
FILLED_SHARE: Final = Constant(
    1.0, 0.09, 1.0, "migration-assumed", Status.ASSUMED, note="one that was idle had written 8.6 % of 4 GB (QEMU, 2015)"
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
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class _Corner:
    """One end of the band, or its middle.

    Parameters
    ----------
    filled
        Memory that is not zero [B].
    speed, dirty
        Bandwidth and dirty rate over what they are taken to be [1].
    scan
        Memory searched for zero pages [B/s].
    setup, pause, devices
        Before the first page, what every pause takes, and what assigned devices add to it [s].
    """

    filled: float
    speed: float
    scan: float
    dirty: float
    setup: float
    pause: float
    devices: float


@dataclass(frozen=True, slots=True)
class _Guest:
    """A guest on its way: what all corners share [B, B/s, s]; a working set of None is what is used."""

    memory: float
    used: float
    bandwidth: float
    link_rate: float
    dirty_rate: float
    working_set: float | None
    downtime_limit: float
    stop: Stop
    auto_converge: bool
    dirty_limit: float | None
    post_copy: bool
    stopped: bool
    vfio_state: float

    def moved(self, corner: _Corner) -> _Done:
        """Passes until the monitor stops the guest, and the pause; or what follows where it never does."""
        rate, link_rate = self.bandwidth * corner.speed, self.link_rate * corner.speed
        # The pause also carries the devices: what they need of the limit is not left for memory.
        threshold = max(0.0, link_rate * self.downtime_limit - self.vfio_state)
        room = threshold if self.stop.rest is None else self.stop.rest
        rounds = self._passes(corner, rate, room)
        fixed = corner.pause + corner.devices + self.vfio_state / link_rate
        if self.stopped:
            # nothing is written meanwhile, and all of it is the pause
            sent = replace(rounds.rounds[0], dirtied=0.0)
            total = corner.setup + sent.duration + fixed
            return _Done(Rounds((sent,), 0.0, converged=True), total, sent.duration + fixed, 0.0, sent.duration, True)
        if rounds.converged:
            downtime = rounds.left / rate + fixed
            return _Done(rounds, corner.setup + rounds.duration + downtime, downtime, 0.0, rounds.duration)
        if not self.post_copy:
            return _Done(rounds, math.inf, math.inf, 0.0, math.inf)
        first = rounds.rounds[0]
        only = Rounds((first,), first.dirtied, converged=True)
        total = corner.setup + first.duration + fixed + first.dirtied / rate
        return _Done(only, total, fixed, first.dirtied, first.duration)

    def _passes(self, corner: _Corner, rate: float, room: float) -> Rounds:
        """As `iterate`, with a first pass that lasts at least as long as looking at all memory."""
        dirty_rate, most = self.dirty_rate * corner.dirty, self.stop.passes
        if self.stopped:
            rule = _free_rule(0.0)
        elif self.dirty_limit is not None:
            rule = _limited(dirty_rate, self.dirty_limit)
        else:
            rule = _throttle(dirty_rate) if self.auto_converge else _free_rule(dirty_rate)
        written = min(self.used, corner.filled) if self.working_set is None else self.working_set
        looking = self.memory / corner.scan
        if looking <= corner.filled / rate:
            return iterate(corner.filled, rate, written, room, rule, most)
        dirtying = rule(0, 0.0, looking, corner.filled)
        dirtied = min(written, dirtying.amount)
        first = Round(0.0, looking, corner.filled, dirtied, dirtying.kept)
        if dirtied <= room or most == 1:
            return Rounds((first,), dirtied, converged=True)

        def later(index: int, start: float, duration: float, sent: float) -> Dirtying:
            return rule(index + 1, start + looking, duration, sent)

        rest = iterate(dirtied, rate, written, room, later, most - 1 if most is not None else None)
        shifted = (
            Round(each.start + looking, each.duration, each.sent, each.dirtied, each.kept) for each in rest.rounds
        )
        return Rounds((first, *shifted), rest.left, rest.converged)

    def pause(self, done: Outcome, least: _Done, longest: _Corner, fastest: float, rate: float) -> Estimate:
        """The pause with a band that holds what may be unsent, at the rate at which it is dealt with [B/s].

        Notes
        -----
        The band is wide on purpose: the hypervisor looks at what is left within a pass and estimates its bandwidth from
        what it just sent, so as much of a pass as fits the limit may be unsent, too. And an idle guest writes the same
        pages again, so less may be left than its dirty rate says.
        Of a guest with zero pages those come last in the published runs: they are only looked at.
        """
        unsent = max(0.0, self.link_rate * self.downtime_limit - self.vfio_state)
        most = longest.pause + longest.devices + self.vfio_state / self.link_rate + unsent / rate
        again, left = 0.0, least.rounds.left / (self.bandwidth * fastest)
        if self.working_set is None and least.rounds.converged and not least.post_copied:
            again = (1 - DIRTIED_ONCE.low) * left
        stated = done.downtime
        # never less than what the pause takes with nothing left to send
        low = min(stated.low, max(stated.low - again, least.downtime - left))
        return Estimate(stated.value, low, max(stated.high, most), "s", stated.sources)


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
    dirty_limit: BytesPerSecond | None = None,
    post_copy: bool = False,
    stopped: bool = False,
    stop: Stop = STOPS[Monitor.QEMU],
    vfio_state: Bytes = Bytes(0.0),
    vfio_downtime: Seconds | Estimate = Seconds(0.0),
    switchover: Estimate | None = None,
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
    dirty_limit
        What the guest may write per second after two such passes, in place of auto-converge [B/s].
    post_copy
        Start the guest at the destination after the first pass if the rest does not fit, and fetch pages on demand.
    stopped
        The guest is stopped before its memory is sent, as for a file.
    stop
        When the monitor stops the guest; QEMU looks at the downtime limit alone.
    vfio_state, vfio_downtime
        State of assigned devices that is sent in the pause [B], and what the pause needs for them in addition to [s].
    switchover
        What every pause takes [s]; that of a plain guest if not given.
    setup_time
        Before the first page is sent [s]; assumed if not given.
    bandwidth_band
        Guest memory per second with its band (`KvmBandwidth.guest`), whose high end is what link, channels and
        compression can do at best: no time is shorter than that allows [B/s].

    Raises
    ------
    AnalysisError
        If a size or rate is negative, or memory, bandwidth or limit is zero.

    Sources
    -------
    QEMU migration defaults; Clark 2005; Akoush 2010; Hines 2009 (post-copy).
    """
    positive(memory, "memory")
    positive(bandwidth, "bandwidth")
    scans = _ends(scan_bandwidth, "scan_bandwidth", ZERO_SCAN.low / ZERO_SCAN.value, ZERO_SCAN.high / ZERO_SCAN.value)
    least, used, full = (min(memory, each) for each in _ends(memory if filled is None else filled, "filled"))
    guest = _Guest(
        memory,
        used,
        bandwidth,
        bandwidth if link_bandwidth is None else min(bandwidth, positive(link_bandwidth, "link_bandwidth")),
        not_negative(dirty_rate, "dirty_rate"),
        None if working_set is None else min(memory, not_negative(working_set, "working_set")),
        positive(downtime_limit, "downtime_limit"),
        stop,
        auto_converge,
        None if dirty_limit is None else positive(dirty_limit, "dirty_limit"),
        post_copy,
        stopped,
        not_negative(vfio_state, "vfio_state"),
    )
    shortest, setup, longest = _setup(setup_time)
    slowest, fastest = _speeds(bandwidth, bandwidth_band)
    slow_scan, scan, fast_scan = scans
    pauses = switchover or Estimate(SWITCHOVER.value, SWITCHOVER.low, SWITCHOVER.high, "s", (SWITCHOVER.source,))
    devices = _devices(vfio_downtime)
    usual = _Corner(used, 1.0, scan, 1.0, setup, pauses.value, devices[1])
    worst = _Corner(full, slowest, slow_scan, DIRTY_SPREAD.high, longest, pauses.high, devices[2])
    nominal = guest.moved(usual)
    low = guest.moved(_Corner(least, fastest, fast_scan, DIRTY_SPREAD.low, shortest, pauses.low, devices[0]))
    limit = downtime_limit * guest.link_rate / bandwidth + pauses.value + devices[1]
    done = _outcome((nominal, low, guest.moved(worst)), setup, bandwidth / guest.link_rate, vfio_state, limit)
    if stopped or not nominal.rounds.converged or nominal.post_copied:
        return done
    looked = min(bandwidth, scan) if used == memory else scan
    return replace(done, downtime=guest.pause(done, low, worst, fastest, looked))


def handed_over(switchover: Estimate, vfio_downtime: Estimate, setup: Estimate) -> Outcome:
    """A machine that goes to another process of its host, which maps the memory it finds: only its state moves.

    Parameters
    ----------
    switchover, vfio_downtime, setup
        What every pause takes, what assigned devices add to it, and the time before [s].

    Sources
    -------
    Cloud Hypervisor's local migration; QEMU's cpr-transfer.
    """
    pause = Estimate.total([switchover, vfio_downtime], HANDED_OVER_SOURCES)
    total = Estimate.total([setup, pause], HANDED_OVER_SOURCES)
    none, nothing = Estimate.exact(0.0, "s"), Estimate.exact(0.0, "B")
    return Outcome(
        verdict=Verdict.CONVERGES,
        reason="memory stays where it is, and the guest is stopped while its state goes to the other process",
        rounds=(),
        total_time=total,
        precopy_time=none,
        downtime=pause,
        longest_downtime=pause.value,
        transferred=nothing,
        slowdown=Estimate.exact(0.0, "1"),
        time=(0.0, total.value),
        remaining=(0.0, 0.0),
        sources=HANDED_OVER_SOURCES,
    )


def _devices(pause: Seconds | Estimate) -> tuple[float, float, float]:
    """Low end, value and high end of what assigned devices add to a pause [s]."""
    if isinstance(pause, Estimate):
        return pause.low, pause.value, pause.high
    known = not_negative(pause, "vfio_downtime")
    return known, known, known


def _speeds(bandwidth: float, band: Estimate | None) -> tuple[float, float]:
    """The slowest and the fastest bandwidth over the usual one [1]."""
    slowest, fastest = BANDWIDTH_SPREAD.low, BANDWIDTH_SPREAD.high
    if band is None:
        return slowest, fastest
    return min(slowest, band.low / bandwidth), max(1.0, band.high / bandwidth)


def _setup(given: Seconds | Estimate | None) -> tuple[float, float, float]:
    """Time before the first page, with its band; assumed if it is not given [s]."""
    if given is None:
        return SETUP.low, SETUP.value, SETUP.high
    stated = (given.low, given.value, given.high) if isinstance(given, Estimate) else (given, given, given)
    for each in stated:
        not_negative(each, "setup_time")
    return stated


def _ends(figure: float | Estimate, name: str, low: float = 1.0, high: float = 1.0) -> tuple[float, float, float]:
    """Low end, value and high end; of a plain figure by two factors."""
    if isinstance(figure, Estimate):
        return positive(figure.low, name), positive(figure.value, name), positive(figure.high, name)
    return positive(figure, name) * low, figure, figure * high


def _free_rule(dirty_rate: float) -> DirtyRule:
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


def _limited(dirty_rate: float, limit: float) -> DirtyRule:
    """The dirty limit: it holds from the second unproductive pass on."""
    unproductive = 0

    def rule(index: int, start: float, duration: float, sent: float) -> Dirtying:
        nonlocal unproductive
        kept = min(1.0, limit / dirty_rate) if dirty_rate and unproductive >= UNPRODUCTIVE.value else 1.0
        amount = dirty_rate * kept * duration
        if amount > THROTTLE_TRIGGER.value * sent:
            unproductive += 1
        return Dirtying(amount, kept, final=kept < 1.0 or limit >= dirty_rate)

    return rule


def _outcome(
    cases: tuple[_Done, _Done, _Done], setup: float, squeeze: float, vfio_state: float, longest_downtime: float
) -> Outcome:
    nominal = cases[0]
    lost = slowed(nominal.rounds)
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
        slowdown=Estimate.over([slowed(case.rounds) for case in cases], "1", SOURCES),
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
    if done.stopped:
        return Verdict.CONVERGES, "the guest is stopped while all of its memory is sent"
    passes = f"after {len(done.rounds.rounds)} passes the rest fits the downtime limit"
    if done.downtime > longest_downtime:
        passes = f"after {len(done.rounds.rounds)} passes the guest is stopped and the rest is sent"
    if lost > 0:
        return Verdict.SLOWED, f"the guest was slowed down and lost {lost:.0%} of its writing; {passes}"
    return Verdict.CONVERGES, passes


FORMULA: Final = Formula(
    name="kvm-precopy",
    title="KVM pre-copy, auto-converge and post-copy",
    function=kvm_precopy,
    sources=SOURCES,
    valid_when="constant bandwidth and dirty rate; QEMU 2.5 and newer, other monitors with their own limits",
)
