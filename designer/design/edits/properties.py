"""Properties of the whole design: title, intent, traffic policy, the part types it carries."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from designer.design.document import Block, Design
from designer.design.edit import DesignEdit, changed, put

_PROPERTIES = ("name", "title", "intent", "description", "catalog_version")


@dataclass(frozen=True)
class SetProperties(DesignEdit):
    """Change name, title, intent, description or catalog version."""

    changes: Mapping[str, object]

    @property
    def label(self) -> str:
        return f"Change {' and '.join(self.changes)} of the design"

    @property
    def subject(self) -> Hashable:
        return tuple(self.changes)

    def apply(self, design: Design) -> Design:
        # a design without parts, so that ten thousand of them are not looked at for a title
        head = Design(**{name: getattr(design, name) for name in _PROPERTIES})
        new = changed(head, self.changes, "", fixed=set(Design.model_fields) - set(_PROPERTIES))
        return design if new is head else design.model_copy(update={n: getattr(new, n) for n in self.changes})


@dataclass(frozen=True)
class SetPolicy(DesignEdit):
    """Change how traffic chooses its way."""

    changes: Mapping[str, object]

    @property
    def label(self) -> str:
        return f"Change policy: {' and '.join(self.changes)}"

    @property
    def subject(self) -> Hashable:
        return tuple(self.changes)

    def apply(self, design: Design) -> Design:
        policy = changed(design.policy, self.changes, "policy", fixed=())
        return design if policy is design.policy else design.model_copy(update={"policy": policy})


@dataclass(frozen=True)
class RemoveUnusedPartTypes(DesignEdit):
    """Drop the part types no part uses."""

    @property
    def label(self) -> str:
        return "Remove unused part types"

    def apply(self, design: Design) -> Design:
        used = set(used_types(design))
        return put(design, "part_types", removed=[t for t in design.part_types if t not in used])


def used_types(block: Block) -> Iterator[str]:
    """The part types of all parts, groups and exceptions included, with repeats."""
    for part in block.parts.values():
        yield part.type
    for group in block.groups.values():
        blocks: Iterable[Block] = (group.content, *group.exceptions.values())
        for inner in blocks:
            yield from used_types(inner)
