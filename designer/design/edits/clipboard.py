"""Copy as text, paste under new ids, duplicate, replicate in rows and columns.

The text is JSON, so it passes between windows, programs and mails.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import Field, ValidationError

from designer.catalog.parttype import PartType, SourceRecord
from designer.design.address import AnyAddress, Ref, block_at, get_item, missing, with_block
from designer.design.copies import Chosen, Planted, Planter, as_link, choose, cut_out, merged, shifted, top_left
from designer.design.document import Annotation, Block, Design, Link, Position
from designer.design.edit import BlockEdit, put, several
from designer.design.ids import Numberer
from designer.design.validation import check_size, explain
from designer.errors import DocumentError
from designer.fields import Frozen

FORMAT: Final = "designer-clipboard"
VERSION: Final = 1
#: longer texts are not even looked at
MAX_TEXT = 64_000_000
MAX_COPIES = 100_000


class Clip(Frozen):
    """What is on the clipboard."""

    content: Block
    annotations: tuple[Annotation, ...] = ()
    part_types: tuple[PartType, ...] = ()
    sources: dict[str, SourceRecord] = Field(default_factory=dict)


def copy(design: Design, refs: Iterable[Ref], within: AnyAddress = ()) -> str:
    """The selected things as text: parts with what they contain, groups, notes, and the links among them.

    Raises
    ------
    DocumentError
        If one is not there.
    """
    refs = list(refs)
    block = block_at(design, within)
    content = cut_out(block, choose(block, refs, within))
    wanted = set(_types_in(content))
    used = tuple(t for t in design.part_types.values() if t.id in wanted)
    notes = [r.id for r in refs if r.what == "annotations"]
    for note in notes:
        if note not in design.annotations:
            raise missing("annotations", note)
    keys = {p.overrides[n].source for p in content.parts.values() for n in p.overrides}
    clip = Clip(
        content=content,
        annotations=tuple(design.annotations[n] for n in notes),
        part_types=used,
        sources={k: s for k, s in design.sources.items() if k in keys},
    )
    data = {"format": FORMAT, "version": VERSION, **clip.model_dump(mode="json", exclude_defaults=True)}
    return json.dumps(data, indent=1, sort_keys=True, ensure_ascii=False)


def _types_in(block: Block) -> set[str]:
    found = {p.type for p in block.parts.values()}
    for group in block.groups.values():
        for inner in (group.content, *group.exceptions.values()):
            found |= _types_in(inner)
    return found


def is_clip(text: str) -> bool:
    """True if a text looks like one made by `copy`; cheap, for a paste action that must know whether it is enabled."""
    return len(text) <= MAX_TEXT and text.lstrip().startswith("{") and f'"{FORMAT}"' in text


def read_clip(text: str) -> Clip:
    """What a clipboard text holds.

    Raises
    ------
    DocumentError
        If it is no such text, or damaged.
    """
    remedy = "copy parts of a design first"
    if not is_clip(text):
        raise DocumentError("the text holds no parts of a design", place="clipboard", remedy=remedy)
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise DocumentError("the text is damaged", place="clipboard", remedy=remedy) from None
    if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
        raise DocumentError("the text holds no parts of a design", place="clipboard", remedy=remedy)
    if data.pop("version", None) != VERSION:
        raise DocumentError(
            "the text was copied from another version of this program", place="clipboard", remedy="use the same version"
        )
    try:
        clip = Clip.model_validate(data)
    except ValidationError as error:
        first = explain(error)
        raise DocumentError(first.text, place=f"clipboard.{first.place}", remedy=remedy) from None
    except RecursionError:
        raise DocumentError("the text is nested too deeply", place="clipboard", remedy=remedy) from None
    return clip


@dataclass(frozen=True)
class Paste(BlockEdit):
    """Put what a text holds into a block under new ids, moved by ``offset`` or with its top left corner at ``at``."""

    text: str
    offset: tuple[int, int] = (0, 0)
    at: tuple[int, int] | None = None
    parent: str | None = None

    @property
    def label(self) -> str:
        return "Paste"

    def apply(self, design: Design) -> Design:
        clip = read_clip(self.text)
        check_size(clip.content, "clipboard")
        block = block_at(design, self.within)
        if self.parent is not None and self.parent not in block.parts:
            raise missing("parts", self.parent, self.within)
        dx, dy = self.offset
        if self.at is not None:
            left, top = _corner(clip)
            dx, dy = self.at[0] - left, self.at[1] - top
        try:
            planted = Planter(block).plant(clip.content, (dx, dy), self.parent)
        except KeyError as error:
            raise DocumentError(
                f"the text refers to {error.args[0]!r}, which it does not hold", place="clipboard", remedy="copy again"
            ) from None
        design = with_block(design, self.within, merged(block, (planted.block,)))
        return check_size(_with_extras(design, clip, (dx, dy)), self.place())


def _corner(clip: Clip) -> tuple[int, int]:
    corners = [(a.position.x, a.position.y) for a in clip.annotations]
    if clip.content.parts or clip.content.groups:
        corners.append(top_left(clip.content))
    return (min(x for x, _ in corners), min(y for _, y in corners)) if corners else (0, 0)


def _with_extras(design: Design, clip: Clip, offset: tuple[int, int]) -> Design:
    names = Numberer(design.annotations)
    notes = [
        a.model_copy(update={"id": names.take(a.id), "position": shifted(a.position, *offset)})
        for a in clip.annotations
    ]
    design = put(design, "annotations", notes)
    design = put(design, "part_types", [t for t in clip.part_types if t.id not in design.part_types])
    new = {key: source for key, source in clip.sources.items() if key not in design.sources}
    return design.model_copy(update={"sources": {**design.sources, **new}}) if new else design


@dataclass(frozen=True)
class Duplicate(BlockEdit):
    """Copy things next to themselves; with ``outside_links`` the copies are linked outside as the originals are.

    Parameters
    ----------
    start
        Where things without a position are drawn, for copies that shall are at ``offset`` from there.
    """

    refs: tuple[Ref, ...]
    offset: tuple[int, int] = (24, 24)
    outside_links: bool = False
    start: Mapping[Ref, tuple[int, int]] = field(default_factory=dict[Ref, tuple[int, int]])

    @property
    def label(self) -> str:
        return f"Duplicate {several(self.refs, 'part', 'things')}"

    def apply(self, design: Design) -> Design:
        return _plant_copies(design, self, self.refs, [self.offset], self.outside_links, self.start)


@dataclass(frozen=True)
class Replicate(BlockEdit):
    """Copy things into rows and columns, numbered on row by row; the original is the first place."""

    refs: tuple[Ref, ...]
    columns: int
    rows: int = 1
    dx: int = 200
    dy: int = 160
    outside_links: bool = False

    @property
    def label(self) -> str:
        return f"Replicate {several(self.refs, 'part', 'things')} {self.columns} × {self.rows}"

    def apply(self, design: Design) -> Design:
        if self.columns < 1 or self.rows < 1 or self.columns * self.rows * max(1, len(self.refs)) > MAX_COPIES:
            raise DocumentError(
                f"{self.columns} × {self.rows} copies cannot be made",
                place=self.place(),
                remedy=f"choose at least one and at most {MAX_COPIES:,} copies, or use a group",
            )
        cells = [(c * self.dx, r * self.dy) for r in range(self.rows) for c in range(self.columns)]
        return _plant_copies(design, self, self.refs, cells[1:], self.outside_links)


def _plant_copies(
    design: Design,
    edit: BlockEdit,
    refs: tuple[Ref, ...],
    offsets: list[tuple[int, int]],
    outside: bool,
    start: Mapping[Ref, tuple[int, int]] | None = None,
) -> Design:
    block = block_at(design, edit.within)
    chosen = choose(block, refs, edit.within)
    source = _with_positions(cut_out(block, chosen), start or {})
    if (len(source.parts) + len(source.links) + len(source.groups)) * len(offsets) > MAX_COPIES:
        raise DocumentError(
            f"more than {MAX_COPIES:,} things would be made", place=edit.place(), remedy="use a group instead"
        )
    planter = Planter(block)
    extras: list[Block] = []
    for offset in offsets:
        planted = planter.plant(source, offset)
        copy_ = _back_in_containers(block, planted, chosen)
        if outside:
            copy_ = put(copy_, "links", _outside_links(block, chosen, planter, planted))
        extras.append(copy_)
    design = with_block(design, edit.within, merged(block, extras))
    notes = Numberer(design.annotations)
    copies: list[Annotation] = []
    for ref in refs:
        if ref.what != "annotations":
            continue
        if ref.id not in design.annotations:
            raise missing("annotations", ref.id)
        note = design.annotations[ref.id]
        copies += [
            note.model_copy(update={"id": notes.take(note.id), "position": shifted(note.position, *offset)})
            for offset in offsets
        ]
    return check_size(put(design, "annotations", copies), edit.place())


def _with_positions(source: Block, start: Mapping[Ref, tuple[int, int]]) -> Block:
    """The block with positions for those that have none."""
    for ref, (x, y) in start.items():
        if ref.what in ("parts", "groups"):
            item = get_item(source, ref)
            if item.position is None:
                source = put(source, ref.what, [item.model_copy(update={"position": Position(x=x, y=y)})])
    return source


def _back_in_containers(block: Block, planted: Planted, chosen: Chosen) -> Block:
    """The copies of what stood in an unchosen container are in it, too."""
    parts, groups = dict(planted.block.parts), dict(planted.block.groups)
    for old, new in planted.parts.items():
        parent = block.parts[old].parent
        if parent is not None and parent not in chosen.parts:
            parts[new] = parts[new].model_copy(update={"parent": parent})
    for old, new in planted.groups.items():
        parent = block.groups[old].parent
        if parent is not None and parent not in chosen.parts:
            groups[new] = groups[new].model_copy(update={"parent": parent})
    return planted.block.model_copy(update={"parts": parts, "groups": groups})


def _outside_links(block: Block, chosen: Chosen, planter: Planter, planted: Planted) -> list[Link]:
    links: list[Link] = []
    for link in block.links.values():
        a, b = chosen.side(block, link.a) == "in", chosen.side(block, link.b) == "in"
        if a != b:
            ends = (planted.path(link.a) if a else link.a, planted.path(link.b) if b else link.b)
            links.append(as_link(link, planter.links.take(link.id), *ends))
    return links
