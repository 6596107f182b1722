"""Template designs: what there is to start from, and the design behind a file name or template id."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from designer.catalog.partkind import Capability, part_kinds
from designer.errors import DesignerError, FormatError
from designer.interchange.native.envelope import SUFFIX
from designer.interchange.native.json_text import decode, parse
from designer.interchange.native.raw import MAX_FILE, read_bytes, shown
from designer.resources import templates as templates_folder
from designer.spelling import did_you_mean, known_name

if TYPE_CHECKING:
    from designer.design.document import Design
    from designer.interchange.native.reader import Loaded

_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,150}\Z")


@dataclass(frozen=True, slots=True)
class Template:
    """One template: what it is called, what it shows, and how large it is after elaboration.

    Parameters
    ----------
    types
        Ids of the part types in it.
    whole
        Servers drawn with what they contain: type, ids of the groups around it, and its own id.
    """

    id: str
    title: str
    intent: str
    gpus: int
    servers: int
    path: Path
    types: frozenset[str] = frozenset()
    whole: tuple[tuple[str, tuple[str, ...], str], ...] = ()


def list_templates(folder: Path | None = None) -> list[Template]:
    """All templates that can be read, by id. Files are looked into once, and again when they change."""
    found: list[Template] = []
    for path in sorted((folder or templates_folder()).glob(f"*{SUFFIX}")):
        try:
            info = path.stat()
            found.append(_summary(path, info.st_mtime_ns, info.st_size))
        except (DesignerError, OSError):
            continue
    return found


def find_template(template_id: str, folder: Path | None = None) -> Path:
    """The file of a template; letter case and ``-`` or ``_`` do not matter where only one can be meant.

    Raises
    ------
    FormatError
        If there is none of that id.
    """
    folder = folder or templates_folder()
    path = folder / f"{template_id}{SUFFIX}"
    if _ID.match(template_id) and path.is_file():
        return path
    known = template_ids(folder)
    found = known_name(template_id, known)
    if found is not None:
        return folder / f"{found}{SUFFIX}"
    remedy = did_you_mean(template_id, known, "see the list made by: designer templates")
    raise FormatError(f"there is no file and no template {template_id!r}", remedy=remedy)


def template_ids(folder: Path | None = None) -> list[str]:
    """Ids of all templates, sorted."""
    return sorted(path.name.removesuffix(SUFFIX) for path in (folder or templates_folder()).glob(f"*{SUFFIX}"))


def open_any(name: str | Path, folder: Path | None = None) -> Loaded:
    """The design in a file, or that of a template id where no such file exists.

    Raises
    ------
    FormatError
        If there is neither, or it cannot be read.
    """
    # a list of templates is had without all that makes designs of them
    from designer.interchange.native.reader import load

    path = Path(name)
    if _ID.match(str(name)) and not str(name).endswith(".json") and not _exists(path):
        path = find_template(str(name), folder)
    return load(path)


def open_design(name: str | Path) -> Design:
    """The design in a file, or that of a template id where no such file exists.

    Raises
    ------
    FormatError
        If there is neither, or it cannot be read.
    """
    return open_any(name).design


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


@lru_cache(maxsize=1024)
def _summary(path: Path, _changed: int, _size: int) -> Template:
    """A template's line in the list, from its raw content: nothing is elaborated or checked."""
    content = parse(decode(read_bytes(path, MAX_FILE)))
    design = content.get("design") if isinstance(content, dict) else None
    if not isinstance(design, dict):
        raise FormatError("this is not a design file", file=shown(path))
    counts = _count(design)
    gpus = sum(n for name, n in counts.items() if _has(name, Capability.ACCELERATE))
    template_id = path.name.removesuffix(SUFFIX)
    title, intent = str(design.get("title") or template_id), str(design.get("intent") or "")
    types = frozenset(_types(design))
    return Template(template_id, title, intent, gpus, counts["server"], path, types, tuple(_whole_servers(design, ())))


def _rows(block: Mapping[str, Any], what: str) -> list[Mapping[str, Any]]:
    return [row for row in block.get(what, ()) if isinstance(row, dict)]


def _types(block: Mapping[str, Any]) -> Iterator[str]:
    for part in _rows(block, "parts"):
        if part.get("type"):
            yield str(part["type"])
    for group in _rows(block, "groups"):
        yield from _types(group.get("content", {}))


def _whole_servers(block: Mapping[str, Any], groups: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Servers of a known type with something in them."""
    parts = _rows(block, "parts")
    filled = {part.get("parent") for part in parts}
    for part in parts:
        if part.get("kind") == "server" and part.get("type") and part.get("id") in filled:
            yield str(part["type"]), groups, str(part["id"])
    for group in _rows(block, "groups"):
        yield from _whole_servers(group.get("content", {}), (*groups, str(group.get("id"))))


def _has(kind_name: str, capability: Capability) -> bool:
    kind = part_kinds().get(kind_name)
    return kind is not None and capability in kind.capabilities


def _count(block: Mapping[str, Any]) -> Counter[str]:
    """Parts per kind after elaboration, of raw content."""
    total = Counter(str(part.get("kind")) for part in block.get("parts", ()) if isinstance(part, dict))
    for group in block.get("groups", ()):
        exceptions: Mapping[str, Any] = group.get("exceptions", {})
        inner = [(group.get("content", {}), int(group.get("replicas", 1)) - len(exceptions))]
        for content, times in [*inner, *((b, 1) for b in exceptions.values())]:
            for kind, n in _count(content).items():
                total[kind] += n * times
    return total
