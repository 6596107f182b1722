"""Links of one kind that join all of some boxes with all of others: drawn as one line with a branch to each box."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from designer.design.components import connected

Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

#: among fewer boxes joined all with all, links stay lines of their own
_MESH: Final = 5
#: fewer links stay lines of their own
_LEAST: Final = 6


def trunks(upper: Int, lower: Int, kind: Int, level: Bool) -> Int:
    """Number of the trunk of each link, −1 for none. : (k,)

    Parameters
    ----------
    upper, lower : (k,) boxes at the ends
    kind : (k,) links of different kinds have trunks of their own
    level : (k,) whether both ends are at the same side of boxes in a row
    """
    found = all_joined(upper, lower, kind)
    number = int(found.max(initial=-1)) + 1
    loose = found < 0
    for flat in (False, True):
        for code in np.unique(kind[loose & (level == flat)]).tolist():
            rows = np.flatnonzero(loose & (level == flat) & (kind == code))
            if len(rows) < _LEAST:
                continue
            ends = np.concatenate((upper[rows], lower[rows] if flat else -1 - lower[rows]))
            _, at = np.unique(ends, return_inverse=True)
            at = at.ravel()
            a, b = at[: len(rows)], at[len(rows) :]
            n = int(at.max()) + 1
            parts, part = connected(n, a, b)
            for p in range(parts):
                inside = part[a] == p
                links = rows[inside]
                if len(links) < _LEAST:
                    continue
                whole = _is_whole(a[inside], b[inside], flat)
                if whole:
                    found[links] = number
                    number += 1
    return found


def all_joined(a: Int, b: Int, kind: Int) -> Int:
    """Number of the set of boxes that links of one kind join all with all, −1 where they do not. : (k,)"""
    if len(a) < _MESH * (_MESH - 1) // 2:
        return np.full(len(a), -1)
    # a box counts once for each kind of link at it
    wide = int(max(a.max(), b.max())) + 1
    nodes, at = np.unique(np.concatenate((kind * wide + a, kind * wide + b)), return_inverse=True)
    n = len(nodes)
    one, other = at.ravel()[: len(a)], at.ravel()[len(a) :]
    parts, part = connected(n, one, other)
    boxes = np.bincount(part, minlength=parts)
    pairs = np.unique(np.minimum(one, other) * n + np.maximum(one, other)) // n
    whole = (np.bincount(part[pairs], minlength=parts) == boxes * (boxes - 1) // 2) & (boxes >= _MESH)
    number = np.where(whole, np.cumsum(whole) - 1, -1)
    return np.asarray(number[part[one]], dtype=np.int64)


def _is_whole(a: Int, b: Int, flat: bool) -> bool:
    """True if everything on one side is joined with everything on the other, or in a row all with all."""
    pairs = len(np.unique(np.stack((np.minimum(a, b), np.maximum(a, b)), axis=1), axis=0))
    if flat:
        n = len(np.unique(np.concatenate((a, b))))
        return pairs == n * (n - 1) // 2
    one, other = len(np.unique(a)), len(np.unique(b))
    return one > 1 and other > 1 and pairs == one * other
