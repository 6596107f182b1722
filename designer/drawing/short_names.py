"""Names as they are written where there is little room: shorter words, then the number alone, then a cut name. No Qt.

No two things of one container are distinguished by words that were left out: a shorter form is used only where it means
one of them.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

import numpy as np

from designer.design.document import Group
from designer.design.geometry import Geometry
from designer.drawing.fonts import fitted_text, text_width
from designer.memo import memo

#: usual short forms of words in names of parts
_SHORT: Final = {
    "accelerator": "Acc",
    "adapter": "Adp",
    "bluefield": "BF",
    "compute": "Comp",
    "controller": "Ctrl",
    "drive": "Drv",
    "ethernet": "Eth",
    "frontend": "FE",
    "infiniband": "IB",
    "management": "Mgmt",
    "memory": "Mem",
    "network": "Net",
    "nvswitch": "NVSw",
    "server": "Srv",
    "storage": "Stor",
    "switch": "SW",
    "system": "Sys",
}
_SHORTEST: Final = {"nvswitch": "NVS", "drive": "D"}
#: a last word of so few letters distinguishes things as a number does: PCIe switch (top)
_LAST: Final = 6
#: of the end of a name of one word so many letters are written at most, and at least
_TAIL: Final = 12
_TAIL_LEAST: Final = 3
#: so many digits behind a capital letter are the name of a product
_PRODUCT: Final = 3
#: text as it is drawn may be wider than measured by so much; width of a wide letter [text heights]
_SLACK: Final = 1.01
_WIDE: Final = 0.6
#: digits count as zeros: things that differ in their number alone get the same form
_ZEROS: Final = str.maketrans("123456789", "000000000")
#: a beginning with … needs room for so much [text heights]
_BEGINNING: Final = 4.5


def shorter(name: str) -> tuple[str, ...]:
    """Forms of a name, the longest first; all keep the word before the number, and the number."""
    words = name.split()
    if not words:
        return (name,)
    if "/" in words[1:-1]:
        # of two names for the same, as the port and the device of a NIC, the last
        return (name, " ".join(words[len(words) - words[::-1].index("/") :]))
    if len(words) == 1 and "_" in name:
        return _shorter_id(name)
    if len(words) == 1:
        return tuple(dict.fromkeys((name, _cut(name))))
    found = [name, " ".join(_SHORT.get(word.lower(), word) for word in words)]
    numbered = any(c.isdigit() for c in words[-1])
    if numbered:
        found.append(" ".join(_SHORTEST.get(word.lower(), _SHORT.get(word.lower(), word)) for word in words))
    if numbered and len(words) > 3:
        found.append(" ".join(_SHORT.get(word.lower(), word) for word in (*words[:2], words[-1])))
    if len(words) > 2 and (numbered or len(words[-1]) <= _LAST):
        rest = [_SHORT.get(word.lower(), word) for word in words[-2:]]
        # initials of what is in front: S-NIC 0 and SNIC 0 of Storage NIC 0
        initials = "".join(word[0].upper() for word in words[:-2])
        found += [f"{initials}-{' '.join(rest)}", f"{initials}{' '.join(rest)}"]
        found += [" ".join(words[-2:]), " ".join(rest)]
    return tuple(dict.fromkeys(found))


def _shorter_id(name: str) -> tuple[str, ...]:
    """Forms of a name without spaces, as dumps of machines give it: pcie_sw0 and p-sw0 of pcie_switch0."""
    pieces = [piece for piece in name.split("_") if piece]
    if len(pieces) < 2:
        return (name,)
    short = [_cut(piece) for piece in pieces]
    found = [name, "_".join(short)]
    # a number alone says nothing: mlx5_0 stays
    if any(c.isdigit() for c in pieces[-1]) and pieces[-1][0].isalpha():
        found += ["".join(piece[0] for piece in short[:-1]) + "-" + short[-1], short[-1]]
    return tuple(dict.fromkeys(found))


def _cut(piece: str) -> str:
    """The usual short form of a word, with the number that hangs on it."""
    word = piece.rstrip("0123456789")
    return _SHORT[word.lower()].lower() + piece[len(word) :] if word.lower() in _SHORT else piece


@memo(most=8, each=4096)
def forms(geometry: Geometry, container: int) -> dict[int, tuple[str, ...]]:
    """For each thing of a container, or of the canvas where that is −1, the forms that mean no other of them."""
    here = np.flatnonzero(geometry.parent == container).tolist()
    names = {box: " ".join(geometry.label(box).split()) for box in here}
    whole = Counter(names.values())
    parts = {box: shorter(name) for box, name in names.items()}
    stated = Counter(form for all_forms in parts.values() for form in all_forms)
    return {
        box: tuple(form for form in all_forms if form == names[box] or (stated[form] == 1 and form not in whole))
        for box, all_forms in parts.items()
    }


def written(geometry: Geometry, box: int, name: str, room: float, px: float) -> str:
    """What is written of a thing's name in so much room: all, a shorter form, its beginning, its number, or a cut name;
    empty only where not even … fits.
    """
    if fits(name, room, px):
        return name
    if not isinstance(geometry.thing(box), Group):
        for form in forms(geometry, int(geometry.parent[box])).get(box, ()):
            if fits(form, room, px):
                return form
    container = int(geometry.parent[box])
    if room >= _BEGINNING * px:
        # the beginning identifies a thing where no other thing begins so
        begins = name[: max(1, int(room / px / _WIDE) - 1)]
        others = (geometry.label(other) for other in forms(geometry, container) if other != box)
        if not any(other.startswith(begins) for other in others):
            return name
    meanings = _meanings_of_ends(geometry, container)
    for form in (*_ends(name), *_tails(name)):
        if meanings[form] == 1 and fits(form, room, px):
            return form
    number = _number(name)
    if number and _numbers(geometry, container)[int(geometry.kind[box]), number] == 1 and fits(number, room, px):
        return number
    return fitted_text(name, px, room, bold=True, keep_number=True)


def _number(name: str) -> str:
    """The number a name ends with; empty for none, and where it is that of a product, as in DGX H100."""
    before = name.rstrip("0123456789")
    number = name[len(before) :]
    return "" if len(number) >= _PRODUCT and before[-1:].isupper() else number


@memo(most=8, each=4096)
def _numbers(geometry: Geometry, container: int) -> Counter[tuple[int, str]]:
    """How many things of each kind in a container end with each number: the colour of a card shows its kind."""
    return Counter((int(geometry.kind[box]), _number(geometry.label(box))) for box in forms(geometry, container))


@memo(most=8, each=4096)
def _meanings_of_ends(geometry: Geometry, container: int) -> Counter[str]:
    """How many things of a container each form of beginning and end may mean."""
    names = [geometry.label(box) for box in forms(geometry, container)]
    return Counter(form for name in names for form in (*_ends(name), *_tails(name)))


def _ends(name: str) -> tuple[str, ...]:
    """The beginning and the end of a name of several words, which distinguish it from others that begin in the same
    way."""
    words = name.split()
    if len(words) < 2:
        return ()
    first, last = words[0], words[-1]
    return tuple(dict.fromkeys(f"{word}… {last}" for word in (first, _SHORT.get(first.lower(), first[:1]), "")))


def _tails(name: str) -> tuple[str, ...]:
    """The ends of a name of one word, the longest first: …s0f1 of enp23s0f1."""
    if len(name.split()) != 1:
        return ()
    return tuple(f"…{name[-n:]}" for n in range(min(len(name) - 2, _TAIL), _TAIL_LEAST - 1, -1))


def fits(name: str, room: float, px: float) -> bool:
    """True if a bold name fits into so much room."""
    return _SLACK * text_width(name.translate(_ZEROS), px, bold=True) <= room
