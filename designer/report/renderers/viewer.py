"""The drawing alone as one offline page: zoom, pan, open and close groups, switch workloads, hover for numbers."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final
from xml.sax.saxutils import quoteattr

from designer.catalog.parttype import part_kinds
from designer.design.address import block_at
from designer.design.document import Design, Group, Part
from designer.design.geometry import STATUSES, Geometry, lay_out
from designer.drawing.loads import Loads, loads_of
from designer.drawing.polylines import corners
from designer.engine.results import Analysis
from designer.errors import ReportError
from designer.plain_text import harmless, shortened
from designer.report.design_picture import Colours, design_picture
from designer.report.drawing.compose import Options
from designer.report.drawing.svg import inline_svg
from designer.report.inks import recoloured
from designer.report.wording import line_rate, percent, quantity
from designer.resources import assets

#: views are added while the page stays below this [characters]
LARGEST: Final = 2_700_000
#: a view of more boxes than this is not drawn
_BOXES: Final = 4_000
_LONGEST: Final = 400
_VALUES: Final = 10


@dataclass(frozen=True, slots=True)
class _View:
    """One drawing of the page: which group is open, which workload's load it shows, and its markup."""

    state: str
    workload: str
    markup: str


def to_viewer(design: Design, analysis: Analysis | None = None) -> str:
    """The page.

    Parameters
    ----------
    analysis
        Workloads whose loads can be shown; none by default.

    Raises
    ------
    ReportError
        If Jinja2 is not installed.
    """
    try:
        jinja2 = import_module("jinja2")
        markup = import_module("markupsafe").Markup
    except ImportError as error:
        raise ReportError("HTML pages need Jinja2", remedy="pip install jinja2, or export SVG") from error
    environment: Any = jinja2.Environment(
        loader=jinja2.PackageLoader("designer.report.renderers", "."), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["said"] = _safe_text
    colours: Colours = {}
    views: list[_View] = []
    used = 0
    for view in _views(design, analysis, colours):
        if views and used + len(view.markup) > LARGEST:
            break
        used += len(view.markup)
        views.append(view)
    folder = assets() / "fonts"
    script = environment.loader.get_source(environment, "viewer.js")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    states = list(dict.fromkeys(v.state for v in views))
    workloads = list(dict.fromkeys(v.workload for v in views))
    titles = {w.id: w.title for w in analysis.workloads} if analysis is not None else {}
    return environment.get_template("viewer.html.jinja").render(
        title=design.title or design.name,
        views=[(v.state, v.workload, markup(v.markup)) for v in views],
        states=[(s, _state_title(design, s)) for s in states],
        workloads=[(w, titles.get(w, "no load")) for w in workloads],
        inks=[(name, *pair) for name, pair in colours.items()],
        fonts=[
            (weight, base64.b64encode((folder / f"{name}.woff2").read_bytes()).decode("ascii"))
            for weight, name in ((400, "Inter-Regular"), (600, "Inter-SemiBold"))
        ],
        script=markup(script),
        digest=digest,
    )


@dataclass(frozen=True, slots=True)
class View:
    """A design to look at in a notebook: the page in a frame of its own.

    >>> import designer
    >>> designer.view(designer.open_design("m40-server"))._repr_html_().startswith("<iframe")
    True
    """

    page: str
    height: int = 560

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return framed(self.page, self.height, "allow-scripts")


def framed(page: str, height: int, sandbox: str = "") -> str:
    """A page in a frame of its own, which keeps its styles and scripts apart from those around it.

    Parameters
    ----------
    height
        Of the frame [CSS px].
    sandbox
        What the page may do, as the attribute of ``iframe`` spells it; nothing by default.
    """
    return (
        f'<iframe srcdoc={quoteattr(page)} sandbox="{sandbox}" width="100%" height="{height}"'
        ' style="border:0"></iframe>'
    )


def view(design: Design, analysis: Analysis | None = None) -> View:
    """A design to look at in a notebook, with the loads of an analysis where there is one."""
    return View(to_viewer(design, analysis))


def _state_title(design: Design, state: str) -> str:
    group = design.groups.get(state)
    return f"{group.label} open" if group is not None else "as drawn" if state == "" else "closed"


def _views(design: Design, analysis: Analysis | None, colours: Colours) -> Iterator[_View]:
    """The drawing as given with every load, then with each of its groups open."""
    stated = list(analysis.workloads) if analysis is not None else []
    loaded = [w for w in stated if analysis is not None and w.id in analysis.loads]
    states = ["", *design.groups]
    number = 0
    for state in states:
        geometry = lay_out(design) if state == "" else lay_out(design, frozenset({((state, None),)}))
        if len(geometry) > _BOXES:
            continue
        for workload in [None, *loaded]:
            loads: Loads | None = None
            if workload is not None and analysis is not None:
                carried = analysis.loads[workload.id]
                loads = loads_of(geometry, carried.load, carried.utilization, workload.binding)
            number += 1
            picture = recoloured(design_picture(geometry, Options(), loads, colours), _variable)
            drawn = inline_svg(picture, f"v{number}-", f"Drawing of {design.title or design.name}")
            hover = "".join(_hover(design, geometry, loads))
            yield _View(state, workload.id if workload is not None else "", drawn.replace("</svg>", f"{hover}</svg>"))


def _variable(name: str) -> str:
    return f"var(--{name})"


def _hover(design: Design, geometry: Geometry, loads: Loads | None) -> Iterator[str]:
    """Invisible shapes above the drawing that state what is under them."""
    many = corners(geometry.connection_route).tolist()
    for w in range(geometry.n_connections):
        route = geometry.connection_route[w]
        path = "M" + "L".join(f"{x:.0f} {y:.0f}" for x, y in route[: many[w]])
        yield f'<path class="h" d="{path}" data-t={quoteattr(_safe_text(_connection(geometry, loads, w)))}/>'
    for box in range(len(geometry)):
        x, y, width, height = geometry.rect[box].tolist()
        if geometry.is_container[box]:
            height = min(height, 36.0)
        address, ref = geometry.address(box)
        del address
        group = f" data-g={quoteattr(ref.id)}" if geometry.is_group[box] and ref.id in design.groups else ""
        text = _box(design, geometry, box)
        yield (
            f'<rect class="h" x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}"{group}'
            f" data-t={quoteattr(_safe_text(text))}/>"
        )


def _connection(geometry: Geometry, loads: Loads | None, w: int) -> str:
    kind = geometry.connection_kinds[int(geometry.connection_kind[w])]
    count = int(geometry.connection_count[w])
    whole = float(geometry.connection_capacity[w])
    each = line_rate(whole / count) if kind in ("ethernet", "infiniband", "fabric") else quantity(whole / count, "B/s")
    lines = [f"{kind}: {count:,} × {each}", f"together {quantity(whole, 'B/s')} each way"]
    lines.append(f"how sure: {STATUSES[int(geometry.connection_status[w])]}")
    if loads is not None:
        for d, way in ((0, "there"), (1, "back")):
            share, rate = float(loads.used[w, d]), float(loads.load[w, d])
            if share > 0:
                lines.append(f"{way}: {quantity(rate, 'B/s')} on the fullest, {percent(share)} of what it can carry")
    return "\n".join(lines)


def _box(design: Design, geometry: Geometry, box: int) -> str:
    address, ref = geometry.address(box)
    thing = None
    block = block_at(design, address)
    thing = block.parts.get(ref.id) or block.groups.get(ref.id)
    if isinstance(thing, Group):
        return f"{thing.label}\n{thing.replicas:,} of these; click to open"
    if not isinstance(thing, Part):
        return ref.id
    part_type = design.type_of(thing)
    kind = part_kinds().get(thing.kind)
    lines = [thing.label, part_type.title if part_type is not None else (kind.title if kind else thing.kind)]
    values = {**(part_type.values if part_type is not None else {}), **thing.overrides}
    for name, value in list(values.items())[:_VALUES]:
        field = kind.field(name) if kind is not None else None
        lines.append(f"{field.title if field else name}: {value.value} ({value.status})")
    return "\n".join(lines)


def _safe_text(text: str) -> str:
    return shortened(harmless(text), _LONGEST).encode("utf-8", "replace").decode()
