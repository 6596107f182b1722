"""What rules look at: the machines of a design by class, its fabrics by tier.

Equal machines are looked at once and counted, so 16,384 GPUs cost hardly more than eight.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability, value_of
from designer.design.address import Address, block_at, block_at_step, split_path, where_stored
from designer.design.document import Block, Design, Elevation, Part
from designer.engine.network import Network, build_network
from designer.engine.network.islands import find_islands
from designer.engine.routes.gateways import Fabric, find_fabric
from designer.errors import DocumentError
from designer.rules.machines import MachineClass, MachinePart
from designer.rules.tiers import Tier, find_tiers

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
