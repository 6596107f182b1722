"""One machine over a given bandwidth: the published models, fed with what it is and what the network gives it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from designer.engine.machines.demands import dirtying_of, filled_of, memory_of
from designer.engine.machines.free_capacity import Placed
from designer.families.machines.formulas import Outcome, Release, Verdict
from designer.families.machines.formulas._qemu import VHOST_USER
from designer.families.machines.formulas.kvm_bandwidth import (
    KvmBandwidth,
    Monitor,
    Transport,
    kvm_bandwidth,
    pinning_time,
)
from designer.families.machines.formulas.kvm_precopy import FILLED_SHARE, STOPS, handed_over, kvm_precopy
from designer.families.machines.formulas.kvm_precopy import SETUP as KVM_SETUP
from designer.families.machines.formulas.kvm_precopy import SWITCHOVER as KVM_SWITCHOVER
from designer.families.machines.formulas.kvm_vfio_state import VfioPause, VfioState, kvm_vfio_state
from designer.families.machines.formulas.vgpu_migration import VgpuMigration, vgpu_migration
from designer.families.machines.formulas.vgpu_stun import STUN_LIMIT, GpuGeneration, VgpuLoad, vgpu_stun
from designer.families.machines.formulas.vmotion_precopy import (
    BANDWIDTH_SPREAD,
    RESUME_TIME,
    SETUP_TIME,
    vmotion_precopy,
)
from designer.families.machines.operations import KvmSettings
from designer.fields import amount
from designer.sources import Constant, Estimate
from designer.units import Bytes, BytesPerSecond, Seconds

#: a network that holds nothing back [B/s]
NETWORK_LIMIT: Final = 1e18
#: rounding of a difference of times, relative
_ROUNDING_TOLERANCE: Final = 1e-9
#: pre-copies that are kept
_PRECOPIES_LIMIT: Final = 2048
_GENERATIONS = {each.value: each for each in GpuGeneration}


@dataclass(frozen=True, slots=True)
class DeviceState:
    """State of a machine's devices that is sent apart from its memory: frame buffers, or state of VFIO devices.

    Parameters
    ----------
    before, paused
        Sent while the guest runs, and while it is paused [B].
    start
        Time it takes in addition to its bytes [s].
    most
        Rate that hypervisor and device reach whatever network and streams give [B/s], and what limits it in words.
    spread
        80 % band of its time, relative [1].
    """

    before: float
    paused: float
    start: float
    most: float
    limited_by: str
    spread: tuple[float, float]


@dataclass(frozen=True, slots=True)
class MigrationEstimate:
    """One migration as computed.

    Parameters
    ----------
    size
        Bytes it puts on the link at the planned rate [B].
    memory
        Bytes of the guest's memory and disks among them [B].
    setup, resume, looking
        Before the first byte; quiescing and restoring the guest; time of looking at memory that sends nothing [s].
    device
        State of its devices that moves apart from its memory, None without any.
    stun
        Pause for virtual GPUs, None without any.
    """

    total: Estimate
    downtime: Estimate
    stun: Estimate | None
    transferred: Estimate
    size: float
    memory: float
    setup: Estimate
    resume: Estimate
    looking: float
    device: DeviceState | None
    arrives: bool
    verdict: Verdict
    reason: str
    slowdown: float
    time: tuple[float, ...]
    remaining: tuple[float, ...]

    @property
    def fixed_time(self) -> float:
        """Time it takes in addition to its bytes [s]."""
        return self.setup.value + self.resume.value + self.looking + (self.device.start if self.device else 0.0)

    @property
    def converges(self) -> bool:
        """True if its memory arrives, even where its GPUs do not."""
        return self.verdict is not Verdict.NEVER


@dataclass(frozen=True, slots=True)
class Drain:
    """What the routed paths give the frame buffer of a machine [B/s], and their channels."""

    rate: float
    channels: tuple[int, ...] = ()


def framebuffers(placed: Placed) -> list[VgpuLoad]:
    """Frame buffer in use of each virtual GPU; all of it where the drawing does not say less."""
    found: list[VgpuLoad] = []
    for device in placed.devices:
        if device.kind not in ("vgpu", "mig_vgpu", "device_group"):
            continue
        used = placed.vm.devices[device.device].memory_used
        found.append(
            VgpuLoad(min(device.framebuffer, amount(used, "size")) if used is not None else device.framebuffer)
        )
    return found


def stun_limit(placed: Placed, release: Release) -> Seconds:
    """Longest stun allowed [s]; a limit of one machine alone exists since 8.0 U2."""
    own = placed.vm.stun_limit
    stated = own is not None and release.since(Release.V8_0_U2)
    return Seconds(amount(own, "duration") if own is not None and stated else STUN_LIMIT.value)


def generation_of(placed: Placed) -> GpuGeneration | None:
    """Generation of the GPUs of a machine, None where it is not known."""
    kinds = {d.gpu.type.architecture for d in placed.devices if d.gpu is not None and d.gpu.type is not None}
    return _GENERATIONS.get(kinds.pop()) if len(kinds) == 1 else None


def vmotion_estimate(
    placed: Placed,
    rate: float,
    checkpoint: float,
    release: Release,
    dirty_rate: float | None,
    drain: Drain | None,
    disks: float,
) -> MigrationEstimate:
    """A vMotion at `rate` [B/s], with `checkpoint` for vGPU memory [B/s]; `dirty_rate` replaces the machine's own.

    Parameters
    ----------
    drain
        The way of the frame buffer over PCIe and host memory.
    disks
        Disk data that goes first over the same network [B]; what is written meanwhile is mirrored.

    Raises
    ------
    AnalysisError
        If a number is out of range.
    """
    dirtying = dirtying_of(placed.vm)
    dirty = dirtying.rate if dirty_rate is None else BytesPerSecond(dirty_rate)
    given = BytesPerSecond(rate)
    # memory that was never written and pages of zeros are not sent
    memory = filled_of(placed.vm) or memory_of(placed.vm)
    loads = framebuffers(placed)
    if not loads:
        plain = _cached_precopy(memory, given, dirty, dirtying.working_set)
        return _with_disks(_with_guest(plain, plain, _known_time(SETUP_TIME), _known_time(RESUME_TIME)), disks, rate)
    done = vgpu_migration(
        loads,
        memory,
        given,
        given,
        dirty,
        working_set=dirtying.working_set,
        checkpoint_bandwidth=BytesPerSecond(min(checkpoint, drain.rate) if drain is not None else checkpoint),
        release=release,
        generation=generation_of(placed),
        limit=stun_limit(placed, release),
    )
    stun = done.vgpu
    unlimited = BytesPerSecond(NETWORK_LIMIT)
    most = vgpu_stun(loads, unlimited, unlimited, release=release, generation=generation_of(placed)).bandwidth
    device = DeviceState(
        stun.precopied,
        stun.stunned,
        max(0.0, stun.stun.value - stun.stunned / stun.bandwidth),
        most if most < NETWORK_LIMIT else math.inf,
        stun.limited_by,
        (stun.stun.low / stun.stun.value, stun.stun.high / stun.stun.value),
    )
    migration = _with_guest(done, done.memory, _known_time(SETUP_TIME), _known_time(RESUME_TIME), stun.stun, device)
    return _with_disks(migration, disks, rate)


@lru_cache(maxsize=_PRECOPIES_LIMIT)
def _cached_precopy(memory: Bytes, rate: BytesPerSecond, dirty: BytesPerSecond, working_set: Bytes | None) -> Outcome:
    """Pre-copy of machines that are equivalent, which runs ask for again and again."""
    return vmotion_precopy(memory, rate, dirty, working_set=working_set)


def _with_disks(migration: MigrationEstimate, disks: float, rate: float) -> MigrationEstimate:
    """The migration after its disks went over the same network."""
    if not disks or not math.isfinite(migration.total.value):
        return migration
    took, total, sent = disks / rate, migration.total, migration.transferred
    return replace(
        migration,
        total=Estimate(
            total.value + took,
            total.low + took / BANDWIDTH_SPREAD.high,
            total.high + took / BANDWIDTH_SPREAD.low,
            "s",
            total.sources,
        ),
        transferred=Estimate.total([sent, Estimate.exact(disks, "B")]),
        size=migration.size + disks,
        memory=migration.memory + disks,
        time=(0.0, *(at + took for at in migration.time)),
        remaining=(migration.remaining[0] + disks, *migration.remaining),
    )


def _known_time(time: Constant) -> Estimate:
    return Estimate(time.value, time.low, time.high, "s", (time.source,))


def _with_guest(
    done: Outcome | VgpuMigration,
    guest: Outcome,
    setup: Estimate,
    resume: Estimate,
    stun: Estimate | None = None,
    device: DeviceState | None = None,
) -> MigrationEstimate:
    """A migration as computed, whose memory alone is that of `guest`."""
    memory = guest.transferred.value if guest.converged else 0.0
    return MigrationEstimate(
        done.total_time,
        done.downtime,
        stun,
        done.transferred,
        memory + (device.before + device.paused if device is not None else 0.0),
        memory,
        setup,
        resume,
        0.0,
        device,
        done.arrives if isinstance(done, VgpuMigration) else done.converged,
        guest.verdict,
        done.reason,
        guest.slowdown.value,
        done.time,
        done.remaining,
    )


def kvm_rate(settings: KvmSettings, line_rate: float, routed: float | None = None) -> KvmBandwidth:
    """What one KVM migration puts on the link and moves of the guest [B/s]."""
    given = BytesPerSecond(routed) if routed is not None else None
    return kvm_bandwidth(BytesPerSecond(line_rate), settings.sender, routed_bandwidth=given)


def kvm_estimate(
    placed: Placed,
    rate: float,
    line_rate: float,
    settings: KvmSettings,
    dirty_rate: float | None,
    drain: Drain | None,
    scan: float = 1.0,
    filled: float = 1.0,
) -> MigrationEstimate:
    """A KVM migration that gets `rate` of the network [B/s]; never converging is an answer.

    Parameters
    ----------
    scan
        How many times as long the search of memory for zero pages takes [1].
    filled
        Share of the memory that is not zero, where the design does not say [1].

    Raises
    ------
    AnalysisError
        If a number is out of range.
    """
    moved = kvm_rate(settings, line_rate, rate)
    transport = settings.sender.transport
    drawn = drain.rate if drain is not None else math.inf
    link = min(moved.link_rate.value, drawn)
    # devices of a machine whose memory is handed over stay open, and so does what they hold
    pause = device_pause(placed, link, settings) if transport is not Transport.HANDED_OVER else None
    memory, dirtying = memory_of(placed.vm), dirtying_of(placed.vm)
    pinned = transport is Transport.RDMA_PINNED
    setup = pinning_time(memory) if pinned else _known_time(KVM_SETUP)
    # processes that serve devices stop and start them one after the other
    served = _known_time(VHOST_USER).scaled(settings.vhost_user)
    resume = Estimate.total([_known_time(KVM_SWITCHOVER), *([served] if settings.vhost_user else [])])
    devices = pause.pause if pause is not None else Estimate.exact(0.0, "s")
    if transport is Transport.HANDED_OVER:
        done = handed_over(resume, devices, setup)
    else:
        done = kvm_precopy(
            memory,
            BytesPerSecond(moved.guest.value),
            dirtying.rate if dirty_rate is None else BytesPerSecond(dirty_rate),
            filled=_sent_memory(placed, settings, filled),
            working_set=dirtying.working_set,
            link_bandwidth=BytesPerSecond(moved.link_rate.value),
            scan_bandwidth=moved.scan.scaled(1 / scan),
            downtime_limit=settings.downtime_limit,
            auto_converge=settings.auto_converge,
            dirty_limit=_dirty_limit(placed, settings),
            # QEMU does not begin to post-copy a machine with assigned devices
            post_copy=settings.post_copy and pause is None,
            stopped=transport is Transport.FILE,
            stop=STOPS[settings.sender.monitor],
            vfio_downtime=devices,
            switchover=resume,
            setup_time=setup if pinned else None,
            bandwidth_band=moved.guest,
        )
    migration = _with_guest(done, done, setup, resume)
    if pause is not None:
        own = math.inf if transport is not Transport.FILE else link
        migration = _with_device(migration, pause, link, own)
        if settings.post_copy and not done.converged:
            reason = "a machine with assigned devices is not post-copied, and it dirties memory as fast as it is sent"
            migration = replace(migration, reason=reason)
    if not done.converged or transport is Transport.HANDED_OVER:
        return migration
    sending = done.transferred.value / moved.link_rate.value + devices.value
    looking = done.total_time.value - sending - migration.setup.value - migration.resume.value
    return replace(migration, looking=looking if looking > done.total_time.value * _ROUNDING_TOLERANCE else 0.0)


def _sent_memory(placed: Placed, settings: KvmSettings, filled: float) -> Bytes | Estimate:
    """Memory of a machine that is sent once at least [B]; `filled` is the share where the design does not say."""
    memory, sent, monitor = memory_of(placed.vm), filled_of(placed.vm), settings.sender.monitor
    if settings.sender.sends_all:
        return memory
    if monitor is not Monitor.QEMU:
        # nothing says that they leave zero pages out
        least = sent or memory * FILLED_SHARE.low
        return Estimate(max(least, memory * filled), least, memory, "B", (FILLED_SHARE.source,))
    if sent is not None:
        return sent
    return Estimate(memory * filled, memory * min(filled, FILLED_SHARE.low), memory, "B", (FILLED_SHARE.source,))


def _dirty_limit(placed: Placed, settings: KvmSettings) -> BytesPerSecond | None:
    """What the virtual CPUs of a machine may write together [B/s]."""
    return None if settings.dirty_limit is None else BytesPerSecond(settings.dirty_limit * placed.vm.vcpus)


def _with_device(migration: MigrationEstimate, pause: VfioPause, link: float, own: float) -> MigrationEstimate:
    """The migration with the state of its devices; what drivers give early goes first.

    Parameters
    ----------
    link, own
        The rate it is sent at most, and what the drawing does not know of that [B/s].
    """
    time, rate = pause.pause, min(link, pause.rate)
    spread = (time.low / time.value, time.high / time.value)
    start = max(0.0, time.value - pause.stopped / rate)
    device = DeviceState(pause.precopied, pause.stopped, start, min(pause.rate, own), pause.limited_by, spread)
    early = pause.precopied / rate
    moved = Estimate.exact(pause.precopied + pause.stopped, "B")
    return replace(
        migration,
        stun=time,
        device=device,
        total=Estimate.total([migration.total, Estimate(early, early * spread[0], early * spread[1], "s")]),
        transferred=Estimate.total([migration.transferred, moved]),
    )


def device_pause(placed: Placed, rate: float, settings: KvmSettings) -> VfioPause | None:
    """Pause for the state of assigned devices, None without any."""
    states: list[VfioState] = []
    for device in placed.devices:
        if device.kind in ("sriov", "dpu"):
            continue
        used = placed.vm.devices[device.device].memory_used
        size = amount(used, "size") if used is not None else settings.device_state or device.framebuffer
        states.append(VfioState(size, settings.device_precopy))
    if not states:
        return None
    return kvm_vfio_state(
        states, BytesPerSecond(rate), channels=settings.sender.channels, multifd_transfer=settings.multifd_devices
    )
