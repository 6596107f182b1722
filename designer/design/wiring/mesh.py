"""Every part of one side to every part of the other: leaves to spines, GPUs to NVSwitches."""

import numpy as np

from designer.design.joining import Indices, Pattern, Selection


def join(a: Selection, b: Selection) -> tuple[Indices, Indices]:
    """All pairs; of a selection with itself every pair once."""
    if np.array_equal(a.flat, b.flat):
        first, second = np.triu_indices(len(a.flat), 1)
        return a.flat[first], a.flat[second]
    return np.repeat(a.flat, len(b.flat)), np.tile(b.flat, len(a.flat))


def links(a: Selection, b: Selection) -> int:
    """Every part of one side times every part of the other; of a selection with itself every pair once."""
    if np.array_equal(a.flat, b.flat):
        return a.flat.size * (a.flat.size - 1) // 2
    return a.index.size * b.index.size


PATTERN = Pattern("mesh", "All to all", join, "each leaf to each spine", links)
