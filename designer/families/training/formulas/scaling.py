"""Scaling curves: throughput over the number of accelerators, and where what is lost has gone."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from designer.errors import AnalysisError
from designer.families.training.formulas.step_composition import StepEstimate
from designer.formulas.formula import Formula
from designer.units import PerSecond, Ratio


@dataclass(frozen=True, slots=True)
class ScalingPoint:
    """One number of accelerators on the curve.

    Parameters
    ----------
    speedup, efficiency
        Throughput over that of the first point, and over its share of accelerators [1].
    losses
        By cause, the share of perfect scaling it takes; they add up to 1 - efficiency [1].
    """

    accelerators: int
    samples_per_second: PerSecond
    speedup: Ratio
    efficiency: Ratio
    losses: Mapping[str, Ratio]

    @property
    def main_cause(self) -> str:
        """What takes the most, ``none`` when nothing is lost."""
        worst = max(self.losses, key=lambda name: self.losses[name], default="none")
        return worst if self.losses and self.losses[worst] > 0 else "none"

    def spread(self, uncertainty: Ratio) -> tuple[Ratio, Ratio]:
        """Low and high share of the efficiency, if each loss and gain is unsure by that [1].

        Losses and gains that cancel leave the efficiency as it is, yet each may be other than thought. The most there
        can be is all gains and no loss.
        """
        gains = -sum(min(0.0, loss) for loss in self.losses.values())
        changed = min(1.0, sum(map(abs, self.losses.values())))
        wide = math.exp(changed * uncertainty)
        return Ratio(1 / wide), Ratio(max(1.0, min(wide, 1 / (self.efficiency - gains))))


def scaling_curve(counts: Sequence[int], estimate: Callable[[int], StepEstimate]) -> tuple[ScalingPoint, ...]:
    """Throughput over numbers of accelerators, against the first.

    Parameters
    ----------
    counts
        Rising numbers of accelerators; the first is the base.
    estimate
        The step with that many.

    Notes
    -----
    A step may hold more samples on more accelerators. Time per sample and accelerator is split by part; what a part
    takes beyond its time at the base is that part's loss.

    Raises
    ------
    AnalysisError
        If no count is given or they do not rise.
    """
    if not counts or counts[0] < 1 or any(b <= a for a, b in itertools.pairwise(counts)):
        raise AnalysisError(f"accelerator counts {list(counts)}", remedy="give rising numbers from 1")
    points: list[ScalingPoint] = []
    base_parts: Mapping[str, float] = {}
    base_rate = 0.0
    for count in counts:
        step = estimate(count)
        cost = {name: value * count / step.global_batch for name, value in step.parts.items()}
        if not points:
            base_parts, base_rate = cost, step.samples_per_second / count
        speedup = step.samples_per_second / (base_rate * counts[0])
        efficiency = step.samples_per_second / count / base_rate
        total = sum(cost.values())
        losses = {name: Ratio((cost[name] - base_parts[name]) / total) for name in cost}
        points.append(
            ScalingPoint(
                count,
                step.samples_per_second,
                Ratio(speedup),
                Ratio(efficiency),
                MappingProxyType(dict(sorted(losses.items(), key=lambda item: -item[1]))),
            )
        )
    return tuple(points)


FORMULA: Final = Formula(
    "scaling-curve", "Scaling curve", scaling_curve, ("amdahl-1967",), "the same model and software at every count"
)
