"""The drawing of a design in colours that follow the look of a page: each pair of light and dark gets a name."""

from __future__ import annotations

from dataclasses import replace

from designer.design.geometry import Geometry, lay_out
from designer.drawing.loads import Loads, loads_of
from designer.drawing.theme import palette
from designer.engine.results import WorkloadResult
from designer.report.drawing.compose import Options, compose
from designer.report.drawing.elements import Area, Element, Panel, Picture
from designer.report.inks import colours_of
from designer.report.subject import Context, Subject

#: light and dark by name
Colours = dict[str, tuple[str, str]]


def design_picture(geometry: Geometry, options: Options, loads: Loads | None, colours: Colours) -> Picture:
    """The drawing with names of `colours` in it; pairs that are not there yet are added."""
    light, dark = (compose(geometry, palette(name), options, loads) for name in ("light", "dark"))
    others = dark.elements
    if [type(e) for e in light.elements] != [type(e) for e in others]:
        # looks that are not drawn in the same way cannot be paired
        others = light.elements
    names = {pair: name for name, pair in colours.items()}

    def name_of(pair: tuple[str, str]) -> str:
        if not pair[0]:
            return ""
        found = names.setdefault(pair, f"c{len(names)}")
        colours[found] = pair
        return found

    found: list[Element] = []
    for one, other in zip(light.elements, others, strict=True):
        own = [name_of(pair) for pair in zip(colours_of(one), colours_of(other), strict=True)]
        if isinstance(one, Panel):
            found.append(replace(one, fill=own[0], stroke=own[1]))
        elif isinstance(one, Area):
            found.append(replace(one, fill=own[0]))
        else:
            found.append(replace(one, colour=own[0]))
    return replace(light, elements=tuple(found), background="paper")


def loaded_picture(context: Context, subject: Subject, shown: WorkloadResult | None) -> Picture:
    """The drawing of a subject with the load of a workload on every link; without load where it has none."""
    geometry = lay_out(subject.design)
    loads: Loads | None = None
    if shown is not None and shown.id in subject.analysis.loads:
        carried = subject.analysis.loads[shown.id]
        loads = loads_of(geometry, carried.load, carried.utilization, shown.binding)
    return design_picture(geometry, Options(legend=True), loads, context.colours)
