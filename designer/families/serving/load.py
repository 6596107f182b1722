"""What is sent to one replica: arrivals and lengths drawn from a load, or read from a trace; routing."""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from designer.errors import AnalysisError, DesignerError
from designer.families.serving.deployment import Load
from designer.families.serving.engine_state import Requests
from designer.families.serving.traces import lengths, read_trace
from designer.sources import Constant, Status
from designer.units import format_quantity

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


Float = npt.NDArray[np.float64]

#: gaps less regular than this are drawn as two kinds of gaps, more regular ones as a sum of equal parts
_EVEN_TOLERANCE: Final = 1e-9
#: a trace is at its own rate up to so much [logarithm]
_SAME_RATE_TOLERANCE: Final = 0.01
#: more requests than this to one replica add nothing, and take minutes
_LOOKED_LIMIT: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Sent:
    """What one replica gets.

    Parameters
    ----------
    requests
        In order.
    first
        The first that is counted.
    notes
        What a reader should know of it.
    blocks, block
        Of a trace that one replica gets whole: hashes of each prompt's blocks, and the tokens of a block; else empty.
    """

    requests: Requests
    first: int
    notes: tuple[str, ...] = ()
    blocks: Sequence[Sequence[int]] = ()
    block: int = 0


def sent_to_one(load: Load, replicas: int, place: str, room: int = 0) -> Sent:
    """The requests of the first of `replicas`, which take turns; see `sent_to`."""
    return sent_to(load, replicas, 0, place, room)


def sent_to(load: Load, replicas: int, which: int, place: str, room: int = 0) -> Sent:
    """The requests of one of `replicas`, which take turns.

    Parameters
    ----------
    room
        Tokens that fit in its cache, for how much of a trace's prefixes is found there.

    Raises
    ------
    AnalysisError
        If a trace cannot be read, or more requests are to be looked at than anybody waits for.
    """
    sent = _sent_to(load, replicas, which, place, room)
    if not load.seen:
        return sent
    prompt = [tokens + load.seen for tokens in sent.requests.prompt]
    return replace(sent, requests=replace(sent.requests, prompt=prompt))


def _sent_to(load: Load, replicas: int, which: int, place: str, room: int) -> Sent:
    """The requests of one replica without their images."""
    _require_few(load, replicas, place)
    draw = np.random.default_rng(load.seed)
    own = draw if not which else np.random.default_rng((load.seed, which))
    if load.kind == "trace":
        return _of_trace(load, replicas, place, room, which)
    if load.kind == "agents":
        return Sent(*agents_of(load, replicas, which, room))
    if load.kind == "clients":
        clients = math.ceil(load.clients / replicas)
        count = clients * load.waves
        prompt, output = _lengths(load, count, own)
        requests = Requests(prompt, output, clients=clients, cached=_cached_tokens(load, prompt))
        return Sent(requests, clients * load.warm_up)
    prompt, output = _lengths(load, load.count, own)
    if load.kind == "offline":
        return Sent(Requests(prompt, output, [0.0] * load.count, cached=_cached_tokens(load, prompt)), 0)
    if which:
        # all see the arrivals that the first one sees
        _lengths(load, load.count, draw)
    at = arrivals(load, load.count * replicas, draw)[which::replicas]
    # the engine begins empty: the first tenth fills it; of a load that changes every part counts, the first as well
    first = 0 if load.profile else load.count // FILLING_LIMIT
    return Sent(Requests(prompt, output, at.tolist(), cached=_cached_tokens(load, prompt)), first)


def _require_few(load: Load, replicas: int, place: str) -> None:
    clients = load.kind in ("clients", "agents")
    each = load.waves * (load.turns if load.kind == "agents" else 1)
    count = math.ceil(load.clients / replicas) * each if clients else load.count
    if load.kind != "trace" and count > _LOOKED_LIMIT:
        raise AnalysisError(
            f"{count:,} requests to each replica are too many to look at",
            place=f"{place}.{'clients' if clients else 'count'}",
            remedy=f"{'ask for fewer clients, or fewer requests of each' if clients else 'look at fewer'}: "
            f"{_LOOKED_LIMIT:,} to a replica at most",
        )


