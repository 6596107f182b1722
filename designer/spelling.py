"""Names as people type them: letter case and ``-`` or ``_`` do not matter; a name that is close to one is suggested."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

#: names suggested at most
_MOST: Final = 3


def plain_spelling(name: str) -> str:
    """A name in small letters with ``-`` for ``_`` and blanks, without blanks around it."""
    return name.strip().casefold().replace("_", "-").replace(" ", "-")


def known_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` represents: itself, else the only one that differs in case or dashes alone."""
    names = list(known)
    if name in names:
        return name
    plain = plain_spelling(name)
    found = [one for one in names if plain_spelling(one) == plain]
    return found[0] if len(found) == 1 else None


def near(name: str, known: Iterable[str]) -> list[str]:
    """Up to three known names that `name` may have been meant to be, best first."""
    plain: dict[str, list[str]] = {}
    for one in known:
        plain.setdefault(plain_spelling(one), []).append(one)
    asked = plain_spelling(name)
    close = get_close_matches(asked, list(plain), n=_MOST)
    return [one for spelled in close for one in plain[spelled]][:_MOST]


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """The remedy for a name that is unknown: the names that are close to it; without any, `otherwise`."""
    meant = near(name, known)
    return f"did you mean {' or '.join(meant)}?" if meant else otherwise
