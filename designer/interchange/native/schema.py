"""The JSON Schema of the design file, frozen per version in ``schema/vN.json``.

The file of the current version must equal what the code says; a test compares them. After a change that keeps old
files readable, write it again with ``python -m designer.interchange.native.schema``; any other change needs a new
version and an upgrade step.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from designer.atomic import write
from designer.design.address import BLOCK_COLLECTIONS, DESIGN_COLLECTIONS
from designer.design.document import Block, Design
from designer.interchange.native.envelope import FORMAT, VERSION


def current() -> dict[str, Any]:
    """The schema of the files this program writes, from the document classes."""
    design = Design.model_json_schema(ref_template="#/$defs/{model}")
    definitions: dict[str, Any] = design.pop("$defs")
    for schema in (design, definitions[Block.__name__]):
        for name in (*BLOCK_COLLECTIONS, *DESIGN_COLLECTIONS):
            if name in schema["properties"]:
                _as_list(schema["properties"][name])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{FORMAT} version {VERSION}",
        "type": "object",
        "required": ["design", "format", "version"],
        "properties": {
            "format": {"const": FORMAT},
            "version": {"const": VERSION},
            "written_by": {"type": "string"},
            "design": {"$ref": "#/$defs/Design"},
        },
        "$defs": {**definitions, Design.__name__: design},
    }


def _as_list(schema: dict[str, Any]) -> None:
    """In memory a mapping by id, in the file a list of things that know their id."""
    schema.update(type="array", items=schema.pop("additionalProperties"), default=[])


def text() -> str:
    """The schema as it is in its file."""
    return json.dumps(current(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def path(version: int = VERSION) -> Path:
    """The frozen schema of a version."""
    return Path(__file__).with_name("schema") / f"v{version}.json"


if __name__ == "__main__":
    write(path(), text().encode())
