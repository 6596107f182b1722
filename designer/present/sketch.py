"""Small drawings of changes: which parts a change adds, and which it touches."""

from __future__ import annotations

from collections import Counter

from designer.catalog.parttype import part_kinds
from designer.design.address import block_at
from designer.design.diff import diff
from designer.design.document import Block, Design
from designer.design.query import count_kinds
from designer.present.blocks import Sketch

#: kinds that say most about a design, the first that is there is drawn
_TELLING = ("gpu", "server", "storage", "drive", "switch", "nic", "cpu", "memory")


def sketch_of(before: Design, after: Design) -> tuple[Sketch, ...]:
    """The kinds of parts that differ between two designs: what is added, else what changes; at most two."""
    added = Counter(count_kinds(after))
    added.subtract(count_kinds(before))
    new = {kind: count for kind, count in added.items() if count > 0}
    if new:
        kind = _telling_kind(new)
        old = count_kinds(before).get(kind, 0)
        kept = (Sketch(old, kind, captioned(old, kind)),) if old else ()
        return (*kept, Sketch(new[kind], kind, f"+ {captioned(new[kind], kind)}", new=True))
    touched = Counter[str]()
    changes = diff(before, after)
    for within, block in changes.blocks.items():
        shown = block_at(after, within)
        touched.update(_kinds(shown, block["parts"].changed))
    if touched:
        kind = _telling_kind(touched)
        return (Sketch(touched[kind], kind, captioned(touched[kind], kind), new=True),)
    return ()


def captioned(count: int, kind: str) -> str:
    """``8 GPUs``, ``1 switch``."""
    known = part_kinds().get(kind)
    title = known.title if known is not None else kind.replace("_", " ")
    word = title if title[:2].isupper() or title[1:2].isupper() else title[:1].lower() + title[1:]
    if kind in ("memory", "storage"):
        return word if count == 1 else f"{count:,} × {word}"
    plural = "es" if word.endswith("ch") else "s"
    return f"{count:,} {word}{plural if count != 1 else ''}"


def _kinds(block: Block, ids: tuple[str, ...]) -> list[str]:
    return [block.parts[i].kind for i in ids if i in block.parts]


def _telling_kind(counts: dict[str, int] | Counter[str]) -> str:
    return next((kind for kind in _TELLING if kind in counts), next(iter(counts)))
