"""Steps of a placement on another device, or over links of another width, built from their formulas."""

from __future__ import annotations

from designer.families.collective.communicator import Communicator, widened
from designer.families.serving.formulas._device import Device
from designer.families.serving.formulas.joining import joins_over
from designer.families.serving.formulas.step_time import StepTime
from designer.families.serving.placement import Placement


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
