"""KVM: state of assigned devices (VFIO), pre-copied or sent while the guest is paused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from designer.errors import AnalysisError
from designer.families.machines.formulas._precopy import at_least_one, not_negative, positive, share
from designer.families.machines.formulas._qemu import CHANNEL_QEMU
from designer.formulas.formula import Formula
from designer.sources import Constant, Estimate, Status
from designer.units import BytesPerSecond, Ratio

SOURCES: Final = ("qemu-vfio-migration", "kubevirt-multifd", "migration-assumed")

#: a device is stopped, saved and started; one after the other unless its state travels on multifd channels
VFIO_FIXED: Final = Constant(
    0.05, 0.01, 0.2, "migration-assumed", Status.ASSUMED, "s", "stop, save and restore of one device"
)
LEFT_AFTER_PRECOPY: Final = Constant(
    0.30, 0.05, 0.5, "migration-assumed", Status.ASSUMED, "1", "share of pre-copied state written again; as vGPU in 9.0"
)


@dataclass(frozen=True, slots=True)
class VfioState:
    """One assigned device: its state [B], and whether its driver can pre-copy it."""

    size: float
    precopies: bool = False


@dataclass(frozen=True, slots=True)
class VfioPause:
    """State sent before and in the pause [B], and the pause it costs [s], the states added up."""

    precopied: float
    stopped: float
    pause: Estimate


def kvm_vfio_state(
    states: Sequence[VfioState],
    bandwidth: BytesPerSecond,
    *,
    channels: int = 1,
    multifd_transfer: bool = False,
    rewritten: Ratio = Ratio(LEFT_AFTER_PRECOPY.value),
) -> VfioPause:
    """Pause the assigned devices of a guest cost [s].

    Parameters
    ----------
    states
        Its assigned devices.
    bandwidth
        What the network gives the migration [B/s].
    channels, multifd_transfer
        Device state uses one connection, or all channels side by side (QEMU 10.0 and newer).
    rewritten
        Share of a pre-copied state that must be sent again in the pause [1].

    Raises
    ------
    AnalysisError
        If there is no device, or a size, rate or share is out of range.

    Sources
    -------
    QEMU's description of VFIO migration; fixed times and the rewritten share are assumed.
    """
    if not states:
        raise AnalysisError("the guest has no assigned device", remedy="give one state per device")
    positive(bandwidth, "bandwidth")
    at_least_one(channels, "channels")
    share(rewritten, "rewritten")
    lanes = channels if multifd_transfer else 1

    def pause(channel: float, again: float, fixed: float) -> float:
        rate = min(bandwidth, lanes * channel)
        amount = sum(state.size * (again if state.precopies else 1.0) for state in states)
        return amount / rate + fixed * (1 if multifd_transfer else len(states))

    moved = sum(not_negative(state.size, "size") for state in states)
    stopped = sum(state.size * (rewritten if state.precopies else 1.0) for state in states)
    again = (rewritten, LEFT_AFTER_PRECOPY.low, LEFT_AFTER_PRECOPY.high)
    value = pause(CHANNEL_QEMU.value, rewritten, VFIO_FIXED.value)
    low = pause(CHANNEL_QEMU.high, min(again), VFIO_FIXED.low)
    high = pause(CHANNEL_QEMU.low, max(again), VFIO_FIXED.high)
    precopied = sum(state.size for state in states if state.precopies)
    assert stopped <= moved
    return VfioPause(precopied, stopped, Estimate(value, low, high, "s", SOURCES))


FORMULA: Final = Formula(
    name="kvm-vfio-state",
    title="Pause for the state of assigned devices",
    function=kvm_vfio_state,
    sources=SOURCES,
    valid_when="VFIO migration protocol 2; no published timing was found, the band says so",
)
