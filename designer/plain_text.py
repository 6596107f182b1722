"""Text of others made fit to be shown: nothing in it commands a terminal, turns a line round or runs over pages."""

from __future__ import annotations

import re
from typing import Final

#: control characters but tab, line feed and carriage return, which layout and progress need
_CONTROLS: Final = (*range(9), 11, 12, *range(14, 32), *range(127, 160))
#: marks that turn the direction of what follows: a name that holds one is read otherwise than it is written
DIRECTIONAL: Final = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
#: a search for them all: looking up each character of a long text in a table takes many times as long
_OBEYED: Final = re.compile(f"[{''.join(map(chr, (*_CONTROLS, *DIRECTIONAL)))}]")
#: a line may be broken here
BREAK: Final = "\u200b"
#: a heading of more is no heading
HEADING: Final = 120
#: the language of the desktop does not matter: the program speaks English
MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
#: a message longer than this is not read; what goes is taken from its middle, since remedies are at the end
LONGEST: Final = 2000


def harmless(text: str) -> str:
    """The text with characters that would be obeyed instead of shown replaced by the mark for unknown ones."""
    return _OBEYED.sub("�", text)


def in_one_line(text: str, most: int = LONGEST) -> str:
    """The text as one line that commands nothing: what a row, a tab or a choice has room for."""
    return " ".join(harmless(shortened(text, most)).split())


def breakable(text: str, most: int = 20) -> str:
    """The text with places to break at, which nobody sees, in words of more letters than `most`: a word without end
    would make its container grow until it fits.
    """
    if len(text) <= most:
        return text
    long = re.compile(rf"\S{{{most + 1},}}")
    return long.sub(lambda word: BREAK.join(re.findall(rf".{{1,{most // 2}}}", word[0], re.DOTALL)), text)


def counted(n: float, one: str, many: str = "") -> str:
    """``1 cable``, ``1,280 cables``; with a verb where the words have one: ``1 cable is``, ``2 cables are``."""
    number = round(n)
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def shortened(text: str, most: int = LONGEST) -> str:
    """The text, or its beginning and end with the number of characters left out between them."""
    if len(text) <= most:
        return text
    tail = most // 4
    left_out = f" … {len(text) - most:,} characters … "
    return text[: most - tail] + left_out + text[-tail:]


def deeper_than(most: int, text: str) -> int | None:
    """Where brackets of JSON first nest deeper than `most`, those in strings left out; None where they do not.

    Asked before the parser, whose stack a hostile file would exhaust.
    """
    depth = 0
    inside = escaped = False
    for at, character in enumerate(text):
        if inside:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                inside = False
        elif character == '"':
            inside = True
        elif character in "[{":
            depth += 1
            if depth > most:
                return at
        elif character in "]}":
            depth -= 1
    return None
