"""What a generator is, how it is asked, and what all of them draw: servers, switches, wirings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Final

from designer.catalog.parttype import PartType, SourceRecord
from designer.design.document import Block, Design, Group, Link, Part, Policy, Wiring, WorkloadSpec
from designer.errors import FormatError, raised_as
from designer.fields import Quantity, amount
from designer.interchange.network_products import (
    Chosen,
    Server,
    amount_of,
    draw_other_networks,
    network_of,
    ports_of,
    quantity,
    spelled,
)
from designer.sources import Status

#: servers and switches beyond this are refused
MOST: Final = 200_000
#: the source of what the parameters say
ASKED: Final = "asked"
NO_PRODUCTS: Final = Chosen()
#: the workload of every generated design
ALL_REDUCE: Final = WorkloadSpec(
    id="all-reduce",
    kind="collective",
    title="All-reduce over all GPUs, 1 GiB",
    settings={"collective": "all-reduce", "group": "gpus", "size": "1 GiB"},
)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One number or word a family takes.

    Parameters
    ----------
    default
        Its value where none is given: a number, or text for a rate or a kind of network.
    """

    name: str
    default: int | str
    help: str
    least: int = 1


@dataclass(frozen=True, slots=True)
class Generator:
    """A family of networks.

    Parameters
    ----------
    make
        Parameter values to the design; raises ``FormatError`` where they do not fit each other.
    products
        False where it draws no servers and switches that products could be chosen for.
    """

    name: str
    title: str
    parameters: tuple[Parameter, ...]
    make: Callable[[Asked], Design]
    products: bool = True

    def asked(self, given: Mapping[str, str], chosen: Chosen = NO_PRODUCTS) -> Asked:
        """All parameters, those given in place of their defaults, which follow from the chosen products.

        Raises
        ------
        FormatError
            If there is no such parameter, a value is no number or too small, or products are chosen for none.
        """
        if not self.products and chosen != NO_PRODUCTS:
            raise FormatError(f"{self.name} is drawn without products", remedy="leave out servers and switches")
        known = {p.name: p for p in self.parameters}
        for name in given:
            if name not in known:
                raise FormatError(
                    f"{self.name} has no parameter {name!r}", place="--set", remedy=f"use {', '.join(known)}"
                )
        given = {**_implied_parameters(chosen, given, known), **given}
        values = {p.name: _value(p, given[p.name]) if p.name in given else p.default for p in self.parameters}
        return Asked(values, chosen)


