"""The hosts of a design as a hypervisor sees them: sockets, memory, GPUs with their vGPU types, NICs by role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability, value_of
from designer.catalog.vgpu import NvlinkBoard, VgpuType, load_boards, load_vgpu_types
from designer.design.components import connected
from designer.engine.network import NETWORKS_LIMIT, Network
from designer.engine.network.capacities import ACCELERATOR
from designer.engine.network.islands import find_islands
from designer.engine.routes.gateways import find_fabric
from designer.engine.routes.routing.host_paths import Rules, find_cost
from designer.errors import AnalysisError
from designer.formulas.placement import AssignmentPolicy, Mode
from designer.memo import memo

Int = npt.NDArray[np.int64]

#: roles of NICs that carry migrations, best first; a host without any of them uses what it has
ROLES: Final = (("vmotion", "migration"), ("management", "out-of-band"), ("",))


@dataclass(frozen=True, slots=True)
class Socket:
    """A CPU of a host: part number, path, cores (0 if not known) and the memory next to it."""

    part: int
    path: str
    cores: int
    memories: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class HostGpu:
    """A GPU of a host.

    Parameters
    ----------
    type
        What virtual GPUs it offers; None where that is not known.
    memory
        Its memory [B], 0 if not known.
    module
        Module ID on its board, None off a board; ``module_given`` states whether the drawing says so.
    socket
        Index of the nearest socket of the host.
    mode
        How it is shared, where the drawing says so.
    """

    part: int
    path: str
    title: str
    type: VgpuType | None
    memory: float
    socket: int
    board: int | None
    module: int | None
    module_given: bool
    mode: Mode | None


@dataclass(frozen=True, slots=True)
class HostNic:
    """A network port of a host: its role, and the line rate of its cables [B/s]."""

    part: int
    path: str
    role: str
    line_rate: float


@dataclass(frozen=True, slots=True, eq=False)
class Host:
    """One host. ``memory`` [B] is 0 where no memory is drawn; ``boards`` are its NVLink domains."""

    part: int
    path: str
    label: str
    sockets: tuple[Socket, ...]
    memory: float
    gpus: tuple[HostGpu, ...]
    nics: tuple[HostNic, ...]
    boards: tuple[NvlinkBoard | None, ...]
    policy: AssignmentPolicy
    release: str

    @property
    def cores(self) -> int:
        """Cores of all sockets, 0 if not known."""
        return sum(socket.cores for socket in self.sockets)

    @property
    def migration_nics(self) -> tuple[HostNic, ...]:
        """The NICs migrations use: those of that role, else those for management, else all."""
        for roles in ROLES:
            found = tuple(nic for nic in self.nics if nic.role in roles and nic.line_rate > 0)
            if found:
                return found
        return tuple(nic for nic in self.nics if nic.line_rate > 0)

    @property
    def has_migration_role(self) -> bool:
        """True if a NIC is meant for migrations."""
        return any(nic.role in ROLES[0] for nic in self.migration_nics)


@dataclass(frozen=True, slots=True, eq=False)
class Hosts:
    """All hosts in natural order, and the host each part belongs to."""

    hosts: tuple[Host, ...]
    by_path: Mapping[str, Host]

    def at(self, path: str, place: str) -> Host:
        """The host at a path.

        Raises
        ------
        AnalysisError
            If there is none.
        """
        found = self.by_path.get(path)
        if found is None:
            known = ", ".join(host.path for host in self.hosts[:5]) or "none"
            raise AnalysisError(f"{path!r} is no host", place=place, remedy=f"hosts of this design: {known}")
        return found


@memo(most=NETWORKS_LIMIT)
def find_hosts(network: Network) -> Hosts:
    """The hosts of a network."""
    net = network.net
    contains, roots = network.has(Capability.CONTAIN), network.has(Capability.ROOT)
    holder = net.parent.copy()
    while True:
        wrong = (holder >= 0) & ~contains[holder]
        if not wrong.any():
            break
        holder[wrong] = net.parent[holder[wrong]]
    # Machines drawn without a chassis are known by their first socket.
    first_root: dict[int, int] = {}
    for part in np.flatnonzero(roots & (holder < 0)).tolist():
        first_root.setdefault(int(network.island[part]), part)
    for island, part in first_root.items():
        holder[(network.island == island) & (holder < 0)] = part
    members: dict[int, list[int]] = {}
    order = np.flatnonzero(holder >= 0)
    for part, top in zip(order.tolist(), holder[order].tolist(), strict=True):
        members.setdefault(top, []).append(part)
    lines = _line_rates(network)
    domains = _accelerator_domains(network)
    found: list[Host] = []
    by_path: dict[str, Host] = {}
    for top, parts in sorted(members.items()):
        if not any(roots[p] for p in parts):
            continue
        host = _host(network, top, parts, lines, domains)
        found.append(host)
        by_path[host.path] = host
    return Hosts(tuple(found), by_path)


def _line_rates(network: Network) -> dict[int, float]:
    """Line rate of all cables of a part per direction [B/s], no more than its ports carry together."""
    fabric = find_fabric(network)
    rates: dict[int, float] = {}
    for gateway, channel in zip(fabric.gateway.tolist(), fabric.out.tolist(), strict=True):
        rates[gateway] = rates.get(gateway, 0.0) + float(network.rate[channel >> 1])
    for (gateway, _), channels in fabric.direct.items():
        rates[gateway] = rates.get(gateway, 0.0) + sum(float(network.rate[c >> 1]) for c in channels)
    return {part: min(rate, number(network, part, "bandwidth_per_direction") or rate) for part, rate in rates.items()}


def number(network: Network, part: int, name: str) -> float | None:
    """The value `name` of a part in SI units, None where it is not known."""
    drawn = network.net.part(part)
    quantity = network.design.quantity(drawn, name)
    return value_of(drawn.kind, name, quantity) if quantity is not None else None


def _accelerator_domains(network: Network) -> Int:
    """Which parts hang together by accelerator links. : (n_parts,)"""
    links = network.domain == ACCELERATOR
    _, label = connected(network.net.n_parts, network.net.link_a[links], network.net.link_b[links])
    return label


def _host(network: Network, top: int, parts: list[int], lines: Mapping[int, float], domains: Int) -> Host:
    net = network.net
    capable = {c: network.has(c) for c in (Capability.ROOT, Capability.ACCELERATE, Capability.MEMORY)}
    cpus = [p for p in parts if capable[Capability.ROOT][p]]
    memories = [p for p in parts if capable[Capability.MEMORY][p]]
    near = {p: _nearest_socket(network, p, cpus) for p in memories}
    sockets = tuple(
        Socket(p, net.path(p), int(number(network, p, "cores") or 0), tuple(m for m in memories if near[m] == at))
        for at, p in enumerate(cpus)
    )
    drawn = net.part(top)
    gpus, boards = _gpus(
        network, [p for p in parts if capable[Capability.ACCELERATE][p]], cpus, domains, drawn.attributes
    )
    nics = tuple(HostNic(p, net.path(p), _role(network, p), lines[p]) for p in parts if p in lines)
    policy = drawn.attributes.get("vgpu_policy", AssignmentPolicy.SPREAD.value)
    # as the interface of vSphere names them, and as its client words them
    known = {p.value: p for p in AssignmentPolicy} | {p.name.lower(): p for p in AssignmentPolicy}
    return Host(
        part=top,
        path=net.path(top),
        label=f"{drawn.label} ({net.path(top)})",
        sockets=sockets,
        memory=sum(number(network, m, "memory_capacity") or 0.0 for m in memories),
        gpus=gpus,
        nics=nics,
        boards=boards,
        policy=known.get(policy.lower(), AssignmentPolicy.SPREAD),
        release=drawn.attributes.get("release", ""),
    )


def _role(network: Network, part: int) -> str:
    drawn = network.net.part(part)
    role = drawn.attributes.get("role", "")
    if not role:
        quantity = network.design.quantity(drawn, "role")
        role = str(quantity.value) if quantity is not None else ""
    return role.lower()


def _nearest_socket(network: Network, part: int, cpus: list[int]) -> int:
    islands = find_islands(network)
    island = int(network.island[part])
    shape, rules = islands.classes[int(islands.class_of[island])].shape, Rules()
    cost = {
        at: find_cost(shape, int(islands.local[part]), int(islands.local[cpu]), rules)
        for at, cpu in enumerate(cpus)
        if int(network.island[cpu]) == island
    }
    reached = {at: value for at, value in cost.items() if value is not None}
    return min(reached, key=lambda at: (reached[at], at)) if reached else 0


def _gpus(
    network: Network, parts: list[int], cpus: list[int], domains: Int, attributes: Mapping[str, str]
) -> tuple[tuple[HostGpu, ...], tuple[NvlinkBoard | None, ...]]:
    net = network.net
    numbers: dict[int, int] = {}
    members: dict[int, list[int]] = {}
    for part in parts:
        members.setdefault(numbers.setdefault(int(domains[part]), len(numbers)), []).append(part)
    types = {part: gpu_type(network, part) for part in parts}
    boards = tuple(_board([types[p] for p in group]) for group in members.values())
    found: list[HostGpu] = []
    for part in parts:
        at = numbers[int(domains[part])]
        board, group = boards[at], members[at]
        drawn = net.part(part)
        stated = drawn.attributes.get("module", "")
        module = int(stated) if stated.isdecimal() else None
        if board is not None and module is None:
            module = board.modules[group.index(part)]
        declared = drawn.attributes.get("vgpu_mode", attributes.get("vgpu_mode", ""))
        modes = {mode.value.lower(): mode for mode in Mode}
        memory = number(network, part, "memory_reported") or number(network, part, "memory_capacity") or 0.0
        found.append(
            HostGpu(
                part,
                net.path(part),
                _title(network, part),
                types[part],
                memory,
                _nearest_socket(network, part, cpus),
                at if board is not None else None,
                module if board is not None else None,
                stated.isdecimal(),
                modes.get(declared.lower().replace("-", "").replace(" ", "")),
            )
        )
    return tuple(found), boards


def _title(network: Network, part: int) -> str:
    drawn = network.net.part(part)
    known = network.design.type_of(drawn)
    return known.title if known is not None else drawn.label


def gpu_type(network: Network, part: int) -> VgpuType | None:
    """What virtual GPUs a part offers, by the vGPU family its type names; None where that is not known."""
    quantity = network.design.quantity(network.net.part(part), "vgpu_family")
    if quantity is None:
        return None
    family = str(quantity.value).lower()
    return next((each for each in load_vgpu_types().values() if each.prefix.lower() == family), None)


def _board(types: list[VgpuType | None]) -> NvlinkBoard | None:
    """The board GPUs joined by NVLink make: as many modules, and all their types on its list."""
    if len(types) < 2 or any(each is None for each in types):
        return None
    ids = {each.id for each in types if each is not None}
    return next(
        (board for board in load_boards().values() if len(board.modules) == len(types) and ids <= set(board.gpus)), None
    )
