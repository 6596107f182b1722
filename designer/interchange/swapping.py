"""The same design with other accelerators of the catalog, links following what each can do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from designer.catalog.loader import load_catalog
from designer.catalog.parttype import PartType
from designer.design.address import AnyAddress
from designer.design.document import Block, Design
from designer.design.edits.parts import SetType
from designer.errors import FormatError
from designer.interchange.refits import refit

#: modules on a board are no cards
_CARD = "pcie"


def swapped(design: Design, patterns: Sequence[str]) -> Mapping[str, Design]:
    """By the title of each part type that matches: the design with it in place of its accelerators.

    Cards take the place of cards, modules that of modules; a module of another generation represents the board and
    server of that generation.

    Raises
    ------
    FormatError
        If the design has no accelerators with a type, or nothing fits a pattern.
    """
    drawn = {p.type for _, b in _blocks(design, ()) for p in b.parts.values() if p.kind == "gpu" and p.type}
    if not drawn:
        raise FormatError("the design has no GPU of a known type", place="--parts", remedy="give its GPUs their type")
    cards = _is_card(design.part_types[sorted(drawn)[0]])
    catalog = load_catalog()
    found: dict[str, Design] = {}
    for pattern in patterns:
        fitting = [
            one
            for type_id in catalog.ids("gpu")
            if fnmatchcase(type_id, pattern) and type_id not in drawn and "/generic/" not in type_id
            if _is_card(one := catalog.get(type_id)) == cards
        ]
        if not fitting:
            sort = "cards" if cards else "modules"
            raise FormatError(
                f"nothing in the catalog fits {pattern[:60]!r} among {sort}",
                place="--parts",
                remedy="see the list made by: designer parts gpu",
            )
        found |= {one.title: _with(design, one) for one in fitting}
    return found


def _is_card(part_type: PartType) -> bool:
    form = part_type.values.get("form")
    return form is not None and str(form.value).lower().startswith(_CARD)


def _blocks(block: Block, within: tuple[str, ...]) -> list[tuple[tuple[str, ...], Block]]:
    inner = [row for g in block.groups.values() for row in _blocks(g.content, (*within, g.id))]
    return [(within, block), *inner]


def _with(design: Design, part_type: PartType) -> Design:
    changed: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    for within, block in _blocks(design, ()):
        ids = tuple(p.id for p in block.parts.values() if p.kind == "gpu")
        if ids:
            at: AnyAddress = within
            design = SetType(ids, part_type.id, part_type, part_type.sources, within=at).apply(design)
            changed.append((within, ids))
    return refit(design, changed)
