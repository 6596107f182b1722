"""Names of the members of groups by a pattern: ``node{001}`` gives node001, node002 and so on.

A pattern is text with fields in braces. ``{001}`` is the number of the member, written as the first member has it: from
1, with three digits. ``{all:001}`` counts on through all members of the groups around; ``{outer}`` is the name of the
member around. Without a pattern a member is called by the id of its group and its index: ``servers-0``, and
``pods-1-servers-0`` inside another group.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

LONGEST: Final = 63
_FIELD: Final = re.compile(r"\{(?:(outer)|(all:)?([0-9]{1,6}))\}", re.ASCII)
_PLAIN: Final = re.compile(r"[A-Za-z0-9._-]*", re.ASCII)


def check_pattern(text: str) -> str:
    """`text` if it can be the pattern of member names; raises ValueError if not. Empty text is no pattern."""
    if not text:
        return text
    if len(text) > LONGEST:
        raise ValueError(f"a pattern of names has at most {LONGEST} characters")
    if not _PLAIN.fullmatch(_FIELD.sub("", text)):
        raise ValueError(
            f"{text!r} is not a pattern of names: use letters, digits, '.', '_' and '-', with {{001}}, {{all:001}} or "
            "{outer} in braces"
        )
    if not any(found[3] for found in _FIELD.finditer(text)):
        raise ValueError(f"{text!r} gives all members one name: add the number of the first in braces, such as {{001}}")
    return text


def safe(text: str) -> str:
    """`text` with nothing but letters, digits and ``. _ -``, which no format takes for more than a name."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip("-.")[:LONGEST].strip("-.")
    return plain or "node"


def fill_pattern(pattern: str, index: int, outer: str, before_all: Callable[[], int]) -> str:
    """The name of member `index` in a member called `outer`; `before_all` counts those before it in all groups."""

    def written(found: re.Match[str]) -> str:
        if found[1]:
            return outer
        number = int(found[3]) + (before_all() if found[2] else index)
        return f"{number:0{len(found[3])}d}"

    return _FIELD.sub(written, pattern).strip("-.") or "node"
