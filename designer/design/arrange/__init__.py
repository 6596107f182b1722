"""Automatic layout: where things are placed that nobody has placed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeVar

from designer.design.address import Ref
from designer.design.arrange.arrangement import plan
from designer.design.document import Block, Design, Group, Part, Position
from designer.design.query import contents

_B = TypeVar("_B", bound=Block)


def arrange(design: Design, only_missing: bool = True) -> Design:
    """The design with a position for every part and group, as they are drawn without one.

    Parameters
    ----------
    only_missing
        Leave positions alone that are given; else everything is placed again.
    """
    return arrange_block(design, only_missing)


def arrange_block(block: _B, only_missing: bool = True, within: Collection[str] | None = None) -> _B:
    """A block with positions for everything in it and in its groups; itself if nothing moves.

    Parameters
    ----------
    within
        Only the contents of these parts, direct or not; None means everything, groups included.
    """
    chosen = _selected_refs(block, within)
    loose = block if only_missing else _with_positions(block, dict.fromkeys(chosen))
    positions = _positions(loose)
    wanted = {ref: positions[ref] for ref in chosen if ref in positions}
    if only_missing:
        wanted = {ref: at for ref, at in wanted.items() if _part_or_group(block, ref).position is None}
    arranged = _with_positions(block, wanted)
    inside = [ref.id for ref in chosen if ref.what == "groups"]
    groups = {i: _arranged_group(arranged.groups[i], only_missing) for i in inside}
    if any(arranged.groups[i] is not group for i, group in groups.items()):
        arranged = arranged.model_copy(update={"groups": {**arranged.groups, **groups}})
    return arranged


def _selected_refs(block: Block, within: Collection[str] | None) -> list[Ref]:
    if within is None:
        return [*(Ref("parts", i) for i in block.parts), *(Ref("groups", i) for i in block.groups)]
    inside = contents(block, within)
    parts = [Ref("parts", i) for i in block.parts if i in inside and i not in within]
    return parts + [Ref("groups", g.id) for g in block.groups.values() if g.parent in inside]


def _part_or_group(block: Block, ref: Ref) -> Part | Group:
    return block.parts[ref.id] if ref.what == "parts" else block.groups[ref.id]


def _positions(block: Block) -> Mapping[Ref, Position]:
    """Where everything is drawn; what is in closed containers, where it will be when they are opened."""
    found = _planned_positions(block)
    if len(found) < len(block.parts) + len(block.groups):
        parts = {i: p.model_copy(update={"collapsed": False}) for i, p in block.parts.items()}
        found = {**_planned_positions(block.model_copy(update={"parts": parts})), **found}
    return found


def _planned_positions(block: Block) -> dict[Ref, Position]:
    made = plan(block)
    return {
        ref: Position(x=round(float(x)), y=round(float(y)))
        for ref, (x, y) in zip(made.refs, made.offset.tolist(), strict=True)
    }


def _with_positions(block: _B, positions: Mapping[Ref, Position | None]) -> _B:
    """The block with other positions."""
    parts = {
        ref.id: block.parts[ref.id].model_copy(update={"position": at})
        for ref, at in positions.items()
        if ref.what == "parts" and block.parts[ref.id].position != at
    }
    groups = {
        ref.id: block.groups[ref.id].model_copy(update={"position": at})
        for ref, at in positions.items()
        if ref.what == "groups" and block.groups[ref.id].position != at
    }
    changes: dict[str, object] = {}
    if parts:
        changes["parts"] = {**block.parts, **parts}
    if groups:
        changes["groups"] = {**block.groups, **groups}
    return block.model_copy(update=changes) if changes else block


def _arranged_group(group: Group, only_missing: bool) -> Group:
    content = arrange_block(group.content, only_missing)
    exceptions = {k: arrange_block(b, only_missing) for k, b in group.exceptions.items()}
    if content is group.content and all(exceptions[k] is b for k, b in group.exceptions.items()):
        return group
    return group.model_copy(update={"content": content, "exceptions": exceptions})
