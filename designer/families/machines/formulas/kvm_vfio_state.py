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

SOURCES: Final = ("qemu-vfio-migration", "linux-vfio-precopy", "kubevirt-multifd", "migration-assumed")

#: device after device: no transfer between devices begins once one of them is quiet
VFIO_QUIESCE: Final = Constant(0.010, 0.002, 0.1, "migration-assumed", Status.ASSUMED, "s", "stop of one device")
#: a device each, at the same time where its state has a thread of its own
VFIO_SWITCH: Final = Constant(
    0.025, 0.005, 0.2, "migration-assumed", Status.ASSUMED, "s", "begin to save and to load, and its configuration"
)
VFIO_START: Final = Constant(0.015, 0.003, 0.1, "migration-assumed", Status.ASSUMED, "s", "start of one device")
#: pieces are saved, sent and loaded at the same time: the slower of saving and loading
VFIO_SAVE: Final = Constant(
    2.5e9, 0.3e9, 8.0e9, "migration-assumed", Status.ASSUMED, "B/s", "what firmware or driver of one device gives"
)
#: a vGPU of vSphere 9.0 has 30 % left, a virtio function 25 to 30 % of its pause
LEFT_AFTER_PRECOPY: Final = Constant(
    0.30, 0.1, 0.6, "linux-vfio-precopy", Status.DERIVED, "1", "share of pre-copied state written again"
)


@dataclass(frozen=True, slots=True)
class VfioState:
    """One assigned device: its state [B], and whether its driver can pre-copy it."""

    size: float
    precopies: bool = False


@dataclass(frozen=True, slots=True)
class VfioPause:
    """State sent before and in the pause [B], and the pause it costs [s], the states added up.

    Parameters
    ----------
    rate
        What connections and devices reach whatever the network gives [B/s].
    limited_by
        Which of them.
    """

    precopied: float
    stopped: float
    pause: Estimate
    rate: float
    limited_by: str


def kvm_vfio_state(
    states: Sequence[VfioState],
    bandwidth: BytesPerSecond,
    *,
    channels: int = 1,
    multifd_transfer: bool = False,
    rewritten: Ratio = Ratio(LEFT_AFTER_PRECOPY.value),
) -> VfioPause:
    """Pause the assigned devices of a guest cost [s]: quiesce, save, load and start each.

    Parameters
    ----------
    states
        Its assigned devices.
    bandwidth
        What the network gives the migration [B/s].
    channels, multifd_transfer
        Device after device over one connection, or all devices at the same time over all channels (QEMU 10.0 and
        newer). The state of one device is saved and loaded in order by one thread, so only devices run side by side.
    rewritten
        Share of a pre-copied state that must be sent again in the pause [1].

    Raises
    ------
    AnalysisError
        If there is no device, or a size, rate or share is out of range.

    Sources
    -------
    QEMU's description of VFIO migration; pre-copy of virtio functions in Linux. Times and rates of devices are assumed.
    """
    if not states:
        raise AnalysisError("the guest has no assigned device", remedy="give one state per device")
    positive(bandwidth, "bandwidth")
    at_least_one(channels, "channels")
    share(rewritten, "rewritten")
    moved = sum(not_negative(state.size, "size") for state in states)
    lanes = channels if multifd_transfer else 1
    amounts = [state.size * (rewritten if state.precopies else 1.0) for state in states]
    stopped = sum(amounts)
    assert stopped <= moved

    def pause(which: str, rates: str, again: float) -> float:
        quiesce, switch, start = (float(getattr(each, which)) for each in (VFIO_QUIESCE, VFIO_SWITCH, VFIO_START))
        channel, save = (float(getattr(each, rates)) for each in (CHANNEL_QEMU, VFIO_SAVE))
        sizes = [state.size * (again if state.precopies else 1.0) for state in states]
        one = min(bandwidth, lanes * channel, save)
        fixed = len(states) * (quiesce + start)
        if multifd_transfer:
            return fixed + switch + max(max(sizes) / one, sum(sizes) / min(bandwidth, lanes * channel))
        return fixed + len(states) * switch + sum(sizes) / one

    again = (rewritten, LEFT_AFTER_PRECOPY.low, LEFT_AFTER_PRECOPY.high)
    value = pause("value", "value", rewritten)
    low, high = pause("low", "high", min(again)), pause("high", "low", max(again))
    # states of unlike size: the largest is the last to arrive
    together = stopped / max(amounts) if multifd_transfer and stopped else 1.0
    limits = {"connections": lanes * CHANNEL_QEMU.value, "what devices save and load": together * VFIO_SAVE.value}
    slowest = min(limits, key=lambda name: limits[name])
    return VfioPause(
        sum(state.size for state in states if state.precopies),
        stopped,
        Estimate(value, low, high, "s", SOURCES),
        limits[slowest],
        slowest,
    )


FORMULA: Final = Formula(
    name="kvm-vfio-state",
    title="Pause for the state of assigned devices",
    function=kvm_vfio_state,
    sources=SOURCES,
    valid_when="VFIO migration protocol 2; no published time of a device was found, the band says so",
)
