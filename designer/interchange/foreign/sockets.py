"""Which sockets of a machine are joined, where its file tells at most how far they are from each other."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Final

#: more sockets than this are joined in a ring, not each with each
_MESH: Final = 8


def nearest_pairs(cpus: list[str], distances: Mapping[tuple[str, str], float]) -> list[tuple[str, str]]:
    """Which sockets are joined: each with its nearest, and farther ones where groups would hang apart without.

    Where every socket is equally far from every other one, or the file does not say, that is each with each, a ring
    where there are many.
    """
    usual = list(combinations(cpus, 2)) if len(cpus) <= _MESH else list(zip(cpus, [*cpus[1:], cpus[0]], strict=True))
    if len(set(distances.values())) < 2:
        return usual
    at = {(a, b): distances.get((a, b) if a < b else (b, a)) for a, b in combinations(cpus, 2)}
    known = sorted({d for d in at.values() if d is not None})
    if any(d is None for d in at.values()):
        return usual
    group = {cpu: number for number, cpu in enumerate(cpus)}
    pairs: list[tuple[str, str]] = []
    for distance in known:
        new = [pair for pair, far in at.items() if far == distance and (not pairs or group[pair[0]] != group[pair[1]])]
        if pairs:
            new = _abreast(new, group)
        pairs += new
        for a, b in new:
            old, kept = group[b], group[a]
            if old != kept:
                group = {cpu: kept if number == old else number for cpu, number in group.items()}
        if len(set(group.values())) == 1:
            break
    return pairs


def _abreast(pairs: list[tuple[str, str]], group: Mapping[str, int]) -> list[tuple[str, str]]:
    """Of groups equally far from each other as a whole: the first with the first, the second with the second."""
    members: dict[int, list[str]] = {}
    for cpu, number in group.items():
        members.setdefault(number, []).append(cpu)
    between: dict[tuple[int, int], list[tuple[str, str]]] = {}
    for a, b in pairs:
        between.setdefault((group[a], group[b]), []).append((a, b))
    kept: list[tuple[str, str]] = []
    for (one, other), found in between.items():
        whole = len(found) == len(members[one]) * len(members[other])
        kept += list(zip(members[one], members[other], strict=False)) if whole else found
    return kept
