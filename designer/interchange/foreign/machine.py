"""Builds the design of a machine out of what a dump says: parts, links, findings.

Ids are short, stable and counted naturally (gpu0, numa3, nic1); whatever else the dump knows goes to attributes.
Assumptions are never silent: each is marked on the link and stated once, with the ids it holds for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from designer.catalog.loader import load_catalog
from designer.catalog.parttype import PartType
from designer.design.document import Link, LinkValues, Part, Policy
from designer.errors import CatalogError, ExchangeError
from designer.fields import Quantity
from designer.findings import KINDS, Finding, Severity
from designer.interchange.foreign.devices import Device
from designer.sources import Status
from designer.units import format_quantity, write

_MAX_PARTS: Final = 100_000
_MAX_LINKS: Final = 400_000
_NAME_LENGTH: Final = 200
_VALUE_LENGTH: Final = 10_000


def type_for(kind: str, name: str) -> PartType | None:
    """The catalog's part type of that kind called `name`, an id or PCI ids, or None where the catalog has none."""
    if not name:
        return None
    try:
        catalog = load_catalog()
        found = catalog.resolve(name, kind)
        part_type = catalog.get(found) if found else None
    except CatalogError:
        return None
    return part_type if part_type is not None and part_type.kind == kind else None


def spelled_size(amount: float) -> str:
    """A size [B] for a design: whole MiB as they are, others to six digits, more than any kernel agrees on."""
    if amount % 2**20 == 0:
        return write(amount, "size")
    return format_quantity(amount, "size", 6)


