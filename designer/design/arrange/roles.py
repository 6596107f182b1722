"""What a kind of part is to the layout: read off its capabilities and ports, so that new kinds find their place."""

from __future__ import annotations

from enum import Enum, auto
from functools import lru_cache
from typing import NamedTuple

from designer.catalog.parttype import Capability, Domain, PartKind, link_kinds, part_kinds
from designer.design.address import Ref


class Role(Enum):
    """Where a part belongs in a picture."""

    SOCKET = auto()  #: top of a host's PCIe tree
    DOMAIN = auto()  #: part of a socket with PCIe lanes and memory of its own
    MEMORY = auto()  #: next to its socket
    HOST_SWITCH = auto()  #: inside a PCIe tree
    ACCELERATOR = auto()  #: in one row under the PCIe trees
    ACCELERATOR_SWITCH = auto()  #: in a row under the accelerators
    LEAF = auto()  #: hangs below what it is plugged into
    HOST = auto()  #: servers, racks, groups of several parts: the bottom tier of a network
    NETWORK_SWITCH = auto()  #: in tiers above the hosts
    STORAGE = auto()  #: at the side of the hosts


@lru_cache(maxsize=1024)
def role_of(kind_name: str) -> Role:
    """The role of a kind; ``group`` and unknown kinds have one too."""
    kind = part_kinds().get(kind_name)
    if kind is None:
        return Role.HOST if kind_name == "group" else Role.LEAF
    has = kind.capabilities
    if Capability.CONTAIN in has:
        return Role.HOST
    if Capability.ROOT in has:
        return Role.SOCKET if Capability.COMPUTE in has else Role.DOMAIN
    if Capability.MEMORY in has:
        return Role.MEMORY
    if Capability.ACCELERATE in has:
        return Role.ACCELERATOR
    if Capability.SWITCH in has:
        return _switch_role(kind)
    if Capability.STORE in has and _first_domain(kind) is Domain.NETWORK:
        return Role.STORAGE
    return Role.LEAF


def _first_domain(kind: PartKind) -> Domain | None:
    """Domain of the links of a kind's most usual port."""
    return link_domain(kind.ports[0].links[0]) if kind.ports else None


def _switch_role(kind: PartKind) -> Role:
    if kind.passes(Domain.NETWORK, Domain.NETWORK):
        return Role.NETWORK_SWITCH
    return Role.ACCELERATOR_SWITCH if kind.passes(Domain.ACCELERATOR, Domain.ACCELERATOR) else Role.HOST_SWITCH


@lru_cache(maxsize=1024)
def link_domain(kind_name: str) -> Domain:
    """Domain of a kind of link; unknown kinds count as network."""
    kind = link_kinds().get(kind_name)
    return kind.domain if kind is not None else Domain.NETWORK


# What the layout moves around.


class Item(NamedTuple):
    """A box to find a place for, extents in scene units."""

    ref: Ref
    kind: str
    width: float
    height: float


#: top left corners
Places = dict[Ref, tuple[float, float]]
