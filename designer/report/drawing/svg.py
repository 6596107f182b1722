"""Display lists as SVG text: the same bytes everywhere."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from designer.drawing.fonts import FALLBACK, FAMILY, font_file, text_width
from designer.drawing.icons import EXTENT, LINE, Outline, glyph
from designer.drawing.theme import DASH
from designer.plain_text import DIRECTIONAL
from designer.report.drawing.elements import Area, Glyph, Label, Panel, Picture, Stroke

#: what XML 1.0 cannot carry, even escaped, and marks that turn a name round
_ILLEGAL: Final = {
    c: None for c in (*range(32), *range(0x7F, 0xA0), *DIRECTIONAL, 0xFFFE, 0xFFFF) if c not in (9, 10, 13)
}


def to_svg(picture: Picture, embed_fonts: bool = False) -> str:
    """The picture as an SVG document.

    Parameters
    ----------
    embed_fonts
        Put the fonts into the file (about 0.6 MB); without them, viewers that lack the font take a similar one.
    """
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{_n(picture.x)} {_n(picture.y)} {_n(picture.width)} '
        f'{_n(picture.height)}" width="{_n(picture.width)}" height="{_n(picture.height)}" '
        f"font-family={quoteattr(FALLBACK)}>",
        f"<title>{_text(picture.title)}</title>" if picture.title else "",
        _style(embed_fonts),
        _symbols(picture),
        f'<rect x="{_n(picture.x)}" y="{_n(picture.y)}" width="{_n(picture.width)}" height="{_n(picture.height)}" '
        f'fill="{picture.background}"/>',
        *_elements(picture),
        "</svg>",
    ]
    return "\n".join(line for line in lines if line) + "\n"


def inline_svg(picture: Picture, prefix: str, stated: str = "", kind: str = "") -> str:
    """The picture as an element of a page: without ground, as wide as its place, ids behind a prefix of its own.

    Parameters
    ----------
    stated
        A sentence that says what it shows; without it the picture is an ornament.
    kind
        Class of the element.
    """
    role = f'role="img" aria-label={quoteattr(_text_of(stated))}' if stated else 'aria-hidden="true"'
    lines = [
        f'<svg viewBox="{_n(picture.x)} {_n(picture.y)} {_n(picture.width)} {_n(picture.height)}" {role} '
        f'class="{kind}">',
        _symbols(picture, prefix),
        *_elements(picture, prefix),
        "</svg>",
    ]
    return "\n".join(line for line in lines if line)


def _style(embed: bool) -> str:
    if not embed:
        return ""
    faces: list[str] = []
    for bold in (False, True):
        data = base64.b64encode(font_file(bold).read_bytes()).decode("ascii")
        faces.append(
            f"@font-face{{font-family:{FAMILY};font-weight:{600 if bold else 400};"
            f"src:url(data:font/ttf;base64,{data}) format('truetype')}}"
        )
    return f"<style>{''.join(faces)}</style>"


def _symbols(picture: Picture, prefix: str = "") -> str:
    """Each glyph twice, its lines and its filled shapes: not every viewer knows ``currentColor``."""
    shapes: list[str] = []
    for n, kind in enumerate(_kinds(picture)):
        lines, fills = (_paths(outline for outline in glyph(kind) if outline.filled >= only) for only in (False, True))
        shapes.append(f'<g id="{prefix}glyph-{n}" fill="none">{lines}</g>')
        if fills:
            shapes.append(f'<g id="{prefix}spot-{n}">{fills}</g>')
    return f"<defs>{''.join(shapes)}</defs>" if shapes else ""


def _kinds(picture: Picture) -> list[str]:
    return sorted({e.kind for e in picture.elements if isinstance(e, Glyph)})


def _paths(outlines: Iterable[Outline]) -> str:
    paths = ("".join(name + " ".join(map(_n, values)) for name, values in o.commands) for o in outlines)
    return "".join(f'<path d="{path}"/>' for path in paths)


def _elements(picture: Picture, prefix: str = "") -> Iterator[str]:
    numbers = {kind: n for n, kind in enumerate(_kinds(picture))}
    for element in picture.elements:
        if isinstance(element, Panel):
            yield _panel(element)
        elif isinstance(element, Stroke):
            yield _stroke(element)
        elif isinstance(element, Label):
            yield _label(element)
        elif isinstance(element, Area):
            corners = " ".join(f"{_n(x)},{_n(y)}" for x, y in element.points)
            yield f'<polygon points="{corners}" fill="{element.fill}"{_opacity(element.opacity)}/>'
        else:
            yield _glyph(element, f"{numbers[element.kind]}", prefix)


def _glyph(mark: Glyph, number: str, prefix: str) -> str:
    place = f"translate({_n(mark.x)} {_n(mark.y)}) scale({mark.size / EXTENT:.4g})"
    spots = f'<use href="#{prefix}spot-{number}" fill="{mark.colour}" stroke="none"/>'
    filled = any(outline.filled for outline in glyph(mark.kind))
    return (
        f'<g transform="{place}" stroke="{mark.colour}" stroke-width="{LINE}" stroke-linecap="round" '
        f'stroke-linejoin="round"><use href="#{prefix}glyph-{number}"/>{spots if filled else ""}</g>'
    )


def _panel(panel: Panel) -> str:
    line = f' stroke="{panel.stroke}" stroke-width="{_n(panel.stroke_width)}"' if panel.stroke else ""
    dash = _dashes(DASH) if panel.dashed else ""
    return (
        f'<rect x="{_n(panel.x)}" y="{_n(panel.y)}" width="{_n(panel.width)}" height="{_n(panel.height)}" '
        f'rx="{_n(panel.radius)}" fill="{panel.fill or "none"}"{line}{dash}{_opacity(panel.opacity)}/>'
    )


def _stroke(stroke: Stroke) -> str:
    points = [f"{_n(x)} {_n(y)}" for x, y in stroke.points]
    path = f"M{points[0]}C{' '.join(points[1:])}" if stroke.curve else "M" + "L".join(points)
    dash = _dashes(stroke.dash) if stroke.dashed else ""
    return (
        f'<path d="{path}" fill="none" stroke="{stroke.colour}" stroke-width="{_n(stroke.width)}" '
        f'stroke-linejoin="round"{dash}{_opacity(stroke.opacity)}/>'
    )


def _label(label: Label) -> str:
    weight = ' font-weight="600"' if label.bold else ""
    anchor = f' text-anchor="{label.anchor}"' if label.anchor != "start" else ""
    width = _n(text_width(label.text, label.size, label.bold))
    anchor += f' textLength="{width}" lengthAdjust="spacingAndGlyphs"' if len(label.text) > 1 else ""
    return (
        f'<text x="{_n(label.x)}" y="{_n(label.y)}" font-size="{_n(label.size)}" fill="{label.colour}"'
        f"{weight}{anchor}>{_text(label.text)}</text>"
    )


def _dashes(lengths: tuple[float, ...]) -> str:
    return f' stroke-dasharray="{" ".join(map(_n, lengths))}"'


def _opacity(value: float) -> str:
    return f' opacity="{_n(value)}"' if value < 1 else ""


def _n(value: float) -> str:
    """A number with at most two decimals and no trailing zeros."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _text(text: str) -> str:
    return escape(_text_of(text))


def _text_of(text: str) -> str:
    return text.translate(_ILLEGAL).encode("utf-8", "replace").decode()
