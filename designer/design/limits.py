"""How large a design may become, checked without elaborating it."""

from __future__ import annotations

from typing import TypeVar

from designer.design.document import MAX_PARTS, Block
from designer.design.elaborate import count_links, count_parts
from designer.errors import DocumentError

#: groups within groups deeper than this are refused
MAX_DEPTH = 24
_B = TypeVar("_B", bound=Block)


def group_depth(block: Block) -> int:
    """How many groups are within each other at the deepest place; stops counting just above the limit."""
    deepest = 0
    stack = [(block, 0)]
    while stack:
        at, depth = stack.pop()
        deepest = max(deepest, depth)
        if depth > MAX_DEPTH:
            break
        for group in at.groups.values():
            stack += [(b, depth + 1) for b in (group.content, *group.exceptions.values())]
    return deepest


def check_size(block: _B, at: str) -> _B:
    """`block` itself, if it neither nests groups too deeply nor elaborates to too many parts or links.

    Raises
    ------
    DocumentError
        If it does.
    """
    if group_depth(block) > MAX_DEPTH:
        raise DocumentError(
            f"groups stand more than {MAX_DEPTH} deep within each other", place=at, remedy="ungroup some of them"
        )
    parts, links = count_parts(block), count_links(block)
    if max(parts, links) > MAX_PARTS:
        raise DocumentError(
            f"the design would have {parts:,} parts and {links:,} links, more than {MAX_PARTS:,}",
            place=at,
            remedy="use fewer replicas",
        )
    return block
