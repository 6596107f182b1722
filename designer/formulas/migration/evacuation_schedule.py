"""Emptying hosts: which virtual machine moves when, by list scheduling over slots and shared bandwidth."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from designer.errors import AnalysisError
from designer.formulas.formula import Formula
from designer.formulas.migration._esxi import BANDWIDTH_SPREAD, SETUP_TIME
from designer.formulas.migration._inputs import at_least_one, not_negative
from designer.formulas.migration.vmotion_admission import NETWORK_FAST
from designer.sources import Estimate

SOURCES: Final = ("graham-1969", "vmware-docs-limits", "migration-assumed", "migration-calibration")

#: transfers that end this close together, as a share of the step, end together
TIME_TOLERANCE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class EvacuationVm:
    """One virtual machine to move.

    Parameters
    ----------
    name, source, destination
        Names; the destination was chosen beforehand.
    size
        Bytes it moves, resent pages and vGPU memory counted [B]; 0 if only `fixed_time` matters (cold, known duration).
    fixed_time
        Set-up before its transfer, during which it holds its slots [s].
    rate_cap
        Most it can move per second, whatever the link [B/s].
    serial
        Moves alone on both of its hosts (virtual GPUs, whose stun sharing would multiply).
    """

    name: str
    source: str
    destination: str
    size: float
    fixed_time: float = SETUP_TIME.value
    rate_cap: float = math.inf
    serial: bool = False


#: rates [B/s] of the virtual machines moving at the same time, in their order; each at most its own cap
RateRule = Callable[[Sequence[EvacuationVm]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Move:
    """When a virtual machine held its slots, and when its bytes flowed [s]."""

    vm: EvacuationVm
    start: float
    transfer: float
    end: float


@dataclass(frozen=True, slots=True)
class Evacuation:
    """The plan.

    Parameters
    ----------
    makespan
        Until the last machine has arrived [s].
    moves
        In order of start.
    host_done
        When each source was empty [s].
    most_at_once
        Largest number of migrations under way.
    time, remaining
        Curve: bytes not yet moved [B] against time [s].
    """

    makespan: Estimate
    moves: tuple[Move, ...]
    host_done: Mapping[str, float]
    most_at_once: int
    time: tuple[float, ...]
    remaining: tuple[float, ...]


def evacuation_schedule(
    vms: Sequence[EvacuationVm], rates: RateRule, *, slots: int | Mapping[str, int] = int(NETWORK_FAST.value)
) -> Evacuation:
    """Plan and time [s] of moving virtual machines between hosts.

    Parameters
    ----------
    vms
        What moves where.
    rates
        What the network gives those that move at the same time.
    slots
        Concurrent migrations per host, in and out together; one number or by host.

    Raises
    ------
    AnalysisError
        If there is nothing to move, a name is taken twice, a machine stays where it is, a size or time is negative,
        or the network gives a waiting machine nothing.

    Notes
    -----
    Greedy list scheduling, longest first. Ordinary machines leave a host before those that must move alone, and a
    machine that moves alone waits until both of its hosts are idle; so every machine gets its turn.

    Sources
    -------
    Graham 1969; documented limits per host.
    """
    _check(vms, slots)
    return _Run(vms, rates, slots).plan()


def _check(vms: Sequence[EvacuationVm], slots: int | Mapping[str, int]) -> None:
    if not vms:
        raise AnalysisError("there is no virtual machine to move", remedy="give at least one")
    twice = [name for name, count in Counter(vm.name for vm in vms).items() if count > 1]
    if twice:
        raise AnalysisError(f"two virtual machines are called {twice[0]!r}", remedy="give each its own name")
    for vm in vms:
        if vm.source == vm.destination:
            raise AnalysisError("source and destination are the same host", place=vm.name, remedy="choose another host")
        not_negative(vm.size, f"size of {vm.name}")
        not_negative(vm.fixed_time, f"fixed_time of {vm.name}")
        if not vm.rate_cap > 0:
            raise AnalysisError("its rate is capped at nothing", place=vm.name, remedy="give a positive rate")
    for host in {vm.source for vm in vms} | {vm.destination for vm in vms}:
        count = slots if isinstance(slots, int) else slots.get(host)
        if count is None:
            raise AnalysisError(f"no slots are given for host {host!r}", remedy="give the slots of every host")
        at_least_one(count, f"slots of {host}")


class _Run:
    """State of one simulated evacuation."""

    def __init__(self, vms: Sequence[EvacuationVm], rates: RateRule, slots: int | Mapping[str, int]) -> None:
        self.rates = rates
        self.slots = slots
        self.waiting: dict[str, list[EvacuationVm]] = {}
        # Longest first among the ordinary ones, then longest first among the serial ones.
        for vm in sorted(vms, key=lambda each: (each.serial, -each.size, -each.fixed_time, each.name)):
            self.waiting.setdefault(vm.source, []).append(vm)
        self.busy: Counter[str] = Counter()
        self.alone: set[str] = set()
        self.ordinary_out = Counter(vm.source for vm in vms if not vm.serial)
        self.setting_up: list[tuple[float, EvacuationVm]] = []
        self.moving: list[EvacuationVm] = []
        self.left: dict[str, float] = {}
        self.start: dict[str, float] = {}
        self.transfer: dict[str, float] = {}
        self.done: list[Move] = []
        self.now = 0.0
        self.most = 0
        self.unmoved = sum(vm.size for vm in vms)
        self.time = [0.0]
        self.remaining = [self.unmoved]

    def plan(self) -> Evacuation:
        """Start, wait for the next event, finish; until nothing is left."""
        self._start_all()
        while self.setting_up or self.moving:
            self._advance()
            self._start_all()
        makespan = self.now
        moves = tuple(sorted(self.done, key=lambda move: (move.start, move.vm.name)))
        host_done: dict[str, float] = {}
        for move in moves:
            host_done[move.vm.source] = max(host_done.get(move.vm.source, 0.0), move.end)
        return Evacuation(_band(makespan, moves), moves, host_done, self.most, tuple(self.time), tuple(self.remaining))

    def _room(self, host: str) -> bool:
        count = self.slots if isinstance(self.slots, int) else self.slots[host]
        return host not in self.alone and self.busy[host] < count

    def _may_start(self, vm: EvacuationVm) -> bool:
        if vm.serial:
            idle = self.busy[vm.source] == 0 and self.busy[vm.destination] == 0
            return idle and self.ordinary_out[vm.source] == 0
        return self._room(vm.source) and self._room(vm.destination)

    def _start_all(self) -> None:
        for source, queue in self.waiting.items():
            if not queue or not self._room(source):
                continue
            started = [vm for vm in queue if self._may_start(vm) and self._begin(vm)]
            if started:
                names = {vm.name for vm in started}
                self.waiting[source] = [vm for vm in queue if vm.name not in names]
        self.most = max(self.most, len(self.setting_up) + len(self.moving))

    def _begin(self, vm: EvacuationVm) -> bool:
        self.busy[vm.source] += 1
        self.busy[vm.destination] += 1
        if vm.serial:
            self.alone |= {vm.source, vm.destination}
        self.start[vm.name] = self.now
        self.setting_up.append((self.now + vm.fixed_time, vm))
        return True

    def _finish(self, vm: EvacuationVm) -> None:
        self.busy[vm.source] -= 1
        self.busy[vm.destination] -= 1
        if vm.serial:
            self.alone -= {vm.source, vm.destination}
        else:
            self.ordinary_out[vm.source] -= 1
        self.done.append(Move(vm, self.start[vm.name], self.transfer[vm.name], self.now))

    def _advance(self) -> None:
        speeds = self._speeds()
        ready = min((at for at, _ in self.setting_up), default=math.inf)
        step = ready - self.now
        for vm, speed in zip(self.moving, speeds, strict=True):
            if speed > 0:
                step = min(step, self.left[vm.name] / speed)
        if math.isinf(step):
            raise AnalysisError(
                "the network gives the waiting migrations no bandwidth",
                place=self.moving[0].name,
                remedy="check the vMotion path between its hosts",
            )
        self.now = ready if step == ready - self.now else self.now + step
        self._transfer(speeds, step)
        self._ready()
        self.time.append(self.now)
        self.remaining.append(max(0.0, self.unmoved))

    def _speeds(self) -> Sequence[float]:
        if not self.moving:
            return ()
        speeds = self.rates(tuple(self.moving))
        if len(speeds) != len(self.moving):
            raise AssertionError("the rate rule must give one rate per moving virtual machine")
        return speeds

    def _transfer(self, speeds: Sequence[float], step: float) -> None:
        still: list[EvacuationVm] = []
        for vm, speed in zip(self.moving, speeds, strict=True):
            # Compared as times: a rest too small to move the clock is done, too.
            if speed > 0 and self.left[vm.name] / speed <= step * (1 + TIME_TOLERANCE):
                self.unmoved -= self.left[vm.name]
                self._finish(vm)
                continue
            self.left[vm.name] -= speed * step
            self.unmoved -= speed * step
            still.append(vm)
        self.moving = still

    def _ready(self) -> None:
        waiting: list[tuple[float, EvacuationVm]] = []
        for at, vm in self.setting_up:
            if at > self.now:
                waiting.append((at, vm))
                continue
            self.transfer[vm.name] = self.now
            if vm.size > 0:
                self.left[vm.name] = vm.size
                self.moving.append(vm)
            else:
                self._finish(vm)
        self.setting_up = waiting


def _band(makespan: float, moves: Sequence[Move]) -> Estimate:
    """Band of the makespan [s]: its share of transfer time scales with the bandwidth, the rest with the set-up."""
    held = sum(move.end - move.start for move in moves)
    flowing = sum(move.end - move.transfer for move in moves)
    part = flowing / held if held > 0 else 0.0
    fast = part / BANDWIDTH_SPREAD.high + (1 - part) * SETUP_TIME.low / SETUP_TIME.value
    slow = part / BANDWIDTH_SPREAD.low + (1 - part) * SETUP_TIME.high / SETUP_TIME.value
    return Estimate.relative(makespan, fast, slow, "s", SOURCES)


FORMULA: Final = Formula(
    name="evacuation-schedule",
    title="Emptying hosts by list scheduling",
    function=evacuation_schedule,
    sources=SOURCES,
    valid_when="destinations chosen beforehand; rates constant between two events",
)
