"""What rules look at: the machines of a design by class, its fabrics by tier, its virtual machines where they stand.

Equal machines are looked at once and counted, so 16,384 GPUs cost hardly more than eight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from designer.analysis.network import Network, build_network
from designer.analysis.network.islands import find_islands
from designer.analysis.routes.gateways import Fabric, find_fabric
from designer.analysis.training.preparation import ALONE, prepare
from designer.analysis.training.step import busy_step
from designer.analysis.vms.asked import hosts_of
from designer.analysis.vms.demands import vsphere
from designer.analysis.vms.hosts import Host, HostGpu
from designer.analysis.vms.migrations import framebuffers, generation_of, stun_limit
from designer.analysis.vms.placement import Placement, place_vms, release_on
from designer.catalog.parttype import Capability, value_of
from designer.catalog.vm_settings import vm_setting
from designer.design.address import Address, block_at, block_at_step, split_path, where_stored
from designer.design.document import Block, Design, Elevation, Part, VirtualMachine
from designer.errors import AnalysisError, DesignerError, DocumentError
from designer.formulas.migration.vgpu_stun import VgpuStun, vgpu_stun
from designer.formulas.migration.vmotion_streams import vmotion_streams
from designer.formulas.pipeline.step_composition import StepEstimate
from designer.rules.machines import MachineClass, MachinePart
from designer.rules.tiers import Tier, find_tiers
from designer.units import EXAMPLE, BytesPerSecond, parse
from designer.workload.datasets import Dataset, dataset
from designer.workload.kind import task_of
from designer.workload.migrations import Migration
from designer.workload.program.migration import Migrate
from designer.workload.program.training import TrainStep

Int = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SubNode:
    """A NUMA node that is a part of a socket: cores and memory [B], 0 where they are not known."""

    cores: float
    memory: float


class Context:
    """A design as rules see it; everything is worked out when it is first asked for."""

    def __init__(self, design: Design) -> None:
        self.design = design

    @cached_property
    def network(self) -> Network:
        """The elaborated design."""
        return build_network(self.design)

    @cached_property
    def machines(self) -> tuple[MachineClass, ...]:
        """The classes of what host and accelerator links hold together, single switches left out."""
        islands = find_islands(self.network)
        _, first, counts = np.unique(islands.class_of, return_index=True, return_counts=True)
        sizes = np.diff(islands.part_start)
        return tuple(
            MachineClass(self.network, int(island), int(times))
            for island, times in sorted(zip(first.tolist(), counts.tolist(), strict=True))
            if sizes[island] > 1
        )

    def gpus(self, machine: MachineClass) -> list[MachinePart]:
        """The accelerators of a machine."""
        return machine.having(Capability.ACCELERATE)

    def stored(self, path: str) -> tuple[Address, str, Block]:
        """Where what stands at a path is defined: the block's address, the id there, and the block.

        A member of a group that is like the others is defined once for all of them, one that differs by itself.

        Raises
        ------
        DocumentError
            If there is no such way.
        """
        within, name = split_path(path)
        found = where_stored(self.design, within)
        return found, name, block_at(self.design, found)

    def words_for(self, within: Address) -> str:
        """What an edit at an address reaches, for the title of a fix; empty outside of groups."""
        block: Block = self.design
        count = 1
        for group_id, member in within:
            group = block.groups[group_id]
            count *= group.replicas - len(group.exceptions) if member is None else 1
            block = block_at_step(block, (group_id, member))
        one = any(member is not None for _, member in within) and count == 1
        return "" if not within else " in this member alone" if one else f" in all {count:,} members"

    def blocks(self) -> Iterator[tuple[Block, str, int]]:
        """The design and the contents of its groups, each once: with the path to the first, and how often it stands."""
        return _blocks(self.design, "", 1)

    def standing_in(self, rack: Elevation) -> dict[str, Part]:
        """The units whose place in a rack is fixed, by path; those that are gone are left out."""
        found: dict[str, Part] = {}
        for path in rack.units:
            try:
                _, name, block = self.stored(path)
            except DocumentError:
                continue
            if name in block.parts:
                found[path] = block.parts[name]
        return found

    def number(self, part: Part, name: str) -> float | None:
        """The value `name` of a part in SI units; None where it is not given."""
        quantity = self.design.quantity(part, name)
        return value_of(part.kind, name, quantity) if quantity is not None else None

    def text(self, part: Part, name: str) -> str:
        """What a part says of itself: its attribute `name`, else the value of its type; lower case."""
        told = part.attributes.get(name, "")
        if not told:
            quantity = self.design.quantity(part, name)
            told = str(quantity.value) if quantity is not None else ""
        return told.lower()

    def flag(self, part: Part, name: str) -> bool | None:
        """Whether a part says yes or no to `name`; None where it is not given."""
        told = self.text(part, name)
        return None if not told else told in ("true", "yes", "on", "enabled", "1")

    @cached_property
    def fabric(self) -> Fabric:
        """The networks of the design."""
        return find_fabric(self.network)

    def uplinks(self, item: MachinePart) -> list[tuple[int, int]]:
        """Switch (part number) and link number of every cable of a NIC or storage port."""
        fabric = self.fabric
        span = range(int(fabric.uplink_start[item.number]), int(fabric.uplink_start[item.number + 1]))
        parts = self._switches
        return [(int(parts[int(fabric.to_switch[u])]), int(fabric.out[u]) >> 1) for u in span]

    @cached_property
    def _switches(self) -> Int:
        """Part number of each switch."""
        return np.flatnonzero(self.fabric.switch >= 0)

    @cached_property
    def tiers(self) -> tuple[Tier, ...]:
        """The switches by fabric and distance from the hosts; storage systems do not make a switch a leaf."""
        return find_tiers(self.network)

    @cached_property
    def placement(self) -> Placement | None:
        """Where the virtual machines stand; None for a design without any."""
        return place_vms(self.network) if self.design.vms else None

    def vm_findings(self, *codes: str) -> Iterator[tuple[str, tuple[str, ...], str]]:
        """Text, place and remedy of what placing the machines found under some codes."""
        for found in self.placement.findings if self.placement is not None else ():
            if found.code in codes:
                yield found.text, found.where, found.remedy

    def setting(self, vm: VirtualMachine, name: str) -> str:
        """A setting of a machine in lower case, ``true`` and ``false`` for flags; empty where it is not given."""
        value = vm.settings.get(name)
        return "" if value is None else str(value).strip().lower()

    def amount(self, vm: VirtualMachine, name: str) -> float | None:
        """A setting of a machine that is a quantity or a count, in SI units; None where it is not given.

        Raises
        ------
        AnalysisError
            If it is no such quantity.
        """
        value = vm.settings.get(name)
        field = vm_setting(name)
        if value is None or field is None:
            return None
        try:
            return parse(value, field.dimension) if field.dimension != "count" else float(str(value))
        except (ValueError, DesignerError):
            example = EXAMPLE.get(field.dimension, "8192")
            place = f"vms.{vm.id}.settings.{name}"
            raise AnalysisError(
                f"{value!r} is no {field.title.lower()}", place=place, remedy=f"write for example {example}"
            ) from None

    def host(self, vm: VirtualMachine) -> Host | None:
        """The host a machine stands on, or is to stand on."""
        if self.placement is None:
            return None
        placed = self.placement.placed.get(vm.id)
        return placed.host if placed is not None else self.placement.hosts.by_path.get(vm.host or "")

    @property
    def hosts(self) -> tuple[Host, ...]:
        """Hosts of virtual machines; none where there are no machines."""
        return self.placement.hosts.hosts if self.placement is not None else ()

    def standing(self) -> Iterator[tuple[VirtualMachine, tuple[int, ...], list[HostGpu]]]:
        """Machines that have a part of a GPU: with the sockets they stand on, and their GPUs, each once."""
        for placed in self.placement.placed.values() if self.placement is not None else ():
            gpus = {d.gpu.path: d.gpu for d in placed.devices if d.gpu is not None}
            if gpus:
                yield placed.vm, placed.sockets, list(gpus.values())

    def gpus_of(self, vm: VirtualMachine) -> list[str]:
        """Paths of the GPUs of which a machine has a time slice."""
        placed = self.placement.placed.get(vm.id) if self.placement is not None else None
        return (
            [d.gpu.path for d in placed.devices if d.gpu is not None and d.kind == "vgpu"] if placed is not None else []
        )

    @cached_property
    def crowd(self) -> Mapping[str, int]:
        """How many time slices each GPU is cut into, by path."""
        return Counter(path for vm in self.design.vms.values() for path in self.gpus_of(vm))

    @cached_property
    def stuns(self) -> Mapping[str, VgpuStun | None]:
        """Stun of each placed machine with virtual GPUs that moves alone to the best connected other host, by id.

        None where no NIC that is cabled says how fast that is; none at all without a second host.
        """
        placement = self.placement
        if placement is None or len(placement.hosts.hosts) < 2:
            return {}
        rates = {host.path: _checkpoint_rate(host) for host in placement.hosts.hosts}
        found: dict[str, VgpuStun | None] = {}
        for placed in placement.placed.values():
            loads = framebuffers(placed)
            if not loads:
                continue
            own = rates[placed.host.path]
            target = max((rate for path, rate in rates.items() if path != placed.host.path), default=0.0)
            if own <= 0 or target <= 0:
                found[placed.vm.id] = None
                continue
            release = release_on(placed.host, placed.vm)
            found[placed.vm.id] = vgpu_stun(
                loads,
                BytesPerSecond(own),
                BytesPerSecond(target),
                release=release,
                generation=generation_of(placed),
                limit=stun_limit(placed, release),
            )
        return found

    @cached_property
    def jobs(self) -> Mapping[str, TrainStep]:
        """Training workloads by id."""
        found: dict[str, TrainStep] = {}
        for spec in self.design.workloads.values():
            if spec.kind != "training":
                continue
            step = task_of(spec.kind, spec.settings, f"workloads.{spec.id}", TrainStep)
            if step is not None:
                found[spec.id] = step
        return found

    @cached_property
    def trainings(self) -> Mapping[str, tuple[TrainStep, Dataset]]:
        """Training workloads that read a dataset, by id."""
        jobs = self.jobs.items()
        return {k: (t, dataset(t.input.dataset)) for k, t in jobs if t.input.dataset and not t.run.online}

    def busy_step(self, name: str, *, alone: bool = False) -> StepEstimate:
        """A step of a training workload that never waits for samples; `alone` for its computing without a network.

        Raises
        ------
        DesignerError
            If something cannot be reached or does not divide.
        """
        place, training = f"workloads.{name}", self.jobs[name]
        plan = prepare(self.network, training.job, place)
        return plan.estimate(ALONE) if alone else busy_step(plan, training)

    def sub_node(self, host: Host) -> SubNode | None:
        """A NUMA node of a socket that is cut into several; None where sockets are whole."""
        cpus = [self.part_at(socket.part) for socket in host.sockets]
        told = [int(self.number(part, "numa_nodes_per_socket") or 1) for part in cpus if part.kind == "cpu"]
        pieces = max(told, default=1)
        if pieces > 1 and host.cores:
            return SubNode(host.cores / len(told) / pieces, host.memory / len(told) / pieces)
        drawn = [socket for socket in host.sockets if self.part_at(socket.part).kind == "numa"]
        sockets = [socket for socket in host.sockets if self.part_at(socket.part).kind == "cpu"]
        if len(drawn) <= max(1, len(sockets)):
            return None
        return SubNode(host.cores / len(drawn), host.memory / len(drawn))

    def islands_of(self, parts: Int) -> Int:
        """The machines that parts belong to, each once, by number."""
        islands = find_islands(self.network)
        of_part = np.empty(len(islands.local), dtype=np.int64)
        of_part[islands.parts] = np.repeat(np.arange(len(islands.class_of)), np.diff(islands.part_start))
        return np.unique(of_part[parts])

    def part_at(self, number: int) -> Part:
        """The definition of a part by its number."""
        return self.network.net.part(number)

    @cached_property
    def migrations(self) -> Mapping[str, Migration]:
        """Workloads that move machines of vSphere hosts, by id."""
        found: dict[str, Migration] = {}
        for spec in self.design.workloads.values():
            if spec.kind in ("vmotion", "evacuation"):
                task = task_of(spec.kind, spec.settings, f"workloads.{spec.id}", Migrate)
                if task is not None:
                    found[spec.id] = task.operation
        return found

    def moved_by(self, name: str) -> frozenset[str]:
        """Ids of the machines that a migration workload moves.

        Raises
        ------
        AnalysisError
            If it names something that is no host.
        """
        operation = self.migrations[name]
        if operation.hosts is None:
            return frozenset(operation.vms)
        if self.placement is None or not operation.hosts:
            return frozenset()
        hosts = hosts_of(self.network, self.placement.hosts, operation.hosts, f"workloads.{name}.hosts")
        return frozenset(placed.vm.id for host in hosts for placed in self.placement.on(host.path))

    @cached_property
    def moved(self) -> frozenset[str]:
        """Ids of the machines that migration workloads move."""
        return frozenset(vm for name in self.migrations for vm in self.moved_by(name))

    def vms(self, wanted: Callable[[VirtualMachine], bool]) -> Sequence[VirtualMachine]:
        """The virtual machines that meet a condition."""
        return [vm for vm in self.design.vms.values() if wanted(vm)]


def _checkpoint_rate(host: Host) -> float:
    """What the migration NICs of a host give to the frame buffer of one machine [B/s]; 0 where none is cabled."""
    lines = [nic.line_rate for nic in host.migration_nics]
    release = vsphere(host.release)
    return vmotion_streams(lines, release=release).checkpoint_bandwidth.value if lines else 0.0


def _blocks(block: Block, prefix: str, times: int) -> Iterator[tuple[Block, str, int]]:
    yield block, prefix, times
    for group in block.groups.values():
        plain = next((k for k in range(group.replicas) if k not in group.exceptions), None)
        if plain is not None:
            often = times * (group.replicas - len(group.exceptions))
            yield from _blocks(group.content, f"{prefix}{group.id}[{plain}]/", often)
        for index, inner in group.exceptions.items():
            yield from _blocks(inner, f"{prefix}{group.id}[{index}]/", times)
