"""JSON for files from anywhere: bounded depth and size, no surprises in numbers, every refusal with a place."""

from __future__ import annotations

import json
from typing import Any, Final

from designer.errors import ExchangeError
from designer.plain_text import deeper_than

MAX_DEPTH: Final = 200


def parse_json(text: str, file: str) -> Any:
    """Parse a JSON text; NaN and Infinity become None.

    Raises
    ------
    ExchangeError
        If it is no JSON or nested deeper than any file of these formats.
    """
    deep = deeper_than(MAX_DEPTH, text)
    if deep is not None:
        line = text.count("\n", 0, deep) + 1
        raise ExchangeError(
            f"it is nested deeper than {MAX_DEPTH}",
            file=file,
            place=f"line {line}",
            remedy="choose the file the tool wrote",
        )
    try:
        return json.loads(text, parse_constant=lambda _: None, parse_int=_parse_integer)
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        what = getattr(error, "msg", "damaged")
        raise ExchangeError(
            f"it is no JSON: {what}", file=file, place=f"line {line}", remedy="choose the file the tool wrote"
        ) from None


def _parse_integer(text: str) -> int | float:
    """Whole numbers of any sensible length; longer ones as floats, which costs no time."""
    return int(text) if len(text) < 40 else float(text[:300])


def objects(value: object) -> list[dict[str, Any]]:
    """The objects in a list; nothing where it is no list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def string(value: object) -> str:
    """`value` where it is text or a number, else nothing."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""
