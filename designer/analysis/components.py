"""What hangs together in a graph given as two columns of ends."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

Int = npt.NDArray[np.int64]

#: up to this many links plain Python is quicker than loading the sparse graph library
SMALL_LIMIT: Final = 16_000


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
    leader = list(range(n))

    def lead(vertex: int) -> int:
        while leader[vertex] != vertex:
            leader[vertex] = leader[leader[vertex]]
            vertex = leader[vertex]
        return vertex

    for one, other in zip(a.tolist(), b.tolist(), strict=True):
        low, high = lead(one), lead(other)
        if low != high:
            leader[max(low, high)] = min(low, high)
    roots = np.array([lead(v) for v in range(n)], dtype=np.int64)
    firsts, label = np.unique(roots, return_inverse=True)
    return len(firsts), label.astype(np.int64)
