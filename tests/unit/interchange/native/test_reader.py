"""Reading design files: what is read, and what is refused with its place."""

from __future__ import annotations

import json
import os
import random
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from designer.design.document import Design
from designer.errors import DesignerError, FormatError
from designer.findings import Finding, Severity
from designer.interchange.native.envelope import FORMAT, VERSION, written_by
from designer.interchange.native.reader import Upgrade, load, loads, read_raw, upgrades
from designer.interchange.native.writer import dumps, save
from designer.resources import templates
from tests.designs import one_server, one_unit

# Reading design files: what opens, and one clear error for everything else.


def envelope(design: Any = None, **changes: Any) -> str:
    """The text of a file."""
    content = {"format": "designer-design", "version": 1, "design": {"name": "x"} if design is None else design}
    return json.dumps({**content, **changes})


def named(**content: Any) -> str:
    """The text of a file with a design of some content."""
    return envelope({"name": "x", **content})


def one_link(**changes: Any) -> str:
    """The text of a file with one link."""
    return named(links=[{"id": "l", "a": "a", "b": "b", "kind": "pcie", **changes}])


def nested(depth: int) -> Any:
    """Objects within objects."""
    thing: Any = 1
    for _ in range(depth):
        thing = {"a": thing}
    return thing


def groups(depth: int) -> dict[str, Any]:
    """Groups within groups."""
    content: dict[str, Any] = {"parts": [{"id": "gpu", "kind": "gpu"}]}
    for _ in range(depth):
        content = {"groups": [{"id": "g", "replicas": 1, "content": content}]}
    return {"name": "x", **content}


