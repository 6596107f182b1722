"""Many to few, in blocks: the first share of one side to the first part of the other, and so on.

Blockwise and not modulo, because that keeps members equal.
"""

import numpy as np

from designer.design.joining import Indices, Pattern, Selection, present


def join(a: Selection, b: Selection) -> tuple[Indices, Indices]:
    """Part i of n goes to part ``i * m // n`` of m."""
    many, few = a.places, b.flat
    return present(many, few[np.arange(len(many)) * len(few) // len(many)])


PATTERN = Pattern("spread", "Many to few, in blocks", join, "servers to top-of-rack switches, servers to storage")
