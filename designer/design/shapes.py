"""What blocks have in common whose parts are placed and joined in the same way, and the block that such exceptions
differ from.

A member that differs from its group in values alone has parts and links of its own, but they are where those of
the other members are. The *plain* block is the block without such exceptions: ends of links, islands and ways are
found in it once, and an edited member takes them over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeVar

from designer.design.document import Block, Group
from designer.memo import Interned, memo

#: shapes known at the same time
SHAPES_LIMIT: Final = 2048
#: blocks whose shapes and plain blocks are known
_BLOCKS_LIMIT: Final = 8192
AnyBlock = TypeVar("AnyBlock", bound=Block)


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """What blocks have in common whose parts are placed and joined in the same way, whatever the values of parts and
    links.

    One object for all of them: an edit of a value finds the arrays made, and so does its undo.
    """

    block: Block

    @property
    def extent(self) -> int:
        """That of its block; see ``designer.memo``."""
        return self.block.extent


def shape_of(block: Block) -> Shape:
    """The shape of a block: the same object for all blocks whose parts are placed and joined in the same way."""
    return _shape(block)


@memo(most=_BLOCKS_LIMIT)
def _shape(block: Block) -> Shape:
    key = (
        tuple((p.id, p.parent) for p in block.parts.values()),
        tuple((one.id, one.a, one.b) for one in block.links.values()),
        tuple(
            (g.id, g.replicas, g.parent, _shape(g.content), *((i, _shape(b)) for i, b in g.exceptions.items()))
            for g in block.groups.values()
        ),
        tuple((w.id, w.pattern, w.a, w.b) for w in block.wirings.values()),
    )
    return _shapes(key, lambda: Shape(block))


_shapes: Interned[Shape] = Interned(SHAPES_LIMIT)


def plain_of(block: AnyBlock) -> AnyBlock:
    """The block without exceptions that are placed and joined as the other members; itself where it has none."""
    plain = _plain_block(block)
    assert isinstance(plain, type(block))
    return plain


@memo(most=_BLOCKS_LIMIT)
def _plain_block(block: Block) -> Block:
    groups = {group_id: _plain_group(group) for group_id, group in block.groups.items()}
    if all(groups[group_id] is group for group_id, group in block.groups.items()):
        return block
    return block.model_copy(update={"groups": groups})


def _plain_group(group: Group) -> Group:
    content = _plain_block(group.content)
    usual = _shape(content)
    # seen without its own exceptions, a member may be as all others
    kept = {i: plain for i, own in group.exceptions.items() if _shape(plain := _plain_block(own)) is not usual}
    same = content is group.content and len(kept) == len(group.exceptions)
    if same and all(kept[i] is own for i, own in group.exceptions.items()):
        return group
    return group.model_copy(update={"content": content, "exceptions": kept})
