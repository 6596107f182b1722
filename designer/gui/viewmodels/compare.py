"""Two designs side by side: parts, links, metrics, and what differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from designer.decisions.comparing import explained
from designer.design.address import Address, What
from designer.design.diff import MOVES, Diff, diff
from designer.design.document import Design
from designer.design.geometry import lay_out
from designer.design.naming import in_names
from designer.design.query import count_kinds, count_links
from designer.design.scene_geometry import Geometry
from designer.drawing.picture import Options
from designer.drawing.theme import palette
from designer.engine.results import Analysis
from designer.errors import DocumentError
from designer.gui.viewmodels.flow import channel_title
from designer.gui.viewmodels.table import Cell, Column, Line
from designer.present.answer import figure_text
from designer.present.limits import short_of
from designer.present.words import link_words, metric_title, part_kind_words
from designer.report.drawing.compose import compose
from designer.report.drawing.elements import Element, Panel, Stroke
from designer.report.drawing.png import to_png
from designer.workload.metrics import tone_of

if TYPE_CHECKING:
    from designer.decisions.comparing import Comparison

_NOTICE = 0.005
_LONGEST = 26


def columns(first: str, second: str) -> tuple[Column, ...]:
    """Columns of the table, titled with the two designs."""
    first, second = (t if len(t) <= _LONGEST else f"{t[: _LONGEST - 1]}…" for t in (first, second))
    return (
        Column("", width=310),
        Column(first, number=True, width=190),
        Column(second, number=True, width=190),
        Column("Change", number=True, width=84, spare=True),
        Column("Why", width=430, spare=True),
    )


#: what moved each number, by workload and metric
Reasons = Mapping[tuple[str, str], str]


def reasons_of(comparison: Comparison) -> Reasons:
    """Why each number moved, in one line each."""

    return {(m.workload, m.name): explained(m).partition(": ")[2] or explained(m) for m in comparison.metrics}


def lines(
    a: Design,
    b: Design,
    of_a: Analysis | None,
    of_b: Analysis | None,
    reasons: Reasons | None = None,
    first: str = "",
) -> list[Line]:
    """Rows: metrics of workloads both have with why they moved, then counts that differ, then the changes in words.

    Parameters
    ----------
    reasons
        None while they are worked out.
    first
        Id of the workload that is listed before the others.
    """
    found: list[Line] = []
    same: list[Line] = []
    if of_a is not None and of_b is not None:
        others = {w.id: w for w in of_b.workloads}
        for result in sorted(of_a.workloads, key=lambda one: one.id != first):
            other = others.get(result.id) or next((o for o in of_b.workloads if o.title == result.title), None)
            if other is None:
                continue
            rows = [Line((Cell(result.title, tone="title"), Cell(""), Cell(""), Cell(""), Cell("")))]
            for name, mine in result.metrics.items():
                if name in other.metrics:
                    why = "…" if reasons is None else reasons.get((result.id, name), "")
                    why = channel_title(in_names(b, in_names(a, why)))
                    was, now = mine.value, other.metrics[name].value
                    rows.append(_metric(name, was, now, mine.unit, why, result.kind))
            bound = (
                Cell("   Limits"),
                Cell(short_of(result.binding, a) or "–"),
                Cell(short_of(other.binding, b) or "–"),
            )
            rows.append(Line((*bound, Cell(""), Cell(""))))
            # what moved is read first
            moved = result.id == first or any(row.cells[3].text for row in rows)
            (found if moved else same).extend(rows)
    found += same
    found += _counts(a, b)
    if a is not b:
        changes = diff(a, b).lines(200)
        found += [Line((Cell(line, tone="muted"), Cell(""), Cell(""), Cell(""), Cell(""))) for line in changes]
    return found


def _metric(name: str, a: float, b: float, unit: str, why: str, kind: str) -> Line:
    change, tone = "", ""
    if a and abs(b / a - 1) >= _NOTICE:
        share = b / a - 1
        change = f"{share * 100:+.0f}%".replace("-", "−") if abs(share) < 9.95 else f"{b / a:.3g}×"
        tone = tone_of(name, a, b, kind)
    cells = (
        Cell(f"   {metric_title(name, kind)}"),
        Cell(figure_text(name, a, unit)),
        Cell(figure_text(name, b, unit)),
    )
    return Line((*cells, Cell(change, tone=tone), Cell(why if change else "", tone="muted", tip=why if change else "")))


def _counts(a: Design, b: Design) -> list[Line]:
    found: list[Line] = []
    for title, count, words in (("Parts", count_kinds, part_kind_words), ("Links", count_links, link_words)):
        try:
            first, second = count(a), count(b)
        except DocumentError:
            continue
        rows = sorted(first.keys() | second.keys())
        if rows:
            found.append(Line((Cell(title, tone="title"), Cell(""), Cell(""), Cell(""), Cell(""))))
        for kind in rows:
            x, y = first[kind], second[kind]
            tone = "" if x != y else "muted"
            change = f"{y - x:+d}".replace("-", "−") if x != y else ""
            cells = (
                Cell(f"   {words(kind)}", tone=tone),
                Cell(f"{x:,}", tone=tone),
                Cell(f"{y:,}", tone=tone),
                Cell(change),
                Cell(""),
            )
            found.append(Line(cells))
    return found


# Two designs as pictures next to each other, with what differs lit: only in the one, only in the other, or changed.

#: frames around what differs, and links that do [scene units]
_WIDTH: Final = 3.0
_GAP: Final = 2.0
#: a frame is at least this part of the picture
_SHOWN: Final = 160.0
#: pictures are at most so many pixels wide or high
_PIXELS: Final = 1600.0


def pictures(a: Design, b: Design, look: str, colours: tuple[str, str, str]) -> tuple[bytes, bytes]:
    """Both designs as PNG; can be called from a thread.

    Parameters
    ----------
    look
        Name of the palette.
    colours
        Of what only `a` has, of what only `b` has, and of what both have with other values.
    """
    changes = diff(a, b)
    only_a, only_b, changed = colours
    return _png(a, changes, False, look, only_a, changed), _png(b, changes, True, look, only_b, changed)


def _png(design: Design, changes: Diff, after: bool, look: str, own: str, changed: str) -> bytes:
    geometry = lay_out(design)
    picture = compose(geometry, palette(look), Options(legend=False, machines=False))
    # seen small, a frame must still be seen
    width = max(_WIDTH, max(picture.width, picture.height) / _SHOWN)
    lit = replace(picture, elements=(*picture.elements, *lights(geometry, changes, after, own, changed, width)))
    return to_png(lit, min(2.0, _PIXELS / max(lit.width, lit.height, 1.0)))


def lights(
    geometry: Geometry, changes: Diff, after: bool, own: str, changed: str, line: float = _WIDTH
) -> list[Element]:
    """Frames around the boxes and strokes along the links in which two designs differ."""
    found: list[Element] = []
    for box in range(len(geometry)):
        within, ref = geometry.address(box)
        colour = _colour(changes, within, ref.what, ref.id, after, own, changed)
        if colour:
            x, y, width, height = geometry.rect[box].tolist()
            edge = _GAP + line / 2
            around = (x - edge, y - edge, width + 2 * edge, height + 2 * edge)
            found.append(Panel(*around, 4, "", colour, line))
    for connection in range(geometry.n_connections):
        within, links = geometry.connection_links(connection)
        known = [_colour(changes, within, link.what, link.id, after, own, changed) for link in links]
        colour = next((c for c in known if c), "")
        if colour:
            points = tuple((x, y) for x, y in geometry.connection_route[connection].tolist())
            found.append(Stroke(points, colour, line))
    return found


def _colour(changes: Diff, within: Address, what: What, item_id: str, after: bool, own: str, changed: str) -> str:
    at = changes.at(within, what)
    if item_id in (at.added if after else at.removed):
        return own
    if item_id in at.changed and set(changes.fields(within, what, item_id)) - MOVES:
        return changed
    return ""
