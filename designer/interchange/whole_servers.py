"""Servers with what they contain, taken from the templates: a chassis of the catalog alone computes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from designer.design.address import Ref
from designer.design.document import Design
from designer.design.edits.clipboard import copy
from designer.errors import FormatError
from designer.interchange.templates import Template, list_templates, open_design

#: types that say nothing about what is in them
_ANY: Final = "server/generic/"


@dataclass(frozen=True, slots=True)
class WholeServer:
    """Where the contents of a type of server are drawn.

    Parameters
    ----------
    groups
        Ids of the groups around it in the template, the outermost first.
    part_id
        Its own id there.
    """

    type_id: str
    template: Template
    groups: tuple[str, ...]
    part_id: str


def whole_servers() -> Mapping[str, WholeServer]:
    """By id of the type, the servers whose contents a template draws."""
    return _index_by_type(tuple(list_templates()))


@lru_cache(maxsize=4)
def _index_by_type(templates: tuple[Template, ...]) -> Mapping[str, WholeServer]:
    found: dict[str, list[WholeServer]] = {}
    for template in templates:
        for type_id, groups, part_id in template.whole:
            if not type_id.startswith(_ANY):
                found.setdefault(type_id, []).append(WholeServer(type_id, template, groups, part_id))
    return {type_id: min(some, key=_oddity) for type_id, some in sorted(found.items())}


def _oddity(server: WholeServer) -> tuple[bool, bool, int, int, str]:
    """The template that is about this very server comes first, then the plainest."""
    leaf, name = server.type_id.rsplit("/", 1)[-1], server.template.id
    return name != leaf, not name.endswith(leaf), len(server.groups), server.template.servers, name


def template_uses() -> Mapping[str, int]:
    """In how many templates each part type is used: how usual it is."""
    return _uses(tuple(list_templates()))


@lru_cache(maxsize=4)
def _uses(templates: tuple[Template, ...]) -> Mapping[str, int]:
    return Counter(type_id for template in templates for type_id in template.types)


@lru_cache(maxsize=64)
def clip_of(server: WholeServer) -> str:
    """The server with its contents and the links among them, as text that can be pasted.

    Raises
    ------
    DesignerError
        If the template cannot be read.
    """

    design: Design = open_design(server.template.path)
    return copy(design, (Ref("parts", server.part_id),), tuple((group, None) for group in server.groups))


@lru_cache(maxsize=64)
def single_server(name: str) -> Design:
    """One server with its contents, from a template or a file; anything else in that design is left out.

    Raises
    ------
    FormatError
        If there is no such design, or it holds no single server.
    """

    whole = open_design(name)
    servers = [part for part in whole.parts.values() if part.kind == "server"]
    if len(servers) != 1:
        raise FormatError(
            f"{name!r} draws {len(servers)} servers", place="server", remedy="choose the template of a single server"
        )
    inside = {servers[0].id: servers[0]}
    while True:
        more = {p.id: p for p in whole.parts.values() if p.parent in inside and p.id not in inside}
        if not more:
            break
        inside |= more
    links = {k: x for k, x in whole.links.items() if x.a in inside and x.b in inside}
    return Design(
        name=whole.name,
        title=whole.title,
        parts=inside,
        links=links,
        part_types={k: t for k, t in whole.part_types.items() if any(p.type == k for p in inside.values())},
        sources=whole.sources,
        policy=whole.policy,
    )
