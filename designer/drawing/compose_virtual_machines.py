"""Virtual machines over the picture: trays with chips next to hosts, marks on GPUs, NVLinks that are cut. No Qt."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.drawing.batches import Batch, Boxes, Label, Labels, Lines, Rects
from designer.drawing.fonts import text_width
from designer.drawing.levels import Level
from designer.drawing.marks import outline, tip
from designer.drawing.polylines import pieces, polylines
from designer.drawing.short_names import shorter
from designer.drawing.theme import CanvasTheme, mixed
from designer.drawing.trays import CHIP, DETAIL_PX, NAME_PX, PAD, ROW, SLACK, Trays
from designer.drawing.view import Rect
from designer.drawing.view_state import Frame, Regions, ViewState

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

#: below this height of its chips a tray states only how many machines it has; smallest text on chips [px]
_READABLE: Final = 9.0
_SMALLEST: Final = 8.0
#: scale of a chip that is held where its tray is too small to show it
_HELD: Final = 0.75
#: where more chips than this would come into a view of that area [px²], trays state only how many there are; and so
#: many GPUs name their machines
_MOST_WORDS: Final = 110
_VIEW: Final = 1.4e6
_MOST_GPUS: Final = 40


def accent(theme: CanvasTheme) -> str:
    """The colour of virtual machines."""
    return theme.accent("memory")


def virtual_machines(view_state: ViewState, frame: Frame, regions: Regions) -> list[Batch]:
    """Trays, marks and cuts in some regions of device pixels; nothing from afar."""
    trays = view_state.trays
    if trays is None or frame.level is Level.FAR:
        return []
    seen = _touches_regions(trays.rect, frame, regions)
    found = _cuts(view_state, trays, frame) + _gpus(view_state, trays, frame, regions)
    if not seen.any():
        return found
    found += _plates(view_state, trays, frame, np.flatnonzero(seen))
    if counts_only(view_state, frame):
        return found + _counts(view_state, trays, frame, np.flatnonzero(seen))
    return found + _rows(view_state, trays, frame, seen) + _chips(view_state, trays, frame, seen)


def counts_only(view_state: ViewState, frame: Frame) -> bool:
    """True if trays state only how many machines they have: chips would be too small, or too many, to read."""
    trays = view_state.trays
    return trays is not None and (CHIP * frame.scale < _READABLE * frame.ratio or _is_crowded(view_state, trays, frame))


def _is_crowded(view_state: ViewState, trays: Trays, frame: Frame) -> bool:
    """True if a view would hold too many chips to read, the same whichever part of it is drawn."""
    _, _, width, height = view_state.bounds
    shown = _VIEW * frame.ratio**2 / max(width * height * frame.scale**2, 1.0)
    return len(trays.chips) * min(1.0, shown) > _MOST_WORDS


def _touches_regions(rects: Float, frame: Frame, regions: Regions) -> npt.NDArray[np.bool_]:
    seen = np.zeros(len(rects), dtype=bool)
    for region in regions:
        x, y, w, h = frame.scene(region, 8.0 * frame.ratio)
        across = (rects[:, 0] <= x + w) & (rects[:, 0] + rects[:, 2] >= x)
        seen |= across & (rects[:, 1] <= y + h) & (rects[:, 1] + rects[:, 3] >= y)
    return seen


def _plates(view_state: ViewState, trays: Trays, frame: Frame, chosen: Int) -> list[Batch]:
    theme = view_state.theme
    rects = frame.boxes(trays.rect[chosen])
    edge = mixed(theme.container_edges[0], accent(theme), 0.45)
    radius = max(2, round(5 * frame.scale))
    return [Boxes(rects, mixed(theme.containers[0], accent(theme), 0.05), edge, max(1, round(frame.ratio)), radius)]


def _counts(view_state: ViewState, trays: Trays, frame: Frame, chosen: Int) -> list[Batch]:
    """From a middle distance: how many machines are in each tray."""
    px = round(_SMALLEST * frame.ratio)
    labels: list[Label] = []
    tray_of = np.array([row.tray for row in trays.rows], dtype=np.int64)[trays.row_of]
    for tray, (x, y, w, h) in zip(chosen.tolist(), frame.boxes(trays.rect[chosen]).tolist(), strict=True):
        count = int((tray_of == tray).sum())
        if h >= px and w >= 4 * px:
            text = f"{count} VMs" if count != 1 else "1 VM"
            text, ink = (
                (text, view_state.theme.text) if trays.box[tray] >= 0 else (f"{count} not placed", view_state.theme.bad)
            )
            labels.append(Label(x, y, w, h, text, px, ink, True, "center"))
    return [Labels(tuple(labels))]


def _rows(view_state: ViewState, trays: Trays, frame: Frame, seen: npt.NDArray[np.bool_]) -> list[Batch]:
    """Names of hosts, and lines between them."""
    theme = view_state.theme
    px, small = _px(frame, NAME_PX), _px(frame, DETAIL_PX)
    labels: list[Label] = []
    lines: list[tuple[float, float, float, float]] = []
    filled = set(trays.row_of.tolist())
    rects = frame.boxes(trays.row_rect)
    for number, row in enumerate(trays.rows):
        if not seen[row.tray]:
            continue
        x, y, w, _ = rects[number].tolist()
        pad, head = PAD * frame.scale, float(trays.head[number]) * frame.scale
        if row.title:
            colour = theme.bad if not row.host else theme.header_text
            name = _fitting_name(row.title, head - pad, px)
            labels.append(Label(x + pad, y, head - pad, ROW * frame.scale, name, px, colour, True))
        if number not in filled:
            labels.append(Label(x + head, y, w - head, ROW * frame.scale, "no VMs", small, theme.muted))
        if number and trays.rows[number - 1].tray == row.tray:
            lines.append((x + pad, y, w - 2 * pad, max(1.0, round(frame.ratio))))
    for tray in np.flatnonzero(seen).tolist():
        if trays.more[tray]:
            x, y, w, h = frame.boxes(trays.rect[tray : tray + 1])[0].tolist()
            high = ROW * 0.7 * frame.scale
            text = f"and {trays.more[tray]} more hosts"
            labels.append(Label(x + PAD * frame.scale, y + h - high, w, high, text, small, theme.muted))
    rule = mixed(theme.container_edges[0], theme.containers[0], 0.4)
    found: list[Batch] = [Rects(np.array(lines, dtype=np.float64), rule)] if lines else []
    return [*found, Labels(tuple(labels[:_MOST_WORDS]))]


def _chips(view_state: ViewState, trays: Trays, frame: Frame, seen: npt.NDArray[np.bool_]) -> list[Batch]:
    if not trays.chips:
        return []
    tray_of = np.array([row.tray for row in trays.rows], dtype=np.int64)[trays.row_of]
    chosen = np.flatnonzero(seen[tray_of])
    rects = frame.boxes(trays.chip_rect[chosen])
    found: list[Batch] = []
    has_gpu = np.array([bool(trays.chips[k].gpus) for k in chosen.tolist()], dtype=bool)
    lost = np.array([bool(trays.chips[k].trouble) for k in chosen.tolist()], dtype=bool)
    for here, look in ((has_gpu, "gpu"), (~has_gpu & ~lost, "plain"), (lost, "lost")):
        if here.any():
            found.append(chip_plate(rects[here], view_state.theme, frame, look))
    labels: list[Label] = []
    for k, rect in list(zip(chosen.tolist(), rects.tolist(), strict=True))[:_MOST_WORDS]:
        labels += chip_labels(trays.chips[k].title, trays.chips[k].detail, rect, view_state.theme, frame)
    return [*found, Labels(tuple(labels))]


def chip_plate(rects: Float, theme: CanvasTheme, frame: Frame, look: str) -> Boxes:
    """The ground of chips: of machines with GPUs, without, or without a place."""
    colour = theme.bad if look == "lost" else accent(theme)
    fill = mixed(theme.card, colour, 0.24 if look == "gpu" else 0.12 if look == "lost" else 0.0)
    edge = mixed(theme.card_edge, colour, 0.75 if look != "plain" else 0.25)
    return Boxes(rects, fill, edge, max(1, round(frame.ratio)), max(2, round(CHIP * frame.scale / 3)))


def _fitting_name(title: str, room: float, px: float) -> str:
    """The longest form of the name of a host that fits; in little room the number of the member alone."""
    last = title.rpartition(" ")[2]
    if title.endswith("]"):
        forms = (title, "[" + title.rpartition("[")[2])
    else:
        forms = (*shorter(title), f"… {last}", last) if last.isdigit() else (title,)
    return next((form for form in forms if SLACK * text_width(form, px, True) <= room), forms[-1])


def chip_labels(name: str, detail: str, rect: list[float], theme: CanvasTheme, frame: Frame) -> list[Label]:
    """The words on a chip: its name, and behind it what it has."""
    x, y, w, h = rect
    px, small = _px(frame, NAME_PX), _px(frame, DETAIL_PX)
    pad = PAD * frame.scale
    wide = SLACK * text_width(name, px, True)
    room = w - 2 * pad
    rest = room - wide - pad
    if not detail or rest + pad < min(2.5 * small, text_width(detail, small)):
        return [Label(x + pad, y, room + pad / 2, h, name, px, theme.text, True)]
    ink = mixed(theme.muted, theme.text, 0.35)
    return [
        Label(x + pad, y, wide, h, name, px, theme.text, True),
        Label(x + pad + wide, y, rest + pad + pad / 2, h, detail, small, ink, False, "right"),
    ]


def _px(frame: Frame, units: float) -> int:
    return round(max(units * frame.scale, _SMALLEST * frame.ratio))


def _gpus(view_state: ViewState, trays: Trays, frame: Frame, regions: Regions) -> list[Batch]:
    """A frame around each GPU a machine uses, and by which where it can be read."""
    if not len(trays.gpu_box):
        return []
    theme = view_state.theme
    rect = view_state.geometry.rect[trays.gpu_box]
    seen = _touches_regions(rect, frame, regions)
    if view_state.lifted is not None:
        seen &= ~view_state.lifted[trays.gpu_box]
    if not seen.any():
        return []
    rects = frame.boxes(rect[seen])
    found: list[Batch] = [outline(rects, max(2, round(2 * frame.ratio)), accent(theme), -round(frame.ratio))]
    px = round(10 * frame.ratio)
    plates: list[tuple[float, float, float, float]] = []
    labels: list[Label] = []
    for k, (x, y, w, h) in list(zip(np.flatnonzero(seen).tolist(), rects.tolist(), strict=True))[:_MOST_GPUS]:
        wide = min(round(text_width(trays.gpu_text[k], px, True) + 12 * frame.ratio), w - 8 * frame.ratio)
        high = round(px * 1.5)
        if wide < 4 * px or h < 2.6 * high:
            continue
        # on the lower edge, where a card has neither name nor number
        left, top = round(x + w - wide - 6 * frame.ratio), round(y + h - high / 2)
        plates.append((left, top, wide, high))
        labels.append(
            Label(
                left + 4 * frame.ratio,
                top,
                wide - 6 * frame.ratio,
                high,
                trays.gpu_text[k],
                px,
                theme.card,
                True,
                "center",
            )
        )
    if plates:
        found.append(Boxes(np.array(plates), accent(theme), accent(theme), 0, max(2, int(px * 0.5))))
        found.append(Labels(tuple(labels)))
    return found


def _cuts(view_state: ViewState, trays: Trays, frame: Frame) -> list[Batch]:
    """NVLinks that are switched off: their colour goes, a broken line in the colour of trouble and a cross stay.

    Those of a device group, which lead to its own GPUs only, are broken in the colour of virtual machines.
    """
    theme = view_state.theme
    found = _dashed_lines(view_state, frame, trays.fenced, accent(theme)) + _dashed_lines(
        view_state, frame, trays.cut, theme.bad
    )
    connections = _not_lifted(view_state, trays.cut)
    if not len(connections):
        return found
    ground = theme.containers[0]
    points = frame.points(view_state.label_points(connections))
    arm = 4.0 * frame.ratio
    x, y = points[:, 0], points[:, 1]
    crosses = np.concatenate(
        [np.stack((x - arm, y - arm, x + arm, y + arm), axis=1), np.stack((x - arm, y + arm, x + arm, y - arm), axis=1)]
    )
    found.append(Lines(crosses, ground, 5.0 * frame.ratio, (), True))
    found.append(Lines(crosses, theme.bad, 2.0 * frame.ratio, (), True))
    return found


def _not_lifted(view_state: ViewState, connections: Int) -> Int:
    return (
        connections
        if view_state.lifted_connections is None
        else connections[~view_state.lifted_connections[connections]]
    )


def _dashed_lines(view_state: ViewState, frame: Frame, connections: Int, colour: str) -> list[Batch]:
    """Broken lines in place of connections."""
    connections = _not_lifted(view_state, connections)
    if not len(connections):
        return []
    geometry = view_state.geometry
    route = frame.points(geometry.connection_route[connections])
    lines = np.concatenate([pieces(group.points) for group in polylines(connections, route)])
    dash = (5.0 * frame.ratio, 5.0 * frame.ratio)
    return [
        Lines(lines, view_state.theme.containers[0], 6.0 * frame.ratio, (), True),
        Lines(lines, colour, max(1.0, 1.5 * frame.ratio), dash, True),
    ]


def chosen_chips(view_state: ViewState, frame: Frame, ids: set[str]) -> list[Batch]:
    """A frame around the chips of selected machines, and around the GPUs they use."""
    trays = view_state.trays
    if trays is None or not ids or frame.level is Level.FAR:
        return []
    theme, found = view_state.theme, list[Batch]()
    chips = [k for k, chip in enumerate(trays.chips) if chip.id in ids]
    if chips and not counts_only(view_state, frame):
        found.append(outline(frame.boxes(trays.chip_rect[chips]), round(2 * frame.ratio), theme.selection, frame.ratio))
    boxes = [int(box) for vm_id in sorted(ids) for box in trays.gpus_of(vm_id)]
    if boxes:
        found.append(outline(frame.boxes(view_state.geometry.rect[boxes]), round(3 * frame.ratio), theme.selection))
    return found


def under_pointer(view_state: ViewState, frame: Frame, chip: int, region: Rect) -> list[Batch]:
    """A chip the pointer is on, what is reported of it, and the GPUs its machine uses."""
    trays = view_state.trays
    if trays is None or chip >= len(trays.chips):
        return []
    theme = view_state.theme
    found: list[Batch] = [outline(frame.boxes(trays.chip_rect[chip : chip + 1]), round(1.5 * frame.ratio), theme.hover)]
    boxes = trays.gpus_of(trays.chips[chip].id)
    if len(boxes):
        found.append(
            outline(frame.boxes(view_state.geometry.rect[boxes]), round(3 * frame.ratio), theme.selection, frame.ratio)
        )
    x, y, w, h = frame.boxes(trays.chip_rect[chip : chip + 1])[0].tolist()
    good = not trays.chips[chip].trouble
    return found + tip(chip_tip(trays, chip), x + w / 2, y + h / 2, frame, theme, good, region)


def chip_tip(trays: Trays, chip: int) -> str:
    """What is reported of a chip under the pointer."""
    one = trays.chips[chip]
    stated = [one.title, one.detail]
    if one.trouble:
        stated.append(one.trouble)
    if one.cut:
        stated.append(f"NVLink off to {one.cut} other {'GPU' if one.cut == 1 else 'GPUs'}")
    return "  ·  ".join(x for x in stated if x)


def floating(
    name: str, detail: str, at: tuple[float, float], size: tuple[float, float], theme: CanvasTheme, frame: Frame
) -> list[Batch]:
    """A chip on its way, its middle at a point in device pixels."""
    # taken from a tray too small to show it, a chip is as large as can be read
    frame = frame if CHIP * frame.scale >= _READABLE * frame.ratio else replace(frame, scale=_HELD * frame.ratio)
    wide, high = round(size[0] * frame.scale), round(size[1] * frame.scale)
    rect = np.array([[round(at[0] - wide / 2), round(at[1] - high / 2), wide, high]], dtype=np.float64)
    return [
        chip_plate(rect, theme, frame, "gpu"),
        Labels(tuple(chip_labels(name, detail, rect[0].tolist(), theme, frame))),
    ]
