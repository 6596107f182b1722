"""All figures: those that show curves of a result as lines, and those with a module of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from designer.design.document import Design
from designer.engine.results import Analysis, Curve, WorkloadResult
from designer.present.words import counted_by
from designer.registry import discover
from designer.report.figure import Axis, Figure, FigureKind, LineSeries


@dataclass(frozen=True, slots=True)
class Lines:
    """Curves of a result as the lines of a figure.

    Parameters
    ----------
    key
        Key of the curves in ``WorkloadResult.curves``; that of the figure where empty.
    only
        Names of the curves that are drawn, or starts of them, which the names of lines leave out; all where empty.
    roles
        Roles of the lines, in order; those behind take ``main``. A single point is always ``measured``.
    published
        Key of curves whose points were published.
    ideal
        True for a line that grows with the horizontal axis, from one.
    counts
        Metric whose unit the vertical axis has, as in samples/s.
    """

    name: str
    title: str
    dock: str
    x: Axis
    y: Axis
    order: int = 60
    key: str = ""
    only: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    published: str = ""
    ideal: bool = False
    counts: str = ""

    def build(self, design: Design, analysis: Analysis, result: WorkloadResult) -> Figure | None:
        """The figure; None where the result has none of the curves, or single points alone."""
        curves = [
            c for c in result.curves.get(self.key or self.name, ()) if not self.only or c.name.startswith(self.only)
        ]
        if not any(len(c.x) > 1 for c in curves):
            return None
        lines = [self._line(c, k) for k, c in enumerate(curves)]
        if self.ideal:
            x = curves[0].x
            lines.insert(0, LineSeries("ideal", x, tuple(n / x[0] for n in x), role="ideal"))
        lines += [LineSeries(c.name, c.x, c.y, role="measured") for c in result.curves.get(self.published, ())]
        y = self.y
        if self.counts:
            y = Axis(y.title, y.unit, y.log, y.zero, counts=counted_by(self.counts, design.workloads.get(result.id)))
        return Figure(self.title, self.x, y, tuple(lines))

    def _line(self, curve: Curve, number: int) -> LineSeries:
        name = next((curve.name.removeprefix(start) for start in self.only if start.endswith(":")), curve.name)
        role = self.roles[number] if number < len(self.roles) else "main"
        role = "measured" if self.roles and len(curve.x) == 1 else role
        return LineSeries(name.replace("_", " "), curve.x, curve.y, curve.low, curve.high, role)

    @property
    def kind(self) -> FigureKind:
        """The figure as one of all figures."""
        return FigureKind(self.name, self.title, self.dock, self.build, self.order)


def _over_time(name: str, title: str, y: Axis, dock: str = "timeline", order: int = 60) -> Lines:
    return Lines(name, title, dock, Axis("Time", "s", zero=True), y, order)


_SHARE: Final = "Share of requests"
_MESSAGE: Final = Axis("Message", "B", log=True)
_GPUS: Final = Axis("Accelerators")

_EVERY: Final[Sequence[Lines]] = (
    Lines(
        "serving-frontier",
        "Latency and load",
        "flow",
        Axis("Requests", "1/s", zero=True, counts="requests"),
        Axis("Time", "s", log=True),
        5,
        roles=("main", "second", "decode", "measured"),
    ),
    Lines(
        "serving-drafts",
        "Gain of drafts",
        "flow",
        Axis("Requests at once, of a replica", log=True),
        Axis("Times as fast as without", "1", zero=True),
        8,
        roles=("main", "ideal"),
    ),
    _over_time("serving-ttft", "Time to the first token", Axis(_SHARE, "1", zero=True)),
    _over_time("serving-itl", "Time between tokens", Axis("Share of tokens", "1", zero=True)),
    _over_time("serving-kv", "KV cache over time", Axis("Share of room", "1", zero=True)),
    _over_time("schedule-accelerators", "Accelerators over the day", Axis("Accelerators", zero=True)),
    _over_time("schedule-power", "Power over the day", Axis("Power", "W", zero=True)),
    Lines(
        "congestion-draws",
        "Speed over draws of the hash",
        "flow",
        Axis("Share of an even split", "1"),
        Axis("Share of draws", "1", zero=True),
    ),
    _over_time("serving-queue", "Requests over time", Axis("Requests", zero=True)),
    Lines(
        "serving-replicas",
        "Replicas by hour",
        "timeline",
        Axis("Hour of the day", zero=True),
        Axis("Replicas", zero=True),
        65,
    ),
    Lines(
        "roofline",
        "Roofline",
        "timeline",
        Axis("FLOP per byte", "1", log=True),
        Axis("Rate", "FLOP/s", log=True),
        30,
        roles=("main", "ideal", "measured"),
    ),
    Lines(
        "throughput",
        "Throughput over GPUs",
        "scaling",
        _GPUS,
        Axis("Throughput", "1/s", zero=True),
        5,
        key="scaling",
        only=("samples_per_second",),
        counts="samples_per_second",
    ),
    Lines(
        "scaling",
        "Speed-up over GPUs",
        "scaling",
        _GPUS,
        Axis("Speed-up", zero=True),
        10,
        only=("speedup",),
        ideal=True,
    ),
    Lines(
        "scaling-losses",
        "What is lost, by cause",
        "scaling",
        _GPUS,
        Axis("Share lost", "1", zero=True),
        20,
        key="scaling",
        only=("loss:",),
    ),
    Lines(
        "size-sweep",
        "Bus bandwidth over message size",
        "flow",
        _MESSAGE,
        Axis("Bus bandwidth", "B/s", zero=True),
        20,
        only=("bus bandwidth",),
    ),
    Lines(
        "time-over-size",
        "Time over message size",
        "flow",
        _MESSAGE,
        Axis("Time", "s", log=True),
        21,
        key="size-sweep",
        only=("time",),
    ),
    _over_time("evacuation-remaining", "Data left to move", Axis("Remaining", "B", zero=True), "migration", 5),
    _over_time(
        "migration-curve", "Memory left to move, by machine", Axis("Remaining", "B", zero=True), "migration", 10
    ),
    Lines(
        "stun-sweep",
        "Stun over frame buffer",
        "migration",
        Axis("Frame buffer", "B", log=True),
        Axis("Stun", "s", zero=True),
        30,
        published="stun-published",
    ),
)

#: figures of lines, by name
OF_CURVES: Final = {one.name: one.kind for one in _EVERY}


def figure_kinds() -> Mapping[str, FigureKind]:
    """All figures by name."""
    return {**OF_CURVES, **discover("designer.report.figures", "FIGURE", FigureKind)}
