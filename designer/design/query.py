"""Questions to a design: who contains whom, who is linked to whom, how many there are of each kind.

Answers about one block are indexed once and kept as long as the block lives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from designer.design.document import Block, Design, Group, Link, Part, Wiring
from designer.design.elaborate import elaborate
from designer.memo import Memo

L = TypeVar("L")


@dataclass(frozen=True, slots=True)
class Index:
    """What a block contains, by part; the key None holds what is at its top."""

    parts_in: Mapping[str | None, tuple[str, ...]]
    groups_in: Mapping[str | None, tuple[str, ...]]
    links_at: Mapping[str, tuple[str, ...]]


def _index(block: Block) -> Index:
    parts: dict[str | None, list[str]] = {}
    groups: dict[str | None, list[str]] = {}
    links: dict[str, list[str]] = {}
    for part in block.parts.values():
        parts.setdefault(part.parent, []).append(part.id)
    for group in block.groups.values():
        groups.setdefault(group.parent, []).append(group.id)
    for link in block.links.values():
        links.setdefault(link.a, []).append(link.id)
        links.setdefault(link.b, []).append(link.id)
    return Index(_frozen(parts), _frozen(groups), _frozen(links))


def _frozen(found: Mapping[Any, list[str]]) -> dict[Any, tuple[str, ...]]:
    return {key: tuple(ids) for key, ids in found.items()}


_indexed = Memo(_index)


def index(block: Block) -> Index:
    """The index of a block; made at the first question."""
    return _indexed(block)


def roots(block: Block) -> tuple[Part, ...]:
    """The parts no other part contains."""
    return children(block, None)


def children(block: Block, part_id: str | None) -> tuple[Part, ...]:
    """The parts directly in a part; of None those at the top of the block."""
    return tuple(block.parts[i] for i in index(block).parts_in.get(part_id, ()))


def contents(block: Block, ids: Iterable[str]) -> set[str]:
    """The parts called `ids` and all parts they contain, directly or not."""
    inside = index(block).parts_in
    found: set[str] = set()
    todo = list(ids)
    while todo:
        part_id = todo.pop()
        if part_id not in found:
            found.add(part_id)
            todo += inside.get(part_id, ())
    return found


def links_of(block: Block, path: str) -> tuple[Link, ...]:
    """The drawn links of a block that end at a part, or at a path into one of its groups."""
    return tuple(block.links[i] for i in index(block).links_at.get(path, ()))


def neighbours(block: Block, path: str) -> tuple[str, ...]:
    """Paths of the parts a part is linked to by drawn links, each once, in the order of the links."""
    found = (link.b if link.a == path else link.a for link in links_of(block, path))
    return tuple(dict.fromkeys(found))


def count_kinds(block: Block) -> Counter[str]:
    """How many parts of each kind there are after elaboration."""
    return count_parts_by(block, lambda part: part.kind)


def count_parts_by(block: Block, label: Callable[[Part], L]) -> Counter[L]:
    """How many parts with each label there are after elaboration."""
    total = Counter(label(part) for part in block.parts.values())
    for group in block.groups.values():
        for inner, times in _blocks(group):
            for found, n in count_parts_by(inner, label).items():
                total[found] += n * times
    return total


def count_links(block: Block) -> Counter[str]:
    """How many links of each kind there are after elaboration; a bundle counts as many links as it has.

    Raises
    ------
    DocumentError
        If a wiring cannot be joined.
    """
    return count_links_by(block, lambda link: link.kind)


def count_links_by(block: Block, label: Callable[[Link | Wiring], L]) -> Counter[L]:
    """How many links with each label there are, as `count_links` counts them."""
    total: Counter[L] = Counter()
    for link in block.links.values():
        total[label(link)] += link.count
    if block.wirings:
        for wiring_id, start, stop in elaborate(block).wirings:
            wiring = block.wirings[wiring_id]
            total[label(wiring)] += (stop - start) * wiring.count
    for group in block.groups.values():
        for inner, times in _blocks(group):
            for found, n in count_links_by(inner, label).items():
                total[found] += n * times
    return total


def count_groups(block: Block) -> int:
    """How many groups are drawn, groups within groups counted once."""
    return sum(1 + count_groups(group.content) for group in block.groups.values())


def _blocks(group: Group) -> list[tuple[Block, int]]:
    """The distinct blocks of a group and how often each occurs."""
    plain = group.replicas - len(group.exceptions)
    blocks = [(b, 1) for b in group.exceptions.values()]
    return [(group.content, plain), *blocks] if plain > 0 else blocks


def summarize(design: Design, file: str | None = None) -> dict[str, Any]:
    """What is in a design, as ``summary --json`` prints it; counts are after elaboration.

    Raises
    ------
    DocumentError
        If a wiring cannot be joined.
    """
    return {
        "design": {"name": design.name, "file": file},
        "parts": dict(sorted(count_kinds(design).items())),
        "links": dict(sorted(count_links(design).items())),
        "groups": count_groups(design),
        "workloads": sorted(design.workloads),
        "vms": len(design.vms),
    }
