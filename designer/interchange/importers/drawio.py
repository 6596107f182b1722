"""draw.io diagrams whose shapes say what they are: those this program writes, and shapes with the same data.

A diagram this program wrote carries its design. What was changed in draw.io is done to it as edits: shapes taken out,
renamed or moved, groups repeated otherwise, new shapes with a kind, new connections between parts. A diagram without
that design is read by its shapes alone: ``kind``, ``type`` and, of connections, ``kind``, ``count`` and ``capacity``
under *Edit data*. Shapes without a kind are no parts and are counted.
Sources: jgraph/drawio documentation, mxGraph XML format and custom properties, compressed diagrams.
"""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from typing import Any, Final, cast

from designer.catalog.loader import load_catalog
from designer.catalog.parttype import link_kinds, part_kinds
from designer.design.address import Address, Ref, canonical
from designer.design.document import Design, Link, LinkValues, Part, Position
from designer.design.edit import Edit
from designer.design.edits.groups import ChangeGroups, SetReplicas
from designer.design.edits.links import AddLinks
from designer.design.edits.parts import AddParts, ChangeParts
from designer.design.edits.placement import Place
from designer.design.edits.structure import Delete
from designer.design.integrity import demand_sound
from designer.design.legality import can_connect
from designer.errors import CatalogError, DesignerError, ExchangeError, UnitError
from designer.findings import Finding, Severity
from designer.interchange.foreign.devices import Device
from designer.interchange.foreign.embedded import inflate, unpack
from designer.interchange.foreign.finishing import finish
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.machine import MachineDrawing
from designer.interchange.foreign.xml import Element, parse_xml
from designer.plain_text import counted
from designer.sources import Status
from designer.units import parse, write

_WRAPPERS: Final = ("object", "UserObject")
_COUNT: Final = re.compile(r"\s*×\s*([\d,.]{1,12})\Z")
#: base64 of raw deflate, as draw.io compresses diagrams
_RAW: Final = -15
_LAYERS: Final = ("", "0", "1")
#: characters of a rate, and rates above which it is a slip [B/s]
_LONGEST: Final = 60
_FASTEST: Final = 1e18
#: coordinates of drawings stay below
_FARTHEST: Final = 1e7


@dataclass(slots=True)
class _Cell:
    """A shape or connection with what it says of itself."""

    id: str
    data: dict[str, str]
    parent: str
    source: str
    target: str
    is_edge: bool
    x: float
    y: float

    @property
    def label(self) -> str:
        """Its first line as plain text."""
        return _line(self.data.get("label", ""))


def _sniff(head: str) -> float:
    return 0.95 if re.search(r"<mxfile[\s>]|<mxGraphModel[\s>]", head) else 0.0


def _read(text: str, file: str) -> Imported:
    cells = {cell.id: cell for cell in _cells(parse_xml(text, file, ("mxfile", "mxGraphModel")).root, file)}
    carrier = cells.pop("designer", None)
    if carrier is not None and "document0" in carrier.data:
        return _Edited(carrier, cells, file).run()
    return _from_shapes(cells, file)


def _cells(root: Element, file: str) -> Iterator[_Cell]:
    """All cells of all pages; compressed pages are opened."""
    pages = [root] if root.tag == "mxGraphModel" else root.all("diagram")
    for page in pages:
        if not page.children and page.text.strip():
            plain = urllib.parse.unquote(inflate(page.text.strip(), file, _RAW))
            page = parse_xml(plain, file, ("mxGraphModel",)).root
        for element in page.walk():
            if element.tag in _WRAPPERS:
                inner = next(iter(element.all("mxCell")), None)
                if inner is not None:
                    yield _cell(inner, element.get("id"), dict(element.attributes))
            elif element.tag == "mxCell" and element.get("id"):
                yield _cell(element, element.get("id"), {"label": element.get("value")})


def _cell(element: Element, id: str, data: dict[str, str]) -> _Cell:
    place = next(iter(element.all("mxGeometry")), None)
    x, y = (_place(place.get(name)) if place is not None else 0.0 for name in ("x", "y"))
    ends = (element.get("parent"), element.get("source"), element.get("target"))
    return _Cell(id, data, *ends, is_edge=element.get("edge") == "1", x=x, y=y)


def _left_out(strangers: int) -> str:
    what = counted(strangers, "shape or connection", "shapes and connections")
    return f"{what} without a kind or without two ends {'was' if strangers == 1 else 'were'} left out"


def _line(label: str) -> str:
    first = re.split(r"<br\s*/?>|\n", label, maxsplit=1)[0]
    return " ".join(unescape(re.sub(r"<[^<>]{1,500}>", "", first)).split())


