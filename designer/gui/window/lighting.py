"""The loads of the shown workload as colours of the canvas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from designer.drawing.loads import Activity, ChannelState
from designer.gui.viewmodels.moments import shown_binding
from designer.gui.viewmodels.places import CLIENT
from designer.present.limits import mark_of

if TYPE_CHECKING:
    from designer.gui.canvas.canvas import Canvas
    from designer.gui.documents import Document


def light(canvas: Canvas, document: Document) -> None:
    """Colour a canvas by the load of the shown workload or of the instant looked at, or by what a panel has found."""
    overlay = document.session.overlay
    canvas.show_strays(overlay.strays if overlay is not None else ())
    if overlay is not None:
        canvas.show_moment(overlay.state, (), failed=overlay.marked)
    elif document.session.frames is not None and document.player.shown:
        _light_moment(canvas, document)
    else:
        _light_result(canvas, document)


def _light_moment(canvas: Canvas, document: Document) -> None:
    session = document.session
    frames = session.frames
    assert frames is not None
    load, share = frames.channels(session.moment, session.span)
    parts, busy = frames.parts(session.moment, session.span)
    # of the time of a frame there is no single thing that binds
    held = frames.held(session.moment) if not document.player.playing else []
    doing = Activity(parts, busy, frames.fill(session.moment))
    failed = document.player.scenario.failed_at(session.moment)
    canvas.show_moment(ChannelState(load, share, doing), *shown_binding(held), failed)


def _light_result(canvas: Canvas, document: Document) -> None:
    session = document.session
    analysis = session.shown_analysis
    loads = analysis.loads.get(session.workload) if analysis is not None else None
    result = session.shown_result if loads is not None else None
    if result is not None and result.unfit is not None:
        # what cannot run loads nothing
        loads = result = None
    bottleneck = result.binding if result is not None else ()
    binding = tuple(b.id for b in bottleneck if b.what == "channel")
    parts = tuple((b.id, b.equal) for b in bottleneck if b.what in ("part", "compute"))
    # what clients get of a storage system is shown at that system
    parts += tuple((b.id.removeprefix(CLIENT), 1) for b in bottleneck if b.id.startswith(CLIENT))
    shown = ChannelState.of(loads) if loads is not None else None
    canvas.show_result(shown, binding, parts, mark_of(result, session.design) if result is not None else "")
