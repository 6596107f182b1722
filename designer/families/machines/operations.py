"""Migrations as they are asked for: which machines move, where to, and how."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from designer.families.machines.formulas.kvm_bandwidth import Sender
from designer.families.machines.formulas.vmotion_streams import JUMBO_FROM
from designer.units import Seconds, parse_duration
from designer.workload.program.tasks import Task


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares of network I/O control: what migrations weigh against the traffic next to them [1]; 0 leaves it to TCP."""

    migrations: float = 0.0
    others: float = 0.0


@dataclass(frozen=True, slots=True)
class KvmSettings:
    """How QEMU or another KVM monitor migrates.

    Parameters
    ----------
    sender
        Connections, transport, compression and encryption.
    downtime_limit
        Longest pause aimed at [s].
    dirty_limit
        What each virtual CPU may write per second once passes do not shrink [B/s]; None for no such limit.
    device_state
        State of each assigned device that does not say its own [B]; 0 if such devices cannot move.
    device_precopy
        Drivers of assigned devices give their state while the guest runs.
    vhost_user
        Devices of each machine that another process serves.
    """

    sender: Sender = field(default_factory=Sender)
    auto_converge: bool = False
    dirty_limit: float | None = None
    post_copy: bool = False
    downtime_limit: Seconds = parse_duration("300 ms")
    device_state: float = 0.0
    device_precopy: bool = False
    multifd_devices: bool = False
    vhost_user: int = 0


@dataclass(frozen=True, slots=True)
class Conditions:
    """How machines move.

    Parameters
    ----------
    release
        What the hosts run, where the study overrules the design.
    mtu
        Frame size of the migration network [B].
    round_trip
        Round-trip time between the hosts [s].
    dirty_rate
        Replaces what the machines say [B/s].
    at_once
        Migrations per host at the same time; 0 for what the hypervisor admits.
    cold
        True if machines that cannot move alive are shut down and started elsewhere.
    disks
        Disk data each machine takes along, where its hosts share no storage [B].
    shares
        Network I/O control on the uplinks of the hosts.
    """

    release: str = ""
    encrypted: bool = False
    vmknics_per_nic: int = 1
    mtu: float = JUMBO_FROM.value
    round_trip: float = 0.0
    dirty_rate: float | None = None
    at_once: int = 0
    cold: bool = False
    disks: float = 0.0
    shares: Shares = field(default_factory=Shares)
    kvm: KvmSettings = field(default_factory=KvmSettings)


@dataclass(frozen=True, slots=True)
class Migration:
    """Some machines moved to other hosts, or some hosts emptied.

    Parameters
    ----------
    vms
        Ids of the machines.
    hosts
        The hosts to empty; None where machines are named.
    target
        Hosts they may go to; empty for any other.
    background
        Ids of workloads that run with.
    """

    conditions: Conditions
    vms: tuple[str, ...] = ()
    hosts: str | None = None
    target: str = ""
    background: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Migrate(Task):
    """All moves of a migration workload: admitted, set up, sent pass by pass at what the network gives, resumed.

    Parameters
    ----------
    part
        Share of all sizes and waits that is done: next to what repeats often, a part takes that share of the time [1].
    """

    priced_by: ClassVar[str] = "designer.families.machines.costs"
    moves_data: ClassVar[bool] = True
    side_by_side: ClassVar[bool] = True
    operation: Migration
    part: float = 1.0
