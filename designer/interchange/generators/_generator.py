"""What a generator is, how it is asked, and what all of them draw alike: servers, switches, wirings."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from designer.design.document import Block, Design, Group, Link, Part, Wiring, WorkloadSpec
from designer.errors import FormatError, raised_as
from designer.fields import Quantity, amount
from designer.sources import Status

#: servers and switches beyond this are refused
MOST: Final = 200_000
#: the source of what the parameters say
ASKED: Final = "asked"


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
    """

    name: str
    title: str
    parameters: tuple[Parameter, ...]
    make: Callable[[Asked], Design]

    def asked(self, given: Mapping[str, str]) -> Asked:
        """All parameters, those given in place of their defaults.

        Raises
        ------
        FormatError
            If there is no such parameter, or a value is no number or too small.
        """
        known = {p.name: p for p in self.parameters}
        for name in given:
            if name not in known:
                raise FormatError(
                    f"{self.name} has no parameter {name!r}", place="--set", remedy=f"use {', '.join(known)}"
                )
        return Asked({p.name: _value(p, given[p.name]) if p.name in given else p.default for p in self.parameters})


@dataclass(frozen=True, slots=True)
class Asked:
    """Values of parameters by name."""

    values: Mapping[str, int | str]

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

    def servers(self, count: int, nics: int, inside: int | None = None) -> None:
        """The group ``servers``: GPUs in an NVSwitch fabric, NIC i next to GPU i modulo their number."""
        if not 1 <= count * (1 + nics) <= MOST * 20:
            raise refuse(f"{count} servers", f"use up to {MOST:,}")
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
        """The whole."""
        from designer.catalog.parttype import SourceRecord

        return Design(
            name=self.name,
            title=self.title,
            description=description,
            parts=self.parts,
            groups=self.groups,
            wirings=self.wirings,
            sources={ASKED: SourceRecord(title="The parameters this design was generated from")},
            workloads={
                "all-reduce": WorkloadSpec(
                    id="all-reduce",
                    kind="collective",
                    title="All-reduce over all GPUs, 1 GiB",
                    settings={"collective": "all-reduce", "group": "gpus", "size": "1 GiB"},
                )
            },
            default_workload="all-reduce",
        )