#: one request in so many fills an engine that begins empty, and is not counted
FILLING_LIMIT: Final = 10


def _cached_tokens(load: Load, prompt: Sequence[int]) -> Sequence[int]:
    return [int(p * load.prefix) for p in prompt] if load.prefix > 0 else ()


def _lengths(load: Load, count: int, draw: np.random.Generator) -> tuple[list[int], list[int]]:
    if load.lengths:

        def choose(weights: Sequence[float], n: int) -> Sequence[int]:
            share = np.array(weights, dtype=np.float64)
            return draw.choice(len(share), n, p=share / share.sum()).tolist()

        return lengths(load.lengths).draw(count, draw.random, choose)

    def one(mean: int) -> list[int]:
        way = int(mean * load.spread)
        return draw.integers(max(1, mean - way), mean + way, count, endpoint=True).tolist()

    return one(load.prompt), one(load.output)


def offered(load: Load, requests: Requests, replicas: int = 1) -> float:
    """Requests a second that are sent to each of so many replicas [1/s]; 0 where they have no times of their own.

    Of a rate it is what was asked for, and not what so many requests drawn happen to come to.
    """
    at = requests.at
    if load.kind not in ("rate", "trace") or len(at) < 2 or at[-1] <= at[0]:
        return 0.0
    return load.rate / replicas if load.kind == "rate" else (len(at) - 1) / (at[-1] - at[0])


def arrivals(load: Load, count: int, draw: np.random.Generator) -> Float:
    """Times of `count` requests [s]: gaps of the given variation, at a rate that may change with time."""
    if load.variation <= _EVEN_TOLERANCE:
        gaps = np.ones(count)
    elif load.variation <= 1:
        shape = 1 / load.variation**2
        gaps = draw.gamma(shape, 1 / shape, count)
    else:
        # two kinds of gaps with equal shares of the time: short ones within bursts, long ones between
        square = load.variation**2
        often = (1 + math.sqrt((square - 1) / (square + 1))) / 2
        short = draw.random(count) < often
        gaps = draw.exponential(1.0, count) / np.where(short, 2 * often, 2 * (1 - often))
    at = np.cumsum(gaps)
    if not load.profile:
        return at / load.rate
    share = np.array(load.profile, dtype=np.float64)
    share /= share.mean()
    edges = np.linspace(0.0, max(float(at[-1]), float(count)), len(share) + 1)
    reached = np.concatenate([[0.0], np.cumsum(share * np.diff(edges))])
    return np.interp(at, reached, edges) / load.rate


def _of_trace(load: Load, replicas: int, place: str, room: int, which: int = 0) -> Sent:
    try:
        trace = read_trace(Path(load.trace))
    except DesignerError as error:
        at = f"{place}.trace" if not error.place else f"{place}.trace, {error.place}"
        raise AnalysisError(error.text, file=error.file, place=at, remedy=error.remedy) from None
    at, prompt, output = list(trace.at), list(trace.prompt), list(trace.output)
    notes = trace.notes
    if load.rate > 0 and at[-1] > 0:
        own_rate = (len(at) - 1) / at[-1]
        at = [t * own_rate / load.rate for t in at]
        if abs(math.log(own_rate / load.rate)) > _SAME_RATE_TOLERANCE:
            asked, had = format_quantity(load.rate, "frequency"), format_quantity(own_rate, "frequency")
            notes = (*notes, f"requests come at {asked} instead of the {had} of the trace, which a rate of 0 leaves")
    chosen, found = route(trace.blocks, trace.block, prompt, at, replicas, room, load.routing)
    cached: Sequence[int] = _cached_tokens(load, prompt) or (found if trace.blocks else ())
    mine = [i for i, replica in enumerate(chosen) if replica == which]

    def own(values: Sequence[Any]) -> list[Any]:
        return [values[i] for i in mine]

    requests = Requests(own(prompt), own(output), own(at), cached=own(cached) if cached else ())
    whole = replicas == 1 and not load.prefix
    return Sent(requests, 0, notes, trace.blocks if whole else (), trace.block)


