"""The vocabulary workloads lower themselves to; analysis evaluates these and nothing else.

Each operation names the file of ``designer.analysis.evaluators`` that answers it.

Parts are named by *selectors*: a path, a path with wild cards, or one of the words ``gpus``, ``memory``, ``storage``,
``drives``, ``nics``, ``cpus``, ``servers``, which mean all parts with that capability.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from designer.workload.inference import Inference
from designer.workload.jobs import Checkpointing, DataLoading, Training
from designer.workload.serving import Serving

Pairing = Literal["auto", "nearest", "striped", "pairs", "shift", "permutation", "all"]


@dataclass(frozen=True, slots=True)
class Transfer:
    """Bytes from a set of parts to a set of parts.

    Parameters
    ----------
    pairing
        Who sends to whom. ``nearest``: every target from the source nearest to it; ``striped``: every target from all
        sources in equal shares; ``pairs``: first to first; ``shift``: i to i + n/2 of one set; ``permutation``: a
        random one; ``all``: every pair is a flow. ``auto`` takes what fits the kinds of parts.
    size
        Bytes each flow moves [B]; 0 means a steady stream of which only the rate matters.
    demand
        Most a flow asks for [B/s]; 0 means all it can get.
    both_ways
        Every flow has a twin in the other direction.
    machines
        Ids of the virtual machines whose accelerators they are; empty for those the accelerators are given to.
    """

    answered_by: ClassVar[str] = "transfer"
    name: str
    source: str
    target: str
    pairing: Pairing = "auto"
    size: float = 0.0
    demand: float = 0.0
    both_ways: bool = False
    seed: int = 0
    through_memory: bool | None = None
    machines: str = ""


@dataclass(frozen=True, slots=True)
class Collective:
    """A collective over a group of accelerators; ``size`` is the message of nccl-tests [B].

    Parameters
    ----------
    machines
        Ids of the virtual machines whose accelerators they are; empty for those they are given to.
    """

    answered_by: ClassVar[str] = "collective"
    name: str
    collective: str
    group: str
    size: float
    algorithm: str = "auto"
    machines: str = ""


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

    answered_by: ClassVar[str] = "vmotion"
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

    answered_by: ClassVar[str] = "evacuation"
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

    answered_by: ClassVar[str] = "kvm_migration"
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


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """A search of ``designer.decisions``, by the name of its module, and the settings that it reads, in SI units."""

    answered_by: ClassVar[str] = "search"
    name: str
    settings: Mapping[str, Any]


MoveOperation = Vmotion | Evacuation | KvmMigration
TrainingOperation = Training | Checkpointing | DataLoading
Operation = Transfer | Collective | MoveOperation | TrainingOperation | Serving | Inference | Search
