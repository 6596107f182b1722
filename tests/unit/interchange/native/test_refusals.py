"""Whatever is broken in a design file, its refusal names file, place and remedy, and is shorter than a page."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from typing import Any

import pytest

from designer.errors import DesignerError
from designer.interchange.native.envelope import FORMAT, VERSION
from designer.interchange.native.reader import load, loads
from designer.interchange.native.writer import dumps
from designer.resources import templates
from tests.designs import one_unit

_PAGE = 2000
_TRIES = 600
#: values that stand where another kind of thing, or another size, belongs
_WRONG: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    10**12,
    10**38,
    1.5,
    "",
    "x",
    "**",
    "gpu*",
    "servers[*]/gpu0",
    "servers[9999]/gpu0",
    "400 parsecs",
    "\u202e",
    "é" * 3000,
    "a/b/c",
    [],
    {},
    [[]],
    {"id": "x"},
    [{"id": "x"}],
    "servers[0-3]/gpu0",
    "{0-99999999}",
    "[",
    "]/",
)


def places(thing: Any) -> Iterator[tuple[Any, Any]]:
    """Every container of a JSON document with each of its keys."""
    if isinstance(thing, dict):
        for key, value in thing.items():
            yield thing, key
            yield from places(value)
    elif isinstance(thing, list):
        for k, value in enumerate(thing):
            yield thing, k
            yield from places(value)


def broken(text: str, rng: random.Random) -> str:
    """The text of a design with one to three things made wrong."""
    document = json.loads(text)
    for _ in range(rng.randint(1, 3)):
        container, key = rng.choice(list(places(document)))
        how = rng.random()
        if how < 0.15:
            del container[key]
        elif how < 0.25 and isinstance(container, dict):
            container[rng.choice(["surprise", "id", "kind", "x" * 5000, "a\nb"])] = container.pop(key)
        elif how < 0.35 and isinstance(container, list):
            container.append(container[key])
        else:
            container[key] = rng.choice(_WRONG)
    made = json.dumps(document)
    if rng.random() < 0.1:
        cut = rng.randrange(len(made))
        made = made[:cut] + rng.choice(["", "NaN", "{", '"', "\\ud800"]) + made[cut + rng.randint(0, 3) :]
    return made


@pytest.mark.parametrize("which", ["unit", "template"])
def test_every_refusal_names_file_place_and_remedy(which: str) -> None:
    """Of 20,000 refusals 558 named no place, and 29 were longer than a page."""
    text = dumps(one_unit(2)) if which == "unit" else dumps(load(templates() / _SMALL).design)
    rng = random.Random(which)
    refusals: list[DesignerError] = []
    for _ in range(_TRIES):
        made = broken(text, rng)
        start = time.monotonic()
        try:
            loads(made, "mine.design.json")
        except DesignerError as error:
            refusals.append(error)
        assert time.monotonic() - start < 5
    assert len(refusals) > _TRIES / 4
    for stated in refusals:
        assert stated.file == "mine.design.json"
        assert stated.place, str(stated)
        assert stated.remedy, str(stated)
        assert len(str(stated)) < _PAGE, str(stated)[:500]


_SMALL = "azure-ncv4-a100-pcie.design.json"
_GPU = {"id": "g", "kind": "gpu"}


def loaded(content: dict[str, Any]) -> Any:
    """A design with that content, read as a file."""
    return loads(
        json.dumps({"format": FORMAT, "version": VERSION, "design": {"name": "x", **content}}), "x.design.json"
    )


@pytest.mark.parametrize("end", ["**", "*", "g*", "q[*]/g", "q[0-1]/g"])
def test_a_link_that_ends_at_several_parts_is_refused(end: str) -> None:
    """Such a design opened, and failed at whatever was done next."""
    content = {
        "parts": [_GPU, {"id": "b", "kind": "gpu"}],
        "groups": [{"id": "q", "replicas": 2, "content": {"parts": [_GPU]}}],
        "links": [{"id": "l", "kind": "pcie", "a": "b", "b": end}],
    }
    with pytest.raises(DesignerError, match="several parts") as refused:
        loaded(content)
    assert refused.value.place == "design.links.l.b"


def test_many_wirings_are_refused_before_any_is_made() -> None:
    """A design of two kilobytes was read for 25 seconds and took a gigabyte."""
    every = {"pattern": "mesh", "a": "a[*]/g", "b": "a[*]/g", "kind": "pcie"}
    content = {
        "groups": [{"id": "a", "replicas": 1000, "content": {"parts": [_GPU]}}],
        "wirings": [{"id": f"w{i}", **every} for i in range(25)],
    }
    start = time.monotonic()
    findings = loaded(content).findings
    assert time.monotonic() - start < 3
    assert any("with those before it, more than" in f.text for f in findings)


def test_replicas_of_connected_groups_are_refused_before_they_are_made() -> None:
    connected = {
        "groups": [{"id": "a", "replicas": 300, "content": {"parts": [_GPU]}}],
        "wirings": [{"id": "w", "pattern": "mesh", "a": "a[*]/g", "b": "a[*]/g", "kind": "pcie"}],
    }
    start = time.monotonic()
    findings = loaded({"groups": [{"id": "outer", "replicas": 1000, "content": connected}]}).findings
    assert time.monotonic() - start < 3
    assert any("the group makes 44,850,000 links" in f.text for f in findings)
