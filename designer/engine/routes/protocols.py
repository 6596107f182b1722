"""What the protocol of a storage system means for hosts: where it can place data, and what that costs processors.

Data lands in the memory of accelerators when an adapter writes it there: over RDMA, from local NVMe drives, and with
the parallel file systems that support it. TCP, object stores and the datastores of a hypervisor end in the kernel of
a host: their data stops in host memory, and processor cores move every byte.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability, part_kinds, value_of
from designer.design.document import Part
from designer.engine.network import NETWORKS_LIMIT, Network
from designer.engine.network.capacities import NETWORK, of_each
from designer.engine.routes import route
from designer.engine.routes.legs import Legs
from designer.memo import memo
from designer.sources import Constant, Status

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]

#: cores a host spends on each byte per second that it receives over the network
KERNEL_COST: Final = Constant(0.8e-9, 0.3e-9, 1.6e-9, "assumed-training", Status.ASSUMED, "s/B", "kernel TCP client")
#: what cores move, at the high and the low end of that, over what they move in the middle of it [1]
KERNEL_BAND: Final = (KERNEL_COST.value / KERNEL_COST.high, KERNEL_COST.value / KERNEL_COST.low)
ADAPTER_COST: Final = Constant(
    0.1e-9, 0.03e-9, 0.3e-9, "assumed-training", Status.ASSUMED, "s/B", "RDMA, or a DPU does the protocol"
)
#: words of protocols and interfaces whose data passes the kernel of a host
_KERNEL: Final = frozenset({"tcp", "iscsi", "smb", "cifs", "s3", "nfs", "nfsv3", "nfsv4", "vsan"})
_INDIRECT: Final = _KERNEL | {"fibre", "fc", "vmfs", "vvols", "dpdk", "sata", "sas"}
_DIRECT: Final = frozenset({"rdma", "roce"})
#: words of protocols that adapters do
_ADAPTERS: Final = _DIRECT | {"fibre", "fc"}
_WORDS: Final = re.compile(r"[a-z0-9]+")


@memo(most=NETWORKS_LIMIT)
def _says(network: Network) -> tuple[frozenset[str], ...]:
    """The words of the protocol or interface of every part definition that keeps data."""
    design, kinds = network.design, part_kinds()

    def words(part: Part) -> frozenset[str]:
        quantity = None
        if part.kind in kinds and Capability.STORE in kinds[part.kind].capabilities:
            quantity = design.quantity(part, "protocol") or design.quantity(part, "interface")
        return frozenset(_WORDS.findall(str(quantity.value).lower())) if quantity is not None else frozenset()

    return tuple(of_each(words, network.net.part_defs))


def _definitions(network: Network, words: frozenset[str], but: frozenset[str] = frozenset()) -> Bool:
    says = of_each(lambda said: bool(said & words) and not said & but, _says(network))
    return np.array(says, dtype=bool)


def _is_named(network: Network, words: frozenset[str], but: frozenset[str] = frozenset()) -> Bool:
    found = _definitions(network, words, but)
    return found[network.net.part_def] if found.any() else np.zeros(network.net.n_parts, dtype=bool)


def hosted_definitions(network: Network) -> Bool:
    """Definitions of storage whose data never lands in the memory of accelerators. : (n_part_defs,)"""
    return _definitions(network, _INDIRECT, _DIRECT)


def ends_in_host(network: Network) -> Bool:
    """Storage whose data never lands in the memory of accelerators. : (n_parts,)"""
    return _is_named(network, _INDIRECT, _DIRECT)


def in_kernel(network: Network) -> Bool:
    """Storage that says its data passes the kernel of a host. : (n_parts,)"""
    return _is_named(network, _KERNEL, _DIRECT)


def host_cost(network: Network, legs: Legs) -> Float:
    """Core seconds per byte of each leg that the host at its other end spends on the protocol. : (n_legs,)

    Notes
    -----
    Nothing inside a server, and nothing where an adapter writes straight into an accelerator. A DPU does the protocol
    for what passes through it, and for nothing else.
    """
    away = network.island[legs.source] != network.island[legs.target]
    accelerates, adapters = network.has(Capability.ACCELERATE), _is_named(network, _ADAPTERS)
    cost = np.full(len(legs), KERNEL_COST.value)
    cost[adapters[legs.source] | adapters[legs.target]] = ADAPTER_COST.value
    cost[accelerates[legs.source] | accelerates[legs.target]] = 0.0
    cost[~away] = 0.0
    through = _through_dpu(network, legs, np.flatnonzero(cost > ADAPTER_COST.value))
    return cost - through * np.maximum(cost - ADAPTER_COST.value, 0.0)


def _through_dpu(network: Network, legs: Legs, rows: Int) -> Float:
    """Share of each leg that enters or leaves a server through a DPU. : (n_legs,)"""
    found = np.zeros(len(legs))
    dpus = np.zeros(network.net.n_parts, dtype=bool)
    dpus[network.parts_of_kind("dpu")] = True
    if not dpus.any() or not len(rows):
        return found
    routes = route(network, Legs(np.arange(len(rows)), legs.source[rows], legs.target[rows], np.ones(len(rows))))
    link = routes.channel >> 1
    at = (network.domain[link] == NETWORK) & (dpus[network.net.link_a[link]] | dpus[network.net.link_b[link]])
    found[rows] = np.minimum(np.bincount(routes.flow[at], routes.share[at], len(rows)), 1.0)
    return found


@memo(most=NETWORKS_LIMIT)
def cores_of_islands(network: Network) -> Float:
    """Processor cores of every island; those of DPUs are busy with its protocols. : (n_islands,)"""
    design, kinds = network.design, part_kinds()

    def cores(part: Part) -> float:
        has = kinds[part.kind].capabilities if part.kind in kinds else frozenset[Capability]()
        counts = Capability.COMPUTE in has and Capability.ATTACH not in has
        quantity = design.quantity(part, "cores") if counts else None
        return (value_of(part.kind, "cores", quantity) if quantity is not None else None) or 0.0

    per_definition = np.array(of_each(cores, network.net.part_defs), dtype=np.float64)
    found = np.bincount(network.island, per_definition[network.net.part_def], network.n_islands).astype(np.float64)
    found.setflags(write=False)
    return found
