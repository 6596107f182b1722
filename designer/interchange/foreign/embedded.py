"""A design carried along in a foreign file: packed into texts short enough for attributes, unpacked within bounds."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Iterable, Sequence
from typing import Any, Final

from designer.errors import ExchangeError
from designer.interchange.foreign.json_text import parse_json

#: characters of one text
_LONGEST: Final = 60_000
#: unpacked, no design is larger [B]
_MOST: Final = 256 * 1024 * 1024


def pack(content: Any) -> Sequence[str]:
    """Texts that `unpack` turns back into `content`."""
    data = zlib.compress(json.dumps(content, separators=(",", ":"), sort_keys=True).encode("utf-8", "replace"), 9)
    text = base64.b64encode(data).decode("ascii")
    return [text[at : at + _LONGEST] for at in range(0, len(text), _LONGEST)]


def unpack(texts: Iterable[str], file: str) -> Any:
    """What was packed.

    Raises
    ------
    ExchangeError
        If it is damaged or unpacks to more than any design has.
    """
    return parse_json(inflate("".join(texts), file, zlib.MAX_WBITS), file)


def inflate(text: str, file: str, bits: int) -> str:
    """A text out of base64 of a compressed stream, within bounds.

    Raises
    ------
    ExchangeError
        As `unpack`.
    """
    try:
        opener = zlib.decompressobj(bits)
        data = opener.decompress(base64.b64decode(text, validate=True), _MOST)
        if opener.unconsumed_tail or not opener.eof:
            raise ExchangeError("what it carries is larger than any design", file=file, remedy="export it again")
        return data.decode("utf-8")
    except (binascii.Error, zlib.error, ValueError):
        raise ExchangeError("what it carries is damaged", file=file, remedy="export it again") from None
