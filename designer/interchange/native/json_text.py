"""JSON as design files use it: strict, with the line and column of whatever is refused."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from designer.errors import FormatError

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
#: half a pair, as it is or escaped
_LONE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|[\ud800-\udfff]"
)
_LONGEST_NUMBER = 40
_NESTED = 200


class _Refused(Exception):
    """Something json reads and we do not: a repeated key, NaN, a number no computer has."""

    def __init__(self, text: str, remedy: str, token: str, repeated: bool = False) -> None:
        super().__init__(text)
        self.text, self.remedy, self.token, self.repeated = text, remedy, token, repeated


def decode(data: bytes) -> str:
    """The text of a file.

    Raises
    ------
    FormatError
        If it is empty, damaged, or no UTF-8 text.
    """
    if not data.strip():
        raise FormatError("the file is empty", remedy="restore it from a backup")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise FormatError("the file is UTF-16 text", place="byte 0", remedy="save it as UTF-8")
    if b"\0" in data:
        at = data.index(b"\0")
        if not data.strip(b"\0"):
            raise FormatError("the file holds nothing but zeros", remedy="restore it from a backup or the journal")
        raise FormatError(
            "the file holds zero bytes: it is damaged or no text", place=f"byte {at}", remedy="restore it from a backup"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError(
            "the file is not UTF-8 text", place=f"line {line}, byte {error.start}", remedy="save it as UTF-8"
        ) from None


def parse(text: str) -> Any:
    """The content of a JSON text.

    Raises
    ------
    FormatError
        If it is no JSON, ends too early, repeats a key, is nested too deeply, or holds NaN, infinities or numbers
        of too many digits.
    """
    try:
        content = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_constant,
            parse_int=_parse_integer,
            parse_float=_real,
        )
    except json.JSONDecodeError as error:
        raise _syntax(text, error) from None
    except RecursionError:
        raise _too_deep(text) from None
    except _Refused as error:
        raise FormatError(error.text, place=_place_of(text, error), remedy=error.remedy) from None
    _check_depth(text, content)
    _check_unicode(text, content)
    return content


def _check_unicode(text: str, content: Any) -> None:
    r"""Half a surrogate pair, ``\ud800``, can be read but never be written again."""
    # looking for a few letters is many times as quick as for a pattern
    escaped = any(start in text for start in ("\\ud", "\\uD")) and _SURROGATE.search(text)
    if not escaped and (text.isascii() or _can_be_written(text)):
        return
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        lone = _LONE.search(text)
        place = _line_column(text, lone.start()) if lone is not None else None
        remedy = "write the character out"
        raise FormatError("it holds half a character (a lone surrogate)", place=place, remedy=remedy) from None


def _can_be_written(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _too_deep(text: str) -> FormatError:
    depth, place = 0, None
    for match in _TOKEN.finditer(text):
        depth += (match[0] in ("{", "[")) - (match[0] in ("}", "]"))
        if depth > _NESTED:
            place = _line_column(text, match.start())
            break
    return FormatError(f"it is nested more than {_NESTED} deep", place=place, remedy="check what wrote this file")


def _check_depth(text: str, content: Any) -> None:
    layer: list[Any] = [content] if isinstance(content, dict | list) else []
    for _ in range(_NESTED):
        nested: list[Any] = []
        for thing in layer:
            inside = thing.values() if type(thing) is dict else thing
            nested += [v for v in inside if type(v) is dict or type(v) is list]
        if not nested:
            return
        layer = nested
    raise _too_deep(text)


def _syntax(text: str, error: json.JSONDecodeError) -> FormatError:
    where = f"line {error.lineno}, column {error.colno}"
    stump = text.rstrip()
    if error.pos >= len(stump) or ("Unterminated string" in error.msg and '"' not in text[error.pos + 1 :]):
        return FormatError("the file ends in the middle", place=where, remedy="restore it from a backup or the journal")
    return FormatError(f"this is not JSON: {error.msg.lower()}", place=where, remedy="correct the text there")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _Refused(f"the key {key[:60]!r} occurs twice in one object", "remove one of them", key, True)
            seen.add(key)
    return made


def _constant(token: str) -> NoReturn:
    raise _Refused(f"{token} is not a number a file can hold", "write a number that can be measured", token)


def _parse_integer(token: str) -> int:
    if len(token) > _LONGEST_NUMBER:
        raise _Refused(f"a number of {len(token)} digits is too long", "write a number that can be measured", token)
    return int(token)


def _real(token: str) -> float:
    value = float(token)
    if not math.isfinite(value):
        raise _Refused(f"{token[:40]} is too large", "write a number that can be measured", token)
    return value


def _place_of(text: str, error: _Refused) -> str | None:
    """Line and column of what was refused; found by a second, slower reading."""
    open_keys: list[set[str]] = []
    before, start = "", 0
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == "{" or token == "[":
            open_keys.append(set())
        elif token in ("}", "]") and open_keys:
            open_keys.pop()
        if error.repeated and token == ":" and open_keys:
            key = json.loads(before)
            if key in open_keys[-1] and key == error.token:
                return _line_column(text, start)
            open_keys[-1].add(key)
        elif not error.repeated and token == error.token:
            return _line_column(text, match.start())
        before, start = token, match.start()
    return None


def _line_column(text: str, at: int) -> str:
    line, begin = text.count("\n", 0, at) + 1, text.rfind("\n", 0, at)
    return f"line {line}, column {at - begin}"
