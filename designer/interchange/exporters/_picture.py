"""The picture of a design that the picture formats share."""

from __future__ import annotations

from designer.design.document import Design
from designer.design.geometry import lay_out
from designer.interchange.exporters._exporter import ExportOptions
from designer.report.drawing.compose import Options, compose
from designer.report.drawing.elements import Picture
from designer.report.drawing.palette import palette


def picture_of(design: Design, options: ExportOptions) -> Picture:
    """The whole design, or what is chosen of it, in full detail."""
    geometry = lay_out(design, options.opened)
    shown = Options(
        title=(design.title or design.name) if options.title else "",
        subtitle=design.intent if options.title else "",
        legend=options.legend,
        labels=options.labels,
        chosen=options.chosen,
    )
    return compose(geometry, palette(options.theme), shown, options.loads)
