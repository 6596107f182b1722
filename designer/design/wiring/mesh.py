"""Every part of one side to every part of the other: leaves to spines, GPUs to NVSwitches."""

import numpy as np

from designer.design.pattern import Indices, Pattern, Selection


def join(a: Selection, b: Selection) -> tuple[Indices, Indices]:
    """All pairs."""
    return np.repeat(a.flat, len(b.flat)), np.tile(b.flat, len(a.flat))


PATTERN = Pattern("mesh", "All to all", join, "each leaf to each spine")
