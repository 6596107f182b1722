"""Takes out of a design what could point at a machine or person: host names, serials, MACs, GUIDs, UUIDs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from designer.design.document import Block, Design, Group, Part, with_changes

#: last part of the attribute names that hold identifiers, lower case
_PRIVATE: Final = re.compile(
    r"guid|uuid|serial|hostname|host_hash|nodename|assettag|address|gid\d*|lid$|cgroup|processname|\bmac\b|wwn|nqn|\bip\b"
)
_IDENTIFIER: Final = re.compile(
    r"(?:[0-9a-f]{2}[:-]){5,}[0-9a-f]{2}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|"
    r"(?:[0-9a-f]{4}:){7}[0-9a-f]{4}|\b(?:0x)?[0-9a-f]{16}\b|en[ox](?:[0-9a-f]{12})|wlx[0-9a-f]{12}|"
    r"\b(?:\d{1,3}\.){3}\d{1,3}\b",
    re.IGNORECASE | re.ASCII,
)


def strip_identifiers(design: Design) -> Design:
    """The design without identifying attributes; ids, links and rates stay."""
    block = _strip_block(design)
    return with_design(design, block)


def with_design(design: Design, block: Block) -> Design:
    """`design` with the parts and groups of `block`."""
    fields = {name: getattr(design, name) for name in type(design).model_fields}
    return Design.model_validate({**fields, "parts": block.parts, "groups": block.groups})


def _strip_block(block: Block) -> Block:
    groups: dict[str, Group] = {}
    for group in block.groups.values():
        exceptions = {index: _strip_block(b) for index, b in group.exceptions.items()}
        groups[group.id] = with_changes(group, content=_strip_block(group.content), exceptions=exceptions)
    parts = {part.id: _part(part) for part in block.parts.values()}
    return Block(parts=parts, links=block.links, groups=groups, wirings=block.wirings)


def _part(part: Part) -> Part:
    name = "" if _IDENTIFIER.search(part.name) else part.name
    return with_changes(part, attributes=_attributes(part.attributes), name=name)


def _attributes(attributes: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in attributes.items()
        if not _PRIVATE.search(name.lower().rsplit(".", 1)[-1])
        and not (_IDENTIFIER.search(value) and not _is_bus_id(value))
        and not _IDENTIFIER.search(name)
    }


def _is_bus_id(value: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]", value) is not None
