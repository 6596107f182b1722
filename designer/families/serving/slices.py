"""Engines on parts of a GPU: MIG instances with compute and memory of their own, or turns of a virtual GPU."""

from __future__ import annotations

from dataclasses import dataclass, replace

from designer.engine.machines.hosts import gpu_type
from designer.engine.network import Network
from designer.errors import AnalysisError, CatalogError
from designer.families.serving.formulas._device import Device
from designer.units import parse


@dataclass(frozen=True, slots=True)
class Slice:
    """What one replica has of a GPU.

    Parameters
    ----------
    device
        As the replica sees it while it runs.
    each
        Slices of a GPU.
    turns
        Replicas that take turns on it; 1 where each has compute units of its own.
    turn
        Length of one turn [s].
    """

    device: Device
    each: int = 1
    turns: int = 1
    turn: float = 1.0


def slice_of(network: Network, index: int, device: Device, name: str, place: str) -> Slice:
    """The part of a GPU called `name`, or all of it.

    Raises
    ------
    AnalysisError
        If that GPU has no such part.
    """
    if not name:
        return Slice(device)
    kind = gpu_type(network, index)
    if kind is None:
        raise AnalysisError(f"{device.name} is not divided", place=place, remedy="leave the part empty")
    instance = next((one for one in kind.mig if name in (one.name, one.instance)), None)
    if instance is not None:
        share = instance.compute / kind.compute_slices, instance.memory / kind.memory_slices
        # the name states a nominal size; what the device has is shared out in memory slices
        memory = min(instance.framebuffer, device.memory * share[1])
        return Slice(replace(device.share(*share, memory), name=f"{instance.instance} of {device.name}"), instance.most)
    try:
        profile = kind.profile(name)
    except CatalogError:
        known = ", ".join(dict.fromkeys([p.instance for p in kind.mig] + [p.name for p in kind.profiles]))
        raise AnalysisError(f"{device.name} has no part {name!r}", place=place, remedy=f"use one of {known}") from None
    whole = replace(device, name=f"{profile.name} of {device.name}", memory=min(profile.framebuffer, device.memory))
    return Slice(whole, profile.most, profile.most, parse(profile.time_slice, "duration"))