TEXTS: dict[str, tuple[str | bytes, str, str]] = {
    "empty": (b"", "empty", ""),
    "blank": (b" \n\t", "empty", ""),
    "zeros": (b"\0" * 4096, "nothing but zeros", ""),
    "zeros inside": (b'{"format": "\0"}', "zero bytes", "byte 12"),
    "utf-16": ("{}".encode("utf-16"), "UTF-16", "byte 0"),
    "latin-1": ('{\n"a": "é"}'.encode("latin-1"), "not UTF-8", "line 2, byte 8"),
    "truncated": (dumps(one_server())[:3000], "ends in the middle", "line 17"),
    "truncated string": ('{"format": "desig', "ends in the middle", "line 1, column 12"),
    "no json": ("hello", "not JSON", "line 1, column 1"),
    "trailing comma": ('{"a": 1,\n}', "not JSON", "line 2, column 1"),
    "two documents": ("{}\n{}", "not JSON", "line 2, column 1"),
    "list": ("[]", "not a design file", "format"),
    "number": ("1", "not a design file", "format"),
    "other format": ('{"format": "topology"}', "not a design file", "format"),
    "repeated key": ('{"a": {"b": 1},\n "b": {"b": 1, "b": 2}}', "'b' occurs twice", "line 2, column 16"),
    "nan": ('{"a": [1,\n NaN]}', "NaN is not a number", "line 2, column 2"),
    "infinity": ('{"a": -Infinity}', "-Infinity is not a number", "line 1, column 7"),
    "overflow": ('{"a": 1e999}', "1e999 is too large", "line 1, column 7"),
    "huge number": ('{"a": ' + "7" * 100_000 + "}", "100000 digits", "line 1, column 7"),
    "deep lists": ("[" * 100_000 + "]" * 100_000, "nested more than 200 deep", ""),
    "deep objects": (json.dumps(nested(300)), "nested more than 200 deep", ""),
    "half a character": (envelope({"name": "\ud800"}), "half a character", ""),
    "no version": (envelope(version=None), "version is missing", "version"),
    "true version": (envelope(version=True), "version is missing", "version"),
    "zeroth version": (envelope(version=0), "version is missing", "version"),
    "newer": (envelope(version=7, written_by="designer 3.1"), "reads up to 1 — open it with designer 3.1", "version"),
    "newer by nobody": (envelope(version=7), "open it with a newer designer", "version"),
    "newer by this one": (
        envelope(version=7, written_by=written_by()),
        "open it with a newer designer",
        "version",
    ),
    "no design": (envelope([]), "design is missing", "design"),
    "no name": (envelope({}), "it is missing", "design.name"),
    "unknown field": (envelope({"name": "x", "colour": 1}), "no such field", "design.colour"),
    "no id": (envelope({"name": "x", "parts": [{"kind": "gpu"}]}), "every item needs an id", "design.parts"),
    "twin": (
        envelope({"name": "x", "parts": [{"id": "a", "kind": "gpu"}] * 2}),
        "'a' exists twice — give one of them another id",
        "design.parts",
    ),
    "bad id": (named(parts=[{"id": "a/b", "kind": "gpu"}]), "cannot be an id", "design.parts.a/b.id"),
    "no unit": (
        one_link(bandwidth_per_direction="400"),
        '400 GB/s" for gigabytes',
        "design.links.l.bandwidth_per_direction",
    ),
    "number for a rate": (
        one_link(bandwidth_per_direction=5),
        'in quotes, a quantity with its unit, for example "400 Gb/s"',
        "design.links.l.bandwidth_per_direction",
    ),
    "unknown unit": (
        one_link(bandwidth_per_direction="4 Q/s"),
        "not a unit of rate",
        "design.links.l.bandwidth_per_direction",
    ),
    "several": (envelope({"name": "", "parts": [{"id": "a"}, {"id": "b"}]}), "and 2 more", "design.parts.a.kind"),
    "replicas": (
        envelope({"name": "x", "groups": [{"id": "g", "replicas": 10**9, "content": {}}]}),
        "less than or equal to 1000000",
        "design.groups.g.replicas",
    ),
    "circle": (
        named(parts=[{"id": "a", "kind": "x", "parent": "b"}, {"id": "b", "kind": "x", "parent": "a"}]),
        "contains itself",
        "design.parts.a.parent",
    ),
    "deep groups": (envelope(groups(40)), "24 deep", "design.groups"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_a_bad_text_is_one_clear_error_at_its_place(case: str) -> None:
    text, says, place = TEXTS[case]
    with pytest.raises(FormatError) as caught:
        loads(text, file="x.design.json")
    assert says in str(caught.value)
    assert (caught.value.place or "").startswith(place)
    assert caught.value.file == "x.design.json"
    assert caught.value.remedy
    assert len(str(caught.value)) < 500


def test_hostile_sizes_are_refused_quickly_and_in_little_memory() -> None:
    gpu, every = {"id": "gpu", "kind": "gpu"}, "g[*]/gpu"
    million = {"id": "g", "replicas": 10**6, "content": {"parts": [gpu]}}
    hostile = [
        {"groups": [{**million, "content": {"groups": [million]}}]},
        {"groups": [million], "wirings": [{"id": "w", "kind": "pcie", "pattern": "mesh", "a": every, "b": every}]},
    ]
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    with pytest.raises(FormatError, match="more than"):
        loads(envelope({"name": "x", **hostile[0]}))
    findings = loads(envelope({"name": "x", **hostile[1]})).findings
    assert [f.severity for f in findings] == [Severity.ERROR]
    assert "the wiring makes" in findings[0].text
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000
    assert time.monotonic() - start < 30


def test_random_damage_never_escapes_as_another_error() -> None:
    text = dumps(one_unit(2))
    rng = random.Random(7)
    for _ in range(300):
        data = bytearray(text.encode())
        for _ in range(1 + rng.randrange(4)):
            at = rng.randrange(len(data))
            data[at : at + rng.randrange(9)] = bytes(rng.choices(b'{}[]",:0123456789aeE.-+ntfu\\/', k=rng.randrange(9)))
        try:
            loads(bytes(data))
        except DesignerError as error:
            assert error.text  # noqa: PT017


def test_what_was_written_reads_back_equal_and_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "unit.design.json"
    save(one_unit(3), path)
    loaded = load(path)
    assert loaded.design == one_unit(3)
    assert loaded.findings == []
    save(loaded.design, path)
    assert path.read_text(encoding="utf-8") == dumps(one_unit(3))
    assert loads(b"\xef\xbb\xbf" + path.read_bytes()).design == one_unit(3)
    assert loads("\ufeff" + dumps(one_unit(3))).design == one_unit(3)


def test_unknown_kinds_are_kept_unchanged() -> None:
    part = {
        "id": "q",
        "kind": "quantum",
        "type": "quantum/acme/q1",
        "overrides": {"qubits": {"value": "50 kQ"}},
        "attributes": {"fridge": "yes"},
    }
    type_ = {"id": "quantum/acme/q1", "kind": "quantum", "title": "Q1", "values": {"coherence": {"value": "9 widgets"}}}
    link = {"id": "l", "kind": "entangled", "a": "q", "b": "r"}
    content = {
        "name": "x",
        "parts": [part, {"id": "r", "kind": "quantum"}],
        "part_types": [type_],
        "links": [link],
        "workloads": [{"id": "w", "kind": "annealing", "settings": {"deep": nested(150)}}],
    }
    loaded = loads(envelope(content))
    assert {f.code for f in loaded.findings} == {"DOC-KIND"}
    assert json.loads(dumps(loaded.design))["design"] == content


def test_what_stands_beside_the_design_is_reported() -> None:
    assert [f.code for f in loads(envelope(extra=1)).findings] == ["FMT-UNKNOWN"]


def test_an_older_file_is_upgraded_step_by_step() -> None:
    def first(raw: dict[str, Any]) -> tuple[dict[str, Any], list[Finding]]:
        raw["intent"] = raw.pop("purpose")
        return raw, [Finding("FMT-UNKNOWN", Severity.WARNING, "purpose is now intent")]

    def second(raw: dict[str, Any]) -> tuple[dict[str, Any], list[Finding]]:
        return {**raw, "title": raw["intent"].upper()}, []

    steps = {1: Upgrade("v1_to_v2", 1, first), 2: Upgrade("v2_to_v3", 2, second)}
    content = json.loads(envelope({"name": "x", "purpose": "train"}))
    loaded = read_raw(content, steps, version=3)
    assert loaded.design == Design(name="x", intent="train", title="TRAIN")
    assert [f.code for f in loaded.findings] == ["FMT-UNKNOWN"]
    current = json.loads(envelope({"name": "x", "intent": "train"}, version=3))
    assert read_raw(current, steps, version=3).design.title == ""
    with pytest.raises(AssertionError, match="no upgrade from version 2"):
        read_raw(json.loads(envelope({"name": "x", "purpose": "y"})), {1: steps[1]}, version=3)


def test_the_steps_of_this_program_lead_to_its_version() -> None:
    assert sorted(upgrades()) == list(range(1, VERSION))


def test_places_that_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "fifo").unlink(missing_ok=True)
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "empty").touch()
    for name, text in (
        ("", "folder"),
        ("fifo", "no plain file"),
        ("gone", "no such file"),
        ("dangling", "no such file"),
        ("loop", "cannot be read"),
        ("empty", "empty"),
        ("a" * 300, "cannot be read"),
        ("a\0b", "cannot be read"),
        ("/dev/zero", "no plain file"),
        ("x/y", "no such file"),
        ("empty/x", "cannot be read"),
    ):
        with pytest.raises(FormatError, match=text) as caught:
            load(tmp_path / name)
        assert caught.value.file
        assert caught.value.remedy


def test_a_link_to_a_file_is_followed(tmp_path: Path) -> None:
    save(one_server(), tmp_path / "real.design.json")
    (tmp_path / "link").symlink_to(tmp_path / "real.design.json")
    assert load(tmp_path / "link").design == one_server()
    save(one_unit(2), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert load(tmp_path / "real.design.json").design == one_unit(2)


def test_a_large_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(FormatError, match="1,000,000 MB, more than 256 MB"):
        load(path)


# Whatever is broken in a design file, its refusal names file, place and remedy, and is shorter than a page.

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
