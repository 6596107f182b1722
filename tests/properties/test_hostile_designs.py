"""Design files changed at random are refused on opening, with place and remedy, or can be elaborated and routed."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from designer.engine.network import build_network
from designer.errors import DesignerError
from designer.interchange.native.reader import Loaded, loads
from tests.budget import seeds

#: files above this take too long here [B]
_LARGEST = 150_000
_TRIES = 60
_VALUES: tuple[Any, ...] = (
    *("", " ", "a/b", "../x", "*", "x[0]", "x[99999]", "é" * 300, "NaN", "-5 GB/s", "0 GB/s", "1e300 GB/s", "10 ms"),
    *("gpus", "cpu0", "servers[0]/gpu0", "pcie", "nvlink", "switch", "training", "1-2", "\u202e"),
    *(None, True, 0, -1, 1.5, 1e308, 2**63, 10**30, [], {}, [1], {"a": 1}),
)


@cache
def _files() -> list[str]:
    found = sorted((Path(__file__).resolve().parents[2] / "templates").glob("*.design.json"))
    return [path.read_text(encoding="utf-8") for path in found if path.stat().st_size < _LARGEST]


def _places(node: Any) -> list[tuple[Any, Any]]:
    """Every object or list of a document with each of its keys."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    found: list[tuple[Any, Any]] = []
    for key, value in list(items):
        found += [(node, key), *_places(value)]
    return found


def _changed(draw: random.Random) -> str:
    """A template in which up to three things were replaced, deleted, doubled or moved."""
    document = json.loads(draw.choice(_files()))
    for _ in range(draw.randint(1, 3)):
        places = _places(document["design"])
        holder, key = draw.choice(places)
        if not isinstance(holder, list) and key not in holder:
            continue
        kind = draw.randrange(4)
        if kind == 0:
            holder[key] = draw.choice(_VALUES)
        elif kind == 1:
            del holder[key]
        elif kind == 2 and isinstance(holder, list):
            holder.append(json.loads(json.dumps(holder[key])))
        else:
            other, name = draw.choice([place for place in places if place[1] == key])
            holder[key] = json.loads(json.dumps(other[name]))
    return json.dumps(document)


def _read(text: str) -> tuple[DesignerError | None, Loaded | None]:
    try:
        return None, loads(text, "changed.design.json")
    except DesignerError as refusal:
        return refusal, None


@pytest.mark.parametrize("seed", seeds(3, 40))
def test_what_opens_can_be_worked_with(seed: int) -> None:
    """A wiring to nothing used to open, and every answer was refused then."""
    draw = random.Random(seed)
    opened = 0
    for _ in range(_TRIES):
        text = _changed(draw)
        refusal, loaded = _read(text)
        if loaded is None:
            assert refusal is not None
            assert refusal.place, refusal.text
            assert refusal.remedy, refusal.text
            continue
        opened += 1
        misfits = [finding.text for finding in loaded.findings if finding.code == "DOC-WIRING"]
        # a pattern that does not fit the numbers of its parts opens to be mended, and is said
        assert not [text for text in misfits if "chooses no parts" in text or "there is no" in text]
        if not misfits:
            build_network(loaded.design)
    assert 0 < opened < _TRIES