class _Edited:
    """A diagram that carries its design: the design, then what was changed in the diagram, edit by edit."""

    def __init__(self, carrier: _Cell, cells: dict[str, _Cell], file: str) -> None:
        texts = [
            carrier.data[k]
            for k in sorted((k for k in carrier.data if re.fullmatch(r"document\d{1,3}", k)), key=_order)
        ]
        stated = unpack(texts, file)
        try:
            content = cast("dict[str, Any]", stated)
            self.design = Design.model_validate(content["design"])
            self.boxes: dict[str, tuple[Address, Ref, list[str]]] = {
                key: (_address(row[0]), Ref(row[1], row[2]), [str(v) for v in row[3:7]])
                for key, row in content["boxes"].items()
            }
            self.links = {
                key: (_address(row[0]), [Ref(what, id) for what, id in row[1]]) for key, row in content["links"].items()
            }
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            raise ExchangeError(
                "the design it carries is damaged or of another version", file=file, remedy="export it again"
            ) from None
        self.cells = cells
        self.findings: list[Finding] = []
        self.refused: list[str] = []
        self.changes = 0

    def run(self) -> Imported:
        """The design with the changes done."""
        for edit, label in (*self._removed_items(), *self._changed_items()):
            self._apply(edit, label)
        self._new()
        if self.changes:
            made = counted(self.changes, "change made in draw.io was", "changes made in draw.io were")
            text = f"{made} done to the design it carries"
            self.findings.append(Finding("IMP-DRAWN", Severity.INFO, text))
        if self.refused:
            made = counted(len(self.refused), "change")
            text = f"{made} made in draw.io could not be done: {'; '.join(self.refused[:5])}"
            self.findings.append(
                Finding(
                    "IMP-DRAWN-LOST", Severity.WARNING, text[:2000], (), "make them here, where the reason is shown"
                )
            )
        return Imported(self.design, (*self.findings, *demand_sound(self.design)))

    def _apply(self, edit: Edit, label: str) -> None:
        try:
            changed = edit.apply(self.design)
            if changed is not self.design:
                demand_sound(changed)
                self.design, self.changes = changed, self.changes + 1
        except DesignerError as error:
            self.refused.append(f"{label or 'a shape'}: {error.text}")

    def _removed_items(self) -> Iterator[tuple[Edit, str]]:
        """What is in the diagram no more; connections first, for parts take theirs along."""
        for key, (within, refs) in self.links.items():
            if key not in self.cells and refs:
                yield Delete(tuple(refs), within=within), key
        gone = {key for key in self.boxes if key not in self.cells}
        for key in gone:
            within, ref, seen = self.boxes[key]
            # what stood in a container that is gone goes with it
            if seen[1] not in gone and ref.what in ("parts", "groups", "annotations"):
                yield Delete((ref,), within=within), _line(seen[0])

    def _changed_items(self) -> Iterator[tuple[Edit, str]]:
        for key, (within, ref, seen) in self.boxes.items():
            cell = self.cells.get(key)
            if cell is None:
                continue
            old, new = _line(seen[0]), cell.label
            if old != new and ref.what == "parts":
                yield ChangeParts((ref.id,), {"name": new}, within=within), new
            elif old != new and ref.what == "groups":
                yield from _rename_group(within, ref.id, old, new)
            same_home = cell.parent == seen[1]
            if same_home and (cell.x, cell.y) != (_place(seen[2]), _place(seen[3])):
                yield Place({ref: (round(cell.x), round(cell.y))}, within=within), new
            elif not same_home:
                self.refused.append(f"{new or key}: it was put into another container")

    def _new(self) -> None:
        """Shapes with a kind and connections that were drawn in draw.io."""
        strangers = 0
        known = {key: (within, ref.id) for key, (within, ref, _) in self.boxes.items() if ref.what == "parts"}
        for cell in self.cells.values():
            if cell.is_edge or cell.id in self.boxes or cell.id in _LAYERS:
                continue
            kind = cell.data.get("kind", "")
            if kind not in part_kinds():
                strangers += 1
                continue
            home = self.boxes.get(cell.parent)
            within, parent = ((), None) if home is None else (home[0], home[1].id)
            if home is not None and home[1].what == "groups":
                within, parent = (*home[0], (home[1].id, None)), None
            self._part(cell, kind, within, parent, known)
        for cell in self.cells.values():
            if cell.is_edge and cell.id not in self.links:
                strangers += not self._link(cell, known)
        if strangers:
            text = _left_out(strangers)
            self.findings.append(
                Finding("IMP-KIND", Severity.WARNING, text, (), "give them kind under Edit data, as other shapes have")
            )

    def _part(
        self, cell: _Cell, kind: str, within: Address, parent: str | None, known: dict[str, tuple[Address, str]]
    ) -> None:
        block = self.design
        taken = {p for w, p in known.values() if w == within} | set(block.parts if not within else ())
        id = next(f"{kind}{n}" for n in range(len(taken) + 1_000_000) if f"{kind}{n}" not in taken)
        try:
            wanted = load_catalog().resolve(cell.data.get("type", ""), kind) if cell.data.get("type") else None
            part_type = load_catalog().get(wanted) if wanted else None
        except CatalogError:
            part_type = None
        part = Part(
            id=id,
            kind=kind,
            type=part_type.id if part_type is not None else "",
            name=cell.label[:200],
            parent=parent,
            position=Position(x=round(cell.x), y=round(cell.y)),
        )
        before = self.changes
        types = () if part_type is None else (part_type,)
        self._apply(AddParts((part,), types, {} if part_type is None else part_type.sources, within=within), cell.label)
        if self.changes > before:
            known[cell.id] = (within, id)

    def _link(self, cell: _Cell, known: dict[str, tuple[Address, str]]) -> bool:
        a, b = known.get(cell.source), known.get(cell.target)
        if a is None or b is None:
            return False
        if a[0] != b[0]:
            self.refused.append(f"{a[1]} to {b[1]}: they are not in the same group")
            return True
        verdict = can_connect(self.design, a[1], b[1], cell.data.get("kind") or None, within=a[0])
        if not verdict.ok:
            self.refused.append(f"{a[1]} to {b[1]}: {verdict.reason}")
            return True
        count = _positive_count(cell.data.get("count", "1"))
        kind = cell.data.get("kind") or verdict.kinds[0]
        link = Link(
            id=f"{a[1]}--{b[1]}",
            a=a[1],
            b=b[1],
            kind=kind,
            count=count,
            bandwidth_per_direction=_rate_of(cell, count),
        )
        self._apply(AddLinks((link,), within=a[0]), cell.label)
        return True


