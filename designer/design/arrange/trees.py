"""The PCIe trees of a machine: what hangs below what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from designer.catalog.parttype import Domain, part_kinds
from designer.design.address import Ref
from designer.design.arrange.joints import Joint
from designer.design.arrange.roles import Item, Role, link_domain, role_of
from designer.design.selectors import natural_key


@dataclass(slots=True)
class Tree:
    """A part with what hangs below it. ``item`` is None for the heap of accelerators that hang on nothing."""

    item: Item | None
    level: int
    inner: list[Tree] = field(default_factory=list["Tree"])
    memory: list[Item] = field(default_factory=list[Item])
    leaves: list[Item] = field(default_factory=list[Item])
    accelerators: list[Item] = field(default_factory=list[Item])
    memory_left: bool = False


@dataclass(slots=True)
class Forest:
    """All trees of a machine: the roots from left to right, and every tree, parents before children."""

    roots: list[Tree]
    trees: list[Tree]


def in_order(items: Sequence[Item]) -> list[Item]:
    """Items by name, gpu2 before gpu10."""
    return sorted(items, key=lambda i: (natural_key(i.ref.id), i.ref))


def _leaf_key(item: Item) -> tuple[int, str, object]:
    """NICs in front of drives, each kind by name."""
    kind = part_kinds().get(item.kind)
    return (kind.order if kind is not None else 1000, item.kind, natural_key(item.ref.id))


def grow(items: Sequence[Item], joints: Sequence[Joint]) -> Forest:
    """The trees of a machine; parts that hang on nothing are left out, but for accelerators."""
    grower = _Grower(in_order(items), joints)
    grower.grow()
    return Forest(grower.roots, grower.trees)


class _Grower:
    def __init__(self, items: list[Item], joints: Sequence[Joint]) -> None:
        self.items = items
        self.by_ref = {i.ref: i for i in items}
        self.role = {i.ref: role_of(i.kind) for i in items}
        self.near = self._neighbours(joints, host=True)
        self.linked = self._neighbours(joints, host=False)
        self.hung: set[Ref] = set()
        self.roots: list[Tree] = []
        self.trees: list[Tree] = []

    def _neighbours(self, joints: Sequence[Joint], host: bool) -> Mapping[Ref, list[Ref]]:
        """What each part is linked to by links of the host, or by all others, by name."""
        found: dict[Ref, list[Ref]] = {i.ref: [] for i in self.items}
        for joint in joints:
            if joint.a in found and joint.b in found and (link_domain(joint.kind) is Domain.HOST) == host:
                found[joint.a].append(joint.b)
                found[joint.b].append(joint.a)
        rank = {item.ref: n for n, item in enumerate(self.items)}
        for near in found.values():
            near.sort(key=rank.__getitem__)
        return found

    def grow(self) -> None:
        for wanted in (Role.SOCKET, Role.DOMAIN):
            self._spread([self._root(i) for i in self.items if self.role[i.ref] is wanted and i.ref not in self.hung])
        for item in self.items:
            if self.role[item.ref] is Role.HOST_SWITCH and item.ref not in self.hung:
                self._spread([self._root(item)])
        for tree in self.trees:
            if tree.item is not None and self.role[tree.item.ref] in (Role.SOCKET, Role.DOMAIN):
                for ref in self.linked[tree.item.ref]:
                    if self.role[ref] is Role.ACCELERATOR and ref not in self.hung:
                        self._hang(tree, tree.item, ref)
        loose = [i for i in self.items if self.role[i.ref] is Role.ACCELERATOR and i.ref not in self.hung]
        if loose:
            heap = Tree(None, -1, accelerators=loose)
            self.hung.update(i.ref for i in loose)
            self.roots.append(heap)
            self.trees.append(heap)
        self._hang_memory()

    def _root(self, item: Item) -> Tree:
        tree = Tree(item, 0)
        self.hung.add(item.ref)
        self.roots.append(tree)
        self.trees.append(tree)
        return tree

    def _spread(self, trees: list[Tree]) -> None:
        """Hang everything reachable below the trees, breadth first, so that each part hangs as high as it can."""
        while trees:
            below: list[Tree] = []
            for tree in trees:
                assert tree.item is not None
                for ref in self.near[tree.item.ref]:
                    if ref not in self.hung:
                        below += self._hang(tree, tree.item, ref)
            trees = below

    def _hang(self, tree: Tree, item: Item, ref: Ref) -> list[Tree]:
        role = self.role[ref]
        if role is Role.HOST_SWITCH or (role is Role.DOMAIN and self.role[item.ref] is Role.SOCKET):
            child = Tree(self.by_ref[ref], tree.level + 1)
            tree.inner.append(child)
            self.trees.append(child)
            self.hung.add(ref)
            return [child]
        if role in (Role.ACCELERATOR, Role.LEAF, Role.STORAGE):
            (tree.accelerators if role is Role.ACCELERATOR else tree.leaves).append(self.by_ref[ref])
            self.hung.add(ref)
        return []

    def _hang_memory(self) -> None:
        """Memory goes to the first part it is linked to: next to it, or below it where nothing else hangs."""
        owner = {tree.item.ref: tree for tree in self.trees if tree.item is not None}
        for item in self.items:
            if self.role[item.ref] is not Role.MEMORY:
                continue
            tree = next((owner[ref] for ref in self.near[item.ref] if ref in owner), None)
            if tree is not None:
                tree.memory.append(item)
        for tree in self.trees:
            tree.leaves.sort(key=_leaf_key)
            if tree.level > 0 and not (tree.inner or tree.leaves or tree.accelerators):
                tree.leaves, tree.memory = tree.memory, []
        tops = [t for t in self.roots if t.item is not None]
        for n, tree in enumerate(tops):
            tree.memory_left = 2 * n < len(tops) - 1
