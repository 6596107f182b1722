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

from designer.analysis.capacities import NETWORK
from designer.analysis.gateways import Fabric, find_fabric
from designer.analysis.islands import find_islands, role_of
from designer.analysis.network import Network, build_network
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
from designer.design.document import Block, Design, Link, Part, VirtualMachine, Wiring
from designer.errors import AnalysisError, DesignerError
from designer.formulas.migration.vgpu_stun import VgpuStun, vgpu_stun
from designer.formulas.migration.vmotion_streams import vmotion_streams
from designer.formulas.pipeline.step_composition import StepEstimate
from designer.units import EXAMPLE, BytesPerSecond, parse
from designer.workload.datasets import Dataset, dataset
from designer.workload.jobs import Training
from designer.workload.kind import lower
from designer.workload.operations import Evacuation, Vmotion

Int = npt.NDArray[np.int64]
#: roles of NICs that carry the traffic of accelerators
COMPUTE_ROLES = ("", "compute", "backend", "back-end")


@dataclass(frozen=True, slots=True)
class Item:
    """One part of a machine: its number, its path and its definition."""

    number: int
    path: str
    part: Part
    role: str

    @property
    def kind(self) -> str:
        """Name of its kind."""
        return self.part.kind


@dataclass(frozen=True, slots=True)
class Joint:
    """A link as seen from one of its ends."""

    number: int
    path: str
    link: Link | Wiring
    to: Item
    rate: float
    domain: int


class Machine:
    """One class of equal machines, through the first of them.

    Parameters
    ----------
    island
        Number of the first.
    times
        How many there are.
    """

    def __init__(self, network: Network, island: int, times: int) -> None:
        self.network, self.island, self.times = network, island, times
        members = find_islands(network).members(island).tolist()
        net = network.net
        self.items: tuple[Item, ...] = tuple(
            Item(n, net.path(n), net.part(n), role_of(network, int(net.part_def[n]))) for n in members
        )
        self._by_number = {item.number: item for item in self.items}
        # what all rules ask again and again of the same few parts
        self._having: dict[Capability, list[Item]] = {}
        self._chains: dict[int, list[Item]] = {}

    def of(self, *kinds: str) -> list[Item]:
        """The parts of some kinds."""
        return [item for item in self.items if item.kind in kinds]

    def having(self, capability: Capability) -> list[Item]:
        """The parts with a capability."""
        found = self._having.get(capability)
        if found is None:
            kind = self.network.kind
            found = [item for item in self.items if capability in kind(item.number).capabilities]
            self._having[capability] = found
        return list(found)

    @cached_property
    def joints(self) -> Mapping[int, tuple[Joint, ...]]:
        """The inner links at each part."""
        islands, net = find_islands(self.network), self.network.net
        numbers = islands.links[int(islands.link_start[self.island]) : int(islands.link_start[self.island + 1])]
        found: dict[int, list[Joint]] = {item.number: [] for item in self.items}
        for number in numbers.tolist():
            a, b = int(net.link_a[number]), int(net.link_b[number])
            rate, domain = float(self.network.rate[number]), int(self.network.domain[number])
            for here, there in ((a, b), (b, a)):
                link = net.link(number)
                found[here].append(Joint(number, net.link_path(number), link, self._by_number[there], rate, domain))
        return {number: tuple(joints) for number, joints in found.items()}

    def slots(self, item: Item) -> list[Joint]:
        """The PCIe links at a part."""
        return [joint for joint in self.joints[item.number] if joint.link.kind == "pcie"]

    def _above(self, item: Item) -> list[Item]:
        """The part and what is above it in the PCIe tree, nearest first, the socket last."""
        found = self._chains.get(item.number)
        if found is None:
            found = self._chains[item.number] = self._climb(item)
        return found

    def _climb(self, item: Item) -> list[Item]:
        roots = {r.number for r in self.having(Capability.ROOT)}
        back: dict[int, Item | None] = {item.number: None}
        todo = [item]
        while todo:
            at = todo.pop(0)
            if at.number in roots:
                chain: list[Item] = []
                here: Item | None = at
                while here is not None:
                    chain.append(here)
                    here = back[here.number]
                return chain[::-1]
            for joint in self.joints[at.number]:
                climbs = joint.link.kind in ("pcie", "c2c") and joint.to.kind in ("pcie_switch", "cpu", "numa")
                if climbs and joint.to.number not in back:
                    back[joint.to.number] = at
                    todo.append(joint.to)
        return [item]

    def above(self, item: Item) -> list[Item]:
        """PCIe switches and the socket above a part, nearest first."""
        return self._above(item)[1:]

    def socket(self, item: Item) -> Item | None:
        """The socket or NUMA domain whose PCIe tree a part hangs in."""
        above = self.above(item)
        return above[-1] if above and above[-1].kind in ("cpu", "numa") else None

    def processor(self, item: Item) -> Item | None:
        """The CPU a part belongs to: its socket, or the CPU that the NUMA domain is a part of."""
        at = self.socket(item)
        if at is None or at.kind != "numa":
            return at
        near = [joint.to for joint in self.joints[at.number] if joint.to.kind == "cpu"]
        return near[0] if near else at