# Agents: sessions of turns, each of which sends all that was said before, what was answered, and what a tool gave.

#: tokens of a block that prompts are compared by
_BLOCK_LIMIT: Final = 64
#: more blocks than a session ever has
_SESSION_LIMIT: Final = 2**32


def agents_of(load: Load, replicas: int, which: int, room: int) -> tuple[Requests, int]:
    """The requests of the agents of one replica, and the first that counts.

    Parameters
    ----------
    room
        Tokens that fit in the cache of a replica.

    Notes
    -----
    Turn t of a session sends its first prompt, all answers before and t - 1 results of tools. Request i of an agent
    is followed by request i + agents, after a pause in which its tool runs.
    """
    agents = math.ceil(load.clients / replicas)
    draw = np.random.default_rng(load.seed if not which else (load.seed, which))
    rounds = load.waves * load.turns

    def sizes_of(mean: int) -> np.ndarray:
        way = int(mean * load.spread)
        least, most = max(1, mean - way), max(1, mean + way)
        return draw.integers(least, most, (rounds, agents), endpoint=True)

    first, output = sizes_of(load.prompt), sizes_of(load.output)
    added = sizes_of(load.tool_tokens) if load.tool_tokens else np.zeros((rounds, agents), dtype=np.int64)
    pause = draw.exponential(load.pause, (rounds, agents)) if load.pause > 0 else np.zeros((rounds, agents))
    prompt = np.zeros((rounds, agents), dtype=np.int64)
    for turn in range(rounds):
        new = turn % load.turns == 0
        prompt[turn] = first[turn] if new else prompt[turn - 1] + output[turn - 1] + added[turn]
        if new:
            pause[turn] = 0.0
    common = int(load.prompt * load.prefix) // _BLOCK_LIMIT
    blocks, kept = (
        [
            _blocks(int(sizes[turn, agent]) // _BLOCK_LIMIT, (turn // load.turns) * agents + agent, common)
            for turn in range(rounds)
            for agent in range(agents)
        ]
        for sizes in (prompt, prompt + output)
    )
    tokens: list[int] = prompt.ravel().tolist()
    order = [float(i) for i in range(rounds * agents)]
    # agents take their turns one after the other, so what is forgotten is what was used longest ago
    found = route(blocks, _BLOCK_LIMIT, tokens, order, 1, room, "turns", kept)[1]
    if load.routing == "turns" and replicas > 1:
        found = _cached_after_turns(found, (prompt + output).ravel().tolist(), load, replicas, agents)
    requests = Requests(tokens, output.ravel().tolist(), clients=agents, cached=found, pause=pause.ravel().tolist())
    return requests, agents * load.turns * min(load.warm_up, load.waves - 1)


def _blocks(count: int, session: int, common: int) -> range | tuple[int, ...]:
    """Blocks of a prompt: the first are those of every session, the others its own."""
    begin = (session + 1) * _SESSION_LIMIT
    if not common:
        return range(begin, begin + count)
    return (*range(min(common, count)), *range(begin + common, begin + max(common, count)))


def _cached_after_turns(found: list[int], tokens: list[int], load: Load, replicas: int, agents: int) -> list[int]:
    """What is found where each turn goes to the next replica: what was sent to it that many turns ago."""
    kept: list[int] = []
    for number, hits in enumerate(found):
        turn = number // agents % load.turns
        before = number - replicas * agents
        shared = int(load.prompt * load.prefix)
        kept.append(min(hits, tokens[before]) if turn >= replicas else min(hits, shared))
    return kept
