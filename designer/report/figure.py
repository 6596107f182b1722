"""Figures as data: series, axes, units. Nothing here draws; the window and the report do, each in its way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from designer.design.document import Design
from designer.engine.results import Analysis, WorkloadResult


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis: what it says, the SI unit of its values, and the names of its places where it has categories.

    Parameters
    ----------
    unit
        A unit of ``designer.units.DIMENSION_OF_UNIT``; empty for plain numbers and categories.
    zero
        True if the axis begins at zero.
    counts
        What is counted per second, where the unit is 1/s: ``samples``.
    """

    title: str
    unit: str = ""
    log: bool = False
    zero: bool = False
    categories: tuple[str, ...] = ()
    counts: str = ""


@dataclass(frozen=True, slots=True)
class LineSeries:
    """A line or points, with a band where there is one. SI values in the units of the axes.

    Parameters
    ----------
    role
        ``main``, ``second``, ``ideal`` (dashed, quiet) or ``measured`` (points of the literature).
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    role: str = "main"


@dataclass(frozen=True, slots=True)
class BarSeries:
    """Bars at the places of a category axis.

    Parameters
    ----------
    at
        Place of each bar; several bars may share one.
    start
        Where each bar begins; 0 where empty.
    role
        ``main``, ``second``, ``bottleneck`` (saturated, binding), ``quiet``, or the name of a phase: ``compute``,
        ``communication``, ``input``, ``idle``, ``stun`` …
    keys
        What each bar is about, for selecting it.
    """

    name: str
    at: tuple[float, ...]
    value: tuple[float, ...]
    start: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    role: str = "main"
    keys: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TickSeries:
    """Short marks across the bars: capacities."""

    name: str
    at: tuple[float, ...]
    value: tuple[float, ...]
    role: str = "limit"


@dataclass(frozen=True, slots=True)
class Span:
    """A shaded stretch of the value axis, such as a switch-over."""

    name: str
    start: float
    end: float
    role: str = "quiet"


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture of numbers. With ``sideways`` the categories stand on the vertical axis and bars lie."""

    title: str
    x: Axis
    y: Axis
    lines: tuple[LineSeries, ...] = ()
    bars: tuple[BarSeries, ...] = ()
    ticks: tuple[TickSeries, ...] = ()
    spans: tuple[Span, ...] = ()
    sideways: bool = False
    note: str = ""

    def table(self) -> tuple[tuple[str, ...], list[tuple[str | float, ...]]]:
        """Heads and rows of all the data, in SI units, for copying."""
        rows: list[tuple[str | float, ...]] = []
        for line in self.lines:
            bands = zip(line.low or line.y, line.high or line.y, strict=True)
            for x, y, (low, high) in zip(line.x, line.y, bands, strict=True):
                rows.append((line.name, x, y, low, high))
        names = self.x.categories or self.y.categories
        for bar in self.bars:
            bands = zip(bar.low or bar.value, bar.high or bar.value, strict=True)
            for at, value, (low, high) in zip(bar.at, bar.value, bands, strict=True):
                rows.append((bar.name, _name(names, at), value, low, high))
        for tick in self.ticks:
            rows += [(tick.name, _name(names, at), v, v, v) for at, v in zip(tick.at, tick.value, strict=True)]
        rows += [(span.name, span.start, span.end, "", "") for span in self.spans]
        return ("series", _head(self.x), _head(self.y), "low", "high"), rows


def _name(names: tuple[str, ...], at: float) -> str | float:
    return names[round(at)] if 0 <= round(at) < len(names) else at


def _head(axis: Axis) -> str:
    return f"{axis.title} [{axis.unit}]" if axis.unit else axis.title


@dataclass(frozen=True, slots=True)
class FigureKind:
    """A figure that can be made of a result.

    Parameters
    ----------
    dock
        Where the window shows it: ``flow``, ``whatif``, ``timeline``, ``scaling`` or ``migration``.
    build
        The figure for a workload, or None where it has nothing to show.
    """

    name: str
    title: str
    dock: str
    build: Callable[[Design, Analysis, WorkloadResult], Figure | None]
    order: int = 100