@dataclass(frozen=True, slots=True, eq=False)
class Tier:
    """The switches at one distance from the hosts in one fabric.

    Parameters
    ----------
    level
        1 for leaves, 2 for spines, and so on.
    switches : part numbers
    down, up : (n_switches,) raw rate towards the hosts and away from them [B/s]
    compute
        Whether traffic of accelerators runs on this fabric, and not that of storage or management alone.
    """

    fabric: int
    level: int
    switches: Int
    down: npt.NDArray[np.float64]
    up: npt.NDArray[np.float64]
    compute: bool

    @property
    def name(self) -> str:
        """Word for a switch of this tier."""
        return {1: "leaf", 2: "spine"}.get(self.level, "core")


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
    def machines(self) -> tuple[Machine, ...]:
        """The classes of what host and accelerator links hold together, single switches left out."""
        islands = find_islands(self.network)
        _, first, counts = np.unique(islands.class_of, return_index=True, return_counts=True)
        sizes = np.diff(islands.part_start)
        return tuple(
            Machine(self.network, int(island), int(times))
            for island, times in sorted(zip(first.tolist(), counts.tolist(), strict=True))
            if sizes[island] > 1
        )

    def gpus(self, machine: Machine) -> list[Item]:
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
        return "" if not within else " in this member alone" if one else f" in all {count:,} members alike"

    def blocks(self) -> Iterator[tuple[Block, str, int]]:
        """The design and the contents of its groups, each once: with the way to the first, and how often it stands."""
        return _blocks(self.design, "", 1)

    def number(self, part: Part, name: str) -> float | None:
        """The value `name` of a part in SI units; None where nobody tells."""
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
        """Whether a part says yes or no to `name`; None where nobody tells."""
        told = self.text(part, name)
        return None if not told else told in ("true", "yes", "on", "enabled", "1")

    @cached_property
    def fabric(self) -> Fabric:
        """The networks of the design."""
        return find_fabric(self.network)

    def uplinks(self, item: Item) -> list[tuple[int, int]]:
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
        fabric, network = self.fabric, self.network
        parts = self._switches
        if not len(parts):
            return ()
        net = network.net
        links = np.flatnonzero(network.domain == NETWORK)
        a, b, rate = fabric.switch[net.link_a[links]], fabric.switch[net.link_b[links]], network.rate[links]
        stores = network.has(Capability.STORE)
        level = np.zeros(len(parts), dtype=np.int64)
        below = np.zeros(len(parts), dtype=np.float64)
        served = ~stores[fabric.gateway]
        np.add.at(below, fabric.to_switch[served], network.rate[fabric.out[served] >> 1])
        # switches of storage systems are leaves as well, or what leads to them would look like a way up
        level[np.unique(fabric.to_switch)] = 1
        inside = (a >= 0) & (b >= 0)
        sa, sb, inner = a[inside], b[inside], rate[inside]
        at = 1
        while True:
            reached = np.concatenate([sb[level[sa] == at], sa[level[sb] == at]])
            new = np.unique(reached[level[reached] == 0])
            if not len(new):
                break
            at += 1
            level[new] = at
        down, up = below, np.zeros(len(parts), dtype=np.float64)
        for here, there in ((sa, sb), (sb, sa)):
            higher, lower = level[there] > level[here], level[there] < level[here]
            np.add.at(up, here[higher], inner[higher])
            np.add.at(down, here[lower], inner[lower])
        component = np.full(len(parts), -1, dtype=np.int64)
        component[fabric.to_switch] = fabric.fabric
        for here, there in ((sa, sb), (sb, sa)) * at:
            unknown = component[there] < 0
            component[there[unknown]] = component[here[unknown]]
        roles = np.array([role_of(network, k) in COMPUTE_ROLES for k in range(len(net.part_defs))], dtype=bool)
        computing = set(fabric.fabric[roles[net.part_def[fabric.gateway]] & served].tolist())
        found: list[Tier] = []
        for number in np.unique(component[component >= 0]).tolist():
            for depth in range(1, at + 1):
                chosen = np.flatnonzero((component == number) & (level == depth))
                if len(chosen):
                    members = (parts[chosen], down[chosen], up[chosen])
                    found.append(Tier(number, depth, *members, number in computing))
        return tuple(found)

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
        """A setting of a machine in lower case, ``true`` and ``false`` for flags; empty where it is not told."""
        value = vm.settings.get(name)
        return "" if value is None else str(value).strip().lower()

    def amount(self, vm: VirtualMachine, name: str) -> float | None:
        """A setting of a machine that is a quantity or a count, in SI units; None where it is not told.

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
    def jobs(self) -> Mapping[str, Training]:
        """Training workloads by id."""
        found: dict[str, Training] = {}
        for spec in self.design.workloads.values():
            operation = lower(spec.kind, spec.settings, f"workloads.{spec.id}") if spec.kind == "training" else None
            if isinstance(operation, Training):
                found[spec.id] = operation
        return found

    @cached_property
    def trainings(self) -> Mapping[str, tuple[Training, Dataset]]:
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
    def migrations(self) -> Mapping[str, Vmotion | Evacuation]:
        """Workloads that move machines of vSphere hosts, by id."""
        found: dict[str, Vmotion | Evacuation] = {}
        for spec in self.design.workloads.values():
            if spec.kind in ("vmotion", "evacuation"):
                operation = lower(spec.kind, spec.settings, f"workloads.{spec.id}")
                if isinstance(operation, Vmotion | Evacuation):
                    found[spec.id] = operation
        return found

    def moved_by(self, name: str) -> frozenset[str]:
        """Ids of the machines that a migration workload moves.

        Raises
        ------
        AnalysisError
            If it names something that is no host.
        """
        operation = self.migrations[name]
        if isinstance(operation, Vmotion):
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
