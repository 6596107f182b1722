"""Racks: what is where in them, and what they feed and carry."""

from __future__ import annotations

from dataclasses import dataclass

from designer.design.document import Design, Elevation
from designer.design.edit import DesignEdit, RemoveEntries, put, several
from designer.design.references import reaches
from designer.errors import DocumentError


@dataclass(frozen=True)
class SetRacks(DesignEdit):
    """Put racks in as they are given, in place of those of the same ids; ``gesture`` names the unit that is moved."""

    racks: tuple[Elevation, ...]
    title: str = ""

    @property
    def label(self) -> str:
        return self.title or f"Change {several([r.name or r.id for r in self.racks], 'rack', 'racks')}"

    def apply(self, design: Design) -> Design:
        known = design.racks
        for rack in self.racks:
            old = known.get(rack.id)
            paths = [p for p in (rack.part, *rack.units) if p is not None and (old is None or p not in old.units)]
            for path in paths:
                if not reaches(design, path):
                    raise DocumentError(
                        f"there is no part {path!r}", place=f"racks.{rack.id}", remedy="choose a part of the design"
                    )
        changed = put(design, "racks", [r for r in self.racks if known.get(r.id) != r])
        rack_of: dict[str, str] = {}
        for rack in changed.racks.values():
            for path in rack.units:
                if rack_of.setdefault(path, rack.id) != rack.id:
                    raise DocumentError(
                        f"{path!r} would be in {rack_of[path]!r} and in {rack.id!r}",
                        place=f"racks.{rack.id}.units",
                        remedy="take it out of one of both racks",
                    )
        return changed


@dataclass(frozen=True)
class RemoveRacks(RemoveEntries):
    """Take racks away; what was in them has no fixed place any more."""

    what = "racks"
