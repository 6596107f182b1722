"""Paths inside a text, such as ``hosts[1]/gpu0``, as the drawing names them: ``ESXi host 2, GPU 0``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Final

from designer.design.document import Block, Design
from designer.design.naming import one_of
from designer.errors import DesignerError
from designer.memo import Memo
from designer.plain_text import harmless, shortened
from designer.report.inventory import Inventory, inventory, unit_name

_STEP: Final = r"[A-Za-z][\w-]*(?:\[\d+\])?"
#: what may be a path; ids that are plain words are left, nobody can distinguish them from prose
_PATH: Final = re.compile(rf"(?<![\w/\].-]){_STEP}(?:/{_STEP})*(?![\w/\[]|-\w)")
_MEMBER: Final = re.compile(r"([A-Za-z][\w-]*)\[(\d+)\]")
_CODED: Final = re.compile(r"[\d\[/_]")
#: what vSphere writes in front of the types of virtual GPUs, which NVIDIA's tables spell without: ``A100D-80C``
_VSPHERE: Final = "grid_"
#: so much of one name is printed
_NAME: Final = 120
_ARROW: Final = re.compile(r"( [→↔] )")
#: texts are searched this far: what is longer is cut before anybody reads it
_MOST: Final = 4000


def part_name(stock: Inventory, index: int) -> str:
    """A part with the unit it is in, by the names in the drawing."""
    unit = int(stock.unit[index])
    own = stock.net.part(index).label
    inside = unit != index and bool(stock.net.path(unit).count("/"))
    return unit_name(stock, unit) if unit == index else f"{unit_name(stock, unit)}, {own}" if inside else own


def in_names(stock: Inventory, stated: str) -> str:
    """The text with paths of parts, members of groups, machines and types of virtual GPUs as the drawing names them."""
    return _PATH.sub(lambda found: _name(stock, found[0]), stated[:_MOST]) + stated[_MOST:]


class Naming:
    """Names in the place of paths, for what is printed; a name that another part has as well is followed by its path.

    A design that cannot be taken apart leaves texts as they are.
    """

    def __init__(self, design: Design) -> None:
        try:
            self._stock: Inventory | None = inventory(design)
        except DesignerError:
            self._stock = None

    def __call__(self, text: str) -> str:
        """A text with its paths as names."""
        if self._stock is None:
            return text
        return _PATH.sub(lambda found: self._short_names(found[0], _name), text[:_MOST]) + text[_MOST:]

    def way(self, text: str) -> str:
        """A link as ``a → b (kind)``, whose ends are paths even where they are plain words; or one path alone."""
        a, arrow, rest = _ARROW.split(text, maxsplit=1) if _ARROW.search(text) else (text, "", "")
        b, space, more = rest.partition(" ")
        return f"{self._end(a)}{arrow}{self._end(b)}{space}{more}"

    def _end(self, path: str) -> str:
        return path if self._stock is None else self._short_names(path, _part)

    def _short_names(self, path: str, name: Callable[[Inventory, str], str]) -> str:
        assert self._stock is not None
        stated = shortened(harmless(" ".join(name(self._stock, path).split())), _NAME)
        return f"{stated} [{path}]" if stated != path and _twice(self._stock, path) else stated


def _labels(block: Block) -> frozenset[str]:
    """What more than one part or group of a block is called."""
    labels = [thing.label for thing in (*block.parts.values(), *block.groups.values())]
    return frozenset(label for label, n in Counter(labels).items() if n > 1)


#: searched once a block
_shared_labels = Memo(_labels, most=64)


def _twice(stock: Inventory, path: str) -> bool:
    """True if a part or group along a path shares its name."""
    block: Block = stock.net.block
    for step in path.split("/"):
        member = _MEMBER.fullmatch(step)
        group = block.groups.get(member[1]) if member is not None else None
        thing = block.parts.get(step) if group is None else group
        if thing is not None and thing.label in _shared_labels(block):
            return True
        if group is not None and member is not None:
            block = group.member(int(member[2]))
    return False


def _name(stock: Inventory, path: str) -> str:
    if not _CODED.search(path):
        return path
    if path.lower().startswith(_VSPHERE):
        return path[len(_VSPHERE) :].upper()
    member = _MEMBER.fullmatch(path)
    if member is not None and (group := stock.net.block.groups.get(member[1])) is not None:
        return f"{one_of(group.label.replace('_', ' '))} {int(member[2]) + 1}"
    named = _part(stock, path)
    machine = stock.design.vms.get(path) if named == path else None
    return named if machine is None else machine.label


def _part(stock: Inventory, path: str) -> str:
    try:
        return part_name(stock, stock.net.index_of(path))
    except DesignerError:
        return path
