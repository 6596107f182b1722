"""What rules of virtual machines look at: machines where they are placed, their hosts, and what moves them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from designer.catalog.vm_settings import vm_setting
from designer.design.document import Design, VirtualMachine
from designer.engine.machines.demands import vsphere
from designer.engine.machines.hosts import Host, HostGpu
from designer.engine.machines.placement import Placement, place_vms, release_on
from designer.errors import AnalysisError, DesignerError
from designer.families.machines.formulas.vgpu_stun import VgpuStun, vgpu_stun
from designer.families.machines.formulas.vmotion_streams import vmotion_streams
from designer.families.machines.migrations import framebuffers, generation_of, stun_limit
from designer.families.machines.operations import Migrate, Migration
from designer.families.machines.planner import hosts_of
from designer.rules.context import Context
from designer.units import EXAMPLE, BytesPerSecond, parse
from designer.workload.kind import task_of


@dataclass(frozen=True, slots=True)
class SubNode:
    """A NUMA node that is a part of a socket: cores and memory [B], 0 where they are not known."""

    cores: float
    memory: float


class MachineContext(Context):
    """A design with virtual machines."""

    @classmethod
    def concerns(cls, design: Design) -> bool:
        """True if it has virtual machines."""
        return bool(design.vms)

    @cached_property
    def placement(self) -> Placement | None:
        """Where the virtual machines are placed; None for a design without any."""
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
        """The host a machine is on, or is to be placed on."""
        if self.placement is None:
            return None
        placed = self.placement.placed.get(vm.id)
        return placed.host if placed is not None else self.placement.hosts.by_path.get(vm.host or "")

    @property
    def hosts(self) -> tuple[Host, ...]:
        """Hosts of virtual machines; none where there are no machines."""
        return self.placement.hosts.hosts if self.placement is not None else ()

    def standing(self) -> Iterator[tuple[VirtualMachine, tuple[int, ...], list[HostGpu]]]:
        """Machines that have a part of a GPU: with the sockets they are on, and their GPUs, each once."""
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

    def sub_node(self, host: Host) -> SubNode | None:
        """A NUMA node of a socket that is cut into several; None where sockets are whole."""
        cpus = [self.part_at(socket.part) for socket in host.sockets]
        stated = [int(self.number(part, "numa_nodes_per_socket") or 1) for part in cpus if part.kind == "cpu"]
        pieces = max(stated, default=1)
        if pieces > 1 and host.cores:
            return SubNode(host.cores / len(stated) / pieces, host.memory / len(stated) / pieces)
        drawn = [socket for socket in host.sockets if self.part_at(socket.part).kind == "numa"]
        sockets = [socket for socket in host.sockets if self.part_at(socket.part).kind == "cpu"]
        if len(drawn) <= max(1, len(sockets)):
            return None
        return SubNode(host.cores / len(drawn), host.memory / len(drawn))

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
