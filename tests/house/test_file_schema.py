"""The JSON Schema of the design file is frozen per version; the current one says what the code says."""

from __future__ import annotations

import json
from typing import Any

from designer.interchange.native import schema
from designer.interchange.native.envelope import VERSION
from designer.interchange.native.writer import dumps
from tests.designs import one_unit


def test_every_version_has_its_frozen_schema() -> None:
    names = sorted(p.name for p in schema.path().parent.glob("*.json"))
    assert names == sorted(f"v{n}.json" for n in range(1, VERSION + 1))


def test_the_current_schema_has_not_drifted() -> None:
    assert schema.path().read_text(encoding="utf-8") == schema.text(), (
        "the document classes changed: run `python -m designer.interchange.native.schema` if old files still open, "
        "else raise VERSION and add an upgrade step"
    )


def test_files_have_the_shape_the_schema_tells() -> None:
    content, document = json.loads(dumps(one_unit(2))), json.loads(schema.text())
    assert set(document["required"]) <= set(content) <= set(document["properties"])
    check(content["design"], document["$defs"]["Design"], document["$defs"])


def check(value: Any, shape: dict[str, Any], definitions: dict[str, Any]) -> None:
    """Objects have only the properties they may have, and lists are lists."""
    if "$ref" in shape:
        shape = definitions[shape["$ref"].rsplit("/", 1)[-1]]
    if shape.get("type") == "array":
        assert isinstance(value, list)
        for item in value:
            check(item, shape["items"], definitions)
    elif shape.get("type") == "object" and "properties" in shape:
        assert shape.get("additionalProperties") is False
        for key, inner in value.items():
            check(inner, shape["properties"][key], definitions)
        assert set(shape.get("required", ())) <= set(value)
