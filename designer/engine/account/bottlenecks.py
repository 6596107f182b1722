"""Bottlenecks in words: which link or part binds, why, what doubling it gains, and what comes next."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from designer.engine.network import Network
from designer.engine.network.capacities import NETWORK
from designer.engine.network.partition import by_value
from designer.engine.results import Bottleneck
from designer.sources import Status
from designer.units import format_line_rate, format_quantity

Int = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Limit:
    """A capacity that is neither a link nor a part: a mount, a client, a protocol.

    Parameters
    ----------
    kind
        What limits have in common that are shown as one; empty for those of the same label.
    band
        Low and high end of the capacity over its value [1]; None for the usual spread of a limit.
    """

    id: str
    label: str
    capacity: float
    kind: str = ""
    band: tuple[float, float] | None = None


class ResourceClass(int):
    """The number of a resource, which represents `count` equal ones."""

    count: int

    def __new__(cls, number: int, count: int = 1) -> Self:
        """The resource of a number."""
        found = super().__new__(cls, number)
        found.count = count
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Resources:
    """What resource numbers mean: links and parts of the network, then limits."""

    network: Network
    limits: tuple[Limit, ...] = ()

    def definition_of(self, chosen: Int) -> Int:
        """Number of the definition of each resource: the same for equal members of a group. : (n,)"""
        network = self.network
        links = network.n_link_resources
        key = np.empty(len(chosen), dtype=np.int64)
        on_link = chosen < links
        link = np.searchsorted(network.first_resource, chosen[on_link], side="right") - 1
        back = network.full[link] & (chosen[on_link] - network.first_resource[link] >= network.cables[link])
        key[on_link] = 2 * network.common_link(link) + back
        base = 2 * len(network.net.link_defs)
        in_part = ~on_link & (chosen < network.n_resources)
        if in_part.any():
            key[in_part] = base + network.common_part(network.parts_inside(chosen[in_part]))
        base += len(network.net.part_defs)
        names = {limit.kind or limit.label: k for k, limit in enumerate(self.limits)}
        for row in np.flatnonzero(chosen >= network.n_resources).tolist():
            limit = self.limits[int(chosen[row]) - network.n_resources]
            key[row] = base + names[limit.kind or limit.label]
        return key

    def ids(self, chosen: Int) -> list[str]:
        """Id of the link, part or limit of each resource, as its bottleneck has it."""
        network = self.network
        on_link = chosen < network.n_link_resources
        in_part = ~on_link & (chosen < network.n_resources)
        found = [""] * len(chosen)
        named = zip(
            np.flatnonzero(on_link).tolist(), network.channel_ids(network.channels_of(chosen[on_link])), strict=True
        )
        parts = network.net.paths(network.parts_inside(chosen[in_part])) if in_part.any() else []
        for row, name in (*named, *zip(np.flatnonzero(in_part).tolist(), parts, strict=True)):
            found[row] = name
        for row in np.flatnonzero(chosen >= network.n_resources).tolist():
            found[row] = self.limits[int(chosen[row]) - network.n_resources].id
        return found

    def bottleneck(self, resource: int, users: int, fraction: float | None = None) -> Bottleneck:
        """The bottleneck in words."""
        network = self.network
        if resource >= network.n_resources:
            limit = self.limits[resource - network.n_resources]
            return Bottleneck(
                "limit", limit.id, limit.label, f"{format_quantity(limit.capacity, 'rate')}, {_sharing_text(users)}"
            )
        capacity = float(network.capacity_of(np.array([resource]))[0])
        if resource >= network.n_link_resources:
            part = network.resource_part(resource)
            facts = network.part_resources[int(network.net.part_def[part])]
            label = network.net.part(part).label
            what = facts.label if facts else "part"
            return Bottleneck(
                "part",
                network.net.path(part),
                f"{label} ({what})",
                f"{what} {format_quantity(capacity, 'rate')}, {_sharing_text(users)}",
            )
        channel = network.resource_channel(resource)
        why = f"{format_quantity(capacity, 'rate')} raw"
        if network.domain[channel >> 1] == NETWORK:
            why = f"{format_quantity(capacity, 'rate')} ({format_line_rate(capacity)}) raw"
        if fraction is not None and fraction < 1:
            why += f", of which {format_quantity(capacity * fraction, 'rate')} can be achieved"
        if network.quantity_status(channel >> 1) in (Status.ASSUMED, Status.UNVERIFIED):
            why += f" ({network.quantity_status(channel >> 1)})"
        # a half-duplex link is one resource for both directions, so it must not be stated as one of them
        label = network.channel_label(channel, both_ways=not network.full[channel >> 1])
        return Bottleneck("channel", network.channel_id(channel), label, f"{why}, {_sharing_text(users)}")


def _sharing_text(users: int) -> str:
    return "used by one flow" if users == 1 else f"shared by {users} flows"


def classes_of(resources: Resources, first: Int, many: Int) -> tuple[ResourceClass, ...]:
    """Resources of one activity, each representing its class.

    Parameters
    ----------
    first, many : (n_classes,) a resource of each class, and how many are in the class
    """
    count = dict(zip(first.tolist(), many.tolist(), strict=True))
    groups = [first[rows].tolist() for rows in by_value(resources.definition_of(first)).groups()]
    return tuple(ResourceClass(same[0], sum(count[r] for r in same)) for same in groups)


def sort_of(network: Network, resource: Hashable) -> Hashable:
    """What links have in common that are as wide, of one kind; other resources are of a sort of their own."""
    if not isinstance(resource, ResourceClass) or resource >= network.n_link_resources:
        return resource
    link = int(np.searchsorted(network.first_resource, int(resource), side="right")) - 1
    kind = network.net.link_defs[int(network.net.link_def[link])].kind
    return kind, float(network.class_rate[network.arrays.rate_class[link]])


def described(resources: Resources, resource: Hashable) -> Bottleneck:
    """A resource of the network, or one that names itself, in words."""
    if isinstance(resource, ResourceClass):
        plain = resources.bottleneck(int(resource), 1)
        return replace(plain, why=plain.why.rsplit(",", 1)[0], equal=resource.count)
    assert isinstance(resource, Bottleneck)
    return resource


def arithmetic(path: str, name: str, why: str, count: int) -> Bottleneck:
    """How fast an accelerator calculates."""
    return Bottleneck("compute", path, f"{name} (arithmetic)", why, equal=count)


def memory_bandwidth(path: str, name: str, why: str, count: int) -> Bottleneck:
    """How fast an accelerator reads its memory."""
    return Bottleneck("part", path, f"{name} (memory bandwidth)", why, equal=count)


def first_of(equal: Sequence[Bottleneck], why: str, gain: float | None = None) -> list[Bottleneck]:
    """The first of equal bottlenecks, representing all of them in what they are a part of.

    Parameters
    ----------
    why
        What they hold back there, stated before their own reason.
    gain
        Of all of it when all of them are doubled [1]; None where that was not tried.
    """
    return [
        replace(b, why=f"{why}; {b.why}", gain_if_doubled=None, gain_together=gain, equal=max(b.equal, len(equal)))
        for b in equal[:1]
    ]
