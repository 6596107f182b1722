"""Migrations as they are asked for: which machines move, where to, and how."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Vmotion:
    """Running virtual machines to other hosts over the vMotion network.

    Parameters
    ----------
    vms
        Ids of the machines.
    target
        Hosts they may go to; empty for any other.
    release
        What the hosts run; empty for what the drawing says.
    dirty_rate
        Replaces what the machines say [B/s]; None leaves it.
    background
        Ids of workloads that run beside.
    disks
        Disk data each machine takes along where hosts share no storage [B].
    shares, shares_beside
        Network I/O control of migrations and of the traffic beside them; 0 for none.
    """

    vms: tuple[str, ...]
    target: str = ""
    release: str = ""
    encrypted: bool = False
    vmknics_per_nic: int = 1
    mtu: float = 9000.0
    round_trip: float = 0.0
    dirty_rate: float | None = None
    at_once: int = 0
    background: tuple[str, ...] = ()
    disks: float = 0.0
    shares: int = 0
    shares_beside: int = 0


@dataclass(frozen=True, slots=True)
class Evacuation:
    """All virtual machines off some hosts, as maintenance mode asks; fields as of `Vmotion`."""

    hosts: str
    target: str = ""
    release: str = ""
    encrypted: bool = False
    vmknics_per_nic: int = 1
    mtu: float = 9000.0
    round_trip: float = 0.0
    at_once: int = 0
    cold: bool = True
    background: tuple[str, ...] = ()
    disks: float = 0.0
    shares: int = 0
    shares_beside: int = 0


@dataclass(frozen=True, slots=True)
class KvmMigration:
    """Running KVM guests to other hosts: channels, compression, throttling, post-copy, device state.

    Parameters
    ----------
    downtime_limit
        Longest pause aimed at [s].
    max_bandwidth
        Ceiling configured in the hypervisor [B/s]; 0 for none.
    device_state
        State of each assigned device that does not say its own [B]; 0 if such devices cannot move.
    """

    vms: tuple[str, ...]
    target: str = ""
    channels: int = 1
    monitor: str = "qemu"
    transport: str = "tcp"
    compression: str = "none"
    auto_converge: bool = False
    post_copy: bool = False
    downtime_limit: float = 0.3
    max_bandwidth: float = 0.0
    device_state: float = 0.0
    multifd_devices: bool = False
    dirty_rate: float | None = None
    at_once: int = 0
    background: tuple[str, ...] = ()
