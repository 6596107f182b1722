"""Agents: sessions of turns, each of which sends all that was said before, what was answered, and what a tool gave."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from designer.families.serving.deployment import Load
from designer.families.serving.engine_state import Requests
from designer.families.serving.routing import route

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
        found = _elsewhere(found, (prompt + output).ravel().tolist(), load, replicas, agents)
    requests = Requests(tokens, output.ravel().tolist(), clients=agents, cached=found, pause=pause.ravel().tolist())
    return requests, agents * load.turns * min(load.warm_up, load.waves - 1)


def _blocks(count: int, session: int, common: int) -> range | tuple[int, ...]:
    """Blocks of a prompt: the first are those of every session, the others its own."""
    begin = (session + 1) * _SESSION_LIMIT
    if not common:
        return range(begin, begin + count)
    return (*range(min(common, count)), *range(begin + common, begin + max(common, count)))


def _elsewhere(found: list[int], tokens: list[int], load: Load, replicas: int, agents: int) -> list[int]:
    """What is found where each turn goes to the next replica: what was sent to it that many turns ago."""
    kept: list[int] = []
    for number, hits in enumerate(found):
        turn = number // agents % load.turns
        before = number - replicas * agents
        shared = int(load.prompt * load.prefix)
        kept.append(min(hits, tokens[before]) if turn >= replicas else min(hits, shared))
    return kept