def short_line(text: str) -> str:
    """`text` on one line, without what cannot be printed, and no longer than a name may be."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:_NAME_LENGTH]


def few(names: Sequence[str]) -> str:
    """The first three names, for a note."""
    return ", ".join(name[:20] for name in names[:3]) + (" …" if len(names) > 3 else "")


class MachineDrawing:
    """A design being put together.

    Parameters
    ----------
    file
        Name of the file, for the design's name.
    format
        What the file is, for people.
    key
        Key under which values quote the file as their source.
    """

    def __init__(self, file: str, format: str, key: str) -> None:
        self.file = file
        self.format = format
        self.key = key
        self.parts: dict[str, Part] = {}
        self.links: dict[str, Link] = {}
        self.types: dict[str, PartType] = {}
        self.policy = Policy()
        self._used: dict[str, int] = {}
        self._copies: dict[str, int] = {}
        self._notes: dict[tuple[str, Severity, str, str], list[str]] = {}

    def note(self, code: str, text: str, *where: str, remedy: str = "", severity: Severity | None = None) -> None:
        """Report a finding, as severe as is usual for its code; equal ones become one with all their places."""
        places = self._notes.setdefault((code, severity or KINDS[code].severities[0], text, remedy), [])
        places += [w for w in where if w not in places[-1:]]

    def findings(self) -> list[Finding]:
        """The notes so far, in the order they were first made."""
        return [
            Finding(code, severity, text, tuple(dict.fromkeys(where)), remedy)
            for (code, severity, text, remedy), where in self._notes.items()
        ]

    def note_around(self, before: int, after: int) -> None:
        """Report text around the document [characters], such as a shell prompt that was copied with it."""
        if before or after:
            text = f"{before} characters before and {after} after the document were ignored"
            self.note("IMP-JUNK", text)

    def add(
        self,
        kind: str,
        *,
        number: int | None = None,
        name: str = "",
        parent: str | None = None,
        device: Device | None = None,
        attributes: Mapping[str, str] | None = None,
        overrides: Mapping[str, Quantity] | None = None,
    ) -> str:
        """Add a part, numbered `number` or next in its kind; its id."""
        if len(self.parts) >= _MAX_PARTS:
            raise ExchangeError(
                f"it describes more than {_MAX_PARTS:,} parts", file=self.file, remedy="give the dump of one machine"
            )
        part_id = self._free_id(kind, number)
        known = attributes or {}
        ids = ":".join(known.get(name, "").lower().removeprefix("0x") for name in ("vendor", "device"))
        found = type_for(kind, device.type if device else "") or (type_for(kind, ids) if len(ids) == 9 else None)
        if found is not None:
            self.types[found.id] = found
        if device is not None:
            attributes = {"product": device.title, **(attributes or {})}
        self.parts[part_id] = Part(
            id=part_id,
            kind=kind,
            type=found.id if found else "",
            name=short_line(name),
            parent=parent,
            attributes={k[:_NAME_LENGTH]: v[:_VALUE_LENGTH] for k, v in (attributes or {}).items()},
            overrides=dict(overrides or {}),
        )
        return part_id

    def _free_id(self, kind: str, number: int | None) -> str:
        if number is not None and number >= 0:
            return self._unused_id(f"{kind}{number}", self.parts)
        at = self._used.get(kind, 0)
        while f"{kind}{at}" in self.parts:
            at += 1
        self._used[kind] = at + 1
        return f"{kind}{at}"

    def _unused_id(self, wanted: str, taken: Mapping[str, object]) -> str:
        """`wanted`, numbered where it is taken; the count goes on where it stopped, many equal names are no trouble."""
        name, copy = wanted, self._copies.get(wanted, 1)
        while name in taken:
            copy += 1
            name = f"{wanted}-{copy}"
        self._copies[wanted] = copy
        return name

    def link(
        self,
        a: str,
        b: str,
        values: LinkValues,
        attributes: Mapping[str, str] | None = None,
        *,
        ports: tuple[str, str] = ("", ""),
    ) -> str:
        """Join two parts, at the named ports where they are known; the id of the link."""
        if len(self.links) >= _MAX_LINKS:
            raise ExchangeError(
                f"it describes more than {_MAX_LINKS:,} links", file=self.file, remedy="give the dump of one machine"
            )
        link_id = base = f"{a}--{b}"
        if link_id in self.links:
            link_id = self._unused_id(f"{base}--{values.kind}", self.links)
        fields = {name: getattr(values, name) for name in type(values).model_fields}
        fields["attributes"] = {**values.attributes, **(attributes or {})}
        fields["source"] = values.source or (self.key if values.status is Status.PRIMARY else "")
        a_port, b_port = map(short_line, ports)
        self.links[link_id] = Link(id=link_id, a=a, b=b, a_port=a_port, b_port=b_port, **fields)
        return link_id

    def fact(self, value: str | int, note: str = "", status: Status = Status.PRIMARY) -> Quantity:
        """A value as the file gives it."""
        return Quantity(value=value, source=self.key, status=status, note=note)

    def memory(
        self,
        home: str,
        server: str,
        *,
        assumed: str,
        number: int | None = None,
        capacity: int = 0,
        bandwidth: float = 0,
        tier: str = "",
    ) -> str:
        """The memory of a NUMA domain or CPU; `assumed` is its spelled bandwidth where `bandwidth` [B/s] is 0."""
        overrides: dict[str, Quantity] = {}
        if capacity > 0:
            overrides["memory_capacity"] = self.fact(spelled_size(capacity))
        if tier:
            overrides["tier"] = self.fact(tier)
        part = self.add("memory", number=number, parent=server, name=tier, overrides=overrides)
        if bandwidth > 0:
            values = LinkValues(
                kind="memory_bus", bandwidth_per_direction=write(bandwidth, "rate"), status=Status.PRIMARY
            )
        else:
            values = LinkValues(kind="memory_bus", bandwidth_per_direction=assumed, status=Status.ASSUMED)
        link_id = self.link(home, part, values)
        if bandwidth <= 0:
            self.note(
                "IMP-ASSUMED-MEMORY",
                f"memory bandwidth is not in the file: {assumed} is assumed, all channels filled"
                if tier in ("", "DRAM")
                else f"the bandwidth of {tier} memory is not in the file: {assumed} is assumed",
                link_id,
                remedy="set the bandwidth of the memory links",
            )
        return part

    def of_kind(self, *kinds: str) -> list[str]:
        """Ids of the parts of these kinds, in order."""
        return [p.id for p in self.parts.values() if p.kind in kinds]
