"""What the plots of a run show: loads of chosen links, what is left to move, and how much of what computes is busy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from designer.design.channels import link_number
from designer.gui.viewmodels.scenario import path_of
from designer.pages.instant import POINTS
from designer.present.numbers import percent, shown

if TYPE_CHECKING:
    from designer.design.address import Address, Ref
    from designer.engine.clock.frames import Frames

Float = npt.NDArray[np.float64]

#: curves of one plot
CURVES: Final = 6
#: of the busiest where nothing is chosen
_BUSIEST: Final = 3


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A curve over time; `resource` is −1 where it is no load.

    Parameters
    ----------
    time, value : (n,) [s] and [1] or [B]
    stepped
        Whether each value is a mean that holds for an interval, else the line runs from one to the next.
    """

    label: str
    time: Float
    value: Float
    resource: int = -1
    stepped: bool = True
    #: SI unit, and the value at the top of the plot
    unit: str = "1"
    most: float = 1.0

    def text_at(self, time: float) -> str:
        """The value at a time: ``now 45%``, ``now 12.0 of 55.5 GB/s``."""
        value = self.at(time)
        if self.unit != "1":
            return f"now {shown(value, self.unit)}"
        return f"now {percent(value)}"

    def at(self, time: float) -> float:
        """The value at a time."""
        if not len(self.time):
            return 0.0
        if self.stepped:
            width = self.time[1] - self.time[0] if len(self.time) > 1 else 1.0
            k = int(np.clip(round((time - self.time[0]) / width), 0, len(self.value) - 1)) if width else 0
            return float(self.value[k])
        return float(np.interp(time, self.time, self.value))


def chosen_resources(frames: Frames, selection: Iterable[tuple[Address, Ref]]) -> list[int]:
    """Resources of selected links and parts: both directions of a link, those at a part that carry most."""
    run = frames.run
    network = run.table.network
    net = network.net
    found: dict[int, None] = {}
    for picked in selection:
        path = path_of(picked)
        if not path:
            continue
        if picked[1].what == "links":
            link = link_number(net, path)
            if link is not None:
                found |= dict.fromkeys(frames.resource_of(link, d) for d in (0, 1))
            continue
        chosen = net.select(path).flat
        if len(chosen) != 1:
            continue
        part = int(chosen[0])
        links = np.flatnonzero((net.link_a == part) | (net.link_b == part)).tolist()
        own = [int(network.part_resource[part])] if network.part_resource[part] >= 0 else []
        own += [e for e in run.table.slots if part in run.table.parts_of(e)]
        found |= dict.fromkeys([*own, *(frames.resource_of(k, d) for k in links for d in (0, 1))])
    heads = {int(run.represents[r]) for r in found if r < len(run.represents)}
    mean = run.mean_load()
    known = set(frames.resources.tolist())
    one_each = [next(r for r in found if r < len(run.represents) and run.represents[r] == h) for h in heads & known]
    return sorted(one_each, key=lambda r: -mean[r] / max(run.table.capacity[r], 1e-300))[:CURVES]


def load_curves(frames: Frames, resources: list[int], begin: float, end: float) -> list[Curve]:
    """Share of capacity of resources over time; of the busiest where none is given."""
    table = frames.run.table
    if not resources:
        resources = [k for b, k in frames.run.loaded(2 * CURVES) if b.what != "compute"][:_BUSIEST]
    found: list[Curve] = []
    for resource in resources[:CURVES]:
        time, _, share = frames.series(resource, begin, end, POINTS)
        found.append(Curve(table.bottleneck(resource).label, time, share, resource))
    return found


def left_curves(frames: Frames) -> list[Curve]:
    """Bytes left of each program that has any."""
    found: list[Curve] = []
    for program in frames.run.programs:
        time, left = frames.left(program)
        if len(time):
            most = float(left.max()) or 1.0
            found.append(Curve(f"{program}, left to move", time, left, stepped=False, unit="B", most=most))
    return found[:CURVES]


def curves_of(frames: Frames, selection: Iterable[tuple[Address, Ref]]) -> tuple[Curve, ...]:
    """What computes, the loads of what is selected or busiest, and what is left to move."""
    loads = load_curves(frames, chosen_resources(frames, selection), 0.0, frames.end)
    return (*busy_curve(frames, 0.0, frames.end), *loads, *left_curves(frames))


def busy_curve(frames: Frames, begin: float, end: float) -> list[Curve]:
    """Share of what computes that is busy."""
    if not len(frames.engines):
        return []
    edges = np.linspace(begin, max(end, begin), POINTS + 1)
    width = float(edges[1] - edges[0])
    value = np.array([frames.busy(at, width) for at in edges[1:].tolist()])
    return [Curve("Processors busy", (edges[:-1] + edges[1:]) / 2, value)]