def _rename_group(within: Address, id: str, old: str, new: str) -> Iterator[tuple[Edit, str]]:
    """A group by its label, ``servers × 32``: another name, more or fewer members."""
    names = [_COUNT.sub("", text) for text in (old, new)]
    counts = [found[1] if (found := _COUNT.search(text)) else "" for text in (old, new)]
    if names[0] != names[1]:
        yield ChangeGroups((id,), {"name": names[1]}, within=within), new
    if counts[1] and counts[0] != counts[1]:
        yield SetReplicas(id, _positive_count(counts[1].replace(",", "")), within=within), new


def _order(name: str) -> int:
    return int(name.removeprefix("document"))


def _address(value: Any) -> Address:
    return canonical(tuple((str(group), member) for group, member in value))


def _positive_count(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 7 and int(text) > 0 else 1


def _rate_of(cell: _Cell, count: int) -> str | None:
    """Rate of one link, spelled, of a connection that states its capacity."""
    stated = cell.data.get("capacity", "")
    try:
        whole = parse(stated, "rate") if 0 < len(stated) <= _LONGEST else 0.0
    except UnitError:
        return None
    return write(whole / count, "rate") if 0 < whole < _FASTEST else None


def _place(text: str) -> float:
    """A coordinate; 0 where it is none, or none of a drawing."""
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if abs(value) < _FARTHEST else 0.0


def _from_shapes(cells: dict[str, _Cell], file: str) -> Imported:
    """A diagram without a design: its shapes."""
    kinds = part_kinds()
    if not any(cell.data.get("kind") in kinds for cell in cells.values()):
        raise ExchangeError(
            "none of its shapes has a kind: it is a picture, no machine",
            file=file,
            remedy="give shapes kind under Edit data, such as gpu, or begin with: designer export --to drawio",
        )
    machine = MachineDrawing(file, "a draw.io diagram", "drawio")
    ids: dict[str, str] = {}
    strangers = 0
    for cell in _containers_first(cells):
        kind = cell.data.get("kind", "")
        if kind not in kinds:
            strangers += cell.id not in _LAYERS
            continue
        device = Device(cell.label, cell.data["type"]) if cell.data.get("type") else None
        ids[cell.id] = machine.add(kind, parent=ids.get(cell.parent), name=cell.label, device=device)
    for cell in cells.values():
        if not cell.is_edge:
            continue
        a, b, kind = ids.get(cell.source), ids.get(cell.target), cell.data.get("kind", "")
        if a is None or b is None or a == b or kind not in link_kinds():
            strangers += 1
            continue
        count = _positive_count(cell.data.get("count", "1"))
        stated = _rate_of(cell, count)
        machine.link(
            a,
            b,
            LinkValues(
                kind=kind,
                count=count,
                status=Status.PRIMARY if stated else Status.ASSUMED,
                bandwidth_per_direction=stated,
            ),
        )
    if strangers:
        text = _left_out(strangers)
        machine.note("IMP-KIND", text, remedy="give them kind under Edit data, as other shapes have")
    return finish(machine)


def _containers_first(cells: dict[str, _Cell]) -> Iterator[_Cell]:
    """Shapes, each after the one it is in; circles end where they began."""
    below: dict[str, list[_Cell]] = {}
    for cell in cells.values():
        if not cell.is_edge:
            below.setdefault(cell.parent if cell.parent in cells else "", []).append(cell)
    waiting = below.get("", [])[::-1]
    while waiting:
        cell = waiting.pop()
        yield cell
        waiting += below.pop(cell.id, [])[::-1]


IMPORTER = Importer("drawio", "draw.io diagram", (".drawio", ".xml"), _sniff, _read)
