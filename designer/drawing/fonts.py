"""The fonts that pictures are drawn with, and how wide text gets in them."""

from __future__ import annotations

import struct
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from designer.resources import assets

FAMILY: Final = "Inter"
#: families to fall back to where the font is not embedded
FALLBACK: Final = "Inter, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
_FILES: Final = {False: "Inter-Regular.ttf", True: "Inter-SemiBold.ttf"}
_ELLIPSIS: Final = "…"


def font_file(bold: bool = False) -> Path:
    """The font file of regular or semi-bold text."""
    return assets() / "fonts" / _FILES[bold]


def _tables(data: bytes) -> tuple[dict[bytes, int], int]:
    """Where each table of a font begins, and the units that make one em."""
    (many,) = struct.unpack_from(">H", data, 4)
    tables: dict[bytes, int] = {}
    for n in range(many):
        tag, _, offset, _ = struct.unpack_from(">4sLLL", data, 12 + 16 * n)
        tables[tag] = offset
    return tables, struct.unpack_from(">H", data, tables[b"head"] + 18)[0]


@cache
def _advances(bold: bool) -> tuple[dict[int, int], int]:
    """Width of each character, and the units that make one em."""
    data = font_file(bold).read_bytes()
    tables, units = _tables(data)
    (metrics,) = struct.unpack_from(">H", data, tables[b"hhea"] + 34)
    widths = [struct.unpack_from(">H", data, tables[b"hmtx"] + 4 * n)[0] for n in range(metrics)]
    return {c: widths[min(g, metrics - 1)] for c, g in _characters(data, tables[b"cmap"]).items()}, units


def _characters(data: bytes, cmap: int) -> dict[int, int]:
    """Glyph number of each character, from a format 4 table."""
    (many,) = struct.unpack_from(">H", data, cmap + 2)
    for n in range(many):
        (offset,) = struct.unpack_from(">L", data, cmap + 4 + 8 * n + 4)
        at = cmap + offset
        (version,) = struct.unpack_from(">H", data, at)
        if version == 4:
            return _segments(data, at)
    raise AssertionError("the font has no character map of format 4")


def _segments(data: bytes, at: int) -> dict[int, int]:
    (double,) = struct.unpack_from(">H", data, at + 6)
    count = double // 2
    ends = struct.unpack_from(f">{count}H", data, at + 14)
    starts = struct.unpack_from(f">{count}H", data, at + 16 + double)
    deltas = struct.unpack_from(f">{count}H", data, at + 16 + 2 * double)
    ranges = struct.unpack_from(f">{count}H", data, at + 16 + 3 * double)
    found: dict[int, int] = {}
    for k in range(count):
        for code in range(starts[k], ends[k] + 1):
            if ranges[k] == 0:
                glyph = (code + deltas[k]) & 0xFFFF
            else:
                where = at + 16 + 3 * double + 2 * k + ranges[k] + 2 * (code - starts[k])
                (glyph,) = struct.unpack_from(">H", data, where)
                glyph = (glyph + deltas[k]) & 0xFFFF if glyph else 0
            if glyph:
                found[code] = glyph
    return found


@cache
def _rises(bold: bool) -> float:
    data = font_file(bold).read_bytes()
    tables, units = _tables(data)
    ascent, descent = struct.unpack_from(">hh", data, tables[b"hhea"] + 4)
    return (ascent + descent) / units


def rise(size: float, bold: bool = False) -> float:
    """How much farther letters reach above their baseline than below it [scene units] at a font size."""
    return _rises(bold) * size


@lru_cache(maxsize=65536)
def text_width(text: str, size: float, bold: bool = False) -> float:
    """Width of a line of text [scene units] at a font size; characters the font lacks count as one em."""
    widths, units = _advances(bold)
    return sum(widths.get(ord(c), units) for c in text) * size / units


def fitted_text(text: str, size: float, width: float, bold: bool = False, keep_number: bool = False) -> str:
    """`text` if it fits into `width`, else cut at the end, or in front of its number; empty if nothing fits."""
    text = " ".join(text.split())[:400]
    if text_width(text, size, bold) <= width:
        return text
    tail = _number_at_end(text) if keep_number else ""
    for keep in range(len(text) - 1, 0, -1):
        short = text[: max(1, keep - len(tail))].rstrip(" ,.;:·-") + _ELLIPSIS + tail
        if text_width(short, size, bold) <= width:
            return short
    return _ELLIPSIS if text_width(_ELLIPSIS, size, bold) <= width else ""


def _number_at_end(text: str) -> str:
    """A number at the end of a name is what tells equal things apart: it survives shortening."""
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
