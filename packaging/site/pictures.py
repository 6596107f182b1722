"""Drawings and charts that pages of the documentation show, made from the program when the site is built.

A page names a picture by its address: ``pictures/design/TEMPLATE.svg`` is the drawing of a template,
``pictures/figure/TEMPLATE/WORKLOAD/FIGURE.svg`` a figure of a report, ``pictures/accuracy/AREA.svg`` the predictions of
an area over the measurements.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

#: units with fewer points have no plot
FEWEST = 3
_ADDRESS = re.compile(r"\((?:\.\./)*(pictures/[\w./-]+\.svg)\)")


def shown_in(texts: Iterable[str]) -> dict[str, bytes]:
    """Every picture that the texts refer to, by its address.

    Raises
    ------
    ValueError
        If an address names no picture.
    """
    addresses = sorted({address for text in texts for address in _ADDRESS.findall(text)})
    return {address: _drawn(address) for address in addresses}


def _drawn(address: str) -> bytes:
    _, kind, *names = address.removesuffix(".svg").split("/")
    maker = _MAKERS.get(kind)
    if maker is None:
        raise ValueError(f"{address}: no picture of the kind {kind!r}; kinds: {', '.join(_MAKERS)}")
    return maker(*names)


@cache
def opened(template: str) -> Any:
    """A template as a design."""
    import designer

    return designer.open_design(template)


def _design(template: str) -> bytes:
    import designer

    return _written(lambda path: designer.export_design(opened(template), "svg", path))


def _figure(template: str, workload: str, name: str) -> bytes:
    import designer
    from designer.report.figure_kinds import figure_kinds

    analysis = designer.analyze(opened(template), [workload])
    figure = figure_kinds()[name].build(opened(template), analysis, analysis.workloads[0])
    if figure is None:
        raise ValueError(f"{workload} of {template} has no figure {name!r}")
    return _plotted([figure])


def _accuracy(area: str) -> bytes:
    from designer.report.chapters.validation import records
    from designer.report.figure import Axis, Figure, LineSeries

    chosen = sorted((r for r in records() if r.area == area and r.measured > 0), key=lambda r: r.measured)
    figures: list[Figure] = []
    for unit in sorted({r.unit for r in chosen}):
        if sum(r.unit == unit for r in chosen) < FEWEST:
            continue
        groups: dict[str, list[Any]] = {}
        for record in chosen:
            if record.unit == unit:
                name = " and ".join(sorted(a.rpartition("/")[2] for a in record.accelerators)) or "no accelerator"
                groups.setdefault(name, []).append(record)
        lines = [
            LineSeries(
                name,
                tuple(r.measured for r in of),
                tuple(r.predicted for r in of),
                tuple(r.low if r.low > 0 else r.predicted for r in of),
                tuple(r.high for r in of),
                "measured",
            )
            for name, of in sorted(groups.items())
        ]
        every = [v for line in lines for v in (*line.x, *line.y)]
        ends = (min(every), max(every))
        diagonal = LineSeries("as measured", ends, ends, role="ideal")
        axes = Axis("Measured", unit, log=True), Axis("Predicted, 80% band", unit, log=True)
        figures.append(
            Figure(f"{area.capitalize()}: {sum(len(line.x) for line in lines)} points", *axes, (diagonal, *lines))
        )
    if not figures:
        raise ValueError(f"no measurement of the area {area!r}")
    return _plotted(figures)


def _plotted(figures: list[Any]) -> bytes:
    from designer.interchange.exporting import write_picture
    from designer.report.charts.plots import picture_of

    return _written(lambda path: write_picture(picture_of(figures), path))


def _written(write: Callable[[Path], object]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picture.svg"
        write(path)
        return path.read_bytes()


_MAKERS: dict[str, Callable[..., bytes]] = {"design": _design, "figure": _figure, "accuracy": _accuracy}
