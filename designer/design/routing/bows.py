"""Bows: links between things of a row with others between them, which leave both at the top or both at the bottom."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from designer.design.components import connected
from designer.design.routing.sides import BOTTOM, OPPOSITES, TOP

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


Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

#: a bow goes to the other side of its row where that saves so many crossings
_WORTH: Final = 2
#: among more links between siblings none is turned
_MANY: Final = 400


class Links(NamedTuple):
    """Links between things of one container, to be turned where they are placed.

    Parameters
    ----------
    rows : (s,) which of the links
    tops : (k,), (k,) boxes at which they meet
    sides : (k,), (k,) where they leave those
    """

    rows: Int
    tops: tuple[Int, Int]
    sides: tuple[Int, Int]

    def bows(self) -> Int:
        """Which are bows. : (b,)"""
        side_a, side_b = self.sides
        return self.rows[(side_a[self.rows] == side_b[self.rows]) & (side_a[self.rows] % 2 == 1)]


def turn_bows(rect: Float, links: Links) -> None:
    """Have links between things of a row leave them on the side where fewer other links do."""
    (top_a, top_b), (side_a, side_b), rows = links.tops, links.sides, links.rows
    bows = links.bows()
    if not len(bows):
        return
    other = rows[side_a[rows] != side_b[rows]]
    n = len(rect)
    leaving = np.zeros((4, n), dtype=np.int64)
    for tops, sides in ((top_a, side_a), (top_b, side_b)):
        np.add.at(leaving, (sides[other], tops[other]), 1)
    part = connected(n, top_a[bows], top_b[bows])[1]
    used = np.zeros((4, n), dtype=np.int64)
    boxes = np.unique(np.concatenate((top_a[bows], top_b[bows])))
    for side in (TOP, BOTTOM):
        np.add.at(used[side], part[boxes], leaving[side, boxes])
    up, down = used[TOP, part[top_a[bows]]], used[BOTTOM, part[top_a[bows]]]
    side = np.where(up < down, TOP, np.where(down < up, BOTTOM, side_a[bows]))
    side_a[bows] = side_b[bows] = side


def turn_meshes(rect: Float, links: Links, own: Bool, kind: Int, above: Bool) -> Int:
    """Have links of boxes that are joined all with all leave those of a row where the other row is.

    Parameters
    ----------
    own : (s,) whether a link ends at the boxes themselves
    kind, above : (k,)

    Returns
    -------
    mesh : (m,) the links of such boxes
    """
    (top_a, top_b), (side_a, side_b) = links.tops, links.sides
    rows = links.rows[own]
    number = all_joined(top_a[rows], top_b[rows], kind[rows])
    middle = rect[:, 1] + rect[:, 3] / 2
    for mesh in range(int(number.max(initial=-1)) + 1):
        some = rows[number == mesh]
        if not len(some):
            continue
        low, high = middle[top_a[some]].min(), middle[top_a[some]].max()
        low = min(low, middle[top_b[some]].min())
        high = max(high, middle[top_b[some]].max())
        row = some[(side_a[some] % 2 == 0) | (side_a[some] == side_b[some])]
        at = middle[top_a[row]]
        side = np.where(at < (low + high) / 2, BOTTOM, TOP)
        if high - low < 1.0:
            side = np.where(above[row], TOP, BOTTOM)
        side_a[row] = side_b[row] = side
    return rows[number >= 0]


def untangle_bows(rect: Float, links: Links, still: Int) -> None:
    """Have single bows leave at the other side of their row where they cross far fewer links there.

    A bow crosses what leaves the boxes between its ends at its side, but for bows that lie within it.

    Parameters
    ----------
    still : (m,) bows that stay
    """
    (top_a, top_b), (side_a, side_b) = links.tops, links.sides
    bows = np.setdiff1d(links.bows(), still)
    if not len(bows) or len(links.rows) > _MANY:
        return
    ends = np.concatenate((top_a[links.rows], top_b[links.rows]))
    others = np.concatenate((top_b[links.rows], top_a[links.rows]))
    link = np.tile(links.rows, 2)
    x, y = (rect[:, axis] + rect[:, axis + 2] / 2 for axis in (0, 1))
    left, right = np.minimum(x[top_a], x[top_b])[bows], np.maximum(x[top_a], x[top_b])[bows]
    top, bottom = np.minimum(rect[top_a[bows], 1], rect[top_b[bows], 1]), _lowest(rect, top_a[bows], top_b[bows])
    # ends of other links at boxes between those of each bow
    between = (x[ends] > left[:, None] + 1.0) & (x[ends] < right[:, None] - 1.0)
    between &= (y[ends] > top[:, None]) & (y[ends] < bottom[:, None])
    within = (x[others] >= left[:, None] - 1.0) & (x[others] <= right[:, None] + 1.0)
    turning = len(bows)
    while turning:
        turning -= 1
        side = np.concatenate((side_a[links.rows], side_b[links.rows]))
        is_bow = (side_a == side_b)[link]
        crosses = between & ~(is_bow & within)
        cost = np.stack([(crosses & (side == at)).sum(axis=1) for at in (TOP, BOTTOM)])
        here = np.where(side_a[bows] == TOP, 0, 1)
        rows = np.arange(len(bows))
        saved = cost[here, rows] - cost[1 - here, rows]
        best = int(saved.argmax())
        if saved[best] < _WORTH:
            break
        side_a[bows[best]] = side_b[bows[best]] = OPPOSITES[side_a[bows[best]]]


def _lowest(rect: Float, one: Int, other: Int) -> Float:
    """The lower of the bottoms of two boxes. : (b,)"""
    return np.maximum(rect[one, 1] + rect[one, 3], rect[other, 1] + rect[other, 3])
