"""The machines of a design as rules see them: one of each class, with its parts and PCIe tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from designer.catalog.parttype import Capability
from designer.design.document import Link, Part, Wiring
from designer.engine.network import Network
from designer.engine.network.islands import find_islands, roles_of


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
