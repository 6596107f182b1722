"""What rules look at: the machines of a design by class, its fabrics by tier.

Equal machines are looked at once and counted, so 16,384 GPUs cost hardly more than eight.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability, value_of
from designer.design.address import Address, block_at, block_at_step, split_path, where_stored
from designer.design.document import Block, Design, Elevation, Link, Part, Wiring
from designer.engine.network import Network, build_network
from designer.engine.network.capacities import NETWORK
from designer.engine.network.islands import find_islands, roles_of
from designer.engine.routes.gateways import Fabric, find_fabric
from designer.errors import DocumentError

#: roles of NICs that carry the traffic of accelerators
COMPUTE_ROLES = ("", "compute", "backend", "back-end")


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


def find_tiers(network: Network) -> tuple[Tier, ...]:
    """The switches by fabric and distance from the hosts; storage systems do not make a switch a leaf."""
    fabric = find_fabric(network)
    parts = np.flatnonzero(fabric.switch >= 0)
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
    roles = np.array([role in COMPUTE_ROLES for role in roles_of(network)], dtype=bool)
    computing = set(fabric.fabric[roles[net.part_def[fabric.gateway]] & served].tolist())
    found: list[Tier] = []
    for number in np.unique(component[component >= 0]).tolist():
        for depth in range(1, at + 1):
            chosen = np.flatnonzero((component == number) & (level == depth))
            if len(chosen):
                members = (parts[chosen], down[chosen], up[chosen])
                found.append(Tier(number, depth, *members, number in computing))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class MachinePart:
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
    to: MachinePart
    rate: float
    domain: int


class MachineClass:
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
        self.items: tuple[MachinePart, ...] = tuple(
            MachinePart(n, net.path(n), net.part(n), roles_of(network)[int(net.part_def[n])]) for n in members
        )
        self._by_number = {item.number: item for item in self.items}
        # what all rules ask again and again of the same few parts
        self._having: dict[Capability, list[MachinePart]] = {}
        self._chains: dict[int, list[MachinePart]] = {}

    def of(self, *kinds: str) -> list[MachinePart]:
        """The parts of some kinds."""
        return [item for item in self.items if item.kind in kinds]

    def having(self, capability: Capability) -> list[MachinePart]:
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
        rates, domains = self.network.rate[numbers].tolist(), self.network.domain[numbers].tolist()
        sides = net.link_a[numbers].tolist(), net.link_b[numbers].tolist()
        definitions, paths = net.link_def[numbers].tolist(), net.link_paths(numbers)
        rows = zip(numbers.tolist(), *sides, definitions, paths, rates, domains, strict=True)
        for number, a, b, definition, path, rate, domain in rows:
            link = net.link_defs[definition]
            for here, there in ((a, b), (b, a)):
                found[here].append(Joint(number, path, link, self._by_number[there], rate, domain))
        return {number: tuple(joints) for number, joints in found.items()}

    def slots(self, item: MachinePart) -> list[Joint]:
        """The PCIe links at a part."""
        return [joint for joint in self.joints[item.number] if joint.link.kind == "pcie"]

    def _ancestors(self, item: MachinePart) -> list[MachinePart]:
        """The part and what is above it in the PCIe tree, nearest first, the socket last."""
        found = self._chains.get(item.number)
        if found is None:
            found = self._chains[item.number] = self._climb(item)
        return found

    def _climb(self, item: MachinePart) -> list[MachinePart]:
        roots = {r.number for r in self.having(Capability.ROOT)}
        back: dict[int, MachinePart | None] = {item.number: None}
        todo = [item]
        while todo:
            at = todo.pop(0)
            if at.number in roots:
                chain: list[MachinePart] = []
                here: MachinePart | None = at
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

    def above(self, item: MachinePart) -> list[MachinePart]:
        """PCIe switches and the socket above a part, nearest first."""
        return self._ancestors(item)[1:]

    def socket(self, item: MachinePart) -> MachinePart | None:
        """The socket or NUMA domain whose PCIe tree a part hangs in."""
        above = self.above(item)
        return above[-1] if above and above[-1].kind in ("cpu", "numa") else None

    def processor(self, item: MachinePart) -> MachinePart | None:
        """The CPU a part belongs to: its socket, or the CPU that the NUMA domain is a part of."""
        at = self.socket(item)
        if at is None or at.kind != "numa":
            return at
        near = [joint.to for joint in self.joints[at.number] if joint.to.kind == "cpu"]
        return near[0] if near else at


Int = npt.NDArray[np.int64]
AnyContext = TypeVar("AnyContext", bound="Context")


class Context:
    """A design as rules see it; everything is worked out when it is first asked for."""

    def __init__(self, design: Design, base: Context | None = None) -> None:
        self.design, self._base = design, base
        self._views: dict[type[Context], Context] = {type(self): self}

    @classmethod
    def concerns(cls, design: Design) -> bool:
        """True if rules that look at a design in this way have something to look at."""
        return True

    def seen_as(self, kind: type[AnyContext]) -> AnyContext:
        """The same design as rules of a family look at it; both share the network and the machines."""
        found = self._views.get(kind)
        if found is None:
            found = self._views[kind] = kind(self.design, self)
        return cast("AnyContext", found)

    @cached_property
    def network(self) -> Network:
        """The elaborated design."""
        return build_network(self.design) if self._base is None else self._base.network

    @cached_property
    def machines(self) -> tuple[MachineClass, ...]:
        """The classes of what host and accelerator links hold together, single switches left out."""
        if self._base is not None:
            return self._base.machines
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
        """Where what is at a path is defined: the block's address, the id there, and the block.

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
        """The design and the contents of its groups, each once: with the path to the first, and how often it occurs."""
        return _blocks(self.design, "", 1)

    def racks(self) -> Iterator[tuple[Part, list[Part], str, int]]:
        """Drawn racks: each with the units drawn in it, its path, and how many are equal."""
        for block, prefix, times in self.blocks():
            for rack in block.parts.values():
                if rack.kind != "rack":
                    continue
                units = [part for part in block.parts.values() if part.parent == rack.id]
                for group in block.groups.values():
                    if group.parent == rack.id:
                        members = (group.member(index) for index in range(group.replicas))
                        units += [part for member in members for part in member.parts.values() if part.parent is None]
                yield rack, units, f"{prefix}{rack.id}", times

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
        stated = part.attributes.get(name, "")
        if not stated:
            quantity = self.design.quantity(part, name)
            stated = str(quantity.value) if quantity is not None else ""
        return stated.lower()

    def flag(self, part: Part, name: str) -> bool | None:
        """Whether a part says yes or no to `name`; None where it is not given."""
        stated = self.text(part, name)
        return None if not stated else stated in ("true", "yes", "on", "enabled", "1")

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

    def islands_of(self, parts: Int) -> Int:
        """The machines that parts belong to, each once, by number."""
        islands = find_islands(self.network)
        of_part = np.empty(len(islands.local), dtype=np.int64)
        of_part[islands.parts] = np.repeat(np.arange(len(islands.class_of)), np.diff(islands.part_start))
        return np.unique(of_part[parts])

    def part_at(self, number: int) -> Part:
        """The definition of a part by its number."""
        return self.network.net.part(number)


def _blocks(block: Block, prefix: str, times: int) -> Iterator[tuple[Block, str, int]]:
    yield block, prefix, times
    for group in block.groups.values():
        plain = next((k for k in range(group.replicas) if k not in group.exceptions), None)
        if plain is not None:
            often = times * (group.replicas - len(group.exceptions))
            yield from _blocks(group.content, f"{prefix}{group.id}[{plain}]/", often)
        for index, inner in group.exceptions.items():
            yield from _blocks(inner, f"{prefix}{group.id}[{index}]/", times)
