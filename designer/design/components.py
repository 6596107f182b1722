"""What hangs together in a graph given as two columns of ends."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

Int = npt.NDArray[np.int64]

#: up to this many links labels are quicker than loading the sparse graph library
SMALL_LIMIT: Final = 300_000


def connected(n: int, a: Int, b: Int) -> tuple[int, Int]:
    """How many connected components `n` vertices have under the links a–b, and the one of each vertex. : (n,)

    Components are numbered by their first vertex.
    """
    if len(a) > SMALL_LIMIT:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        ones = np.ones(len(a), dtype=np.int8)
        count, label = connected_components(csr_array((ones, (a, b)), shape=(n, n)), directed=False)
        return int(count), label.astype(np.int64)
    return _by_labels(n, a, b)


def _by_labels(n: int, a: Int, b: Int) -> tuple[int, Int]:
    """Every vertex takes the lowest number it hears of, until nothing changes."""
    every = np.arange(n)
    label = every
    while len(a):
        one, other = label[a], label[b]
        apart = one != other
        if not apart.any():
            break
        # links whose ends agree stay agreed: both take the same number from then on
        a, b, one, other = a[apart], b[apart], one[apart], other[apart]
        low = np.minimum(one, other)
        label = label.copy()
        np.minimum.at(label, one, low)
        np.minimum.at(label, other, low)
        while not np.array_equal(jumped := label[label], label):
            label = jumped
    first = label == every
    return int(np.count_nonzero(first)), (np.cumsum(first) - 1)[label]
