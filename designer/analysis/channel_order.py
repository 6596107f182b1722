"""The channels of a flow in the order in which its bytes meet them."""

from __future__ import annotations

from itertools import pairwise

from designer.analysis.network import Network


def in_order(network: Network, source: int, channels: list[int]) -> list[int]:
    """Channels of a flow as it meets them from its source; split flows level by level."""
    ends = {channel: network.ends(channel) for channel in channels}
    by_start: dict[int, list[int]] = {}
    for channel in channels:
        by_start.setdefault(ends[channel][0], []).append(channel)
    return _one_way(source, by_start, ends, len(channels)) or _by_level(source, by_start, ends)


def _one_way(source: int, by_start: dict[int, list[int]], ends: dict[int, tuple[int, int]], n: int) -> list[int]:
    """The channels as one way that may come by a part again (a stop in memory, a turn at the root); else nothing."""
    left = {part: list(found) for part, found in by_start.items()}
    way: list[int] = []
    trail: list[tuple[int, int]] = [(source, -1)]
    while trail:
        at, channel = trail[-1]
        if left.get(at):
            step = left[at].pop()
            trail.append((ends[step][1], step))
        else:
            trail.pop()
            way.append(channel)
    way = way[-2::-1]
    joined = all(ends[one][1] == ends[other][0] for one, other in pairwise(way))
    return way if joined and len(way) == n else []


def _by_level(source: int, by_start: dict[int, list[int]], ends: dict[int, tuple[int, int]]) -> list[int]:
    left = dict(by_start)
    ordered: list[int] = []
    todo, seen = [source], {source}
    while todo:
        at = todo.pop(0)
        for channel in left.pop(at, ()):
            ordered.append(channel)
            end = ends[channel][1]
            if end not in seen:
                seen.add(end)
                todo.append(end)
    return ordered + [c for rest in left.values() for c in rest]
