"""Paths inside a text, such as ``hosts[1]/gpu0``, as the drawing names them: ``ESXi hosts 2, GPU 0``."""

from __future__ import annotations

import re
from typing import Final

from designer.errors import DesignerError
from designer.report.inventory import Inventory, unit_name

_STEP: Final = r"[A-Za-z][\w-]*(?:\[\d+\])?"
#: what may be a path; ids that are plain words are left, nobody can tell them from prose
_PATH: Final = re.compile(rf"(?<![\w/\].-]){_STEP}(?:/{_STEP})*(?![\w/\[]|-\w)")
_MEMBER: Final = re.compile(r"([A-Za-z][\w-]*)\[(\d+)\]")
_CODED: Final = re.compile(r"[\d\[/_]")
#: what vSphere writes in front of the types of virtual GPUs, which NVIDIA's tables spell without: ``A100D-80C``
_VSPHERE: Final = "grid_"
#: texts are searched this far: what is longer is cut before anybody reads it
_MOST: Final = 4000


def part_name(stock: Inventory, index: int) -> str:
    """A part with the unit it is in, by the names in the drawing."""
    unit = int(stock.unit[index])
    own = stock.net.part(index).label
    inside = unit != index and bool(stock.net.path(unit).count("/"))
    return unit_name(stock, unit) if unit == index else f"{unit_name(stock, unit)}, {own}" if inside else own


def in_names(stock: Inventory, told: str) -> str:
    """The text with every path of a part, member of a group and type of virtual GPU as the drawing names it."""
    return _PATH.sub(lambda found: _name(stock, found[0]), told[:_MOST]) + told[_MOST:]


def _name(stock: Inventory, path: str) -> str:
    if not _CODED.search(path):
        return path
    if path.lower().startswith(_VSPHERE):
        return path[len(_VSPHERE) :].upper()
    member = _MEMBER.fullmatch(path)
    if member is not None and (group := stock.net.block.groups.get(member[1])) is not None:
        return f"{group.label.replace('_', ' ')} {int(member[2]) + 1}"
    try:
        return part_name(stock, stock.net.index_of(path))
    except DesignerError:
        return path
