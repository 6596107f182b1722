"""The channels of flows in the order in which their bytes meet them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from designer.engine.network import Int, Network


def in_order(network: Network, source: int, channels: list[int]) -> list[int]:
    """Channels of a flow as it meets them from its source; split flows level by level."""
    return _in_order(source, channels, _ends_of(network, np.array(channels, dtype=np.int64)))


def ways(network: Network, sources: Int, channels: Int, cuts: Int) -> list[tuple[str, ...]]:
    """Ids of the channels of many flows, each in the order in which the flow meets them.

    Parameters
    ----------
    sources : (n_flows,) the part each begins at
    channels, cuts
        Channels by flow: those of flow f are ``channels[cuts[f]:cuts[f + 1]]``.
    """
    different = np.unique(channels[cuts[0] : cuts[-1]])
    ends = _ends_of(network, different)
    ids = dict(zip(different.tolist(), network.channel_ids(different), strict=True))
    found: list[tuple[str, ...]] = []
    for source, low, high in zip(sources.tolist(), cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        found.append(tuple([ids[c] for c in _in_order(source, channels[low:high].tolist(), ends)]))
    return found


def _ends_of(network: Network, channels: Int) -> dict[int, tuple[int, int]]:
    link, back = channels >> 1, (channels & 1).astype(bool)
    a, b = network.net.link_a[link], network.net.link_b[link]
    both = zip(np.where(back, b, a).tolist(), np.where(back, a, b).tolist(), strict=True)
    return dict(zip(channels.tolist(), both, strict=True))


def _in_order(source: int, channels: list[int], ends: dict[int, tuple[int, int]]) -> list[int]:
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
