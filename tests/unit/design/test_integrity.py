"""What is wrong with a whole document, with its place and remedy."""

from __future__ import annotations

from typing import Any

import pytest

from designer.design.document import Design
from designer.design.integrity import MAX_PROBLEMS, demand_sound, examine
from designer.errors import DocumentError
from tests.designs import one_server, one_unit, pods


def design(**content: Any) -> Design:
    """A design of raw content."""
    return Design.model_validate({"name": "x", **content})


GPU = {"id": "gpu", "kind": "gpu"}
BOX = {"id": "box", "replicas": 2, "content": {"parts": [GPU]}}
WIRING = {"id": "w", "kind": "pcie", "pattern": "mesh", "a": "box[*]/gpu", "b": "box[*]/gpu"}
REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "dangling parent": ({"parts": [{**GPU, "parent": "x"}]}, "parts.gpu.parent", "does not exist"),
    "own parent": ({"parts": [{**GPU, "parent": "gpu"}]}, "parts.gpu.parent", "contains itself"),
    "circle": (
        {"parts": [{**GPU, "parent": "b"}, {**GPU, "id": "b", "parent": "c"}, {**GPU, "id": "c", "parent": "gpu"}]},
        "parts.gpu.parent",
        "contains itself",
    ),
    "dangling end": (
        {"parts": [GPU], "links": [{"id": "l", "kind": "pcie", "a": "gpu", "b": "x"}]},
        "links.l.b",
        "does not exist",
    ),
    "end in no member": (
        {"groups": [BOX], "links": [{"id": "l", "kind": "pcie", "a": "box[0]/gpu", "b": "box[2]/gpu"}]},
        "links.l.b",
        "does not exist",
    ),
    "self link": (
        {"parts": [GPU], "links": [{"id": "l", "kind": "pcie", "a": "gpu", "b": "gpu"}]},
        "links.l",
        "same part",
    ),
    "wiring pattern": (
        {"groups": [BOX], "wirings": [{**WIRING, "pattern": "knot"}]},
        "wirings.w.pattern",
        "no wiring pattern 'knot'",
    ),
    "wiring to no part": (
        {"groups": [BOX], "wirings": [{**WIRING, "b": "y"}]},
        "wirings.w.b",
        "'y' chooses no parts",
    ),
    "wiring to no group": (
        {"groups": [BOX], "wirings": [{**WIRING, "a": "boxes[*]/gpu"}]},
        "wirings.w.a",
        "chooses no parts",
    ),
    "wiring to no member": (
        {"groups": [BOX], "wirings": [{**WIRING, "b": "box[0-2]/gpu"}]},
        "wirings.w.b",
        "chooses no parts",
    ),
    "group parent": ({"groups": [{**BOX, "parent": "x"}]}, "groups.box.parent", "does not exist"),
    "exception": ({"groups": [{**BOX, "exceptions": {2: {}}}]}, "groups.box.exceptions.2", "outside the group of 2"),
    "inside a group": (
        {"groups": [{**BOX, "content": {"parts": [{**GPU, "parent": "y"}]}}]},
        "groups.box.content.parts.gpu.parent",
        "does not exist",
    ),
    "unit": (
        {"parts": [{**GPU, "overrides": {"memory_capacity": {"value": "80 GQ"}}}]},
        "parts.gpu.overrides.memory_capacity",
        "not a unit of size",
    ),
    "type unit": (
        {"part_types": [{"id": "gpu/a/b", "kind": "gpu", "title": "B", "values": {"power_per_part": {"value": "7"}}}]},
        "part_types.gpu/a/b.values.power_per_part",
        "has no unit",
    ),
    "size": (
        {"groups": [{**BOX, "replicas": 10**6, "content": {"groups": [{**BOX, "replicas": 10**6}]}}]},
        "groups",
        "more than",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_impossible_document_is_refused_at_its_place(case: str) -> None:
    content, place, text = REFUSED[case]
    with pytest.raises(DocumentError, match=text) as caught:
        demand_sound(design(**content))
    assert caught.value.place == place


OPENED: dict[str, tuple[dict[str, Any], str]] = {
    "unknown kind": ({"parts": [{"id": "q", "kind": "quantum"}]}, "DOC-KIND"),
    "unknown link": (
        {"parts": [GPU, {"id": "b", "kind": "gpu"}], "links": [{"id": "l", "kind": "warp", "a": "gpu", "b": "b"}]},
        "DOC-KIND",
    ),
    "unknown type": ({"parts": [{**GPU, "type": "gpu/a/b"}]}, "DOC-TYPE"),
    "other kind": (
        {"parts": [{**GPU, "type": "nic/a/b"}], "part_types": [{"id": "nic/a/b", "kind": "nic", "title": "B"}]},
        "DOC-TYPE",
    ),
    "unknown value": ({"parts": [{**GPU, "overrides": {"colour": {"value": "red"}}}]}, "DOC-VALUE"),
    "host": ({"vms": [{"id": "vm", "host": "x"}]}, "DOC-REFERENCE"),
    "device": ({"vms": [{"id": "vm", "devices": [{"kind": "vgpu", "part": "x"}]}]}, "DOC-REFERENCE"),
    "assertion": ({"assertions": [{"id": "a", "workload": "w", "metric": "m", "value": "1 s"}]}, "DOC-REFERENCE"),
    "default": ({"default_workload": "w"}, "DOC-REFERENCE"),
    "workload kind": ({"workloads": [{"id": "w", "kind": "dance"}]}, "DOC-KIND"),
    "workload setting": (
        {"workloads": [{"id": "w", "kind": "transfer", "settings": {"from": "a", "to": "b", "colour": 1}}]},
        "DOC-WORKLOAD",
    ),
    "workload value": (
        {"workloads": [{"id": "w", "kind": "transfer", "settings": {"from": "a", "to": "b", "size": "-5 GB"}}]},
        "DOC-WORKLOAD",
    ),
    "misfit": (
        {
            "parts": [GPU],
            "groups": [BOX],
            "wirings": [{"id": "w", "kind": "nvlink", "pattern": "pairs", "a": "box[*]/gpu", "b": "gpu"}],
        },
        "DOC-WIRING",
    ),
    "ports": (
        {
            "parts": [GPU, {"id": "b", "kind": "gpu"}],
            "links": [{"id": "l", "kind": "pcie", "a": "gpu", "b": "b", "count": 2}],
        },
        "DOC-PORTS",
    ),
    "no port": (
        {"parts": [GPU, {"id": "b", "kind": "gpu"}], "links": [{"id": "l", "kind": "ethernet", "a": "gpu", "b": "b"}]},
        "DOC-PORTS",
    ),
}


@pytest.mark.parametrize("case", OPENED)
def test_what_can_be_mended_opens_with_a_finding(case: str) -> None:
    content, code = OPENED[case]
    findings = demand_sound(design(**content))
    assert {f.code for f in findings} == {code}
    assert all(f.remedy and f.text for f in findings)


def test_sound_designs_have_nothing_to_tell() -> None:
    for sound in (one_server(), one_unit(4), pods(2), design()):
        assert examine(sound) == ()


def test_ports_of_many_equal_parts_are_reported_once() -> None:
    type_ = {"id": "gpu/x/y", "kind": "gpu", "title": "Y", "values": {"nvlink_links": {"value": 17}}}
    unit = one_unit(4)
    content = unit.groups["servers"].content
    parts = {k: p.model_copy(update={"type": "gpu/x/y"}) if p.kind == "gpu" else p for k, p in content.parts.items()}
    group = unit.groups["servers"].model_copy(update={"content": content.model_copy(update={"parts": parts})})
    typed = Design.model_validate({**dict(unit), "groups": {**unit.groups, "servers": group}, "part_types": [type_]})
    problems = examine(typed)
    assert [p.where[0] for p in problems] == [f"servers[0]/gpu{i}" for i in range(8)]
    assert problems[0].text == "its links need 18 nvlink links, it has 17"


def test_a_hopeless_document_is_reported_in_bounds() -> None:
    links = [{"id": f"l{i}", "kind": "pcie", "a": "x", "b": "y"} for i in range(1000)]
    assert len(examine(design(links=links))) == MAX_PROBLEMS
