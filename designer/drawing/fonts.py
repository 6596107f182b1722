"""The fonts that pictures are drawn with, and how wide text gets in them."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Final

from designer.plain_text import harmless
from designer.resources import assets

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont

FAMILY: Final = "Inter"
#: families to fall back to where the font is not embedded
FALLBACK: Final = "Inter, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
_FILES: Final = {False: "Inter-Regular.ttf", True: "Inter-SemiBold.ttf"}
_ELLIPSIS: Final = "…"
#: design units of one em in these fonts
_EM: Final = 2816


def font_file(bold: bool = False) -> Path:
    """The font file of regular or semi-bold text."""
    return assets() / "fonts" / _FILES[bold]


@lru_cache(maxsize=2)
def _face(bold: bool) -> FreeTypeFont:
    """The font at a size of one design unit a pixel, so that widths come out exact."""
    from PIL import ImageFont  # only where text is measured: slow to load

    basic = ImageFont.Layout.BASIC  # one character after the other, as every renderer here sets text
    return ImageFont.truetype(font_file(bold), _EM, layout_engine=basic)


@lru_cache(maxsize=65536)
def _advance(character: str, bold: bool) -> float:
    """Width of a character [em]; those the font lacks have that of the box drawn in their place."""
    return _face(bold).getlength(character) / _EM


def rise(size: float, bold: bool = False) -> float:
    """How much farther letters reach above their baseline than below it [scene units] at a font size."""
    above, below = _face(bold).getmetrics()
    return (above - below) * size / _EM


@lru_cache(maxsize=65536)
def text_width(text: str, size: float, bold: bool = False) -> float:
    """Width of a line of text [scene units] at a font size."""
    return sum(_advance(c, bold) for c in text) * size


def fitted_text(text: str, size: float, width: float, bold: bool = False, keep_number: bool = False) -> str:
    """`text` if it fits into `width`, else cut at the end, or in front of its number; empty if nothing fits."""
    text = harmless(" ".join(text.split())[:400])
    if text_width(text, size, bold) <= width:
        return text
    tail = _number_at_end(text) if keep_number else ""
    room = width / size - text_width(_ELLIPSIS + tail, 1.0, bold) if size > 0 else 0.0
    ends = list(accumulate(_advance(c, bold) for c in text[: len(text) - max(1, len(tail))]))
    keep = bisect_right(ends, room)
    while keep > 0:
        short = text[:keep].rstrip(" ,.;:·-") + _ELLIPSIS + tail
        if text_width(short, size, bold) <= width:
            return short
        keep -= 1  # sums of the same widths in another order may differ in their last digit
    return _ELLIPSIS if text_width(_ELLIPSIS, size, bold) <= width else ""


def _number_at_end(text: str) -> str:
    """A number at the end of a name is what distinguishes equal things: it survives shortening."""
    digits = len(text) - len(text.rstrip("0123456789."))
    return text[len(text) - digits :] if 0 < digits <= 4 and digits < len(text) else ""


def lines_of(text: str, size: float, width: float, most: int, bold: bool = False) -> list[str]:
    """`text` in lines at most `width` wide, at most so many."""
    lines: list[str] = []
    for paragraph in text.splitlines() or [""]:
        words = paragraph.split()
        while True:
            fitting = next(
                (n for n in range(len(words), 1, -1) if text_width(" ".join(words[:n]), size, bold) <= width), 1
            )
            if len(lines) == most - 1 and fitting < len(words):
                return [*lines, fitted_text(" ".join(words), size, width, bold)]
            lines.append(fitted_text(" ".join(words[:fitting]), size, width, bold))
            words = words[fitting:]
            if not words:
                break
        if len(lines) == most:
            break
    return lines