def _implied_parameters(chosen: Chosen, given: Mapping[str, str], known: Mapping[str, Parameter]) -> dict[str, str]:
    """Parameters that follow from products: rate, rails and GPUs from the server, ports and network from the switch."""
    found: dict[str, str] = {}
    compute = chosen.server.compute if chosen.server is not None else None
    slowest = [r for r in (compute.rate if compute else 0.0, amount_of(chosen.switch) if chosen.switch else 0.0) if r]
    if slowest:
        found["rate"] = spelled(min(slowest))
    if chosen.server is not None:
        found["gpus"] = str(max(1, chosen.server.gpus))
    if compute is not None:
        found |= {"kind": compute.technology, "rails": str(len(compute.ids) // int(given.get("planes", "1") or 1) or 1)}
    if chosen.switch is not None:
        with raised_as(FormatError, "--set rate"):
            rate = amount(given.get("rate", found.get("rate", "400 Gb/s")), "rate")
        found |= {"kind": network_of(chosen.switch), "ports": str(ports_of(chosen.switch, rate))}
    return {name: value for name, value in found.items() if name in known}


@dataclass(frozen=True, slots=True)
class Asked:
    """Values of parameters by name, and the chosen products."""

    values: Mapping[str, int | str]
    chosen: Chosen = NO_PRODUCTS

    def number(self, name: str) -> int:
        """A whole number."""
        value = self.values[name]
        assert isinstance(value, int)
        return value

    def text(self, name: str) -> str:
        """A word or spelled quantity."""
        return str(self.values[name])


def _value(parameter: Parameter, text: str) -> int | str:
    place = f"--set {parameter.name}"
    if isinstance(parameter.default, int):
        plain = re.sub(r"[_, ]", "", text)
        if not (plain.isascii() and plain.isdigit() and len(plain) < 10) or int(plain) < parameter.least:
            raise FormatError(f"{text[:40]!r} is no number", place=place, remedy=f"give {parameter.least} or more")
        return int(plain)
    if parameter.name.endswith("rate"):
        with raised_as(FormatError, place):
            amount(text, "rate")
    return text.strip()


#: parameters of the servers, the same in every family
SERVER: Final = (
    Parameter("gpus", 8, "GPUs in a server"),
    Parameter("rate", "400 Gb/s", "rate of a link, per direction"),
    Parameter("kind", "infiniband", "infiniband or ethernet"),
)


def refuse(text: str, remedy: str) -> FormatError:
    """The error for parameters that do not fit each other."""
    return FormatError(text, place="--set", remedy=remedy)


#: members of a torus beyond this are refused
TORUS_LIMIT: Final = 20_000


def shape_of(text: str, members: str) -> list[int]:
    """Lengths of the dimensions of a torus, from ``4x4x4``.

    Parameters
    ----------
    members
        What the torus is made of, in the plural, for messages.

    Raises
    ------
    FormatError
        If the text is no shape, or there are too many members.
    """
    words = text.lower().split("x")
    if not 1 <= len(words) <= 4 or not all(w.isascii() and w.isdigit() and 0 < len(w) < 6 for w in words):
        raise refuse(f"{text[:40]!r} is no shape", "write 4x4x4")
    shape = [int(w) for w in words]
    if min(shape) < 1 or prod(shape) > TORUS_LIMIT:
        raise refuse(f"{prod(shape)} {members}", f"use 1 to {TORUS_LIMIT:,}")
    return shape


def neighbours_in(shape: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Each pair of neighbours of a torus once: its dimension and the numbers of both, the last dimension first."""
    strides = [prod(shape[i + 1 :]) for i in range(len(shape))]
    for place in product(*(range(n) for n in shape)):
        here = sum(p * s for p, s in zip(place, strides, strict=True))
        for axis, size in enumerate(shape):
            # of two members the way there is the way back: one link
            if size == 1 or (size == 2 and place[axis] == 1):
                continue
            yield axis, here, here + ((place[axis] + 1) % size - place[axis]) * strides[axis]


def even(needed: int, uplinks: int) -> int:
    """The fewest upper switches, at least `needed`, over which `uplinks` spread evenly.

    A leaf of 72 uplinks joins 18 spines with four links each and cannot join 16 evenly: published architectures
    take 18 for that reason.

    Raises
    ------
    FormatError
        If even one link to each is too few.
    """
    found = next((n for n in range(max(1, needed), uplinks + 1) if uplinks % n == 0), None)
    if found is None:
        raise refuse(
            f"{uplinks} uplinks of a switch cannot reach {needed} switches above it",
            "use switches with more ports, or another tier",
        )
    return found


class Drawing:
    """A design being put together out of groups of equal members and wirings between them."""

    def __init__(self, asked: Asked, name: str, title: str) -> None:
        self.asked = asked
        self.name = name
        self.title = title
        self.kind = asked.text("kind")
        if self.kind not in ("infiniband", "ethernet", "fabric"):
            raise refuse(f"{self.kind[:40]!r} is no kind of network", "use infiniband or ethernet")
        self.rate = asked.text("rate")
        self.parts: dict[str, Part] = {}
        self.groups: dict[str, Group] = {}
        self.wirings: dict[str, Wiring] = {}
        self.chosen = asked.chosen
        self.types: dict[str, PartType] = {}
        self.sources: dict[str, SourceRecord] = {
            ASKED: SourceRecord(title="The parameters this design was generated from")
        }
        self.nodes = 0

    def nics(self, first: int, last: int) -> str:
        """The path of NICs `first` to `last` of every server."""
        server = self.chosen.server
        if server is not None and server.compute is not None:
            return f"servers[*]/{server.compute.path(first, last)}"
        return f"servers[*]/nic{first}" if first == last else f"servers[*]/nic{{{first}-{last}}}"

    def take(self, part: PartType) -> str:
        """Carry a part type in the design; its id."""
        self.types[part.id] = part
        self.sources.update(part.sources)
        return part.id

    def product(self, part: PartType, title: str, role: str, rate: float) -> Part:
        """A switch of the catalog, with its ports split where links are slower than they are."""
        overrides: dict[str, Quantity] = {}
        if ports_of(part, rate) != int(part.number("ports") or 0):
            overrides = {
                "ports": quantity(ports_of(part, rate), ASKED),
                "port_bandwidth_per_direction": quantity(spelled(rate), ASKED),
            }
        attributes = {"role": role}
        return Part(
            id="switch", kind="switch", name=title, type=self.take(part), overrides=overrides, attributes=attributes
        )

    def products(self, group: str, title: str, count: int, part: PartType, role: str, rate: float) -> None:
        """A group of equal switches of the catalog, called ``switch``."""
        switch = self.product(part, title, role, rate)
        self.groups[group] = Group(id=group, name=title, replicas=count, content=Block(parts={"switch": switch}))

    def join(self, name: str, pattern: str, a: str, b: str, kind: str, rate: float, count: int = 1) -> None:
        """A wiring of links of a network and rate of its own [B/s]."""
        self.wirings[name] = self.wiring(name, pattern, a, b, count).model_copy(
            update={"kind": kind, "bandwidth_per_direction": spelled(rate)}
        )

    def controllers(self, card: PartType) -> None:
        """A management controller in every server."""
        group = self.groups["servers"]
        top = next(p for p in group.content.parts.values() if p.kind == "server")
        bmc = Part(
            id="bmc", kind="nic", parent=top.id, name="BMC", type=self.take(card), attributes={"role": "management"}
        )
        content = group.content.model_copy(update={"parts": {**group.content.parts, "bmc": bmc}})
        self.groups["servers"] = group.model_copy(update={"content": content})

    def _server_group(self, count: int, nics: int, server: Server) -> None:
        """The group ``servers`` of a template's server."""
        has = len(server.compute.ids) if server.compute is not None else 0
        if nics > has:
            raise refuse(f"{server.design.name} has {has} compute NICs, the network joins {nics}", "use fewer rails")
        block = Block(parts=server.design.parts, links=server.design.links)
        name = server.design.title[:60] or "Servers"
        self.groups["servers"] = Group(id="servers", name=name, replicas=count, content=block)
        self.types |= server.design.part_types
        self.sources = {**server.design.sources, **self.sources}

    def servers(self, count: int, nics: int, inside: int | None = None) -> None:
        """The group ``servers``: GPUs in an NVSwitch fabric, NIC i next to GPU i modulo their number."""
        if not 1 <= count * (1 + nics) <= MOST * 20:
            raise refuse(f"{count} servers", f"use up to {MOST:,}")
        self.nodes = count
        if self.chosen.server is not None:
            self._server_group(count, nics, self.chosen.server)
            return
        gpus = self.asked.number("gpus") if inside is None else inside
        if gpus > 1024 or nics > 1024:
            raise refuse(f"{max(gpus, nics)} parts of a kind in a server", "use up to 1,024")
        parts = [Part(id="server", kind="server", name="Server")]
        links: list[Link] = []
        parts += [Part(id=f"gpu{i}", kind="gpu", parent="server", name=f"GPU {i}") for i in range(gpus)]
        parts += [Part(id=f"nic{i}", kind="nic", parent="server", name=f"NIC {i}") for i in range(nics)]
        if gpus > 1:
            parts.append(Part(id="nvswitch", kind="nvswitch", parent="server", name="NVSwitch fabric"))
            links += [
                Link(id=f"gpu{i}--nvswitch", a=f"gpu{i}", b="nvswitch", kind="nvlink", count=18, status=Status.ASSUMED)
                for i in range(gpus)
            ]
        links += [
            Link(
                id=f"gpu{i * gpus // nics if nics > gpus else i % gpus}--nic{i}",
                a=f"gpu{i * gpus // nics if nics > gpus else i % gpus}",
                b=f"nic{i}",
                kind="pcie",
                generation=5,
                lanes=16,
                status=Status.ASSUMED,
            )
            for i in range(nics)
        ]
        block = Block(parts={p.id: p for p in parts}, links={x.id: x for x in links})
        self.groups["servers"] = Group(id="servers", name="Servers", replicas=count, content=block)

    def switches(self, group: str, title: str, count: int, ports: int, role: str) -> None:
        """A group of equal switches, each called ``switch``."""
        self.groups[group] = Group(
            id=group, name=title, replicas=count, content=Block(parts={"switch": self.switch(title, ports, role)})
        )

    def switch(self, title: str, ports: int, role: str, part_id: str = "switch") -> Part:
        """One switch with so many ports of the rate asked for."""
        if self.chosen.switch is not None:
            has = ports_of(self.chosen.switch, amount(self.rate, "rate"))
            if ports > has:
                raise refuse(
                    f"{self.chosen.switch.title} has {has} ports of {self.rate}, not {ports}", "use fewer ports"
                )
            made = self.product(self.chosen.switch, title, role, amount(self.rate, "rate"))
            return made if part_id == made.id else made.model_copy(update={"id": part_id})
        values: dict[str, int | str] = {"ports": ports, "port_bandwidth_per_direction": self.rate}
        overrides = {k: Quantity(value=v, source=ASKED, status=Status.SECONDARY) for k, v in values.items()}
        return Part(id=part_id, kind="switch", name=title, overrides=overrides, attributes={"role": role})

    def connect(self, name: str, pattern: str, a: str, b: str, count: int = 1) -> None:
        """A wiring of links of the rate asked for."""
        self.wirings[name] = self.wiring(name, pattern, a, b, count)

    def wiring(self, name: str, pattern: str, a: str, b: str, count: int = 1) -> Wiring:
        """One wiring of links of the rate asked for."""
        return Wiring(
            id=name,
            pattern=pattern,
            a=a,
            b=b,
            kind=self.kind,
            count=count,
            bandwidth_per_direction=self.rate,
            source=ASKED,
            status=Status.SECONDARY,
        )

    def design(self, description: str) -> Design:
        """The whole, with the networks next to the fabric.

        Raises
        ------
        FormatError
            If the servers have no NICs or ports for a network that was chosen.
        """
        others = draw_other_networks(self, self.chosen, self.nodes)
        server = self.chosen.server
        if self.chosen != NO_PRODUCTS:
            description = f"{description} {others}"
        return Design(
            name=self.name,
            title=self.title,
            description=description,
            parts=self.parts,
            groups=self.groups,
            wirings=self.wirings,
            part_types=self.types,
            sources=self.sources,
            policy=server.design.policy if server is not None else Policy(),
            workloads={ALL_REDUCE.id: ALL_REDUCE},
            default_workload=ALL_REDUCE.id,
        )
