"""A run at one instant, worked out from its intervals alone: what frames, which go forward, are held against."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from designer.engine.clock.run import Run


def utilization(run: Run, time: float) -> npt.NDArray[np.float64]:
    """(n_resources,) load ÷ capacity just after a time [1]; engines by slots; 0 where nothing gets through."""
    capacity = run.capacity_at(time)
    for engine, count in run._slots().items():
        capacity[engine] = count
    with np.errstate(divide="ignore", invalid="ignore"):
        share = run.load_at(time) / capacity
    return np.where(np.isfinite(share), share, 0.0)
