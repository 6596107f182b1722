"""How texts of the engine are written for people."""

from __future__ import annotations

import re
from typing import Final

#: a word of a sentence, not the name of a file, a part or a setting
_WORD: Final = re.compile(r"[a-z]+(?=\s|[,:.;](?:\s|$)|$)")


def sentence_case(text: str) -> str:
    """A message with a capital at its start, unless that is a name."""
    return text[:1].upper() + text[1:] if _WORD.match(text) else text
