"""Which replica each request goes to, and how much of its prompt is in the cache there."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from typing import Final

from designer.sources import Constant, Status

#: how a router may choose: in turns, the replica with the fewest requests, or the one that holds most of the prompt
ROUTINGS: Final = ("turns", "fewest", "prefix")
#: share of a prompt that has to be found for it to go there, in place of the replica with the fewest requests
FOUND: Final = Constant(0.5, 0.3, 0.5, "sglang-router", Status.UNVERIFIED, "1", "cache_threshold")
#: more requests than the fewest, and times as many, beyond which a replica gets none for its cache
MORE: Final = Constant(32.0, 32.0, 64.0, "sglang-router", Status.UNVERIFIED, "1", "balance_abs_threshold")
TIMES: Final = Constant(1.1, 1.0001, 1.5, "sglang-router", Status.UNVERIFIED, "1", "balance_rel_threshold")
#: a request counts as under way for so long: routers see answers end, a plan of requests does not
STAY: Final = Constant(10.0, 2.0, 60.0, "assumed-serving", Status.ASSUMED, "s", "some hundred tokens of answer")


class Cache:
    """Blocks of prompts that a replica holds; those not used for longest go first.

    Parameters
    ----------
    room
        Blocks.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self.known: OrderedDict[int, None] = OrderedDict()

    def hits(self, ids: Sequence[int]) -> int:
        """Blocks from the start of a prompt that are there."""
        found = 0
        for one in ids:
            if one not in self.known:
                break
            found += 1
        return found

    def keep(self, ids: Sequence[int]) -> None:
        """Keep the blocks of a prompt."""
        known = self.known
        for one in ids:
            known[one] = None
            known.move_to_end(one)
        while len(known) > self.room:
            known.popitem(last=False)


def route(
    blocks: Sequence[Sequence[int]],
    block: int,
    prompt: Sequence[int],
    at: Sequence[float],
    replicas: int,
    room: int,
    how: str,
    kept: Sequence[Sequence[int]] = (),
    ready: Callable[[float], Sequence[int]] | None = None,
) -> tuple[list[int], list[int]]:
    """Replica of each request, and tokens of its prompt that are cached there.

    Parameters
    ----------
    blocks
        Hashes of each prompt's blocks; empty where nothing is known of prefixes.
    block
        Tokens of a block.
    at
        When requests come, in order [s].
    room
        Tokens that fit in the cache of a replica.
    how
        One of `ROUTINGS`.
    kept
        Hashes of the blocks that are cached when a request was answered; empty for those of its prompt.
    ready
        The replicas that take requests at a time [s]; None for all at any time.
    """
    every = range(replicas)
    caches = [Cache(max(0, room // block)) for _ in range(replicas)]
    under_way = [deque[float]() for _ in range(replicas)]
    chosen: list[int] = []
    found: list[int] = []
    for number, now in enumerate(at):
        for one in under_way:
            while one and one[0] <= now - STAY.value:
                one.popleft()
        ids = blocks[number] if blocks else ()
        open_now = every if ready is None else ready(now)
        if how == "turns":
            which = open_now[number % len(open_now)]
        else:
            near = [caches[k] for k in open_now]
            which = open_now[_choose_replica(near, [len(under_way[k]) for k in open_now], ids, how)]
        hits = caches[which].hits(ids)
        caches[which].keep(kept[number] if kept else ids)
        under_way[which].append(now)
        chosen.append(which)
        # the last token is always computed
        found.append(min(hits * block, prompt[number] - 1))
    return chosen, found


def _choose_replica(caches: Sequence[Cache], counts: Sequence[int], ids: Sequence[int], how: str) -> int:
    fewest = counts.index(min(counts))
    uneven = max(counts) - min(counts) > MORE.value and max(counts) > TIMES.value * min(counts)
    if how == "fewest" or not ids or uneven:
        return fewest
    hits = [cache.hits(ids) for cache in caches]
    best = max(range(len(hits)), key=lambda k: (hits[k], -counts[k]))
    return best if hits[best] >= FOUND.value * len(ids) else fewest
