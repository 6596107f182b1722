"""Many texts for the language of design tests: each is judged or refused, quickly, and nothing else happens."""

from __future__ import annotations

import random
import time

import pytest

from designer.checks.runner import Promise, State, judge
from designer.checks.world import World
from designer.design.document import Design
from tests.unit.checks.test_language import HELD, WRONG, spelled

pytestmark = pytest.mark.long
TEXTS = 300_000
#: no text may take longer, in processor time [s]
SLOWEST = 0.1


def test_many_texts() -> None:
    chance, world, pieces = random.Random(7), World(Design(name="d")), spelled()
    right = [*HELD, *(text for text, _, _ in WRONG)]
    slow: list[str] = []
    for number in range(TEXTS):
        # words, words without spaces, characters, which are refused at the first, and mutations of what is right
        kind = number % 10
        if kind < 3:
            text = " ".join(chance.choices(pieces, k=chance.randrange(1, 24)))
        elif kind < 6:
            text = "".join(chance.choices(pieces, k=chance.randrange(1, 24)))
        elif kind == 6:
            text = "".join(chr(chance.randrange(1, 0xD7FF)) for _ in range(chance.randrange(1, 40)))
        else:
            seed = list(chance.choice(right)) or [" "]
            for _ in range(chance.randrange(1, 5)):
                seed[chance.randrange(len(seed)) : chance.randrange(len(seed) + 1)] = chance.choice(pieces)
                seed = seed or [" "]
            text = "".join(seed)
        begun = time.process_time()
        outcome = judge(world, Promise("p", text))
        if time.process_time() - begun > SLOWEST:
            slow.append(text)
        assert outcome.state in State, text
    # the first text of its kind loads what it needs, and a pause to collect garbage hits anyone
    assert not [text for text in slow if min(_seconds(text) for _ in range(3)) > SLOWEST]


def _seconds(text: str) -> float:
    """Processor time of one text in a design nobody asked before [s]."""
    world = World(Design(name="d"))
    begun = time.process_time()
    judge(world, Promise("p", text))
    return time.process_time() - begun
