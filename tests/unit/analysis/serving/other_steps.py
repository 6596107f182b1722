"""Steps of a placement on another device, or over links of another width, built from their formulas."""

from __future__ import annotations

from designer.analysis.collectives.communicator import Communicator, widened
from designer.analysis.serving.placement import Placement
from designer.formulas.serving._device import Device
from designer.formulas.serving.joining import joins_over
from designer.formulas.serving.step_time import StepTime


def steps_with(placement: Placement, device: Device | None = None, links: float = 1.0) -> StepTime:
    """Steps with another device, or with links that many times as wide."""
    split, steps = placement.split, placement.steps
    situations = []
    if placement.group is not None:
        whole = _wide(placement.group, links)
        heads = _wide(placement.peers or placement.group, links)
        situations = [heads.situation, whole.situation, whole.exchanging().situation]
    return StepTime(
        steps.shape,
        device or placement.device,
        split,
        steps.weights,
        placement.cache_format,
        steps.overheads,
        joins_over(situations, split, placement.deployment.graph),
        steps.adapters,
        setup=steps.setup,
    )


def _wide(group: Communicator, factor: float) -> Communicator:
    return widened(group, factor, factor)
