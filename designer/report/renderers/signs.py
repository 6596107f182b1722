"""Small signs in front of words: verdicts and how sure a value is. They differ in shape, not in colour alone."""

from __future__ import annotations

from typing import Final

_OPEN: Final = '<svg viewBox="0 0 12 12" aria-hidden="true" class="sign">'
_CHECK: Final = '<path d="M3.2 6.2 5.2 8.3 8.9 4" fill="none" stroke="{0}" stroke-width="1.6"/>'


def _sign(*shapes: str) -> str:
    return f"{_OPEN}{''.join(shapes)}</svg>"


#: drawn in the colour of their text
SIGNS: Final = {
    "met": _sign('<circle cx="6" cy="6" r="5.6" fill="currentColor"/>', _CHECK.format("var(--on)")),
    "likely": _sign(
        '<circle cx="6" cy="6" r="5" fill="none" stroke="currentColor" stroke-width="1.2"/>',
        _CHECK.format("currentColor"),
    ),
    "unlikely": _sign(
        '<path d="M6 .9 11.6 11H.4Z" fill="none" stroke="currentColor" stroke-width="1.2" stroke-linejoin="round"/>',
        '<path d="M6 4.4v3.2M6 8.7v1.1" stroke="currentColor" stroke-width="1.2"/>',
    ),
    "not met": _sign(
        '<rect x=".6" y=".6" width="10.8" height="10.8" rx="1" fill="currentColor"/>',
        '<path d="M3.6 3.6 8.4 8.4M8.4 3.6 3.6 8.4" stroke="var(--on)" stroke-width="1.5"/>',
    ),
    "primary": _sign('<circle cx="6" cy="6" r="4" fill="currentColor"/>'),
    "secondary": _sign(
        '<circle cx="6" cy="6" r="3.9" fill="none" stroke="currentColor" stroke-width="1.1"/>',
        '<path d="M6 2.1a3.9 3.9 0 0 0 0 7.8Z" fill="currentColor"/>',
    ),
    "derived": _sign(
        '<circle cx="6" cy="6" r="3.9" fill="none" stroke="currentColor" stroke-width="1.1"/>',
        '<circle cx="6" cy="6" r="1.8" fill="currentColor"/>',
    ),
    "unverified": _sign('<circle cx="6" cy="6" r="3.9" fill="none" stroke="currentColor" stroke-width="1.1"/>'),
    "assumed": _sign(
        '<circle cx="6" cy="6" r="3.9" fill="none" stroke="currentColor" stroke-width="1.2" stroke-dasharray="2 1.6"/>'
    ),
    "error": _sign('<rect x="1" y="1" width="10" height="10" rx="1" fill="currentColor"/>'),
    "warning": _sign('<path d="M6 1 11.4 11H.6Z" fill="currentColor"/>'),
    "info": _sign('<circle cx="6" cy="6" r="4.6" fill="none" stroke="currentColor" stroke-width="1.2"/>'),
}
