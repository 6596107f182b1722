"""What is refused of a document, in one sentence with its place; how large a design may become."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError

from designer.design.document import MAX_PARTS, Block
from designer.design.elaborate import count_links, count_parts
from designer.errors import DesignerError, DocumentError

_TEXTS = {
    "missing": "it is missing",
    "extra_forbidden": "there is no such field",
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
}
_REMEDIES = {
    "missing": "add it",
    "extra_forbidden": "remove it, or check its spelling",
    "int_parsing_size": "use a smaller number",
    "string_type": 'write it in quotes, a quantity with its unit, for example "400 Gb/s"',
}


class Refusal(NamedTuple):
    """The first thing that was refused, and how many more there were."""

    place: str
    text: str
    remedy: str | None
    others: int


def explain(error: ValidationError) -> Refusal:
    """The first refusal of a validation, in words."""
    details = error.errors(include_url=False)
    first: dict[str, Any] = dict(details[0])
    place = ".".join(str(step) for step in first["loc"] if step != "[key]")
    others = len({str(d["loc"]) for d in details}) - 1
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, DesignerError):
        return Refusal(place, cause.text, cause.remedy, others)
    kind = str(first["type"])
    text = str(cause) if cause is not None else _TEXTS.get(kind, _reword_message(str(first["msg"])))
    given = first.get("input")
    if cause is None and isinstance(given, str | int | float) and kind not in _TEXTS:
        text = f"{text}, but is {_short_repr(given)}"
    return Refusal(place, text, _REMEDIES.get(kind, "correct the value"), others)


def refused(error: ValidationError, place: str) -> DocumentError:
    """The document error for an object that could not be built."""
    first = explain(error)
    return DocumentError(first.text, place=".".join(p for p in (place, first.place) if p), remedy=first.remedy)


def _reword_message(text: str) -> str:
    text = text.removeprefix("Input should be ").removeprefix("Value error, ")
    return f"must be {text}" if text and not text[0].isupper() else text[:1].lower() + text[1:]


def _short_repr(given: str | int | float) -> str:
    # repr of an int of thousands of digits is refused by Python itself
    if isinstance(given, int) and not isinstance(given, bool) and given.bit_length() > 200:
        return "a number of many digits"
    text = repr(given)
    return text if len(text) <= 60 else f"{text[:57]}…"


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
