"""How well typed letters match a title: for the command palette and quick searches."""

from __future__ import annotations

_WORD_START, _RUN, _PLAIN, _WHOLE = 8, 5, 1, 30


def score(query: str, text: str) -> int | None:
    """How well `text` matches, higher is better; None if a letter is missing. Words may come in any order."""
    words = query.casefold().split()
    if not words:
        return 0
    total = 0
    for word in words:
        found = _word(word, text.casefold())
        if found is None:
            return None
        total += found
    return total - len(text) // 8


def _word(word: str, text: str) -> int | None:
    at = text.find(word)
    if at >= 0:
        start = at == 0 or not text[at - 1].isalnum()
        return _WHOLE + len(word) * _RUN + (_WORD_START * 2 if start else 0) - at // 4
    total, last, at = 0, -2, 0
    for letter in word:
        at = text.find(letter, at)
        if at < 0:
            return None
        if at == last + 1:
            total += _RUN
        elif at == 0 or not text[at - 1].isalnum():
            total += _WORD_START
        else:
            total += _PLAIN
        last, at = at, at + 1
    return total
