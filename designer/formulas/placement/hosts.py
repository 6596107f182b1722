"""Virtual machines on a host: NUMA nodes they see, and windows for the memory of their devices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from designer.errors import AnalysisError
from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import Bytes, parse_size

EXPOSED_ABOVE: Final = Constant(
    8, 8, 8, "denneman-2016-numa", Status.SECONDARY, "1", "virtual CPUs; numa.vcpu.min is 9"
)


#: 226 GB of a machine stayed on a node of 256 GB, the hypervisor and others took the rest
NODE_SHARE: Final = Constant(
    226 / 256, 0.8, 1.0, "denneman-2022-vnuma", Status.DERIVED, "1", "of a node's memory for one machine, one point"
)


@dataclass(frozen=True, slots=True)
class VirtualNuma:
    """Nodes the guest sees, virtual CPUs on each, and memory away from the node its CPUs are on [B]."""

    nodes: int
    cpus: tuple[int, ...]
    remote_memory: float

    @property
    def even(self) -> bool:
        """True if all nodes have as many CPUs."""
        return len(set(self.cpus)) == 1


def virtual_numa(
    cpus: int, memory: Bytes, cores_per_node: int, memory_per_node: Bytes, *, nodes: int | None = None
) -> VirtualNuma:
    """How a machine is cut into virtual NUMA nodes, and its remote memory [B].

    Parameters
    ----------
    cpus, memory
        Virtual CPUs, and memory [B].
    cores_per_node, memory_per_node
        Cores, threads not counted, and memory [B] of one node of the host.
    nodes
        Nodes asked for in place of those ESXi chooses.

    Raises
    ------
    AnalysisError
        If a count or a size is not positive.

    Notes
    -----
    More than one node only above 8 virtual CPUs and above the cores of a node; as few as hold the CPUs, split evenly.
    Memory is not considered, which is what leaves some of it on another socket.

    Sources
    -------
    Posts of 2016-12-12 and 2022-11-03.
    """
    if min(cpus, cores_per_node) < 1 or not (memory > 0 and memory_per_node > 0) or (nodes is not None and nodes < 1):
        raise AnalysisError(
            f"{cpus} virtual CPUs on nodes of {cores_per_node} cores",
            place="cpus",
            remedy="give counts and sizes above zero",
        )
    wide = cpus > EXPOSED_ABOVE.value and cpus > cores_per_node
    count = nodes or (math.ceil(cpus / cores_per_node) if wide else 1)
    each = tuple(cpus // count + (1 if at < cpus % count else 0) for at in range(count))
    local = min(memory, count * NODE_SHARE.value * memory_per_node)
    return VirtualNuma(count, each, memory - local)


_KEY: Final = "denneman-2023-gpu-setup"


GIB: Final = parse_size("1 GiB")


LEAST: Final = Constant(
    64 * GIB, 64 * GIB, 64 * GIB, _KEY, Status.DERIVED, "B", "of each GPU; needed for the row of 16 GB boards"
)


def mmio_space(framebuffers: Sequence[float]) -> float:
    """Setting ``pciPassthru.64bitMMIOSizeGB`` of a machine with these GPUs [B].

    Parameters
    ----------
    framebuffers
        Memory of each GPU, all of it whatever the profile [B].

    Raises
    ------
    AnalysisError
        If there is no GPU, or one without memory.

    Notes
    -----
    Sum of max(64 GiB, 2 × next power of two), rounded up to a power of two.

    Sources
    -------
    Post of 2023-05-30; NVIDIA AI Enterprise user guide.
    """
    if not framebuffers or min(framebuffers) <= 0:
        raise AnalysisError("a GPU without memory has no address space", place="framebuffers", remedy="give its memory")
    return _power(sum(max(LEAST.value, 2 * _power(each)) for each in framebuffers))


def _power(size: float) -> float:
    """The next power of two [B], in whole GiB; what a data sheet rounds up to GB is no more than that many GiB."""
    found = GIB
    while found < size:
        found *= 2
    return found


FORMULAS: Final = (
    Formula(
        name="virtual-numa",
        title="Virtual NUMA nodes and remote memory",
        function=virtual_numa,
        sources=("denneman-2016-numa", "denneman-2022-vnuma"),
        valid_when="vSphere 6.5 and newer, CPU hot add off, threads not preferred over cores",
    ),
    Formula(
        name="mmio-space",
        title="64-bit MMIO space of a virtual machine with GPUs",
        function=mmio_space,
        sources=("denneman-2023-gpu-setup", "nvidia-aie-user-guide"),
        valid_when="GPUs with large BARs, EFI firmware; a larger value costs a few tens of MB",
    ),
)
